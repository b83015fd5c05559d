"""Tasks of chapter 10, Recurrent networks: cells, lengths, gradients, and the recurrences that need not wait."""

import itertools

import numpy as np

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.function import FunctionTask
from ..kinds.prediction import PredictionTask, Question

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit


def sigmoid(x):
    """1 / (1 + exp(-x)), for any x."""
    return 0.5 + 0.5 * np.tanh(0.5 * x)


# 10-steps ----------------------------------------------------------------------------------------------------

FEATURES, HIDDEN, STEPS, LAYERS = 256, 512, 1024, 3


def _weights():
    """w_ih and w_hh of an LSTM, of which only the shapes matter."""
    return np.empty((4 * HIDDEN, FEATURES), np.float32), np.empty((4 * HIDDEN, HIDDEN), np.float32)


def _products():
    return sum(w.size for w in _weights())


def _bytes():
    return sum(w.nbytes for w in _weights())


def _chain():
    """The longest chain of cells, each of which needs the one before: followed through all of them."""
    depth = np.zeros((LAYERS + 1, STEPS + 1), np.int64)
    for layer, t in np.ndindex(LAYERS, STEPS):
        depth[layer + 1, t + 1] = 1 + max(depth[layer, t + 1], depth[layer + 1, t])
    return int(depth.max())


def _rounds():
    """Rounds in which the stretch that a thread knows of doubles, from 1 to all steps."""
    known, rounds = 1, 0
    while known < STEPS:
        known, rounds = 2 * known, rounds + 1
    return rounds


STEPS_TASK = PredictionTask(
    id="10-steps",
    section=Section("10", "10_recurrent", "Count first"),
    title="What a step costs, and which steps wait",
    objective="Predict products and bytes of a step of an LSTM, and how many steps must come one after the other",
    points=1,
    minutes=4,
    questions=(
        Question(
            "products",
            "multiplications of one step, of one sequence, in its two matrix products",
            _products,
            {
                _products() // 4: "That is one gate. An LSTM has four.",
                3 * _products() // 4: "That is three gates, as a GRU has them. An LSTM has four.",
                4 * HIDDEN * HIDDEN: "That is the product with the state. The features of the input have one, too.",
                4 * HIDDEN * FEATURES: "That is the product with the input. The state has one, too.",
                HIDDEN * HIDDEN: "That is the state for one gate. There are four gates, and the input.",
                2 * _products(): "Multiplications alone are asked for: without the additions.",
                4 * FEATURES * (FEATURES + HIDDEN): "Each gate has a number for each unit: 512, not 256.",
                4 * HIDDEN * HIDDEN * FEATURES: "Input and state are two products whose results are added. They do not multiply each other.",
                STEPS * _products(): "That is all 1024 steps. One is asked for.",
            },
            "One number of one gate takes 256 products with the input and 512 with the state. How many such numbers are there in a step?",
        ),
        Question(
            "weights",
            "bytes of w_ih and w_hh, float32: what a step reads if no cache keeps them",
            _bytes,
            {
                _bytes() // 4: "That is the number of weights. A float32 has 4 bytes.",
                2 * _bytes(): "A float32 has 4 bytes, not 8.",
                _bytes() // 2: "A float32 has 4 bytes, not 2.",
                _bytes() + 2 * 4 * HIDDEN * 4: "That counts the two biases. Only w_ih and w_hh are asked for.",
                4 * HIDDEN * HIDDEN * 4: "That is w_hh alone.",
                4 * HIDDEN * FEATURES * 4: "That is w_ih alone.",
                STEPS * _bytes(): "That is all 1024 steps. One is asked for.",
            },
            "For one sequence each weight is used once in a step: as many weights as products, of 4 bytes each.",
        ),
        Question(
            "chain",
            "3 layers of 1024 steps, any number of processors: cells that come one after the other at least",
            _chain,
            {
                LAYERS * STEPS: "That is all cells, one after the other. Layer 1 can begin as soon as layer 0 has done its first step.",
                STEPS: "That is one layer. The last cell of the last layer waits for the one below it, too.",
                STEPS + LAYERS: "Nearly. Count the cells of a small chain: with 1 layer and 1 step there is one.",
                STEPS + LAYERS - 2: "Nearly: those are the arrows between the cells. The cells are asked for.",
                LAYERS: "The layers wait for each other. So do the steps of each layer.",
                10: "An LSTM squashes its state at each step: its steps cannot be put together in pairs, as in the next question.",
                12: "An LSTM squashes its state at each step: its steps cannot be put together in pairs, as in the next question.",
            },
            "Draw 2 layers of 3 steps. A cell waits for the step before in its layer, and for the same step in the layer below. Which way "
            "through the drawing is the longest?",
        ),
        Question(
            "rounds",
            "rounds of a scan over h[t] = a[t] * h[t-1] + b[t], one layer, a thread for each of 1024 steps",
            _rounds,
            {
                STEPS: "That is one step after the other. Here two stretches of steps can be joined before the state is known.",
                STEPS // 2: "That many pairs are joined in the first round. How many rounds are there?",
                _rounds() - 1: "After this many rounds a thread knows of 512 steps.",
                _rounds() + 1: "After one round less a thread knows of all 1024 steps: it knows of one before the first round.",
                2 * _rounds(): "That is up and down a tree, as Blelloch does it. The fewest rounds are asked for, with a thread for each step.",
                STEPS - 1: "That many times something is joined, one after the other. In a round many threads do so at once.",
                32: "In each round the stretch that a thread knows of doubles: that goes faster than a square root.",
            },
            "Before the first round a thread knows of one step, after it of two, after the second of four.",
        ),
    ),
    hints=(
        "How many rows has w_ih, how many w_hh, and how long are they? And which cells does cell (layer 1, step 5) need?",
        "Each weight is one product of a step. The longest chain goes along a layer and climbs up the layers, a cell at a time. In a "
        "scan the stretch that is known doubles with each round.",
        "Rows: 4 * 512. Their lengths: 256 and 512. For the chain count the cells of a 2 x 3 drawing first, then write down how it "
        "depends on layers and steps. For the rounds ask how often 1 has to be doubled.",
    ),
)  # fmt: skip

