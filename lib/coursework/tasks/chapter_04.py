"""Tasks of chapter 04, Memory. Everything is counted: cache lines, sets, fetches of a small model cache, vector
work."""

import numpy as np

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.function import FunctionTask
from ..kinds.measured import Card, MeasuredTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

LINE = 64  # bytes in a line, in all tasks: the check counts alike on every machine
FLOATS = LINE // 4  # float32 in a line

# 04-lines ----------------------------------------------------------------------------------------------------

ROWS, COLUMNS = 100, 1000
RECORDS, RECORD = 1000, 6  # numbers in a record


def _line_map(*shape):
    """Which lines the elements of an array of float32 lie on; it begins at a line."""
    from cpulab.measure import empty_aligned, line_map

    return line_map(empty_aligned(shape, line=LINE), line=LINE)


def _two_columns(room):
    """Lines fetched when the first two columns are used one after the other."""
    order = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)[:, :2].T.ravel()
    return _line_map(ROWS, COLUMNS).fetches(order, room)


def _small_walk(room):
    """The same question with ten rows: two columns, and what a cache of `room` lines holds."""
    from .. import pictures

    return pictures.walk([*range(10), *range(10)], room, [f"row {k}" for k in range(10)], "Ten rows: column 0, then 1")


_DRAW = "Write down the byte at which each element begins, and divide by 64: how many different whole numbers?"

LINES = PredictionTask(
    id="04-lines",
    section=Section("4", "04_memory", "Cache lines"),
    title="Predict cache lines, then measure",
    objective="Predict how many cache lines a loop touches and fetches",
    points=3,
    minutes=20,
    questions=(
        Question(
            "row",
            f"lines of row 0 of a ({ROWS}, {COLUMNS}) matrix",
            lambda: _line_map(ROWS, COLUMNS).touched(np.s_[0]),
            {
                COLUMNS: "One line for each element? A line holds 16 float32.",
                4 * COLUMNS: "That is the number of bytes. How many lines of 64 bytes do they fill?",
                COLUMNS // FLOATS: "That many lines are full. What about the rest of the row?",
            },
            _DRAW,
        ),
        Question(
            "column",
            f"lines of column 0 of the same ({ROWS}, {COLUMNS}) matrix",
            lambda: _line_map(ROWS, COLUMNS).touched(np.s_[:, 0]),
            {
                7: "That would be 100 neighbours. How many bytes lie between two elements of a column?",
                6: "That would be 100 neighbours. How many bytes lie between two elements of a column?",
                ROWS * 63: "That is every line of the matrix. Only one element of each row is used.",
            },
            _DRAW,
        ),
        Question(
            "every_eighth",
            "lines of every eighth element of row 0, x[0, ::8]",
            lambda: _line_map(ROWS, COLUMNS).touched(np.s_[0, ::8]),
            {
                COLUMNS // 8: "That is the number of elements. Two of them lie 32 bytes apart: in how many lines?",
                8: "An eighth of the elements; of the lines, too? Which line of the row has none of them?",
            },
            "Which lines of the row hold none of these elements?",
        ),
        Question(
            "one_field_aos",
            f"lines of field 0 of {RECORDS} records of {RECORD} float32, AoS",
            lambda: _line_map(RECORDS, RECORD).touched(np.s_[:, 0]),
            {
                RECORDS: "A record has 24 bytes, less than a line: some lines hold field 0 of two or three records.",
                63: "That many hold field 0 if it is stored by itself (SoA). Here the other fields lie between.",
            },
            "How many bytes do all the records take? Is there a line among them without a field 0?",
        ),
        Question(
            "one_field_soa",
            f"lines of field 0 of {RECORDS} records of {RECORD} float32, SoA",
            lambda: _line_map(RECORD, RECORDS).touched(np.s_[0]),
            {
                RECORDS: "In SoA the values of a field are neighbours: a line holds 16 of them.",
                375: "That is AoS. In SoA the values of a field are neighbours.",
                RECORDS // FLOATS: "That many lines are full. What about the rest?",
            },
            _DRAW,
        ),
        Question(
            "small_cache",
            "lines fetched for column 0, then column 1, by a cache with room for 64 lines",
            lambda: _two_columns(64),
            {
                ROWS: "When column 1 begins, is the line of row 0 still there? 99 others came after it.",
                ROWS + 36: "Which line goes when a new one comes: the one used longest ago. Which is needed next?",
            },
            "Follow the line of row 0: when is it fetched, when does it have to go, when is it needed again?",
            picture=lambda: _small_walk(6),
        ),
        Question(
            "larger_cache",
            "the same with room for 128 lines",
            lambda: _two_columns(128),
            {
                2 * ROWS: "When column 1 begins, all the lines of column 0 are still there. Which hold its elements?",
                ROWS + 28: "The cache has room for more lines than are needed. Which line would have to go?",
            },
            "How many different lines do the two columns lie in?",
            picture=lambda: _small_walk(12),
        ),
    ),
    hints=(
        "In which line does byte 0 lie, and byte 63, and byte 64? At which byte does element [1, 0] begin?",
        "Lines of a row: its bytes divided by 64, rounded up. Where elements lie 64 bytes or more apart, each has a line of "
        "its own. Where they lie closer, no line on the way is left out.",
        "A row is 4000 bytes long. Records of 6 float32 take 24 bytes, 1000 of them 24,000: all lines of those are touched. A "
        "column needs 100 lines: do they all fit into the cache until the next column begins?",
    ),
)

