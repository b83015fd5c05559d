"""Settings for all tests; the longest files first; at the end of a run, what the slowest files took."""

import os
import signal
import sys
from collections import Counter

import pytest

SHOWN = 10


def pytest_configure(config):
    if config.getoption("grade", None):
        return  # this folder's settings are read when a class is graded from the checkout, too: not meant for that
    import hypothesis

    os.environ["DLKERNELS_MEASURED"] = "no"  # no clock decides which way a product goes
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of what a shell started in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)

    # Compilation makes the first example of a property slow: no deadlines. The same examples on every run in CI.
    no_clock = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
    hypothesis.settings.register_profile("default", max_examples=50, print_blob=True, **no_clock)
    hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("default"), derandomize=True)
    hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")
    rotating = Rotation(config)
    config.pluginmanager.register(rotating)
    config.pluginmanager.register(Files(day=rotating.part is not None))


@pytest.fixture(scope="session", autouse=True)
def no_hurry():
    from unhurried import unhurried

    with pytest.MonkeyPatch.context() as patch:
        unhurried(patch.setattr)
        yield


@pytest.fixture(scope="module", autouse=True)
def own_variables():
    """What a file leaves in the environment would hold for the next one that this process runs."""
    before = _own_variables()
    yield
    assert _own_variables() == before, "the tests of this file left a variable of ours changed"


@pytest.fixture(scope="module", autouse=True)
def kept_on_disk():
    """A kernel that is not is right, and compiled in each process: nothing else would notice."""
    yield
    cache = sys.modules.get("dlkernels.simd.cache")
    left = set(cache.NOT_KEPT) if cache else ()
    if left:
        cache.NOT_KEPT.clear()
    assert not left, f"compiled anew in each process, as addresses stand in it: {', '.join(sorted(left))}"


def _own_variables():
    return {name: value for name, value in os.environ.items() if name.startswith(("DLKERNELS_", "CPULAB_"))}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """As --dist loadfile, but the kernels for GPUs of a file may run beside those for CPUs: they share nothing
    compiled."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByDevice(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid) + (" gpu" if "[gpu-" in nodeid else "")

    return ByDevice(config, log)


class Files:
    """The seconds of each file, its fixtures included, and what they say at the end."""

    def __init__(self, day):
        self.seconds, self.day = Counter(), day  # day: of what rotates a part is run

    def pytest_collection_modifyitems(self, items):
        """Longest files first: what is long must not begin when the other processes have nothing left to do."""
        import budgets

        _, own = budgets.allowed("tests")
        own |= budgets.of_day() if self.day else {}
        items.sort(key=lambda item: -own.get(file_of(item.nodeid), 0))

    def pytest_runtest_logreport(self, report):
        self.seconds[file_of(report.nodeid)] += report.duration

    def pytest_terminal_summary(self, terminalreporter):
        import budgets

        if len(self.seconds) < 2:
            return
        terminalreporter.section(f"slowest files, of {sum(self.seconds.values()):.0f} s in {len(self.seconds)} files")
        for name, spent in self.seconds.most_common(SHOWN):
            terminalreporter.write_line(f"{spent:6.1f} s  {name}")
        for sentence in budgets.over("tests", self.seconds, self.day):
            terminalreporter.write_line(f"WARNING: {sentence}", yellow=True)


class Rotation:
    """Of the tests that rotate, those of one part: today's, or the one that ROTATION names."""

    def __init__(self, config):
        import rotation

        named = bool(config.option.keyword) or any("::" in str(argument) for argument in config.args)
        sent = getattr(config, "workerinput", {}).get("rotation")  # one part for all processes, also about midnight
        wish = "all" if getattr(config.option, "lf", False) else os.environ.get("ROTATION")  # --lf chooses by itself
        try:
            self.part = rotation.part_of(sent or wish, rotation.today(), named)
        except ValueError as problem:
            raise pytest.UsageError(str(problem)) from None
        self.words = rotation.words(self.part)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["rotation"] = self.words

    def pytest_collection_modifyitems(self, config, items):
        import rotation

        items[:], left = rotation.split(items, self.part)
        config.hook.pytest_deselected(items=left)

    def pytest_sessionstart(self, session):
        if (terminal := session.config.pluginmanager.get_plugin("terminalreporter")) and self.part:
            terminal.write_line(
                f"Of what rotates, this is part {self.words} (ROTATION=all: all; 1/{self.part[1]}: the first)"
            )

    def pytest_terminal_summary(self, terminalreporter):
        if self.part and any(terminalreporter.stats.get(kind) for kind in ("failed", "error")):
            terminalreporter.write_line(f"Repeat with ROTATION={self.words}: another day runs other tests.", red=True)


def file_of(nodeid):
    """ "simt/test_launch.py" for tests/simt/test_launch.py::test_one"""
    return nodeid.split("::")[0].removeprefix("tests/")