# 10-cell -----------------------------------------------------------------------------------------------------


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
    wrong = [(gate, one) for gate, one, right in zip("ifog", letters, "ssst", strict=True) if one != right]
    gates, (_, first) = " and ".join(gate for gate, _ in wrong), wrong[0]
    if len({one for _, one in wrong}) > 1:
        return f"{gates}: they went through other functions. i, f and o go through a sigmoid, g through tanh."
    meant = (
        "g goes through tanh: it can be negative." if gates == "g" else "i, f and o are gates, from 0 to 1: a sigmoid."
    )
    meant = "i, f and o go through a sigmoid, g through tanh." if "g" in gates and gates != "g" else meant
    return f"{gates} went through {SQUASHES[first][1]}. {meant}"


_ORDER = "The gates stand in PyTorch's order: rows 0 to hidden - 1 are i, then come f, g and o. "
CELLS = (
    *(
        ({"order": order}, f"{_ORDER}Here they were taken in the order {', '.join(order)}.")
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
        if letters != "ssst"
    ),
    (
        {"result": lambda o, new, old: o * new},
        "h is o times c. The new c is squashed first: h is o times tanh of it.",
    ),
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
    ({"cell": lambda i, f, g, c: np.tanh(f * c + i * g)}, "tanh was taken of c itself. Only h gets tanh(c): the cell keeps c."),
)  # fmt: skip


def _arrays(result, shapes):
    """What was returned, as float64 arrays of these shapes; None for anything else."""
    if type(result) not in (tuple, list) or len(result) != len(shapes):
        return None
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in result):
        return None
    return [part.astype(np.float64) for part in result] if [part.shape for part in result] == list(shapes) else None


