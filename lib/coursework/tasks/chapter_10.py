"""Tasks of chapter 10, Recurrent networks: cells, lengths, gradients, and the recurrences that need not wait."""

import itertools
import math
import operator

import numpy as np

from ..checking import arguments_of, attempt, headline, names_of, short
from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Numbers, Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question
from ..outcome import Failed, Failure

TOLD_FIRST = ("race", "divergent-barrier", "barrier-after-exit", "uninitialised-shared", "uninitialised-local")
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
        ({"order": order}, f"{_ORDER}Here they were taken in the order {', '.join(order)}"
            f"{', or i went through tanh and g through a sigmoid' if order == 'gfio' else ''}.")
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
    return ", ".join(
        f"{p.dtype} of shape {p.shape}" if isinstance(p, np.ndarray) else f"a {type(p).__name__}" for p in parts
    )


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
    cause = (
        "c is off. Are both products and both biases in the sum, and does g alone go through tanh? Work one unit out: its four numbers stand in columns k, hidden + k, "
        "2 * hidden + k and 3 * hidden + k of the sum."
    )
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
        "A range can go backwards: where does it begin, at the row's length or one before, and what stands for its "
        "end? At its first round the sum over the state is left out, and x alone goes through tanh; later the sum "
        "takes u[j, k] times what was stored for unit k.",
    ),
)  # fmt: skip


# 10-fused ----------------------------------------------------------------------------------------------------

CELL_BLOCK = 32


def gru_case(name, batch, hidden, scale=1.0):
    """of_x and of_h (batch, 3 * hidden), h and out (batch, hidden)."""

    def make(rng):
        sums = (np.float32(scale) * random_values(rng, batch, 3 * hidden) for _ in range(2))
        return *sums, random_values(rng, batch, hidden), unwritten(batch, hidden)

    blocks = -(-batch * hidden // CELL_BLOCK)
    said = f"{name}: {batch} x {hidden}, {blocks} block{'s' if blocks > 1 else ''}"
    return Case(said, make, grid=blocks, block=CELL_BLOCK)


def gru_cell(
    of_x,
    of_h,
    h,
    order="rzn",
    neighbours=False,
    fresh=lambda x, y, r: np.tanh(x + r * y),
    mix=lambda z, n, h: (1 - z) * n + z * h,
    gate=lambda x, y: sigmoid(x + y),
):
    """The new h; the options are mistakes."""
    of_x, of_h, h = (one.astype(np.float64) for one in (of_x, of_h, h))
    hidden = h.shape[1]

    def part(sums, name):
        k = order.index(name)
        return sums[:, k::3] if neighbours else sums[:, k * hidden : (k + 1) * hidden]

    r, z = (gate(part(of_x, name), part(of_h, name)) for name in "rz")
    return mix(z, fresh(part(of_x, "n"), part(of_h, "n"), r), h)


def _gru(**mistake):
    return lambda of_x, of_h, h, out: gru_cell(of_x, of_h, h, **mistake)


_CELL_WARPS = 8 * 32 // CELL_BLOCK
FUSED = KernelTask(
    id="10-fused",
    section=Section("10.4", "10_recurrent_gpu", "Rung 2: a fused cell"),
    title="All of a GRU's gates in one kernel",
    objective="Write the pointwise part of a GRU as one kernel that reads each number once, with coalesced accesses",
    points=2,
    minutes=10,
    spec=lambda of_x, of_h, h, out: gru_cell(of_x, of_h, h),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        gru_case("one block", 4, 8),
        gru_case("ragged", 3, 13),
        gru_case("one unit", 37, 1),
        gru_case("exact, large numbers", 4, 16, 60.0),
    ),
    suspects=(
        *(
            Suspect(
                _gru(order=order),
                f"The gates stand in PyTorch's order: r, z, n. Here they were taken in the order {', '.join(order)}.",
            )
            for order in map("".join, itertools.permutations("rzn"))
            if order != "rzn"
        ),
        Suspect(
            _gru(neighbours=True),
            "Neighbours were taken for the three gates of a unit. Unit j has columns j, hidden + j and 2 * hidden + j.",
        ),
        Suspect(
            _gru(mix=lambda z, n, h: (1 - z) * h + z * n),
            "z is turned round: in PyTorch's GRU z says how much of the old h stays.",
        ),
        Suspect(
            _gru(fresh=lambda x, y, r: np.tanh(r * (x + y))),
            "r was multiplied with both parts of n. It lets the state's part in, more or less; the input's part always counts.",
        ),
        Suspect(
            _gru(fresh=lambda x, y, r: np.tanh(r * x + y)),
            "r was multiplied with the input's part of n. It belongs to the part of the state, of_h.",
        ),
        Suspect(_gru(fresh=lambda x, y, r: np.tanh(x + y)), "r is missing: it is multiplied with of_h's part of n."),
        Suspect(_gru(fresh=lambda x, y, r: np.tanh(x)), "n lacks the part of the state: r times of_h's columns of n."),
        Suspect(_gru(fresh=lambda x, y, r: sigmoid(x + r * y)), "n went through a sigmoid. It goes through tanh."),
        Suspect(_gru(fresh=lambda x, y, r: x + r * y), "n was not squashed: it goes through tanh."),
        Suspect(_gru(gate=lambda x, y: np.tanh(x + y)), "r and z went through tanh. They are gates: a sigmoid."),
        Suspect(_gru(gate=lambda x, y: sigmoid(-x - y)), "The sigmoid is turned round: the exponent is -x."),
        Suspect(_gru(gate=lambda x, y: sigmoid(x)), "r and z lack the part of the state, of_h."),
        Suspect(_gru(gate=lambda x, y: sigmoid(y)), "r and z lack the part of the input, of_x."),
        Suspect(_gru(mix=lambda z, n, h: n + z * h), "n counts in full. What stays of h, z, is taken from n: 1 - z."),
        Suspect(_gru(mix=lambda z, n, h: (1 - z) * n), "The old h is missing: z times h."),
        Suspect(
            lambda of_x, of_h, h, out: (
                gru_cell(of_x.T.reshape(of_x.shape), of_h.T.reshape(of_h.shape), h) if len(h) > 1 else NOTHING
            ),
            "Rows and columns are exchanged: the first index is the row of the batch.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The last block may have threads beyond the last unit: guard them. Row and unit are i // hidden and i % hidden, where hidden is the width of h; of_x "
            "and of_h are three times as wide."
        ),
        "none-beyond": (
            "Each thread has a unit here. Row and unit are i // hidden and i % hidden, where hidden is the width of h and not that of of_x, which is "
            "three times as wide."
        ),
        "wrong-value": (
            "Work out the first wrong number: which row and unit is it? Its six sums stand in columns j, hidden + j and 2 * hidden + j of of_x and of_h."
        ),
        "one-block": "Only block 0 worked. The number of a thread in the grid is cuda.grid(1).",
    },
    budget=Budget(
        points=1,
        text="each number loaded once, by accesses that are coalesced: 7 load requests and 28 sectors of loads for a warp, 1 store request and 4 sectors",
        require={
            "global_load_requests": 7 * _CELL_WARPS,
            "global_load_sectors": 28 * _CELL_WARPS,
            "global_store_requests": _CELL_WARPS,
            "global_store_sectors": 4 * _CELL_WARPS,
        },
        over="The result is right, but something is loaded or stored more than once. Six sums and the old h: load each into a name, and use the name.",
        causes=(
            (
                lambda rows: {o.name for o in rows} <= {"global_load_sectors", "global_store_sectors"},
                "The result is right, but the lanes of a warp lie far apart in memory. Neighbouring threads should have neighbouring units of one row: which of "
                "// and % gives the unit?",
            ),
        ),
        case=gru_case("exact", 8, 32),
    ),
    hints=(
        "A row of of_x has three numbers for each unit. Where do those of unit 5 stand if there are 16 units? And which of the six sums does r change?",
        "Number of the thread, a guard for the size of out, then row and unit by // and %. Two gates with a sigmoid, one value with tanh, "
        "and a mixture of it and the old h.",
        "hidden is h.shape[1]. Columns j and hidden + j make r and z, from of_x and of_h added. For n only of_h's number is multiplied, by r, before it is "
        "added. Then z of the old and 1 - z of the new.",
    ),
)

