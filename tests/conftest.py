"""Settings for all tests; the longest files first; at the end of a run, what the slowest files took."""

import os
from collections import Counter

import pytest

SHOWN = 10


def pytest_configure(config):
    if config.getoption("grade", None):
        return  # this folder's settings are read when a class is graded from the checkout, too: not meant for that
    import hypothesis

    # Compilation makes the first example of a property slow: no deadlines. The same examples on every run in CI.
    hypothesis.settings.register_profile("default", deadline=None, max_examples=50, print_blob=True)
    hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("default"), derandomize=True)
    hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")
    config.pluginmanager.register(Files())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """As --dist loadfile, but the kernels for GPUs of a file may run beside those for CPUs: they share nothing compiled."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByDevice(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid) + (" gpu" if "[gpu-" in nodeid else "")

    return ByDevice(config, log)


class Files:
    """The seconds of each file, its fixtures included, and what they say at the end."""

    def __init__(self):
        self.seconds = Counter()

    def pytest_collection_modifyitems(self, items):
        """Longest files first: what is long must not begin when the other processes have nothing left to do."""
        import budgets

        _, own = budgets.allowed("tests")
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
        for sentence in budgets.over("tests", self.seconds):
            terminalreporter.write_line(f"WARNING: {sentence}", yellow=True)


def file_of(nodeid):
    """ "simt/test_launch.py" for tests/simt/test_launch.py::test_one"""
    return nodeid.split("::")[0].removeprefix("tests/")