# 04-channels -------------------------------------------------------------------------------------------------


def channel_arguments(*shape):
    """make(rng) -> x of that shape (..., channels), scale and shift of shape (channels,), out."""
    return lambda rng: (
        random_values(rng, *shape),
        random_values(rng, shape[-1]),
        random_values(rng, shape[-1]),
        unwritten(*shape),
    )


def _wide(x):
    return x.astype(np.float64)


CHANNELS = CompiledTask(
    id="04-channels",
    section=Section("4.2", "04_vectors", "Vectors"),
    title="Scale and shift, channels last",
    objective="Order the loops over an NHWC image so that the compiler vectorises the inner one",
    points=2,
    minutes=10,
    spec=lambda x, scale, shift, out: _wide(x) * scale + shift,
    cases=(
        Case("square: 2 x 4 x 4 x 4", channel_arguments(2, 4, 4, 4)),
        Case("one pixel: 1 x 1 x 1 x 5", channel_arguments(1, 1, 1, 5)),
        Case("ragged: 3 x 5 x 7 x 19", channel_arguments(3, 5, 7, 19)),
    ),
    suspects=(
        Suspect(lambda x, scale, shift, out: _wide(x) * scale, "This is x * scale: the shift is missing."),
        Suspect(lambda x, scale, shift, out: _wide(x) + shift, "This is x + shift: the scale is missing."),
        Suspect(
            lambda x, scale, shift, out: (_wide(x) + shift) * scale, "This is (x + shift) * scale: multiply first."
        ),
        Suspect(lambda x, scale, shift, out: _wide(x) * shift + scale, "Scale and shift are exchanged."),
        Suspect(
            lambda x, scale, shift, out: _wide(x) * scale[0] + shift[0],
            "All channels were treated like channel 0. The index of scale and shift is that of the channel.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. x has four axes: image, row, column, channel. scale and shift have one: channel."
        ),
        "wrong-value": (
            "Each element is x * scale + shift, in floating point (no int), with scale and shift of its own channel, the last index."
        ),
        "some-unwritten": "Not all images, rows, columns or channels were visited. Compare your four bounds with x.shape.",
    },
    budget=Budget(
        points=1,
        text="nearly all of the arithmetic on whole vectors, and no array allocated",
        require={"scalar_share": 0.1, "arrays": 0},
        over=(
            "The result is right, but the inner loop does not walk through neighbours in memory, or an array is made on the "
            "way. Which of the four axes has stride 1 (4 bytes)? It belongs into the inner loop."
        ),
        case=Case("2 x 5 x 7 x 128", channel_arguments(2, 5, 7, 128)),
    ),
    hints=(
        "Print x.strides of a (2, 5, 7, 128) array of float32. Along which axis are elements neighbours?",
        "Four loops: images, rows, columns of pixels, and channels innermost. scale and shift are read along the same axis.",
        "`for n in range(x.shape[0]):`, then `y`, then `z`, then `for c in range(x.shape[3]):` with "
        "`out[n, y, z, c] = x[n, y, z, c] * scale[c] + shift[c]`.",
    ),
)

