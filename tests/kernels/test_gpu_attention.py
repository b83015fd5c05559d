"""Attention on a GPU in register tiles and on tensor cores, its norms, and one query in parts: what is loaded and how
often, derived first and then counted; that the compiler keeps patches in registers; right where tiles end, whatever the
mask.

That every rung is right at all sizes and layouts is tested from the examples, in test_operations.py.
"""

import contextlib
import functools

import numpy as np
import pytest

from dlkernels import attention_half, cuda, implementations
from dlkernels.attention import (
    gpu_decode,
    gpu_half,
    gpu_norm_gradients,
    gpu_patches,
    gpu_row_warps,
    gpu_rows,
    reference,
)
from dlkernels.attention.geometry import HALVES, geometry
from dlkernels.convolution.reference import widened
from dlkernels.device import name as device_name
from dlkernels.tensor_cores import KINDS, pack
from simt import xray

from .checks import masks, on_device

pytestmark = pytest.mark.rotates(whole=True)  # what a function's cases compile is compiled on one day

COMPILER = pytest.mark.skipif(not xray.available(), reason="the compiler for GPUs is not installed: run `make gpu`")
EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
ENGINES = ("executor", "compiled") if device_name == "executor" else ("auto",)
PATCHES = next(
    r for r in implementations.of("scaled_dot_product_attention", "gpu") if r.name.endswith("register_tiles")
)
(HALF,) = implementations.of("attention_half", "gpu")
WARP, EDGE = 32, 64
f32, u32 = np.float32, np.uint32


def running_on(engine):
    return cuda.engine(engine) if device_name == "executor" else contextlib.nullcontext()


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, f32)


def narrow(x, kind):
    return x.astype(np.float16) if kind == "f16" else (x.view(u32) >> 16).astype(np.uint16)


def three(queries, keys, width, values=None, lead=()):
    """q, k, v of these sizes."""
    shapes = (queries, width), (keys, width), (keys, values or width)
    return [random(*lead, *shape, seed=seed) for seed, shape in enumerate(shapes)]


def numbers(report, array, kind="load"):
    """How often threads load from a global array or store to it, be it one number at a time or four."""
    trace = [e for e in report.expressions if (e.kind, e.space, e.array) == (kind, "global", array)]
    return sum(e.accesses for e in trace)


def ways(report):
    return {(e.array, e.kind): e.bank_ways for e in report.expressions if e.space == "shared"}


# ---- counts, derived first -------------------------------------------------------------------------------------------


@functools.cache
def look_at_patches(width, shape):
    """The x-ray of one block with 64 queries and 64 keys."""
    q, k, v = three(EDGE, EDGE, width)
    _, g = geometry(q, k, v, None, False, None, False)
    out = np.zeros((EDGE, width), f32)
    lines = [x.reshape(-1) for x in (q, k, v, np.zeros(1, f32))]
    kernel = gpu_patches.patches_kernel(*shape)
    places = g.of_q, g.of_k, g.of_v, g.of_mask
    report = xray.xray(kernel, 1, gpu_patches.THREADS)(*lines, *places, out.reshape(-1), *gpu_patches.counted(g))
    np.testing.assert_allclose(out, reference.scaled_dot_product_attention(q, k, v), rtol=1e-5, atol=1e-6)
    assert report.ok, str(report)
    return report


@EXECUTOR
@pytest.mark.parametrize(("width", "shape", "of_values"), [(64, (4, 2), 12), (32, (4, 1), 8)])
def test_a_thread_loads_four_numbers_for_many_multiply_adds(width, shape, of_values):
    """For 4 steps along the width 4 queries and 4 keys; for 4 keys 4 queries' weights, and each key's fours of
    columns."""
    report = look_at_patches(width, shape)
    warps, tiles = gpu_patches.THREADS // WARP, EDGE // gpu_patches.KEYS
    scores, values = width // 4 * 8, gpu_patches.KEYS // 4 * of_values
    assert report.total["shared_load_requests"] == warps * tiles * (scores + values)
    adds = 2 * EDGE * EDGE * width / WARP
    assert report.total["shared_load_requests"] / adds == {64: 7 / 64, 32: 1 / 8}[width]
    assert set(ways(report).values()) == {1}, ways(report)
    assert report.total["barriers"] == 4 * tiles


