"""Answers to 13-pack."""

import numpy as np
from answers import MASTER, edit, replace


def by_loops(dense):
    """right"""
    rows, cols = dense.shape
    values = np.zeros((rows, cols // 2))
    packed = np.zeros((rows, (cols + 7) // 8), dtype=np.uint8)
    for r in range(rows):
        for f in range(cols // 4):
            four = [(-abs(float(dense[r, 4 * f + p])), p) for p in range(4)]
            first, second = sorted([p for _, p in sorted(four)[:2]])
            values[r, 2 * f], values[r, 2 * f + 1] = dense[r, 4 * f + first], dense[r, 4 * f + second]
            packed[r, f // 2] |= (first | second << 2) << (4 * (f % 2))
    return values, packed


def by_masks(dense):
    """right"""
    rows, cols = dense.shape
    sizes = np.abs(dense).reshape(-1, 4).astype(np.float64)
    beaten = np.zeros(sizes.shape, np.int64)
    for p in range(4):
        for q in range(4):
            beaten[:, p] += (sizes[:, q] > sizes[:, p]) | ((sizes[:, q] == sizes[:, p]) & (q < p))
    stay = beaten < 2
    values = dense.reshape(-1, 4)[stay].reshape(rows, cols // 2)
    places = np.tile(np.arange(4), (len(stay), 1))[stay].reshape(rows, cols // 2)
    room = np.zeros((rows, -(-cols // 8) * 4), np.int64)
    room[:, : cols // 2] = places
    return [values, (room.reshape(rows, -1, 4) * np.array([1, 4, 16, 64])).sum(axis=2)]


with_zeros = edit(
    MASTER,
    "wrong shape: The dropped numbers are still there",
    replace(
        "return values, packed",
        "full = np.zeros(fours.shape)\nnp.put_along_axis(full, kept, values.reshape(rows, -1, 2), 2)\nreturn "
        "full.reshape(rows, cols), packed",
    ),
)
largest = edit(MASTER, "wrong largest: The largest sizes stay", replace("-np.abs(fours)", "-fours"))
smallest = edit(MASTER, "wrong smallest: they go", replace("-np.abs(fours)", "np.abs(fours)"))
by_size = edit(
    MASTER,
    "wrong swapped: in the order in which they stood",
    replace("np.sort(order[:, :, :2], axis=2)", "order[:, :, :2]"),
)
last_of_equals = edit(
    MASTER,
    "wrong ties: is called stable",
    replace(
        'order = np.argsort(-np.abs(fours), axis=2, kind="stable")',
        'order = 3 - np.argsort(-np.abs(fours[:, :, ::-1]), axis=2, kind="stable")',
    ),
)
sizes = edit(
    MASTER,
    "wrong sizes: with its sign",
    replace("np.take_along_axis(fours, kept, 2)", "np.take_along_axis(np.abs(fours), kept, 2)"),
)
first_is_high = edit(
    MASTER,
    "wrong order: are the lowest of the byte",
    replace(
        "places[:, :, 0] | places[:, :, 1] << 2 | places[:, :, 2] << 4 | places[:, :, 3] << 6",
        "places[:, :, 0] << 6 | places[:, :, 1] << 4 | places[:, :, 2] << 2 | places[:, :, 3]",
    ),
)
one_bit_each = edit(
    MASTER,
    "wrong one-bit: needs two bits",
    replace(
        "places[:, :, 0] | places[:, :, 1] << 2 | places[:, :, 2] << 4 | places[:, :, 3] << 6",
        "places[:, :, 0] + (places[:, :, 1] << 1) + (places[:, :, 2] << 2) + (places[:, :, 3] << 3)",
    ),
)
columns = edit(
    MASTER,
    "wrong column: not its column in the row",
    replace(
        "kept.reshape(rows, cols // 2)\n",
        "(kept + 4 * np.arange(cols // 4).reshape(1, -1, 1)).reshape(rows, cols // 2)\n",
    )
    if False
    else replace(
        "places[:, : cols // 2] = kept.reshape(rows, cols // 2)",
        "places[:, : cols // 2] = (kept + 4 * np.arange(cols // 4).reshape(1, -1, 1)).reshape(rows, cols // 2)",
    ),
    replace("return values, packed", "return values, packed % 256"),
)
a_byte_each = edit(
    MASTER,
    "wrong bytes: two bits of four values",
    replace("return values, packed", "return values, kept.reshape(rows, cols // 2)"),
)
values_only = edit(MASTER, "wrong type: Return two arrays", replace("return values, packed", "return values"))
of_the_row = edit(
    MASTER,
    "wrong of-the-row: Each four keeps two of its own",
    replace(
        "return values, packed",
        "best = np.sort(np.argsort(-np.abs(dense), axis=1)[:, : cols // 2], axis=1)\nreturn np.take_along_axis(dense, "
        "best, 1), packed",
    ),
)
no_numbers = edit(
    MASTER, "wrong values: two of largest size", replace("return values, packed", "return values * np.nan, packed")
)
