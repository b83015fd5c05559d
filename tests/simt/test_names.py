"""Every name of numba.cuda that the course uses does in the executor what it does on a GPU."""

import math

import numpy as np
import pytest
from numba import float32, float64, int32, int64, uint32

import simt.cuda
from simt import KernelError, NotOnAGpu, cuda
from simt.cuda import atomic, blockDim, blockIdx, grid, shared, syncthreads, threadIdx

pytestmark = pytest.mark.quick

TILE, HALF = 8, 4
WEIGHTS = np.array([1, 2, 3, 4], np.float32)


def test_indices_in_three_dimensions():
    @cuda.jit
    def kernel(out, sizes):
        x, y, z = cuda.grid(3)
        out[z, y, x] = (
            cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
            + 1000 * cuda.blockIdx.x + 10000 * cuda.blockIdx.y + 100000 * cuda.blockIdx.z
        )  # fmt: skip
        if x == 0 and y == 0 and z == 0:
            sizes[0], sizes[1], sizes[2] = cuda.gridsize(3)
            sizes[3] = cuda.blockDim.x * 100 + cuda.blockDim.y * 10 + cuda.blockDim.z
            sizes[4] = cuda.gridDim.x * 100 + cuda.gridDim.y * 10 + cuda.gridDim.z
            sizes[5] = cuda.warpsize

    out, sizes = np.zeros((4, 6, 6), np.int64), np.zeros(6, np.int64)
    kernel[(2, 3, 4), (3, 2, 1)](out, sizes)
    z, y, x = np.indices(out.shape)
    expected = x % 3 + 10 * (y % 2) + 100 * (z % 1) + 1000 * (x // 3) + 10000 * (y // 2) + 100000 * z
    np.testing.assert_array_equal(out, expected)
    assert sizes.tolist() == [6, 6, 4, 321, 234, 32]


def test_grid_stride_loop_and_one_dimensional_grid():
    @cuda.jit
    def kernel(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = 2 * x[i]

    x = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(x)
    kernel[3, 32](x, out)
    np.testing.assert_array_equal(out, 2 * x)


def test_names_imported_one_by_one():
    @cuda.jit
    def kernel(out):
        s = shared.array(8, int32)
        s[threadIdx.x] = threadIdx.x
        syncthreads()
        out[grid(1)] = s[blockDim.x - 1 - threadIdx.x] + 100 * blockIdx.x
        atomic.add(out, 0, 1000)

    out = np.zeros(16, np.int64)
    kernel[2, 8](out)
    assert out.tolist() == [16007, 6, 5, 4, 3, 2, 1, 0, 107, 106, 105, 104, 103, 102, 101, 100]


def test_module_under_another_name_and_in_a_closure():
    import simt.cuda as gpu

    def make(scale):
        @gpu.jit
        def kernel(out):
            out[gpu.grid(1)] = scale * gpu.threadIdx.x

        return kernel

    out = np.zeros(4)
    make(2.5)[1, 4](out)
    assert out.tolist() == [0, 2.5, 5, 7.5]


def test_two_shared_arrays_on_one_line_are_two_arrays():
    @cuda.jit
    def kernel(out):
        a, b = cuda.shared.array(TILE, float32), cuda.shared.array(TILE, float32)
        t = cuda.threadIdx.x
        a[t] = t
        b[t] = 10 * t
        cuda.syncthreads()
        out[t] = a[TILE - 1 - t] + b[t]

    out = np.zeros(TILE, np.float32)
    kernel[1, TILE](out)
    np.testing.assert_array_equal(out, np.arange(TILE)[::-1] + 10 * np.arange(TILE))


def test_dynamic_shared_arrays_are_one_memory_with_offsets():
    @cuda.jit
    def kernel(out):
        whole = cuda.shared.array(0, float32)
        first = cuda.shared.array(0, float32)[:TILE]
        second = whole[TILE : 2 * TILE]
        t = cuda.threadIdx.x
        first[t] = t
        second[t] = 100 + t
        cuda.syncthreads()
        out[t] = whole[t + TILE] + whole[TILE - 1 - t]
        if t == 0:
            out[TILE] = whole.size

    out = np.zeros(TILE + 1, np.float32)
    kernel[2, TILE, 0, 2 * TILE * 4](out)
    np.testing.assert_array_equal(out, [107] * TILE + [2 * TILE])


def test_dynamic_shared_memory_of_two_types():
    @cuda.jit
    def kernel(out):
        floats = cuda.shared.array(0, float32)[:4]
        ints = cuda.shared.array(0, int32)[4:]
        t = cuda.threadIdx.x
        floats[t] = t + 0.5
        ints[t] = t * 3
        cuda.syncthreads()
        out[t] = floats[3 - t] + ints[t]

    out = np.zeros(4, np.float32)
    kernel[1, 4, 0, 32](out)
    assert out.tolist() == [3.5, 5.5, 7.5, 9.5]


def test_shared_and_local_memory_starts_poisoned_in_every_block():
    @cuda.jit
    def kernel(out, ints):
        s = cuda.shared.array(2, float32)
        i = cuda.shared.array(2, int32)
        mine = cuda.local.array(2, float64)
        out[cuda.blockIdx.x, 0], out[cuda.blockIdx.x, 1] = s[0], mine[1]
        ints[cuda.blockIdx.x] = i[1]
        s[0], i[1], mine[1] = 1, 1, 1

    out, ints = np.zeros((3, 2)), np.zeros(3, np.int32)
    kernel[3, 1](out, ints)
    assert np.isnan(out).all()
    assert ints.tolist() == [-1, -1, -1]


def test_local_array_belongs_to_one_thread():
    @cuda.jit
    def kernel(out):
        acc = cuda.local.array((2, 2), float32)
        for i in range(2):
            for j in range(2):
                acc[i, j] = cuda.grid(1)
        cuda.syncthreads()
        out[cuda.grid(1)] = acc[0, 0] + acc[1, 1]

    out = np.zeros(8, np.float32)
    kernel[2, 4](out)
    np.testing.assert_array_equal(out, 2 * np.arange(8))


def test_constant_memory():
    @cuda.jit
    def kernel(out):
        w = cuda.const.array_like(WEIGHTS)
        out[cuda.threadIdx.x] = w[cuda.threadIdx.x] * 2 + WEIGHTS[0]

    out = np.zeros(4, np.float32)
    kernel[1, 4](out)
    assert out.tolist() == [3, 5, 7, 9]

    @cuda.jit
    def writes():
        w = cuda.const.array_like(WEIGHTS)
        w[0] = 1

    with pytest.raises(KernelError, match="read-only"):
        writes[1, 1]()


def test_barriers_with_a_predicate():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        count = cuda.syncthreads_count(1 if t < 3 else 0)
        every = cuda.syncthreads_and(1 if t < 64 else 0)
        some = cuda.syncthreads_or(1 if t == 100 else 0)
        out[t] = 100 * count + 10 * every + some

    out = np.zeros(64, np.int32)
    kernel[1, 64](out)
    assert set(out) == {310}


def test_shuffles():
    @cuda.jit
    def kernel(out, x):
        lane = cuda.laneid
        value = x[cuda.threadIdx.x]
        out[0, cuda.threadIdx.x] = cuda.shfl_sync(0xFFFFFFFF, value, 5)
        out[1, cuda.threadIdx.x] = cuda.shfl_up_sync(0xFFFFFFFF, value, 2)
        out[2, cuda.threadIdx.x] = cuda.shfl_down_sync(-1, value, 2)
        out[3, cuda.threadIdx.x] = cuda.shfl_xor_sync(0xFFFFFFFF, value, 1)
        out[4, cuda.threadIdx.x] = lane

    x = np.arange(64, dtype=np.float32)
    out = np.zeros((5, 64), np.float32)
    kernel[1, 64](out, x)
    lane, warp = np.arange(64) % 32, np.arange(64) // 32 * 32
    np.testing.assert_array_equal(out[0], warp + 5)
    np.testing.assert_array_equal(out[1], warp + np.where(lane >= 2, lane - 2, lane))
    np.testing.assert_array_equal(out[2], warp + np.where(lane < 30, lane + 2, lane))
    np.testing.assert_array_equal(out[3], warp + (lane ^ 1))
    np.testing.assert_array_equal(out[4], lane)


def test_shuffle_by_half_a_warp_with_its_own_mask():
    @cuda.jit
    def kernel(out):
        lane = cuda.laneid
        if lane < 16:
            value = lane
            offset = 8
            while offset > 0:
                value += cuda.shfl_down_sync(0x0000FFFF, value, offset)
                offset //= 2
            if lane == 0:
                out[0] = value
        else:
            out[1] = cuda.shfl_sync(0xFFFF0000, lane, 16)

    out = np.zeros(2, np.int64)
    kernel[1, 32](out)
    assert out[0] == 120
    assert out[1] == 16


def test_votes_and_matches():
    @cuda.jit
    def kernel(out):
        lane = cuda.laneid
        out[0, lane] = cuda.ballot_sync(0xFFFFFFFF, lane % 2 == 0)
        out[1, lane] = cuda.any_sync(0xFFFFFFFF, lane == 7)
        out[2, lane] = cuda.all_sync(0xFFFFFFFF, lane < 31)
        out[3, lane] = cuda.match_any_sync(0xFFFFFFFF, lane // 8)
        mask, same = cuda.match_all_sync(0xFFFFFFFF, 3)
        out[4, lane] = mask
        out[5, lane] = same
        out[6, lane] = cuda.popc(cuda.lanemask_lt())
        if lane < 4:
            out[7, lane] = cuda.activemask()
        cuda.syncwarp()

    out = np.zeros((8, 32), np.int64)
    kernel[1, 32](out)
    assert set(out[0]) == {0x55555555}
    assert set(out[1]) == {1}
    assert set(out[2]) == {0}
    assert out[3, ::8].tolist() == [0xFF, 0xFF00, 0xFF0000, np.uint32(0xFF000000).view(np.int32)]
    assert set(out[4]) == {-1}
    assert set(out[5]) == {1}
    assert out[6].tolist() == list(range(32))
    assert out[7, :4].tolist() == [15] * 4


def test_warp_reduction_with_syncwarp():
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(32, float32)
        lane = cuda.threadIdx.x
        s[lane] = x[lane]
        cuda.syncwarp()
        step = 16
        while step > 0:
            if lane < step:
                s[lane] += s[lane + step]
            cuda.syncwarp()
            step >>= 1
        if lane == 0:
            out[0] = s[0]

    out = np.zeros(1, np.float32)
    kernel[1, 32](np.arange(32, dtype=np.float32), out)
    assert out[0] == 496


@pytest.mark.parametrize(
    ("name", "dtype", "start", "value", "expected"),
    [
        ("add", np.int32, 5, 3, 8), ("add", np.float32, 5, 0.5, 5.5), ("add", np.uint64, 5, 3, 8),
        ("sub", np.int32, 5, 3, 2), ("max", np.float64, 5, 7, 7), ("max", np.int32, 5, 3, 5), ("min", np.int64, 5, 3, 3),
        ("nanmax", np.float32, 5, math.nan, 5), ("nanmin", np.float64, math.nan, 2, 2), ("and_", np.int32, 6, 3, 2),
        ("or_", np.uint32, 6, 3, 7), ("xor", np.int64, 6, 3, 5), ("exch", np.int32, 6, 3, 3), ("inc", np.uint32, 6, 9, 7),
        ("inc", np.uint32, 9, 9, 0), ("dec", np.uint32, 6, 9, 5), ("dec", np.uint32, 0, 9, 9), ("dec", np.uint64, 12, 9, 9),
        ("add", np.int32, 2**31 - 1, 1, -(2**31)),
        ("max", np.float64, math.nan, 2, math.nan), ("max", np.float32, 5, math.nan, 5),
        ("min", np.float32, math.nan, 2, math.nan), ("min", np.float64, 5, math.nan, 5),
    ],
)  # fmt: skip
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics_return_the_old_value(name, dtype, start, value, expected, space):
    source = {"global": "x", "shared": "s"}[space]
    namespace = {"cuda": cuda, "T": numba_type(dtype)}
    text = (
        "def kernel(x, old, value):\n"
        "    s = cuda.shared.array((1, 2), T)\n"
        "    s[0, 1] = x[0, 1]\n"
        f"    old[0] = cuda.atomic.{name}({source}, (0, 1), value)\n"
        + ("    x[0, 1] = s[0, 1]\n" if space == "shared" else "")
    )
    kernel = from_text(text, namespace)
    x, old = np.full((1, 2), start, dtype), np.zeros(1, dtype)
    kernel[1, 1](x, old, dtype(value))
    np.testing.assert_equal(old[0], dtype(start))
    np.testing.assert_equal(x[0, 1], dtype(expected))


def numba_type(dtype):
    from numba.np.numpy_support import from_dtype

    return from_dtype(np.dtype(dtype))


def from_text(text, namespace):
    """A kernel from a string, known to linecache as a notebook's cells are."""
    import linecache

    name = f"<text {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), namespace)
    return cuda.jit(namespace["kernel"])


def test_compare_and_swap():
    @cuda.jit
    def kernel(x, old):
        old[0] = cuda.atomic.cas(x, 1, 5, 9)
        old[1] = cuda.atomic.cas(x, 2, 5, 9)
        old[2] = cuda.atomic.compare_and_swap(x[3:], 5, 7)

    x, old = np.full(4, 5, np.int32), np.zeros(3, np.int32)
    x[2] = 6
    kernel[1, 1](x, old)
    assert x.tolist() == [5, 9, 6, 7]
    assert old.tolist() == [5, 6, 5]


def test_atomics_refuse_types_that_numba_has_none_for():
    @cuda.jit
    def kernel(x):
        cuda.atomic.add(x, 0, 1)

    with pytest.raises(KernelError, match=r"cuda.atomic.add does not exist for int8"):
        kernel[1, 1](np.zeros(1, np.int8))


def test_a_histogram_by_1024_threads():
    @cuda.jit
    def kernel(x, bins):
        cuda.atomic.add(bins, x[cuda.grid(1)], 1)

    x = np.random.default_rng(0).integers(0, 10, 1024)
    bins = np.zeros(10, np.int32)
    kernel[4, 256](x, bins)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=10))


def test_grid_barrier_over_many_blocks():
    @cuda.jit
    def kernel(x, y):
        g = cuda.cg.this_grid()
        i = cuda.grid(1)
        n = cuda.gridsize(1)
        x[i] = i
        g.sync()
        y[i] = x[n - 1 - i]
        g.sync()
        x[i] = y[(i + 1) % n]

    x, y = np.zeros(256), np.zeros(256)
    kernel[8, 32](x, y)
    np.testing.assert_array_equal(y, np.arange(256)[::-1])
    np.testing.assert_array_equal(x, np.roll(y, -1))


def test_bits_and_small_mathematics():
    @cuda.jit
    def kernel(out, x, i32, u64):
        out[0] = cuda.popc(i32[0])
        out[1] = cuda.clz(i32[1])
        out[2] = cuda.ffs(i32[2])
        out[3] = cuda.brev(i32[1])
        out[4] = cuda.brev(u64[0])
        out[5] = cuda.cbrt(x[0])
        out[6] = cuda.selp(x[0] > 1, 3, 4)
        out[7] = cuda.fma(x[0], x[0], x[0])
        out[8] = cuda.clz(1)
        out[9] = cuda.popc(u64[1])
        cuda.threadfence()
        cuda.threadfence_block()
        cuda.threadfence_system()
        cuda.nanosleep(100)

    out = np.zeros(10)
    kernel[1, 1](out, np.array([8.0]), np.array([-1, 1, 12], np.int32), np.array([1, 2**64 - 1], np.uint64))
    assert out.tolist() == [32, 31, 3, 2.0**31, 2.0**63, 2, 3, 72, 63, 64]


def test_fma_rounds_once():
    @cuda.jit
    def kernel(out32, out64, a32, b32, c32, a, b, c):
        i = cuda.grid(1)
        out32[i] = cuda.fma(a32[i], b32[i], c32[i])
        out64[i] = cuda.fma(a[i], b[i], c[i])

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=200), rng.normal(size=200)
    c = -(a * b) * (1 + rng.normal(size=200) * 1e-9)
    a32, b32, c32 = (v.astype(np.float32) for v in (a, b, c))
    a32[0] = b32[0] = 1 + 2.0**-12  # their product lies halfway between two float32, and a double loses c
    c32[0] = 2.0**-60
    out32, out64 = np.zeros(200, np.float32), np.zeros(200)
    kernel[2, 100](out32, out64, a32, b32, c32, a, b, c)
    from fractions import Fraction

    for i in range(200):
        assert out64[i] == float(Fraction(a[i]) * Fraction(b[i]) + Fraction(c[i]))
        exact = Fraction(float(a32[i])) * Fraction(float(b32[i])) + Fraction(float(c32[i]))
        error = abs(Fraction(float(out32[i])) - exact)
        neighbours = [np.nextafter(out32[i], np.float32(s * np.inf), dtype=np.float32) for s in (-1, 1)]
        assert all(error <= abs(Fraction(float(v)) - exact) for v in neighbours)