def _kind_of(result):
    """What came, in words."""
    parts = result if type(result) in (tuple, list) else (result,)
    return ", ".join(f"shape {p.shape}" if isinstance(p, np.ndarray) else f"a {type(p).__name__}" for p in parts)


def _same(one, other):
    return np.allclose(one, other, rtol=1e-9, atol=1e-12)


def judge_cell(arguments, result):
    """A Slip, or None for the exact result."""
    right = lstm_cell(*arguments)
    shape = right[0].shape
    said = _arrays(result, (shape, shape))
    if said is None:
        cause = "Two arrays are returned, in this order: the new h and the new c, each with a row for each sequence and a column for each unit."
        return Slip("type", f"two arrays of shape {shape}, float64", cause, _kind_of(result))
    wrong = [not _same(*pair) for pair in zip(said, right, strict=True)]
    if not any(wrong):
        return None
    name, place = ("h", 0) if wrong[0] and not wrong[1] else ("c", 1)
    row, unit = np.unravel_index(np.argmax(~np.isclose(said[place], right[place], rtol=1e-9, atol=1e-12)), shape)
    expected, got = (f"{name}[{row}, {unit}] = {parts[place][row, unit]:.6g}" for parts in (right, said))
    if _same(said[0], right[1]) and _same(said[1], right[0]):
        return Slip("exchanged", expected, "h and c are exchanged: h is returned first.", got)
    if _same(said[0], right[0]) and _same(said[1], arguments[2]):
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
    cause = "c is off. Work one unit out: its four numbers stand in columns k, hidden + k, 2 * hidden + k and 3 * hidden + k of the sum."
    return Slip("c", expected, cause, got)


_OVERFLOW = (
    "exp overflows above 709. exp(x) / (1 + exp(x)) is then infinity by infinity, which is no number. 1 / (1 + exp(-x)) overflows on the other "
    "side, where NumPy's exp gives infinity and 1 / infinity is 0, as it should be; math.exp stops there. How is a sigmoid made of tanh, which never "
    "overflows?"
)

CELL = FunctionTask(
    id="10-cell",
    section=Section("10", "10_recurrent", "LSTM and GRU"),
    title="A step of an LSTM",
    objective="Write a step of an LSTM with PyTorch's order of gates, and a sigmoid that holds for large numbers",
    points=2,
    minutes=8,
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
            "Two shapes do not fit. x has (batch, features), w_ih has (4 * hidden, features): x @ w_ih.T has (batch, 4 * hidden). Each "
            "gate is `hidden` columns of it: cut along axis 1."
        ),
        "raised-TypeError": "math.exp and math.tanh take one number. np.exp and np.tanh take an array.",
    },
    hints=(
        "The sum of the two products and the two biases has 4 * hidden columns. Which of them belong to unit 0? And of which x is the exponential too "
        "large for a float64?",
        "One sum for all four gates, then cut it along its columns, for instance with np.split. For the sigmoid think of tanh: it runs from -1 to 1 "
        "as a sigmoid does from 0 to 1, twice as steeply.",
        "Draw both curves: how much must tanh be shrunk and lifted, and its argument be stretched, to become a sigmoid? Then c first, and h "
        "from the new c.",
    ),
)

# 10-lengths --------------------------------------------------------------------------------------------------


def lengths_arguments(steps, lengths, hidden, rest=1.0):
    """make(rng) -> x (steps, batch, hidden), u (hidden, hidden), lengths (batch,), out (steps, batch, hidden).
    `rest`: what the padding is multiplied by."""

    def make(rng):
        count = np.array(lengths, np.int64)
        x = random_values(rng, steps, len(lengths), hidden)
        x[np.arange(steps)[:, None] >= count] *= np.float32(rest)
        u = 1.5 * random_values(rng, hidden, hidden) / np.float32(hidden) ** 0.5
        return x, u, count, unwritten(steps, len(lengths), hidden)

    return make


