"""Examples of sparse products. A size is (rows, columns) of the sparse matrix, then N of the dense one.

Where another number follows, it is how many entries a row has at most. What the matrix looks like goes by the seed:
entries spread evenly; uneven, with empty rows, columns in any order and some of them twice; all of them in one row.
"""

from dataclasses import replace

import numpy as np

from ..examples import Examples
from . import reference

PATTERNS = ("even", "uneven", "one row")
MANY = 1 << 15  # elements from which on a matrix is thinner
BLOCKS = (4, 8, 16, 32, (3, 5), (1, 2))
VALUES = ("normal", "tiny", "few")  # products of huge numbers overflow in float32 and not in the reference


def pattern(draw, rows, columns, most=None):
    """(crow_indices, col_indices) as int64, of a kind that the seed chooses."""
    random, kind = draw.random, draw.one_of(PATTERNS)
    density = 0.3 if rows * columns < MANY else 0.05
    usual = density * columns if most is None else min(most, columns) / 2
    if kind == "even":
        counts = random.binomial(columns, min(1.0, usual / max(columns, 1)), rows)
    elif kind == "uneven":  # most rows are empty or short, a few are long
        counts = np.minimum(random.pareto(1.0, rows) * usual / 2, 2 * columns).astype(np.int64)
    else:
        counts = np.zeros(rows, np.int64)
        if rows:
            counts[random.integers(rows)] = usual * rows if columns else 0
    if most is not None and kind != "one row":
        counts = np.minimum(counts, most)
    counts = counts * (columns > 0)
    col_indices = random.integers(0, max(columns, 1), int(counts.sum()))
    crow_indices = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if kind == "even":  # sorted, none twice
        for i in range(rows):
            line = slice(crow_indices[i], crow_indices[i + 1])
            col_indices[line] = np.sort(random.permutation(columns)[: counts[i]])
    return crow_indices, col_indices


