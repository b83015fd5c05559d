"""What only recurrent networks have: PyTorch's results for random networks, padding, projections, messages."""

import tracemalloc

import numba
import numpy as np
import pytest
from numba import njit

import dlkernels
from dlkernels import gru, implementations, lstm, lstm_backward, rnn, scan, team
from dlkernels.recurrent import fast, fast_gates, reference, rounded, scans
from dlkernels.recurrent.examples import scan_error
from dlkernels.simd import broadcast, load, store

from . import torch_recurrent as torch_says
from .checks import arrays_of, check

pytestmark = pytest.mark.rotates

CASES = torch_says.recorded()["cases"]


def name_of(case):
    return case["kind"] if case["kind"] in ("lstm", "gru") else "rnn"


def ways():
    """The reference, the public functions, and the rungs of the CPU, as functions of an operation's name."""

    ladders = {
        name: [row for row in implementations.of(name, "cpu") if "float64" in row.dtypes]
        for name in ("rnn", "lstm", "gru")
    }

    def rung(number):
        return lambda name: ladders[name][min(number, len(ladders[name]) - 1)]

    numbered = [pytest.param(rung(k), id=f"rung {k + 1}") for k in range(max(map(len, ladders.values())))]
    public = pytest.param(lambda name: getattr(dlkernels, name), id="public")
    return [pytest.param(lambda name: getattr(reference, name), id="reference"), public, *numbered]


# ---- what PyTorch gives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ways())
def test_pytorch_gives_the_same_states(way):
    for case in CASES[:: 1 if way("lstm") is reference.lstm else 4]:
        x, states, weights = torch_says.inputs(case)
        results = way(name_of(case))(x, *states, *weights, **torch_says.options(case))
        for result, kept in zip(results, case["results"], strict=True):
            np.testing.assert_allclose(torch_says.sums(result), kept, rtol=1e-10, atol=1e-10, err_msg=str(case))


@pytest.mark.parametrize("library", [reference, dlkernels], ids=["reference", "public"])
def test_pytorch_gives_the_same_gradients(library):
    for case in CASES[:: 1 if library is reference else 3]:
        x, states, weights = torch_says.inputs(case)
        forward, backward = (getattr(library, name_of(case) + suffix) for suffix in ("", "_backward"))
        results = forward(x, *states, *weights, **torch_says.options(case))
        grads = torch_says.arriving([result.shape for result in results])
        found = arrays_of(backward(grads, x, *states, *weights, **torch_says.options(case)))
        for gradient, kept in zip(found, case["gradients"], strict=True):
            np.testing.assert_allclose(torch_says.sums(gradient), kept, rtol=1e-9, atol=1e-9, err_msg=str(case))


def test_the_record_has_all_kinds():
    """Or the tests above would not say much."""
    assert len(CASES) >= 500
    for kind in torch_says.KINDS:
        here = [case for case in CASES if case["kind"] == kind]
        for wanted in (
            {"layers": 3, "bidirectional": True}, {"batch": None}, {"batch_first": True, "layers": 2}, {"bias": False},
            {"states": False}, {"steps": 13}, {"steps": 1}, {"hidden": 1}, {"features": 9},
        ):  # fmt: skip
            assert any(wanted.items() <= case.items() for case in here), (kind, wanted)
        padded = [case for case in here if case["lengths"] is not None]
        assert any(case["bidirectional"] and case["layers"] > 1 for case in padded)
        assert any(case["lengths"] != sorted(case["lengths"], reverse=True) for case in padded), "all sorted"
        assert any(max(case["lengths"]) < case["steps"] for case in padded), "no batch shorter than its array"


# ---- padding ---------------------------------------------------------------------------------------------------------


def a_network(kind="lstm", steps=6, batch=3, features=4, hidden=5, dtype=np.float64):
    rng = np.random.default_rng(1)
    gates = torch_says.KINDS[kind]

    def draw(*shape):
        return rng.standard_normal(shape).astype(dtype) / 3

    return draw(steps, batch, features), draw(gates * hidden, features), draw(gates * hidden, hidden)


@pytest.mark.parametrize(
    "rung", [pytest.param(r, id=r.name) for r in implementations.of("lstm", "cpu") if "float64" in r.dtypes]
)
def test_what_stands_behind_the_end_is_not_read(rung):
    """NaN in the padding changes nothing; each sequence has what it has alone."""
    x, w_ih, w_hh = a_network()
    lengths = [2, 6, 3]
    spoilt = x.copy()
    for b, length in enumerate(lengths):
        spoilt[length:, b] = np.nan
    output, h, c = rung(spoilt, None, None, w_ih, w_hh, lengths=lengths)
    for b, length in enumerate(lengths):
        alone = rung(x[:length, b : b + 1], None, None, w_ih, w_hh)
        for got, expected in zip((output[:length, b], h[:, b], c[:, b]), alone, strict=True):
            np.testing.assert_allclose(got, expected.reshape(got.shape), rtol=1e-6, atol=1e-6)
        assert not output[length:, b].any()


