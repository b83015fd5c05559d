"""The same kernels elsewhere: numba's simulator, numba-cuda's compiler, and intrinsics that have no Python body."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import float32

import simt
from simt import KernelError, cuda

HERE = Path(__file__).parent

_SIMULATE = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from numba import cuda as simulator
from correct_kernels import CASES
from simt import retarget
results = {}
for name, kernel, grid, block, make in CASES:
    arguments = make()
    simulator.jit(retarget(kernel, simulator))[grid, block](*arguments)
    results[name] = [a.tolist() for a in arguments if isinstance(a, np.ndarray)]
print(json.dumps(results))
"""


@pytest.mark.rotates
def test_agrees_with_numbas_own_simulator():
    from correct_kernels import CASES

    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SIMULATE, str(HERE)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    simulated = json.loads(done.stdout)
    assert len(simulated) == len(CASES) >= 8
    for name, kernel, grid, block, make in CASES:
        arguments = make()
        kernel[grid, block](*arguments)
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        for ours, theirs in zip(arrays, simulated[name], strict=True):
            np.testing.assert_allclose(ours, np.array(theirs), rtol=1e-6, err_msg=name)


_COMPILE = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from types import SimpleNamespace
from numba import cuda, typeof
# Device functions are compiled for the device at hand, and there is none.
cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(8, 0))
from correct_kernels import CASES
from simt import retarget
for name, kernel, grid, block, make in CASES:
    types = tuple(map(typeof, make()))
    ptx, _ = cuda.compile_ptx(retarget(kernel, cuda), types, cc=(8, 0))
    assert ".entry" in ptx
    print(name)
"""


@pytest.mark.slow
def test_the_same_kernels_compile_for_a_gpu():
    """Device functions and closures included, through ``retarget``."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from correct_kernels import CASES

    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "-c", _COMPILE, str(HERE)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == [name for name, *_ in CASES]


class Intrinsic:
    """Stands for what ``numba.cuda.extending.intrinsic`` returns: an object without a Python body."""


load4, store4 = Intrinsic(), Intrinsic()
simt.stand_in(load4, lambda context, array, index: context.load(array, index, 4))
simt.stand_in(store4, lambda context, array, index, values: context.store(array, index, values))


@cuda.jit
def copy_by_fours(x, y):
    i = cuda.grid(1) * 4
    if i < x.size:
        store4(y, i, load4(x, i))


def test_a_stand_in_reads_and_writes_sixteen_bytes_at_once():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    trace = simt.run(copy_by_fours, 1, 16, [x, y], trace=simt.Trace())
    np.testing.assert_array_equal(x, y)
    assert len(trace) == 32
    assert set(trace.size) == {16}
    np.testing.assert_array_equal(trace.address[trace.kind == 0], 16 * np.arange(16))
    assert {trace.sites[s].text for s in trace.site} == {"load4(x, i)", "store4(y, i, load4(x, i))"}
    plain = np.zeros(64, np.float32)
    copy_by_fours[1, 16](x, plain)
    np.testing.assert_array_equal(x, plain)


def test_a_vector_access_must_be_aligned_and_inside():
    @cuda.jit
    def kernel(x, y, i):
        store4(y, 0, load4(x, i))

    x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
    with pytest.raises(KernelError, match="CUDA_ERROR_MISALIGNED_ADDRESS"):
        kernel[1, 1](x, y, 1)
    with pytest.raises(simt.OutOfBounds, match=r"index \[8\]"):
        kernel[1, 1](x, y, 8)
    kernel[1, 1](x, y, 4)


def test_stand_ins_in_shared_memory():
    @cuda.jit
    def kernel(x, y):
        s = cuda.shared.array((2, 8), float32)
        t = cuda.threadIdx.x
        store4(s, (1, 4 * t), load4(x, 4 * t))
        cuda.syncthreads()
        y[t] = s[1, 7 - t]

    y = np.zeros(2, np.float32)
    trace = simt.run(kernel, 1, 2, [np.arange(8, dtype=np.float32), y], trace=simt.Trace())
    assert y.tolist() == [7, 6]
    assert trace.findings == []


# ---- stand-ins that are device functions, and for a warp at once -----------------------------------------------------

swap, total = Intrinsic(), Intrinsic()


@cuda.jit(device=True)
def swap_by_shuffles(value):
    return cuda.shfl_xor_sync(0xFFFFFFFF, value, 1)


@cuda.jit(device=True)
def total_by_shuffles(value):
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
    return value


def total_of_a_warp(lanes):
    return dict.fromkeys(lanes, sum(value for (value,) in lanes.values()))


simt.stand_in(swap, swap_by_shuffles)
simt.stand_in(total, total_by_shuffles)
simt.warp_stand_in(total_by_shuffles, total_of_a_warp)


@cuda.jit
def warp_kernel(x, y):
    i = cuda.grid(1)
    y[i] = swap(x[i]) + total(x[i])


@pytest.mark.parametrize("engine", ["executor", "compiled"])
def test_a_stand_in_may_be_a_device_function(engine):
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with cuda.engine(engine):
        warp_kernel[1, 64](x, y)
    np.testing.assert_array_equal(y, x.reshape(-1, 2)[:, ::-1].reshape(-1) + x.reshape(2, 32).sum(1).repeat(32))


def test_a_stand_in_for_a_warp_is_one_operation_of_it():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    trace = simt.run(warp_kernel, 1, 64, [x, y], trace=simt.Trace())
    assert [c.name for c in trace.collectives].count("total_of_a_warp") == 2
    with pytest.raises(KernelError, match="total_of_a_warp takes all 32 lanes of a warp, 16 came"):
        simt.run(warp_kernel, 1, 16, [x, y])


def test_an_intrinsic_without_a_stand_in_is_refused():
    missing = Intrinsic()
    Intrinsic.__module__ = "numba.core.extending"

    @cuda.jit
    def kernel(x):
        missing(x)

    with pytest.raises(KernelError, match="stand_in"):
        kernel[1, 1](np.zeros(1))
