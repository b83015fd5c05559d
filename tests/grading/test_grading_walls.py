"""What a notebook's process sees of itself and its place, and that nothing of it is left when it ends."""

import json
import os
import signal
import sys
import time
from queue import Empty

import psutil
import pytest

from coursework.grading import sandbox, walls
from coursework.grading.jupyter_kernel import KernelGone, SandboxKernel

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sandbox.why_no_bwrap() is not None, reason="bubblewrap does not work here"
)
HIDDEN = str(sandbox.LIBRARY / "coursework" / "hidden")
TASKS = str(sandbox.LIBRARY / "coursework" / "tasks")
SEEN = """
import json, os, resource, sys
def tried(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines())
seen = json.dumps({
    "rights": status,
    "namespaces": {kind: os.readlink("/proc/self/ns/" + kind) for kind in os.listdir("/proc/self/ns")},
    "memory": resource.getrlimit(resource.RLIMIT_AS), "core": resource.getrlimit(resource.RLIMIT_CORE),
    "home": os.environ["HOME"], "secret": os.environ.get("A_SECRET"), "folder": os.getcwd(), "mask": os.umask(0o077),
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
    "refused": [tried(lambda path=path: os.listdir(path)) for path in (HIDDEN, "/work", "/home", "/root", "/etc")],
    "program": tried(lambda: os.chmod("/proc/self/exe", os.stat("/proc/self/exe").st_mode & 0o7777)),
    "secrets": [name for name in sys.modules if name.startswith(("coursework.hidden", "coursework.tasks"))],
    "tasks": os.listdir(TASKS) + __import__("coursework.definition").definition.chapters(),
})
"""


@pytest.fixture(scope="module")
def seen():
    with pytest.MonkeyPatch.context() as patch, sandbox.Sandbox("bwrap", sandbox.Limits(), walls.ANSWERS) as box:
        patch.setenv("A_SECRET", "of the grader")
        kernel = SandboxKernel(box)
        try:
            message = kernel.kc.execute(
                f"HIDDEN, TASKS = {HIDDEN!r}, {TASKS!r}\n{SEEN}", silent=False, user_expressions={"x": "seen"}
            )
            kernel.await_reply(message, 60)
            said = kernel.reply["user_expressions"]["x"]["data"]["text/plain"]
        finally:
            kernel.stop()
        text = said[1:-1].encode().decode("unicode_escape")
        return json.loads(text) | {"box": str(box.folder), "user": box.user}


def test_it_has_no_right_and_can_get_none(seen):
    rights = seen["rights"]
    assert int(rights["CapEff"], 16) == int(rights["CapPrm"], 16) == int(rights["CapAmb"], 16) == 0
    assert rights["NoNewPrivs"].strip() == "1"
    assert {int(number) for number in rights["Uid"].split()} == {seen["user"] or os.getuid()}
    assert seen["program"]  # the interpreter cannot be changed


def test_its_namespaces_are_its_own(seen):
    kinds = ("ipc", "mnt", "net", "pid", "uts")
    assert not [kind for kind in kinds if seen["namespaces"][kind] == os.readlink(f"/proc/self/ns/{kind}")]


def test_it_sees_no_process_but_its_own_and_no_folder_of_the_machine(seen):
    assert len(seen["processes"]) <= 3
    for names in seen["refused"]:
        assert (
            isinstance(names, str) or set(names) <= {"alternatives", "ld.so.cache", "localtime"} | made_for_the_course()
        )
    assert seen["secrets"] == []


def test_a_notebook_finds_no_task(seen):
    assert seen["tasks"] == []


def made_for_the_course():
    """The names of folders on the way to what is shown of Python and the course."""
    shown = (sandbox.LIBRARY, sys.prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix))
    return {part for path in shown for part in str(path).split("/")}


def test_it_has_limits_a_folder_and_an_environment_of_its_own(seen):
    assert seen["memory"] == [sandbox.Limits().memory] * 2
    assert seen["core"] == [0, 0]
    assert seen["folder"] == seen["home"] == seen["box"]
    assert seen["mask"] == 0o077
    assert seen["secret"] is None


@pytest.fixture
def box():
    with sandbox.Sandbox("bwrap", sandbox.Limits()) as box:
        yield box


def servant(box):
    process = box.start("-m", "coursework.grading.servant", str(box.folder))
    assert process.stdout.readline() == b"ready\n"
    return process


def of(process):
    """bubblewrap and all processes within its walls."""
    return [process.pid, *(p.pid for p in psutil.Process(process.pid).children(recursive=True))]


def runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pids, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(runs, pids)):
            return True
        time.sleep(0.05)
    return False


def test_it_ends_by_itself_with_its_status_and_takes_its_walls_along(box):
    process = servant(box)
    all_ = of(process)
    assert box.roots() == [process.pid]
    assert process.poll() is None
    process.stdin.close()
    assert process.wait() == process.poll() == 0
    assert gone(all_)


@pytest.mark.parametrize("who", ["the process itself", "its walls", "stop"])
def test_it_is_ended_from_outside(box, who):
    process = servant(box)
    all_ = of(process)
    if who == "stop":
        sandbox.stop(process)
    else:
        os.kill(all_[-1] if who == "the process itself" else process.pid, signal.SIGKILL)
    assert process.wait() != 0
    assert gone(all_)
    assert box.roots() == []


def test_what_stands_inside_the_walls_is_in_the_group(tmp_path, box):
    """A plain file is the group here, as none can be made everywhere. bubblewrap enters it before it has children."""
    box.group = str(tmp_path / "cgroup.procs")
    process = servant(box)
    assert (tmp_path / "cgroup.procs").read_text() == str(process.pid)


def test_a_kernel_that_never_answers_is_given_up(box, monkeypatch):
    monkeypatch.setattr(SandboxKernel, "await_reply", lambda self, message, timeout: self._drain())
    monkeypatch.setattr(SandboxKernel, "await_idle", _never)
    with pytest.raises(KernelGone, match="did not start within 1 seconds"):
        SandboxKernel(box, startup_timeout=1)


def _never(self, message, timeout):
    time.sleep(timeout)
    raise Empty
