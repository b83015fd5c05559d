"""Tasks of chapter 04, Memory. Everything is counted: cache lines, sets, fetches of a small model cache, vector
work."""

import bisect
import inspect
import itertools
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..answer import Local
from ..checking import arguments_of, attempt, headline
from ..definition import Budget, Case, Section, Slip, Task, random_values, unwritten
from ..golf import Golf
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.measured import Card, MeasuredTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question
from ..outcome import Failed, Failure

LINE = 64  # bytes in a line, in all tasks: the check counts alike on every machine
FLOATS = LINE // 4  # float32 in a line

# 04-first ----------------------------------------------------------------------------------------------------

SETS, WAYS = 64, 8  # of the model cache in 04-first and 04-pad


def place_of(row, column, columns):
    """The specification of 04-first."""
    line = 4 * (row * columns + column) // LINE
    return line, line % SETS


def judge_place(arguments, result):
    row, column, columns = arguments
    line, number = place_of(row, column, columns)
    expected = f"({line}, {number})"
    whole = isinstance(result, tuple | list) and len(result) == 2 and all(type(x) is int for x in result)
    if not whole:
        return Slip("type", expected, "Return two whole numbers, the line and its set. `//` divides without a rest.")
    if tuple(result) == (line, number):
        return None
    element = row * columns + column
    if tuple(result) == (number, line):
        return Slip("order", expected, "The line comes first, then its set.")
    slips = (
        ("element", result[0] == element, "The first number is that of the element. A line holds 16 of them."),
        ("no-bytes", result[0] == element // LINE, "An element has 4 bytes: which byte does it begin at?"),
        ("doubles", result[0] == 8 * element // LINE, "That would be right for float64. A float32 has 4 bytes."),
        (
            "exchanged",
            result[0] == 4 * (column * columns + row) // LINE,
            "Row and column are exchanged: whole rows come before the element, `columns` elements each.",
        ),
        (
            "no-column",
            result[0] == 4 * row * columns // LINE,
            f"That is where row {row} begins. `column` elements of the row come before this one, too.",
        ),
        (
            "padded",
            result[0] == row * -(-columns // 16) + column // 16,
            "Here each row begins with a new line. The rows follow each other without a gap: count elements, then bytes.",
        ),
        ("from-one", result[0] == line + 1, "The matrix begins at line 0, not at line 1."),
        ("set", result[0] == line, "The line is right. A cache keeps it in the set with the number line % 64."),
    )
    for kind, holds, cause in slips:
        if holds:
            return Slip(kind, expected, cause)
    return Slip("other", expected, "How many elements come before it? How many bytes are that, and how many lines?")


def _place_case(row, column, columns):
    return Case(f"x[{row}, {column}] of {columns} columns", lambda rng: (row, column, columns))


FIRST = FunctionTask(
    id="04-first",
    section=Section("4", "04_memory", "Cache lines"),
    title="Where does an element lie?",
    objective="Say in which line and in which set of a cache an element lies",
    points=1,
    minutes=4,
    judge=judge_place,
    cases=(
        _place_case(5, 50, 300),
        _place_case(0, 15, 100),
        _place_case(0, 16, 100),
        _place_case(3, 7, 1000),
        _place_case(65, 5, 1024),
    ),
    hints=(
        "How many elements come before x[row, column]?",
        "Elements before it, times their bytes, divided by the bytes of a line and rounded down: that is the line. The rest of a "
        "division says the set.",
        "`columns` elements for each whole row before it, and `column` more; 4 bytes each; 64 bytes in a line; 64 sets.",
    ),
)

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


WALK = 300  # lines that one of two threads walks through again and again


def _walk_fetches(room, rounds=2):
    """Fetches of the thread that walks through WALK lines; after each of its reads the other one reads a new line."""
    walk = np.tile(np.arange(WALK), rounds)
    stream = WALK + np.arange(walk.size)
    return (
        _line_map(WALK + walk.size, FLOATS).fetches(np.stack((walk, stream), axis=1).ravel() * FLOATS, room)
        - stream.size
    )


def room_for_both():
    """The least room with which the walk fetches each line once: more room never fetches more."""
    return bisect.bisect_left(range(4 * WALK), -WALK, lo=1, key=lambda room: -_walk_fetches(room))


def _small_pair(room):
    """A walk through three lines beside a stream."""
    from .. import pictures

    names = [*(f"walk {k}" for k in range(3)), *(f"new {k}" for k in range(6))]
    return pictures.walk(
        [0, 3, 1, 4, 2, 5, 0, 6, 1, 7, 2, 8], room, names, "A walk through three lines beside new ones"
    )


_DRAW = "Write down the byte at which each element begins, and divide by 64: how many different whole numbers?"

LINES = PredictionTask(
    id="04-lines",
    section=Section("4", "04_memory", "Cache lines"),
    title="Predict cache lines, then measure",
    objective="Predict how many cache lines a loop touches and fetches, alone and beside another thread",
    points=5,
    minutes=22,
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
        Question(
            "room",
            f"the least room, in lines, with which a walk through {WALK} lines beside new ones fetches each line once",
            room_for_both,
            {
                WALK: "That would do for the walk alone. The cache keeps what the other thread reads, too.",
                WALK
                + 1: "A line that is read once is kept like any other: the cache does not know that nobody comes back to it.",
                2 * WALK
                - 1: "One line short: the line that is needed next is the one used longest ago, and it has just gone.",
                2 * WALK + 1: "That will do, and one line less will, too.",
            },
            "Take one line of the walk: how many different lines are used from one read of it to the next, itself among them?",
            picture=lambda: _small_pair(4),
            section=Section("4.3", "04_sharing", "Shared on purpose: caches and bandwidth"),
        ),
    ),
    hints=(
        "In which line does byte 0 lie, and byte 63, and byte 64? At which byte does element [1, 0] begin?",
        "Lines of a row: its bytes divided by 64, rounded up. Where elements lie 64 bytes or more apart, each has a line of "
        "its own. Where they lie closer, no line on the way is left out.",
        "A row is 4000 bytes long. Records of 6 float32 take 24 bytes, 1000 of them 24,000: all lines of those are touched. A "
        "column needs 100 lines: do they all fit into the cache until the next column begins? And beside another thread, how many of "
        "its lines come in between?",
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
        require={"multiplies": 2 * 5 * 7 * 128, "scalar_share": 0.1, "arrays": 0},
        over=(
            "The result is right, but the inner loop does not walk through neighbours in memory, or an array is made on the "
            "way. Which of the four axes has stride 1 (4 bytes)? It belongs into the inner loop."
        ),
        case=Case("2 x 5 x 7 x 128", channel_arguments(2, 5, 7, 128)),
    ),
    hints=(
        "Print x.strides of a (2, 5, 7, 128) array of float32. Along which axis are elements neighbours?",
        "Four loops: images, rows, columns of pixels, and channels innermost. scale and shift are read along the same axis.",
        "The index of the innermost loop chooses the scale and the shift of an element: which axis of x does it count? "
        "The three loops outside only say which pixel it is.",
    ),
)

# 04-lanes ----------------------------------------------------------------------------------------------------


@njit
def lanes_a(x, w, out):
    for i in range(1, x.size):
        out[i] = w[i] * out[i - 1] + x[i]


@njit
def lanes_b(x, w, out):
    for k in range(x.size // 64):
        total = np.float32(0)
        for i in range(64):
            total += x[64 * k + i] * w[i]
        out[k] = total


@njit
def lanes_c(x, w, out):
    for i in range(x.size):
        if x[i] > 0:
            out[i] = x[i] * w[i]
        else:
            out[i] = x[i] * x[i]


@njit
def lanes_d(x, w, out):
    for i in range(x.size):
        out[i] = x[i] / w[i]


@njit
def lanes_e(x, w, out):
    total = np.float32(0)
    for i in range(x.size):
        total += x[i] * w[i]
        out[i] = total


ORDER_FREE, NO_ERROR = {"fastmath": {"reassoc", "nsz"}}, {"error_model": "numpy"}


@dataclass(frozen=True, kw_only=True)
class LanesTask(CompiledTask):
    """Not whether a loop is right, but which option of the compiler makes it compute on vectors. The share of single
    numbers is counted in LLVM's code, and is the same for vectors of any width."""

    def failures(self):
        return (*super().failures(), "order", "error", "never")

    def examine(self, answer, cases, seed):
        (case,) = cases
        arguments = arguments_of(case, seed, 0)
        if self._share(answer, case, arguments) < 0.5:
            return (), ""
        facts = (("it said", "one number is computed at a time"),)
        for kind, options in (("order", ORDER_FREE), ("error", NO_ERROR)):
            again = Local(njit(**options)(answer.function.py_func), admitted=True)
            if self._share(again, case, arguments) < 0.5:
                raise Failed(Failure(kind, f"{headline(case)} no vectors", facts))
        raise Failed(Failure("never", f"{headline(case)} no vectors", facts))

    def _share(self, answer, case, arguments):
        return attempt(self, case, lambda: answer.cost(arguments, ["scalar_share"]))[0]["scalar_share"]


def lanes_arguments(n):
    """make(rng) -> x, w and out of shape (n,); no number of w is near zero."""
    return lambda rng: (random_values(rng, n), random_values(rng, n) + np.float32(2), np.zeros(n, np.float32))


LANES = DetectiveTask(
    id="04-lanes",
    section=Section("4.2", "04_vectors", "Why was my loop not vectorised?"),
    title="Who lost the vectors?",
    objective="Say of a loop whether it computes on vectors, and name what stops it",
    points=3,
    minutes=12,
    judge=LanesTask(
        id="04-lanes-judge",
        title="Vectors or not",
        objective="Judge a loop",
        points=0,
        minutes=0,
        spec=lambda x, w, out: out,
        cases=(Case("n = 1024", lanes_arguments(1024)),),
        hints=("", "", ""),
    ),
    nothing="n = 1024: whole vectors are computed.",
    programs={"A": lanes_a, "B": lanes_b, "C": lanes_c, "D": lanes_d, "E": lanes_e},
    faults=(
        Fault("vectors", "computes on vectors as it stands"),
        Fault("order", 'would, if sums may change their order: `fastmath={"reassoc", "nsz"}`', ("order",)),
        Fault("error", 'would, if a division by zero raised no error: `error_model="numpy"`', ("error",)),
        Fault("never", "with neither of the two: each round needs what the round before made", ("never",)),
    ),
    advice={
        "verdict": "Write down what rounds i and i + 1 need. Could both be computed at once, with the very same result?"
    },
    hints=(
        "For each loop: what must be known before round i can begin? What may happen in round i that ends the loop?",
        "A sum in one order is one long chain; if any order will do, it may become many chains. Is every part of the chain's way "
        "stored, too, then no other order helps. And Python's division asks a question before it divides.",
        "Two loops carry something whose every step is stored. One carries something of which only the end is needed. One could "
        "raise an error in the middle. One only looks as if an `if` were in the way.",
    ),
)

# 04-ahead, the second part of 04-lanes -------------------------------------------------------------------------


LINES_OF_PAGE = 4096 // LINE


def use(record):
    """Works on a record, and returns the number of another one, which stands in it."""
    return record


def ahead_a(rows, chosen, n):
    for k in range(n):
        use(rows[chosen[k]])


def ahead_b(mixed, n):
    i = 0
    for _ in range(n):
        i = use(mixed[i])


def ahead_c(rows, n):
    for i in range(n):
        use(rows[128 * i])


def ahead_d(rows, chosen, n):
    for k in range(n // 32):
        for j in range(32):
            use(rows[32 * chosen[k] + j])


def ahead_e(rows, n):
    i = 1
    for _ in range(n):
        i = (5 * i + 3) % 65536
        use(rows[i])


def ahead_f(neat, n):
    i = 0
    for _ in range(n):
        i = use(neat[i])


class Word(int):
    """A number that came out of memory, or was computed from such ones. `waits`: loads that had to end, one after the other,
    before it was there."""

    def __new__(cls, value, waits=0):
        word = super().__new__(cls, value)
        word.waits = waits
        return word

    def _with(self, other, value):
        return Word(value, max(self.waits, getattr(other, "waits", 0)))

    def __add__(self, other):
        return self._with(other, int(self) + int(other))

    def __mul__(self, other):
        return self._with(other, int(self) * int(other))

    __radd__, __rmul__ = __add__, __mul__


class Records:
    """An array of records, a line each. `asked`: [(line, loads that had to end before its number was known), ...]."""

    def __init__(self, content, asked):
        self.content, self.asked = content, asked

    def __getitem__(self, i):
        waits = getattr(i, "waits", 0)
        self.asked.append((int(i), waits))
        return Word(self.content(int(i)), waits + 1)


def followed(lines, pages=16, ahead=4):
    """The share of the lines that a model of the hardware's prefetcher fetches before they are asked for. It knows the `pages`
    used last; after the same step twice in a page it fetches the next `ahead` lines with that step, in the page."""
    known, there, hits = {}, set(), 0
    for line in lines:
        hits += line in there
        page = line // LINES_OF_PAGE
        last, step = known.pop(page, (None, None))
        now = None if last is None else line - last
        if now and now == step:
            there |= {place for k in range(1, ahead + 1) if (place := line + k * now) // LINES_OF_PAGE == page}
        known[page] = line, now
        if len(known) > pages:
            del known[next(iter(known))]
    return hits / len(lines)


@dataclass(frozen=True, kw_only=True)
class AheadTask(Task):
    """Not whether a loop is right, but who can know its addresses early: the model of the hardware, or the program."""

    cases: tuple

    def failures(self):
        return (*super().failures(), "hardware", "prefetch")

    def examine(self, answer, cases, seed):
        (case,) = cases
        things, asked = arguments_of(case, seed, 0)
        program = answer.function
        program(**{name: things[name] for name in inspect.signature(program).parameters})
        lines, waits = zip(*asked, strict=True)
        first, pages = (
            ", ".join(map(str, numbers)) for numbers in (lines[:6], [line // LINES_OF_PAGE for line in lines[:6]])
        )
        facts = (("it said", f"the first lines asked for are {first}; their pages are {pages}"),)
        if followed(lines) > 0.5:
            raise Failed(Failure("hardware", headline(case), facts))
        if max(waits) < 0.5 * len(lines):
            raise Failed(Failure("prefetch", headline(case), facts))
        return (), ""


def records_arguments(n, many=1 << 16):
    """make(rng) -> ({name: what a loop can be called with}, what it asked for)."""

    def make(rng):
        asked, ring = [], rng.permutation(many)
        after = np.empty(many, int)
        after[ring] = np.roll(ring, -1)
        chosen = [Word(line, 1) for line in rng.permutation(many)[:n]]
        contents = {"rows": lambda i: 0, "mixed": lambda i: after[i], "neat": lambda i: i + 1}
        arrays = {name: Records(content, asked) for name, content in contents.items()}
        return arrays | {"chosen": chosen, "n": n}, asked

    return make


AHEAD = DetectiveTask(
    id="04-ahead",
    section=Section("4.2", "04_vectors", "Prefetch: ask before you need it"),
    title="Who can ask before the data is needed?",
    objective="Say of a loop whether the hardware's prefetcher follows it, a prefetch of yours helps, or neither can",
    after="04-lanes",
    points=2,
    minutes=8,
    run="loop",
    judge=AheadTask(
        id="04-ahead-judge",
        title="Who asks ahead",
        objective="Judge a loop",
        points=0,
        minutes=0,
        cases=(Case("n = 1024", records_arguments(1024)),),
        hints=("", "", ""),
    ),
    nothing="n = 1024: each number comes out of the record before, and the hardware cannot guess it.",
    programs={"A": ahead_a, "B": ahead_b, "C": ahead_c, "D": ahead_d, "E": ahead_e, "F": ahead_f},
    faults=(
        Fault(
            "hardware", "the hardware's prefetcher follows: most lines come before they are asked for", ("hardware",)
        ),
        Fault("prefetch", "it does not, but the program can know each address some rounds before", ("prefetch",)),
        Fault("nobody", "neither: no address is known until the load before it has ended"),
    ),
    advice={
        "verdict": "Write down the first six lines that are asked for, and the page of each: the hardware sees no more than that. Then "
        "look at the code: what must be there before the number of the next record is known?"
    },
    hints=(
        "For each loop: does it come back to the same page, with the same step? And could you write down the tenth address before any "
        "record has been read?",
        "The hardware looks at addresses, not at code: how they were found is all the same to it. A step from page to page teaches it "
        "nothing, however regular it is. The program knows what stands in a list of its own, and what it computes from numbers that "
        "it has.",
        "Two loops look alike and differ in where their records lie. One jumps about and needs no memory at all to know where to. One "
        "begins anew at places that nobody can guess, but stays there for half a page.",
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
        require={"multiplies": 8 * 512, "scalar_share": 0.1, "accesses_per_multiply": 3, "arrays": 0},
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
        "In a round of the outer loop one weight serves a whole row: what does it add to each element of out? Keep the "
        "weight in a name before the inner loop begins, and see to it that out begins at 0.",
    ),
)

# 04-moved ----------------------------------------------------------------------------------------------------

SUMMED, PAGE = 1_000_000, 4096  # elements of float32; bytes in a page
ONE_THREAD, MACHINE = 12, 16  # GB/s
KNOWN, ROW = 64, 1000  # pages that the TLB knows; elements of float32 in a row


def within_reach(row):
    """Elements of a column, one in each row, that lie in the first KNOWN pages: by trying."""
    return next(r for r in itertools.count() if 4 * row * r // PAGE >= KNOWN)


NODE = 0, 0, 1, 1  # of each thread
ZEROED, ARRAYS, KIB = 32, 100, 64  # pages that thread 0 fills; arrays one after the other; KiB of each


def read_far(pages):
    """Pages read from the other node, if thread 0 filled all of them and each thread reads a quarter."""
    home = dict.fromkeys(range(pages), NODE[0])
    return sum(home[page] != NODE[len(NODE) * page // pages] for page in home)


def faults_of_arrays(count, size):
    """Page faults of `count` arrays, each written whole and freed before the next, if what is freed is handed out again."""
    freed, written, new, faults = [], set(), 0, 0
    for _ in range(count):
        if not freed:
            freed.append(new)
            new += -(-size // PAGE)
        begin = freed.pop()
        for page in range(begin, begin + -(-size // PAGE)):
            faults += page not in written
            written.add(page)
        freed.append(begin)
    return faults


MOVED = PredictionTask(
    id="04-moved",
    section=Section("4.2", "04_vectors", "Past the cache"),
    title="Predict what really moves",
    objective="Predict the bytes that stores move, how long they take, what a second thread gains, how many pages are touched first "
    "and by whom, and how far a TLB reaches",
    points=2,
    minutes=13,
    questions=(
        Question(
            "ordinary",
            "bytes moved with ordinary stores",
            lambda: 4 * 4 * SUMMED,
            {
                12
                * SUMMED: "That is what the loop asks for. What happens to a line of out before its first element is stored?",
                8 * SUMMED: "That is what is read. What is written moves, too.",
                3 * SUMMED: "These are elements. How many bytes does each have?",
                4
                * SUMMED: "That is one of the arrays in bytes, or all that moves in elements. How many bytes has an element?",
            },
            "Three arrays are used. One of them crosses the way to memory twice: which, and why?",
        ),
        Question(
            "past",
            "bytes moved with non-temporal stores",
            lambda: 3 * 4 * SUMMED,
            {
                16 * SUMMED: "Such a store writes whole lines past the cache: must they be read first?",
                8 * SUMMED: "The results must still come to memory.",
            },
            "Which of the movements of ordinary stores does not happen here?",
        ),
        Question(
            "second",
            "percent of the time that two threads take",
            lambda: 100 * ONE_THREAD // MACHINE,
            {
                50: "Two threads would need twice 12 GB/s. Does the memory give so much?",
                100: "One thread leaves some of the bandwidth unused.",
                133: "That is how many times as fast it is, in percent. The time is asked for.",
            },
            "The same bytes, at 12 GB/s and at 16: what is the ratio of the times?",
        ),
        Question(
            "micro",
            "microseconds of the loop with ordinary stores, on two threads",
            lambda: 4 * 4 * SUMMED // (1000 * MACHINE),
            {
                1: "Those are milliseconds.",
                12
                * SUMMED
                // (
                    1000 * MACHINE
                ): "So long it takes with non-temporal stores, or if the line of out is not read first.",
                16 * SUMMED // (1000 * ONE_THREAD): "That is the time of one thread. Two of them move 16 GB/s.",
                SUMMED: "Those are nanoseconds.",
                4 * SUMMED // (1000 * MACHINE): "That is one array, or elements in the place of bytes.",
            },
            "All bytes that move, divided by those of a second. A GB/s is a thousand bytes in each microsecond.",
        ),
        Question(
            "pages",
            "pages that are touched for the first time",
            lambda: -(-4 * SUMMED // PAGE),
            {
                SUMMED // PAGE: "An element has 4 bytes.",
                -(-SUMMED // PAGE): "An element has 4 bytes.",
                4 * SUMMED // PAGE: "The last page is not full, and is needed, too.",
                **dict.fromkeys(
                    (3 * -(-4 * SUMMED // PAGE), -(-3 * 4 * SUMMED // PAGE)),
                    "Only out is new; a and b were written before.",
                ),
            },
            "How many bytes has out, and how many of its pages has nobody written to?",
        ),
        Question(
            "reach",
            f"elements of the column that lie in the first {KNOWN} pages",
            lambda: within_reach(ROW),
            {
                KNOWN: "That would be so if each row began with a page. A row has 4000 bytes.",
                KNOWN * PAGE // (4 * ROW): "Row 0 counts as well.",
                KNOWN * PAGE // 4: "So many elements lie in these pages in all. The column has one in each row.",
                KNOWN * PAGE // 1024: "That is the reach of the TLB in KiB.",
                KNOWN * PAGE: "That is the reach of the TLB in bytes.",
                4 * KNOWN * PAGE // (4 * ROW): "An element has 4 bytes, and a row 4000.",
            },
            "How many bytes have the pages, and at which byte does row r begin? Which r is the last one in them?",
            section=Section("4.3", "04_sharing", "The table of pages"),
        ),
        Question(
            "far",
            f"pages, of {ZEROED}, that are read from the other node",
            lambda: read_far(ZEROED),
            {
                ZEROED: "Two of the threads have a core in the node where the pages lie.",
                3
                * ZEROED
                // 4: "So many are read by another thread than the one that filled them. A page lies in a node: which threads "
                "are in it?",
                ZEROED // 4: "That is the share of one thread. How many threads are in the other node?",
                0: "That would be so if each thread had filled its own quarter.",
            },
            "Who wrote to the pages first, and in which node is that thread? Which threads are in the other one?",
            section=Section("4.3", "04_sharing", "Who touches a page first"),
        ),
        Question(
            "anew",
            f"page faults of {ARRAYS} arrays of {KIB} KiB, one after the other",
            lambda: faults_of_arrays(ARRAYS, 1024 * KIB),
            {
                ARRAYS
                * 1024
                * KIB
                // PAGE: "That would be so if each array went back to the system. Where does the second one lie?",
                ARRAYS: "The first write to a page is a fault. How many pages has an array, and which of them are new in the second one?",
                1: "The first write to each page is a fault: how many pages has an array?",
                1024 * KIB // PAGE + 1: "Each array begins with a page, so it fills whole pages.",
                0: "Nobody had written to the pages of the first array.",
            },
            "How many pages has one array? Which of them are new in the first one, and which in the second?",
            section=Section("4.3", "04_sharing", "Behind the addresses: pages"),
        ),
    ),
    hints=(
        "Which lines are read, which are written, and which are both?",
        "An ordinary store reads its line first. Time is bytes divided by bandwidth. A page is given to the process at its first "
        "write, in the node of the thread that writes.",
        "a and b are read; out is read and written with ordinary stores, only written with the other ones. The ratio of two times is "
        "the inverse ratio of two bandwidths. Pages: bytes of out divided by 4096, rounded up. Reach: the rows begin at the bytes 0, "
        "4000, 8000 and so on. Which of these lie in 64 pages? far: which two threads share a node? anew: where does the second array lie?",
    ),
)

# 04-split, the second part of 04-moved ---------------------------------------------------------------------------

VECTOR, VECTORS, BEHIND = 32, 1000, 20  # bytes of a vector; how many; bytes behind the start of a line
MANY_ROWS, LONG = 64, 100  # of a float32 matrix


def in_two_lines(offset, vector=VECTOR, count=VECTORS):
    """How many of `count` vectors lie in two lines, if the first begins `offset` bytes behind the start of a line."""
    begins = [offset + k * vector for k in range(count)]
    return sum(first // LINE != (first + vector - 1) // LINE for first in begins)


def before_aligned(offset, vector=VECTOR):
    """float32 elements until an address is a multiple of `vector`."""
    return next(n for n in range(vector) if (offset + 4 * n) % vector == 0)


def rows_at_lines(columns, rows=MANY_ROWS):
    """How many rows of a float32 matrix that begins with a line begin with one."""
    return sum(4 * columns * r % LINE == 0 for r in range(rows))


SPLIT = PredictionTask(
    id="04-split",
    section=Section("4.2", "04_vectors", "Alignment"),
    title="Predict what alignment costs",
    objective="Count the vectors that lie in two cache lines, and say what makes the addresses aligned",
    after="04-moved",
    points=1,
    minutes=6,
    questions=(
        Question(
            "split",
            f"vectors of {VECTOR} bytes in two lines, of {VECTORS}, if the first begins {BEHIND} bytes behind the start of a line",
            lambda: in_two_lines(BEHIND),
            {
                0: "That would be so if the array began with a line, or in the middle of one.",
                VECTORS: "A line has 64 bytes, a vector 32. Can two neighbours both reach over an end?",
                VECTORS // 4: "That is how many there are of 16 bytes.",
            },
            "Where do the first two vectors begin and end, counted from the start of the line?",
        ),
        Question(
            "alone",
            f"elements that the loop does one by one until its addresses are multiples of {VECTOR}",
            lambda: before_aligned(BEHIND),
            {
                VECTOR - BEHIND: "These are bytes. An element of float32 has 4.",
                BEHIND
                // 4: "So many elements stand between the start of the line and the array. How many to the next multiple of 32?",
                (LINE - BEHIND) // 4: "That goes on to the next line. A multiple of 32 comes before.",
                VECTOR // 4: "A whole vector of them brings you to the same place in the next vector.",
            },
            "Which multiple of 32 comes next after byte 20, and how many elements of 4 bytes lie before it?",
        ),
        Question(
            "rows",
            f"rows of {MANY_ROWS}, each of {LONG} float32, that begin with a line",
            lambda: rows_at_lines(LONG),
            {
                1: "Row 0 does. Row r begins at byte 400 r: for which r is that a multiple of 64?",
                MANY_ROWS: "A row has 400 bytes, which is no multiple of 64.",
                MANY_ROWS // 2: "Row 2 begins at byte 800, which is 12 lines and a half.",
            },
            "Row r begins at byte 400 r. Write down what remains of that by 64, for r = 0, 1, 2, 3, 4.",
        ),
        Question(
            "padded",
            f"the least length of rows, {LONG} or more, with which each begins with a line",
            lambda: next(n for n in range(LONG, 2 * LONG) if rows_at_lines(n) == MANY_ROWS),
            {
                104: "With 104 each row begins with a multiple of 32 bytes, and every second one with a line.",
                128: "That will do. A shorter one will, too.",
                448: "These are bytes. How many elements?",
                96: "The elements must have room: 100 or more.",
            },
            "Rows must be whole lines: how many float32 does a line have?",
        ),
    ),
    hints=(
        "Draw two lines of 64 bytes, and where the first three vectors lie in them.",
        "A vector lies in two lines if it begins in one and ends in the next. A row begins with a line if its first byte is a "
        "multiple of 64.",
        "The vectors begin at bytes 20, 52, 84, 116 ...; lines end before 64, 128 ... From 20 to the next multiple of 32 are so many "
        "bytes, each element has 4. Rows of whole lines have a multiple of 16 elements.",
    ),
)

# 04-pad ------------------------------------------------------------------------------------------------------


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
    points=5,
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
        "A Python set holds each line once, however many rows lie in it. Then a list with a number for each of the 64 "
        "sets of the cache: which of them does a line raise by 1? And what must be true of the largest?",
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
    points=5,
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
        "Two loops step from tile to tile, two more go through the rows and columns of one. Where does a tile at the "
        "edge end, if the matrix ends before it?",
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
        Case("n = 100, degree 12", poly_arguments(100)),
        Case("one element, degree 3", poly_arguments(1, 3)),
        Case("n = 33, degree 0: a constant", poly_arguments(33, 0)),
    ),
    suspects=(
        Suspect(lambda x, c, out: _poly(x, c[::-1]), "The coefficients were taken backwards: c[0] is the constant."),
        Suspect(lambda x, c, out: _poly(x, c[:-1]), "The last coefficient is missing: c has c.size of them."),
        Suspect(lambda x, c, out: _poly(x, c) * x, "One multiplication by x too many: c[0] stands alone."),
        Suspect(
            lambda x, c, out: _poly(x, c[1:]) if c.size > 1 else c[:1] + 0 * x,
            "c[0] is missing: `range(..., 0, -1)` ends before 0, so the inner loop never comes to it.",
        ),
        Suspect(
            lambda x, c, out: _poly(x, np.append(c, c[-1])),
            "The last coefficient went in twice: the sum begins with it, so the loop begins with the one before.",
        ),
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
        "Which coefficient does the inner loop begin with, the last one or the one before it, and with which does it "
        "end? It goes backwards, and has one line that multiplies and adds. Each round is two flops. The ridge is peak "
        "divided by bandwidth.",
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
        "Round the lines up, share them out, and only then turn lines into elements. The last part is cut at x.size: "
        "by which `min`? And what about a part that begins behind the end?",
    ),
)

# 04-lab ------------------------------------------------------------------------------------------------------

SLOTS, HAND = 32, 16  # lines in the direct-mapped cache; numbers in hand


def _line_of(array, i, j, n, m):
    """The number of the line that a step uses; out begins at a line that is a multiple of SLOTS."""
    if array == "x":
        return (i * _padded(m) + j) // FLOATS
    after_x = -(-n * _padded(m) // FLOATS // SLOTS) * SLOTS
    return after_x + (i * _padded(n) + j) // FLOATS


def lab_fetches(arguments, steps):
    """Lines fetched by a cache in which line k can only be in slot k % SLOTS."""
    slots, fetched = {}, 0
    for array, i, j in steps:
        line = _line_of(array, i, j, *arguments)
        if slots.get(line % SLOTS) != line:
            slots[line % SLOTS] = line
            fetched += 1
    return fetched


def _is_step(step):
    """Whether it is "x" or "out", and two whole numbers."""
    if not isinstance(step, list | tuple) or len(step) != 3 or not isinstance(step[0], str):
        return False
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in step[1:])
    return step[0] in ("x", "out") and whole


def judge_lab(arguments, result):
    """Right if every element is taken from x once, and laid into its place of out."""
    n, m = arguments
    expected = f'{2 * n * m} steps: ("x", i, j) and ("out", j, i), each once'
    if not isinstance(result, list | tuple):
        return Slip("type", expected, "Return a list of steps.")
    if len(result) > 4 * n * m:
        return Slip("number", expected, "Every element is taken once and laid down once.", f"{len(result)} steps")
    hand, done = set(), set()
    for number, step in enumerate(result, 1):
        got = f"step {number} is {str(tuple(step) if isinstance(step, list) else step)[:60]}"
        if not _is_step(step):
            return Slip("type", expected, 'A step is ("x", i, j) or ("out", j, i).', got)
        array, i, j = step
        rows, columns = (n, m) if array == "x" else (m, n)
        if not (0 <= i < rows and 0 <= j < columns):
            cause = f"x has the shape ({n}, {m}), out has the shape ({m}, {n})."
            return Slip("outside", expected, cause, got)
        element = (i, j) if array == "x" else (j, i)
        if array == "x":
            if element in done or element in hand:
                return Slip("twice", expected, "This element was taken before.", got)
            hand.add(element)
            if len(hand) > HAND:
                cause = f"With this step {len(hand)} numbers are in hand: lay some of them down first."
                return Slip("full", f"at most {HAND} numbers in hand", cause, got)
        elif element not in hand:
            cause = "It was laid down before." if element in done else f"It is not in hand: take x[{j}, {i}] first."
            if i != j and (i, j) in hand:
                cause = f"x[{i}, {j}] is in hand, and its place is out[{j}, {i}]: rows and columns are exchanged."
            return Slip("empty", f"x[{j}, {i}] in hand", cause, got)
        else:
            hand.remove(element)
            done.add(element)
    if hand or len(done) < n * m:
        left = f"{len(hand)} in hand, {n * m - len(done) - len(hand)} never taken"
        cause = "Every element must come to its place. Do the loops reach the last rows and columns, and does the `return` stand "
        return Slip("left", expected, f"{cause}behind them?", left)
    return None


def _lab_case(n, m):
    return Case(f"{n} x {m}", lambda rng: (n, m))


LAB = FunctionTask(
    id="04-lab",
    section=Section("4", "04_memory", "Sets: why 1024 is slower than 1000"),
    title="The cache lab: transpose through a narrow door",
    objective="Order loads and stores so that lines that share a place in the cache do not chase each other out",
    points=2,
    minutes=25,
    judge=judge_lab,
    costs={"fetches": ("lines fetched", lab_fetches)},
    cases=(_lab_case(16, 16), _lab_case(20, 13), _lab_case(32, 64), _lab_case(64, 64)),
    budget=Budget(
        points=4,
        text="at most 1024 lines fetched for 64 x 64, twice for each line",
        require={"fetches": 1024},
        over=(
            "Every element comes to its place, but lines are fetched again and again. A row of 64 has 4 lines, so the rows r and "
            "r + 8 of a column of lines share a slot. How many rows can a tile have, then? And what may be in hand?"
        ),
        case=_lab_case(64, 64),
        golf=Golf(
            count="fetches",
            best=740,
            tiers=(("gold", 1.0), ("silver", 1.1), ("bronze", 1.5)),
            lead="Which lines are still in the cache when a tile is done, and which tile could use them? And what can be different in "
            "the tiles on the diagonal, where x and out want the same slots?",
        ),
    ),
    hints=(
        "In which slots lie the lines x[0, 0], x[1, 0], ... x[8, 0], and those of out? Which of them can be there at once?",
        "Eight rows of a tile, and eight columns, fit. On the diagonal the slots of x are those of out: take several numbers of a "
        "line into the hand before you lay them down.",
        "Go through tiles of 8 x 8. For each row of a tile first all its steps on x, then all on out: the line of x is fetched once "
        "for the row, even if out drives it away. What is left over to improve is the golf.",
    ),
)

TASKS = (FIRST, LINES, CHANNELS, LANES, AHEAD, SUMS, MOVED, SPLIT, ORDER, PAD, ROOFLINE, BUG, LAB)