# 04-sums -----------------------------------------------------------------------------------------------------


def sum_arguments(rows, columns):
    """make(rng) -> x of shape (rows, columns), w of shape (rows,), out of shape (columns,)."""
    return lambda rng: (random_values(rng, rows, columns), random_values(rng, rows), unwritten(columns))


SUMS = CompiledTask(
    id="04-sums",
    section=Section("4.2", "04_vectors", "Why was my loop not vectorised?"),
    title="A weighted sum of rows",
    objective="Arrange many sums side by side, so that each lane of a vector has one of its own",
    points=2,
    minutes=15,
    spec=lambda x, w, out: w.astype(np.float64) @ x,
    atol=1e-5,
    cases=(
        Case("square: 16 x 16", sum_arguments(16, 16)),
        Case("one row: 1 x 7", sum_arguments(1, 7)),
        Case("ragged: 9 x 133", sum_arguments(9, 133)),
        Case("one column: 12 x 1", sum_arguments(12, 1)),
    ),
    suspects=(
        Suspect(
            lambda x, w, out: _wide(x) @ w if x.shape[0] == x.shape[1] else np.zeros(0),
            "This is x @ w: the terms were added along each row. out[j] adds up column j.",
        ),
        Suspect(lambda x, w, out: _wide(x).sum(axis=0), "This is the sum of the rows: the weights are missing."),
        Suspect(
            lambda x, w, out: _wide(x)[-1] * w[-1],
            "This is the last row alone: the terms must be added up, not replaced.",
        ),
        Suspect(lambda x, w, out: w[1:].astype(np.float64) @ x[1:], "The first row is missing."),
        Suspect(lambda x, w, out: w[:-1].astype(np.float64) @ x[:-1], "The last row is missing."),
        Suspect(
            lambda x, w, out: (w.astype(np.float64) @ x) * (np.arange(out.size) < out.size - 1),
            "The last column is missing: the loop over the columns ends one too early.",
        ),
        Suspect(
            lambda x, w, out: w.astype(np.float64) @ x / len(x), "This is the mean of the rows. The sum is asked for."
        ),
        Suspect(
            lambda x, w, out: w.astype(np.float64) @ x + _wide(x)[0] * w[0],
            "The first row is added twice: before the loop, and in it.",
        ),
        Suspect(
            lambda x, w, out: np.cumsum(w.astype(np.float64) @ x),
            "Each sum contains the columns before: begin every column with 0.",
        ),
    ),
    advice={
        "not-finite": "out holds NaN at first, and NaN plus anything is NaN. Set out to 0 before you add.",
        "nothing-written": "Either nothing is stored, or something is added to NaN. Set out to 0 before you add.",
        "raised-IndexError": "An index left its array. out has an element for each column, w one for each row.",
        "raised-ImportError": "Write the two loops yourself: `w @ x` inside a numba function calls a library.",
    },
    budget=Budget(
        points=2,
        text="nearly all of the arithmetic on whole vectors, at most 3 accesses to memory for each vector multiply, no array allocated",
        require={"scalar_share": 0.1, "accesses_per_multiply": 3, "arrays": 0},
        over=(
            "The result is right, but one sum after the other is added up, number by number, or an array is made on the way. A "
            "vector holds many sums, if they are neighbours: let the inner loop go from one element of out to the next."
        ),
        case=Case("8 x 512", sum_arguments(8, 512)),
    ),
    hints=(
        "A vector register holds many numbers. If each of them is the sum of another column, in which order must x be read, "
        "and does the order of any sum change?",
        "The rows belong into the outer loop, the columns into the inner one. Every element of out collects its sum over many "
        "rounds of the outer loop, so it must start at 0.",
        "`out[:] = 0`, then `for i in range(x.shape[0]):` with `factor = w[i]`, and inside `for j in range(x.shape[1]): "
        "out[j] += factor * x[i, j]`.",
    ),
)

