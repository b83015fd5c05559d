"""Kernels of numba.cuda in OpenCL C compute what they compute in the executor; what cannot be said there is refused."""

import linecache
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba import float32 as f32
from numba import int32 as i32
from numba import uint32 as u32

import simt
from opencl.translate import Refused, translate
from simt import cuda

try:
    import pyopencl

    HERE = any(p.get_devices() for p in pyopencl.get_platforms())
except Exception:  # no pyopencl, or no platform
    HERE = False
runs = pytest.mark.skipif(not HERE, reason="no OpenCL device here")
ALL = 0xFFFFFFFF
RNG = np.random.default_rng(0)


def same(kernel, grid, block, *arguments, shared_bytes=0, close=0):
    """Run a kernel in the executor and in OpenCL from the same arguments; returns the arrays, which must agree."""
    from opencl.translate.launch import run

    there = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    translated = run(kernel, grid, block, there, shared_bytes)
    simt.run(kernel, grid, block, arguments, shared_bytes)
    for a, b in zip(arguments, there, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(b, a, rtol=close, atol=close, err_msg=translated.source)
    return there


def made(text, name="kernel"):
    """A kernel from a text."""
    file = f"<made {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"cuda": cuda, "math": math, "np": np, "i32": i32, "u32": u32, "f32": f32, "ALL": ALL}
    exec(compile(text, file, "exec"), scope)
    return cuda.jit(scope[name])


# ---- whole numbers ---------------------------------------------------------------------------------------------------

SMALL = st.integers(-9, 9)


def expressions(depth):
    """Texts of expressions of the int64 a, b and the thread's own t (0 to 63) and of literals."""
    if depth == 0:
        return st.one_of(st.sampled_from(["a", "b", "t", "n"]), SMALL.map(lambda v: f"({v})"))
    inner = expressions(depth - 1)
    pairs = st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "&", "|", "^"]), inner)
    more = st.one_of(
        pairs.map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, inner).map(lambda p: f"min({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, abs({p[1]}))"),
        st.tuples(inner, st.integers(0, 3)).map(lambda p: f"({p[0]} >> {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} < {p[2]} else -{p[0]})"),
    )
    return st.one_of(inner, more)


