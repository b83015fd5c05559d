"""04-lab: The cache lab: transpose through a narrow door."""

import numpy as np

from ...definition import Budget, Case, Section, Slip
from ...golf import Golf
from ...kinds.function import FunctionTask
from .shared import FLOATS, padded_length

SLOTS, HAND = 32, 16  # lines in the direct-mapped cache; numbers in hand


def _line_of(array, i, j, n, m):
    """The number of the line that a step uses; out begins at a line that is a multiple of SLOTS."""
    if array == "x":
        return (i * padded_length(m) + j) // FLOATS
    after_x = -(-n * padded_length(m) // FLOATS // SLOTS) * SLOTS
    return after_x + (i * padded_length(n) + j) // FLOATS


def lab_fetches(arguments, steps):
    """Lines fetched by a cache in which line k can only be in slot k % SLOTS."""
    slots, fetched = {}, 0
    for array, i, j in steps:
        line = _line_of(array, i, j, *arguments)
        if slots.get(line % SLOTS) != line:
            slots[line % SLOTS] = line
            fetched += 1
    return fetched


def _is_step(step):
    """Whether it is "x" or "out", and two whole numbers."""
    if not isinstance(step, list | tuple) or len(step) != 3 or not isinstance(step[0], str):
        return False
    are_integers = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in step[1:])
    return step[0] in ("x", "out") and are_integers


def judge_lab(arguments, result):
    """Right if every element is taken from x once, and laid into its place of out."""
    n, m = arguments
    expected = f'{2 * n * m} steps: ("x", i, j) and ("out", j, i), each once'
    if not isinstance(result, list | tuple):
        return Slip("type", expected, "Return a list of steps.")
    if len(result) > 4 * n * m:
        return Slip("number", expected, "Every element is taken once and laid down once.", f"{len(result)} steps")
    hand, done = set(), set()
    for number, step in enumerate(result, 1):
        got = f"step {number} is {str(tuple(step) if isinstance(step, list) else step)[:60]}"
        if not _is_step(step):
            return Slip("type", expected, 'A step is ("x", i, j) or ("out", j, i).', got)
        array, i, j = step
        rows, columns = (n, m) if array == "x" else (m, n)
        if not (0 <= i < rows and 0 <= j < columns):
            cause = f"x has the shape ({n}, {m}), out has the shape ({m}, {n})."
            return Slip("outside", expected, cause, got)
        element = (i, j) if array == "x" else (j, i)
        if array == "x":
            if element in done or element in hand:
                return Slip("twice", expected, "This element was taken before.", got)
            hand.add(element)
            if len(hand) > HAND:
                cause = f"With this step {len(hand)} numbers are in hand: lay some of them down first."
                return Slip("full", f"at most {HAND} numbers in hand", cause, got)
        elif element not in hand:
            cause = "It was laid down before." if element in done else f"It is not in hand: take x[{j}, {i}] first."
            if i != j and (i, j) in hand:
                cause = f"x[{i}, {j}] is in hand, and its place is out[{j}, {i}]: rows and columns are exchanged."
            return Slip("empty", f"x[{j}, {i}] in hand", cause, got)
        else:
            hand.remove(element)
            done.add(element)
    if hand or len(done) < n * m:
        left = f"{len(hand)} in hand, {n * m - len(done) - len(hand)} never taken"
        cause = (
            "Every element must come to its place. Do the loops reach the last rows and columns, and does the `return` "
            "stand "
        )
        return Slip("left", expected, f"{cause}behind them?", left)
    return None


def lab_case(n, m):
    return Case(f"{n} x {m}", lambda rng: (n, m))


LAB = FunctionTask(
    id="04-lab",
    section=Section("4", "04_memory", "Sets: why 1024 is slower than 1000"),
    title="The cache lab: transpose through a narrow door",
    objective="Order loads and stores so that lines that share a place in the cache do not chase each other out",
    points=2,
    minutes=25,
    judge=judge_lab,
    costs={"fetches": ("lines fetched", lab_fetches)},
    cases=(lab_case(16, 16), lab_case(20, 13), lab_case(32, 64), lab_case(64, 64)),
    budget=Budget(
        points=4,
        text="at most 1024 lines fetched for 64 x 64, twice for each line",
        require={"fetches": 1024},
        over=(
            "Every element comes to its place, but lines are fetched again and again. A row of 64 has 4 lines, so the "
            "rows r and r + 8 of a column of lines share a slot. How many rows can a tile have, then? And what may be "
            "in hand?"
        ),
        case=lab_case(64, 64),
        golf=Golf(
            count="fetches",
            best=740,
            tiers=(("gold", 1.0), ("silver", 1.1), ("bronze", 1.5)),
            lead="Which lines are still in the cache when a tile is done, and which tile could use them? And what can "
            "be different in the tiles on the diagonal, where x and out want the same slots?",
        ),
    ),
    hints=(
        "In which slots lie the lines x[0, 0], x[1, 0], ... x[8, 0], and those of out? Which of them can be there at "
        "once?",
        "Eight rows of a tile, and eight columns, fit. On the diagonal the slots of x are those of out: take several "
        "numbers of a line into the hand before you lay them down.",
        "Go through tiles of 8 x 8. For each row of a tile first all its steps on x, then all on out: the line of x is "
        "fetched once for the row, even if out drives it away. What is left over to improve is the golf.",
    ),
)
