"""04-pad: Pad a matrix."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import LINE, SETS, WAYS


def most_in_one_set(rows, length):
    """How many lines of a column of `rows` float32, `length` apart, share a set of the model cache, at most."""
    lines = np.unique(np.arange(rows) * (4 * length) // LINE)
    return int(np.bincount(lines % SETS).max())


def right_length(rows, columns):
    """The specification of 04-pad."""
    while most_in_one_set(rows, columns) > WAYS:
        columns += 1
    return columns


def judge_pad(arguments, result):
    """Right if it is the shortest length of a row whose columns fit into the cache."""
    rows, columns = arguments
    expected = f"a whole number, at least {columns}"
    if type(result) is not int:
        return Slip("type", expected, "Return the length of a row in elements, an int.")
    if result < columns:
        cause = (
            "The row must hold its columns. Padding adds elements, it takes none away; return the whole length of a "
            "row."
        )
        return Slip("too-short", expected, cause)
    crowd = most_in_one_set(rows, result)
    if crowd > WAYS:
        cause = (
            "Lines whose numbers differ by 64 share a set. Count for this length: line of row r is 4 * r * length // "
            "64."
        )
        if result == columns:
            cause = "This length needs padding. " + cause
        return Slip("crowded", f"at most {WAYS} lines of a column in one set, not {crowd}", cause)
    least = right_length(rows, columns)
    if result > least:
        cause = (
            "This length would do, but it wastes memory: in a shorter one no set gets more than 8 different lines, "
            "too. Try the lengths one after the other, from `columns` on. 8 lines do fit; rows in one line count it "
            "once; an element has 4 bytes."
        )
        return Slip("too-long", f"less than {result}", cause)
    return None


def pad_case(rows, columns):
    return Case(f"{rows} rows, {columns} columns", lambda rng: (rows, columns))


PAD = FunctionTask(
    id="04-pad",
    section=Section("4", "04_memory", "Sets: why 1024 is slower than 1000"),
    title="Pad a matrix",
    objective="Compute the shortest row length at which a column fits into the sets of a cache",
    points=5,
    minutes=20,
    judge=judge_pad,
    cases=(
        pad_case(64, 1000),
        pad_case(64, 1024),
        pad_case(256, 2048),
        pad_case(500, 500),
        pad_case(512, 768),
        pad_case(512, 5),
        pad_case(500, 71),
    ),
    hints=(
        "At which byte does element [r, 0] begin if a row has `length` elements of 4 bytes? In which line is that, and "
        "in which set?",
        "Write a helper that counts, for one length, how many lines of the column fall into each of the 64 sets. Then "
        "try length = columns, columns + 1, ... until no set has more than 8. Two rows may lie in one line: count it "
        "once.",
        "A Python set holds each line once, however many rows lie in it. Then a list with a number for each of the 64 "
        "sets of the cache: which of them does a line raise by 1? And what must be true of the largest?",
    ),
)