def test_nan_in_the_padding_does_not_reach_gradients():
    x, w_ih, w_hh = a_network()
    lengths = np.array([2, 6, 3])
    ended = np.arange(6)[:, None] >= lengths
    grad = np.ones((6, 3, 5))
    expected = lstm_backward(grad, x, None, None, w_ih, w_hh, lengths=lengths)
    for spoilt in (x, grad):
        spoilt[ended] = np.nan
    found = lstm_backward(grad, x, None, None, w_ih, w_hh, lengths=lengths)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not found[0][ended].any()


# ---- vectors ---------------------------------------------------------------------------------------------------------

LADDER = {rung.name: rung for name in ("lstm", "gru") for rung in implementations.of(name, "cpu")}
VECTORS = [LADDER["lstm_vectors"], LADDER["gru_vectors"]]
SIZES = [(2 * fast.lanes + 1, fast.UNITS + fast.ROWS + 1), (fast.lanes, fast.ROWS), (1, fast.ACROSS * fast.lanes + 3)]


@pytest.mark.parametrize("rung", [pytest.param(rung, id=rung.name) for rung in VECTORS])
def test_vectors_take_all_networks(rung):
    """Each form, with each of the settings of the examples: layers, directions, lengths, biases, states."""
    operation = implementations.OPERATIONS[rung.operation]
    for batch, hidden in SIZES:
        for seed in range(operation.examples.seeds):
            check(rung, operation, operation.examples.make((5, batch, 7, hidden), seed, dtype="float32"))


@pytest.mark.parametrize("rung", [pytest.param(rung, id=rung.name) for rung in VECTORS])
def test_vectors_are_used(rung, monkeypatch):
    """The tests above would pass if all went to the rung below."""
    monkeypatch.setattr(fast, "inputs_batched", None)
    for batch, hidden in SIZES:
        operation = implementations.OPERATIONS[rung.operation]
        rung(*operation.examples.make((2, batch, 7, hidden), dtype="float32"))


@pytest.mark.parametrize("rung", [pytest.param(rung, id=rung.name) for rung in VECTORS])
@pytest.mark.parametrize("features", [fast.DEEP, fast.DEEP + 1])
def test_few_features_and_many(rung, features):
    """W x comes from panels of W, or is a product by blocks: of some columns that fill no vector, and more steps than
    one block."""
    operation, batch, hidden = implementations.OPERATIONS[rung.operation], fast.lanes + 3, fast.UNITS + fast.ROWS + 1
    steps = fast.BLOCK // (4 * hidden * batch) + 2
    check(rung, operation, operation.examples.make((steps, batch, features, hidden), 0, dtype="float32"))


@pytest.mark.parametrize("batch", [1, fast.lanes])
def test_a_state_that_fades_is_never_a_denormal_number(batch):
    """A factor of 0.993 does not lead away from the smallest number of all, with which some CPUs are slow."""
    hidden, steps = fast.ACROSS * fast.lanes, 20_000
    x, w_ih = np.zeros((steps, batch, 1), np.float32), np.zeros((4 * hidden, 1), np.float32)
    w_hh, bias = np.zeros((4 * hidden, hidden), np.float32), np.zeros(4 * hidden, np.float32)
    bias[hidden : 2 * hidden] = 5.0  # the forget gate
    states, least = np.ones((2, 1, batch, hidden), np.float32), np.finfo(np.float32).tiny
    for result in lstm(x, *states, w_ih, w_hh, bias, bias * 0):
        assert not ((result != 0) & (np.abs(result) < least)).any()
        assert (result[-1] < 1000 * least).all(), "it has not faded: the test says nothing"
    stuck = LADDER["lstm_inputs_batched"](x[:, :1], *states[:, :, :1], w_ih, w_hh, bias, bias * 0)[2]
    assert ((stuck > 0) & (stuck < least)).all(), "the rung below has no denormal numbers: the test says nothing"