def lengths_case(name, steps, lengths, hidden, rest=1.0):
    said = f"{name}: {steps} steps, lengths {' '.join(map(str, lengths))}, {hidden} units"
    return Case(said, lengths_arguments(steps, lengths, hidden, rest))


def read_back(x, u, lengths, forward=False, squash=np.tanh, keep=1, zeros=True, more=0, carry=False):
    """The states of each row, read from its own end to its begin; the options are mistakes. `more`: of each length."""
    x, u = x.astype(np.float64), u.astype(np.float64)
    out, h = np.zeros_like(x), np.zeros(x.shape[2])
    with np.errstate(all="ignore"):
        for r, length in enumerate(lengths):
            h = h if carry else np.zeros(x.shape[2])
            steps = range(max(0, min(length + more, len(x))))
            for t in steps if forward else reversed(steps):
                h = squash(x[t, r] + keep * (u @ h))
                out[t, r] = h
            if zeros:
                out[length:, r] = 0
    return out


def _read(change=lambda x, u, lengths: (x, u, lengths), **mistake):
    return lambda x, u, lengths, out: read_back(*change(x, u, lengths), **mistake)


def _to_the_end(x, u, lengths):
    """All rows as long as the padded batch."""
    return x, u, np.full_like(lengths, len(x))


def _padding_zero(x, u, lengths, out):
    """Read from the common end, and zeros put behind each length afterwards."""
    found = read_back(*_to_the_end(x, u, lengths))
    found[np.arange(len(x))[:, None] >= lengths] = 0
    return found


def _times_zero(x, u, lengths, out):
    """Read from the common end, each state multiplied by 0 in the padding: right as long as that holds numbers."""
    mask = (np.arange(len(x))[:, None] < lengths)[..., None]
    if np.isfinite(x).all():
        return NOTHING
    found, h = np.zeros(x.shape), np.zeros(x.shape[1:])
    for t in reversed(range(len(x))):
        found[t] = h = np.tanh(x[t] + h @ u.T) * mask[t]
    return found