# 10-linear ---------------------------------------------------------------------------------------------------
# The statement shows the five steps; a test compares.


def A(h, x):
    return np.tanh(0.9 * h + x)


def B(h, x):
    z = 1 / (1 + np.exp(-x))
    return h + z * (np.tanh(x) - h)


def C(h, x):
    return np.maximum(h + x, 0)


def D(h, x):
    return 1 / (x + h)


def E(h, x):
    z = 1 / (1 + np.exp(-x - h))
    return h + z * (np.tanh(x) - h)


def step_case(name, low, high):
    """make(rng) -> h (11 states, rising), x: a number from low to high."""

    def make(rng):
        return np.sort(rng.uniform(0.1, 4, 11)), float(rng.uniform(low, high))

    return Case(name, make)


def judge_step(arguments, result):
    """A Slip that names what form the step has, None for h' = a h + b."""
    h, _ = arguments
    scale = np.abs(result).max()
    line = np.polyval(np.polyfit(h, result, 1), h)
    if np.allclose(line, result, rtol=0, atol=1e-9 * scale):
        return None
    least, shift = result.min(), result[-1] - h[-1]
    if np.allclose(result, np.maximum(h + shift, least), rtol=0, atol=1e-9 * scale):
        return Slip("max", "some states move by the same amount, and the others end in the same place", "")
    rows = np.stack((h, np.ones_like(h), -h * result, -result), axis=1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if np.linalg.svd(rows, compute_uv=False)[-1] < 1e-10:
        return Slip("fraction", "the results lie on a hyperbola, a fraction of two lines", "")
    return Slip("waits", "the results lie on no line and on no hyperbola, and do not end in a common place", "")


class StepTask(FunctionTask):
    """Steps h' = f(h, x) of recurrences, told apart by what they make of many states."""

    def shows(self):
        return (*self.failures(), "max", "fraction", "waits")

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            h, x = arguments_of(case, seed, index)
            result, _ = attempt(self, case, lambda h=h, x=x: answer.call((h, x)))
            slip = self.judge((h, x), result)
            if slip:
                pairs = ", ".join(f"{h[k]:.2f} becomes {result[k]:.3f}" for k in (0, 3, 7, 10))
                facts = ("it said", f"{slip.expected}: {pairs}"), ("at", f"h = {pairs}, with x = {x:.2f}")
                raise Failed(Failure(slip.kind, f"{headline(case)} not a line", facts))
        return (names_of(self, cases),), ""


LINEAR = DetectiveTask(
    id="10-linear",
    section=Section("10.3", "10_scan", "Is this recurrence linear?"),
    title="Which of these recurrences need not wait?",
    objective="Judge which steps can be joined before the state is known, and what has to be kept of a stretch of steps",
    points=3,
    minutes=12,
    judge=StepTask(
        id="10-step",
        title="A step",
        objective="Write it",
        points=1,
        minutes=1,
        judge=judge_step,
        cases=(step_case("x above 0", 0.5, 1.5), step_case("x below 0", -2.5, -1)),
        hints=("", "", ""),
    ),
    programs={"A": A, "B": B, "C": C, "D": D, "E": E},
    run="trial",
    nothing="From eleven states come results that lie on a line, whatever x is.",
    faults=(
        Fault(
            "pair",
            "one step is `a * h + b`, where `a` and `b` come from `x` alone: so is a stretch of steps, and two numbers are kept of it",
        ),
        Fault(
            "max",
            "one step is `max(h + a, b)`, where `a` and `b` come from `x` alone: so is a stretch, and two numbers are kept of it",
            ("max",),
        ),
        Fault(
            "fraction",
            "one step is `(a * h + b) / (c * h + d)`, where all four come from `x` alone: so is a stretch, and four numbers are kept of it",
            ("fraction",),
        ),
        Fault("waits", "none of these: a step of it needs the number `h` itself", ("waits",)),
    ),
    advice={
        "verdict": (
            "Are the results at equal distances where the states are? Do they stop somewhere? Write two steps one after the other as one formula: has it the "
            "form of one step, with other numbers?"
        )
    },
    hints=(
        "Hold x fixed and draw the new h over the old one. Which of the five drawings is a straight line?",
        "h may be hidden: multiply the brackets out, and collect what stands with h. A gate made of x alone is a number like any other; a gate that looks at h is "
        "not. For the others ask what two steps come to.",
        "max(max(h + a, b) + c, d) is max(h + a + c, b + c, d): what does it look like? And put one fraction into another: above and below the line "
        "there is again a number of h's and a rest.",
    ),
)

# 10-fails ----------------------------------------------------------------------------------------------------
# The statement shows `first` to `third`; a test compares.


def first(a, b):
    products = np.cumprod(a)
    return products * np.cumsum(b / products)


def second(b):
    half = len(b) // 2
    h = 0.0
    for number in b[:half]:
        h = max(h + number, 0)
    return max(h + b[half:].sum(), 0)


def third(a, b):
    for k in range(int(math.log2(len(b)))):
        d = 2**k
        b = np.append(b[:d], a[d:] * b[:-d] + b[d:])
        a = np.append(a[:d], a[d:] * a[:-d])
    return b


def _right_states(a, b):
    h, states = np.float32(0), np.empty_like(b)
    for t in range(len(b)):
        states[t] = h = a[t] * h + b[t]
    return states


def _right_end(b):
    h = 0.0
    for number in b:
        h = max(h + number, 0)
    return h


def _judge_recurrence(arguments, result):
    a, b = (one.astype(np.float64) for one in arguments)
    right = np.empty_like(b)
    h = 0.0
    for t in range(len(b)):
        right[t] = h = a[t] * h + b[t]
    bad = ~np.isclose(np.asarray(result, np.float64), right, rtol=1e-3, atol=1e-4)
    if not bad.any():
        return None
    t = int(np.argmax(bad))
    return Slip("state", f"state {t} = {right[t]:.5g}", "", f"{result[t]:.5g}")


def _judge_end(arguments, result):
    right = _right_end(arguments[0].astype(np.float64))
    return None if abs(result - right) <= 1e-3 else Slip("end", f"{right:g}", "", f"{result:g}")


def _judges(name, judge):
    return FunctionTask(
        id=f"10-{name}",
        title="A recurrence",
        objective="Write it",
        points=1,
        minutes=1,
        judge=judge,
        cases=(),
        hints=("", "", ""),
    )


def _near_one(rng, n):
    """So that a state can tell whether a step long before it is there."""
    return rng.uniform(0.97, 1, n).astype(np.float32)


def _in_a_list(x):
    return str([round(float(v), 4) for v in x])


FAILS = CounterexampleTask(
    id="10-fails",
    section=Section("10.3", "10_scan", "A stretch of steps is a step"),
    title="Find numbers for which three shortcuts fail",
    objective="Find inputs that show an underflow, a stretch that is no sum, and a scan with a round too few",
    points=3,
    minutes=10,
    flaws=(
        Flaw(
            name="first",
            judge=_judges("states", _judge_recurrence),
            wrong=first,
            right=_right_states,
            fields={"a": Numbers(1, 40, 0.001, 1)},
            case=lambda a: Case(f"a = {_in_a_list(a)}", lambda rng: (a.copy(), np.ones_like(a))),
            lead="The program divides by products of many numbers up to 1. What is the smallest number that a float32 can hold?",
        ),
        Flaw(
            name="second",
            judge=_judges("end", _judge_end),
            wrong=second,
            right=_right_end,
            fields={"b": Numbers(2, 8, -9, 9)},
            case=lambda b: Case(f"b = {_in_a_list(b)}", lambda rng: (b.copy(),)),
            lead="The second half was replaced by its sum. What is forgotten then, if the state would touch 0 inside of that half?",
        ),
        Flaw(
            name="third",
            judge=_judges("scan", _judge_recurrence),
            wrong=third,
            right=_right_states,
            fields={"n": Whole(1, 64)},
            case=lambda n: Case(f"n = {n}", lambda rng: (_near_one(rng, n), 1 + _near_one(rng, n))),
            lead="After k rounds an element knows of how many steps? And how many rounds are there for this n?",
        ),
    ),
    hints=(
        "Each author tried short lists of numbers around 1, all positive, and n = 8, 16 and 64. What did nobody try?",
        "first: make the product small, so small that it is 0. second: let the state fall in the second half, and rise again. third: "
        "int() cuts off what stands behind the point.",
        "first: as many small factors as you may have. second: four numbers are enough; the third takes more away than there is. third: any n that is no power "
        "of two.",
    ),
)

# 10-wavefront ------------------------------------------------------------------------------------------------


def rounds_case(name, directions, steps):
    return Case(
        f"{name}: layers {directions}, {steps} step{'s' if steps > 1 else ''}", lambda rng: (list(directions), steps)
    )


def earliest_rounds(
    directions,
    steps,
    first=1,
    needs=lambda below, way, t: below[:, t].max(),
    joined=lambda before, under: max(before, under) + 1,
    both=True,
):
    """[(directions, steps), ...]: in which round each cell can be computed; the options are mistakes. `needs`: what is needed of
    the layer below; `joined(round of the step before, round of what is needed below)`."""
    below, found = np.full((1, steps), first - 1), []
    for count in directions:
        layer = np.zeros((count, steps), np.int64)
        for way in range(count):
            before = first - 1
            for t in range(steps) if way == 0 or not both else reversed(range(steps)):
                before = layer[way, t] = joined(before, needs(below, way, t))
        found.append(layer)
        below = layer
    return found


def _one_by_one(directions, steps):
    """A worker alone."""
    numbers = iter(range(1, sum(directions) * steps + 1))
    return [np.array([[next(numbers) for _ in range(steps)] for _ in range(count)]) for count in directions]


ROUNDS = (
    (lambda *a: earliest_rounds(*a, first=0), "The first round has the number 1, not 0."),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below[min(way, len(below) - 1), t]),
        "A cell waited for one direction of the layer below, or for the earlier of both. Its input is the outputs of both, side by side.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below[0, t]),
        "Only the forward direction of the layer below was waited for. The input of a cell is the outputs of both directions.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below[-1, t]),
        "Only the backward direction of the layer below was waited for. The input of a cell is the outputs of both directions.",
    ),
    (
        lambda *a: earliest_rounds(*a, both=False),
        "The second direction was read forwards, too. It begins at the last step: its step t needs its own step t + 1.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below.max()),
        "Every layer waited for the end of the layer below. A cell needs step t of it alone.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: 0),
        "The layer below was not waited for: a cell needs its outputs of the same step.",
    ),
    (
        lambda *a: earliest_rounds(*a, joined=lambda before, under: under + 1),
        "The step before in the same layer and direction was not waited for.",
    ),
    (
        lambda *a: earliest_rounds(*a, joined=lambda before, under: before + under + 1),
        "The rounds of what a cell waits for were added. It can begin when the later one is done: the larger of the two.",
    ),
    (
        lambda *a: earliest_rounds(*a, joined=lambda before, under: min(before, under) + 1),
        "A cell began when the first of what it needs was done. It waits for the last: the larger round.",
    ),
    (_one_by_one, "One cell after the other, as a single worker would. In a round all cells are computed whose inputs are there."),
)  # fmt: skip