@EXECUTOR
def test_all_numbers_come_once_and_go_once():
    report = look_at_patches(64, (4, 2))
    fours = EDGE * 64 // 4
    assert [numbers(report, array) for array in ("q", "k", "v")] == [fours] * 3
    assert numbers(report, "out", "store") == fours
    data = [e for e in report.expressions if e.array in ("q", "k", "v", "out")]
    assert {e.efficiency for e in data} == {1}


@EXECUTOR
@pytest.mark.parametrize("kind", KINDS)
def test_tensor_cores_are_fed_without_conflicts(kind):
    """A warp loads its queries with 4 times four 8 x 8 matrices; then, for each tile, the keys and the values with
    16."""
    q, k, v = (narrow(x, kind) for x in three(EDGE, 2 * EDGE, 64))
    _, g = geometry(q, k, v, None, False, None, False, HALVES)
    out = np.zeros((EDGE, 64), f32)
    lines = [x.reshape(-1).view(np.uint16).view(u32) for x in (q, k, v)]
    places = g.of_q, g.of_k, g.of_v, g.of_mask
    known = u32(64), *gpu_patches.counted(g)
    kernel = gpu_half.tensor_kernel(kind, 64)
    report = xray.xray(kernel, 1, gpu_half.THREADS)(*lines, np.zeros(1, f32), *places, out.reshape(-1), *known)
    np.testing.assert_allclose(out, reference.attention_half(q, k, v), rtol=0.02, atol=0.02)
    assert report.ok, str(report)
    warps, tiles = gpu_half.THREADS // WARP, 2
    assert report.total["shared_load_requests"] == warps * (4 + tiles * (16 + 16))
    assert report.total["barriers"] == 1 + 2 * tiles
    assert set(ways(report).values()) == {1}, ways(report)
    # In words of two numbers, 16 bytes at a time; queries and keys come once, and nothing else is read but the one
    # term.
    assert {array: numbers(report, array) for array in ("q", "k", "v", "mask")} == {
        "q": EDGE * 32 // 4,
        "k": tiles * EDGE * 32 // 4,
        "v": tiles * EDGE * 32 // 4,
        "mask": gpu_half.THREADS,
    }


# ---- norms, and one query: counts, derived first ---------------------------------------------------------------------


def requests(report, space):
    """Requests and sectors to each array: {(kind, array): (requests, sectors of each)}; None where there are no
    sectors."""
    found = {}
    for e in report.expressions:
        if e.space == space:
            count, _ = found.get((e.kind, e.array), (0, None))
            found[e.kind, e.array] = count + e.requests, e.sectors_per_request
    return found


def shuffles(report):
    return sum(event.name == "shfl_xor_sync" for event in report.trace.collectives)


@EXECUTOR
@pytest.mark.parametrize(("warps", "times"), [(1, 2), (2, 1), (8, 2)])
@pytest.mark.parametrize("centred", [True, False], ids=["layer norm", "RMS norm"])
def test_what_a_norm_asks_for(centred, warps, times):
    """A row goes three times through the block, or twice without a mean; each sum takes five exchanges and two
    barriers.

    The pass that squares names a number twice, and is counted so: the x-ray takes the source as it stands.
    """
    rows, n = 3, warps * WARP * times
    x, weight, bias = random(rows, n), random(n, seed=1), random(n, seed=2) * centred
    out = np.zeros_like(x)
    report = xray.xray(gpu_rows.norm_kernel, rows, warps * WARP)(x, weight, bias, f32(1e-5), out, centred)
    expected = reference.layer_norm(x, weight, bias) if centred else reference.rms_norm(x, weight, 1e-5)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)
    assert report.ok, str(report)
    sums, once = 2 if centred else 1, rows * warps * times  # once: requests of a pass over all rows
    assert requests(report, "global") == {
        ("load", "x"): ((sums + 2) * once, 4),
        ("load", "weight"): (once, 4),
        ("load", "bias"): (once, 4),
        ("store", "out"): (once, 4),
    }
    # Of each sum, a warp stores its part, and loads those of all warps.
    assert report.total["shared_store_requests"] == rows * sums * warps
    assert report.total["shared_load_requests"] == rows * sums * warps * warps
    assert set(ways(report).values()) == {1}, ways(report)
    assert shuffles(report) == rows * sums * warps * 5
    assert report.total["barriers"] == 2 * sums


