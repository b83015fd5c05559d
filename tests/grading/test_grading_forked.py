"""A forked process stands behind the walls that a started one has, knows no more, and ends as it does."""

import contextlib
import json
import os
import signal
import sys
import time
from queue import Empty
from types import SimpleNamespace

import psutil
import pytest

from coursework.grading import enter, forked, forkserver, sandbox
from coursework.grading.jupyter_kernel import KernelGone, SandboxKernel

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sandbox.why_no_bwrap() is not None, reason="bubblewrap does not work here"
)
SEEN = """
import json, linecache, os, random, resource, site, sys, time
import numpy as np
def tried(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines())
seen = json.dumps({
    "rights": {key: status[key] for key in status if key[:3] in ("Cap", "NoN", "Uid", "Gid", "Gro")} | {"filter": status["Seccomp"]},
    "namespaces": {kind: os.readlink("/proc/self/ns/" + kind) for kind in os.listdir("/proc/self/ns")},
    "mounts": sorted(" ".join(line.split()[3:6]) for line in open("/proc/self/mountinfo")),
    "limits": {key: resource.getrlimit(getattr(resource, key)) for key in dir(resource) if key.startswith("RLIMIT_")},
    "environment": {key: value for key, value in os.environ.items() if key != "PWD"},
    "files": sorted({tried(lambda: os.readlink(f"/proc/self/fd/{f}")).split(":")[0] for f in os.listdir("/proc/self/fd")}
                    - {"FileNotFoundError"}),
    "path": sys.path, "argv": sys.argv, "folder": os.getcwd(), "mask": os.umask(0o077), "root": sorted(os.listdir("/")),
    "refused": [tried(lambda path=path: os.listdir(path)) for path in (HIDDEN, "/work", "/home", "/root", "/etc", "/proc/1/fd")],
    "leader": os.getsid(0) == os.getpgid(0), "parent": os.getppid() in (0, 1), "own folder": sorted(os.listdir(".")),
    "kept out": tried(lambda: os.chmod("/proc/self/exe", os.stat("/proc/self/exe").st_mode & 0o7777)) is not None,
    "home": [os.path.expanduser("~"), site.getuserbase()], "lines": [name for name in linecache.cache if "answer" in name],
    "secrets": [name for name in sys.modules if name.startswith("coursework.hidden")],
    "random": [random.random(), float(np.random.random())],
})
"""
HIDDEN = str(sandbox.LIBRARY / "coursework" / "hidden")


def look(fork):
    """What a notebook's kernel sees of itself and its place."""
    with sandbox.Sandbox("bwrap", sandbox.Limits(), fork=fork) as box:
        kernel = SandboxKernel(box)
        try:
            message = kernel.kc.execute(f"HIDDEN = {HIDDEN!r}\n{SEEN}", silent=False, user_expressions={"x": "seen"})
            kernel.await_reply(message, 60)
            said = kernel.reply["user_expressions"]["x"]["data"]["text/plain"]
        finally:
            kernel.stop()
        text = said[1:-1].encode().decode("unicode_escape")
        seen = json.loads(text.replace(str(box.folder), "FOLDER").replace(str(box.user), "USER"))
        # IPython's thread of the history opens its database, and the folder of it, now and then.
        seen["files"] = [name for name in seen["files"] if "/.ipython/profile_default" not in name]
        return seen


@pytest.fixture(scope="module")
def both():
    assert sandbox.fork_server() is not None, "this machine builds walls; that nobody can enter them slows grading down"
    return look(fork=False), look(fork=True), look(fork=True)


SAME = ("mounts", "limits", "environment", "files", "path", "argv", "folder", "mask", "root", "refused", "leader", "parent",
        "own folder", "secrets", "kept out", "home", "lines")  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_what_a_forked_kernel_sees_is_what_a_started_one_sees(both, what):
    started, one, other = both
    assert one[what] == other[what] == started[what]


