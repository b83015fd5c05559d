"""Examples of embedding and dropout. A size of an embedding is (..., rows of the table, width): ... that of indices."""

from dataclasses import replace

import numpy as np

from ..examples import VALUES, Examples, roundings

TABLES = (
    (1, 1), (1, 1, 1), (0, 3, 2), (5, 3, 0), (7, 3, 5), (5, 1, 4), (3, 4, 7, 3), (40, 6, 1), (7, 9, 4), (2, 3, 2, 2, 8),
)  # fmt: skip
LARGE_TABLES = ((1500, 103, 50), (3000, 2, 33), (40, 30, 700, 64), (9, 5000, 20))
TIMED_TABLES = ((2048, 103, 128), (32, 256, 5000, 64))


def embedding_arguments(draw, *shape):
    """No index names the row that gets no gradient: that would not be the slope."""
    *where, rows, width = shape
    rows = max(1, rows)
    input, padding = draw.indices(*where, below=rows), draw.one_of((None, 0, -1))
    if padding is not None and (input == padding % rows).any():
        padding = None
    return input, draw.array(rows, width), padding


def embedding_gradient_arguments(draw, *shape):
    *where, rows, width = shape
    rows = max(1, rows)
    grad, input = draw.array(*where, width), draw.indices(*where, below=rows)
    return grad, input, draw.array(rows, width), draw.one_of((None, 0, -1))


def _terms(arguments):
    """How many gradients each number of the table's gradient is the sum of."""
    _, input, weight, _ = arguments
    count = np.bincount(np.asarray(input).reshape(-1), minlength=len(weight))
    return np.broadcast_to(count[:, None], weight.shape)


def _sums_error(arguments, expected, eps):
    grad, input, weight, _ = arguments
    sizes = np.zeros(weight.shape)
    np.add.at(sizes, np.asarray(input), np.abs(np.asarray(grad, np.float64)))
    return (_terms(arguments) + 2) * eps * sizes


EMBEDDING = Examples(
    embedding_arguments, roundings(0, lambda *_: 0.0), TABLES, LARGE_TABLES, TIMED_TABLES, values=VALUES, seeds=3
)
EMBEDDING_BACKWARD = replace(
    EMBEDDING,
    arguments=embedding_gradient_arguments,
    allowed=_sums_error,
    values=("normal", "tiny"),  # the first rung multiplies by zero what other rungs leave out
    terms=_terms,
)

#: (p, training, seed, offset)
SETTINGS = (
    (0.5, True, 0, 0),
    (0.1, True, 2**63 + 5, 3),
    (0.9, True, 77, 2**34 - 6),
    (0.5, False, 1, 0),
    (0.0, True, 2, 1),
    (1.0, True, 3, 0),
    (0.25, True, 2**64 - 1, 2**40),
)


def dropout_arguments(draw, *shape):
    return draw.array(*shape), *draw.one_of(SETTINGS)


def dropout_error(arguments, expected, eps):
    return 2 * eps * np.where(np.isfinite(expected), np.abs(expected), 0.0)


DROPOUT = Examples(
    dropout_arguments,
    dropout_error,
    shapes=((), (0,), (1,), (2,), (31,), (300,), (3, 0), (7, 13), (2, 3, 5)),
    large=((100_003,), (333, 301)),
    timed=((1 << 12,), (1 << 20,)),
    seeds=len(SETTINGS),
)
