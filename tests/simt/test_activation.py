"""Code that was written for numba.cuda runs on this package: `simt.activate`, ``pytest --simt``, and what it
imports."""

import math
import os
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

import numpy as np
import pytest

import simt
import simt.compiled
from simt import cuda, libdevice
from simt.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64, xoroshiro128p_uniform_float32

LIBRARY = Path(__file__).parents[2] / "lib"
PROJECT = """
import numba.cuda
import numpy as np
from numba import cuda, float32
from numba.cuda import libdevice
from numba.cuda.core import config
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
from numba.cuda.testing import CUDATestCase, skip_on_cudasim, unittest


@cuda.jit("void(float32[:], float32[:])")
def double(x, y):
    i = numba.cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]


@cuda.jit
def last(x):
    x[-1] = 5


@cuda.jit
def drawn(states, y):
    i = cuda.grid(1)
    y[i] = xoroshiro128p_uniform_float32(states, i) + libdevice.sinf(0)


class TestDouble(CUDATestCase):
    def test_double(self):
        x = np.arange(100, dtype=np.float32)
        y = cuda.device_array_like(x)
        double[4, 32](cuda.to_device(x), y)
        self.assertPreciseEqual(y.copy_to_host(), 2 * x)

    def test_a_negative_index_is_that_of_numba(self):
        x = np.zeros(3)
        last[1, 1](x)
        assert x[2] == 5

    @skip_on_cudasim("looks at machine code")
    def test_code(self):
        raise AssertionError

    def test_drawn(self):
        y = np.full(64, -1, np.float32)
        drawn[2, 32](create_xoroshiro128p_states(64, seed=1), y)
        assert ((y >= 0) & (y < 1)).all() and len(set(y)) == 64
"""

OTHERS = """
import math

import numpy as np
import pytest
from numba import cuda, vectorize, guvectorize, float32, float64
from numba.core.errors import TypingError
from numba.cuda.testing import ForeignArray

@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def add(a, b):
    return a + b

@vectorize([float64(float64)], target="cuda")
def logistic(x):
    return 1 / (1 + math.exp(-x))

@guvectorize(["void(float32[:,:], float32[:], float32[:])"], "(m,n),(n)->(m)", target="cuda")
def matvec(a, x, y):
    for i in range(a.shape[0]):
        t = float32(0)
        for k in range(a.shape[1]):
            t += a[i, k] * x[k]
        y[i] = t

@guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)", target="cuda")
def plus(x, s, y):
    for i in range(x.shape[0]):
        y[i] = x[i] + s

@guvectorize(["void(float64[:], float64[:])"], "(n)->()", target="cuda")
def total(x, y):
    t = 0.0
    for i in range(x.shape[0]):
        t += x[i]
    y[0] = t

def test_element_wise():
    x = np.arange(300, dtype=np.float32)
    np.testing.assert_array_equal(add(x, x), 2 * x)
    assert add(x, x).dtype == np.float32
    np.testing.assert_array_equal(add(x.reshape(3,100), 1), x.reshape(3,100)+1)
    d = cuda.to_device(x)
    assert (add(d, d).copy_to_host() == 2 * x).all()
    out = cuda.device_array_like(d)
    add(d, d, out=out)
    assert (out.copy_to_host() == 2 * x).all()
    np.testing.assert_allclose(logistic(np.zeros(4)), .5)
    assert add.reduce(x) == x.sum()

def test_generalized():
    a = np.random.rand(5, 3, 4).astype(np.float32); x = np.random.rand(5, 4).astype(np.float32)
    np.testing.assert_allclose(matvec(a, x), np.einsum("bmn,bn->bm", a, x), rtol=1e-5)
    np.testing.assert_allclose(plus(np.ones((2,3)), 2.0), 3)
    np.testing.assert_allclose(plus(np.ones((2,3)), np.array([1.,2.])), [[2,2,2],[3,3,3]])
    np.testing.assert_allclose(total(np.ones((2,3))), [3,3])

@cuda.jit
def index_by_text(x):
    x[cuda.grid(1)] = "a"[0]
@cuda.jit
def twice(x):
    x[cuda.grid(1)] *= 2
@cuda.jit(debug=True, opt=False)
def refuses(x):
    if x[0] > 0:
        raise ValueError("positive")
def test_errors():
    with pytest.raises(TypingError):
        index_by_text[1, 1](np.zeros(1))
    with pytest.raises(ValueError, match="positive"):
        refuses[1, 1](np.ones(1))
def test_arrays_of_others():
    d = cuda.to_device(np.arange(8.0))
    f = ForeignArray(d)
    twice[1,8](f)
    assert (d.copy_to_host() == 2*np.arange(8)).all()
    w = cuda.as_cuda_array(ForeignArray(d[::2]))
    assert w.copy_to_host().tolist() == [0,4,8,12]
    twice[1,4](w)
    assert d.copy_to_host().tolist() == [0,2,8,6,16,10,24,14]
    assert cuda.is_cuda_array(f) and d.__cuda_array_interface__["data"][0] == d.device_ctypes_pointer.value
    assert d[::2].__cuda_array_interface__["strides"] == (16,)
"""


