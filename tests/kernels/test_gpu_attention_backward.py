"""Gradients of attention on a GPU in register tiles: what is loaded and how often, derived first and then counted; that
patches stay in registers; right where tiles end, whatever the mask; and that each barrier is needed.

That the rung is right at all sizes and layouts is tested from the examples, in test_operations.py.
"""

import functools

import numpy as np
import pytest

from dlkernels import implementations
from dlkernels.attention import gpu_backward, gpu_backward_patches, reference
from dlkernels.attention.geometry import geometry
from dlkernels.attention.gpu_patches import DOWN, KEYS, THREADS, counted
from dlkernels.device import name as device_name
from simt import xray

from .checks import masks, on_device

pytestmark = pytest.mark.rotates(whole=True)  # what a function's cases compile is compiled on one day

COMPILER = pytest.mark.skipif(not xray.available(), reason="the compiler for GPUs is not installed: run `make gpu`")
EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
RUNG = implementations.of("scaled_dot_product_attention_backward", "gpu")[-1]
WARPS = THREADS // 32
f32 = np.float32


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, f32)


def four(queries, keys, width, values=None, lead=()):
    """grad, q, k, v of these sizes."""
    values = values or width
    shapes = (queries, values), (queries, width), (keys, width), (keys, values)
    return [random(*lead, *shape, seed=seed) for seed, shape in enumerate(shapes)]


def check(arguments, mask=None, causal=False, rung=RUNG, **more):
    exact = reference.scaled_dot_product_attention_backward(*arguments, mask, causal, **more)
    for name, found, expected in zip("qkv", rung(*arguments, mask, causal, **more), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5, err_msg=f"the gradient of {name}")


def test_it_is_what_users_get():
    assert RUNG.public
    assert RUNG.name == "attention_backward_register_tiles"


# ---- counts, derived first -------------------------------------------------------------------------------------------


def arrays(queries, keys, width, causal=False):
    """What the kernels of both rungs are given, and where they put their results."""
    grad, q, k, v = four(queries, keys, width)
    _, g = geometry(q, k, v, None, causal, None, False)
    lines = [x.reshape(-1) for x in (q, k, v, np.zeros(1, f32))]
    of_queries, of_keys = ([np.empty(n, f32) for n in sizes] for sizes in ([q.size], [k.size, v.size]))
    rows = [np.empty(queries, f32) for _ in range(3)]  # largest scores, shares, inner products
    return (*lines, g.of_q, g.of_k, g.of_v, g.of_mask, grad.reshape(-1)), rows, of_queries, of_keys, g, (grad, q, k, v)


