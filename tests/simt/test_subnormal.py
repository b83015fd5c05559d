"""What `cuda.atomic` does below the smallest normal number. A GPU adds float32 in global memory with an instruction
that takes subnormal numbers, in memory, as operand and as result, for a zero of their sign (PTX ISA, `atom`: "Current
implementation of atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero; whereas
atom.add.f32 on shared memory supports subnormal inputs and results and doesn't flush them to zero"). numba-cuda writes
all its other atomics of floats as loops around a compare-and-swap, which lose nothing. An H200 did so, asked for sums,
differences and extremes of all pairs below; where there is a GPU, it is asked again.
"""

import numpy as np
import pytest
from numba import float32, float64

import simt
from simt import compiled, cuda
from simt.retargeting import retarget
from simt.xray import available, xray
from simt.xray import compiled as compiled_for_gpu


def counted(kernel, grid, block, arguments):
    xray(kernel, grid, block, engine="compiled")(*arguments)


def on_a_gpu(kernel, grid, block, arguments):
    real = pytest.importorskip("numba.cuda")
    if not (hasattr(real, "is_available") and real.is_available()):
        pytest.skip("no NVIDIA GPU")
    there = [real.to_device(x) for x in arguments]
    real.jit(retarget(kernel, real))[grid, block](*there)
    for x, result in zip(arguments, there, strict=True):
        x[...] = result.copy_to_host()


RUNS = {"executor": simt.run, "compiled": compiled.run, "counted": counted, "gpu": on_a_gpu}
by_all = pytest.mark.parametrize("run", [pytest.param(run, id=name) for name, run in RUNS.items()])

TINY = float(np.finfo(np.float32).tiny)
LESS = TINY / 4
#: (in memory, added, their sum, what a GPU leaves in global memory)
SUMS = [
    (LESS, 0.0, LESS, 0.0), (-LESS, -0.0, -LESS, -0.0), (-LESS, 0.0, -LESS, 0.0),  # flushed in memory, of its sign
    (0.0, LESS, LESS, 0.0), (-0.0, -LESS, -LESS, -0.0), (0.0, -LESS, -LESS, 0.0),  # the number added
    (3 * LESS, 3 * LESS, 6 * LESS, 0.0), (-3 * LESS, -3 * LESS, -6 * LESS, -0.0),  # their sum would be a normal one
    (6 * LESS, -5 * LESS, LESS, 0.0), (-6 * LESS, 5 * LESS, -LESS, -0.0),  # of normal numbers: the sum alone
    (TINY, LESS, 5 * LESS, TINY), (LESS, -TINY, -3 * LESS, -TINY),  # one of the two
    (TINY, -TINY, 0.0, 0.0), (TINY, TINY, 2 * TINY, 2 * TINY), (6 * LESS, -2 * TINY, -2 * LESS, -0.0),
    (1.0, LESS, 1.0, 1.0), (-0.0, -0.0, -0.0, -0.0), (-0.0, 0.0, 0.0, 0.0), (float("inf"), LESS, float("inf"), float("inf")),
]  # fmt: skip
BEFORE, ADDED, SUM, FLUSHED = (np.array(column, np.float32) for column in zip(*SUMS, strict=True))


def same(got, expected):
    """To the bit: zeros have signs."""
    np.testing.assert_array_equal(
        got.view(f"u{got.itemsize}"), expected.view(f"u{got.itemsize}"), err_msg=f"{got} {expected}"
    )


# ---- kernels: each adds v to x, element by element, and keeps what was there -----------------------------------------


@cuda.jit(device=True)
def add(a, i, value):
    return cuda.atomic.add(a, i, value)


@cuda.jit
def in_global(x, v, old):
    i = cuda.grid(1)
    if i < x.shape[0]:
        old[i] = cuda.atomic.add(x, i, v[i])


@cuda.jit
def by_a_device_function(x, v, old):
    i = cuda.grid(1)
    if i < x.shape[0]:
        old[i] = add(x, i, v[i])


@cuda.jit
def in_a_slice(x, v, old):
    i = cuda.grid(1)
    if 0 < i < x.shape[0]:
        old[i] = cuda.atomic.add(x[1:], i - 1, v[i])
    elif i == 0:
        old[i] = cuda.atomic.add(x, i, v[i])


@cuda.jit
def under_a_shared_name(x, v, old):
    """A device function's parameter is called as a shared array of the kernel."""
    a = cuda.shared.array(4, float32)
    i = cuda.grid(1)
    a[i % 4] = 0
    if i < x.shape[0]:
        old[i] = add(x, i, v[i])


@cuda.jit
def in_shared(x, v, old):
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        s[i] = x[i]
        old[i] = cuda.atomic.add(s, i, v[i])
        x[i] = s[i]


@cuda.jit
def in_shared_by_a_device_function(x, v, old):
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        s[i] = x[i]
        old[i] = add(s, i, v[i])
        x[i] = s[i]


