"""12-own: A network learns on your own kernels."""

import numpy as np

from ... import network
from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def one_step(
    x,
    labels,
    w1,
    b1,
    w2,
    b2,
    rate,
    mean=True,
    mask="z > 0",
    minus="rows",
    late=False,
    relu=True,
    into="h",
    biases="sum",
    axis=1,
):
    """New weights after one step of gradient descent, in float64."""
    x, w1, b1, w2, b2 = (a.astype(np.float64) for a in (x, w1, b1, w2, b2))
    z = x @ w1 + b1
    h = np.maximum(z, 0) if relu else z
    y = h @ w2 + b2
    e = np.exp(y - y.max(axis=axis, keepdims=True))
    d = e / e.sum(axis=axis, keepdims=True)
    if minus == "rows":
        d[np.arange(len(x)), labels] -= 1
    elif minus == "columns":
        d[:, labels] -= 1
    d /= len(x) if mean else 1
    new_w2, new_b2 = w2 - rate * (h if into == "h" else z).T @ d, b2 - rate * getattr(d, biases)(axis=0)
    back = d @ (new_w2 if late else w2).T
    back = back * ((z > 0) if mask == "z > 0" else h) if mask else back
    return w1 - rate * x.T @ back, b1 - rate * getattr(back, biases)(axis=0), new_w2, new_b2


_SLIPS = (
    ({"mean": False}, "The loss is a mean over the rows of x: its gradient is divided by their number."),
    ({"mask": ""}, "Where ReLU gave 0 it passes no gradient on: multiply by z > 0."),
    ({"minus": ""}, "From the probabilities, one is taken off at each row's label."),
    (
        {"minus": "columns"},
        "d[:, labels] takes one off in each row, at the labels of all. A row has it at its own label: d[np.arange(n), "
        "labels].",
    ),
    ({"relu": False}, "ReLU is missing in the forward pass: what is negative in z is 0 in h."),
    (
        {"relu": False, "mask": ""},
        "ReLU is missing, forward and back: h is 0 where z is negative, and passes no gradient on there.",
    ),
    (
        {"mask": "h"},
        "The gradient was multiplied by h. ReLU passes it on as it is where z > 0: multiply by (z > 0), ones and "
        "zeros.",
    ),
    ({"axis": 0}, "Softmax was taken over the columns: each row of h @ w2 + b2 has probabilities that add up to 1."),
    ({"into": "z"}, "The gradient of w2 needs what went into the second layer: h, behind ReLU, not z."),
    (
        {"biases": "mean"},
        "d was divided by the rows already: the gradient of a bias is the sum over the rows, not their mean.",
    ),
    ({"late": True}, "The gradient of the hidden layer needs w2 as it was in the forward pass, not the new one."),
)
_NAMES = "w1", "b1", "w2", "b2"


def judge_own(arguments, result):
    expected = "four arrays: the new w1, b1, w2 and b2"
    if not isinstance(result, tuple | list) or len(result) != 4:
        return Slip("type", expected, "Return (w1, b1, w2, b2).")
    right = one_step(*arguments)
    for name, new, old in zip(_NAMES, result, right, strict=True):
        if not isinstance(new, np.ndarray) or new.shape != old.shape or new.dtype.kind not in "fiu":
            got = f"{name} of shape {new.shape}, {new.dtype}" if isinstance(new, np.ndarray) else f"{name} is no array"
            return Slip("type", f"{name} of shape {old.shape}", "The new weights have the shapes of the old ones.", got)

    def like(other):
        return all(np.allclose(a, b, rtol=1e-3, atol=1e-5) for a, b in zip(result, other, strict=True))

    if like(right):
        return None
    if not all(np.isfinite(a).all() for a in result):
        cause = (
            "A number is infinite, or no number. Did softmax take off the largest of its row? Was an array made by "
            "np.empty and not filled?"
        )
        return Slip("not-finite", expected, cause, "numbers that are not finite")
    before = arguments[2:6]
    rate = arguments[6]
    wrong = [n for n, a, b in zip(_NAMES, result, right, strict=True) if not np.allclose(a, b, rtol=1e-3, atol=1e-5)]
    got = f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not right"
    for mistake, cause in _SLIPS:
        if like(one_step(*arguments, **mistake)):
            return Slip("step", expected, cause, got)
    if like([np.asarray(2 * a - b) for a, b in zip(before, right, strict=True)]):
        return Slip("step", expected, "The weights moved up the slope: the gradient is subtracted.", got)
    if like([(a - b) / rate for a, b in zip(before, right, strict=True)]):
        return Slip(
            "step",
            expected,
            "These are the gradients. The new weights are asked for: old ones less rate times gradient.",
            got,
        )
    if rate != 1 and like(one_step(*arguments[:6], 1.0)):
        return Slip("step", expected, "This is a step without the rate: old weights less rate times gradient.", got)
    if any(np.allclose(a, b) for a, b in zip(result, before, strict=True)):
        same = next(n for n, a, b in zip(_NAMES, result, before, strict=True) if np.allclose(a, b))
        return Slip("step", expected, f"{same} has not changed. Each of the four has a gradient.", got)
    cause = "Begin at the end: is d right, then h.T @ d, then d @ w2.T, then that times (z > 0), then x.T @ that?"
    return Slip("step", expected, cause, got)


def own_arguments(rows):
    """make(rng) -> x (rows, 63), labels, weights that have not learned yet, and a rate."""

    def make(rng):
        x, labels = network.pictures(rng, rows)
        w1, b1, w2, b2 = network.weights()

        def fresh(w):
            return (rng.standard_normal(w.shape) / np.sqrt(w.shape[0])).astype(np.float32)

        shift = (0.1 * rng.standard_normal(b1.size)).astype(np.float32)
        return x, labels, fresh(w1), shift, fresh(w2), np.zeros_like(b2), 0.5

    return make


OWN = FunctionTask(
    id="12-own",
    section=Section("12", "12_training", "It learns"),
    title="A network learns on your own kernels",
    objective="Compose the forward pass, the backward pass and a step from kernels of one's own",
    points=3,
    minutes=25,
    judge=judge_own,
    cases=(
        Case("one picture", own_arguments(1)),
        Case("64 pictures", own_arguments(64)),
        Case("33 pictures: no multiple of anything", own_arguments(33)),
    ),
    advice={
        "raised-ValueError": "Do the shapes fit? h is (n, 32), d is (n, 10): which of the two is transposed in the "
        "gradient of w2?",
        "raised-TypeError": "A kernel returns nothing, None: it writes into its last argument.",
        "raised-NameError": "A name is used that is not defined there. The kernels are called `mine.matmul` and so on.",
    },
    hints=(
        "Which five products of matrices are there, two forward and three backward? Write down the shapes of each.",
        "A small function that makes the result and calls mine.matmul saves work. A transposed array is not "
        "contiguous: np.ascontiguousarray(h.T).",
        "d is the softmax, less one at each label, divided by n. Then w2 gets h.T @ d, b2 the sum of d over the rows; "
        "back is d @ w2.T times (z > 0); w1 gets x.T @ back, b1 the sum of back over the rows. All with the old "
        "weights.",
    ),
)
