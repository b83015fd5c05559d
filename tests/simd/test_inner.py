"""Functions that kernels are made of: compiled once, right in every way in which they are called."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary

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


def kernel_of(function):
    @njit
    def kernel(a, b):
        return function(a, b)

    return kernel


KEPT = """
import numpy as np
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