def test_device_functions_call_device_functions():
    @cuda.jit(device=True)
    def square(x):
        return x * x

    @cuda.jit("float32(float32, float32)", device=True)
    def norm(x, y=0.0):
        return math.sqrt(square(x) + square(y))

    @cuda.jit(device=True)
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = norm(x[i], y=x[i] + float32(1)) + norm(x[i]) + factorial(i)

    x = np.arange(4, dtype=np.float32)
    out = np.zeros(4, np.float32)
    kernel[1, 4](out, x)
    np.testing.assert_allclose(out, np.hypot(x, x + 1) + x + [1, 1, 2, 6], rtol=1e-6)
    assert square(3) == 9  # on the host, a device function is a function


def test_device_function_that_synchronises():
    @cuda.jit(device=True)
    def block_sum(s, t):
        step = cuda.blockDim.x // 2
        while step:
            if t < step:
                s[t] += s[t + step]
            cuda.syncthreads()
            step //= 2
        return s[0]

    @cuda.jit(device=True)
    def warp_sum(value):
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        return value

    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        total = block_sum(s, t)
        lanes = warp_sum(x[cuda.grid(1)])
        if t == 0:
            out[cuda.blockIdx.x, 0] = total
            out[cuda.blockIdx.x, 1] = lanes

    x = np.arange(128, dtype=np.float32)
    out = np.zeros((2, 2), np.float32)
    kernel[2, 64](x, out)
    assert out.tolist() == [[2016, 496], [6112, 2544]]


