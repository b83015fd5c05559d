"""13-pack: Two of four, packed."""

import functools
import operator

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from ...plain import reals


def packed(dense):
    """(values (rows, cols / 2), indices uint8 (rows, ceil(cols / 8))): the two of largest size of each four, in
    order."""
    dense = np.asarray(dense, np.float64)
    rows, cols = dense.shape
    fours = dense.reshape(rows, cols // 4, 4)
    kept = np.sort(np.argsort(-np.abs(fours), axis=2, kind="stable")[:, :, :2], axis=2)
    values = np.take_along_axis(fours, kept, 2).reshape(rows, cols // 2)
    places = np.zeros((rows, -(-cols // 8) * 4), np.int64)
    places[:, : cols // 2] = kept.reshape(rows, cols // 2)
    indices = (places.reshape(rows, -1, 4) << np.array([0, 2, 4, 6])).sum(axis=2)
    return values, indices, kept


def judge_pack(arguments, result):
    (dense,) = arguments
    values, indices, kept = packed(dense)
    expected = f"values {np.round(values[0, :4], 3).tolist()}..., indices {indices[0, :2].tolist()}..."
    if not isinstance(result, tuple | list) or len(result) != 2:
        return Slip("type", expected, "Return two arrays: the values that stay, and the packed indices.")
    v, i = map(reals, result)
    if v is None or i is None:
        return Slip("type", expected, "Return two arrays of numbers.")
    if v.shape != values.shape:
        cause = f"Two of each four stay: {values.shape}."
        if v.shape == np.shape(dense):
            cause = "The dropped numbers are still there, as zeros. Only those that stay are stored: half of each row."
        return Slip("shape", expected, cause, f"values of shape {v.shape}")
    bad = np.argwhere(~(np.abs(v - values) <= 1e-6 * np.abs(values)))
    if bad.size:
        return _wrong_value(np.asarray(dense, np.float64), v, values, kept, int(bad[0][0]), int(bad[0][1]))
    if i.shape != indices.shape:
        cause = "A byte holds the two bits of four values, so there is one for each eight numbers of a row."
        return Slip("bytes", f"indices of shape {indices.shape}", cause, f"shape {i.shape}")
    bad = np.argwhere(i != indices)
    if not bad.size:
        return None
    r, c = (int(x) for x in bad[0])
    got, wanted = f"byte {i[r, c]:.0f} at [{r}, {c}]", f"{indices[r, c]} = {indices[r, c]:08b} in bits"
    fields = [(int(indices[r, c]) >> k) & 3 for k in (0, 2, 4, 6)]
    if i[r, c] == sum(f << (6 - 2 * k) for k, f in enumerate(fields)):
        return Slip(
            "order",
            wanted,
            "The first value's two bits are the lowest of the byte, and the next ones stand above them.",
            got,
        )
    if i[r, c] == sum(f << k for k, f in enumerate(fields)):
        return Slip("one-bit", wanted, "An index from 0 to 3 needs two bits: shift by 2 for each value.", got)
    absolute = (kept[r].reshape(-1) + 4 * np.repeat(np.arange(kept.shape[1]), 2))[4 * c : 4 * c + 4]
    shifted = [int(a) << (2 * k) for k, a in enumerate(absolute)]
    if i[r, c] % 256 in (sum(shifted) % 256, functools.reduce(operator.or_, shifted) % 256):
        return Slip(
            "column", wanted, "An index says where in its four the value stood, 0 to 3: not its column in the row.", got
        )
    return Slip(
        "indices",
        wanted,
        "Four values share a byte: index 0 in bits 0 and 1, the next in bits 2 and 3, and so on.",
        got,
    )


def _wrong_value(dense, v, values, kept, r, c):
    four = dense[r, 4 * (c // 2) : 4 * (c // 2) + 4]
    got = f"{v[r, c]:.6g} at [{r}, {c}], from the four {np.round(four, 3).tolist()}"
    wanted = f"{values[r, c]:.6g}"
    largest = np.sort(np.sort(four)[-2:])
    both = np.sort(v[r, 2 * (c // 2) : 2 * (c // 2) + 2])
    right = np.sort(values[r, 2 * (c // 2) : 2 * (c // 2) + 2])
    if np.allclose(both, right):
        return Slip(
            "swapped", wanted, "The right two, in another order: they stay in the order in which they stood.", got
        )
    if np.allclose(both, np.sort(np.abs(right))):
        return Slip("sizes", wanted, "This is its size. The number is stored, with its sign.", got)
    if np.allclose(both, largest):
        return Slip("largest", wanted, "The largest sizes stay: -3 before 1.", got)
    if np.allclose(both, np.sort(four[np.argsort(np.abs(four))[:2]])):
        return Slip("smallest", wanted, "These are the two of smallest size: they go, and the others stay.", got)
    if len({round(abs(float(x)), 9) for x in four}) < 4:
        return Slip(
            "ties",
            wanted,
            "Of equal sizes the first stay. A sort that keeps the order of equals is called stable.",
            got,
        )
    row = dense[r]
    if abs(v[r, c]) in np.abs(row) and v[r, c] not in four:
        return Slip(
            "of-the-row", wanted, "This number is from elsewhere in the row. Each four keeps two of its own.", got
        )
    return Slip("values", wanted, "Of each four neighbours of a row the two of largest size stay.", got)


def numbers(rows, fours, ties=False):
    def make(rng):
        x = rng.standard_normal((rows, 4 * fours)).astype(np.float32)
        return (np.round(x).astype(np.float32) if ties else x,)

    return make


PACK = FunctionTask(
    id="13-pack",
    section=Section("13.3", "13_sparse", "Two of four"),
    title="Two of four, packed",
    objective="Pack a matrix in which two of each four numbers stay, with two bits for each place",
    points=2,
    minutes=18,
    judge=judge_pack,
    cases=(
        Case("one row of eight", lambda rng: (np.array([[1, -5, 2, 0.5, 3, 4, -1, -6]], np.float32),)),
        Case("4 rows of 16", numbers(4, 4)),
        Case("an odd number of fours", numbers(3, 5)),
        Case("equal sizes among them", numbers(6, 8, True)),
        Case("32 rows of 64", numbers(32, 16)),
    ),
    advice={
        "raised-IndexError": "An odd number of fours ends in half a byte, and that needs a byte, too: ceil(cols / 8)."
    },
    hints=(
        "Write the matrix as (rows, cols / 4, 4). Which order of the last axis puts the two that stay first?",
        "argsort of minus the sizes, stable, gives places; the first two of them, sorted again, are in the order in "
        "which they stood.",
        "Four places p0 p1 p2 p3 make the byte p0 | p1 << 2 | p2 << 4 | p3 << 6. With an odd number of fours the last "
        "byte is half empty: fill up with zeros.",
    ),
)