def test_a_forked_kernel_has_no_right_that_a_started_one_has_not(both):
    started, one, _ = both
    for name, bits in one["rights"].items():
        if name.startswith("Cap"):
            assert int(bits, 16) & ~int(started["rights"][name], 16) == 0, name
        else:
            assert bits == started["rights"][name], name
    assert int(one["rights"]["CapEff"], 16) == int(one["rights"]["CapBnd"], 16) == 0
    assert one["rights"]["NoNewPrivs"] == "1"


def test_none_is_in_a_namespace_of_the_graders(both):
    here = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in enter.MUST}
    for seen in both:
        assert not [kind for kind in enter.MUST if seen["namespaces"][kind] == here[kind]]


def test_two_forks_do_not_draw_the_same_random_numbers(both):
    _, one, other = both
    assert not set(one["random"]) & set(other["random"])


def test_what_is_forked_from_knows_no_hidden_case_and_no_secret():
    server = sandbox.fork_server().process
    process = psutil.Process(server.pid)
    assert process.num_threads() == 1
    assert (
        process.environ().items()
        <= (
            sandbox.CLEAN_ENVIRONMENT | {"LC_CTYPE": "C.UTF-8", "PYTHONPATH": str(sandbox.LIBRARY), "HOME": "/"}
        ).items()
    )
    assert not any(HIDDEN in file.path for file in process.memory_maps())
    assert not process.open_files()


@pytest.fixture
def box():
    with sandbox.Sandbox("bwrap", sandbox.Limits()) as box:
        yield box


def servant(box):
    process = box.begin("servant", str(box.folder))
    assert isinstance(process, forked.Forked)
    assert process.stdout.readline() == b"ready\n"
    return process


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


def of(process):
    """All processes of a forked one: bubblewrap, the one that waits, and those within."""
    return [
        pid for root in process.pids for pid in (root, *(p.pid for p in psutil.Process(root).children(recursive=True)))
    ]


def test_it_ends_by_itself_with_its_status_and_takes_its_walls_along(box):
    process = servant(box)
    all_ = of(process)
    assert len(all_) == 5
    assert process.poll() is None
    process.stdin.close()
    assert process.wait() == process.poll() == 0
    assert gone(all_)


def inner(process):
    return psutil.Process(process.pids[1]).children()[0].pid


