"""What only recurrent networks have: PyTorch's results for random networks, padding, projections, messages."""

import numpy as np
import pytest

import dlkernels
from dlkernels import gru, implementations, lstm, lstm_backward, rnn
from dlkernels.recurrent import reference

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
    "too many gradients": (lstm_backward, ((X, X), X, None, None, W_IH, W_HH), {}, ValueError, r"grad has 2 arrays; expected 3: for output, h_n, c_n"),
    "a gradient of another shape": (lstm_backward, (X, X, None, None, W_IH, W_HH), {}, ValueError, r"grad has shape \(6, 3, 4\); expected \(6, 3, 5\), the shape of output"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(case):
    function, arguments, options, error, message = case
    with pytest.raises(error, match=message):
        function(*arguments, **options)