def test_host_and_device_arrays():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    d = cuda.to_device(x)
    assert (d.shape, d.dtype, d.ndim, d.size, d.nbytes) == ((2, 3), np.float32, 2, 6, 24)
    out = cuda.device_array_like(x)
    assert np.isnan(out.copy_to_host()).all()

    @cuda.jit
    def kernel(a, b):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            b[i, j] = a[i, j] + 1

    kernel[(1, 1), (4, 4)](d, out)
    np.testing.assert_array_equal(out.copy_to_host(), x + 1)
    np.testing.assert_array_equal(x, np.arange(6).reshape(2, 3))
    host = np.empty_like(x)
    assert out.copy_to_host(host) is host
    d.copy_to_device(out)
    np.testing.assert_array_equal(d[1].copy_to_host(), x[1] + 1)
    np.testing.assert_array_equal(d[:, ::2].copy_to_host(), (x + 1)[:, ::2])
    np.testing.assert_array_equal(d.T.copy_to_host(), (x + 1).T)
    np.testing.assert_array_equal(d.reshape(3, 2).copy_to_host(), (x + 1).reshape(3, 2))
    np.testing.assert_array_equal(np.asarray(d.ravel()), (x + 1).ravel())
    before = d.copy_to_host()
    assert d[0, 1] == 2
    d[0, 1] = 50
    assert d.copy_to_host()[0, 1] == 50
    assert before[0, 1] == 2
    with pytest.raises(ValueError, match="shape"):
        d.copy_to_device(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="non-contiguous"):
        cuda.to_device(np.zeros((4, 4))[:, ::2])
    strided = cuda.to_device(np.arange(10.0))[::2]
    doubled = np.zeros(5)

    @cuda.jit
    def copy(a, b):
        b[cuda.grid(1)] = a[cuda.grid(1)]

    copy[1, 5](strided, doubled)
    assert doubled.tolist() == [0, 2, 4, 6, 8]
    pinned, managed = cuda.pinned_array(4, np.float32), cuda.managed_array(5)
    assert pinned.shape == (4,)
    copy[1, 5](strided, managed)
    assert managed.tolist() == [0, 2, 4, 6, 8]