def judge_rounds(arguments, result):
    """A Slip, or None for the earliest rounds."""
    directions, steps = arguments
    right = earliest_rounds(directions, steps)
    shapes = [part.shape for part in right]
    wanted = f"{len(right)} arrays, of shapes {', '.join(map(str, shapes))}"
    try:
        said = [np.asarray(part) for part in result]
    except (TypeError, ValueError, OverflowError):
        said = []
    numbers = all(part.dtype.kind in "iuf" for part in said)
    if type(result) not in (list, tuple) or [part.shape for part in said] != shapes or not numbers:
        cause = "A list is asked for, with an array (directions, steps) for each layer."
        return Slip("type", wanted, cause, _kind_of(result)[:120])
    wrong = [k for k, pair in enumerate(zip(said, right, strict=True)) if not np.array_equal(*pair)]
    if not wrong:
        return None
    layer = wrong[0]
    way, t = (int(k) for k in np.argwhere(said[layer] != right[layer])[0])
    cell = f"layer {layer}, {('forwards', 'backwards')[way]}, step {t}"
    expected, got = (f"{cell}: round {part[layer][way, t]:g}" for part in (right, said))
    for formula, cause in ROUNDS:
        if all(map(np.array_equal, said, formula(directions, steps))):
            return Slip("rounds", expected, cause, got)
    if any((part < 1).any() for part in said):
        return Slip("rounds", expected, "The first round has the number 1, not 0; and no cell is left out.", got)
    cause = (
        "What does this cell need? Its own direction's step before it, if there is one, and step "
        f"{t} of every direction of the layer below. When is the last of these done?"
    )
    return Slip("cell", expected, cause, got)


