"""Limits hold for a submission as a whole, and for the grader: whatever a notebook does, it is ended, told and
flagged."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import hostile
import psutil
import pytest

from coursework import build
from coursework.answer import AnswerFailed
from coursework.grading import confine, exchange, grade, groups, plugin, results, sandbox, session, watch
from coursework.grading.extras import flags, similarity
from coursework.grading.session import Session

NO_BWRAP = sandbox.why_no_bwrap()
BWRAP = pytest.param("bwrap", marks=pytest.mark.skipif(bool(NO_BWRAP), reason=NO_BWRAP or ""))
LIMITS = sandbox.Limits(
    **hostile.PATIENT, memory=2000 << 20, file=16 << 20, folder=64 << 20, output=1 << 20, processes=60
)
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="some limits of the whole are those of Linux"),
    pytest.mark.rotates,
]


@pytest.fixture
def ended(request, tmp_path):
    """Runs a cell, then asks for the number x of the next one; returns ([notes], [flags], x). seconds: for that
    cell."""

    def run(source, mode="bwrap", limits=LIMITS, seconds=LIMITS.cell_seconds):
        notebook = plugin.Notebook.from_parent(request.session, path=tmp_path / "x.ipynb")
        with sandbox.Sandbox(mode, limits) as box, sandbox.Sandbox(mode, limits) as clean, watch.Watch(box, clean):
            one = Session(box, clean, notebook)
            try:
                usual = one._run_cell
                one._run_cell = lambda place, text, most: usual(place, text, most if place else seconds)
                one.add_cell("bad", source)
                one.add_cell("good", "x = 7")
                return one.notes, one.flags, one.ask_notebook("value", "x")
            finally:
                one.close()

    return run


# In all of them, children do what one process may not.
CHILDREN = (
    "import os, time\nfor _ in range({count}):\n    if os.fork() == 0:\n{body}\n        time.sleep(300)\n        "
    "os._exit(0)\n"
)
ATTACKS = {
    "memory of children": (
        CHILDREN.format(
            count=8, body="        keep = bytearray(300 << 20)\n        keep[::4096] = b'x' * len(keep[::4096])"
        )
        + "time.sleep(300)",
        "limit of memory: cell bad: all its processes took more than 1 GB",
    ),
    "many files": (
        "for i in range(10):\n    open(f'f{i}', 'wb').write(bytes(10 << 20))\nimport time\ntime.sleep(300)",
        "limit of files: cell bad: it wrote more than 64 MB",
    ),
    "files written behind one's back": (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time\\nfor i in range(100):\\n"
        '    open(f"f{i}", "wb").write(bytes(10 << 20))\\ntime.sleep(300)\'])\nimport time\ntime.sleep(300)',
        "limit of files: cell bad: it wrote more than 64 MB",
    ),
    "deleted files": (
        "import os, time\nkeep = []\nfor i in range(20):\n    keep.append(open('f', 'wb', 0))\n    "
        "keep[-1].write(bytes(10 << 20))\n    os.unlink('f')\ntime.sleep(300)",
        "limit of files: cell bad: it wrote more than 64 MB",
    ),
    "deleted files, only mapped": (
        "import mmap, os, time\nkeep = []\nfor i in range(20):\n    with open('f', 'w+b') as f:\n        "
        "f.write(bytes(10 << 20))\n        f.flush()\n        fd = os.dup(f.fileno())\n        "
        "keep.append(mmap.mmap(fd, 4096))\n        os.close(fd)\n    os.unlink('f')\ntime.sleep(300)",
        "",  # Python's mmap keeps the file open, too: see the one before
    ),
    "comm messages": (
        "k = get_ipython().kernel\nfor i in range(100):\n"
        "    k.session.send(k.iopub_socket, 'comm_msg', {'data': 'x' * 100_000}, parent=k.get_parent())",
        "limit of output: cell bad: it printed or sent more than 1 MB",
    ),
    "buffers of comm messages": (
        "k = get_ipython().kernel\nfor i in range(20):\n"
        "    k.session.send(k.iopub_socket, 'comm_msg', {}, parent=k.get_parent(), buffers=[bytes(1 << 20)])",
        "limit of output: cell bad: it printed or sent more than 1 MB",
    ),
    "a crash": ("import os\nos.abort()", "crash: cell bad"),
    "an endless loop": (
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "time limit: cell bad: it did not end within 4 seconds",
    ),
}


@pytest.mark.parametrize("times", [1, 2])
def test_a_kernel_that_dies_before_it_begins_is_started_once_more(ended, monkeypatch, times):
    """What the one before it left can be what ends it; the notebook is not to blame."""
    starts = []

    class Dies(session.SandboxKernel):
        def __init__(self, box):
            starts.append(box)
            if len(starts) <= times:
                box.broken = ("FileLimit", "of the one before")
                raise session.KernelGone("KernelDied", "the kernel did not start")
            super().__init__(box)

    monkeypatch.setattr(session, "SandboxKernel", Dies)
    if times == 2:
        with pytest.raises(AnswerFailed, match="did not start"):
            ended("y = 1", "rlimit")
    else:
        assert ended("y = 1", "rlimit") == ([], [], 7)
        assert len(starts) == 2


@pytest.mark.parametrize("mode", ["rlimit", BWRAP])
def test_a_giant_message_ends_its_kernel_and_never_reaches_the_grader(ended, mode):
    before = psutil.Process().memory_info().rss
    _, flags, x = ended("print('x' * 20_000_000)", mode)
    assert x == 7
    assert flags == ["limit of output: cell bad: it printed or sent more than 1 MB"]
    assert psutil.Process().memory_info().rss - before < 25_000_000


@pytest.mark.parametrize("there", [True, False])
def test_who_grades_is_told_which_limits_the_system_holds(monkeypatch, there):
    monkeypatch.setattr(groups, "place", lambda: Path("/sys/fs/cgroup") if there else None)
    monkeypatch.setattr(confine, "seccomp", lambda: object() if there else None)
    controller = object.__new__(plugin._Controller)
    controller.state = SimpleNamespace(submissions=[], mode="bwrap")
    said = controller.pytest_report_header()[-1]
    if there:
        assert said.endswith("memory and processes held by a control group; system calls filtered")
    else:
        assert "memory and processes watched (no control group" in said
        assert said.endswith("system calls not filtered (libseccomp is not installed)")


def test_what_lay_there_before_is_not_held_against_the_next(tmp_path, monkeypatch):
    """Who counts many files may still count when the process is ended and the folder empty."""
    with sandbox.Sandbox("rlimit", LIMITS) as box, sandbox.Sandbox("rlimit", LIMITS) as clean:
        looks = watch.Watch(box, clean)
        looks._before, looks._grader = set(), 1 << 40
        usual = watch._files

        def slowly(folder):
            found = usual(folder)
            if wiped:
                box.wipe()
            return found

        monkeypatch.setattr(watch, "_files", slowly)
        for wiped in (False, True):
            for number in range(5):
                (box.folder / f"{number}").write_bytes(bytes(LIMITS.folder // 4))
            looks._look()
            assert bool(box.why_ended()) is not wiped
            box.wipe()
        assert not list(box.folder.iterdir())


@pytest.mark.parametrize("mode", [BWRAP])
@pytest.mark.parametrize("name", ATTACKS)
def test_what_a_submission_does_as_a_whole_is_limited(ended, name, mode):
    source, said = ATTACKS[name]
    own = psutil.Process().memory_info().rss
    notes, told, x = ended(source, mode, seconds=4 if "time limit" in said else LIMITS.cell_seconds)
    assert x == 7
    if said:
        assert len(notes) == len(told) == 1
    assert told[0].startswith(said or "limit of files")
    assert psutil.Process().memory_info().rss - own < 300 << 20


@pytest.mark.parametrize("name", ["memory of children", "files written behind one's back"])
def test_without_bubblewrap_too(ended, name):
    source, said = ATTACKS[name]
    _, told, x = ended(source, "rlimit")
    assert (x, told[0].startswith(said)) == (7, True)


@pytest.mark.skipif(
    os.geteuid() != 0, reason="the kernel's own limit holds for everybody but root, who needs the other"
)
def test_processes_are_counted_where_the_kernel_does_not(ended):
    _, told, x = ended(CHILDREN.format(count=40, body="        os.fork()") + "time.sleep(300)", "rlimit")
    assert (x, told) == (7, ["limit of processes: cell bad: it had more than 60 processes"])


def test_the_grader_does_not_grow_by_what_it_is_sent(ended, monkeypatch):
    """One message of very many parts: nobody may count it before it is there."""
    monkeypatch.setattr(watch, "GRADER", 200 << 20)
    source = (
        "k = get_ipython().kernel\npart = bytes(1 << 20)\nk.session.send(k.iopub_socket, 'comm_msg', {}, "
        "parent=k.get_parent(), buffers=[part] * 4000)\nimport time\ntime.sleep(300)"
    )
    _, told, x = ended(source, "bwrap" if not NO_BWRAP else "rlimit")
    assert x == 7
    assert told[0].startswith("limit of output")


def test_an_honest_pool_of_processes_and_files_is_left_alone(ended):
    source = (
        "import multiprocessing, numpy as np, tempfile\n"
        "with multiprocessing.get_context('fork').Pool(4) as pool:\n    assert sum(pool.map(abs, range(-9, 0))) == 45\n"
        "with tempfile.TemporaryFile() as file:\n    file.write(bytes(8 << 20))\n"
        "big = np.ones(10_000_000)\nimport time\ntime.sleep(0.5)"
    )
    assert ended(source, "rlimit" if NO_BWRAP else "bwrap") == ([], [], 7)


def test_pages_that_processes_share_count_once(tmp_path):
    child = (
        "import os, time, numpy as np\nkeep = np.ones(100 << 17)\npids = []\nfor _ in range(4):\n    pid = os.fork()\n"
        "    if pid == 0:\n        time.sleep(300)\n    pids.append(pid)\nprint(*pids, flush=True)\ntime.sleep(300)"
    )
    process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True)
    pids = [process.pid, *map(int, process.stdout.readline().split())]
    exactly, roughly = watch._memory(pids, exactly=True), watch._memory(pids)
    for pid in pids:
        os.kill(pid, 9)
    process.wait()
    assert 100 << 20 < exactly < 300 << 20 < 500 << 20 < roughly


# walls ---------------------------------------------------------------------------------------------------------------

TRIES = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def fails(f):
    try:
        return f() == -1
    except OSError:
        return True
def fill(folder, pieces=30):
    with open(f'{folder}/full', 'wb') as file:
        for _ in range(pieces):
            file.write(bytes(4 << 20))
NEW_USER = 0x10000000
said = {
    'a namespace': fails(lambda: libc.unshare(NEW_USER)),
    'a namespace in a child': fails(lambda: libc.syscall(56, NEW_USER | 17, 0, 0, 0, 0)) if os.uname().machine == 'x86_64' else True,
    'memory of nobody': fails(lambda: os.memfd_create('x')),
    'a mount': fails(lambda: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)),
    **{folder: fails(lambda: open(f'{folder}/x', 'w')) for folder in ('/', '/dev', '/etc', '/usr', '/proc')},
    '/tmp is not endless': fails(lambda: fill('/tmp')),
    '/dev/shm is not endless': fails(lambda: fill('/dev/shm')),
    'children and threads are no crime': os.waitpid(os.fork() or os._exit(0), 0)[1] == 0,
}
print([name for name, right in said.items() if not right])
"""


