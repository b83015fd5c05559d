"""11-back: The way back through a cap."""

import math

import numpy as np

from ...definition import Case, Section, Slip, random_values
from ...kinds.function import FunctionTask
from .shared import NEARLY, shown_numbers


def back_case(name, queries, keys, rest=0, width=5, values=3, factor=4.0, cap=3.0):
    """A tile of `keys` keys; the queries look at `rest` others, too, so top and total are of all of these."""

    def make(rng):
        q, k, v, grad = (
            random_values(rng, *shape, dtype=np.float64)
            for shape in ((queries, width), (keys + rest, width), (keys + rest, values), (queries, values))
        )
        q *= factor
        scores = cap * np.tanh(q @ k.T / math.sqrt(width) / cap)
        top = scores.max(axis=1)
        weights = np.exp(scores - top[:, None])
        total = weights.sum(axis=1)
        result = weights / total[:, None] @ v
        return q, k[:keys], v[:keys], cap, top, total, (grad * result).sum(axis=1), grad

    return Case(name, make)


def way_back(
    q, k, v, cap, top, total, along, grad,
    scale=None, weights=None, slopes=None, bent=lambda raw, capped, cap: 1 - (capped / cap) ** 2, root=None
):  # fmt: skip
    """(of_q, of_k, of_v); what is given takes the place of a step: a mistake."""
    raw = q @ k.T / (math.sqrt(q.shape[1]) if root is None else root)
    capped = cap * np.tanh(raw / cap)
    right = np.exp(capped - top[:, None]) / total[:, None]
    w = right if weights is None else weights(capped, top[:, None], total[:, None], raw)
    arrived = grad @ v.T
    s = w * (arrived - along[:, None]) if slopes is None else slopes(w, arrived, along[:, None])
    s = s * bent(raw, capped, cap) * (q.shape[1] ** -0.5 if scale is None else scale)
    return s @ k, s.T @ q, w.T @ grad


#: (what takes the place of a step, why that is wrong), asked of each gradient in this order.
MISTAKES = (
    (
        {"weights": lambda s, top, total, raw: np.exp(raw - top) / total},
        "the weights are of scores without the cap, or of scores that it only cuts off. tanh bends them all; `top` and "
        "`total` are of such.",
    ),
    ({"weights": lambda s, top, total, raw: np.exp(s - top)}, "the weights were not divided by `total`."),
    (
        {"root": 1.0},
        "scores were not divided by the square root of the width when they were computed again. `top` and `total` are "
        "of scores that were.",
    ),
    (
        {"root": 1.0, "scale": 1.0},
        "scores are q . k divided by the square root of the width, there and on the way back.",
    ),
    (
        {"weights": lambda s, top, total, raw: np.exp(s - top) / np.exp(s - top).sum(axis=1, keepdims=True)},
        "the weights were divided by their sum over this tile. A query looks at other keys, too: `total` is the sum "
        "over all.",
    ),
    (
        {"weights": lambda s, top, total, raw: np.exp(s) / total},
        "`total` is a sum of exp(score - top). Take `top` off before the exponential here, too.",
    ),
    (
        {"weights": lambda s, top, total, raw: np.exp(s - s.max(axis=1, keepdims=True)) / total},
        "the largest score of this tile was taken off. `total` belongs to `top`, the largest of all keys.",
    ),
    (
        {"bent": lambda raw, capped, cap: 1},
        "the cap was forgotten on the way back. Where a score is near the cap, the score before it hardly changes "
        "anything.",
    ),
    (
        {"bent": lambda raw, capped, cap: 1 - (raw / cap) ** 2},
        "the derivative of tanh(x) is 1 - tanh(x)^2, not 1 - x^2.",
    ),
    (
        {"bent": lambda raw, capped, cap: cap * (1 - (capped / cap) ** 2)},
        "`cap` stands before tanh and divides within it: in the derivative the two cancel.",
    ),
    (
        {"bent": lambda raw, capped, cap: (1 - (capped / cap) ** 2) / cap},
        "`cap` stands before tanh and divides within it: in the derivative the two cancel.",
    ),
    (
        {"bent": lambda raw, capped, cap: 1 - capped**2},
        "the derivative is 1 - tanh^2, and tanh is the capped score divided by `cap`.",
    ),
    (
        {"slopes": lambda w, arrived, along: w * arrived},
        "a softmax only shares out: what one weight gains, the others lose. `along` has to be taken off.",
    ),
    (
        {"slopes": lambda w, arrived, along: w * arrived - along},
        "`along` is taken off before the product with the weights, not after it.",
    ),
    ({"slopes": lambda w, arrived, along: w * (arrived + along)}, "`along` was added. It has to be taken off."),
    (
        {"slopes": lambda w, arrived, along: w * (arrived - (w * arrived).sum(axis=1, keepdims=True))},
        "the sum of weights times what arrives was taken over this tile. `along` is that sum over all keys.",
    ),
    (
        {"slopes": lambda w, arrived, along: arrived - along},
        "the derivative of exp(score) is exp(score): what arrives at a score is multiplied by its weight.",
    ),
    ({"scale": 1.0}, "scores are q . k divided by the square root of the width: the way back has the same factor."),
)
TWICE = "the square root of the width divides once, not twice."