def by_python(text, **names):
    """As a kernel has it: by zero gives zero."""

    class Whole(int):
        pass

    def wrap(v):
        return v if isinstance(v, Whole) else Whole(v)

    for sign in ("add", "sub", "mul", "and", "or", "xor", "rshift"):
        operation = getattr(int, f"__{sign}__")
        setattr(Whole, f"__{sign}__", lambda x, y, o=operation: Whole(o(x, y)))
        setattr(Whole, f"__r{sign}__", lambda x, y, o=operation: Whole(o(int(y), x)))
    Whole.__floordiv__ = lambda x, y: Whole(int(x) // int(y) if y else 0)
    Whole.__rfloordiv__ = lambda x, y: Whole(int(y) // int(x) if x else 0)
    Whole.__mod__ = lambda x, y: Whole(int(x) % int(y) if y else 0)
    Whole.__rmod__ = lambda x, y: Whole(int(y) % int(x) if x else 0)
    Whole.__neg__ = lambda x: Whole(-int(x))
    Whole.__abs__ = lambda x: Whole(abs(int(x)))
    scope = {name: Whole(v) for name, v in names.items()}
    literals = __import__("re").sub(r"\((-?\d+)\)", r"W(\1)", text)
    return int(eval(literals, {"W": Whole, "min": min, "max": max, "abs": abs}, scope))


@runs
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(expressions(3), min_size=12, max_size=12), st.integers(-40, 40))
def test_whole_numbers_are_pythons(texts, n):
    lines = "\n".join(f"    out[{k}, t] = {text}" for k, text in enumerate(texts))
    kernel = made(f"def kernel(x, y, n, out):\n    t = cuda.threadIdx.x\n    a, b = x[t], y[t]\n{lines}\n")
    x, y = RNG.integers(-50, 50, 64), RNG.integers(-50, 50, 64)
    out = np.zeros((len(texts), 64), np.int64)
    from opencl.translate.launch import run

    translated = run(kernel, 1, 64, (x, y, n, out))
    for k, text in enumerate(texts):
        expected = [by_python(text, a=int(x[t]), b=int(y[t]), t=t, n=n) for t in range(64)]
        assert out[k].tolist() == expected, f"{text}, n = {n}\n{translated.source}"


@cuda.jit
def narrow_kernel(x, y, z, out):
    t = cuda.grid(1)
    a, b, c = x[t], y[t], z[t]
    out[0, t] = a // b
    out[1, t] = a % b
    out[2, t] = c - u32(5)  # of uint32, in 64 bits without a sign
    out[3, t] = -a * b
    out[4, t] = (c << u32(3)) ^ (c >> u32(7))
    out[5, t] = a < c
    out[6, t] = ~c & u32(255)
    out[7, t] = (a + t) ** 2 - b**3
    out[8, t] = int(f32(a) / f32(7)) + round(b / 4)
    out[9, t] = (a < b) + (b < 3) + (not a)
    out[10, t] = c // a
    out[11, t] = c % b - a * c


@runs
def test_narrow_types_and_mixtures():
    x, y = (RNG.integers(-9, 9, 64).astype(np.int32) for _ in range(2))
    z = RNG.integers(0, 1 << 32, 64).astype(np.uint32)
    same(narrow_kernel, 2, 32, x, y, z, np.zeros((12, 64), np.int64))


@cuda.jit
def extremes_kernel(bytes_, ints, longs, words, huge, n, u, out):
    """What C would compute in another type than Python: min and max, which C has for each type, find no function."""
    t = cuda.grid(1)
    out[0, t] = max(0, ints[t] - n + t % n)  # t % n is a ulong in C, the sum is not
    out[1, t] = max(t + huge[t], cuda.blockIdx.x)
    out[2, t] = min(MINUS + u, longs[t])  # -3 + 1u is 4294967294 in C
    out[3, t] = min(bytes_[t], np.int8(7)) + max(bytes_[t], NARROW)
    out[4, t] = min(1 if bytes_[t] else 0, max(longs[t], cuda.blockDim.x))
    out[5, t] = max(words[t], np.uint32(3)) + max(ints[t] < 3, longs[t] < 5)
    out[6, t] = (longs[t] - n + t % n) < 0
    out[7, t] = (2000000000 if n else 1) + (2000000000 if u else 1)
    out[8, t] = (1 << t) + (MINUS >> t)
    out[9, t] = abs(min(ints[t], MINUS)) + abs(bytes_[t])
    out[10, t] = 1 + (2147483647 if longs[t] else n)
    out[11, t] = max(ints[t], n, u, longs[t]) + min(n, 5)


MINUS, NARROW = -3, np.int8(-2)


@runs
def test_smaller_and_larger_of_any_two_types():
    columns = [RNG.integers(-9, 9, 64).astype(kind) for kind in (np.int8, np.int32, np.int64)]
    columns += [RNG.integers(0, 9, 64).astype(kind) for kind in (np.uint32, np.uint64)]
    same(extremes_kernel, 2, 32, *columns, 5, np.uint32(1), np.zeros((12, 64), np.int64))


# ---- loops and indices -----------------------------------------------------------------------------------------------


def loops(x, first, last, step, t, out):
    """Ranges of any step; what their variable is afterwards; negative indices."""
    total, seen, k = 0, -1, -7
    for k in range(first, last, step):
        if k == 5:
            continue
        total += k
        seen = k
        if total > 60:
            break
    out[t, 0], out[t, 1], out[t, 2] = total, seen, k
    for k in range(x.size - 1, -1, -2):
        total += x[k] * x[-1 - k]
    out[t, 3] = total
    row = x[t - 3]  # before the first: from the end
    while row > 1:
        row = row // 2 if row % 2 == 0 else 3 * row + 1
        out[t, 4] += 1
    first, last = last, first
    out[t, -1] = first - last


loops_there = cuda.jit(device=True)(loops)


@cuda.jit
def loops_kernel(x, first, last, step, out):
    loops_there(x, first, last, step, cuda.threadIdx.x, out)


@runs
@pytest.mark.parametrize("limits", [(0, 12, 1), (9, -9, -2), (3, 3, 1), (-5, 17, 4)])
def test_loops_and_negative_indices(limits):
    """As Python has them, which runs the same function. (The executor takes a negative index for a mistake.)"""
    from opencl.translate.launch import run

    x, out, expected = np.arange(1, 20), np.zeros((8, 6), np.int64), np.zeros((8, 6), np.int64)
    run(loops_kernel, 1, 8, (x, *limits, out))
    for t in range(8):
        loops(x, *limits, t, expected)
    assert out.tolist() == expected.tolist()


@cuda.jit(device=True)
def last_two(row, k):
    return row[-1] + k, row[-2]


@cuda.jit
def views_kernel(a, pairs, out):
    i = cuda.grid(1)
    x, y = pairs
    rows, columns = a.shape
    if i < rows:
        row = a[i]
        part = a[i, 1:columns]
        top, under = last_two(row, f32(i))
        turned = a.T
        for v in part:
            top += v
        out[i] = top * under + turned[2, i] + x[i] - y[-1 - i] + part.size + len(row)


@runs
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided"])
def test_views_and_layouts(layout):
    from opencl.translate.launch import run

    a = RNG.integers(-9, 9, (10, 12)).astype(np.float32)
    there = cuda.to_device(a)
    a, there = {"contiguous": (a, there), "transposed": (a.T, there.T), "strided": (a[::2, ::3], there[::2, ::3])}[
        layout
    ]
    x, y = np.arange(12, dtype=np.float32), np.arange(24, dtype=np.float32)
    out = np.zeros(12, np.float32)
    run(views_kernel, 1, 16, (there, (x, y), out))
    for i in range(a.shape[0]):
        top = a[i, -1] + i + a[i, 1:].sum()
        assert out[i] == top * a[i, -2] + a.T[2, i] + x[i] - y[-1 - i] + a.shape[1] - 1 + a.shape[1]


# ---- what threads do together ----------------------------------------------------------------------------------------


@cuda.jit(device=True)
def warp_sum(value):
    for apart in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, apart)
    return value