@pytest.mark.skipif(bool(NO_BWRAP), reason=NO_BWRAP or "")
def test_nothing_in_the_sandbox_is_endless_and_nothing_opens_another(tmp_path):
    with sandbox.Sandbox("bwrap", sandbox.Limits(file=1 << 30)) as box:
        command, environment = box.argv("-c", TRIES), box.environment()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() in ("[]", "" if _has_filter() else "['memory of nobody']"), done.stderr


def _has_filter():
    import ctypes

    try:
        return bool(ctypes.CDLL("libseccomp.so.2"))
    except OSError:
        return False


# the grader's own reading ---------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_bytes_that_are_named_often_are_not_read_without_end(tmp_path):
    one = '{"__array__": ["<f8", [2097152], "C", 0]}'

    def named(times):
        text = f"[{','.join([one] * times)}]\n"
        exchange.place(tmp_path, "x").write_bytes(text.encode() + bytes(16 << 20))

    named(80)
    with pytest.raises(exchange.BadData, match="at most"):
        exchange.read(tmp_path, "x")
    named(3)
    assert [a.nbytes for a in exchange.read(tmp_path, "x")] == [16 << 20] * 3


DEEP = {
    "elif": "def f(x):\n    if x == 0:\n        return 0\n"
    + "".join(f"    elif x == {i}:\n        return {i}\n" for i in range(1, 2000)),
    "sum": "def f(x):\n    return " + " + ".join(["x"] * 5000),
    "brackets": "def f(x):\n    return " + "(" * 150 + "x" + ")" * 150,
    "not": "x = " + "not " * 3000 + "1",
    "attributes": "x = a" + ".b" * 20_000,
}