@pytest.mark.parametrize("function", [lstm, gru])
def test_memory_does_not_grow_with_the_steps(function):
    """100 000 steps: beside the result, the room for W x of some steps at a time."""
    gates, hidden = {lstm: 4, gru: 3}[function], 64

    def beside(steps):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((steps, 1, 2)).astype(np.float32)
        w_ih, w_hh = (rng.standard_normal((gates * hidden, n)).astype(np.float32) / hidden for n in (2, hidden))
        states = [None] * (2 if function is lstm else 1)
        function(x[:2], *states, w_ih, w_hh)
        tracemalloc.start()
        try:
            output = function(x, *states, w_ih, w_hh)[0]
            return tracemalloc.get_traced_memory()[1] - output.nbytes
        finally:
            tracemalloc.stop()

    block = fast.BLOCK // (gates * hidden)
    assert 100_000 > 10 * block
    assert beside(100_000) < beside(2 * block) + (1 << 20)


# ---- scans -----------------------------------------------------------------------------------------------------------


def test_a_row_in_chunks():
    """Time is cut: products that end as nothing, that grow beyond all numbers, and in between, there and back."""
    steps = 4 * scans.CHUNK * 3 + 1234
    rng = np.random.default_rng(5)
    b = rng.standard_normal(steps).astype(np.float32)
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    try:
        for low, high in ((0.9, 0.999), (0.2, 1.7), (0.999, 1.0005), (-1.1, 1.1)):
            a = rng.uniform(low, high, steps).astype(np.float32)
            for reverse in (False, True):
                expected = reference.scan(a, b, None, 0, reverse)
                most = scan_error((a, b, None, 0, reverse), expected, np.finfo(np.float32).eps)
                assert (np.abs(scan(a, b, reverse=reverse) - expected) <= most).all(), (low, high, reverse)
    finally:
        numba.set_num_threads(before)


