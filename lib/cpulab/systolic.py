"""A systolic array, stepped clock by clock: a product of matrices in which numbers move from neighbour to neighbour.

    run = weight_stationary(a, b, 16, 16)
    run.result, run.clocks, run.use, run.per_mac("reads a")

The array has rows x columns cells. In each clock a cell takes a number from its left neighbour and one from above,
does one multiply-add, and passes numbers on. Nothing waits: a number is right because it is there in the right clock.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Run:
    """What came out, and what it took."""

    result: np.ndarray  # (m, n), int64
    clocks: int
    cells: int
    counts: Counter  # macs; words that the edges read and write: "reads a", "reads b", "reads sums", "writes"

    @property
    def use(self):
        """The fraction of cells that did a multiply-add, over all clocks."""
        return self.counts["macs"] / (self.clocks * self.cells)

    def per_mac(self, *names):
        """The words of these counts for each multiply-add."""
        return sum(self.counts[name] for name in names) / self.counts["macs"]


def _sizes(a, b, rows, columns):
    """m, k, n of a product that an array of these cells can compute."""
    for name, x in (("a", a), ("b", b)):
        if x.dtype.kind not in "iu" or x.dtype == np.uint64:
            raise TypeError(f"{name} is {x.dtype}; expected integers that an int64 can hold, which are added exactly.")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or 0 in a.shape + b.shape:
        raise ValueError(f"a is {a.shape} and b {b.shape}; expected (m, k) and (k, n), none of them 0.")
    if rows < 1 or columns < 1:
        raise ValueError(f"The array has {rows} x {columns} cells; expected at least one.")
    return *a.shape, b.shape[1]


def weight_stationary(a, b, rows, columns, ahead=False, early=0, watch=None):
    """a @ b. A tile of b stays in the cells, rows of a go through it, sums go down and leave at the bottom.

    a (m, k), b (k, n): integers, which are added as int64. rows, columns: cells of the array. ahead: a second set of
    set of weights, filled while the first one is used, through registers beside them. early: clocks by which a starts
    too soon, 0 to rows, so that the result is wrong.
    watch: called as watch(clock, weights, a, sums, result) after each clock. Returns a `Run`; TypeError for what are no
    integers, ValueError for other shapes. The idea: Kung, "Why systolic architectures?", 1982.
    """
    m, k, n = _sizes(a, b, rows, columns)
    if not 0 <= early <= rows:
        raise ValueError(f"a starts {early} clocks early; expected 0 to {rows}, as weights come down in {rows}.")
    tiles = [(p, j) for j in range(0, n, columns) for p in range(0, k, rows)]
    alone = 2 * rows + columns + m - 2
    starts = [rows - early + t * (max(m, rows) if ahead else alone) for t in range(len(tiles))]
    clocks = starts[-1] + m + rows + columns - 2
    feed_a, row_of = np.zeros((clocks, rows), np.int64), np.full((clocks, rows), -1)
    feed_b, set_of = np.zeros((clocks, 2, columns), np.int64), np.full((clocks, columns), -1)
    down = np.zeros((clocks, columns), bool)  # the last clock in which weights of a tile come down
    for t, (p, j) in enumerate(tiles):
        part = np.zeros((rows, 2, columns), np.int64)  # weights, and 1 where there is one
        part[: k - p, 0, : n - j] = b[p : p + rows, j : j + columns]
        part[: k - p, 1, : n - j] = 1
        for r in range(rows):  # row r starts r clocks later: its sums come from above
            now = slice(starts[t] + r, starts[t] + r + m)
            row_of[now, r] = t * m + np.arange(m)
            feed_a[now, r] = a[:, p + r] if p + r < k else 0
        for c in range(columns):  # the last row first, as it goes down furthest
            begin = starts[t] + early - rows + c * ahead
            feed_b[begin : begin + rows, :, c], set_of[begin : begin + rows, c] = part[::-1, :, c], t % 2
            down[begin + rows - 1, c] = True

    chain, weights = np.zeros((rows, 2, columns), np.int64), np.zeros((2, rows, 2, columns), np.int64)
    x, sums, which = np.zeros((3, rows, columns), np.int64)
    which -= 1
    result, counts = np.zeros((m, n), np.int64), Counter()
    for clock in range(clocks):
        x[:, 1:], which[:, 1:] = x[:, :-1].copy(), which[:, :-1].copy()
        sums[1:] = sums[:-1].copy()
        x[:, 0], which[:, 0], sums[0] = feed_a[clock], row_of[clock], 0
        busy, tile = which >= 0, which // m
        used = np.where(tile % 2, weights[1].swapaxes(0, 1), weights[0].swapaxes(0, 1))
        sums += np.where(busy, x * used[0], 0)
        real = busy & (used[1] == 1)
        counts["macs"] += np.count_nonzero(real)
        counts["reads a"] += np.count_nonzero(real[:, 0])
        for c in np.flatnonzero(which[-1] >= 0):
            (p, j), i = tiles[tile[-1, c]], which[-1, c] % m
            if j + c < n:
                counts["reads sums"] += p > 0
                counts["writes"] += 1
                result[i, j + c] += sums[-1, c]
        loads = set_of[clock] >= 0  # what comes down now is used from the next clock on
        chain[1:, :, loads] = chain[:-1, :, loads].copy()
        chain[0][:, loads] = feed_b[clock][:, loads]
        counts["reads b"] += feed_b[clock, 1, loads].sum()
        for s in (0, 1):  # one set is its own chain; of two, one may still be in use while weights pass by
            loaded = (set_of[clock] == s) & (down[clock] if ahead else True)
            weights[s, :, :, loaded] = chain[:, :, loaded].transpose(2, 0, 1)
        if watch:
            watch(clock, weights[0, :, 0], np.where(busy, x, 0), np.where(busy, sums, 0), result)
    return Run(result, clocks, rows * columns, counts)


def output_stationary(a, b, rows, columns):
    """a @ b. The sums of a tile of the result stay in the cells; rows of a and columns of b go through it.

    Arguments, result and errors as of `weight_stationary`.
    """
    m, k, n = _sizes(a, b, rows, columns)
    result, counts, clocks = np.zeros((m, n), np.int64), Counter(), 0
    for i in range(0, m, rows):
        for j in range(0, n, columns):
            part_a, part_b = a[i : i + rows], b[:, j : j + columns]
            down, across = len(part_a), part_b.shape[1]
            x, y, sums = np.zeros((3, rows, columns), np.int64)
            step = k + rows + columns - 2
            feed_a, feed_b = np.zeros((step, rows), np.int64), np.zeros((step, columns), np.int64)
            for r in range(down):
                feed_a[r : r + k, r] = part_a[r]
            for c in range(across):
                feed_b[c : c + k, c] = part_b[:, c]
            for clock in range(step):
                x[:, 1:], y[1:] = x[:, :-1].copy(), y[:-1].copy()
                x[:, 0], y[0] = feed_a[clock], feed_b[clock]
                sums += x * y
                age = clock - np.add.outer(np.arange(down), np.arange(across))  # of the pair that meets in a cell
                counts["macs"] += np.count_nonzero((age >= 0) & (age < k))
                counts["reads a"] += np.count_nonzero((age[:, 0] >= 0) & (age[:, 0] < k))
                counts["reads b"] += np.count_nonzero((age[0] >= 0) & (age[0] < k))
            for left in range(rows - 1, -1, -1):  # the sums go down and leave
                if left < down:
                    result[i + left, j : j + across] = sums[-1, :across]
                    counts["writes"] += across
                sums[1:] = sums[:-1].copy()
            clocks += step + rows
    return Run(result, clocks, rows * columns, counts)