def test_host_arrays_are_copied_in_and_back():
    """As numba does: the same array given twice is two arrays on the device."""

    @cuda.jit
    def kernel(a, b):
        a[0] = 1
        b[1] = 2

    x = np.zeros(2)
    kernel[1, 1](x, x)
    assert x.tolist() == [0, 2]
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    with pytest.raises(KernelError, match="'a' is read-only"):
        kernel[1, 1](frozen, x)


def test_streams_and_events_are_done_at_once():
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event(timing=True)
    start.record(stream)
    d = cuda.to_device(np.ones(4), stream=stream)

    @cuda.jit
    def kernel(a):
        a[cuda.grid(1)] += 1

    with stream.auto_synchronize():
        kernel[1, 4, stream](d)
    end.record(stream)
    end.synchronize()
    stream.synchronize()
    cuda.synchronize()
    assert end.query()
    assert cuda.event_elapsed_time(start, end) >= 0
    assert d.copy_to_host(stream=stream).tolist() == [2] * 4


def test_device_queries(capsys):
    device = cuda.get_current_device()
    assert b"executor" in device.name
    assert (device.MAX_THREADS_PER_BLOCK, device.WARP_SIZE, device.compute_capability) == (1024, 32, (8, 0))
    assert device.MULTIPROCESSOR_COUNT > 0
    assert cuda.is_available()
    assert cuda.gpus[0] is device
    assert cuda.detect()
    assert "executor" in capsys.readouterr().out
    assert len(cuda.current_context().get_memory_info()) == 2
    assert cuda.select_device(0).device is device
    with pytest.raises(AttributeError, match="gpu extra"):
        _ = cuda.compile_ptx


