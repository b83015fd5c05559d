"""Functions that kernels are made of: compiled once, right in every way in which they are called."""

import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError
from numba.core.runtime import _nrt_python, rtsys

from dlkernels.simd import cache
from dlkernels.simd.cache import cached_njit
from dlkernels.simd.inner import inner_njit

pytestmark = pytest.mark.quick


@pytest.fixture
def machine_code(monkeypatch):
    """The names of the functions whose code was handed to the processor."""
    names, before = [], JITCodeLibrary._finalize_specific

    def counted(self):
        names.append(self.name)
        return before(self)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", counted)
    return names


def chain(decorate):
    """A kernel with three functions below each other, all of them decorated so."""

    @decorate
    def lowest(x, i):
        return 3 * x[i]

    @decorate
    def middle(x, i):
        return lowest(x, i) + 1

    @decorate
    def highest(x, i):
        return middle(x, i) + lowest(x, i)

    @njit
    def kernel(x):
        total = x[0]
        for i in range(x.size):
            total += highest(x, i)
        return total

    return kernel, highest


@pytest.mark.parametrize(("decorate", "compiled"), [(inner_njit(), 1), (njit, 4)], ids=["inner", "njit"])
def test_machine_code_is_made_once(machine_code, decorate, compiled):
    kernel, _ = chain(decorate)
    x = np.arange(5.0)
    assert kernel(x) == x[0] + (6 * x + 1).sum()
    of_ours = [name for name in machine_code if name.split(".")[-1] in ("kernel", "highest", "middle", "lowest")]
    assert len(of_ours) == compiled


def test_called_from_python():
    _, highest = chain(inner_njit())
    x = np.arange(4.0)
    assert highest(x, 2) == 13
    assert highest.py_func(x, 2) == 13
    kernel, highest = chain(inner_njit())
    assert (kernel(x), highest(x, 2), kernel(x)) == (40, 13, 40)


def test_a_function_as_an_argument():
    _, highest = chain(inner_njit())

    @njit
    def apply(function, x):
        return function(x, 1)

    again = pickle.loads(pickle.dumps(highest))
    assert apply(highest, np.arange(4.0)) == apply(again, np.arange(4.0)) == 7