@pytest.mark.quick
@pytest.mark.parametrize("name", DEEP)
def test_sources_of_any_depth_can_be_compared(name):
    assert isinstance(similarity.nodes(DEEP[name]), list)
    assert flags._as_written(DEEP[name]).split()[0] == DEEP[name].split()[0]


@pytest.mark.quick
def test_the_explorer_of_threads_decides_and_so_changes_the_key():
    assert "cpulab" in results.PACKAGES
    assert (results.LIBRARY / "cpulab" / "explore").is_dir()


def test_a_long_elif_is_graded(tmp_path, request):
    notebook = hostile.solved(("07-sectors",))
    source = DEEP["elif"].replace("def f(x)", "def launch(n)").replace("x ==", "n ==")
    hostile.cell(notebook, "07-launch").source = (
        source[: source.index("elif n == 400")].rstrip() + "\n    return (n + 255) // 256, 256"
    )
    path = tmp_path / "07_vector_add.ipynb"
    path.write_text(build.text_of(notebook))
    collector = plugin.Notebook.from_parent(request.session, path=path)
    mode = "rlimit" if NO_BWRAP else "bwrap"
    result = grade.grade(
        "anna", "07_vector_add", path, hostile.MASTER, mode, sandbox.Limits(**hostile.PATIENT), 1, collector
    )
    assert result["status"] == "graded"
    assert result["points"] == hostile.SECTORS
    assert result["flags"] == []