def run(*command, **environment):
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY), **environment}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.rotates
def test_a_projects_tests_run_with_an_option(tmp_path):
    (tmp_path / "test_project.py").write_text(PROJECT)
    options = ["-q", "-p", "no:cacheprovider", "-p", "simt.pytest_plugin", "--simt", "--rootdir", tmp_path, tmp_path]
    done = run("-m", "pytest", *map(str, options))
    assert "3 passed, 1 skipped" in done.stdout, done.stdout + done.stderr


@pytest.mark.rotates
def test_ufuncs_errors_and_arrays_of_others_are_those_of_numba(tmp_path):
    (tmp_path / "test_others.py").write_text(OTHERS)
    options = ["-q", "-p", "no:cacheprovider", "-p", "simt.pytest_plugin", "--simt", "--rootdir", tmp_path, tmp_path]
    done = run("-m", "pytest", *map(str, options))
    assert "4 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.rotates
def test_a_negative_index_is_an_error_where_that_is_asked_for(tmp_path):
    (tmp_path / "test_project.py").write_text(PROJECT)
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "simt.pytest_plugin",
        "--simt-strict",
        "--rootdir",
        tmp_path,
        tmp_path,
    ]
    done = run("-m", "pytest", *map(str, options))
    assert "1 failed, 2 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "index [-1] of array 'x' is negative" in done.stdout


def test_numba_cuda_is_numbas_again():
    code = """
        import numba
        before = getattr(numba, "cuda", None)
        import simt
        simt.activate()
        from numba import cuda
        assert cuda is simt.cuda and numba.cuda is simt.cuda
        simt.activate()
        simt.deactivate()
        assert getattr(numba, "cuda", None) is before
        import sys
        assert "numba.cuda" not in sys.modules or sys.modules["numba.cuda"] is not simt.cuda
        simt.deactivate()
    """
    done = run("-c", textwrap.dedent(code))
    assert not done.returncode, done.stderr


def test_what_a_test_may_import_is_there():
    from simt import testing

    kept = (testing.xfail_unless_cudasim, testing.skip_on_wsl2, testing.skip_on_nvjitlink_13_1_sm_120("a reason"))
    assert all(decorator(run) is run for decorator in kept)
    with pytest.raises(unittest.SkipTest):
        testing.skip_if_curand_kernel_missing(run)()
    assert cuda.is_cuda_array(testing.ForeignArray(cuda.to_device(np.zeros(1))))


@pytest.mark.parametrize("like", [cuda.device_array_like, cuda.mapped_array_like, cuda.pinned_array_like])
def test_what_is_made_like_an_array_has_its_order(like):
    rows = np.zeros((6, 4), np.float32)
    for array in (rows, rows.T, rows[::2], rows.T[:, ::2], cuda.to_device(rows), cuda.to_device(rows.T)):
        made = like(array)
        columns = array.strides[0] < array.strides[1]
        assert (made.shape, made.dtype) == (array.shape, array.dtype)
        assert (made.flags["F_CONTIGUOUS"], made.flags["C_CONTIGUOUS"]) == (columns, not columns)
    assert like(np.broadcast_to(rows[0], (8, 4))).flags["C_CONTIGUOUS"]


# -- random numbers ----------------------------------------------------------------------------------------------------


@cuda.jit
def draw(states, y):
    i = cuda.grid(1)
    y[0, i] = xoroshiro128p_uniform_float32(states, i)
    y[1, i] = xoroshiro128p_normal_float64(states, i)


@pytest.mark.rotates
def test_random_numbers_are_those_of_numba(tmp_path):
    y = np.zeros((2, 4))
    draw[1, 4](create_xoroshiro128p_states(4, seed=7, subsequence_start=2), y)
    code = """
        import numpy as np
        from numba import cuda
        from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64, xoroshiro128p_uniform_float32
        @cuda.jit
        def draw(states, y):
            i = cuda.grid(1)
            y[0, i] = xoroshiro128p_uniform_float32(states, i)
            y[1, i] = xoroshiro128p_normal_float64(states, i)
        y = np.zeros((2, 4))
        draw[1, 4](create_xoroshiro128p_states(4, seed=7, subsequence_start=2), y)
        print(y.tolist())
    """
    file = tmp_path / "drawn.py"
    file.write_text(textwrap.dedent(code))
    done = run(str(file), NUMBA_ENABLE_CUDASIM="1")
    if done.returncode:
        pytest.skip("numba's simulator does not run here")
    numbas = np.array(eval(done.stdout))
    np.testing.assert_array_equal(y[0], numbas[0])
    np.testing.assert_allclose(y[1], numbas[1], rtol=1e-6)


