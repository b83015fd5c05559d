"""10-lengths: Read backwards, each row from its own end."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.compiled import CompiledTask
from .shared import NOTHING


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


def _padding_computed(x, u, lengths, out):
    """Each row right, and tanh(x) behind its end."""
    behind = np.arange(len(x))[:, None, None] >= lengths[:, None]
    return np.where(behind, np.tanh(x.astype(np.float64)), read_back(x, u, lengths))


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
    minutes=15,
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
            "Each row was read from its begin to its end. Here the last step of a row comes first, with a state of 0, "
            "and step t takes the state of step t + 1.",
        ),
        Suspect(
            _times_zero,
            "The states of the padding were multiplied by 0, and 0 * NaN is NaN: the padding may hold anything. Do not "
            "compute there, or choose with `if`.",
        ),
        Suspect(
            _padding_computed,
            "The rows are right, but behind their ends stands tanh(x) in the place of 0: was the padding computed "
            "after its zeros were set? Row r begins at step lengths[r] - 1.",
        ),
        Suspect(
            lambda x, u, lengths, out: read_back(*_to_the_end(x, u, lengths)),
            "All rows were read from the end of the batch, and the padding counted as if it were steps. Row r begins "
            "at step lengths[r] - 1, and what comes after it is 0.",
        ),
        Suspect(
            _padding_zero,
            "The padding got its zeros, but the state went through it before: it comes to the last step of a row full "
            "of what the padding left. Row r begins at step lengths[r] - 1, with a state of 0.",
        ),
        Suspect(
            _read(more=-1),
            "The last step of each row is missing: a row of length 4 has steps 0 to 3. Where does your loop begin, and "
            "where do the zeros?",
        ),
        Suspect(
            _read(more=1, zeros=False),
            "One step too many: a row of length 4 has steps 0 to 3. Where does your loop begin?",
        ),
        Suspect(_read(more=1), "One step too many was read before the row begins: a row of length 4 has steps 0 to 3."),
        Suspect(
            _read(lambda x, u, lengths: (x, u.T, lengths)),
            "The matrix is transposed: unit j gets the sum of u[j, k] * h[k] over k.",
        ),
        *(
            Suspect(
                _read(lambda x, u, lengths, of=of: (x, np.diag(of(u)), lengths)),
                "Each unit got one number of the state alone, its own. Unit j gets u[j, k] times the state of unit k, "
                "for every k.",
            )
            for of in (np.diag, lambda u: u.sum(axis=1))
        ),
        Suspect(
            _read(keep=0),
            "The state before has no part in it: tanh(x) alone. Which step was computed just before step t?",
        ),
        Suspect(_read(squash=lambda x: x), "tanh is missing."),
        Suspect(
            _read(carry=True), "A row went on with the state that the row before it had left. Each row begins with 0."
        ),
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
            "An index left its array. At the last step of a row there is no step t + 1 to take the state from: it "
            "begins with 0. x and out have three axes: step, row, unit."
        ),
        "not-finite": (
            "NaN got in: the padding may hold anything, and out holds NaN before. Is a step behind the end of a row "
            "read, from x or from out? At a row's last step the state before it is 0: out[t + 1, r] is not that state."
        ),
        "some-unwritten": "Some numbers were never stored. Behind the end of each row out gets zeros, also in a row "
        "of length 0. Else: does your loop over the steps go "
        "backwards, and down to step 0?",
        "nothing-written": (
            "Nothing was stored, or NaN was stored again: out holds NaN before. Does a sum begin with what stands in "
            "out?"
        ),
        "wrong-value": (
            "Work out the first row from its end. Its last step is tanh(x) alone, as the state is 0. The step before "
            "gets u times all numbers of that state: are they all still the old ones when you use them?"
        ),
        "adds-to-old": (
            "A number of out that was there before got in, which is NaN in the check. At the last step of a row the "
            "state is 0: what stands in out[t + 1, r] there is not that state."
        ),
        "raised-TypingError": "numba has no np.tanh(...) of what it does not know. Write loops over steps, rows and "
        "units, and math.tanh of one number.",
        "raised-ImportError": "Write the sum yourself: `@` and np.dot inside a numba function call a library.",
    },
    budget=Budget(
        points=1,
        text="no array made inside",
        require={"arrays": 0, "numpy_bytes": 4096},
        over=(
            "The result is right, but an array is made on the way, for the state or for zeros. The state of step t + 1 "
            "stands somewhere already: where did you store it?"
        ),
        case=lengths_case("longer", 40, (40, 23, 9), 8),
    ),
    hints=(
        "A row of length 3 in a batch of 5 steps: which step comes first, which last, and what shall out hold at steps "
        "3 and 4?",
        "A loop over rows; in it zeros from the row's length on, then a loop over its steps, the last one first. The "
        "state that step t needs was stored one step later: no other array has to hold it.",
        "A range can go backwards: where does it begin, at the row's length or one before, and what stands for its "
        "end? At its first round the sum over the state is left out, and x alone goes through tanh; later the sum "
        "takes u[j, k] times what was stored for unit k.",
    ),
)