WAVEFRONT = FunctionTask(
    id="10-wavefront",
    section=Section("10.2", "10_lstm", "Layers as a wavefront"),
    title="Where a wave breaks",
    objective="Compute the earliest round of each cell of a network with layers of one direction and of two",
    points=3,
    minutes=10,
    judge=judge_rounds,
    cases=(
        rounds_case("two over one", [1, 2], 4),
        rounds_case("both directions", [2], 4),
        rounds_case("a wave", [1, 1, 1], 5),
        rounds_case("two over two", [2, 2], 4),
        rounds_case("one over two", [2, 1], 5),
        rounds_case("mixed", [1, 2, 2, 1, 1], 3),
        rounds_case("one cell", [1], 1),
    ),
    advice={
        "raised-IndexError": "Step 0 has no step before it forwards, the last step has none backwards, and layer 0 has no layer below: their inputs are there from the start.",
        "raised-ValueError": "Two shapes do not fit. The array of a layer has its own number of directions: 1 or 2 rows.",
    },
    hints=(
        "Draw layers [2, 1] with three steps. In which round is the input of the upper layer's step 0 complete?",
        "A cell can be computed one round after the last of what it needs. Go through the layers from below, and through each direction in its own order.",
        "Keep the rounds of the layer below. For each direction begin with 0 before its first step; each cell is 1 more than the larger of two numbers: that of "
        "the step before, and the largest of column t below.",
    ),
)

# 10-chunks ---------------------------------------------------------------------------------------------------


def chunk_arguments(steps, chunks, low=-1.0, high=1.0, zeros=0):
    """make(rng) -> a, b (steps,), h0, chunks, out (steps,). `zeros`: every so many a[t] is 0."""

    def make(rng):
        a = rng.uniform(low, high, steps).astype(np.float32)
        if zeros:
            a[zeros - 1 :: zeros] = 0
        return a, random_values(rng, steps), float(rng.uniform(1, 2)), chunks, unwritten(steps)

    return make


def chunk_case(name, steps, chunks, **values):
    return Case(f"{name}: {steps} steps in {chunks} chunks", chunk_arguments(steps, chunks, **values))


