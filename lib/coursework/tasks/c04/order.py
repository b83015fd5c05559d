"""04-order: A transposition that fits into a small cache."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import FLOATS, lines_of_array, padded_length

ROOM = 40  # lines in the model cache


def transposed_fetches(order, n, m):
    """(lines of both matrices, lines that the model cache fetches when out[j, i] = x[i, j] is done in `order`)."""
    x_row, out_row = padded_length(m), padded_length(n)
    lines = lines_of_array(n * x_row + m * out_row)
    i, j = np.asarray(order).T
    used = np.stack([i * x_row + j, n * x_row + j * out_row + i], axis=1)  # a load and a store, in turns
    return lines.touched(used.ravel()), lines.fetches(used.ravel(), ROOM)


def judge_order(arguments, result):
    """Right if every element is moved once, and each line is fetched at most 1.25 times."""
    n, m = arguments
    expected = f"{n * m} pairs (i, j), each once, with i below {n} and j below {m}"
    try:
        pairs = np.asarray([tuple(pair) for pair in result])
    except (TypeError, ValueError):
        pairs = None
    if pairs is None or pairs.dtype.kind not in "biuf":
        return Slip("type", expected, "Return a list of pairs, or an array of shape (elements, 2).")
    if pairs.size and pairs.ndim == 2 and n != m and pairs.max(axis=0).tolist() == [m - 1, n - 1]:
        cause = "i goes up to n - 1 and j up to m - 1. Are n and m exchanged, or is it (j, i)?"
        return Slip("exchanged", expected, cause, f"i up to {m - 1}, j up to {n - 1}")
    if pairs.shape != (n * m, 2) or pairs.dtype.kind not in "iu":
        cause = f"There are {n} * {m} = {n * m} elements to move. "
        if not len(pairs):
            cause += "The list is empty."
        elif pairs.ndim == 2 and len(np.unique(pairs, axis=0)) < len(pairs):
            cause += "Some come twice: a tile ends where the next one begins."
        elif pairs.ndim == 2 and n != m and pairs[:, 0].max() == pairs[:, 1].max():
            cause += "i and j go equally far, though the matrix is not square: n rows, m columns."
        else:
            cause += "What happens at ragged edges?"
        return Slip("number", expected, cause, f"{len(pairs)} of them")
    if (pairs < 0).any() or (pairs >= (n, m)).any():
        i, j = pairs[((pairs < 0) | (pairs >= (n, m))).any(axis=1)][0].tolist()
        return Slip(
            "outside",
            expected,
            "A tile at the edge has fewer rows or columns: min(start + size, n).",
            f"the pair ({i}, {j})",
        )
    if len(np.unique(pairs, axis=0)) < n * m:
        return Slip("twice", expected, "Some elements come twice, others never. Do your tiles overlap?", "doubles")
    lines, fetched = transposed_fetches(pairs, n, m)
    if fetched <= 1.25 * lines:
        return None
    _, plain = transposed_fetches(np.argwhere(np.ones((n, m), bool)), n, m)
    said = f"{fetched} lines fetched"
    if fetched >= 0.99 * plain:
        cause = (
            "That is as many as row by row. One of the two arrays is always walked down its columns; work on small "
            "squares, so that the lines of both stay in the cache until they are used up."
        )
    else:
        cause = (
            "The lines of out that one row of a tile writes to, one for each column, must still be there for its next "
            f"row: the cache has room for {ROOM} lines. And a tile of less than {FLOATS} rows leaves lines of out half "
            "used."
        )
    from ... import pictures

    moments = (
        (f"x[{i}, {j}] to out[{j}, {i}]", (("x", i, j // FLOATS), ("out", j, i // FLOATS))) for i, j in pairs.tolist()
    )
    shapes = {"x": (n, padded_length(m) // FLOATS), "out": (m, padded_length(n) // FLOATS)}
    picture = pictures.cache_of(moments, shapes, ROOM)
    return Slip("fetches", f"at most {int(1.25 * lines)} fetches for the {lines} lines", cause, said, picture)


def order_case(n, m):
    return Case(f"{n} x {m}", lambda rng: (n, m))


ORDER = FunctionTask(
    id="04-order",
    section=Section("4", "04_memory", "Use a line again before it leaves"),
    title="A transposition that fits into a small cache",
    objective="Order the elements of a transposition so that each line is fetched about once",
    points=5,
    minutes=20,
    judge=judge_order,
    advice={
        "raised-AttributeError": "`append` changes the list and returns None: write `pairs.append(...)` by itself."
    },
    cases=(order_case(16, 16), order_case(64, 64), order_case(48, 112), order_case(72, 100)),
    hints=(
        "Row by row, x is fine and out is not: which lines of out does one row of x need? How many rows later are they "
        "needed again, and are they still there?",
        "Move a square tile of s x s elements at a time. Each of its rows writes to the same s lines of out, which "
        f"should stay in the cache, beside those of x: room for {ROOM}. And s elements should fill whole lines. Which "
        "s does both?",
        "Two loops step from tile to tile, two more go through the rows and columns of one. Where does a tile at the "
        "edge end, if the matrix ends before it?",
    ),
)
