"""pytest plugin that grades a class:

    pytest --grade=submissions/ --grade-out=grades/ [-n 2]

One item for each student and exercise. An item passes when it was graded, whatever the points; with `--grade-strict` it
fails when points were lost. Without --grade nobody is graded.

pytest itself never looks into the folder of submissions: it would obey a conftest.py or a pytest.ini that it finds
there.

Under nbval, checks of a notebook that raise fail also where their tag lets Jupyter and nbconvert go on.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

_STATE = pytest.StashKey()
_CHECKOUT = Path(__file__).resolve().parents[3]
_AGAIN = "graded again after its worker was killed"
_KILLED = "the process that graded it was killed from outside, each time (memory?): grade it again, alone"


def pytest_addoption(parser):
    from . import options

    options.add_to(parser)


class _State:
    """What a run of the grader knows: the same in the controller and in every worker."""

    def __init__(self, config):
        from . import gather, results, sandbox
        from .intake import merge, roster, submissions

        option = config.option
        self.out = Path(option.grade_out).resolve()
        self.force, self.strict = option.grade_force, option.grade_strict
        self.fresh = set()  # graded in this run already, on a cluster
        self.roster = roster.read_roster(option.grade_roster) if option.grade_roster else []
        self.added = gather.Added.read(
            self.out, self.roster, option.grade_overrides, option.grade_policy, option.grade_times
        )
        self.masters = self._find_masters(config)
        self.limits = sandbox.Limits(
            cell_seconds=option.grade_cell_seconds,
            total_seconds=option.grade_total_seconds,
            memory=int(option.grade_memory * (1 << 30)),
        )
        self.folder = Path(option.grade).resolve()
        if config.inipath and config.inipath.resolve().is_relative_to(self.folder):
            raise roster.BadSubmissions(
                f"pytest took its settings from {config.inipath}, a file among the submissions. Look at it, remove it, "
                "and write --grade=FOLDER with the equals sign: then pytest does not look there for settings."
            )
        worker = getattr(config, "workerinput", None)
        if worker:
            self.mode, self.seed = worker["grade_mode"], worker["grade_seed"]
            self.submissions = [submissions.from_plain(plain) for plain in worker["grade_submissions"]]
        else:
            sandbox.sweep()
            self.mode = sandbox.choose(option.grade_sandbox)
            self.submissions = submissions.find(
                self.folder,
                list(self.masters),
                self.roster,
                self.out,
                {e: merge.ids(p) for e, p in self.masters.items()},
            )
            self.seed_text = results.secret_text(self.out, option.grade_seed)
            self.seed = results.secret_seed(self.out, option.grade_seed)
        self.anchor = self.out / ".class"  # an empty folder: all that pytest gets to see
        self.anchor.mkdir(parents=True, exist_ok=True)
        if not self.submissions:
            raise roster.BadSubmissions(
                f"No submissions were found in {self.folder}. Expected notebooks named like "
                f"{next(iter(self.masters))}.ipynb in a folder for each student; see the instructor's page for other "
                "layouts."
            )

        if not option.grade_exercise:
            self.submissions, self.masters = gather.what_somebody_handed_in(self.submissions, self.masters)

    def key(self, submission):
        from . import results

        decides = self.added.decides(submission)
        return results.key_of(submission, self.masters[submission.exercise], self.mode, self.limits, self.seed, decides)

    def is_done(self, submission):
        """True if there is a result that is still valid."""
        from . import results

        if submission.path is None:
            return False  # costs nothing, and the reason may be another one
        result = (
            None if self.force and submission not in self.fresh else results.load(results.path_of(self.out, submission))
        )
        return result is not None and result["key"] == self.key(submission)

    def _find_masters(self, config):
        from .. import build, definition
        from .intake.roster import BadSubmissions

        option = config.option
        solutions = config.invocation_params.dir / "solutions"
        folder = (
            Path(option.grade_masters)
            if option.grade_masters
            else solutions
            if solutions.is_dir()
            else _CHECKOUT / "solutions"
        )
        masters = {p.stem: p for p in sorted(folder.glob(build.PATTERN))}
        if option.grade_exercise:
            wanted = [f"{e}_" if e.isdigit() else e for e in map(definition.padded, option.grade_exercise)]
            for name in wanted:
                if masters and not any(n.startswith(name) for n in masters):
                    raise BadSubmissions(
                        f"There is no master notebook for the exercise {name.rstrip('_')} in {folder}."
                    )
            masters = {n: p for n, p in masters.items() if any(n.startswith(w) for w in wanted)}
        if not masters:
            raise BadSubmissions(f"No master notebooks in {folder}. Use --grade-masters, or check --grade-exercise.")
        for path in masters.values():
            build.annotate(build.read(path), path.name)  # a broken master must stop the run, not cost points
        return masters


def pytest_collection_modifyitems(items):
    from ..build import is_check

    for item in items:
        if isinstance(item, IPyNbCell) and is_check(item.cell):
            item.options["check_exception"] = False


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if not config.option.grade:
        return
    from ..build import BuildError
    from .intake.roster import BadSubmissions
    from .sandbox import SandboxUnavailable

    try:
        config.stash[_STATE] = _State(config)
    except (SandboxUnavailable, BadSubmissions, BuildError) as error:
        raise pytest.UsageError(str(error)) from None
    if not config.option.xmlpath:
        config.option.xmlpath = str(config.stash[_STATE].out / "junit.xml")
    if config.option.grade_dask and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--grade-dask sends the work to a cluster; leave out -n.")
    config.args = [str(config.stash[_STATE].anchor)]
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Controller(config), "grading-controller")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """xdist: tell a worker what the controller found out, so that nothing is tried or unpacked twice."""
    state = node.config.stash.get(_STATE, None)
    if state:
        plain = [submission.as_plain() for submission in state.submissions]
        node.workerinput.update(grade_mode=state.mode, grade_seed=state.seed, grade_submissions=plain)


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path, parent):
    state = parent.config.stash.get(_STATE, None)
    if state and path == state.anchor:
        return Class.from_parent(parent, path=path)
    return None


class Class(pytest.Directory):
    """The folder of submissions: yields one Submission for every student and exercise, handed in or not."""

    def collect(self):
        for submission in self.config.stash[_STATE].submissions:
            yield Notebook.from_parent(
                self, path=self.path / submission.student / f"{submission.exercise}.ipynb", submission=submission
            )


class Notebook(IPyNbFile):
    """One student's notebook. Unlike nbval's, it has a single item, and its kernel lives in a sandbox."""

    def __init__(self, submission=None, **kwargs):
        super().__init__(**kwargs)
        self.submission = submission

    def setup(self):
        """nbval would start a kernel here; the session starts one when it is needed."""

    def teardown(self):
        """The session has ended its kernel already."""

    def collect(self):
        yield Grade.from_parent(self, name="grade")


class Grade(pytest.Item):
    """Grades one notebook and writes its result file; finds the file of an earlier run if nothing changed."""

    def runtest(self):
        from . import results
        from .grade import empty_result, grade

        state, submission = self.config.stash[_STATE], self.parent.submission
        path = results.path_of(state.out, submission)
        if submission.path is None:
            results.save(path, empty_result(submission.student, submission.exercise, submission.status) | {"key": ""})
        elif not state.is_done(submission):
            master = state.masters[submission.exercise]
            result = grade(
                submission.student, submission.exercise, submission.path, master, state.mode, state.limits, state.seed,
                self.parent, state.added.draws(submission),
            )  # fmt: skip
            results.save(path, result | {"key": state.key(submission)})
        result = results.load(path)
        for name in ("student", "exercise", "points", "max_points", "status"):
            self.user_properties.append((name, result[name]))
        if state.strict and result["points"] < result["max_points"]:
            raise PointsLost(f"{result['points']} of {result['max_points']} points ({result['status']})")

    def repr_failure(self, excinfo, style=None):
        if excinfo.errisinstance(PointsLost):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        submission = self.parent.submission
        return self.path, None, f"{submission.student} {submission.exercise}"


class PointsLost(AssertionError):
    """With --grade-strict: the submission did not get all points."""


def _held_by():
    """In words, which of the walls that not every system has are there."""
    from . import confine, groups

    memory = "held by a control group" if groups.place() else "watched (no control group may be made here)"
    calls = "filtered" if confine.seccomp() else "not filtered (libseccomp is not installed)"
    return f"memory and processes {memory}; system calls {calls}"


class _Controller:
    """Lives in the process the instructor started: progress while it runs, reports when it ends."""

    def __init__(self, config):
        self.config, self.state = config, config.stash[_STATE]
        self.begun, self.shown, self.done = time.monotonic(), 0.0, 0
        self.killed, self.waiting = set(), set()  # items whose worker was killed; those of them that are tried again

    def pytest_report_header(self):
        state = self.state
        students = len({s.student for s in state.submissions})
        return [
            f"grading {len(state.submissions)} notebooks of {students} students; sandbox: {state.mode}",
            *(
                ["warning: the sandbox rlimit does not keep an answer from reading or changing your files"]
                if state.mode == "rlimit"
                else []
            ),
            *([f"limits of a submission: {_held_by()}"] if sys.platform == "linux" else []),
        ]

    def pytest_collection_finish(self, session):
        """With a cluster: everything is graded there first, and the items below find the results."""
        address = self.config.option.grade_dask
        if not address or self.config.option.collectonly:
            return
        from .offered import NoCluster, grade_remotely

        try:
            came, sent, trouble = grade_remotely(address, self.state, self._tell)
        except NoCluster as error:
            raise pytest.UsageError(str(error)) from None
        self.state.fresh.update(came)
        rest = "" if len(came) == sent else f"; the other {sent - len(came)} are graded here"
        rest += f". The first trouble: {trouble}" if trouble else ""
        session.config.get_terminal_writer().line(f"{len(came)} of {sent} graded on the cluster{rest}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem, report, sched):
        """xdist: a worker was killed from outside, as where memory ran out. What it was grading is graded once more;
        what kills its worker twice is left, with the reason in its row."""
        if crashitem not in self.killed:
            self.killed.add(crashitem)
            with suppress(NotImplementedError):  # xdist's --dist loadfile gives nothing out again
                sched.mark_test_pending(crashitem)
                self.waiting.add(crashitem)
                report.outcome = _AGAIN
                return
        self.waiting.discard(crashitem)
        report.longrepr = _KILLED
        self._leave(crashitem)

    def _leave(self, crashitem):
        """Put into its row why an item has no grade."""
        from . import results
        from .grade import empty_result

        ends = {f"/{s.student}/{s.exercise}.ipynb::grade": s for s in self.state.submissions}
        its = max((end for end in ends if f"/{crashitem}".endswith(end)), key=len, default=None)
        if its and not self.state.is_done(ends[its]):
            submission = ends[its]
            result = empty_result(submission.student, submission.exercise, "not graded", [_KILLED])
            results.save(results.path_of(self.state.out, submission), result | {"key": ""})

    def pytest_report_teststatus(self, report):
        return (_AGAIN, "K", "KILLED") if report.outcome == _AGAIN else None

    def pytest_runtest_logreport(self, report):
        if report.when != "call":
            return
        self.waiting.discard(report.nodeid)
        self.done += 1
        self._tell(self.done, len(self.state.submissions))

    def _tell(self, done, total):
        """One line now and then: how much is done, how long the rest will take."""
        now = time.monotonic()
        if now - self.shown >= 5 and done < total:
            self.shown = now
            left = (now - self.begun) / done * (total - done)
            writer = self.config.pluginmanager.get_plugin("terminalreporter")
            if writer:
                writer.write_line(f"  {done} of {total} graded, about {_clock(left)} left")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.config.option.collectonly or session.exitstatus == pytest.ExitCode.USAGE_ERROR:
            return
        from . import reports, results

        self.summary = reports.write_all(self.state.out, self.state.submissions, self.state.masters, self.state.added)
        if session.exitstatus == pytest.ExitCode.OK and not results.any_graded(self.state.out, self.state.submissions):
            self.summary = [*self.summary, "Nothing could be graded: each row of grades.csv says why."]
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if session.exitstatus == pytest.ExitCode.OK and self.waiting:  # too many workers were killed for another one
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for line in getattr(self, "summary", ()):
            terminalreporter.write_line(line)


def _clock(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes}:{seconds:02d} min" if minutes else f"{seconds} s"
