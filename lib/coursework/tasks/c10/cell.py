"""10-cell: A step of an LSTM."""

import itertools

import numpy as np

from ...definition import Case, Section, Slip, random_values
from ...kinds.function import FunctionTask
from .shared import all_close, float64_arrays, sigmoid, types_of


def cell_arguments(batch, features, hidden, scale=1.0):
    """make(rng) -> x (batch, features), h and c (batch, hidden), w_ih, w_hh, b_ih, b_hh; float64. `scale`: of x."""

    def make(rng):
        shapes = (batch, features), (batch, hidden), (batch, hidden), (4 * hidden, features), (4 * hidden, hidden)
        x, *rest = (random_values(rng, *shape, dtype=np.float64) for shape in (*shapes, (4 * hidden,), (4 * hidden,)))
        return scale * x, *rest

    return make


SQUASHES = {
    "s": (sigmoid, "a sigmoid"),
    "t": (np.tanh, "tanh"),
    "n": (lambda x: x, "nothing"),
    "r": (lambda x: sigmoid(-x), "1 / (1 + exp(x)), which falls: the exponent of a sigmoid is -x"),
}


def lstm_cell(
    x,
    h,
    c,
    w_ih,
    w_hh,
    b_ih,
    b_hh,
    order="ifgo",
    gates=None,
    neighbours=False,
    squash="ssst",
    cell=lambda i, f, g, c: f * c + i * g,
    result=lambda o, new, old: o * np.tanh(new),
):
    """(new h, new c); the options are mistakes. `squash`: what i, f, o and g get, each a letter of SQUASHES."""
    with np.errstate(all="ignore"):
        z = x @ w_ih.T + h @ w_hh.T + b_ih + b_hh if gates is None else gates(x, h, w_ih, w_hh, b_ih, b_hh)
        hidden = h.shape[1]
        parts = [z[:, k::4] if neighbours else z[:, k * hidden : (k + 1) * hidden] for k in range(4)]
        i, f, g, o = (parts[order.index(name)] for name in "ifgo")
        i, f, o, g = (SQUASHES[how][0](part) for how, part in zip(squash, (i, f, o, g), strict=True))
        new = cell(i, f, g, c)
        return result(o, new, c), new


def _squashed(letters):
    """What was wrong with what the gates went through, in words."""
    wrong = [(gate, letter) for gate, letter, right in zip("ifog", letters, "ssst", strict=True) if letter != right]
    gates, (_, first_letter) = " and ".join(gate for gate, _ in wrong), wrong[0]
    if len({letter for _, letter in wrong}) > 1:
        return f"{gates}: they went through other functions. i, f and o go through a sigmoid, g through tanh."
    meant = (
        "g goes through tanh: it can be negative." if gates == "g" else "i, f and o are gates, from 0 to 1: a sigmoid."
    )
    meant = "i, f and o go through a sigmoid, g through tanh." if "g" in gates and gates != "g" else meant
    return f"{gates} went through {SQUASHES[first_letter][1]}. {meant}"


_ORDER = "The gates stand in PyTorch's order: rows 0 to hidden - 1 are i, then come f, g and o. "
CELLS = (
    *(
        (
            {"order": order},
            f"{_ORDER}Here they were taken in the order {', '.join(order)}"
            f"{', or i went through tanh and g through a sigmoid' if order == 'gfio' else ''}.",
        )
        for order in map("".join, itertools.permutations("ifgo"))
        if order != "ifgo"
    ),
    (
        {"neighbours": True},
        f"{_ORDER}Here neighbours were taken for the four gates of a unit. Gate i is a block of `hidden` columns.",
    ),
    (
        {"gates": lambda x, h, w, u, b, d: x @ w.T + h @ u.T + b},
        "b_hh is missing: there are two biases, and both are added.",
    ),
    (
        {"gates": lambda x, h, w, u, b, d: x @ w.T + h @ u.T + d},
        "b_ih is missing: there are two biases, and both are added.",
    ),
    ({"gates": lambda x, h, w, u, b, d: x @ w.T + h @ u.T}, "Both biases are missing."),
    ({"gates": lambda x, h, w, u, b, d: x @ w.T + b + d}, "The product with the state h is missing."),
    ({"gates": lambda x, h, w, u, b, d: h @ u.T + b + d}, "The product with the input x is missing."),
    (
        {"gates": lambda x, h, w, u, b, d: (x @ w.T + b) * (h @ u.T + d)},
        "What comes from the input and what comes from the state are added, not multiplied.",
    ),
    *(
        ({"squash": letters}, _squashed(letters))
        for letters in map("".join, itertools.product("stnr", "stnr", "stnr", "tsnr"))
        if letters not in ("ssst", "tsss")  # the latter is the order g, f, i, o
    ),
    ({"result": lambda o, new, old: o * new}, "h is o times c. The new c is squashed first: h is o times tanh of it."),
    (
        {"result": lambda o, new, old: o * np.tanh(old)},
        "h was computed from the old c. The new c comes first, and h is made of that.",
    ),
    ({"result": lambda o, new, old: np.tanh(new)}, "h lacks the output gate: o times tanh(c)."),
    ({"result": lambda o, new, old: o * sigmoid(new)}, "c went through a sigmoid for h. It goes through tanh."),
    ({"cell": lambda i, f, g, c: i * g}, "The new c has lost the old one: f times the old c is missing."),
    ({"cell": lambda i, f, g, c: c + i * g}, "The forget gate is missing: the old c is multiplied by f."),
    ({"cell": lambda i, f, g, c: f * c + g}, "The input gate is missing: g is multiplied by i."),
    ({"cell": lambda i, f, g, c: f * c}, "Nothing new gets into c: i times g is missing."),
    (
        {"cell": lambda i, f, g, c: f * c + (1 - f) * g},
        "c mixes by f and 1 - f. In an LSTM the input gate i says by itself how much of g comes in.",
    ),
    (
        {"cell": lambda i, f, g, c: np.tanh(f * c + i * g)},
        "tanh was taken of c itself. Only h gets tanh(c): the cell keeps c.",
    ),
)