def rows_by_warps(kind, count):
    """(kernel, signature) of gpu_row_warps for `count` numbers of a row in a lane."""
    makers = {
        "softmax": (gpu_row_warps.softmax_kernel, False, gpu_row_warps.softmax_kernels(False)),
        "log_softmax": (gpu_row_warps.softmax_kernel, True, gpu_row_warps.softmax_kernels(True)),
        "softmax_backward": (
            gpu_row_warps.softmax_gradient_kernel,
            False,
            gpu_row_warps.softmax_gradient_kernels(False),
        ),
        "log_softmax_backward": (
            gpu_row_warps.softmax_gradient_kernel,
            True,
            gpu_row_warps.softmax_gradient_kernels(True),
        ),
    }
    if kind == "norm":
        return gpu_row_warps.norm_kernel(count), gpu_row_warps.NORM
    maker, logarithm, listed = makers[kind]
    return maker(count, logarithm), listed[0][1][0]


BY_WARPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward", "norm")


@EXECUTOR
@pytest.mark.parametrize("count", [1, 4, 32])
@pytest.mark.parametrize("kind", BY_WARPS)
def test_a_warp_that_keeps_its_row_moves_each_number_once(kind, count):
    """One load and one store of each number, five exchanges for each sum or largest; no shared memory, no barrier."""
    rows, n = gpu_row_warps.WARPS + 1, WARP * count  # the last block has idle warps
    x, grad, out = random(rows, n), random(rows, n, seed=1), np.zeros((rows, n), f32)
    weight, bias = random(n, seed=2), random(n, seed=3)
    lines, sizes = [a.reshape(-1) for a in (grad, x, out)], (u32(rows), u32(n))
    if kind == "norm":
        arguments = lines[1], weight, bias, f32(1e-5), True, True, True, lines[2]
        expected, reads, found = reference.layer_norm(x, weight, bias), ("x", "weight", "bias"), 2
    elif kind.endswith("backward"):
        arguments, expected, reads, found = lines, getattr(reference, kind)(grad, x), ("grad", "x"), 3
    else:
        arguments, expected, reads, found = lines[1:], getattr(reference, kind)(x), ("x",), 2
    report = xray.xray(rows_by_warps(kind, count)[0], 2, (WARP, gpu_row_warps.WARPS))(*arguments, *sizes)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)
    assert report.ok, str(report)
    once = rows * count
    assert requests(report, "global") == {("load", a): (once, 4) for a in reads} | {("store", "out"): (once, 4)}
    assert shuffles(report) == rows * found * 5
    assert report.total["barriers"] == 0
    assert not requests(report, "shared")


@pytest.mark.parametrize("n", [gpu_row_warps.LONGEST, gpu_row_warps.LONGEST + 1])
def test_long_rows_are_right_too(n):
    """On both sides of the length at which a block takes over from a warp."""
    x, grad = random(3, n), random(3, n, seed=1)
    for name, arguments in {"softmax": (x,), "log_softmax": (x,), "layer_norm": (x,), "rms_norm": (x, None, 1e-5),
                            "softmax_backward": (grad, x), "log_softmax_backward": (grad, x)}.items():  # fmt: skip
        rung = implementations.of(name, "gpu")[-1]
        assert rung.name == f"{name}_warp_per_row"
        np.testing.assert_allclose(rung(*arguments), getattr(reference, name)(*arguments), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [gpu_row_warps.LONGEST, gpu_row_warps.LONGEST + 1])
