"""Compiled code on disk: whatever lies there, the function that runs is the one that stands in the file."""

import errno
import importlib.util
import itertools
import os
import subprocess
import sys

import numba
import pytest
from numba.core.errors import NumbaWarning

from dlkernels.simd import cache

pytestmark = pytest.mark.quick

KERNEL = """
from numba import njit
from dlkernels.simd.cache import cached_njit
from dlkernels.simd.inner import inner_njit

@inner_njit()
def helper(x):
    return {text}

@cached_njit()
def run(x):
    return helper(x)

def made(function):
    @cached_njit()
    def run_made(x):
        return function(x)

    return run_made
"""


class Folder:
    """A library of one file, and the folder where its compiled code is kept."""

    def __init__(self, path):
        self.file, self.kept, self.numbers = path / "library" / "kernel.py", path / "kept", itertools.count()
        self.file.parent.mkdir()
        self.write("x + 1")

    def write(self, text):
        self.file.write_text(KERNEL.format(text=text))

    def process(self):
        """The module as another process has it."""
        cache.library_stamp.cache_clear()
        spec = importlib.util.spec_from_file_location("kernel", self.file)
        sys.modules["kernel"] = module = importlib.util.module_from_spec(spec)
        # Not by its loader: what Python keeps of a file is told apart by seconds and size.
        exec(compile(self.file.read_text(), self.file, "exec"), vars(module))
        return module

    def run(self):
        """(the result, whether it came from the disk) in another process."""
        run = self.process().run
        return run(1), sum(run.stats.cache_hits.values()) == 1

    def files(self):
        return sorted(path for path in self.kept.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
        patch.setattr(cache, "LIBRARY", tmp_path / "library")
        yield Folder(tmp_path)
    sys.modules.pop("kernel", None)
    cache.library_stamp.cache_clear()


def test_kept_and_read(folder):
    assert [folder.run(), folder.run()] == [(2, False), (2, True)]
    assert len(folder.files()) == 1
    folder.write("x + 2")
    assert [folder.run(), folder.run()] == [(3, False), (3, True)]
    assert len(folder.files()) == 1  # the new one in place of the old one


DAMAGED = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "without its last byte": lambda content: content[:-1],
    "of zeros": lambda content: bytes(len(content)),
    "a bit of the code": lambda content: content[:-2000] + bytes([content[-2000] ^ 4]) + content[-1999:],
    "a bit of the checksum": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "more": lambda content: content + b"x",
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED.keys())
def test_what_is_damaged_is_not_there(folder, damage):
    folder.run()
    (file,) = folder.files()
    file.write_bytes(damage(file.read_bytes()))
    assert [folder.run(), folder.run()] == [(2, False), (2, True)]


@pytest.mark.parametrize("step", ["tempfile.mkstemp", "os.fdopen", "os.replace"])
def test_where_nothing_can_be_written_the_function_runs(folder, monkeypatch, step):
    """And what was there before is not taken for what could not be written."""
    folder.run()
    folder.write("x + 2")

    def refused(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(getattr(cache, step.split(".")[0]), step.split(".")[1], refused)
        assert folder.run() == (3, False)
    assert folder.run() == (3, False)
    assert len(folder.files()) == 1 or step == "os.fdopen"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_is_killed_while_it_writes_leaves_nothing_wrong(folder):
    """At each of its system calls on the folder of compiled code."""
    for calls in itertools.count():
        folder.write("x + 1")
        folder.run()
        folder.write("x + 2")
        if (child := os.fork()) == 0:
            try:
                sys.addaudithook(killed_after(calls, str(folder.kept)))
                os._exit(folder.run() != (3, False))
            finally:
                os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert folder.run()[0] == 3
        if code != KILLED:
            break
    assert code == 0
    assert calls > 3


KILLED = 9


def killed_after(calls, folder):
    left = itertools.count(calls, -1)

    def hook(event, arguments):
        if event.startswith(("open", "os.")) and folder in str(arguments) and next(left) == 0:
            os._exit(KILLED)

    return hook


def test_a_folder_that_goes_away(folder):
    module = folder.process()
    for file in folder.files():
        file.unlink()
    if folder.kept.exists():
        for path in folder.kept.iterdir():
            path.rmdir()
        folder.kept.rmdir()
    assert module.run(1) == 2
    assert folder.run() == (2, True)


def test_where_no_folder_may_be_written(folder, monkeypatch):
    from numba.core import caching

    for name in ("UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator"):
        monkeypatch.setattr(getattr(caching, name), "from_function", lambda *arguments: None)
    assert [folder.run(), folder.run()] == [(2, False), (2, False)]
    assert not folder.files()


@pytest.mark.parametrize(("setting", "value"), [("OPT", 1), ("BOUNDSCHECK", 1), ("SLP_VECTORIZE", 1)])
def test_numbas_settings_are_told_apart(folder, monkeypatch, setting, value):
    assert folder.run() == (2, False)
    with monkeypatch.context() as patch:
        patch.setattr(numba.config, setting, value)
        assert folder.run() == (2, False)
        assert folder.run() == (2, True)
    assert folder.run() == (2, False)


@pytest.mark.parametrize("library", ["numba", "llvmlite"])
def test_versions_are_told_apart(folder, monkeypatch, library):
    folder.run()
    monkeypatch.setattr(getattr(cache, library), "__version__", "0.0.0")
    assert folder.run() == (2, False)


def test_a_file_that_changed_while_a_process_ran_is_not_kept_as_the_old_one(folder):
    """The process goes on with the old text; one that loads late the new one. Nobody knows which it compiled."""
    first = folder.process()
    folder.write("x + 2")
    assert first.run(1) == 2
    assert not folder.files()
    assert folder.run() == (3, False)


def test_a_made_function_is_kept_by_what_it_holds_or_not_at_all(folder, recwarn):
    """What it holds is another one in each process: each would leave a file that nobody reads."""
    for function, expected in (("helper", 2), ("helper", 2)):
        module = folder.process()
        assert module.made(getattr(module, function))(1) == expected
    assert not folder.files()
    assert not [one for one in recwarn if issubclass(one.category, NumbaWarning)]


COLLIDING = """
import sys
import numpy as np
from numba import njit
from dlkernels.simd.cache import cached_njit
from dlkernels.simd.inner import inner_njit

def made(n):
    @inner_njit()
    def long(x):  # so long that LLVM calls it
        total = 0.0
{lines}
        return total

    return long

first, second = made(1.0), made(2.0)

def both(x):
    return first(x), second(x)

if __name__ == "__main__":
    x = np.linspace(0.1, 0.2, 200)
    if sys.argv[1] == "beside new code":
        njit(lambda x: x)(1)  # functions are counted, and this one shifts the count
        njit(both)(x)
    print(*cached_njit()(both)(x))
"""


def test_code_of_another_process_calls_its_own_functions(folder):
    """numba counts functions, and those of one name and number are one for LLVM."""
    lines = "\n".join(f"        total += x[{k}] * (total + n)" for k in range(200))
    program = folder.file.with_name("colliding.py")
    program.write_text(COLLIDING.format(lines=lines))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder.kept)}
    told = [
        subprocess.run(
            [sys.executable, program, how], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for how in ("alone", "beside new code")
    ]
    assert list(folder.kept.rglob("*.nbc"))
    assert told[0] == told[1]