@pytest.mark.parametrize("who", ["the process itself", "the one that waits", "its walls", "stop"])
def test_it_is_ended_from_outside(box, who):
    process = servant(box)
    all_ = of(process)
    if who == "stop":
        sandbox.stop(process)
    else:
        pid = {"the process itself": inner(process), "the one that waits": process.pids[1], "its walls": process.pid}[
            who
        ]
        os.kill(pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert gone(all_)
    assert box.roots() == []


@pytest.mark.rotates
def test_where_the_server_ends_all_its_forks_do_and_the_next_box_has_another(box, monkeypatch):
    monkeypatch.setattr(sandbox, "_servers", [sandbox._new_server()])
    box._server = sandbox.fork_server()
    process = servant(box)
    all_ = of(process)
    box._server.process.kill()
    assert process.wait() == -signal.SIGKILL
    assert gone(all_)
    started = box.begin("servant", str(box.folder))  # in this box, the next one begins from nothing
    assert not isinstance(started, forked.Forked)
    assert started.stdout.readline() == b"ready\n"
    other = sandbox.fork_server()
    assert other is not None
    assert other is not sandbox._servers[0]
    other.stop()


def test_a_server_that_ends_again_and_again_is_done_without(monkeypatch):
    monkeypatch.setattr(sandbox, "_servers", [])

    def new():
        server = forked.ForkServer.__new__(forked.ForkServer)
        server.process = type("Ended", (), {"poll": staticmethod(lambda: 1)})
        return server

    monkeypatch.setattr(sandbox, "_new_server", new)
    for _ in range(10):
        sandbox.fork_server()
    assert len(sandbox._servers) == sandbox.MOST_SERVERS


def test_a_server_that_will_not_serve_leaves_nothing(monkeypatch):
    """As one whose interpreter its forks could change: it ends before it is ready."""
    before = psutil.Process().num_fds()
    monkeypatch.setattr(forked, "READY", b"something else")
    with pytest.raises(OSError, match="strange"):
        forked.ForkServer(sandbox.CLEAN_ENVIRONMENT)
    assert psutil.Process().num_fds() <= before
    assert not [
        p for p in psutil.Process().children() if "forkserver" in " ".join(p.cmdline()) and p.pid not in servers()
    ]


def servers():
    return {server.process.pid for server in sandbox._servers if server}


def test_where_nobody_may_enter_walls_there_is_no_server(monkeypatch):
    monkeypatch.setattr(forked, "_WAITS", "/bin/false")
    assert sandbox._new_server() is None


@pytest.mark.parametrize(("user", "owner", "mode", "writable", "refused"), [
    (0, 0, 0o755, True, False), (0, 1000, 0o755, True, False), (0, 0, 0o757, True, True), (1000, 0, 0o755, False, False),
    (1000, 1000, 0o755, True, True), (1000, 1000, 0o555, False, True), (1000, 0, 0o775, True, True),
])  # fmt: skip
def test_whose_program_its_forks_could_change_serves_nobody(monkeypatch, user, owner, mode, writable, refused):
    """A fork runs the program as it was opened outside the walls, where bubblewrap's read-only mount does not hold."""
    monkeypatch.setattr(os, "stat", lambda path: SimpleNamespace(st_uid=owner, st_mode=mode))
    monkeypatch.setattr(os, "access", lambda path, how: writable)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert bool(forkserver.own_program()) == refused


def test_an_order_that_comes_incomplete_is_refused_and_the_next_is_served(box):
    with open(os.devnull) as null, pytest.raises(OSError, match="not all files came"):
        box._server.order([null.fileno()] * 3)
    servant(box)


def test_where_the_machine_has_no_process_left_one_program_is_started_from_nothing(box, monkeypatch):
    def full(files, **order):
        raise OSError("Resource temporarily unavailable")

    monkeypatch.setattr(box._server, "order", full)
    before = psutil.Process().num_fds()
    started = box.begin("servant", str(box.folder))
    assert not isinstance(started, forked.Forked)
    assert started.stdout.readline() == b"ready\n"
    assert psutil.Process().num_fds() <= before + 2  # its two pipes


def test_what_stands_inside_the_walls_is_in_the_group(tmp_path, monkeypatch):
    """By a list, for a control group may not be made everywhere. Who is told first has no children yet; they are in it, too."""
    entered = tmp_path / "entered"
    writes = f"import os, sys; open({str(entered)!r}, 'a').write(str(os.getpid())); os.execv(sys.argv[1], sys.argv[1:])"
    usual = sandbox._launcher

    def told(wish):
        return [*([sys.executable, "-I", "-S", "-c", writes] if wish.get("group") else []), *usual(wish)]

    monkeypatch.setattr(sandbox, "_launcher", told)
    with sandbox.Sandbox("bwrap", sandbox.Limits()) as box:
        box.group = str(tmp_path / "cgroup.procs")
        process = servant(box)
        assert entered.read_text() == str(process.pid)
        assert (tmp_path / "cgroup.procs").read_text() == str(process.pids[1])  # the last that entered


def test_a_process_with_the_namespaces_of_all_is_no_walls():
    walls = os.pidfd_open(os.getpid())
    with (
        contextlib.closing(os.fdopen(walls)),
        pytest.raises(PermissionError, match="no namespace of their own for ipc, mnt"),
    ):
        enter.join(walls, os.getpid())


def test_what_goes_wrong_within_is_told(box):
    process = box.begin("no such program", "x")
    assert process.wait() == 1
    assert process.failure.startswith("KeyError")


def test_a_kernel_that_never_answers_is_given_up(box, monkeypatch):
    monkeypatch.setattr(SandboxKernel, "await_reply", lambda self, message, timeout: self._drain())
    monkeypatch.setattr(SandboxKernel, "await_idle", _never)
    with pytest.raises(KernelGone, match="did not start within 1 seconds"):
        SandboxKernel(box, startup_timeout=1)


def _never(self, message, timeout):
    time.sleep(timeout)
    raise Empty