def test_a_product_beyond_all_numbers_is_not_used():
    """A chunk's product of all a may be infinite, and what it is multiplied with zero, or tiny."""
    steps = 4 * scans.CHUNK
    a, b, out = (np.zeros((1, steps, 1), np.float32) for _ in range(3))
    a[:] = 1.5  # 1.5^2000 is beyond float64, too
    a[0, ::8] = 0
    a[0, : steps // 2 : 8] = 1.5
    b[0, steps // 2 :] = 1
    scans._chunks(a, b, np.zeros((1, 1), np.float32), out, False, 2000, 4 * (steps // 8000), 1, 0, team.members())
    expected = reference.scan(a[0, :, 0], b[0, :, 0])
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(out[0, :, 0], expected, rtol=1e-5)


def test_chunks_do_not_share_places_of_a_cache():
    """Four chunks at a time are read side by side: not at distances of almost whole pages."""
    for steps in [1 << k for k in range(14, 27)] + [10**k for k in range(5, 9)]:
        for threads in (2, 3, 8):
            size, chunks = scans.chunk_size(steps, threads)
            assert chunks % 4 == 0
            assert 0.9 * steps < size * chunks <= steps, (steps, threads)
            assert 32 <= size % scans.PAGE <= scans.PAGE - 32, (steps, threads, size)


def test_minimal_networks_are_right_far_out():
    """Gates of 300 in float32: no 0 / 0, no overflow, no warning."""
    x = np.array([[300.0], [-300.0], [0.0]], np.float32)
    for function, rows in ((dlkernels.min_gru, 2), (dlkernels.min_lstm, 3)):
        for signs in ((1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1)):
            weight = np.array(signs[:rows], np.float32)[:, None]
            with np.errstate(all="raise", under="ignore"):
                found = function(x, None, weight)
            with np.errstate(all="ignore"):
                expected = getattr(reference, function.__name__)(x, None, weight)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)


# ---- wrong arguments -------------------------------------------------------------------------------------------------

X, W_IH, W_HH = a_network()
B = np.zeros(20)
STATE = np.zeros((1, 3, 5))
WRONG = {
    "projections": (lstm, (X, STATE[..., :2], STATE, W_IH, W_HH[:, :2]), {}, ValueError, r"w_hh has shape \(20, 2\); expected \(20, 5\).*proj_size, here 2\?\) are not supported"),
    "projected h0": (lstm, (X, STATE[..., :2], STATE, W_IH, W_HH), {}, ValueError, r"h0 has shape \(1, 3, 2\).*proj_size"),
    "gates of another cell": (gru, (X, None, W_IH, W_HH), {}, ValueError, r"w_hh has shape \(20, 5\); expected \(3 \* hidden, hidden\)"),
    "other features": (lstm, (X, None, None, W_IH[:, :3], W_HH), {}, ValueError, r"w_ih has shape \(20, 3\); expected \(20, 4\), for 4 features"),
    "one bias": (lstm, (X, None, None, W_IH, W_HH, B), {}, ValueError, r"b_ih is given alone; expected both"),
    "an odd number": (lstm, (X, None, None, [W_IH], [W_HH]), {"bidirectional": True}, ValueError, r"w_ih: 1, w_hh: 1 arrays; expected as many of each, one for every layer and direction"),
    "one for two directions": (lstm, (X, None, None, W_IH, W_HH), {"bidirectional": True}, ValueError, r"expected two for each layer"),
    "mixed": (lstm, (X, None, None, [W_IH], W_HH), {}, TypeError, r"w_ih: several arrays, w_hh: one; expected an array each"),
    "the second layer": (lstm, (X, None, None, [W_IH, W_IH], [W_HH, W_HH]), {}, ValueError, r"w_ih\[1\] has shape \(20, 4\); expected \(20, 5\), for 5 features"),
    "h0 of another batch": (lstm, (X, STATE[:, :2], STATE, W_IH, W_HH), {}, ValueError, r"h0 has shape \(1, 2, 5\); expected \(1, 3, 5\): \(layers \* directions, batch, hidden\)"),
    "no step": (lstm, (X[:0], None, None, W_IH, W_HH), {}, ValueError, r"expected at least one step"),
    "four axes": (lstm, (X[None], None, None, W_IH, W_HH), {}, ValueError, r"x has shape \(1, 6, 3, 4\); expected \(steps, batch, features\)"),
    "a length of 0": (lstm, (X, None, None, W_IH, W_HH), {"lengths": [1, 0, 2]}, ValueError, r"lengths\[1\] is 0; expected from 1 to 6"),
    "a length too long": (lstm, (X, None, None, W_IH, W_HH), {"lengths": [1, 2, 7]}, ValueError, r"lengths\[2\] is 7"),
    "too few lengths": (lstm, (X, None, None, W_IH, W_HH), {"lengths": [1, 2]}, ValueError, r"lengths has shape \(2,\); expected \(3,\)"),
    "lengths that are not whole": (lstm, (X, None, None, W_IH, W_HH), {"lengths": [1.0, 2.0, 3.0]}, TypeError, r"expected whole numbers"),
    "lengths of one sequence": (lstm, (X[:, 0], None, None, W_IH, W_HH), {"lengths": [3]}, ValueError, r"expected None, or x with a batch"),
    "another nonlinearity": (rnn, (X, None, W_HH[:5, :4], W_HH[:5]), {"nonlinearity": "sigmoid"}, ValueError, r"nonlinearity is 'sigmoid'; expected 'tanh' or 'relu'"),
    "no weights": (rnn, (X, None, None, W_HH[:5]), {}, TypeError, r"w_ih is None; expected an array"),
    "a number for a flag": (lstm, (X, None, None, W_IH, W_HH), {"batch_first": 1}, TypeError, r"batch_first is 1; expected True or False"),
    "other types": (lstm, (X, None, None, W_IH.astype(np.float32), W_HH), {}, TypeError, r"w_ih has dtype float32, but x has dtype float64"),
    "scan of two shapes": (scan, (X, X[:2]), {}, ValueError, r"b has shape \(2, 3, 4\), but a has shape \(6, 3, 4\)"),
    "scan along nothing": (scan, (X, X), {"dim": 3}, ValueError, r"dim is 3, and a has shape \(6, 3, 4\); expected a number from -3 to 2"),
    "scan from another state": (scan, (X, X, STATE), {}, ValueError, r"h0 has shape \(1, 3, 5\); expected \(3, 4\), the shape of a without dimension 0"),
    "scan the other way": (scan, (X, X), {"reverse": 1}, TypeError, r"reverse is 1; expected True or False"),
    "minimal gates": (dlkernels.min_gru, (X, None, W_HH[:5, :4]), {}, ValueError, r"weight has shape \(5, 4\); expected \(2 \* hidden, 4\)"),
    "minimal state": (dlkernels.min_lstm, (X, STATE[0], W_IH[:6]), {}, ValueError, r"h0 has shape \(3, 5\); expected \(3, 2\)"),
    "too many gradients": (lstm_backward, ((X, X), X, None, None, W_IH, W_HH), {}, ValueError, r"grad has 2 arrays; expected 3: for output, h_n, c_n"),
    "a gradient of another shape": (lstm_backward, (X, X, None, None, W_IH, W_HH), {}, ValueError, r"grad has shape \(6, 3, 4\); expected \(6, 3, 5\), the shape of output"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(case):
    function, arguments, options, error, message = case
    with pytest.raises(error, match=message):
        function(*arguments, **options)


@pytest.mark.parametrize("rung", [pytest.param(rung, id=rung.name) for rung in VECTORS])
@pytest.mark.parametrize("batch", [1, 4, fast.lanes + 1])
def test_what_is_not_chosen_of_two_states_does_no_harm(rung, batch):
    """An infinite state that goes on does not become NaN; one that has ended stays as it was, whatever its padding
    would make."""
    hidden, gates = fast.ACROSS * fast.lanes, 4 if rung.operation == "lstm" else 3
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, batch, 2)).astype("f")
    w_ih, w_hh = (rng.standard_normal((gates * hidden, n)).astype("f") / hidden for n in (2, hidden))
    states = [rng.standard_normal((1, batch, hidden)).astype("f") for _ in range(gates - 2)]
    if rung.operation == "lstm":
        states[1][0, 0, 0] = np.inf
    lengths = np.array([1, *[3] * (batch - 1)])
    x[1:, 0] = np.nan  # behind the end
    operation = implementations.OPERATIONS[rung.operation]
    arguments = (x, *states, w_ih, w_hh, None, None, False, False, lengths)
    found, right = rung(*arguments), operation.reference(*arguments)
    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert np.isfinite(found[1]).all()


@pytest.mark.parametrize(("hidden", "batch"), [(130, 5), (160, 34), (20, 65), (17, 32)])
def test_gates_of_groups_of_sequences_and_parts_of_panels(hidden, batch):
    """More sequences than are taken at a time, more units than meet them at a time, and of both some that are left."""
    rng = np.random.default_rng(hidden)

    def draw(*shape):
        return (rng.standard_normal(shape) / 3).astype("f")

    states = [draw(1, batch, hidden) for _ in range(2)]
    weights = draw(4 * hidden, 3), draw(4 * hidden, hidden), draw(4 * hidden), draw(4 * hidden)
    given = [draw(3, batch, 3), *states, *weights]
    lengths = rng.integers(1, 4, batch)
    *results, gates, cells = dlkernels.lstm_with_gates(*given, lengths=lengths)
    grads = [draw(*one.shape) for one in results]
    found = dlkernels.lstm_backward_from_gates(grads, *given, gates, cells, lengths=lengths)
    exact = [one.astype(np.float64) for one in given]
    right = [
        *reference.lstm_with_gates(*exact, lengths=lengths),
        *reference.lstm_backward([one.astype(np.float64) for one in grads], *exact, lengths=lengths),
    ]
    for one, other in zip([*results, gates, cells, *found], right, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-5 * max(1, abs(other).max()))


# ---- gates -----------------------------------------------------------------------------------------------------------


@njit
def gates(x, sigmoids, tanhs):
    for i in range(0, x.size, fast.lanes):
        above, below = fast_gates.tanh_as_quotient(load(x, i))
        store(tanhs, i, above / below)
        store(sigmoids, i, broadcast(np.float32(1)) / fast_gates.below_sigmoid(load(x, i)))


def test_gates_are_right_over_all_that_float32_holds():
    """As the allowed errors of networks take for granted (rounded.py); tanh near zero, and where it becomes 1."""
    small = np.float32(2.0) ** np.linspace(-126, 7, 80_000, dtype=np.float32)
    x = np.concatenate([small, -small, np.linspace(-88, 88, 200_000, dtype=np.float32)])
    sigmoids, tanhs = np.empty_like(x), np.empty_like(x)
    gates(x, sigmoids, tanhs)
    wide, eps = x.astype(np.float64), np.finfo("f").eps
    with np.errstate(over="ignore"):
        rights = (sigmoids, 1 / (1 + np.exp(-wide))), (tanhs, np.tanh(wide))
    for found, right in rights:
        there = (np.abs(right) > 2.0**-120) & (np.abs(wide) < 87)
        error = np.abs(found - right)[there] / np.abs(right)[there] / eps
        assert error.max() < rounded.FUNCTION / 2, (error.max(), x[there][error.argmax()])
        assert (np.abs(found - right)[~there] <= 2 * eps * np.abs(right)[~there] + 2.0**-120).all()
    edges = np.resize(np.array([np.nan, np.inf, -np.inf, 0, 1e38, -1e38, -0.0, 200], np.float32), 64)
    sigmoids, tanhs = np.empty_like(edges), np.empty_like(edges)
    gates(edges, sigmoids, tanhs)
    np.testing.assert_allclose(sigmoids[:8], [np.nan, 1, 0, 0.5, 1, 0, 0.5, 1], atol=1e-37)
    np.testing.assert_allclose(tanhs[:8], [np.nan, 1, -1, 0, 1, -1, 0, 1], rtol=2 * eps)
