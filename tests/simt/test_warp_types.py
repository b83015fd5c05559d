"""Which types shuffles, votes and counting barriers take: those that numba-cuda takes, in both engines, and what is
said of others."""

import importlib.util

import numpy as np
import pytest
from numba import int32, types
from numba.core.errors import NumbaError

from simt import NotOnAGpu, compiled, cuda, run

pytestmark = pytest.mark.quick

KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.float32, np.float64, np.bool_]


@cuda.jit
def shuffle(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)


@cuda.jit
def vote(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.any_sync(0xFFFFFFFF, x[t])


@cuda.jit
def barrier(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.syncthreads_count(x[t])


def numba_takes(kernel, kind):
    """Whether numba-cuda has a type for the operation on such a value."""
    if importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("needs numba-cuda")
    intrinsics = importlib.import_module("numba.cuda.intrinsics")
    if kernel is shuffle:
        definition, given = intrinsics.shfl_xor_sync, (int32, kind, int32)
    elif kernel is vote:
        definition, given = intrinsics.any_sync, (int32, kind)
    else:
        definition, given = intrinsics.syncthreads_count, (kind,)
    try:
        return definition._defn(None, *given) is not None
    except NumbaError:
        return False


def takes(launch, refusal):
    try:
        launch()
    except refusal as error:
        said = str(error)
    else:
        return True
    assert "came: " in said
    return False


@pytest.mark.parametrize("kind", [*KINDS, np.float16], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("kernel", [shuffle, vote, barrier], ids=lambda kernel: kernel.py_func.__name__)
def test_both_engines_take_what_numba_cuda_takes(kernel, kind):
    given = np.ones(32, kind), np.zeros(32)
    expected = numba_takes(kernel, getattr(types, "boolean" if kind is np.bool_ else kind.__name__))
    assert takes(lambda: run(kernel, 1, 32, given), NotOnAGpu) == expected
    if kind is not np.float16:  # which the compiled engine leaves to the executor
        assert takes(lambda: compiled.run(kernel, 1, 32, given), NotOnAGpu) == expected


@pytest.mark.parametrize(("kind", "words"), [(np.bool_, "int32"), (np.float16, "float32"), (np.uint32, "int32")])
def test_a_shuffle_says_what_to_hand_over_instead(kind, words):
    with pytest.raises(NotOnAGpu, match=rf"line \d+.*hand over {words}\(\.\.\.\)"):
        run(shuffle, 1, 32, (np.ones(32, kind), np.zeros(32)))


def test_what_it_says_works():
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = cuda.shfl_down_sync(0xFFFFFFFF, int32(x[t] > 3), 1) == 1
        out[t] += cuda.syncthreads_or(1 if x[t] > 30 else 0)

    x = np.arange(32, dtype=np.uint32)
    for launch in (run, compiled.run):
        out = np.zeros(32)
        launch(kernel, 1, 32, (x, out))
        expected = (np.append(x[1:], x[31]) > 3) + 1
        np.testing.assert_array_equal(out, expected)