def judge_back(arguments, result):
    """A Slip, or None for the right gradients."""
    q, k, v, *_ = arguments
    expected = way_back(*arguments)
    twice = way_back(*arguments, scale=1 / q.shape[1])
    shapes = ", ".join(str(x.shape) for x in (q, k, v))
    try:
        said = [np.asarray(part) for part in result] if type(result) in (tuple, list) else []
    except (TypeError, ValueError):
        said = []
    if [part.shape for part in said] != [x.shape for x in (q, k, v)] or any(
        part.dtype.kind not in "iuf" for part in said
    ):
        came = ", ".join(f"{part.shape} of {part.dtype}" for part in said) or short_type(result)
        cause = (
            "Three arrays are asked for, in this order: one like q, one like k, one like v. A sum over queries is a "
            "product with the transpose."
        )
        return Slip("type", f"arrays of shapes {shapes}", cause, came)
    said = [part.astype(np.float64) for part in said]
    for name, index in (("of_v", 2), ("of_q", 0), ("of_k", 1)):
        found, right = said[index], expected[index]
        if np.allclose(found, right, rtol=1e-9, atol=1e-12):
            continue
        told, got = f"{name}[0] = {shown_numbers(right[0])}", f"{name}[0] = {shown_numbers(found[0])}"
        for instead, cause in MISTAKES:
            with np.errstate(all="ignore"):
                guess = way_back(*arguments, **instead)[index]
            if np.allclose(found, guess, rtol=1e-9, atol=1e-12, equal_nan=True):
                return Slip(name, told, f"{name}: {cause}", got)
        if index != 2 and np.allclose(found, twice[index], rtol=1e-9, atol=1e-12):
            return Slip(name, told, f"{name}: {TWICE}", got)
        if not np.isfinite(found).all():
            why = "take `top` off before the exponential." if index == 2 else "the weights are, as of_v is right."
            return Slip(name, told, f"{name} is no number here: {why}", got)
        if np.allclose(found, right, rtol=1e-4, atol=1e-5):
            return Slip(name, told, f"{name}: {NEARLY}", got)
        if index == 2:
            cause = (
                "of_v: look at the weights first, exp(capped score - top) / total. Row j is the sum over queries of "
                "the weight of key j times the row of grad."
            )
        else:
            operand = "k" if index == 0 else "q"
            cause = (
                f"{name}: a row is the sum of slopes times rows of {operand}, divided by the square root of the width. "
                "of_v is right, so the weights are."
            )
        return Slip(name, told, cause, got)
    return None


def short_type(result):
    return f"a {type(result).__name__}"


BACK = FunctionTask(
    id="11-back",
    section=Section("11.7", "11_backward", "Who adds what"),
    title="The way back through a cap",
    objective="Derive the gradients of a tile of keys for scores with a soft cap, from two numbers that each query has "
    "kept",
    points=3,
    minutes=24,
    judge=judge_back,
    cases=(
        back_case("5 queries, all of 7 keys", 5, 7),
        back_case("4 queries, 3 keys of 9", 4, 3, 6, width=8, values=2),
        back_case("one query, one key of 5", 1, 1, 4),
        back_case("as many queries as keys", 4, 4, 2, cap=0.5),
        back_case("capped at 1000", 3, 5, 4, factor=3000.0, cap=1000.0),
    ),
    advice={
        "raised-RuntimeWarning": "An exponential overflowed. exp(score - top) is never above 1, as top is the largest "
        "score of the query.",
        "raised-ValueError": "Do the shapes fit? The weights have a row for each query and a column for each key; "
        "top[:, None] is a column.",
    },
    hints=(
        "Which steps of the way forward can be done again with this tile alone? What of the other keys comes in by "
        "top, total and along? And which of the four steps back meets the cap?",
        "Everything up to the gradient of a capped score is as on the page. From there one more step leads to the "
        "score before the cap: the derivative of cap * tanh(x / cap). It can be said by the capped score alone.",
        "Seven steps: scores, capped ones, weights, of_v, what arrives at the capped scores, what arrives at the "
        "scores, of_q and of_k. top, total and along need a second axis to stand beside rows.",
    ),
)