def test_options():
    @inner_njit(error_model="numpy", fastmath={"contract"})
    def quotient(a, b):
        return a / b

    @inner_njit()
    def strict(a, b):
        return a / b

    loose_kernel, strict_kernel = (kernel_of(one) for one in (quotient, strict))
    assert loose_kernel(1.0, 0.0) == np.inf
    assert quotient(1.0, 0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        strict_kernel(1.0, 0.0)


def test_a_constant_is_compiled_as_any_number():
    """Once for all, unless the function must know it."""

    @inner_njit()
    def added(x, i):
        return x + i

    @inner_njit()
    def picked(pair, i):
        return pair[i]

    @njit
    def kernel(x):
        return added(x, 1) + added(x, 2) + added(x, x) + picked((x, 0.5), 0) + picked((x, 0.5), 1)

    assert kernel(3) == 4 + 5 + 6 + 3 + 0.5
    assert (len(added.overloads), len(picked.overloads)) == (1, 2)


def test_arrays_are_freed_when_nobody_has_them():
    """Functions that make or return arrays count references, those that only look at them need not."""

    @inner_njit()
    def part(x):
        return x[1:]

    @inner_njit()
    def doubled(x):
        return x * 2

    @inner_njit()
    def picked(x, places):
        return x[places].sum()

    @inner_njit()
    def moved(x):
        x[1:] = x[:-1]

    @inner_njit()
    def total(x):
        line, result = x.T, 0.0
        for i in range(line.size):
            result += line[i]
        return result

    @inner_njit()
    def both(x):
        return part(x), (doubled(x), 1)

    @njit
    def kernel(x, places):
        y = doubled(part(x))
        moved(y)
        some, (other, _) = both(y)
        return some, total(y) + picked(other, places), y

    _nrt_python.memsys_enable_stats()
    x, places = np.arange(6.0), np.array([1, 0, 0])
    for _ in range(3):
        before = rtsys.get_allocation_stats()
        found = kernel(x, places)
        assert [one.tolist() for one in (found[0], found[2])] == [[2, 4, 6, 8], [2, 2, 4, 6, 8]]
        assert found[1] == 22 + 12
        held = sys.getrefcount(x), sys.getrefcount(places)
        del found
        after = rtsys.get_allocation_stats()
        assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free > 0
    assert (sys.getrefcount(x), sys.getrefcount(places)) == held


def kernel_of(function):
    @njit
    def kernel(a, b):
        return function(a, b)

    return kernel


KEPT = """
import numpy as np
from dlkernels.simd import cache
from dlkernels.simd.cache import cached_njit
from dlkernels.simd.inner import inner_njit

FACTORS = np.array([2.0, 3.0])

@inner_njit()
def scaled(x, i):
    if i > 2:
        raise ValueError("beyond two")
    made = np.empty(1)
    made[0] = x[i] * FACTORS[i % 2]
    return made[0]

@cached_njit()
def run(x, i):
    return scaled(x, i)
"""


def test_from_the_disk(tmp_path):
    """A kernel that is read from the disk runs the functions that it was made of, and their errors arrive."""
    (tmp_path / "kept.py").write_text(KEPT)
    ask = (
        "import numpy as np; from kept import run; x = np.arange(4.0); values = [run(x, i) for i in range(3)]\n"
        "try: run(x, 3)\n"
        "except ValueError as error: print(*values, error, sum(run.stats.cache_hits.values()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    for hits in (0, 1):
        said = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True)
        assert said.stdout.strip() == f"0.0 3.0 4.0 beyond two {hits}", said.stderr


MADE = """
from numba import njit
from dlkernels.simd import cache
from dlkernels.simd.cache import cached_njit

def map_of(name, function):
    @cached_njit(holds=name)
    def run(x):
        return function(x)

    return run

@njit
def twice(x):
    return 2 * x

@njit
def square(x):
    return x * x
"""


def test_made_functions_are_read_from_the_disk(tmp_path):
    """Each for what it holds, though it holds a compiled function, which is another one in each process."""
    (tmp_path / "made.py").write_text(MADE)
    ask = (
        "from made import map_of, square, twice\n"
        "runs = map_of('twice', twice), map_of('square', square)\n"
        "print([run(x) for run in runs for x in (3, 1.5)], [sum(run.stats.cache_hits.values()) for run in runs])"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
    for hits in (0, 2):
        said = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True)
        assert said.stdout.strip() == f"[6, 3.0, 9, 2.25] [{hits}, {hits}]", said.stderr


def test_garbage_is_collected_again():
    """Compiling stops the search for garbage, and lets it go on where it went on before, also after an error."""

    @cached_njit()
    def wrong(x):
        return x + undefined_anywhere  # noqa: F821

    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            with pytest.raises(TypingError):
                wrong(enabled + 0.5)
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_garbage_is_collected_in_a_process_that_is_forked_while_another_thread_compiles():
    compiles, forked = threading.Event(), threading.Event()

    def compiling():
        with cache._nothing_collected():
            compiles.set()
            forked.wait()

    thread = threading.Thread(target=compiling)
    thread.start()
    compiles.wait()
    assert not gc.isenabled()
    if (child := os.fork()) == 0:
        os._exit(0 if gc.isenabled() else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    forked.set()
    thread.join()
    assert code == 0
    assert gc.isenabled()


FORK = """
import os, signal, sys, threading
import numba
from numba.core.compiler_lock import global_compiler_lock
import dlkernels.simd.cache

compiles, forks = threading.Event(), threading.Event()
sys.addaudithook(lambda event, _: event == "os.fork" and forks.set())

def compiling():
    with global_compiler_lock:
        compiles.set()
        forks.wait()

thread = threading.Thread(target=compiling)
thread.start()
compiles.wait()
if (child := os.fork()) == 0:
    signal.alarm(60)
    os._exit(numba.njit(lambda x: x + 1)(2) != 3)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread.join()
sys.exit(code or numba.njit(lambda x: x + 1)(2) != 3)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_is_forked_while_another_thread_compiles_can_compile():
    said = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
