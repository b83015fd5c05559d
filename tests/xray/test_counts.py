"""Counts of whole kernels. Every expected number is derived by hand in the comment above it."""

import numpy as np
import pytest
from numba import float32, float64, int32, uint8

from dlkernels import cuda
from simt.xray import xray

pytestmark = pytest.mark.quick

WEIGHTS = np.arange(64, dtype=np.float32)


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def of(report, kind, array):
    """The one expression of this kind on this array."""
    [found] = [e for e in report.expressions if (e.kind, e.array) == (kind, array)]
    return found


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = x[i]


@cuda.jit
def copy_stride(x, y, stride):
    i = cuda.grid(1)
    y[i] = x[i * stride]


@cuda.jit
def copy_shifted(x, y, shift):
    i = cuda.grid(1)
    y[i] = x[i + shift]


def test_copy():
    # 512 threads are 16 warps. 32 lanes x 4 bytes = 128 bytes = 4 sectors, all of them used.
    report = xray(copy, 4, 128)(floats(512), np.zeros(512, np.float32))
    for kind, array in (("load", "x"), ("store", "y")):
        e = of(report, kind, array)
        assert (e.requests, e.accesses, e.sectors, e.sectors_per_request) == (16, 512, 64, 4.0)
        assert e.efficiency == 1.0
    # 512 floats in, 512 out: 2 x 2048 bytes.
    assert report.total["bytes_moved"] == report.total["bytes_used"] == 4096
    assert report.total["active_lanes"] == 32
    assert report.ok


def test_ragged_last_warp():
    # 100 elements in blocks of 32: 32 + 32 + 32 + 4 lanes; 4 + 4 + 4 + 1 sectors.
    report = xray(copy, 4, 32)(floats(100), np.zeros(100, np.float32))
    e = of(report, "load", "x")
    assert (e.requests, e.accesses, e.sectors, e.active_lanes) == (4, 100, 13, 25.0)


@pytest.mark.parametrize(
    ("stride", "sectors"),
    [
        (0, 1),  # every lane the same 4 bytes
        (1, 4),
        (2, 8),  # 32 lanes x 8 bytes = 256 bytes
        (4, 16),
        (8, 32),  # 32 bytes apart: a sector for each lane
        (9, 32),  # it cannot get worse than that
    ],
)
def test_stride(stride, sectors):
    report = xray(copy_stride, 2, 32)(floats(64 * 9 + 1), np.zeros(64, np.float32), stride)
    e = of(report, "load", "x")
    assert e.sectors_per_request == sectors
    # Different bytes used: 32 lanes x 4, or 4 where all read one element.
    assert e.efficiency == pytest.approx((4 if stride == 0 else 128) / (32 * sectors))


def test_misaligned():
    # Bytes 4 to 131 of an array that starts at a sector: sectors 0 to 4.
    report = xray(copy_shifted, 1, 32)(floats(64), np.zeros(32, np.float32), 1)
    assert of(report, "load", "x").sectors_per_request == 5
    # Bytes 32 to 159: sectors 1 to 4.
    report = xray(copy_shifted, 1, 32)(floats(64), np.zeros(32, np.float32), 8)
    assert of(report, "load", "x").sectors_per_request == 4


@pytest.mark.parametrize(("dtype", "sectors"), [("uint8", 1), ("float16", 2), ("int32", 4), ("float64", 8)])
def test_element_size(dtype, sectors):
    # 32 lanes x 1, 2, 4 or 8 bytes = 32, 64, 128 or 256 bytes.
    report = xray(copy, 1, 32)(np.ones(32, dtype), np.zeros(32, dtype))
    assert of(report, "load", "x").sectors_per_request == sectors
    assert of(report, "store", "y").efficiency == 1.0


@cuda.jit
def transpose_naive(A, B):
    x, y = cuda.grid(2)
    B[x, y] = A[y, x]