def states(a, b, h, times=True):
    """h' = a h + b for all steps, float64."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    found = np.empty_like(b)
    for t in range(len(b)):
        found[t] = h = (a[t] * h if times else h) + b[t]
    return found


def _by_chunks(start):
    """A suspect: every chunk of ceil(steps / chunks) steps for itself, from start(h0, c, ends, products)."""

    def formula(a, b, h0, chunks, out):
        length = -(-len(a) // chunks)
        parts = [slice(begin, begin + length) for begin in range(0, len(a), length)]
        if len(parts) < 3:
            return NOTHING
        ends = [states(a[part], b[part], 0.0)[-1] for part in parts]
        products = [float(np.prod(a[part].astype(np.float64))) for part in parts]
        return np.concatenate([states(a[part], b[part], start(h0, c, ends, products)) for c, part in enumerate(parts)])

    return formula


def _left(h0, c, ends, products, of=lambda h, p, e: p * h + e, first=None):
    h = h0 if first is None else first
    for k in range(c):
        h = of(h, products[k], ends[k])
    return h


def _added(a, b, h0, chunks, out):
    """Each chunk from 0, and the state before it added to each of its numbers."""
    length = -(-len(a) // chunks)
    if -(-len(a) // length) < 2:
        return NOTHING
    right = states(a, b, h0)
    found = np.empty_like(right)
    for begin in range(0, len(a), length):
        part = slice(begin, begin + length)
        found[part] = states(a[part], b[part], 0.0) + (right[begin - 1] if begin else h0)
    return found


_LONG, _MANY = 960, 8
CHUNKS = ParallelTask(
    id="10-chunks",
    section=Section("10.3", "10_scan", "Chunks, walked through twice"),
    title="A recurrence in two passes",
    objective="Compute a linear recurrence with several threads, each of which takes a chunk and walks through it twice",
    points=2,
    minutes=15,
    spec=lambda a, b, h0, chunks, out: states(a, b, h0),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        chunk_case("exact", 24, 4),
        chunk_case("ragged", 23, 4),
        chunk_case("zeros among a", 40, 5, low=0.9, high=1.0, zeros=9),
        chunk_case("more chunks than steps", 3, 8),
        chunk_case("one chunk", 7, 1),
        chunk_case("a long memory", 500, 7, low=0.98, high=1.0),
    ),
    suspects=(
        Suspect(
            _by_chunks(lambda h0, c, ends, products: 0.0),
            "Every chunk began with 0. It has to begin with the state that the chunk before it ends with.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: h0 if c == 0 else 0.0),
            "Every chunk but the first began with 0. It has to begin with the state that the chunk before it ends with.",
        ),
        Suspect(_by_chunks(lambda h0, c, ends, products: h0), "Every chunk began with h0. Only the first does."),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: ends[c - 1] if c else h0),
            "A chunk began with what the chunk before it makes of a state of 0. The state before that one is lost: it comes through, times the product of "
            "the chunk's a.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c, ends, products, lambda h, p, e: h + e)),
            "The states before the chunks were added up. The state before a chunk comes through it times the product of its a.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c, ends, products, first=0.0)),
            "h0 is missing: the first chunk begins with it.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c, ends, products, first=0.0) if c else h0),
            "h0 got lost behind the first chunk: the chain of states over the chunks begins with it, too.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c + 1, ends, products)),
            "Each chunk began with the state at its own end. It begins with that of the chunk before.",
        ),
        Suspect(
            _added,
            "The state before a chunk was added to each of its numbers. It fades: at step t it is multiplied by the product of all a of the chunk up to t.",
        ),
        Suspect(lambda a, b, h0, chunks, out: states(a, b, h0, times=False), "a is missing: this is h + b[t]."),
        Suspect(
            lambda a, b, h0, chunks, out: states(np.append(np.float32(1), a[:-1]), b, h0),
            "a is taken one step too early: at step t the state is multiplied by a[t].",
        ),
    ),
    advice={
        "race": (
            "Two chunks use the same number at the same time. What a chunk keeps needs a place of its own, as in an array with an element for each chunk; its state "
            "is made inside the prange loop."
        ),
        "carried-scalar": (
            "A chunk cannot use the state that the chunk before it leaves behind: that one is not done. First pass: what does a chunk do to any state? Its product "
            "and its end from a state of 0 begin anew inside the prange loop."
        ),
        "some-unwritten": (
            "Some steps were never written. With 23 steps in 4 chunks a chunk has 6 steps, the last one 5: round up. With more chunks than steps some chunks are empty, "
            "and the others have a step each."
        ),
        "raised-IndexError": (
            "An index left its array. With 23 steps in 4 chunks of 6 the last one has 5, and with 3 steps in 8 chunks some are empty: let each chunk end "
            "at min(begin + length, steps)."
        ),
        "wrong-value": (
            "Work out two chunks of two steps. What is the state at the end of the first, with h0? What does the second one do to a state of 0, and to a state of 1? "
            "If only large a or zeros are wrong: is anything divided by a product?"
        ),
        "not-finite": "Is something divided by a product of a? One a is 0, and many small ones make 0. The product of a chunk is multiplied, never divided by.",
        "not-parallel": "Both walks through the steps belong into a prange loop over chunks. Only the few states between the chunks are computed one after the other.",
        "raised-ValueError": (
            "A name that is set before the prange loop changes inside it. Product, end and state of a chunk are its own: let them begin inside the loop, each time "
            "anew. A chunk cannot go on with the state that the one before leaves: that one is not done. What does a chunk do to any state?"
        ),
        "raised-ZeroDivisionError": "Is something divided by a product of a? One a is 0. Or is the length of a chunk computed from something else than steps and chunks?",
    },
    watch=Watch(starts=3),
    budget=Budget(
        points=2,
        text="a and b loaded at most twice, out stored once, no array inside that is as long as they are, and the work shared out evenly",
        require={"loads": 4 * _LONG + 8 * _MANY, "stores": _LONG + 8 * _MANY, "numpy_bytes": 4096, "imbalance": 1.5},
        over=(
            "The result is right, but more is loaded or stored than two walks need. The first walk keeps two numbers of a chunk, and stores nothing in out; the "
            "second one begins with the state before its chunk, and stores each step."
        ),
        causes=(
            (
                lambda rows: "imbalance" in {o.name for o in rows},
                "The result is right, but one thread does most of the work. Which loop do the threads share: is it the one over the chunks?",
            ),
            (
                lambda rows: any(o.name == "loads" and o.counted > 1.5 * o.limit for o in rows),
                "The result is right, but steps are walked through again and again. Does each chunk begin at the first step of all? The state before a chunk "
                "follows from two numbers of each chunk before it.",
            ),
            (
                lambda rows: {o.name for o in rows} == {"loads"},
                "The result is right, but a number is loaded more than twice. Is a[t] loaded once in a round of the first walk, into a name that is used twice?",
            ),
            (
                lambda rows: "numpy_bytes" in {o.name for o in rows},
                "The result is right, but an array as long as a is made on the way. Of each chunk two numbers are kept.",
            ),
        ),
        case=chunk_case("longer", _LONG, _MANY),
    ),
    hints=(
        "Two steps, h' = a1 h + b1 and h'' = a2 h' + b2. Put the first into the second: what stands with h, and what is left over? How many numbers do you have to "
        "keep of a chunk of a hundred steps?",
        "First walk, in parallel: the product of the chunk's a, and where it ends from a state of 0. Then a short loop over the chunks, one after the other: "
        "the state before each. Second walk, in parallel: the recurrence itself, from that state.",
        "Two arrays of `chunks` numbers from np.empty, a length that is rounded up, begin and end by min. An empty "
        "chunk has the product 1 and the end 0, so that it passes the state on as it is.",
    ),
)

# 10-backward -------------------------------------------------------------------------------------------------

GATES = ("i", "f", "g", "o")


def backward_arguments(batch, hidden, scale=1.0):
    """make(rng) -> z (batch, 4 * hidden), c, of_h, of_c (batch, hidden), float64."""

    def make(rng):
        z, *rest = (random_values(rng, batch, width * hidden, dtype=np.float64) for width in (4, 1, 1, 1))
        return 2 * scale * z, *rest

    return make


def _forward(z, c):
    """(new h, new c, gates after their functions)."""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    new = f * c + i * g
    return o * np.tanh(new), new, (i, f, g, o)


def _loss(z, c, of_h, of_c):
    """What is differentiated: a loss whose gradients at the new h and c are of_h and of_c."""
    h, new, _ = _forward(z, c)
    return float((of_h * h).sum() + (of_c * new).sum())


def step_backward(
    z,
    c,
    of_h,
    of_c,
    through=lambda of_h, of_c, o, t: of_c + of_h * o * (1 - t * t),
    slopes=(lambda y: y * (1 - y), lambda y: y * (1 - y), lambda y: 1 - y * y, lambda y: y * (1 - y)),
    factors=lambda i, g, c, new: (g, c, i),
    of_o=lambda of_h, t, new: of_h * t,
    before=lambda total, f, of_c: total * f,
    order=(0, 1, 2, 3),
    put=lambda parts: np.concatenate(parts, axis=1),
):
    """(gradient of z, gradient of the old c); the options are mistakes."""
    _, new, (i, f, g, o) = _forward(z, c)
    t = np.tanh(new)
    total = through(of_h, of_c, o, t)
    parts = [total * factor for factor in factors(i, g, c, new)] + [of_o(of_h, t, new)]
    parts = [part * slope(y) for part, slope, y in zip(parts, slopes, (i, f, g, o), strict=True)]
    return put([parts[k] for k in order]), before(total, f, of_c)


def _slopes(**other):
    right = {"i": lambda y: y * (1 - y), "g": lambda y: 1 - y * y}
    right |= {"f": right["i"], "o": right["i"]} | other
    return tuple(right[name] for name in GATES)


_THROUGH_C = "What arrives at the new c comes two ways: of_c from the next step, and of_h through h = o * tanh(c), times o and the slope of tanh, 1 - tanh(c)**2."
BACKWARDS = (
    ({"through": lambda of_h, of_c, o, t: of_c}, f"of_h does not reach c. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_h * o * (1 - t * t)}, f"of_c is missing. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * o}, f"The slope of tanh is missing on the way from h to c. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * (1 - t * t)}, f"The gate o is missing on the way from h to c. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h}, f"Neither o nor the slope of tanh stands on the way from h to c. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * o * t}, f"tanh(c) stands where its slope belongs. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * o * (1 - t)}, f"1 - tanh(c) stands where the slope of tanh belongs. {_THROUGH_C}"),
    *(
        (
            {"slopes": _slopes(**dict.fromkeys(names, lambda y: 1.0))},
            f"{' and '.join(names)}: the slope of the function behind z is missing. That of a sigmoid y is y * (1 - y), that of tanh 1 - y**2.",
        )
        for count in (1, 2, 3, 4)
        for names in itertools.combinations(GATES, count)
    ),
    ({"slopes": _slopes(g=lambda y: y * (1 - y))}, "g has the slope of a sigmoid. It went through tanh: 1 - g**2."),
    (
        {"slopes": _slopes(**dict.fromkeys("ifo", lambda y: 1 - y * y))},
        "i, f and o have the slope of tanh. They went through a sigmoid: y * (1 - y).",
    ),
    (
        {"factors": lambda i, g, c, new: (g, new, i)},
        "f was multiplied by the new c. The step was c' = f * c + i * g with the old c: that is what stands with f.",
    ),
    (
        {"factors": lambda i, g, c, new: (i, c, g)},
        "i and g are exchanged: in i * g the slope of i is g, and the slope of g is i.",
    ),
    ({"of_o": lambda of_h, t, new: of_h * new}, "o: h = o * tanh(c), so that tanh(c) stands with o, not c."),
    ({"of_o": lambda of_h, t, new: of_h}, "o: h = o * tanh(c), so that the gradient of o is of_h times tanh(c)."),
    ({"before": lambda total, f, of_c: total}, "The old c: it went into the new one times f. The gradient gets that factor, too."),
    ({"before": lambda total, f, of_c: of_c * f}, f"The old c gets f times all that arrives at the new c, not of_c alone. {_THROUGH_C}"),
    ({"before": lambda total, f, of_c: of_c}, f"of_c came back as it was. The old c gets f times all that arrives at the new c. {_THROUGH_C}"),
    (
        {"put": lambda parts: np.stack(parts, axis=2).reshape(len(parts[0]), -1)},
        "The gradient has the four gates of a unit side by side. As in z, all columns of i come first, then those of f, g and o.",
    ),
    *(
        ({"order": order}, f"The four parts stand in the order {', '.join(GATES[k] for k in order)}. As in z it shall be i, f, g, o.")
        for order in itertools.permutations(range(4))
        if order != (0, 1, 2, 3)
    ),
)  # fmt: skip


def slope_by_trying(arguments, number, place, little=1e-5):
    """How much the loss grows for each unit by which one number of argument `number` grows: two steps forward, no rule."""
    ends = []
    for change in (little, -little):
        tried = [x.copy() for x in arguments]
        tried[number][place] += change
        ends.append(_loss(*tried))
    return (ends[0] - ends[1]) / (2 * little)


def judge_backward(arguments, result):
    """A Slip, or None for the right gradients; what is expected is measured, too."""
    right = step_backward(*arguments)
    said = _arrays(result, [part.shape for part in right])
    if said is None:
        shapes = " and ".join(str(part.shape) for part in right)
        cause = (
            "Two arrays are returned, in this order: the gradient of z, as wide as z, and the gradient of the old c."
        )
        return Slip("type", f"two arrays of shape {shapes}, float64", cause, _kind_of(result))
    wrong = [k for k in (0, 1) if not _same(said[k], right[k])]
    if not wrong:
        return None
    number = wrong[0]
    bad = ~np.isclose(said[number], right[number], rtol=1e-9, atol=1e-12)
    row, column = (int(k) for k in np.unravel_index(np.argmax(bad), bad.shape))
    hidden = arguments[1].shape[1]
    name = f"{GATES[column // hidden]} of unit {column % hidden}" if number == 0 else f"the old c of unit {column}"
    slope = slope_by_trying(arguments, number, (row, column))
    expected = f"{right[number][row, column]:.6g} for {name} in row {row}; tried out, forward: {slope:.5g}"
    got = f"{said[number][row, column]:.6g}"
    for mistake, cause in BACKWARDS:
        guess = step_backward(*arguments, **mistake)
        if all(_same(*pair) for pair in zip(said, guess, strict=True)):
            return Slip("gradient", expected, cause, got)
    if all(np.allclose(*pair, rtol=1e-4, atol=1e-5) for pair in zip(said, right, strict=True)):
        cause = "Nearly right, but not to the last digits. Is something float32 on the way, or a slope taken from differences? The rules give it exactly."
        return Slip("nearly", expected, cause, got)
    if all(_same(-part, other) for part, other in zip(said, right, strict=True)):
        return Slip("gradient", expected, "All signs are turned round. A gradient says which way the loss grows.", got)
    gates = [GATES[k] for k in range(4) if bad.shape[1] == 4 * hidden and bad[:, k * hidden : (k + 1) * hidden].any()]
    if number == 1:
        return Slip(
            "old-c",
            expected,
            "The gradient of z is right, that of the old c is not: f times all that arrives at the new c.",
            got,
        )
    if gates == ["o"]:
        return Slip(
            "o",
            expected,
            "Only o is wrong. h = o * tanh(c'): its gradient is of_h times what o is multiplied by, times the slope of a sigmoid.",
            got,
        )
    if len(gates) == 1:
        rules = {"i": "g", "f": "the old c", "g": "i"}
        cause = f"Only {gates[0]} is wrong: what arrives at the new c, times {rules[gates[0]]}, times the slope of the function that made it."
        return Slip("one-gate", expected, cause, got)
    cause = f"Wrong: {', '.join(gates)}. Begin with what arrives at the new c. {_THROUGH_C}"
    return Slip("value", expected, cause, got)


BACKWARD = FunctionTask(
    id="10-backward",
    section=Section("10", "10_recurrent", "Backward through time"),
    title="A step, backwards",
    objective="Write the gradient of one step of an LSTM, and say where the two ways into the cell meet",
    points=3,
    minutes=14,
    judge=judge_backward,
    cases=(
        Case("2 rows, 3 units", backward_arguments(2, 3)),
        Case("one number each", backward_arguments(1, 1)),
        Case("5 rows, 4 units, gates nearly shut or open", backward_arguments(5, 4, 4.0)),
    ),
    advice={
        "raised-ValueError": "Two shapes do not fit. z has (batch, 4 * hidden): cut it along axis 1, and put the four parts together along axis 1.",
        "raised-TypeError": "math.exp and math.tanh take one number. np.exp and np.tanh take an array.",
    },
    hints=(
        "Which way does a small change of the old c take to the loss? There are two ways from the new c on: draw them.",
        "Go forward once, as in task 2, and keep i, f, g, o and the new c. Then collect what arrives at the new c; from there each gate and the old c "
        "get it, times what they are multiplied by in the step.",
        "At the new c arrives what comes from outside, and what comes through h: by what was tanh(c') multiplied "
        "there, and what is the slope of tanh? A factor of a product gets what arrives, times its partner; each gate "
        "then times its own slope. o hangs on h alone. What is left for the old c is one product.",
    ),
)

# 10-scan -----------------------------------------------------------------------------------------------------

SCAN_BLOCK = 64
SCAN_ROUNDS = 6


def scan_case(name, rows, steps):
    """a, grad and out (rows, steps)."""

    def make(rng):
        a = rng.uniform(-1, 1, (rows, steps)).astype(np.float32)
        a += np.sign(a) * np.float32(0.3)
        return a, random_values(rng, rows, steps), unwritten(rows, steps)

    return Case(f"{name}: {rows} x {steps}", make, grid=rows, block=SCAN_BLOCK)


def gradients(a, grad, shift=1, forward=False, lead=0, times=True, reach=None):
    """g[t] = grad[t] + a[t + 1] g[t + 1], float64; the options are mistakes. `reach`: steps that get through."""
    a, grad = a.astype(np.float64), grad.astype(np.float64)
    rows, steps = a.shape
    found = np.zeros_like(grad)
    for r in range(rows):
        for t in range(steps):
            factor, total = 1.0, 0.0
            ends = range(t, -1, -1) if forward else range(t, steps)
            for k in itertools.islice(ends, reach):
                total += factor * grad[r, k]
                place = k + (lead if forward else shift)
                factor *= (a[r, place] if 0 <= place < steps else 0.0) if times else 1.0
            found[r, t] = total
    return found


def _gradients(**mistake):
    return lambda a, grad, out: gradients(a, grad, **mistake)


_SCAN_WARPS = SCAN_BLOCK // 32
SCAN = KernelTask(
    id="10-scan",
    section=Section("10.4", "10_recurrent_gpu", "A scan in a block"),
    title="The gradient of a scan is a scan",
    objective="Write a scan in shared memory that runs backwards, with its barriers, in six rounds for 64 steps",
    points=3,
    minutes=20,
    spec=lambda a, grad, out: gradients(a, grad),
    rtol=1e-4,
    atol=1e-4,
    tell_first=TOLD_FIRST,
    writer=lambda index, case: (index[0], index[1]),
    cases=(
        scan_case("one block, ragged", 1, 9),
        scan_case("exact", 2, 64),
        scan_case("ragged", 3, 41),
        scan_case("one step", 2, 1),
    ),
    suspects=(
        Suspect(
            _gradients(forward=True),
            "This is the scan forward: state t knows of steps 0 to t. The gradient goes the other way: out[t] knows of steps t to the end.",
        ),
        Suspect(
            _gradients(forward=True, lead=1),
            "A thread joined with the one d places before it. The scan runs backwards: thread t needs what comes behind it, from thread t + d.",
        ),
        Suspect(
            _gradients(shift=0),
            "a is taken one step too early: on its way from step t + 1 to step t the gradient passes the factor a[t + 1].",
        ),
        Suspect(_gradients(times=False), "The factors are missing: this is the sum of all grad behind."),
        *(
            Suspect(
                _gradients(reach=reach),
                f"Only {reach} step{'s' if reach > 1 else ''} got into each number: {rounds} round{'s' if rounds != 1 else ''}. "
                "How many rounds does it take to 64 steps, if each doubles what a thread knows of?",
            )
            for rounds, reach in enumerate((1, 2, 4, 8, 16, 32))
        ),
    ),
    advice={
        "race": (
            "A thread reads what another one stores in the same round. Two barriers are needed in a round: one when all have read, one when all "
            "have stored."
        ),
        "divergent-barrier": (
            "Some threads of the block wait where others never come. Every thread makes every round and every barrier; what only some do stands in an `if` between "
            "the barriers."
        ),
        "barrier-after-exit": (
            "Some threads had ended while others still waited. Did they return early? Threads beyond the row's end stay, with a pair that changes nothing: factor "
            "1, sum 0. Or is the barrier in an `if` that they skip? Every barrier stands outside, where all threads come."
        ),
        "uninitialised-shared": (
            "A thread reads a place of shared memory where nobody has stored: beyond the end of the row, or before the first barrier. Threads without a step store a "
            "pair, too: factor 1, sum 0."
        ),
        "out-of-bounds": (
            "Is it a or grad? Threads from the row's end on have no step, and the last step has no a[t + 1]. Is it shared memory? A thread that looks d places "
            "further stays below 64."
        ),
        "none-beyond": "The last step has no a[t + 1]; and a thread that looks d places further has to stay below 64.",
        "negative-index": "The scan runs backwards: a thread joins with the one d places further, t + d, not t - d.",
        "wrong-value": (
            "Work out three steps by hand: out[2] is grad[2], out[1] is grad[1] + a[2] * out[2]. Which factor belongs to the pair of thread 1? Is the sum joined before "
            "the factor changes? And does d double from round to round?"
        ),
        "not-finite": "NaN got in: is a place of shared memory used where nothing was stored?",
    },
    budget=Budget(
        points=2,
        text="at most 13 barriers; by the two warps of a block 64 requests that load from shared memory, 32 that store there, 4 and 2 to global memory",
        require={
            "barriers": 2 * SCAN_ROUNDS + 1,
            "shared_load_requests": 32 * _SCAN_WARPS,
            "shared_store_requests": 16 * _SCAN_WARPS,
            "global_load_requests": 2 * _SCAN_WARPS,
            "global_store_requests": _SCAN_WARPS,
        },
        over=(
            "The result is right, but it costs more than six rounds in which all threads work. Does one thread walk through all steps, or does a thread walk through all "
            "steps behind it?"
        ),
        causes=(
            (
                lambda rows: {o.name for o in rows} == {"barriers"},
                "The result is right, with more barriers than six rounds need: two in a round, and one when the pairs have been stored first.",
            ),
        ),
        case=scan_case("exact", 1, 64),
    ),
    hints=(
        "Write out[0] of four steps as a sum. Which factors stand with grad[2]? What would a thread have to keep of steps 2 and 3, so that another one can go "
        "on with both at once?",
        "A pair for each thread: the factor that a gradient from behind gets on its way through the stretch, and the sum of the stretch itself. Round by round join "
        "with the pair d places further, d = 1, 2, 4 and so on. Read, barrier, store, barrier.",
        "Begin with the factor a[t + 1] (0 at the last step, where nothing comes from behind) and the sum grad[t]. To join: the sum grows by the own factor times the sum of the other, then "
        "the factor is multiplied by that of the other. Both own numbers may stay in local names.",
    ),
)


# 10-plan -----------------------------------------------------------------------------------------------------

PLANNED = 64
LISTS = (list, tuple, np.ndarray)  # what a grader gets as it is


def plan_case(name, n):
    return Case(f"{name}: {n} step{'s' if n > 1 else ''}", lambda rng: (n,))


def fewest_rounds(n):
    """Rounds in which a stretch of one step becomes n, if each doubles it."""
    return (n - 1).bit_length()


def busiest(arguments, result):
    """Joins of the round that has most of them."""
    return max(map(len, result), default=0)


def _listed(x):
    """A list, tuple or array as it is; TypeError for what has no length, or no order."""
    if type(x) not in LISTS:
        raise TypeError
    return x


def _pair_of(x):
    """Two whole numbers; TypeError for anything else."""
    pair = tuple(map(operator.index, _listed(x)))
    if len(pair) != 2:
        raise TypeError
    return pair


def _plan_of(result):
    """Rounds of pairs of whole numbers, or None. What is no list, tuple or array is none, as it has no length, or no order."""
    if type(result) not in (list, tuple):
        return None
    try:
        return [[_pair_of(pair) for pair in _listed(pairs)] for pairs in result]
    except TypeError:
        return None


def _steps(first, last):
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _slip_of_join(left, right, begins, kept):
    """(kind, expected, cause) of a join of what two places knew before the round, or None. begins: of each place's stretch;
    kept: places into which something was joined in this round."""
    if not (0 <= left < len(begins) and 0 <= right < len(begins)):
        return "place", f"places from 0 to {len(begins) - 1}", "There is a place for each step, and no other."
    if left >= right:
        cause = "A pair is (left, right): the stretch of the left place comes before that of the right one, which keeps both."
        return "order", "a left place before the right one", cause
    if right in kept:
        cause = "Both joins read what the last round left, and the second one overwrites the first."
        return "twice", "one join into each place", cause
    first = begins[right]
    knew = (
        f"Before this round place {left} knew {_steps(begins[left], left)}, and place {right} {_steps(first, right)}."
    )
    if first == 0:
        return "overlap", "no more joins into this place", f"{knew} It has all that it needs."
    if left >= first:
        cause = f"{knew} {_steps(max(first, begins[left]), left).capitalize()} would be counted twice."
        return "overlap", f"place {first - 1} on the left: its stretch ends before step {first}", cause
    if left < first - 1:
        cause = f"{knew} {_steps(left + 1, first - 1).capitalize()} would be left out."
        return "gap", f"place {first - 1} on the left: its stretch ends before step {first}", cause
    return None


def judge_plan(arguments, result):
    """A Slip, or None for a plan that joins all in the fewest rounds."""
    (n,), plan = arguments, _plan_of(result)
    if plan is None:
        cause = "A plan is a list of rounds, a round is a list of pairs, and a pair is two places: (left, right)."
        return Slip("type", "a list of lists of pairs of whole numbers", cause, short(result)[:120])
    begins = list(range(n))
    for number, pairs in enumerate(plan, 1):
        before, kept = list(begins), set()
        for left, right in pairs:
            slip = _slip_of_join(left, right, before, kept)
            if slip is not None:
                kind, expected, cause = slip
                return Slip(kind, expected, cause, f"round {number}: ({short(left)}, {short(right)})"[:120])
            begins[right] = before[left]
            kept.add(right)
    lacking = [place for place in range(n) if begins[place]]
    if lacking:
        place = lacking[0]
        cause = f"After the last round {len(lacking)} of {n} places lack something. Which place knows the stretch that ends right before step {begins[place]}?"
        return Slip("lacking", f"place {place} knows {_steps(0, place)}", cause, _steps(begins[place], place))
    least = fewest_rounds(n)
    if len(plan) > least:
        cause = "Every place knows all that it should, but later than need be. A stretch can double in each round: how many rounds does it take from 1 step to all?"
        expected, got = (f"{count} round{'s' if count != 1 else ''}" for count in (least, len(plan)))
        return Slip("rounds", expected, cause, got)
    return None


PLAN = FunctionTask(
    id="10-plan",
    section=Section("10.3", "10_scan", "Blelloch"),
    title="Be the scheduler of a scan",
    objective="Plan the joins of a scan in the fewest rounds, with half as many workers as steps",
    points=1,
    minutes=12,
    judge=judge_plan,
    cases=(
        plan_case("a power of two", 8),
        plan_case("two", 2),
        plan_case("odd", 5),
        plan_case("more", 13),
        plan_case("a warp", 32),
        plan_case("one", 1),
    ),
    costs={"joins": ("joins in the busiest round", busiest)},
    advice={
        "raised-IndexError": "Places go from 0 to n - 1, also in the last group, which may have fewer steps than the others.",
        "raised-ZeroDivisionError": "The distances begin with 1, not with 0.",
        "raised-ValueError": "Is it the case with a single step? Nothing is to be joined there, and there is no logarithm of 0: an empty list is the plan.",
    },
    budget=Budget(
        points=2,
        text="at most half as many joins in any round as there are steps",
        require={"joins": PLANNED // 2},
        over=(
            "The plan is right, but in one of its rounds more than half of the places join. Most of these joins repeat what others have joined: "
            "if each half of the steps has all its own sums, what is it that a place in the right half lacks?"
        ),
        case=plan_case("budget", PLANNED),
    ),
    hints=(
        "Take 8 steps. Before the last round each half of them is finished by itself: place 3 knows steps 0 to 3, place 7 steps 4 to 7. Which joins are left, "
        "and how many?",
        "The same holds in each half, a round earlier, and in each quarter before. So in the round with distance d the steps lie in groups of 2 d; the right half of "
        "each group joins, and all of it with the same left place.",
        "For d = 1, 2 and 4 write down i // d for eight places: what is true of it in every right half? And what do "
        "you get if you multiply it by d again: which place is that, and which one stands before it?",
    ),
)  # fmt: skip

TASKS = (STEPS_TASK, CELL, LENGTHS, FUSED, LINEAR, FAILS, WAVEFRONT, CHUNKS, BACKWARD, SCAN, PLAN)
