"""Answers to 04-lab."""


def _blocks(n, m, height, width):
    for top in range(0, n, height):
        for left in range(0, m, width):
            yield range(top, min(top + height, n)), range(left, min(left + width, m))


def _row_by_row(rows, columns):
    return [s for i in rows for s in [*(("x", i, j) for j in columns), *(("out", j, i) for j in columns)]]


def four_by_four_in_hand(n, m):
    """right"""
    steps = []
    for top in range(0, n, 16):
        for left in range(0, m, 16):
            # Within a tile of 16 x 16, lines of out come with four columns each.
            for a in range(0, 16, 8):
                for b in range(0, 16, 8):
                    for rows, columns in _blocks(8, 8, 4, 4):
                        block = [
                            (top + a + i, left + b + j)
                            for i in rows
                            for j in columns
                            if top + a + i < n and left + b + j < m
                        ]
                        steps += [("x", i, j) for i, j in block]
                        steps += [("out", j, i) for i, j in block]
    return steps


def best_known(n, m):
    """right"""
    steps = []
    for top in range(0, n, 16):
        for left in range(0, m, 16):
            if (
                top == left
            ):  # x and out want the same slots: blocks of 4 x 4, each wholly in hand, in an order found by search
                for k in (10, 14, 12, 15, 4, 5, 1, 2, 6, 7, 3, 0, 11, 13, 9, 8):
                    a, b = top + k // 4 * 4, left + k % 4 * 4
                    block = [(i, j) for i in range(a, min(a + 4, n)) for j in range(b, min(b + 4, m))]
                    steps += [("x", i, j) for i, j in block] + [("out", j, i) for i, j in block]
                continue
            # Four quarters, each but the first with eight lines that are there already. The first row's half for the
            # last quarter stays in hand, so that its line need not be fetched again.
            first, second = range(top, min(top + 8, n)), range(top + 8, min(top + 16, n))
            near, far = range(left, min(left + 8, m)), range(left + 8, min(left + 16, m))
            steps += [("x", top, j) for j in far]
            for rows, columns in ((first, near), (second, near), (second, far)):
                steps += [s for i in rows for j in columns for s in (("x", i, j), ("out", j, i))]
            steps += [("out", j, top) for j in far]
            steps += [s for i in first[1:] for j in far for s in (("x", i, j), ("out", j, i))]
    return steps


def by_rows(n, m):
    """over budget over-budget: the rows r and r + 8"""
    return [s for i in range(n) for j in range(m) for s in (("x", i, j), ("out", j, i))]


def tiles_of_16(n, m):
    """over budget over-budget: How many rows can a tile have"""
    return [s for rows, columns in _blocks(n, m, 16, 16) for s in _row_by_row(rows, columns)]


def tiles_of_8_without_a_hand(n, m):
    """over budget over-budget: what may be in hand"""
    return [
        s for rows, columns in _blocks(n, m, 8, 8) for i in rows for j in columns for s in (("x", i, j), ("out", j, i))
    ]


def nothing_is_in_hand(n, m):
    """wrong empty: take x[0, 0] first"""
    return [s for i in range(n) for j in range(m) for s in (("out", j, i), ("x", i, j))]


def a_hand_of_64(n, m):
    """wrong full: 17 numbers are in hand"""
    return [
        s
        for rows, columns in _blocks(n, m, 8, 8)
        for s in [*(("x", i, j) for i in rows for j in columns), *(("out", j, i) for i in rows for j in columns)]
    ]


def pairs(n, m):
    """wrong type: A step is ("x", i, j)"""
    return [(i, j) for i in range(n) for j in range(m)]


def a_generator(n, m):
    """wrong raised-NotPlain: a generator; write `list(...)` around it"""
    return ({"x"} for i in range(n))


def half(n, m):
    """wrong left: Every element must come to its place"""
    return [s for i in range(n // 2) for j in range(m) for s in (("x", i, j), ("out", j, i))]


def kept_in_hand(n, m):
    """wrong left: in hand"""
    steps = [s for i in range(n) for j in range(m) for s in (("x", i, j), ("out", j, i))]
    return steps[:-1]


def nothing_at_all(n, m):
    """wrong left: never taken"""
    return []


def not_transposed(n, m):
    """wrong empty: rows and columns are exchanged"""
    return [s for i in range(n) for j in range(m) for s in (("x", i, j), ("out", i, j))]


def twice(n, m):
    """wrong twice: was taken before"""
    return 2 * [s for i in range(n) for j in range(m) for s in (("x", i, j), ("out", j, i))]


def laid_down_twice(n, m):
    """wrong empty: It was laid down before"""
    return [s for i in range(n) for j in range(m) for s in (("x", i, j), ("out", j, i), ("out", j, i))][: 4 * n * m]


def outside(n, m):
    """wrong outside: out has the shape"""
    return [s for i in range(n + 1) for j in range(m) for s in (("x", i, j), ("out", j, i))]


def from_the_end(n, m):
    """wrong outside: x has the shape"""
    return [("x", -1, 0), ("out", 0, -1)]


def always_64(n, m):
    """wrong number: Every element is taken once"""
    return [s for i in range(64) for j in range(64) for s in (("x", i, j), ("out", j, i))]


def halves_of_indices(n, m):
    """wrong type: A step is ("x", i, j)"""
    return [("x", 0.5, 0)]


def lists_for_names(n, m):
    """wrong type: step 1 is"""
    return [(["x"], 0, 0)]


def other_names(n, m):
    """wrong type: step 1 is ('y', 0, 0)"""
    return [("y", 0, 0)]