def test_naive_transpose():
    # Block 32 x 8: a warp is one row of 32. 64 x 64 elements are 4096 threads, 128 warps.
    # Loads: 32 neighbours, 4 sectors. Stores: 64 x 4 = 256 bytes apart, 32 sectors.
    report = xray(transpose_naive, (2, 8), (32, 8))(floats(64, 64), np.zeros((64, 64), np.float32))
    assert of(report, "load", "A").sectors_per_request == 4
    store = of(report, "store", "B")
    assert (store.requests, store.sectors_per_request, store.efficiency) == (128, 32.0, 0.125)
    # 128 x (4 + 32) x 32 bytes moved; 4096 elements x 4 bytes in and out used.
    assert report.total["bytes_moved"] == 147_456
    assert report.total["bytes_used"] == 32_768
    assert report.total["bytes_loaded"] == 128 * 4 * 32
    assert report.total["bytes_stored"] == 128 * 32 * 32


def transpose_tiled(width):
    @cuda.jit
    def kernel(A, B):
        tile = cuda.shared.array((32, width), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
        for r in range(0, 32, 8):
            tile[ty + r, tx] = A[y + r, x]
        cuda.syncthreads()
        x, y = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
        for r in range(0, 32, 8):
            B[y + r, x] = tile[tx, ty + r]

    return kernel


@pytest.mark.parametrize(("width", "ways", "wavefronts"), [(32, 32, 4224), (33, 1, 256)])
def test_tiled_transpose(width, ways, wavefronts):
    # 4 blocks x 8 warps x 4 turns = 128 requests each way. A row of the tile lies in 32 banks: 1 pass.
    # A column of a 32-wide tile lies in one bank: 32 passes. 33 wide, neighbours are one bank apart: 1 pass.
    # Wavefronts: 128 x 1 + 128 x 32 = 4224, or 128 + 128 = 256.
    A, B = floats(64, 64), np.zeros((64, 64), np.float32)
    report = xray(transpose_tiled(width), (2, 2), (32, 8))(A, B)
    np.testing.assert_array_equal(B, A.T)
    assert of(report, "store", "tile").bank_ways == 1
    load = of(report, "load", "tile")
    assert (load.requests, load.bank_ways, load.bank_ways_mean) == (128, ways, ways)
    assert report.total["shared_wavefronts"] == wavefronts
    assert report.total["bank_conflicts"] == wavefronts - 256
    assert report.total["sectors_per_request"] == 4
    assert report.total["bytes_moved"] == 32_768
    assert report.total["shared_bytes"] == 32 * width * 4
    assert report.total["barriers"] == 1
    assert report.ok


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[i, k] * B[k, j]
    C[i, j] = acc


@cuda.jit
def matmul_tiled(A, B, C):
    a, b = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    acc = float32(0)
    for k in range(0, A.shape[1], 16):
        a[ty, tx] = A[i, k + tx]
        b[ty, tx] = B[k + ty, j]
        cuda.syncthreads()
        for n in range(16):
            acc += a[ty, n] * b[n, tx]
        cuda.syncthreads()
    C[i, j] = acc


def test_tiling_divides_requests_by_the_tile():
    A, B = floats(32, 32) % 7, floats(32, 32) % 5
    C, D = np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
    naive = xray(matmul_naive, (2, 2), (16, 16))(A, B, C)
    tiled = xray(matmul_tiled, (2, 2), (16, 16))(A, B, D)
    np.testing.assert_array_equal(C, D)
    # 1024 threads are 32 warps; each loads A and B in every of 32 turns: 2 x 32 x 32.
    assert naive.total["global_load_requests"] == 2048
    # Each loads one element of A and one of B for each of 2 tiles: 2 x 32 x 2. Ratio 16, the tile.
    assert tiled.total["global_load_requests"] == 128
    # Naive: a warp is 2 rows of 16. A[i, k]: two rows, 2 sectors; B[k, j]: 16 floats, 2 sectors. 2048 x 2.
    assert naive.total["global_load_sectors"] == 4096
    # Tiled: two rows of 16 floats of A and of B: 4 sectors. 128 x 4.
    assert tiled.total["global_load_sectors"] == 512
    # 2 tiles, 2 barriers each.
    assert tiled.total["barriers"] == 4
    # a[ty, n]: 2 words, rows 16 words apart: banks n and n + 16. b[n, tx]: 16 neighbours. No conflicts.
    assert tiled.total["bank_ways"] == 1
    assert tiled.ok
    assert naive.ok


@cuda.jit
def every_other(x, y):
    t = cuda.threadIdx.x
    acc = float32(0)
    for j in range(4):
        if (t + j) % 2 == 0:
            acc += x[t]
    y[t] = acc


def test_divergent_branch_in_a_loop():
    # Turns 0 and 2 load with the even lanes, turns 1 and 3 with the odd ones: 4 requests of 16 lanes, not 2 of 32.
    e = of(xray(every_other, 1, 32)(floats(32), np.zeros(32, np.float32)), "load", "x")
    assert (e.requests, e.accesses, e.active_lanes) == (4, 64, 16.0)


@cuda.jit
def reduce_interleaved(x, out):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 256:
        k = 2 * step * t
        if k < 256:
            s[k] += s[k + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[0] = s[0]


@cuda.jit
def reduce_by_halves(x, out):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = s[0]


def test_reductions():
    x = floats(256)
    out = np.zeros(1, np.float32)
    interleaved = xray(reduce_interleaved, 1, 256)(x, out)
    assert out[0] == x.sum()
    # Lane t at word 2 step t. step 1: 32 lanes over words 0-62, 2 to a bank. step 2: 4 to a bank. step 4: 8.
    # step 8: 16 lanes at words 0, 16 ... 240: banks 0 and 16, 8 each. Later steps have fewer lanes.
    assert interleaved.total["bank_ways"] == 8
    # Requests of s[k] += s[k + step] by step: warps with an active lane, 4 2 1 1 1 1 1 1 = 12, 3 accesses each;
    # the first store makes 8, reading the result 1.
    assert interleaved.total["shared_load_requests"] == 2 * 12 + 1
    assert interleaved.total["shared_store_requests"] == 12 + 8
    halves = xray(reduce_by_halves, 1, 256)(x, out)
    assert out[0] == x.sum()
    assert halves.total["bank_ways"] == 1
    # Active warps by step: 4 2 1 1 1 1 1 1 = 12, the same work without a conflict.
    assert halves.total["shared_load_requests"] == 2 * 12 + 1
    # One barrier after the first store and one in each of log2(256) = 8 turns.
    assert halves.total["barriers"] == interleaved.total["barriers"] == 9
    assert halves.ok
    assert interleaved.ok


@cuda.jit
def histogram(h, x):
    cuda.atomic.add(h, x[cuda.grid(1)], 1)


@pytest.mark.parametrize(("bins", "contention"), [(1, 32), (8, 4), (32, 1)])
def test_contention_of_atomics(bins, contention):
    # 32 lanes over so many bins.
    x = (np.arange(64) % bins).astype(np.int32)
    report = xray(histogram, 2, 32)(np.zeros(32, np.int32), x)
    e = of(report, "atomic", "h")
    assert (e.requests, e.accesses, e.contention) == (2, 64, contention)
    assert report.total["atomics"] == 64
    assert report.ok


@cuda.jit
def constants(y):
    w = cuda.const.array_like(WEIGHTS)
    t = cuda.threadIdx.x
    y[t] = w[3]
    y[t] += w[t]


def test_constant_memory_broadcasts():
    report = xray(constants, 1, 32)(np.zeros(32, np.float32))
    const = [e.addresses_per_request for e in report.expressions if e.space == "const"]
    # One address for all lanes, then one for each.
    assert const == [1, 32]
    assert report.total["const_requests"] == 2


@cuda.jit
def local(x, y):
    a = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        a[k] = x[t]
    y[t] = a[0] + a[3]


def test_local_memory():
    # Word k of 32 threads lies side by side: 128 bytes, 4 sectors. 4 stores and 2 loads.
    report = xray(local, 1, 32)(floats(32), np.zeros(32, np.float32))
    assert report.total["local_requests"] == 6
    assert report.total["local_sectors"] == 24
    # Local memory is not part of global traffic: 4 loads of x and one store of y, 128 bytes each.
    assert report.total["bytes_moved"] == 5 * 128


def shared_of(dtype):
    @cuda.jit
    def kernel(y, stride):
        s = cuda.shared.array(1024, dtype)
        t = cuda.threadIdx.x
        s[t * stride] = t
        cuda.syncthreads()
        y[t] = s[t * stride]

    return kernel


@pytest.mark.parametrize(
    ("dtype", "stride", "ways", "wavefronts"),
    [
        # 32 doubles: each half warp covers 128 bytes, all banks once. Two passes, no conflict.
        (float64, 1, 1, 2),
        # 16 bytes apart: a half warp covers 256 bytes, words 4t and 4t + 1: lanes 0 and 8 meet.
        (float64, 2, 2, 4),
        # Bytes side by side: 32 bytes, 8 banks, 4 lanes to a word.
        (uint8, 1, 1, 1),
        # 4 bytes apart: a bank for each lane.
        (uint8, 4, 1, 1),
        # 32 bytes apart: word 8t, so 4 banks of 8 words.
        (uint8, 32, 8, 8),
        (int32, 2, 2, 2),
    ],
)
def test_banks_by_element_size(dtype, stride, ways, wavefronts):
    report = xray(shared_of(dtype), 1, 32)(np.zeros(32), stride)
    for kind in ("load", "store"):
        e = of(report, kind, "s")
        assert (e.requests, e.bank_ways, e.wavefronts) == (1, ways, wavefronts)


# -- records and views: each field has its own address and size -------------------------------------------------------

PAIR = np.dtype([("re", np.float32), ("im", np.float32)])
POINT = np.dtype([(name, np.float32) for name in "xyzw"])


def test_fields_of_records_count_by_their_own_size():
    @cuda.jit
    def kernel(p, q):
        i = cuda.grid(1)
        p[i]["im"] = p[i]["re"] * 2
        q[i].y = q[i].x + 1
        q.w[i] = 3
        q[i].z += q[i].x

    p, q = np.ones(32, PAIR), np.ones(32, POINT)
    report = xray(kernel, 1, 32)(p, q)
    assert report.ok, report.findings
    assert p[5].tolist() == (1, 2)
    assert q[5].tolist() == (1, 2, 2, 3)
    pairs = [e for e in report.expressions if e.array == "p"]
    assert [(e.sectors, e.bytes_used) for e in pairs] == [(8, 128)] * 2
    points = [e for e in report.expressions if e.array == "q"]
    assert [(e.sectors, e.bytes_used) for e in points] == [(16, 128)] * 6


def test_two_threads_may_store_two_fields_of_a_record_and_not_one():
    @cuda.jit
    def apart(p):
        i = cuda.grid(1)
        if i % 2:
            p[i // 2].re = i
        else:
            p[i // 2].im = i

    @cuda.jit
    def together(p):
        p[0].re = cuda.grid(1)

    assert xray(apart, 1, 32)(np.ones(16, PAIR)).ok
    assert [f.kind for f in xray(together, 1, 32)(np.ones(16, PAIR)).findings] == ["race"]


def test_views_of_another_type_count_by_their_own_size():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = x.view(np.int32)[2 * i]

    (load, _) = xray(kernel, 1, 32)(np.ones(32), np.zeros(32, np.int32)).expressions
    assert (load.sectors, load.bytes_used) == (8, 128)