# -- libdevice and vectors ---------------------------------------------------------------------------------------------


@cuda.jit
def by_other_names(x, y):
    i = cuda.grid(1)
    v = cuda.float4(cuda.float2(x[i], 2), 3, 4.5)
    y[i, 0] = libdevice.rsqrtf(v.x) + libdevice.fast_powf(v.y, v.w)
    y[i, 1] = libdevice.hypot(v.x, v.z) + libdevice.erff(v.x)
    s, c = libdevice.sincos(x[i])
    y[i, 2] = s * s + c * c
    w = cuda.int32x3(1.9, 2, libdevice.popc(7))
    y[i, 3] = w.x * 100 + w.y * 10 + w.z
    y[i, 4] = libdevice.mulhi(1 << 20, 1 << 20) + libdevice.saturatef(x[i] - 2)


def test_libdevice_and_vectors():
    x, y = np.linspace(0.5, 3, 32, dtype=np.float32), np.zeros((32, 5))
    by_other_names[1, 32](x, y)
    wanted = x.astype(np.float64)
    np.testing.assert_allclose(y[:, 0], 1 / np.sqrt(wanted) + 2**4.5, rtol=1e-6)
    np.testing.assert_allclose(y[:, 1], np.hypot(wanted, 3) + [math.erf(v) for v in wanted], rtol=1e-6)
    np.testing.assert_allclose(y[:, 2], 1)
    assert set(y[:, 3]) == {123}
    np.testing.assert_allclose(y[:, 4], 256 + np.clip(wanted - 2, 0, 1), rtol=1e-6)


@cuda.jit
def products(x, y, z):
    i = cuda.grid(1)
    z[i] = libdevice.mul24(x[i], y[i])


@pytest.mark.parametrize("run", [simt.run, simt.compiled.run], ids=["executor", "compiled"])
def test_mul24_takes_the_low_24_bits_with_their_sign(run):
    x = np.array([(1 << 24) + 3, 0xFFFFFF, 0x800000, -5, 0x7FFFFF, -(1 << 24) - 1], np.int32)
    y = np.array([5, 2, 1, 7, 0x7FFFFF, 1 << 24], np.int32)
    z = np.zeros(6, np.int32)
    run(products, 1, 6, [x, y, z])
    whole = 0x7FFFFF**2 & 0xFFFFFFFF
    assert z.tolist() == [15, -2, -0x800000, -35, whole - (1 << 32 if whole >> 31 else 0), 0]


@cuda.jit
def wrong_vector(y):
    y[0] = cuda.float4(1, 2).x


def test_a_vector_of_the_wrong_length_is_told():
    with pytest.raises(simt.KernelError, match="takes 4 values, 2 came"):
        wrong_vector[1, 1](np.zeros(1))


@pytest.fixture
def active():
    simt.activate()
    yield
    simt.deactivate()


def test_a_kernel_made_from_text_is_followed(active):
    """Templates that are filled in and run are how some projects make kernels for each operation."""
    kernels = {}
    for operation in ("add", "max"):
        names = {"cuda": cuda}
        exec(f"def kernel(x):\n    cuda.atomic.{operation}(x, 0, cuda.grid(1))\n", names)
        kernels[operation] = cuda.jit(names["kernel"])
    for operation, expected in (("add", 496), ("max", 31)):
        for run in (simt.run, simt.compiled.run):
            x = np.zeros(1, np.int64)
            run(kernels[operation], 1, 32, (x,))
            assert x[0] == expected


def test_an_error_in_a_kernel_made_from_text_shows_its_line(active):
    names = {"cuda": cuda}
    exec("@cuda.jit\ndef kernel(x):\n    i = cuda.grid(1)\n    x[i] = 1\n", names)
    with pytest.raises(simt.OutOfBounds, match=r"x\[i\]") as caught:
        names["kernel"][1, 32](np.zeros(8))
    assert caught.value.line == 4


def test_exec_is_still_that_of_python(active):
    def inner():
        here = 5
        exec("def f():\n    return 7\nhere_too = here + f()")  # the caller's own names
        return locals()

    assert inner().get("here") == 5
    names = {}
    exec(compile("a = 1", "<code>", "exec"), names)
    exec("b = a + 1", names, names)
    assert names["b"] == 2
    if sys.version_info >= (3, 13):
        exec("def f(): pass", globals=names)
        assert names["f"]() is None
    with pytest.raises(SyntaxError):
        exec("def f(:", {})
    with pytest.raises(TypeError):
        exec(5)
    simt.deactivate()
    assert type(exec).__name__ == "builtin_function_or_method"