NO_REPLY = "from coursework.grading import exchange\nexchange.write = lambda *message: None"


def test_a_process_that_is_ended_too_often_is_not_started_again(ended, monkeypatch):
    monkeypatch.setattr(session, "MAX_KERNELS", 1)
    with pytest.raises(AnswerFailed, match="not started again"):
        ended(NO_REPLY, "rlimit" if NO_BWRAP else "bwrap")


# control groups -------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_group_gets_its_limits_and_is_found_where_it_is_allowed(tmp_path, monkeypatch):
    """On a stand-in for the file system of groups: most machines allow no group to a test."""
    session_, own = tmp_path / "user.slice", tmp_path / "user.slice" / "shell.scope"
    own.mkdir(parents=True)
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    for folder, handed_on in ((tmp_path, "cpu memory pids"), (session_, "memory pids"), (own, "")):
        (folder / "cgroup.subtree_control").write_text(handed_on)
        (folder / "cgroup.procs").touch()
    monkeypatch.setattr(groups, "ROOTS", (tmp_path,))
    lines = "4:memory:/x\n0::/user.slice/shell.scope\n"
    monkeypatch.setattr(groups.Path, "read_text", _reads("/proc/self/cgroup", lines, groups.Path.read_text))
    assert groups.place() == session_
    (session_ / "cgroup.subtree_control").write_text("cpu")
    assert groups.place() == tmp_path
    monkeypatch.setattr(groups, "ROOTS", (tmp_path / "nowhere",))
    assert groups.place() is None


def _reads(where, text, usual):
    return lambda path, *a, **k: text if str(path) == where else usual(path, *a, **k)


@pytest.mark.parametrize("needed", [groups.NEEDED, frozenset()])
def test_processes_enter_a_real_group_and_leave_nothing(needed):
    """Without controllers, a group still holds its processes together: that much can be tried in more places."""
    above = groups.place(needed)
    if above is None:
        pytest.skip("no control group may be made here")
    group = groups.Group(sandbox.Limits(memory=200 << 20), above)
    with group, sandbox.Sandbox("rlimit", sandbox.Limits()) as box:
        folder, box.group = group.folder, group.join
        process = box.start("-c", "import time; print('here', flush=True); time.sleep(300)")
        assert process.stdout.readline() == b"here\n"
        assert str(process.pid) in (folder / "cgroup.procs").read_text().split()
        assert needed <= {"memory", "pids"}
        if needed:
            assert (folder / "memory.max").read_text().strip() == str(200 << 20)
            hog = box.start("-c", "x = bytearray(400 << 20); print('got it', flush=True)")
            assert hog.stdout.readline() == b""
            assert group.out_of_memory() == 1
    assert not folder.exists()
    assert process.poll() is not None


@pytest.mark.quick
def test_where_no_group_is_allowed_there_is_none(monkeypatch):
    monkeypatch.setattr(groups, "place", lambda: None)
    with groups.Group(sandbox.Limits()) as group:
        assert (group.join, group.out_of_memory()) == ("", 0)


FILLED = {
    "arrays": "import numpy as np\nkept = []\nwhile True:\n    kept.append(np.ones(1 << 20))",
    "an error that is caught": "kept = []\ntry:\n    while True:\n        kept.append(bytearray(1 << 20))\nexcept "
    "MemoryError:\n    pass",
    "small things": "kept = {}\nn = 0\nwhile True:\n    kept[n] = [n] * 1000\n    n += 1",
    "one large thing": "import numpy as np\nkept = np.ones(1 << 40)",
}


@pytest.mark.parametrize("source", FILLED.values(), ids=FILLED)
def test_a_cell_that_fills_the_memory_costs_no_other_answer(ended, source):
    notes, said, x = ended(source, "bwrap" if not NO_BWRAP else "none")
    assert x == 7
    assert bool(said) == ("kept = np" not in source)
    assert all("limit of memory: cell bad: " in flag for flag in said)
    assert len(notes) == len(said)
