"""What only attention has: PyTorch's results for random parameters, extreme scores, memory, an exponential of our
own."""

import math

import numpy as np
import pytest
from numba import njit

import dlkernels
from dlkernels import cuda, implementations, scaled_dot_product_attention, softmax
from dlkernels.attention import cpu, cpu_backward, gpu, reference
from dlkernels.attention.geometry import geometry
from dlkernels.simd import exponential
from simt.xray import xray

from . import torch_attention as torch_says

pytestmark = pytest.mark.rotates

CASES = torch_says.recorded()["cases"]
POSSIBLE = [case for case in CASES if "refused" not in case]
ATTENTION = "scaled_dot_product_attention"


def ways(name):
    """The reference, the public function, and every rung of the CPU."""
    rungs = [pytest.param(rung, id=rung.name) for rung in implementations.of(name, "cpu")]
    return [pytest.param(getattr(reference, name), id="reference"), *rungs]


# ---- what PyTorch gives ----------------------------------------------------------------------------------------------


def same_sums(found, kept, case):
    """Sums of elements, times weights up to 97, that may differ by what rounding does to scores of 10 000, and to
    gradients of k that are as large as q."""
    assert found[:2] == kept[:2], case
    most = 1e-9 * (100 + abs(case["factor"]))
    np.testing.assert_allclose(found[2:], kept[2:], rtol=1e-8, atol=most, err_msg=str(case))


@pytest.mark.parametrize("way", ways(ATTENTION))
def test_pytorch_gives_the_same_attention(way):
    for case in POSSIBLE:
        with np.errstate(all="ignore"):
            result = way(*torch_says.inputs(case), **torch_says.options(case))
        assert list(result.shape) == case["shape"], case
        same_sums(torch_says.sums(result), case["result"], case)


@pytest.mark.parametrize("way", ways(f"{ATTENTION}_backward"))
def test_pytorch_gives_the_same_gradients(way):
    for case in POSSIBLE:
        with np.errstate(all="ignore"):
            gradients = way(torch_says.arriving(case["shape"]), *torch_says.inputs(case), **torch_says.options(case))
        for gradient, kept in zip(gradients, case["gradients"], strict=True):
            same_sums(torch_says.sums(gradient), kept, case)


def test_what_pytorch_refuses_is_refused():
    refused = [case for case in CASES if "refused" in case]
    assert len(refused) > 10
    for case in refused:
        with pytest.raises(ValueError, match="expected"):
            scaled_dot_product_attention(*torch_says.inputs(case), **torch_says.options(case))


def test_the_record_has_all_kinds():
    """Or the tests above would not say much."""
    assert len(POSSIBLE) >= 500
    assert {case["kind"] for case in POSSIBLE} == {None, *torch_says.MASKS}
    longer = [case for case in POSSIBLE if case["is_causal"] and case["q"][-2] > case["k"][-2]]
    assert longer, "no causal attention with more queries than keys"
    assert any(case["k"][-2] == 1 for case in POSSIBLE), "no single key"
    assert any(case["enable_gqa"] for case in POSSIBLE), "no grouped queries"
    most = max(abs(case["factor"] * (case["scale"] or 1)) for case in POSSIBLE)
    assert most >= 5000, "no extreme scores"


