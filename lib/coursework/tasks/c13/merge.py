"""13-merge: The merge path: equal work for each thread."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def cut_places(crow, parts):
    """[(row, entry)] where each part begins, and the end: part k begins k * ceil((rows + entries) / parts) steps
    along."""
    rows, entries = len(crow) - 1, int(crow[-1])
    part_steps = -(-(rows + entries) // parts)
    found = []
    for k in range(parts + 1):
        diagonal = min(k * part_steps, rows + entries)
        low, high = max(0, diagonal - entries), min(diagonal, rows)
        while low < high:
            middle = (low + high) // 2
            if crow[middle + 1] <= diagonal - middle - 1:
                low = middle + 1
            else:
                high = middle
        found.append((low, diagonal - low))
    return found


def _whole(x):
    """A whole number, 3.0 as well; ValueError for any other."""
    if not isinstance(x, int | float | np.number) or isinstance(x, bool) or not np.isfinite(x) or x != np.rint(x):
        raise ValueError
    return int(x)


def judge_merge(arguments, result):
    crow, parts = arguments
    expected = cut_places(crow, parts)
    words = f"{expected[:4]}{' ...' if len(expected) > 4 else ''}"
    try:
        places = [
            tuple(_whole(x) for x in pair) for pair in (result.tolist() if isinstance(result, np.ndarray) else result)
        ]
    except (TypeError, ValueError):
        return Slip("type", words, "Return a list of pairs (row, entry), whole numbers.")
    if len(places) != parts + 1:
        cause = f"There are {parts} parts: a place where each begins, and the end of the last one."
        return Slip("count", words, cause, f"{len(places)} places")
    if any(len(pair) != 2 for pair in places):
        return Slip("type", words, "Each place is a pair (row, entry).")
    bad = [k for k, (a, b) in enumerate(zip(places, expected, strict=True)) if a != b]
    if not bad:
        return None
    k = bad[0]
    return _wrong_place(crow, parts, places, expected, k)


def _wrong_place(crow, parts, places, expected, k):
    rows, entries = len(crow) - 1, int(crow[-1])
    (row, entry), wanted = places[k], f"{expected[k]} for place {k}"
    got = f"({row}, {entry})"
    part_steps = -(-(rows + entries) // parts)
    diagonal = min(k * part_steps, rows + entries)
    if (row, entry) == tuple(reversed(expected[k])):
        return Slip("swapped", wanted, "The pair is turned round: the row comes first.", got)
    if row + entry != diagonal:
        by_rows = [(min(j * -(-rows // parts), rows)) for j in range(parts + 1)]
        if [r for r, _ in places] == by_rows:
            return Slip(
                "by-rows", wanted, "The rows are cut into equal numbers. A long row then has a thread to itself.", got
            )
        by_entries = [min(j * -(-entries // parts), entries) for j in range(parts + 1)]
        if [e for _, e in places] == by_entries:
            cause = (
                "The entries are cut into equal numbers. Empty rows cost something, too: a step along the path is a "
                "row or an entry."
            )
            return Slip("by-entries", wanted, cause, got)
        if row + entry == k * part_steps:
            cause = (
                f"The path ends after {rows + entries} steps, all rows and all entries: the last pieces may be shorter."
            )
            return Slip("end", wanted, cause, got)
        if places[-1] == (rows + 1, entries):
            cause = "There is one row too many at the end: crow has a number more than there are rows."
            return Slip("rows", wanted, cause, got)
        if row + entry == min(k * ((rows + entries) // parts), rows + entries):
            cause = "The steps of a piece are rounded up: otherwise the last piece is longer than the others."
            return Slip("rounded", wanted, cause, got)
        cause = f"Place {k} lies {diagonal} steps along the path: its row and its entry together are {diagonal}."
        return Slip("diagonal", wanted, cause, got)
    if row > rows or entry > entries or row < 0 or entry < 0:
        return Slip(
            "outside", wanted, f"There are {rows} rows and {entries} entries: the search has to stay among them.", got
        )
    if row < expected[k][0] and entry >= crow[row + 1]:
        cause = (
            "A row whose entries are all taken is finished: the path goes to the next row before it takes an entry of "
            "that."
        )
        return Slip("unfinished", wanted, cause, got)
    if row > expected[k][0]:
        cause = (
            f"Row {row - 1} has entries up to number {int(crow[row]) - 1}, and only {entry} were taken: it is not "
            "finished."
        )
        return Slip("too-far", wanted, cause, got)
    return Slip(
        "place",
        wanted,
        "Walk the path by hand: while the row has entries left, take one; else go to the next row.",
        got,
    )


def lengths(make):
    """make(rng) -> the lengths of the rows; the case's crow."""
    return lambda rng: np.concatenate([[0], np.cumsum(make(rng))]).astype(np.int64)


def merge_case(name, make, parts):
    return Case(name, lambda rng: (lengths(make)(rng), parts))


MERGE = FunctionTask(
    id="13-merge",
    section=Section("13.3", "13_sparse", "Merge path"),
    title="Equal work along the merge path",
    objective="Cut a sparse matrix so that each thread has as many rows and entries together, by a search on diagonals",
    points=3,
    minutes=25,
    judge=judge_merge,
    cases=(
        merge_case("four rows of two", lambda rng: [2, 2, 2, 2], 3),
        merge_case("one long row", lambda rng: [1, 0, 30, 2, 1], 4),
        merge_case("empty rows in front and behind", lambda rng: [0, 0, 0, 5, 0, 0], 4),
        merge_case("random", lambda rng: rng.integers(0, 6, 40), 7),
        merge_case("more parts than steps", lambda rng: [1, 2], 9),
        merge_case("a million rows, 64 threads", lambda rng: rng.integers(0, 3, 1_000_000), 64),
    ),
    advice={
        "raised-TooManyIterations": "This walks along the path, a million rows of it. A thread that searches on its "
        "diagonal needs some twenty steps."
    },
    hints=(
        "A step along the path finishes a row or takes an entry. So how many steps are there, and what do all "
        "places have in common that lie d steps along?",
        "On the diagonal d, row + entry = d. Search for the first row r that is not finished there: crow[r + 1] > "
        "d - r - 1 holds from it on.",
        "A search by halves, between two bounds: at most d rows are finished, and not more than there are; at "
        "least d - entries are, since no more entries can be taken, and never fewer than 0. The row in the middle "
        "is finished if its end, crow of the next row, and the steps over the rows up to it fit into d: then look "
        "behind it, else before it.",
    ),
)