def test_gradients_of_long_rows_are_right_too(n):
    grad, x, weight, bias = random(3, n), random(3, n, seed=1), random(n, seed=2), random(n, seed=3)
    for name, more in {"layer_norm_backward": (weight, bias), "rms_norm_backward": (weight, 1e-5)}.items():
        rung = implementations.of(name, "gpu")[-1]
        assert rung.name == f"{name}_warp_per_row"
        for found, expected in zip(rung(grad, x, *more), getattr(reference, name)(grad, x, *more), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def look_at_gradients(kernel, grid, block, *arguments, order="forward"):
    report = xray.xray(kernel, grid, block, order=order)(*arguments)
    assert report.ok, str(report)
    return report


@EXECUTOR
@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("sums", [0, 1, 2])
@pytest.mark.parametrize("count", gpu_row_warps.COUNTS)
def test_what_rows_give_to_weight_and_bias_is_added_as_they_go_by(count, sums, order):
    """Each number of x and of the gradient comes once, a weight with each row; a block leaves a line for each sum."""
    rows, n, blocks, warps = 11, WARP * count - count // 2, 2, gpu_norm_gradients.WARPS  # one to two rows for a warp
    grad, x, weight, bias = random(rows, n), random(rows, n, seed=1), random(n, seed=2), random(n, seed=3)
    out, parts, found = np.zeros((rows, n), f32), np.zeros(blocks * max(sums, 1) * n, f32), np.zeros((sums, n), f32)
    given, places = (weight, f32(1e-5), sums != 1, True), (out.reshape(-1), parts, u32(rows), u32(n))
    kernel, lines = gpu_norm_gradients.gradient_kernel(count, sums), (grad.reshape(-1), x.reshape(-1))
    blocks = blocks if sums else -(-rows // warps)
    report = look_at_gradients(kernel, blocks, (WARP, warps), *lines, *given, *places, order=order)
    if sums == 1:
        expected = reference.rms_norm_backward(grad, x, weight, 1e-5)
    else:
        expected = reference.layer_norm_backward(grad, x, weight, bias)
    np.testing.assert_allclose(out, expected[0], rtol=1e-4, atol=1e-5)
    loads, stores = (
        {a: e[0] for (k, a), e in requests(report, "global").items() if k == kind} for kind in ("load", "store")
    )
    lines_of_32 = blocks * sums * -(-n // WARP)
    assert loads == dict.fromkeys(("grad", "x", "weight"), rows * count)
    assert stores == {"out": rows * count} | ({"parts": lines_of_32} if sums else {})
    assert shuffles(report) == rows * 5 * (2 if sums == 1 else 4)
    assert report.total["barriers"] == (warps if sums else 0)
    assert set(ways(report).values()) <= {1}
    if sums:
        own = warps * blocks * sums * count  # of each warp, but the first need not look
        assert report.total["shared_store_requests"] == own
        assert report.total["shared_load_requests"] == own * (warps - 1) // warps + lines_of_32
        grid, block = -(-found.size // WARP), (WARP, gpu_norm_gradients.PARTS_WARPS)
        sizes = found.reshape(-1), u32(blocks), u32(found.size)
        report = look_at_gradients(gpu_norm_gradients.add_parts_kernel, grid, block, parts, *sizes, order=order)
        for one, right in zip(found, expected[1:], strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-4, atol=1e-5)
        assert report.total["barriers"] == 1
        assert set(ways(report).values()) == {1}


@EXECUTOR
def test_what_gradients_of_a_norm_load_before_and_after():
    """16 rows of 128 numbers: 64 times 32 numbers. A block goes four times over its row of x, and the square names it
    twice; two times over that of the gradient and of the weights. A thread for each column looks again at x, and twice
    at the gradient. A warp that keeps its rows loads each number once.
    """
    rows, n, warps = 16, 128, 4
    once, across = rows * n // WARP, n // WARP
    grad, x, weight = random(rows, n), random(rows, n, seed=1), random(n, seed=2)
    out, found, sums, eps = np.zeros_like(x), np.zeros((rows, 2), f32), np.zeros((2, n), f32), f32(1e-5)
    expected = reference.layer_norm_backward(grad, x, weight, weight)
    old = [
        look_at_gradients(gpu_rows.norm_gradient_kernel, rows, n, grad, x, weight, eps, out, found, True),
        look_at_gradients(gpu_rows.norm_columns_kernel, 2, 64, grad, x, found, sums),
    ]
    assert [requests(report, "global") for report in old] == [
        {
            ("load", "x"): (5 * once, 4),
            ("load", "grad"): (2 * once, 4),
            ("load", "weight"): (2 * once, 4),
            ("store", "out"): (once, 4),
            ("store", "found"): (2 * rows, 1),
        },
        {
            ("load", "grad"): (2 * once, 4),
            ("load", "x"): (once, 4),
            ("load", "found"): (2 * once, 1),
            ("store", "sums"): (2 * across, 4),
        },
    ]
    blocks = 2  # each warp has two rows
    parts, again, totals = np.zeros(blocks * 2 * n, f32), np.zeros_like(x), np.zeros(2 * n, f32)
    lines, sizes = (grad.reshape(-1), x.reshape(-1)), (u32(rows), u32(n))
    kernel, block = gpu_norm_gradients.gradient_kernel(n // WARP, 2), (WARP, warps)
    new = [
        look_at_gradients(kernel, blocks, block, *lines, weight, eps, True, True, again.reshape(-1), parts, *sizes),
        look_at_gradients(gpu_norm_gradients.add_parts_kernel, 2 * across, (WARP, gpu_norm_gradients.PARTS_WARPS),
                          parts, totals, u32(blocks), u32(2 * n)),
    ]  # fmt: skip
    assert [requests(report, "global") for report in new] == [
        {
            ("load", "x"): (once, 4),
            ("load", "grad"): (once, 4),
            ("load", "weight"): (once, 4),
            ("store", "out"): (once, 4),
            ("store", "parts"): (blocks * 2 * across, 4),
        },
        {("load", "parts"): (blocks * 2 * across, 4), ("store", "sums"): (2 * across, 4)},
    ]
    loaded = [sum(report.total["global_load_sectors"] for report in both) for both in (old, new)]
    assert loaded == [64 * (12 * 4 + 2 * 1), 64 * 3 * 4 + 16 * 4] == [3200, 832]
    for results in ((out, *sums), (again, *totals.reshape(2, n))):
        for one, right in zip(results, expected, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "n", "most"), [(1, 40, 1), (9, 33, 1), (40, 5, 2), (3, 1, 264)])
def test_a_few_blocks_share_many_rows(rows, n, most, monkeypatch):
    """One block for all; a warp without a row; a lane without a number."""
    monkeypatch.setattr(gpu_norm_gradients, "BLOCKS", most)
    monkeypatch.setattr(gpu_norm_gradients, "MORE", 1)
    grad, x, weight, bias = random(rows, n), random(rows, n, seed=1), random(n, seed=2), random(n, seed=3)
    found = implementations.of("layer_norm_backward", "gpu")[-1](grad, x, weight, bias, 0.1)
    for one, right in zip(found, reference.layer_norm_backward(grad, x, weight, bias, 0.1), strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-4, atol=1e-4)


@EXECUTOR
@pytest.mark.parametrize("blocks", [1, 31, 32, 33, 70])
def test_more_and_fewer_parts_than_warps_add_up(blocks):
    parts, sums = random(blocks, 40), np.zeros(40, f32)
    block = WARP, gpu_norm_gradients.PARTS_WARPS
    report = look_at_gradients(
        gpu_norm_gradients.add_parts_kernel, 2, block, parts.reshape(-1), sums, u32(blocks), u32(40)
    )
    np.testing.assert_allclose(sums, parts.sum(0, np.float64), rtol=1e-5, atol=1e-5)
    assert requests(report, "global")["load", "parts"][0] == 2 * blocks


@pytest.mark.quick
def test_blocks_that_keep_sums_are_few_and_have_rows_alike():
    for count in gpu_row_warps.COUNTS:
        most = gpu_norm_gradients.BLOCKS * min(gpu_norm_gradients.MORE, 32 // count)
        for rows in (*range(1, 40), 4 * most - 1, 4 * most, 4 * most + 1, 16384, 1 << 20, (1 << 32) - 1):
            blocks = gpu_norm_gradients.blocks_for(rows, count)
            rounds = -(-rows // (4 * blocks))
            assert 1 <= blocks <= most
            assert rounds == -(-rows // (4 * most)), "fewer rounds for the same rows"
            assert 4 * (blocks - 1) * rounds < rows, "a block without rows"


def test_what_is_not_a_number_stays_in_its_row_and_in_the_sums():
    """As in the rung before. A row without variance, and eps 0, has no gradient; nor has one with inf."""
    grad, x, weight, bias = random(6, 35), random(6, 35, seed=1), random(35, seed=2), random(35, seed=3)
    x[0, 3], x[2, 34], x[3], grad[4, 33], grad[5, 7] = np.nan, np.inf, 2, np.nan, -np.inf
    for name, more in {"layer_norm_backward": (weight, bias, 0.0), "rms_norm_backward": (weight, 0.0)}.items():
        before, after = (rung(grad, x, *more) for rung in implementations.of(name, "gpu"))
        for one, other in zip(before, after, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)
        assert np.isfinite(after[0][1]).all()
        assert np.isnan(after[0][0]).all()


@EXECUTOR
@pytest.mark.parametrize("splits", [1, 4])
def test_what_one_query_asks_for(splits):
    """The cache is read once, in however many parts; a part adds a row of the result and the logarithm of a sum."""
    keys, width, values = 64, 64, 64
    q, k, v = three(1, keys, width, values)
    lines, one = [x.reshape(-1) for x in (q, k, v)], np.ones(1, f32)
    parts, sums = np.zeros(splits * values, f32), np.zeros(splits, f32)
    sizes = 1, 1, 1, width, values, keys, 1, f32(1 / np.sqrt(width))
    places = np.array([keys]), np.zeros(1, np.int64), parts, sums
    report = xray.xray(gpu_decode.parts_kernel, (1, splits, 1), (WARP, gpu_decode.WARPS))(
        *lines, one, one, False, *places, *sizes
    )
    assert report.ok, str(report)
    warps = splits * gpu_decode.WARPS
    assert requests(report, "global") == {
        ("load", "lengths"): (warps, 1),
        ("load", "table"): (keys, 1),
        ("load", "q"): (keys * width // WARP, 4),  # again for each key
        ("load", "k"): (keys * width // WARP, 4),
        ("load", "v"): (keys * values // WARP, 4),
        ("store", "parts"): (splits * values // WARP, 4),
        ("store", "sums"): (splits, 1),
    }
    assert shuffles(report) == 5 * keys
    assert report.total["barriers"] == 1
    # A warp leaves its largest score, its sum and its columns. Then each warp loads what all have: largest scores, sums
    # with their largest scores, and for its columns of the result, if it has any, numbers with their largest scores.
    columns = gpu_decode.LANES_COLUMNS
    assert report.total["shared_store_requests"] == warps * (2 + columns)
    own = splits * values // WARP
    assert report.total["shared_load_requests"] == gpu_decode.WARPS * (3 * warps + 2 * own)
    assert set(ways(report).values()) == {1}, ways(report)

    out, lse = np.zeros(values, f32), np.zeros(1, f32)
    report = xray.xray(gpu_decode.merge_kernel, 1, gpu_decode.THREADS)(parts, sums, out, lse, splits, values)
    expected = reference.scaled_dot_product_attention(q, k, v)[0]
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
    assert report.ok, str(report)
    # A thread for each of 64 columns, and one more for the logarithm: three warps look at all sums, twice.
    full = values // WARP
    assert requests(report, "global") == {
        ("load", "sums"): ((full + 1) * 2 * splits, 1),
        ("load", "parts"): (full * splits, 4),
        ("store", "out"): (full, 4),
        ("store", "lse"): (1, 1),
    }
    assert shuffles(report) == report.total["barriers"] == 0


# ---- right where tiles end -------------------------------------------------------------------------------------------

#: (leading dimensions, queries, keys, width, width of values, causal): less and more than a tile in each direction.
RAGGED = (
    ((2,), 20, 70, 4, 8, False),
    ((), 66, 70, 64, 40, True),
    ((1, 1), 33, 50, 128, 96, True),
    ((), 70, 9, 24, 32, False),
    ((3,), 5, 100, 40, 8, True),
)


@pytest.mark.parametrize("case", RAGGED, ids=str)
def test_ragged(case):
    lead, queries, keys, width, values, causal = case
    q, k, v = three(queries, keys, width, values, lead)
    expected = reference.scaled_dot_product_attention(q, k, v, None, causal)
    np.testing.assert_allclose(PATCHES(q, k, v, is_causal=causal), expected, rtol=1e-4, atol=1e-5)


#: Each is compiled for a minute.
BY_NIGHT = [pytest.param(case, marks=pytest.mark.slow) for case in (RAGGED[0], RAGGED[2])]


@pytest.mark.parametrize("case", [RAGGED[1], ((2,), 7, 66, 13, 11, True), *BY_NIGHT], ids=str)
def test_ragged_halves(case):
    """Of odd widths, too: their rows are copied into longer ones."""
    lead, queries, keys, width, values, causal = case
    kind, most = (("f16", 2e-3), ("bf16", 2e-2))[queries % 2]
    q, k, v = (narrow(x, kind) for x in three(queries, keys, width, values, lead))
    result = HALF(q, k, v, is_causal=causal)
    np.testing.assert_allclose(result, reference.attention_half(q, k, v, None, causal), rtol=most, atol=most)


@pytest.mark.parametrize("number", range(6))
def test_masks(number):
    q, k, v = three(20, 80, 8)
    mask = masks(20, 80)[number]
    halves = [x.astype(np.float16) for x in (q, k, v)]
    np.testing.assert_allclose(
        PATCHES(q, k, v, mask), reference.scaled_dot_product_attention(q, k, v, mask), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(HALF(*halves, mask), reference.attention_half(*halves, mask), rtol=2e-3, atol=2e-3)


def test_extreme_scores():
    """Of 10 000 and -10 000, and not a number in one query: it stays there."""
    q = np.zeros((4, 8), f32)
    q[:, 0] = 1e4, -1e4, 1, np.nan
    k, v = np.zeros((3, 8), f32), np.arange(24, dtype=f32).reshape(3, 8)
    k[:, 0] = 1, -1, 1
    halves = [x.astype(np.float16) for x in (q, k, v)]
    for result in (PATCHES(q, k, v, scale=1.0), HALF(*halves, scale=1.0)):
        np.testing.assert_array_equal(result[0], (v[0] + v[2]) / 2)
        np.testing.assert_array_equal(result[1], v[1])
        assert np.isfinite(result[2]).all()
        assert np.isnan(result[3]).all()


def test_grouped_heads_and_slices_at_odd_places():
    q, k, v = random(4, 20, 8), random(2, 30, 8, seed=1), random(2, 30, 8, seed=2)
    expected = reference.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    for rung, kind, most in ((PATCHES, f32, 1e-5), (HALF, np.float16, 2e-3)):
        odd = [on_device(np.concatenate([[0], x.reshape(-1)]).astype(kind))[1:].reshape(x.shape) for x in (q, k, v)]
        result = rung(*odd, enable_gqa=True)
        np.testing.assert_allclose(result.copy_to_host(), expected, rtol=most, atol=most)


# ---- what the compiler makes of them ---------------------------------------------------------------------------------


@COMPILER
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_patches_stay_in_registers(arch):
    view = xray.compiled(gpu_patches.patches_kernel(4, 2), gpu_patches.PATCHES, arch)
    assert not view.spills
    assert not view.stack_bytes, "a local array did not fit into registers"
    assert view.occupancy(gpu_patches.THREADS).blocks_per_sm >= (1 if arch == "sm_75" else 3)
    loop = view.main_loop  # of the values: a step of four keys
    assert loop["FFMA"] == 128
    assert loop["LDS.128"] == loop["LDS"] == 12, "narrow loads from shared memory"
    assert loop.ffma_share > 0.8


@COMPILER
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize(
    ("kernels", "threads"),
    [(gpu_rows.NORM[0], 256), (gpu_decode.PARTS, 128), (gpu_decode.MERGE, 128)],
    ids=["norm", "parts", "merge"],
)
def test_rows_and_parts_do_not_spill(kernels, threads, arch):
    kernel, signatures = kernels
    view = xray.compiled(kernel, signatures[0], arch)
    assert not view.spills
    assert view.occupancy(threads).blocks_per_sm >= 2


@COMPILER
@pytest.mark.parametrize("arch", ["sm_75", pytest.param("sm_80", marks=pytest.mark.slow), "sm_90"])
@pytest.mark.parametrize("kind", BY_WARPS)
def test_a_row_stays_in_registers(kind, arch):
    """Of each number of lanes: loops are written out, down to one instruction for each load and store in the source."""
    for count in gpu_row_warps.COUNTS:
        view = xray.compiled(*rows_by_warps(kind, count), arch)
        assert not view.spills
        assert not view.stack_bytes, "a row did not fit into registers"
        arrays = 3 if kind == "norm" else 2 if kind.endswith("backward") else 1
        assert (view.mix["LDG"], view.mix["STG"]) == (arrays * count, count)
        assert view.mix["BAR"] == 0
        assert view.occupancy(WARP * gpu_row_warps.WARPS).blocks_per_sm >= 4


@COMPILER
@pytest.mark.parametrize("arch", ["sm_75", pytest.param("sm_80", marks=pytest.mark.slow), "sm_90"])
@pytest.mark.parametrize("sums", [*(pytest.param(few, marks=pytest.mark.slow) for few in (0, 1)), 2])
def test_rows_and_their_share_of_sums_stay_in_registers(sums, arch):
    """As many blocks fit on a multiprocessor as the launch counts on."""
    for count in gpu_row_warps.COUNTS:
        view = xray.compiled(gpu_norm_gradients.gradient_kernel(count, sums), gpu_norm_gradients.GRADIENT, arch)
        assert not view.spills
        assert not view.stack_bytes, "a row did not fit into registers"
        assert view.mix["LDG"] == 3 * count
        assert view.shared_bytes == 4 * sums * WARP * count
        wanted = 2 * min(gpu_norm_gradients.MORE, 32 // count)
        assert view.occupancy(WARP * gpu_norm_gradients.WARPS).blocks_per_sm >= wanted


@COMPILER
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_weights_stay_in_registers(arch):
    view = xray.compiled(gpu_half.tensor_kernel("f16", 64), gpu_half.PAIRS, arch)
    assert not view.spills
    assert not view.stack_bytes
    assert view.occupancy(gpu_half.THREADS).blocks_per_sm >= 3
    loop = view.main_loop  # over tiles of keys
    assert loop["TENSOR.HMMA"] == 32 + 32
    assert loop["LDSM"] == 16 + 16
    assert loop["STS"] == 0, "something goes through shared memory"


# ---- numbers become narrow -------------------------------------------------------------------------------------------


def nearest(x, kind):
    """The bits of the nearest 16-bit numbers, ties to even."""
    if kind == "f16":
        return x.astype(np.float16).view(np.uint16)
    bits = x.view(u32)
    return np.where(np.isnan(x), 0x7FFF, (bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_rounded_to_the_nearest(kind):
    pair = pack(kind)

    @cuda.jit
    def kernel(x, words):
        t = cuda.grid(1)
        if t < words.size:
            words[t] = pair(x[2 * t], x[2 * t + 1])

    draw = np.random.default_rng(1)
    x = np.concatenate([
        draw.standard_normal(200), draw.standard_normal(60) * 1e-6, draw.standard_normal(60) * 1e5,
        [0, -0.0, np.inf, -np.inf, 65504, 65519, 65520, -65536, 2.0**-24, 2.0**-25, 2.0**-14, 1 + 2.0**-11, 1 + 3 * 2.0**-11,
         1 + 2.0**-8, 1 + 3 * 2.0**-8, np.nan, 3.3e38, 1e-39],
    ]).astype(f32)  # fmt: skip
    with np.errstate(over="ignore"):
        expected = nearest(x, kind)
    for engine in ENGINES:
        words = np.zeros(x.size // 2, u32)
        with running_on(engine):
            kernel[-(-words.size // 32), 32](x, words)
        found, nothing = words.view(np.uint16), np.isnan(x)
        np.testing.assert_array_equal(found[~nothing], expected[~nothing], err_msg=engine)
        assert np.isnan(widened(found[nothing].view(np.float16) if kind == "f16" else found[nothing])).all()


# ---- wrong arguments -------------------------------------------------------------------------------------------------

H = np.zeros((2, 3, 8), np.float16)
WRONG = {
    "float32": ((H.astype(f32),) * 3, {}, TypeError, r"q has dtype float32; expected float16 or uint16"),
    "two kinds": ((H, H.view(np.uint16), H), {}, TypeError, r"k has dtype uint16, but q has dtype float16"),
    "narrow terms": ((H, H, H, np.zeros((3, 3), np.float16)), {}, TypeError, r"mask has dtype float16; expected float32 or bool"),
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_halves(case):
    arguments, options, error, message = case
    with pytest.raises(error, match=message):
        attention_half(*arguments, **options)


def test_wide_halves_are_refused_on_a_device():
    wide = np.zeros((2, 136), np.float16)
    with pytest.raises(ValueError, match=r"q has shape \(2, 136\).*expected widths of at most 128"):
        HALF(wide, wide, wide)