# ---- extreme scores, in both types -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rung", [pytest.param(r, id=r.name) for r in implementations.of(ATTENTION)])
def test_extreme_scores(rung, dtype):
    """10 000 and -10 000, -inf, rows of -inf alone, NaN in one query: each as the formula has it, and no other row."""
    if dtype not in rung.dtypes:
        pytest.skip("not in this type")
    q = np.array([[1e4], [-1e4], [0], [1], [np.nan]], dtype)
    k, v = np.array([[1], [-1], [1], [0.5]], dtype), np.arange(8, dtype=dtype).reshape(4, 2)
    mask = np.zeros((5, 4), dtype)
    mask[3] = -np.inf
    mask[2, 1:] = -np.inf
    with np.errstate(all="ignore"):
        result = rung(q, k, v, mask)
    np.testing.assert_allclose(result[0], (v[0] + v[2]) / 2, rtol=1e-5)  # two keys share the largest score
    np.testing.assert_allclose(result[1], v[1], rtol=1e-5)
    np.testing.assert_allclose(result[2], v[0], rtol=1e-5)
    np.testing.assert_array_equal(result[3], [0, 0])
    assert np.isnan(result[4]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rung", [pytest.param(r, id=r.name) for r in implementations.of(ATTENTION)])
def test_a_mask_of_the_least_number(rung, dtype):
    """What libraries write for -inf: beside it a score has no digit, so a row of nothing else is a mean, as in
    PyTorch."""
    if dtype not in rung.dtypes:
        pytest.skip("not in this type")
    keys = 530 if rung.device == "cpu" else 5  # for several tiles, and several splits of one query
    for queries in (1, 4):
        q, k, v, mask = masked_by_the_least(queries, keys, dtype)
        result = rung(q, k, v, mask)
        np.testing.assert_allclose(result[0], v.mean(axis=0), rtol=1e-5, atol=1e-6)
        if queries > 1:
            rest = scaled_dot_product_attention(q[1:2], k[:3], v[:3])  # the first three keys are seen
            np.testing.assert_allclose(result[1:2], rest, rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(result[2], 0)
            np.testing.assert_allclose(result[3], scaled_dot_product_attention(q[3:], k, v)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rung", [pytest.param(r, id=r.name) for r in implementations.of(f"{ATTENTION}_backward")])
def test_gradients_under_a_mask_of_the_least_number(rung, dtype):
    if dtype not in rung.dtypes:
        pytest.skip("not in this type")
    if rung.name == "attention_backward_threads":
        pytest.skip("it keeps the logarithm of each sum, which has no digit left beside such a score")
    for keys in (5, 130) if rung.device == "cpu" else (5,):
        q, k, v, mask = masked_by_the_least(4, keys, dtype)
        grad = np.random.default_rng(2).standard_normal(v[:4].shape).astype(dtype)
        found = rung(grad, q, k, v, mask)
        wide = [x.astype(np.float64) for x in (grad, q, k, v)]
        with np.errstate(over="ignore"):
            right = implementations.OPERATIONS[rung.operation].reference(*wide, mask.astype(np.float64))
        for one, other in zip(found, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def masked_by_the_least(queries, keys, dtype):
    """q, k, v and a mask: rows of the least number alone, of it after three zeros, of -inf, of zeros."""
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((rows, 4)).astype(dtype) for rows in (queries, keys, keys))  # by fours on a GPU
    mask = np.full((queries, keys), np.finfo(dtype).min, dtype)
    mask[1:2, :3] = 0
    mask[2:3] = -np.inf
    mask[3:] = 0
    return q, k, v, mask


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_rows_of_minus_infinity_have_no_softmax(name):
    x = np.array([[-np.inf, -np.inf, -np.inf], [0, -np.inf, 0], [1e4, -1e4, 1e4]], np.float32)
    half = {"softmax": [0.5, 0, 0.5], "log_softmax": [-math.log(2), -np.inf, -math.log(2)]}[name]
    for rung in implementations.of(name):
        with np.errstate(all="ignore"):
            result = rung(x)
        assert np.isnan(result[0]).all(), rung.name
        np.testing.assert_allclose(result[1], half, rtol=1e-6, err_msg=rung.name)
        np.testing.assert_allclose(
            result[2], [half[0], *((0, half[2]) if name == "softmax" else (-2e4, half[2]))], rtol=1e-4
        )


# ---- our own exponential ---------------------------------------------------------------------------------------------


def exponentials(x, natural, power):
    for i in range(x.size):
        natural[i] = exponential.exp(x[i])
        power[i] = exponential.exp2(x[i])


@pytest.mark.parametrize("once", sorted({exponential.ROUNDS_ONCE, False}))
@pytest.mark.parametrize(("dtype", "least"), [("float32", -87), ("float64", -708)])
def test_the_exponential_is_right_to_two_roundings(dtype, least, once, monkeypatch):
    """Over all that softmax gives it, in steps much finer than the period of its polynomial; also as for a processor
    whose multiply-add is a multiplication and an addition."""
    monkeypatch.setattr(exponential, "ROUNDS_ONCE", once)
    compiled = njit(exponentials)
    x = np.linspace(least, 1, 200_001).astype(dtype)
    natural, power = np.empty_like(x), np.empty_like(x)
    compiled(x, natural, power)
    wide = x.astype(np.longdouble)
    for result, right in ((natural, np.exp(wide)), (power, np.exp2(wide))):
        error = np.abs(result - right) / right
        assert error.max() <= 2 * np.finfo(dtype).eps, float(error.max() / np.finfo(dtype).eps)
    edges = np.array([0, -np.inf, np.nan, -1e30, -0.0], dtype)
    natural, power = np.empty_like(edges), np.empty_like(edges)
    compiled(edges, natural, power)
    for result in (natural, power):
        np.testing.assert_array_equal(result, np.array([1, 0, np.nan, 0, 1], dtype))


def test_the_polynomial_of_float32_is_nearly_the_best_of_its_degree():
    """Fitted again by weighted least squares, the weight of a place growing with its error; 1 at 0. Coefficients of 24
    bits cost an eighth."""
    r = 0.5 * np.cos(np.linspace(0, np.pi, 2000))  # never 0
    powers = r[:, None] ** np.arange(1, len(exponential.FITTED)) / 2 ** r[:, None]
    rest, weight, least = 1 - 1 / 2**r, np.ones_like(r), np.inf
    for _ in range(500):
        found = np.linalg.lstsq(powers * weight[:, None], rest * weight)[0]
        error = np.abs(powers @ found - rest)
        least, weight = min(least, error.max()), weight * (error / error.max() + 1e-4) ** 0.1
    assert exponential.FITTED[0] == 1
    assert all(float(np.float32(c)) == pytest.approx(c, rel=1e-7) for c in exponential.FITTED)
    ours = np.abs(powers @ np.float32(exponential.FITTED[1:]).astype(float) - rest).max()
    assert least < ours < 1.15 * least
    assert ours < 2 * 2.0**-24


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_memory_is_counted():
    """All scores, one row for each thread, nothing, and tiles of a size that does not depend on the length."""

    def bytes_for(name, length):
        q = np.empty((8, length, 64), np.float32)
        return cpu.extra_bytes(name, geometry(q, q, q, None, False, None, False)[1], threads=2)

    assert bytes_for("attention_naive", 1024) == 8 * 1024 * 1024 * 4
    assert bytes_for("attention_rows", 1024) == 2 * 1024 * 4
    assert bytes_for("attention_online", 1024) == 0
    assert bytes_for("attention_tiles", 128) == bytes_for("attention_causal", 4096) < 200_000
    assert {row.name for row in implementations.of(ATTENTION, "cpu")} == {
        name for name in ("attention_naive", "attention_rows", "attention_online", "attention_tiles", "attention_causal",
                          "attention_split") if bytes_for(name, 16) >= 0
    }  # fmt: skip


# ---- the last barrier of the tile loop -------------------------------------------------------------------------------


def tiles_launch(kernel, queries=20, keys=70, width=3):
    """The x-ray of a kernel of tiles on more tiles than one, and how far its result is off."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, width)).astype(np.float32) for n in (queries, keys, keys))
    _, g = geometry(q, k, v, None, False, None, False)
    places = [cuda.to_device(x) for x in (g.of_q, g.of_k, g.of_v, g.of_mask)]
    out = cuda.to_device(np.zeros(queries * width, np.float32))
    lines = [cuda.to_device(x.reshape(-1)) for x in (q, k, v, np.zeros(1, np.float32))]
    report = xray(kernel, -(-queries // gpu.SIDE), (gpu.SIDE, gpu.SIDE))(*lines, *places, out, *gpu.numbers(g))
    return report, np.abs(
        out.copy_to_host().reshape(queries, width) - reference.scaled_dot_product_attention(q, k, v)
    ).max()


def test_without_the_last_barrier_tiles_are_overwritten():
    report, _ = tiles_launch(gpu.tiles_kernel(1, 4, barrier=False))
    races = [finding for finding in report.findings if finding.kind == "race"]
    assert races
    assert any("tile" in str(finding) for finding in races)


def test_with_it_there_is_no_finding():
    report, error = tiles_launch(gpu.tiles_kernel(1, 4))
    assert not report.findings
    assert error < 1e-6


# ---- wrong arguments -------------------------------------------------------------------------------------------------

Q, K = np.zeros((2, 4, 5, 8), np.float32), np.zeros((2, 2, 7, 8), np.float32)
WRONG = {
    "another width": ((Q, K[..., :7], K), {}, ValueError, r"q \(2, 4, 5, 8\), k \(2, 2, 7, 7\).*one width for q and k"),
    "keys without values": ((Q, K, K[..., :6, :]), {}, ValueError, r"one number of keys and values"),
    "heads do not fit": ((Q, K, K), {}, ValueError, r"leading dimensions that are equal, 1 or missing"),
    "groups do not fit": ((Q[:, :3], K, K), {"enable_gqa": True}, ValueError, r"multiple of those of k and of v"),
    "no heads": ((Q[0, 0], K[0, 0], K[0, 0]), {"enable_gqa": True}, ValueError, r"a dimension of heads in q, k and v"),
    "mask and causal": ((Q, Q, Q, np.ones((5, 5), bool)), {"is_causal": True}, ValueError, r"expected one of them"),
    "mask of another size": (
        (Q, Q, Q, np.ones((5, 4), bool)),
        {},
        ValueError,
        r"mask has shape \(5, 4\).*\(2, 4, 5, 5\)",
    ),
    "mask of integers": (
        (Q, Q, Q, np.ones((5, 5), int)),
        {},
        TypeError,
        r"mask has dtype int64; expected float32 or bool",
    ),
    "a number for causal": ((Q, Q, Q), {"is_causal": 1}, TypeError, r"is_causal is 1; expected True or False"),
    "a scale in words": ((Q, Q, Q), {"scale": "half"}, TypeError, r"scale is a str; expected a number"),
    "no width": ((Q[..., :0], Q[..., :0], Q), {}, ValueError, r"a width of at least 1"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(case):
    arguments, options, error, message = case
    with pytest.raises(error, match=message):
        scaled_dot_product_attention(*arguments, **options)


def test_wrong_dimensions_and_weights():
    with pytest.raises(ValueError, match=r"dim is 2, and x has shape \(3, 4\); expected a number from -2 to 1"):
        softmax(np.zeros((3, 4)), 2)
    with pytest.raises(TypeError, match=r"dim is 1\.0; expected a whole number"):
        softmax(np.zeros((3, 4)), 1.0)
    with pytest.raises(ValueError, match=r"weight has shape \(3,\); expected \(4,\), the last dimension of x"):
        dlkernels.layer_norm(np.zeros((3, 4)), np.ones(3))
    with pytest.raises(ValueError, match=r"eps is -1\.0; expected a number that is not negative"):
        dlkernels.rms_norm(np.zeros((3, 4)), eps=-1)


def test_what_the_way_forward_kept_must_fit():
    result, sums = dlkernels.attention_with_sums(Q, Q, Q)
    assert (result.shape, sums.shape) == (Q.shape, (2, 2, 4, 5))
    for given, error, message in (
        (
            (result[..., :7], sums),
            ValueError,
            r"result has shape \(2, 4, 5, 7\); expected \(2, 4, 5, 8\), as attention_with",
        ),
        ((result, sums[0]), ValueError, r"sums has shape \(2, 4, 5\); expected \(2, 2, 4, 5\)"),
        ((result, sums.astype(np.float64)), TypeError, r"sums.*float64"),
        ((None, sums), TypeError, r"result is a NoneType"),
    ):
        with pytest.raises(error, match=message):
            dlkernels.attention_backward_from_sums(Q, Q, Q, Q, *given)
    with pytest.raises(
        TypeError, match="attention_with_sums has no gpu implementation for float32; expected host memory"
    ):
        dlkernels.attention_with_sums(*[cuda.to_device(Q)] * 3)


def test_sums_give_the_logarithm_of_the_exponentials():
    """As the text of the function says."""
    q, k = np.random.default_rng(3).standard_normal((2, 3, 70, 8))
    _, (top, total) = dlkernels.attention_with_sums(q, k, k, scale=3.0)
    scores = 3 * q @ np.swapaxes(k, 1, 2)
    np.testing.assert_allclose(np.log(2) * (top + np.log2(total)), np.log(np.exp(scores).sum(axis=-1)), rtol=1e-12)


@pytest.mark.parametrize(("causal", "masked"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize(("heads", "width"), [(1, 32), (2, 64), (3, 32), (4, 96), (2, 40)])
def test_both_walks_through_the_tiles_give_the_gradients(heads, width, causal, masked, monkeypatch):
    """A head is a task (heads and vectors in whole numbers), or tiles are: ragged, over several tiles, keys shared by
    heads."""
    monkeypatch.setattr(cpu_backward, "new", lambda shape, dtype: np.full(shape, np.nan, dtype))  # what memory may hold
    random, (queries, keys) = np.random.default_rng(heads), (131, 150 if not causal else 131)
    q, grad = (random.standard_normal((heads, queries, n)) for n in (width, 24))
    k, v = (random.standard_normal((1, keys, n)) for n in (width, 24))
    mask = random.standard_normal((queries, keys)) if masked else None
    exact = reference.scaled_dot_product_attention_backward(grad, q, k, v, mask, causal, enable_gqa=heads > 1)
    single = [None if x is None else x.astype(np.float32) for x in (grad, q, k, v, mask)]
    for arguments, near in (((grad, q, k, v, mask), 1e-12), (single, 1e-4)):
        found = dlkernels.scaled_dot_product_attention_backward(*arguments, causal, enable_gqa=heads > 1)
        for one, right in zip(found, exact, strict=True):
            np.testing.assert_allclose(one, right, rtol=near, atol=near)


def test_a_rotary_embedding_keeps_its_table_for_these_positions_only():
    x, positions = np.ones((3, 8), np.float32), np.arange(3, dtype=np.float32)
    for base, step in ((10000.0, 0), (10000.0, 2), (100.0, 0)):
        positions += step  # in place
        for name in ("rotary_embedding", "rotary_embedding_backward"):
            arguments = (x,) * (1 + name.endswith("backward")) + (positions, base)
            expected = getattr(reference, name)(*arguments)
            assert np.allclose(getattr(dlkernels, name)(*arguments), expected, atol=1e-5), (name, base, step)
