"""11-rotary: A position is an angle."""

import itertools
import math

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

ROTARY_BLOCK = 32
NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit


def rotary_arguments(tokens, width, first_position=0, mixed=False):
    """make(rng) -> x (tokens, width), positions (tokens,), frequencies (width // 2,), out. `first_position`: position
    of the first token."""

    def make(rng):
        positions = first_position + (rng.permutation(3 * tokens)[:tokens] if mixed else np.arange(tokens))
        frequencies = (10_000.0 ** (-np.arange(0, width, 2) / width)).astype(np.float32)
        return random_values(rng, tokens, width), positions, frequencies, unwritten(tokens, width)

    return make


def rotary_case(name, tokens, width, first_position=0, mixed=False):
    blocks = -(-tokens * width // ROTARY_BLOCK)
    where = "1 block" if blocks == 1 else f"{blocks} blocks"
    said = f"{name}: {tokens} tokens of {width} numbers, {where}"
    return Case(said, rotary_arguments(tokens, width, first_position, mixed), grid=blocks, block=ROTARY_BLOCK)


def rotated(x, positions, frequencies, sign=1, neighbours=False, cross=1, exchanged=False):
    """Each pair turned by its angle, float64; the options are mistakes."""
    x, half = x.astype(np.float64), x.shape[1] // 2
    angles = np.multiply.outer(positions, frequencies.astype(np.float64))
    a, b = (x[:, 0::2], x[:, 1::2]) if neighbours else (x[:, :half], x[:, half:])
    cos, sin = (np.sin, np.cos) if exchanged else (np.cos, np.sin)
    first = a * cos(angles) - sign * cross * b * sin(angles)
    second = b * cos(angles) + sign * a * sin(angles) * (1 if cross else 0)
    if neighbours:
        return np.stack((first, second), axis=2).reshape(x.shape)
    return np.concatenate((first, second), axis=1)


def _by_partner(partner, minus, pair=lambda c, width: c % (width // 2)):
    """Each number with the partner in column partner(c, width); minus(c, width): whether its term is subtracted;
    pair(c, width): the number of its frequency."""

    def formula(x, positions, frequencies, out):
        x, columns = x.astype(np.float64), np.arange(x.shape[1])
        angles = np.multiply.outer(positions, frequencies.astype(np.float64)[pair(columns, x.shape[1])])
        if x.shape[1] == 2:
            return NOTHING
        others = x[:, partner(columns, x.shape[1])]
        return x * np.cos(angles) + np.where(minus(columns, x.shape[1]), -1, 1) * others * np.sin(angles)

    return formula


def _neighbour(c, width):
    return c ^ 1


def _next(c, width):
    return np.where(c < width // 2, c + 1, c - 1)


def _half_away(c, width):
    return (c + width // 2) % width


def _first_half(c, width):
    return c < width // 2


def _even(c, width):
    return c % 2 == 0


def _rotary(**mistake):
    return lambda x, positions, frequencies, out: rotated(x, positions, frequencies, **mistake)


ROTARY = KernelTask(
    id="11-rotary",
    section=Section("11.4", "11_block", "Where a word stands"),
    title="A position is an angle",
    objective="Write a rotary embedding in which each thread finds the partner of its number",
    points=2,
    minutes=12,
    spec=lambda x, positions, frequencies, out: rotated(x, positions, frequencies),
    rtol=1e-4,
    atol=2e-4,
    cases=(
        rotary_case("one block", 4, 8),
        rotary_case("ragged", 5, 6),
        rotary_case("one pair", 20, 2),
        rotary_case("exact, later positions", 8, 12, 700),
        rotary_case("any order", 8, 4, 10, True),
    ),
    suspects=(
        Suspect(
            _rotary(neighbours=True),
            "Neighbours were paired, columns 0 and 1, 2 and 3. Here column c belongs to column c + half. (Both are in "
            "use, and a model that was trained with one does not work with the other.)",
        ),
        Suspect(
            _by_partner(_half_away, _first_half, lambda c, width: c // 2),
            "The partners are right, and the frequency is another pair's: columns c and c + half turn by one angle, "
            "that of frequencies[c % half].",
        ),
        *(
            Suspect(
                _by_partner(partner, minus),
                "The partner of a number is its neighbour here (c ^ 1, or c + 1 and c - 1): columns 0 and 1, 2 and 3. "
                "In this task column c belongs to column c + half, and column c + half to column c.",
            )
            for partner, minus in itertools.product((_neighbour, _next), (_first_half, _even))
        ),
        Suspect(
            _rotary(sign=-1),
            "The pairs were turned the other way round: which of the two terms with a sine is subtracted?",
        ),
        Suspect(_rotary(cross=-1), "Both terms with a sine are added. In the first half it is subtracted."),
        Suspect(_rotary(cross=0), "Each number was multiplied by its cosine, and the partner is missing."),
        Suspect(_rotary(exchanged=True), "Sine and cosine are exchanged: at position 0 nothing changes."),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, np.arange(len(x)), frequencies),
            "The row was taken for the position. A token's position is positions[t]: when a text goes on, rows do not "
            "begin at 0.",
        ),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, positions, 0 * frequencies + frequencies[0]),
            "All pairs were turned with the first frequency. Pair c has frequencies[c].",
        ),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, positions * math.pi / 180, frequencies),
            "The angle was taken for degrees. math.sin and math.cos take it as it is: the position times the "
            "frequency.",
        ),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, 0 * positions + 1, frequencies),
            "The frequency was taken for the angle. The angle is the position times the frequency.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The last block may have threads beyond the end of out: guard them. Is it an index of `frequencies`? It "
            "has half as many numbers as a row; the partner of column c is c + half in the first half, c - half in the "
            "second."
        ),
        "none-beyond": (
            "Each thread has a number here: row, its own number // width, and column, what is left. `positions` has an "
            "element for each row, `frequencies` has half as many numbers as a row; the partner of column c is c + "
            "half in the first half, and c - half in the second."
        ),
        "negative-index": "In the first half the partner is c + half, not c - half.",
        "wrong-value": (
            "Work out the first wrong number, [t, c]. Which is its partner in the row? What is the angle? Is the "
            "partner's term added or subtracted in this half?"
        ),
        "tail": (
            "The last numbers were never stored. There is a thread for each number of out, tokens times width of them: "
            "does the guard let all of them in? And does a thread of the second half store, too?"
        ),
        "nothing-written": (
            "Nothing was stored, or NaN was stored again: out holds NaN before. What is turned comes from x; out is "
            "only stored to."
        ),
        "some-unwritten": "Half of the numbers were never stored. Each thread has one number of out, in the first half "
        "or in the second.",
    },
    hints=(
        "A row of 8 numbers has 4 pairs: (0, 4), (1, 5), (2, 6), (3, 7). You are the thread of column 6. Which number "
        "do you need beside your own, and which frequency?",
        "Row and column follow from the thread's number by // and %. The frequency is that of c % half. The partner "
        "lies half a row away, to the right or to the left, and its term has a minus in the first half.",
        "One guard, two lines for row and column, one for the angle, then an `if` for the half with a line that stores "
        "in each branch.",
    ),
)