def test_reduce_decorator():
    @cuda.reduce
    def total(a, b):
        return a + b

    assert total(np.arange(10.0)) == 45


def test_complex_and_boolean_and_record_arrays():
    dtype = np.dtype([("position", np.float32), ("count", np.int32)])

    @cuda.jit
    def kernel(z, flags, records, out):
        i = cuda.grid(1)
        z[i] = z[i] * 1j
        flags[i] = not flags[i]
        out[i] = records[i]["position"] + records[i].count
        records[i]["count"] = 7

    z, flags = np.array([1 + 1j, 2], np.complex64), np.array([True, False])
    records = np.array([(1.5, 2), (2.5, 4)], dtype)
    out = np.zeros(2, np.float32)
    kernel[1, 2](z, flags, records, out)
    assert z.tolist() == [-1 + 1j, 2j]
    assert flags.tolist() == [False, True]
    assert out.tolist() == [3.5, 6.5]
    assert records["count"].tolist() == [7, 7]


def test_scalar_and_tuple_arguments():
    @cuda.jit
    def kernel(out, i, f, f32, flag, pair):
        out[0], out[1], out[2], out[3], out[4] = i, f, f32 * 3, flag, pair[1]

    out = np.zeros(5)
    kernel[1, 1](out, 3, 0.1, np.float32(0.1), True, (4, 5))
    np.testing.assert_array_equal(out, [3, 0.1, float(np.float32(0.1)) * 3, 1, 5])