@cuda.jit
def block_sum_kernel(x, n, out):
    """Threads leave before the barrier, and only the first warp does the second half."""
    parts = cuda.shared.array(4, f32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value = x[i] if i < n else f32(0)
    value = warp_sum(value)
    if t % 32 == 0:
        parts[t // 32] = value
    cuda.syncthreads()
    if t < 32:
        value = parts[t] if t < 4 else f32(0)
        value = warp_sum(value)
        if t == 0:
            cuda.atomic.add(out, 0, value)


@cuda.jit
def leaving_kernel(x, out):
    shared = cuda.shared.array(64, i32)
    t = cuda.threadIdx.x
    shared[t] = 0
    cuda.syncthreads()
    if t >= x.size:
        return
    shared[t] = x[t]
    for step in range(1, x[t] % 4 + 2):  # each thread goes round as often as it likes
        shared[t] += cuda.ballot_sync(ALL, x[t] % (step + 1) == 0)
        if shared[t] < 0:
            break
        cuda.syncwarp()
    out[t] = shared[t]


@cuda.jit
def votes_kernel(x, out):
    t = cuda.threadIdx.x
    out[0, t] = cuda.syncthreads_count(x[t] % 2)
    out[1, t] = cuda.any_sync(ALL, x[t] > 8) + 2 * cuda.all_sync(ALL, x[t] > -9)
    out[2, t] = cuda.shfl_sync(ALL, x[t], t + 3) + cuda.shfl_up_sync(ALL, x[t], 1)
    out[3, t] = cuda.match_any_sync(ALL, x[t])
    out[4, t] = cuda.popc(u32(cuda.lanemask_lt() & u32(cuda.ballot_sync(ALL, x[t] > 0))))
    out[5, t] = cuda.shfl_xor_sync(ALL, x[t], 5) if x.size else i32(0)


@runs
def test_sum_of_a_block_by_shuffles():
    x = RNG.integers(-9, 9, 1000).astype(np.float32)
    out = same(block_sum_kernel, 8, 128, x, 1000, np.zeros(1, np.float32))[2]
    assert out[0] == x.sum()


@runs
def test_threads_that_leave():
    same(leaving_kernel, 1, 64, RNG.integers(0, 9, 41).astype(np.int32), np.zeros(64, np.int32))


@runs
def test_votes():
    same(votes_kernel, 1, 64, RNG.integers(-9, 9, 64).astype(np.int32), np.zeros((6, 64), np.int64))


@cuda.jit
def atomics_kernel(x, whole, floats, doubles):
    i = cuda.grid(1)
    cuda.atomic.add(whole, x[i] % 4, 1)
    cuda.atomic.max(whole, 4, x[i])
    cuda.atomic.min(whole, 5, x[i])
    cuda.atomic.add(floats, 0, f32(x[i]))
    cuda.atomic.max(floats, 1, f32(x[i]))
    cuda.atomic.sub(doubles, (0, 1), x[i] * 0.5)
    bins = cuda.shared.array(0, i32)  # dynamic
    if cuda.threadIdx.x < bins.size:
        bins[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[i] % bins.size, i32(2))
    cuda.syncthreads()
    if cuda.threadIdx.x < bins.size:
        cuda.atomic.add(whole, 6 + cuda.threadIdx.x, bins[cuda.threadIdx.x])


@runs
def test_atomics_and_dynamic_shared_memory():
    x = RNG.integers(0, 99, 128)
    same(atomics_kernel, 4, 32, x, np.zeros(12, np.int64), np.zeros(2, np.float32), np.zeros((1, 2)), shared_bytes=16)


# ---- functions of mathematics, types ---------------------------------------------------------------------------------


@cuda.jit
def mathematics_kernel(x, out):
    i = cuda.threadIdx.x
    v = x[i]
    out[0, i] = math.exp(v) + math.sqrt(abs(v)) + math.tanh(v) + math.erf(v)
    out[1, i] = v // f32(0.7) + v % f32(0.7) + math.floor(v) + math.ceil(v) + math.fmod(v, f32(0.3))
    out[2, i] = v**2 + v ** f32(3) + math.pow(abs(v), f32(0.5)) + max(v, math.nan) + min(math.inf, v)
    fraction, exponent = math.frexp(v)
    out[3, i] = fraction + exponent + math.ldexp(v, 3) + math.copysign(f32(2), v) + math.atan2(v, f32(2))
    out[4, i] = cuda.fma(v, v, v) + (1 if math.isnan(v) else 0) + int(v) + ((v > 0 and v < 1) or v == -2)


@runs
def test_mathematics():
    x = RNG.standard_normal(32).astype(np.float32)
    same(mathematics_kernel, 1, 32, x, np.zeros((5, 32), np.float32), close=2e-5)


@cuda.jit
def half_kernel(x, out):
    i = cuda.grid(1)
    small = np.float16(x[i] * f32(0.3))
    out[i] = small * f32(0.1) + f32(1)


@runs
def test_half_precision_is_stored_and_computed_in_float():
    x = RNG.standard_normal(32).astype(np.float16)
    same(half_kernel, 1, 32, x, np.zeros(32, np.float16))


# ---- what is said ----------------------------------------------------------------------------------------------------

SIDE = 16


@cuda.jit
def add_rows(a, b, out):
    # one thread for each element
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j] + b[j % SIDE]  # the row, scaled


def test_names_and_comments_are_kept():
    a = np.zeros((3, 4), np.float32)
    text = translate(add_rows, (8, 8), (a, a[0], a)).source
    assert "// one thread for each element" in text
    assert "// the row, scaled" in text
    assert "#define SIDE 16" in text
    assert "if (i < out_shape0 && j < out_shape1) {" in text
    assert "out[i * out_shape1 + j] = " in text


def test_no_function_has_the_name_of_one_of_opencls():
    @cuda.jit(device=True)
    def mix(step):
        return step + 1

    @cuda.jit
    def rotate(x):
        x[0] = mix(x[1])

    made = translate(rotate, 8, (np.zeros(4, np.float32),))
    assert made.name not in ("rotate", "mix")
    assert "(float step)" in made.source.replace("double", "float")
    assert " mix(" not in made.source


def test_what_the_reader_can_do_is_said():
    @cuda.jit
    def whole_grid(x):
        x[0] = 1
        cuda.cg.this_grid().sync()

    with pytest.raises(Refused, match="Cut the kernel there into two launches"):
        translate(whole_grid, 8, (np.zeros(4),))


def test_a_usual_size_is_translated_for_all_usual_sizes():
    @cuda.jit
    def kernel(x, n):
        x[cuda.grid(1) // n] = 1

    x = np.zeros(4)
    assert translate(kernel, 8, (x, 5)) is translate(kernel, 8, (x, 7))
    assert "floor_div" in translate(kernel, 8, (x, -5)).source
    assert "floor_div" not in translate(kernel, 8, (x, 5)).source