# 04-pad ------------------------------------------------------------------------------------------------------

SETS, WAYS = 64, 8


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
        cause = "The row must hold its columns. Padding adds elements, it takes none away; return the whole length of a row."
        return Slip("too-short", expected, cause)
    crowd = most_in_one_set(rows, result)
    if crowd > WAYS:
        cause = "Lines whose numbers differ by 64 share a set. Count for this length: line of row r is 4 * r * length // 64."
        if result == columns:
            cause = "This length needs padding. " + cause
        return Slip("crowded", f"at most {WAYS} lines of a column in one set, not {crowd}", cause)
    least = right_length(rows, columns)
    if result > least:
        cause = (
            "This length would do, but it wastes memory: in a shorter one no set gets more than 8 different lines, too. Try "
            "the lengths one after the other, from `columns` on. 8 lines do fit; rows in one line count it once; an element "
            "has 4 bytes."
        )
        return Slip("too-long", f"less than {result}", cause)
    return None


def _pad_case(rows, columns):
    return Case(f"{rows} rows, {columns} columns", lambda rng: (rows, columns))


PAD = FunctionTask(
    id="04-pad",
    section=Section("4", "04_memory", "Sets: why 1024 is slower than 1000"),
    title="Pad a matrix",
    objective="Compute the shortest row length at which a column fits into the sets of a cache",
    points=3,
    minutes=20,
    judge=judge_pad,
    cases=(
        _pad_case(64, 1000),
        _pad_case(64, 1024),
        _pad_case(256, 2048),
        _pad_case(500, 500),
        _pad_case(512, 768),
        _pad_case(512, 5),
        _pad_case(500, 71),
    ),
    hints=(
        "At which byte does element [r, 0] begin if a row has `length` elements of 4 bytes? In which line is that, and in "
        "which set?",
        "Write a helper that counts, for one length, how many lines of the column fall into each of the 64 sets. Then try "
        "length = columns, columns + 1, ... until no set has more than 8. Two rows may lie in one line: count it once.",
        "`lines = {4 * r * length // 64 for r in range(rows)}` is a set without doubles; a list `crowd = [0] * 64` with "
        "`crowd[line % 64] += 1` for each; `max(crowd) <= 8` is the test.",
    ),
)

# 04-order ----------------------------------------------------------------------------------------------------

ROOM = 40  # lines in the model cache