@functools.cache
def look(queries, keys, width, causal=False, engine="compiled"):
    """The x-rays of both kernels. The compiled engine counts; what the executor records finds races as well."""
    given, rows, of_queries, of_keys, g, arguments = arrays(queries, keys, width, causal)
    shape = gpu_backward_patches.shape_for(g)
    reports = []
    for kernel, out, count in (
        (gpu_backward_patches.queries_kernel, of_queries, queries),
        (gpu_backward_patches.keys_kernel, of_keys, keys),
    ):
        blocks = -(-count // (DOWN * shape[0]))
        reports.append(xray.xray(kernel(*shape), blocks, THREADS, engine=engine)(*given, *rows, *out, *counted(g)))
    exact = reference.scaled_dot_product_attention_backward(*arguments, None, causal)
    for found, expected in zip((*of_queries, *of_keys), exact, strict=True):
        np.testing.assert_allclose(found, expected.reshape(-1), rtol=2e-4, atol=2e-5)
    return reports


def numbers(report, array, kind="load"):
    """How many numbers threads load from a global array, or store to it."""
    lines = [e for e in report.expressions if (e.kind, e.space, e.array) == (kind, "global", array)]
    return sum(e.accesses for e in lines) * 4


@EXECUTOR
def test_numbers_come_once_for_each_block_and_way():
    """Three blocks of 64 queries (the last has 16) go over 80 keys twice; two of 64 keys (16 in the last) over 144
    queries."""
    by_queries, by_keys = look(144, 80, 32)
    assert [numbers(by_queries, a) for a in ("q", "grad", "k", "v")] == [*[144 * 32] * 2, *[3 * 2 * 80 * 32] * 2]
    assert [numbers(by_keys, a) for a in ("k", "v", "q", "grad")] == [*[80 * 32] * 2, 2 * 2 * 144 * 32, 2 * 144 * 32]
    assert numbers(by_queries, "part", "store") == 144 * 32
    assert numbers(by_keys, "part_k", "store") == numbers(by_keys, "part_v", "store") == 80 * 32


#: Each is compiled for half a minute.
SIZES = [(32, 4, 1), *(pytest.param(*size, marks=pytest.mark.slow) for size in ((64, 3, 2), (128, 1, 4)))]


@EXECUTOR
@pytest.mark.parametrize(("width", "rows", "fours"), SIZES)
def test_what_a_warp_loads_from_shared_memory(width, rows, fours):
    """A product of rows by keys: for 4 steps along the width, 4 keys and `rows` rows. A sum: for 4 keys, `rows` fours
    of factors and each key's fours of columns. Blocks of queries make 4 products and a sum, blocks of keys 2 and 2
    sums."""
    here = DOWN * rows
    by_queries, by_keys = look(here, here, width)
    tiles, tail = divmod(here, KEYS)
    product, fourth = width // 4 * (4 + rows), rows + 4 * fours
    sums = (tiles * (KEYS // 4) + tail // 4) * fourth
    tiles += tail > 0
    assert by_queries.total["shared_load_requests"] == WARPS * (tiles * 4 * product + sums)
    assert by_keys.total["shared_load_requests"] == WARPS * (tiles * 2 * product + 2 * sums)
    for report in (by_queries, by_keys):
        assert {e.bank_ways for e in report.expressions if e.space == "shared"} == {1}
    assert by_queries.total["barriers"] == tiles * (4 + 5)
    assert by_keys.total["barriers"] == tiles * 7


@EXECUTOR
@pytest.mark.parametrize("causal", [False, True])
def test_barriers_are_enough(causal):
    """Two blocks, and two tiles, each of which one fills in part."""
    for report in look(70, 68, 4, causal, "executor"):
        assert report.ok, str(report)


@EXECUTOR
def test_a_causal_mask_skips_tiles():
    """Of 4 x 4 tiles of 32 keys, blocks of 64 queries see 2 + 4; blocks of 64 keys are seen by queries of 4 + 2."""
    by_queries, by_keys = look(128, 128, 32, True)
    assert numbers(by_queries, "k") == 2 * (2 + 4) * KEYS * 32
    assert numbers(by_keys, "grad") == (4 + 2) * KEYS * 32


@EXECUTOR
def test_beside_a_thread_for_each_row_few_requests_reach_global_memory():
    """Width 32: a thread asks for the numbers of each key one by one, here 64 queries share a tile loaded by fours."""
    given, rows, of_queries, of_keys, g, _ = arrays(96, 96, 32)
    requests = []
    for kernel, out in ((gpu_backward.queries_kernel, of_queries), (gpu_backward.keys_kernel, of_keys)):
        sizes = g.queries, g.keys, g.width, g.values, g.mask_row, g.mask_column, False, f32(g.scale)
        result = [np.zeros(96 * 32, f32)] if kernel is gpu_backward.queries_kernel else []
        report = xray.xray(kernel, 1, 96, engine="compiled")(*given, *result, *rows[1:], *out, *sizes)
        requests.append(report.total["global_load_requests"])
    tiled = [report.total["global_load_requests"] for report in look(96, 96, 32)]
    assert all(old > 40 * new for old, new in zip(requests, tiled, strict=True)), (requests, tiled)


# ---- right where tiles end -------------------------------------------------------------------------------------------

#: (leading dimensions, queries, keys, width, width of values, causal): less and more than a tile in each direction.
RAGGED = (
    ((2,), 20, 70, 4, 8, False),
    ((), 66, 70, 64, 40, True),
    ((1, 1), 33, 50, 128, 96, True),
    ((), 70, 9, 24, 32, False),
    ((3,), 5, 100, 40, 8, True),
    ((), 100, 5, 8, 48, True),
    ((), 1, 1, 4, 4, False),
    ((), 17, 49, 100, 4, False),
)


@pytest.mark.parametrize("case", RAGGED, ids=str)
def test_ragged(case):
    lead, queries, keys, width, values, causal = case
    check(four(queries, keys, width, values, lead), causal=causal)


@pytest.mark.parametrize("number", range(6))
def test_masks(number):
    check(four(20, 80, 8), masks(20, 80)[number])


def test_grouped_heads_and_slices_at_odd_places():
    """Whose rows do not begin at multiples of 16 bytes: they take the other way."""
    shapes = (4, 20, 8), (4, 20, 8), (2, 30, 8), (2, 30, 8)
    arguments = [random(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    check(arguments, enable_gqa=True)
    odd = [on_device(np.concatenate([[0], x.reshape(-1)]).astype(f32))[1:].reshape(x.shape) for x in arguments]
    exact = reference.scaled_dot_product_attention_backward(*arguments, enable_gqa=True)
    for found, expected in zip(RUNG(*odd, enable_gqa=True), exact, strict=True):
        np.testing.assert_allclose(found.copy_to_host(), expected, rtol=2e-4, atol=2e-5)


def test_extreme_scores():
    """Of 10 000 and -10 000: weights are 0 and 1, and what is not looked at gets a gradient of exactly 0."""
    grad, q = random(2, 8), np.zeros((2, 8), f32)
    q[:, 0] = 1e4, -1e4
    k, v = np.zeros((3, 8), f32), np.arange(24, dtype=f32).reshape(3, 8)
    k[:, 0] = 1, -1, 1
    of_q, of_k, of_v = RUNG(grad, q, k, v, scale=1.0)
    exact = reference.scaled_dot_product_attention_backward(grad, q, k, v, scale=1.0)
    for found, expected in zip((of_q, of_k, of_v), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(of_v[1], grad[1])
    assert not of_q[1].any()


def test_twice_the_same():
    """Nobody adds to another's sum: the same bits each time."""
    arguments = four(50, 70, 16)
    first = RUNG(*arguments)
    for _ in range(2):
        for one, two in zip(first, RUNG(*arguments), strict=True):
            np.testing.assert_array_equal(one, two)


# ---- what the compiler makes of them ---------------------------------------------------------------------------------


@COMPILER
@pytest.mark.parametrize("arch", [pytest.param("sm_75", marks=pytest.mark.slow), "sm_90"])
def test_patches_stay_in_registers(arch):
    """For sm_80 test_on_gpus.py compiles all of them."""
    for kernel, signatures in RUNG.kernels[1:6:3]:
        view = xray.compiled(kernel, signatures[0], arch)
        assert not view.spills
        assert not view.stack_bytes, "a local array did not fit into registers"
        assert view.occupancy(THREADS).blocks_per_sm >= (1 if arch == "sm_75" else 3)