def judge_cell(arguments, result):
    """A Slip, or None for the exact result."""
    right = lstm_cell(*arguments)
    shape = right[0].shape
    said = float64_arrays(result, (shape, shape))
    if said is None:
        cause = (
            "Two arrays are returned, in this order: the new h and the new c, each with a row for each sequence and a "
            "column for each unit."
        )
        return Slip("type", f"two arrays of shape {shape}, float64", cause, types_of(result))
    wrong = [not all_close(*pair) for pair in zip(said, right, strict=True)]
    if not any(wrong):
        return None
    name, index = ("h", 0) if wrong[0] and not wrong[1] else ("c", 1)
    row, unit = np.unravel_index(np.argmax(~np.isclose(said[index], right[index], rtol=1e-9, atol=1e-12)), shape)
    expected, got = (f"{name}[{row}, {unit}] = {parts[index][row, unit]:.6g}" for parts in (right, said))
    if all_close(said[0], right[1]) and all_close(said[1], right[0]):
        return Slip("exchanged", expected, "h and c are exchanged: h is returned first.", got)
    if all_close(said[0], right[0]) and all_close(said[1], arguments[2]):
        return Slip("old-c", expected, "The old c was returned. The new one is asked for: the next step needs it.", got)
    for mistake, cause in CELLS:
        guess = lstm_cell(*arguments, **mistake)
        if all(np.allclose(*pair, rtol=1e-9, atol=1e-12, equal_nan=True) for pair in zip(said, guess, strict=True)):
            return Slip("gates", expected, cause, got)
    if not all(np.isfinite(part).all() for part in said):
        return Slip("not-finite", expected, _OVERFLOW, got)
    if all(np.allclose(*pair, rtol=1e-5, atol=1e-5) for pair in zip(said, right, strict=True)):
        cause = "Nearly right, but not to the last digits. Is something float32 on the way, or is a small number added?"
        return Slip("nearly", expected, cause, got)
    if name == "h":
        return Slip("h", expected, "c is right, h is not: h is o times tanh of the new c. Which columns are o?", got)
    cause = (
        "c is off. Are both products and both biases in the sum, and does g alone go through tanh? Work one unit out: "
        "its four numbers stand in columns k, hidden + k, 2 * hidden + k and 3 * hidden + k of the sum."
    )
    return Slip("c", expected, cause, got)


_OVERFLOW = (
    "exp overflows above 709. exp(x) / (1 + exp(x)) is then infinity by infinity, which is no number. 1 / (1 + "
    "exp(-x)) overflows on the other side, where NumPy's exp gives infinity and 1 / infinity is 0, as it should be; "
    "math.exp stops there. How is a sigmoid made of tanh, which never overflows?"
)

CELL = FunctionTask(
    id="10-cell",
    section=Section("10", "10_recurrent", "LSTM and GRU"),
    title="A step of an LSTM",
    objective="Write a step of an LSTM with PyTorch's order of gates, and a sigmoid that holds for large numbers",
    points=2,
    minutes=12,
    judge=judge_cell,
    cases=(
        Case("3 sequences, 4 features, 5 units", cell_arguments(3, 4, 5)),
        Case("one sequence, one feature, one unit", cell_arguments(1, 1, 1)),
        Case("as many features as units", cell_arguments(4, 3, 3)),
        Case("large numbers, around 2000", cell_arguments(5, 4, 6, 2000.0)),
    ),
    advice={
        "raised-RuntimeWarning": _OVERFLOW,
        "raised-FloatingPointError": _OVERFLOW,
        "raised-OverflowError": _OVERFLOW,
        "raised-ValueError": (
            "Two shapes do not fit. x has (batch, features), w_ih has (4 * hidden, features): x @ w_ih.T has (batch, 4 "
            "* hidden). Each gate is `hidden` columns of it: cut along axis 1."
        ),
        "raised-TypeError": "math.exp and math.tanh take one number. np.exp and np.tanh take an array.",
    },
    hints=(
        "The sum of the two products and the two biases has 4 * hidden columns. Which of them belong to unit 0? And of "
        "which x is the exponential too large for a float64?",
        "One sum for all four gates, then cut it along its columns, for instance with np.split. For the sigmoid think "
        "of tanh: it runs from -1 to 1 as a sigmoid does from 0 to 1, twice as steeply.",
        "Draw both curves: how much must tanh be shrunk and lifted, and its argument be stretched, to become a "
        "sigmoid? Then c first, and h from the new c.",
    ),
)