@cuda.jit
def in_a_shared_row(x, v, old):
    s = cuda.shared.array((2, 64), float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        row = s[1]
        row[i] = x[i]
        old[i] = cuda.atomic.add(row, i, v[i])
        x[i] = s[1, i]


@cuda.jit
def in_a_shared_slice_by_a_device_function(x, v, old):
    s = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        s[64 + i] = x[i]
        old[i] = add(s[64:], i, v[i])
        x[i] = s[64 + i]


@cuda.jit
def in_one_of_them(x, v, old):
    """The compiler cannot know which memory it is: the instruction looks."""
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        s[i] = x[i]
        where = s if v.shape[0] > 1 else x
        old[i] = cuda.atomic.add(where, i, v[i])
        x[i] = where[i]


@cuda.jit
def in_the_other(x, v, old):
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        s[i] = x[i]
        where = s if v.shape[0] < 1 else x
        old[i] = add(where, i, v[i])


GLOBAL = (in_global, by_a_device_function, in_a_slice, under_a_shared_name, in_the_other)
SHARED = (
    in_shared, in_shared_by_a_device_function, in_a_shared_row, in_a_shared_slice_by_a_device_function, in_one_of_them,
)  # fmt: skip


def each(kernels):
    """Each kernel in each way. To be counted it is compiled anew: by day, those whose device function knows no
    memory."""
    for kernel in kernels:
        name = kernel.py_func.__name__
        for way, run in RUNS.items():
            marks = [pytest.mark.slow] if run is counted and "by_a_device_function" not in name else []
            yield pytest.param(kernel, run, id=f"{name}-{way}", marks=marks)


@pytest.mark.rotates
@pytest.mark.parametrize(("kernel", "run"), list(each(GLOBAL)))
def test_in_global_memory_subnormal_numbers_are_zeros(kernel, run):
    x, old = BEFORE.copy(), np.full_like(BEFORE, 7)
    run(kernel, 1, 64, [x, ADDED.copy(), old])
    same(x, FLUSHED)
    same(old, BEFORE)  # what was there comes back as it was


@pytest.mark.rotates
@pytest.mark.parametrize(("kernel", "run"), list(each(SHARED)))
def test_in_shared_memory_they_are_numbers(kernel, run):
    x, old = BEFORE.copy(), np.full_like(BEFORE, 7)
    run(kernel, 1, 64, [x, ADDED.copy(), old])
    same(x, SUM)
    same(old, BEFORE)


@cuda.jit
def dynamic(x, v, old):
    s = cuda.shared.array(0, float32)
    i = cuda.threadIdx.x
    if i < x.shape[0]:
        s[i] = x[i]
        old[i] = add(s, i, v[i])
        x[i] = s[i]


@pytest.mark.parametrize("run", [simt.run, compiled.run], ids=["executor", "compiled"])
def test_dynamic_shared_memory_is_shared(run):
    x, old = BEFORE.copy(), np.full_like(BEFORE, 7)
    run(dynamic, 1, 64, [x, ADDED.copy(), old], shared_bytes=256)
    same(x, SUM)


@cuda.jit
def many(x, v):
    cuda.atomic.add(x, 0, v[0])


@by_all
def test_many_subnormal_numbers_are_nothing(run):
    x = np.zeros(1, np.float32)
    run(many, 4, 64, [x, np.full(1, LESS, np.float32)])
    same(x, np.zeros(1, np.float32))


@cuda.jit
def others(x, v):
    cuda.atomic.sub(x, 0, v[0])
    cuda.atomic.max(x, 1, v[0])
    cuda.atomic.min(x, 2, -v[0])
    cuda.atomic.nanmax(x, 3, v[0])
    cuda.atomic.nanmin(x, 4, -v[0])


@by_all
def test_other_atomics_of_floats_lose_nothing(run):
    """numba-cuda subtracts by a loop around a compare-and-swap, not by adding the negative."""
    x, less = np.zeros(5, np.float32), np.float32(LESS)
    run(others, 1, 1, [x, np.full(1, LESS, np.float32)])
    same(x, np.array([-less, less, -less, less, -less]))


@cuda.jit
def of_doubles(x, v, old):
    s = cuda.shared.array(1, float64)
    s[0] = x[0]
    old[0] = cuda.atomic.add(x, 0, v[0])
    old[1] = cuda.atomic.add(s, 0, v[0])
    x[1] = s[0]


@by_all
def test_doubles_are_added_to_the_last_bit(run):
    tiny = float(np.finfo(np.float64).tiny)
    x, old = np.array([tiny / 4, 0]), np.zeros(2)
    run(of_doubles, 1, 1, [x, np.array([tiny / 8]), old])
    same(x, np.full(2, tiny / 8 * 3))
    same(old, np.full(2, tiny / 4))


def test_mapped_and_managed_memory_is_global():
    for make in (cuda.mapped_array, cuda.managed_array):
        x, old = make(len(SUMS), np.float32), np.zeros(len(SUMS), np.float32)
        x[:] = BEFORE
        in_global[1, 64](x, ADDED, old)
        same(np.asarray(x), FLUSHED)


@pytest.mark.rotates
@pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
@pytest.mark.parametrize(
    ("arch", "few"), [("sm_90", 1), *(pytest.param(a, 4, marks=pytest.mark.slow) for a in ("sm_75", "sm_90"))]
)
def test_the_instruction_says_so(arch, few):
    """What the compiler for GPUs makes of the kernels above: an addition that flushes to zero (FTZ), or a loop. Where
    it cannot know the memory, it makes both, and asks which it is (QSPC)."""

    def listing(kernel, kind="float32", arrays=3):
        return compiled_for_gpu(kernel, f"void({', '.join([f'{kind}[::1]'] * arrays)})", arch).sass

    for kernel in GLOBAL[:few]:
        assert "ATOMG.E.ADD.F32.FTZ." in listing(kernel), kernel
    for kernel in SHARED[:few]:
        assert "ATOMS.CAS" in listing(kernel), kernel
        assert "F32.FTZ" not in listing(kernel), kernel
    assert "QSPC" in listing(in_one_of_them)
    assert "F32.FTZ" not in listing(of_doubles, "float64")
    assert "CAS" in listing(others, arrays=2)
    assert "ADD.F32" not in listing(others, arrays=2)
