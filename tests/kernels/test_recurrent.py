"""What only recurrent networks have: PyTorch's results for random networks, padding, projections, messages."""

import numba
import numpy as np
import pytest

import dlkernels
from dlkernels import gru, implementations, lstm, lstm_backward, rnn, scan, team
from dlkernels.recurrent import reference, scans
from dlkernels.recurrent.examples import scan_error

from . import torch_recurrent as torch_says
from .checks import arrays_of

CASES = torch_says.recorded()["cases"]


def name_of(case):
    return case["kind"] if case["kind"] in ("lstm", "gru") else "rnn"


def ways():
    """The reference, the public functions, and the rungs of the CPU, as functions of an operation's name."""

    def rung(number):
        return lambda name: implementations.of(name, "cpu")[min(number, len(implementations.of(name, "cpu")) - 1)]

    longest = max(len(implementations.of(name, "cpu")) for name in ("rnn", "lstm", "gru"))
    numbered = [pytest.param(rung(number), id=f"rung {number + 1}") for number in range(longest)]
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


def a_network(kind="lstm", steps=6, batch=3, features=4, hidden=5, dtype=np.float32):
    rng = np.random.default_rng(1)
    gates = torch_says.KINDS[kind]

    def draw(*shape):
        return rng.standard_normal(shape).astype(dtype) / 3

    return draw(steps, batch, features), draw(gates * hidden, features), draw(gates * hidden, hidden)


@pytest.mark.parametrize("rung", [pytest.param(r, id=r.name) for r in implementations.of("lstm", "cpu")])
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
    grad = np.ones((6, 3, 5), np.float32)
    expected = lstm_backward(grad, x, None, None, w_ih, w_hh, lengths=lengths)
    for spoilt in (x, grad):
        spoilt[ended] = np.nan
    found = lstm_backward(grad, x, None, None, w_ih, w_hh, lengths=lengths)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not found[0][ended].any()


# ---- scans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_in_chunks(dtype):
    """Time is cut: products that end as nothing, that grow beyond all numbers, and in between, there and back."""
    steps = 4 * scans.CHUNK * 3 + 1234
    rng = np.random.default_rng(5)
    b = rng.standard_normal(steps).astype(dtype)
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    try:
        for low, high in ((0.9, 0.999), (0.2, 1.7), (0.999, 1.0005), (-1.1, 1.1)):
            a = rng.uniform(low, high, steps).astype(dtype)
            for reverse in (False, True):
                expected = reference.scan(a, b, None, 0, reverse)
                most = scan_error((a, b, None, 0, reverse), expected, np.finfo(dtype).eps)
                assert (np.abs(scan(a, b, reverse=reverse) - expected) <= most).all(), (low, high, reverse)
    finally:
        numba.set_num_threads(before)


def test_a_product_beyond_all_numbers_is_not_used():
    """A chunk's product of all a may be infinite, and what it is multiplied with zero, or tiny."""
    steps = 4 * scans.CHUNK
    a, b, out = (np.zeros((1, steps, 1)) for _ in range(3))
    a[:] = 1.5  # 1.5^1000 is beyond float64
    a[0, ::8] = 0
    a[0, : steps // 2 : 8] = 1.5
    b[0, steps // 2 :] = 1
    scans._chunks(a, b, np.zeros((1, 1)), out, False, 1000, 4 * (steps // 4000), 1, 0, team.members())
    expected = reference.scan(a[0, :, 0], b[0, :, 0])
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(out[0, :, 0], expected, rtol=1e-12)


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
B = np.zeros(20, np.float32)
STATE = np.zeros((1, 3, 5), np.float32)
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
    "other types": (lstm, (X, None, None, W_IH.astype(float), W_HH), {}, TypeError, r"w_ih has dtype float64, but x has dtype float32"),
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