def csr(draw, rows, columns, most=None):
    """(crow_indices, col_indices, values), with int32 and int64 in turn."""
    crow_indices, col_indices = pattern(draw, rows, columns, most)
    dtype = (np.int32, np.int64)[draw.seed // len(PATTERNS) % 2]
    values = draw.array(len(col_indices))
    return draw.placed(crow_indices.astype(dtype)), draw.placed(col_indices.astype(dtype)), values


def _sizes(*arrays):
    return [np.abs(np.asarray(x, np.float64)) for x in arrays]


def _terms(crow_indices, columns=1):
    """How many numbers each element of a product is the sum of: (rows, 1)."""
    return np.diff(np.asarray(crow_indices))[:, None] * np.ones(columns)


# ---- CSR -------------------------------------------------------------------------------------------------------------

SHAPES = (
    (1, 1), (0, 3), (3, 0), (5, 7), (17, 9), (1, 40), (40, 1), (13, 20), (6, 9, 4), (30, 5, 1), (9, 9, 0), (1, 1, 1),
)  # fmt: skip
LARGE = ((301, 333), (5000, 70), (7, 20_011), (20_000, 30, 3), (700, 900, 90))
TIMED = ((1024, 1024), (20_000, 20_000, 40))


def vector_arguments(draw, rows, columns, most=None):
    return *csr(draw, rows, columns, most), draw.array(columns)


def _vector_error(arguments, expected, eps):
    crow_indices, col_indices, values, input = arguments
    with np.errstate(invalid="ignore"):
        size = reference.spmv(crow_indices, col_indices, *_sizes(values, input))
    return (_terms(crow_indices)[:, 0] + 2) * eps * size


SPMV = Examples(vector_arguments, _vector_error, SHAPES, LARGE, TIMED, values=VALUES, seeds=2 * len(PATTERNS))

MATRICES = (
    (1, 1, 1), (0, 3, 2), (3, 0, 4), (3, 4, 0), (5, 7, 3), (9, 5, 6), (6, 8, 17), (1, 30, 5), (3, 3, 33), (20, 3, 1),
    (6, 9, 5, 4), (5, 5, 2, 0), (1, 1, 1, 1),
)  # fmt: skip
LARGE_MATRICES = ((301, 333, 20), (70, 50, 515), (5, 4000, 37), (3000, 40, 8), (900, 300, 130, 30))
TIMED_MATRICES = ((1024, 1024, 64), (1024, 1024, 512))


def matrix_arguments(draw, rows, columns, width, most=None):
    return *csr(draw, rows, columns, most), draw.array(columns, width)


def _matrix_error(arguments, expected, eps):
    crow_indices, col_indices, values, dense = arguments
    size = reference.spmm(crow_indices, col_indices, *_sizes(values, dense))
    return (_terms(crow_indices) + 2) * eps * size


SPMM = Examples(
    matrix_arguments, _matrix_error, MATRICES, LARGE_MATRICES, TIMED_MATRICES, values=VALUES, seeds=2 * len(PATTERNS)
)


def gradient_arguments(draw, rows, columns, width, most=None):
    return draw.array(rows, width), *matrix_arguments(draw, rows, columns, width, most)


def _arriving(arguments):
    """How many numbers each element of the dense matrix's gradient is the sum of."""
    _, _, col_indices, _, dense = arguments
    return np.bincount(np.asarray(col_indices), minlength=len(dense))[:, None] * np.ones(dense.shape)


def _gradient_error(arguments, expected, eps):
    grad, crow_indices, col_indices, values, dense = arguments
    sizes = reference.spmm_backward(*_sizes(grad), crow_indices, col_indices, *_sizes(values, dense))
    return (dense.shape[1] + 2) * eps * sizes[0], (_arriving(arguments) + 2) * eps * sizes[1]


SPMM_BACKWARD = replace(
    SPMM,
    arguments=gradient_arguments,
    allowed=_gradient_error,
    terms=lambda arguments: (np.zeros(arguments[3].shape), _arriving(arguments)),
)


def dense_arguments(draw, rows, columns, percent=30):
    """A matrix with zeros, or a mask that says what is stored, in turn."""
    dense, kept = draw.array(rows, columns), draw.random.random((rows, columns)) < percent / 100
    if draw.one_of((True, False)):
        return dense, draw.placed(kept)
    return draw.placed(np.where(kept, np.asarray(dense), np.asarray(0, dense.dtype))), None


TO_CSR = Examples(
    dense_arguments,
    lambda arguments, expected, eps: (0, 0, 0),
    ((1, 1), (0, 3), (3, 0), (5, 7), (17, 33), (1, 40), (40, 1), (9, 13, 100), (6, 9, 0), (1, 1, 1)),
    ((301, 333), (3, 70_001), (50_001, 5)),
    ((1024, 1024),),
    seeds=2,
)


def stored_arguments(draw, rows, columns, most=None):
    return *csr(draw, rows, columns, most), (rows, columns)


def _stored_error(arguments, expected, eps):
    crow_indices, col_indices, values, shape = arguments
    size = reference.to_dense(crow_indices, col_indices, *_sizes(values), shape)
    return (_terms(crow_indices) + 1) * eps * size


TO_DENSE = Examples(
    stored_arguments, _stored_error, SHAPES, LARGE[:2], TIMED[:1], values=VALUES, seeds=2 * len(PATTERNS)
)


# ---- blocks ----------------------------------------------------------------------------------------------------------


def block_arguments(draw, rows, columns, width, most=None):
    """`rows` and `columns` count blocks."""
    crow_indices, col_indices = pattern(draw, rows, columns, most)
    size = BLOCKS[draw.seed // len(PATTERNS) % len(BLOCKS)]
    height, across = size if isinstance(size, tuple) else (size, size)
    dtype = (np.int32, np.int64)[draw.seed % 2]
    values = draw.array(len(col_indices), height, across)
    indices = draw.placed(crow_indices.astype(dtype)), draw.placed(col_indices.astype(dtype))
    return *indices, values, draw.array(columns * across, width)


def _block_error(arguments, expected, eps):
    crow_indices, col_indices, values, dense = arguments
    size = reference.bsr_mm(crow_indices, col_indices, *_sizes(values, dense))
    terms = np.repeat(_terms(crow_indices), values.shape[1], axis=0) * values.shape[2]
    return (terms + 2) * eps * size


BSR_MM = Examples(
    block_arguments,
    _block_error,
    (
        (1, 1, 1),
        (0, 3, 2),
        (3, 0, 4),
        (3, 4, 0),
        (2, 3, 5),
        (4, 2, 7),
        (3, 3, 33),
        (5, 1, 16),
        (2, 5, 3, 4),
        (1, 1, 1, 1),
    ),
    ((40, 30, 70), (9, 17, 515), (100, 3, 33, 2)),
    ((64, 64, 64), (64, 64, 512)),
    values=VALUES,
    seeds=len(PATTERNS) * len(BLOCKS),
)


# ---- two of four -----------------------------------------------------------------------------------------------------

WEIGHTS = ((1, 1), (0, 3), (3, 0), (5, 7), (17, 2), (1, 9), (2, 1, 3), (0, 1, 2), (1, 1, 1))
TO_2_4 = Examples(
    lambda draw, *shape: (draw.array(int(np.prod(shape[:-1])), 4 * shape[-1]),),
    lambda arguments, expected, eps: (0, 0),
    WEIGHTS,
    ((301, 283), (3, 17_001)),
    ((1024, 256),),
    dtypes=("float32", "float64", "float16", "bfloat16"),
    seeds=1,
)

#: (..., columns / 4, rows)
LAYERS = ((1, 1), (5, 7), (2, 3), (0, 3), (3, 0, 2), (4, 5, 0), (7, 3, 5), (9, 8, 17), (2, 3, 9, 4), (1, 1, 1))
LARGE_LAYERS = ((300, 33, 130), (5, 260, 301), (1, 100, 700), (2, 70, 40, 90))


def packed(draw, rows, fours):
    """(values, indices) of a random weight."""
    values = draw.array(rows, 2 * fours)
    first = draw.random.integers(0, 3, (rows, fours))
    second = draw.random.integers(first + 1, 4)
    codes = np.pad((first | second << 2).astype(np.uint8), ((0, 0), (0, fours % 2)))
    return values, draw.placed(codes[:, ::2] | codes[:, 1::2] << 4)


def layer_arguments(draw, *shape):
    *stack, fours, rows = shape
    values, indices = packed(draw, rows, fours)
    bias = replace(draw, dtype=_sums(draw.dtype)).array(rows) if draw.one_of((True, False)) else None
    return draw.array(*stack, 4 * fours), values, indices, bias


def _sums(dtype):
    return "float64" if dtype == "float64" else "float32"


def _layer_error(arguments, expected, eps):
    input, values, indices, bias = arguments
    input, values = (reference.widened(x) if x.dtype == np.uint16 else x for x in (input, values))
    size = reference.linear_2_4(*_sizes(input, values), indices, None if bias is None else np.abs(bias))
    return (values.shape[1] + 3) * eps * size


LINEAR_2_4 = Examples(layer_arguments, _layer_error, LAYERS, LARGE_LAYERS, ((64, 256, 1024),), values=VALUES, seeds=2)
LINEAR_2_4_HALF = replace(LINEAR_2_4, dtypes=("float16", "bfloat16"), values=("normal",))