def test_names_that_need_a_kernel_say_so():
    for use in (lambda: cuda.syncthreads(), lambda: cuda.threadIdx.x, lambda: cuda.shared.array(3, float32)):
        with pytest.raises(RuntimeError, match="inside a kernel"):
            use()
    assert simt.cuda.uint32 is uint32
    assert simt.cuda.int64 is int64


def test_unusual_indices_and_assignments():
    from collections import namedtuple

    Pair = namedtuple("Pair", "scale values")

    @cuda.jit
    def kernel(out, four, zero, pair, half):
        where = (1, 0, 1, 2)
        four[where] = 7
        zero[()] += 1
        (n,) = out.shape
        a, (b, c) = 1, (2, n)
        out[0], out[1] = out[1], out[0]
        out[2] = pair.scale * pair.values[1] + a + b + c
        out[3] -= 1
        out[3] //= 2
        half[0] = half[1] + half[1]

    out, four, zero = np.array([1.0, 2, 3, 10]), np.zeros((2, 1, 2, 3)), np.zeros(())
    half = np.array([0, 1.5], np.float16)
    kernel[1, 1](out, four, zero, Pair(10, np.array([0.0, 4.0])), half)
    assert out.tolist() == [2, 1, 47, 4]
    assert four[1, 0, 1, 2] == 7
    assert zero == 1
    assert half[0] == 3


def test_what_is_not_known_is_named():
    @cuda.jit
    def kernel(x):
        x[0] = math.no_such_function(1)

    @cuda.jit
    def uses_dict(x):
        x[0] = SETTINGS["a"]

    with pytest.raises(KernelError, match="math has no 'no_such_function'"):
        kernel[1, 1](np.zeros(1))
    with pytest.raises(KernelError, match="SETTINGS is a dict"):
        uses_dict[1, 1](np.zeros(1))


SETTINGS = {"a": 1}


@pytest.mark.parametrize("value", [True, np.float32(1)])
def test_barriers_with_a_predicate_take_whole_numbers(value):
    """As numba-cuda types them."""

    @cuda.jit
    def kernel(out, value):
        out[0] = cuda.syncthreads_or(value)

    with pytest.raises(NotOnAGpu, match="takes a whole number"):
        kernel[1, 32](np.zeros(1, np.int32), value)