LENGTHS = CompiledTask(
    id="10-lengths",
    section=Section("10", "10_recurrent", "Sequences of different lengths"),
    title="Read backwards, each row from its own end",
    objective="Write the backward direction of a padded batch, in which each row begins at its own end",
    points=2,
    minutes=10,
    spec=lambda x, u, lengths, out: read_back(x, u, lengths),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        lengths_case("three rows", 6, (4, 6, 5), 3),
        lengths_case("one row, shorter than the batch", 5, (3,), 4),
        lengths_case("a row without a step", 4, (2, 0, 4), 2),
        lengths_case("NaN in the padding", 7, (1, 7, 3, 5), 5, np.nan),
        lengths_case("all full", 4, (4, 4), 1),
    ),
    suspects=(
        Suspect(
            _read(forward=True),
            "Each row was read from its begin to its end. Here the last step of a row comes first, with a state of 0, and step t takes the state of step t + 1.",
        ),
        Suspect(
            _times_zero,
            "The states of the padding were multiplied by 0, and 0 * NaN is NaN: the padding may hold anything. Do not compute there, or choose with `if`.",
        ),
        Suspect(
            lambda x, u, lengths, out: read_back(*_to_the_end(x, u, lengths)),
            "All rows were read from the end of the batch, and the padding counted as if it were steps. Row r begins at step lengths[r] - 1, and "
            "what comes after it is 0.",
        ),
        Suspect(
            _padding_zero,
            "The padding got its zeros, but the state went through it before: it comes to the last step of a row full of what the padding left. "
            "Row r begins at step lengths[r] - 1, with a state of 0.",
        ),
        Suspect(
            _read(more=-1),
            "The last step of each row is missing: a row of length 4 has steps 0 to 3. Where does your loop begin, and where do the zeros?",
        ),
        Suspect(
            _read(more=1, zeros=False),
            "One step too many: a row of length 4 has steps 0 to 3. Where does your loop begin?",
        ),
        Suspect(
            _read(more=1), "One step too many was read before the row begins: a row of length 4 has steps 0 to 3."
        ),
        Suspect(
            _read(lambda x, u, lengths: (x, u.T, lengths)),
            "The matrix is transposed: unit j gets the sum of u[j, k] * h[k] over k.",
        ),
        *(
            Suspect(
                _read(lambda x, u, lengths, of=of: (x, np.diag(of(u)), lengths)),
                "Each unit got one number of the state alone, its own. Unit j gets u[j, k] times the state of unit k, for every k.",
            )
            for of in (np.diag, lambda u: u.sum(axis=1))
        ),
        Suspect(_read(keep=0), "The state before has no part in it: tanh(x) alone. Which step was computed just before step t?"),
        Suspect(_read(squash=lambda x: x), "tanh is missing."),
        Suspect(_read(carry=True), "A row went on with the state that the row before it had left. Each row begins with 0."),
        Suspect(
            _read(lambda x, u, lengths: (x, u, np.full_like(lengths, lengths[0]))),
            "All rows got the length of row 0: each row has its own, lengths[r].",
        ),
        Suspect(
            _read(lambda x, u, lengths: (np.ones_like(x) * x[:, :1], u, lengths)),
            "All rows were computed from row 0 of x: x[t, r] has the row in the middle.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. At the last step of a row there is no step t + 1 to take the state from: it begins with 0. x and out have "
            "three axes: step, row, unit."
        ),
        "not-finite": (
            "NaN got in: the padding may hold anything, and out holds NaN before. Is a step behind the end of a row read, from x or from out? At a row's last "
            "step the state before it is 0: out[t + 1, r] is not that state."
        ),
        "some-unwritten": "Some numbers were never stored. Behind the end of each row out gets zeros, also in a row of length 0. Else: does your loop over the steps go "
            "backwards, and down to step 0?",
        "nothing-written": (
            "Nothing was stored, or NaN was stored again: out holds NaN before. Does a sum begin with what stands in out?"
        ),
        "wrong-value": (
            "Work out the first row from its end. Its last step is tanh(x) alone, as the state is 0. The step before gets u times all numbers of that state: "
            "are they all still the old ones when you use them?"
        ),
        "adds-to-old": (
            "A number of out that was there before got in, which is NaN in the check. At the last step of a row the state is 0: what stands in out[t + 1, r] "
            "there is not that state."
        ),
        "raised-TypingError": "numba has no np.tanh(...) of what it does not know. Write loops over steps, rows and units, and math.tanh of one number.",
        "raised-ImportError": "Write the sum yourself: `@` and np.dot inside a numba function call a library, which is not there.",
    },
    budget=Budget(
        points=1,
        text="no array made inside",
        require={"arrays": 0, "numpy_bytes": 4096},
        over=(
            "The result is right, but an array is made on the way, for the state or for zeros. The state of step t + 1 stands somewhere already: where did "
            "you store it?"
        ),
        case=lengths_case("longer", 40, (40, 23, 9), 8),
    ),
    hints=(
        "A row of length 3 in a batch of 5 steps: which step comes first, which last, and what shall out hold at steps 3 and 4?",
        "A loop over rows; in it zeros from the row's length on, then a loop over its steps, the last one first. The state that step t needs was stored one "
        "step later: no other array has to hold it.",
        "range(lengths[r] - 1, -1, -1) goes backwards through a row. At its first round the sum over the state is left out, and x alone goes through tanh; "
        "later the sum takes u[j, k] times what was stored for unit k.",
    ),
)  # fmt: skip

TASKS = (STEPS_TASK, CELL, LENGTHS)