def _padded(length):
    """The length of a row that is padded to whole lines."""
    return -(-length // FLOATS) * FLOATS


def transposed_fetches(order, n, m):
    """(lines of both matrices, lines that the model cache fetches when out[j, i] = x[i, j] is done in `order`)."""
    x_row, out_row = _padded(m), _padded(n)
    lines = _line_map(n * x_row + m * out_row)
    i, j = np.asarray(order).T
    used = np.stack([i * x_row + j, n * x_row + j * out_row + i], axis=1)  # a load and a store, in turns
    return lines.touched(used.ravel()), lines.fetches(used.ravel(), ROOM)


def judge_order(arguments, result):
    """Right if every element is moved once, and each line is fetched at most 1.25 times."""
    n, m = arguments
    expected = f"{n * m} pairs (i, j), each once, with i below {n} and j below {m}"
    if isinstance(result, set | frozenset | dict):
        return Slip("type", expected, "The order is what is asked for, and a set has none. Return a list.", "a set")
    try:
        pairs = np.asarray([tuple(pair) for pair in result])
    except (TypeError, ValueError):
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
            "outside", expected, "A tile at the edge has fewer rows or columns: min(start + size, n).",
            f"the pair ({i}, {j})",
        )  # fmt: skip
    if len(np.unique(pairs, axis=0)) < n * m:
        return Slip("twice", expected, "Some elements come twice, others never. Do your tiles overlap?", "doubles")
    lines, fetched = transposed_fetches(pairs, n, m)
    if fetched <= 1.25 * lines:
        return None
    _, plain = transposed_fetches(np.argwhere(np.ones((n, m), bool)), n, m)
    said = f"{fetched} lines fetched"
    if fetched >= 0.99 * plain:
        cause = (
            "That is as many as row by row. One of the two arrays is always walked down its columns; work on small squares, "
            "so that the lines of both stay in the cache until they are used up."
        )
    else:
        cause = (
            f"The lines of out that one row of a tile writes to, one for each column, must still be there for its next row: the "
            f"cache has room for {ROOM} lines. And a tile of less than {FLOATS} rows leaves lines of out half used."
        )
    from .. import pictures

    moments = (
        (f"x[{i}, {j}] to out[{j}, {i}]", (("x", i, j // FLOATS), ("out", j, i // FLOATS))) for i, j in pairs.tolist()
    )
    shapes = {"x": (n, _padded(m) // FLOATS), "out": (m, _padded(n) // FLOATS)}
    picture = pictures.cache_of(moments, shapes, ROOM)
    return Slip("fetches", f"at most {int(1.25 * lines)} fetches for the {lines} lines", cause, said, picture)


def _order_case(n, m):
    return Case(f"{n} x {m}", lambda rng: (n, m))


ORDER = FunctionTask(
    id="04-order",
    section=Section("4", "04_memory", "Use a line again before it leaves"),
    title="A transposition that fits into a small cache",
    objective="Order the elements of a transposition so that each line is fetched about once",
    points=3,
    minutes=20,
    judge=judge_order,
    advice={
        "raised-AttributeError": "`append` changes the list and returns None: write `pairs.append(...)` by itself."
    },
    cases=(_order_case(16, 16), _order_case(64, 64), _order_case(48, 112), _order_case(72, 100)),
    hints=(
        "Row by row, x is fine and out is not: which lines of out does one row of x need? How many rows later are they needed "
        "again, and are they still there?",
        f"Move a square tile of s x s elements at a time. Each of its rows writes to the same s lines of out, which should stay in "
        f"the cache, beside those of x: room for {ROOM}. And s elements should fill whole lines. Which s does both?",
        "Tiles of 16 x 16. `for i0 in range(0, n, 16): for j0 in range(0, m, 16):` and inside `for i in range(i0, min(i0 + "
        "16, n)): for j in range(j0, min(j0 + 16, m)):` append (i, j).",
    ),
)

# 04-roofline -------------------------------------------------------------------------------------------------

DEGREE, ELEMENTS = 12, 2048


def poly_arguments(n, degree=DEGREE):
    """make(rng) -> x of shape (n,), c of shape (degree + 1,), out of shape (n,)."""
    return lambda rng: (random_values(rng, n), random_values(rng, degree + 1), unwritten(n))


def _poly(x, c):
    return sum(factor * x.astype(np.float64) ** k for k, factor in enumerate(c.astype(np.float64)))


ROOFLINE = MeasuredTask(
    id="04-roofline",
    section=Section("4.2", "04_vectors", "The roof, and points under it"),
    title="A loop of yours under the roofline",
    objective="Count the flops and bytes of a loop of your own, and say which roof is over it",
    points=4,
    minutes=15,
    spec=lambda x, c, out: _poly(x, c),
    atol=1e-5,
    cases=(
        Case("one element, degree 3", poly_arguments(1, 3)),
        Case("n = 100, degree 12", poly_arguments(100)),
        Case("n = 33, degree 0: a constant", poly_arguments(33, 0)),
    ),
    suspects=(
        Suspect(lambda x, c, out: _poly(x, c[::-1]), "The coefficients were taken backwards: c[0] is the constant."),
        Suspect(lambda x, c, out: _poly(x, c[:-1]), "The last coefficient is missing: c has c.size of them."),
        Suspect(lambda x, c, out: _poly(x, c) * x, "One multiplication by x too many: c[0] stands alone."),
    ),
    claimed=Case(f"n = {ELEMENTS}, degree {DEGREE}", poly_arguments(ELEMENTS)),
    measured=Case("n = 4.2 million", poly_arguments(1 << 22)),
    card=Card(peak=100e9, bandwidth=20e9),
    advice={
        "flops": f"Take one element: how often does your loop multiply, how often add? There are {ELEMENTS} elements. What "
        "counts is your own loop, as it stands.",
        "moved": "Each element of x, c and out moves once, and has 4 bytes. The few of c hardly count.",
        "roof": "Left of the ridge memory binds, right of it arithmetic. Where does your intensity lie?",
        **dict.fromkeys(
            ("not-finite", "nothing-written"),
            "out holds NaN at first. Add up in a variable of your own, and store it at the end.",
        ),
    },
    hints=(
        "For one element of x, how many multiplications and additions does Horner's rule need for 13 coefficients?",
        "Begin with the last coefficient. Then, for each one before it: multiply by x[i], add the coefficient. The flops are those "
        "of one element times n; the bytes are those of x and out, and a few of c.",
        "The inner loop is `for k in range(c.size - 2, -1, -1):` with one line that multiplies and adds. Each round is two flops. "
        "The ridge is peak divided by bandwidth.",
    ),
)

# 04-bug ------------------------------------------------------------------------------------------------------


def square_arguments(n):
    return lambda rng: (random_values(rng, n), unwritten(n))


BUG = ParallelTask(
    id="04-bug",
    section=Section("4.3", "04_sharing", "False sharing"),
    title="Repair a loop that loses elements, and stop its threads from sharing lines",
    objective="Find false sharing from a map of writes, and remove it",
    points=2,
    minutes=15,
    spec=lambda x, out: _wide(x) ** 2,
    cases=(
        Case("four full lines: n = 64", square_arguments(64)),
        Case("ragged: n = 203", square_arguments(203)),
        Case("fewer than parts: n = 3", square_arguments(3)),
        Case("one more than four lines: n = 65", square_arguments(65)),
    ),
    suspects=(
        Suspect(lambda x, out: _wide(x), "This is x itself: nothing was squared."),
        Suspect(lambda x, out: 2 * _wide(x), "This is 2 * x. The square is asked for."),
    ),
    advice={
        "some-unwritten": (
            "These elements belong to no part. Do four parts, from t = 0 to 3, reach to the end of x? A division that rounds down "
            "(n // 4, n // 16) leaves out the rest."
        ),
        "nothing-written": "With fewer elements than parts, n // 4 is 0: all parts are empty. Round up instead.",
        "raised-IndexError": "The last part reaches over the end. End it at min(stop, x.size).",
        "race": "Two parts contain the same elements. Part t ends where part t + 1 begins.",
    },
    watch=Watch(threads=4, case=Case("n = 203, four threads", square_arguments(203))),
    budget=Budget(
        points=2,
        text="no cache line of 64 bytes written by two threads (four threads, one part each), no array allocated",
        require={"false_sharing": 0, "arrays": 0},
        over=(
            "The result is right, but a part ends in the middle of a line, and the next part begins there: two threads "
            "write to that line. Let every part begin at a multiple of 16 elements."
        ),
        case=Case("n = 203, four threads", square_arguments(203)),
    ),
    hints=(
        "n = 203 and four parts: which elements does each part get, and which get none? In which line (16 float32) does each "
        "part begin?",
        "Share out lines, not elements. How many lines do n elements fill, rounded up? How many of them should each part get, "
        "rounded up? The last part may get fewer, or none.",
        "`lines = (x.size + 15) // 16`, `part = (lines + 3) // 4 * 16`, and part t is "
        "`range(t * part, min((t + 1) * part, x.size))`.",
    ),
)

TASKS = (LINES, CHANNELS, SUMS, PAD, ORDER, ROOFLINE, BUG)
