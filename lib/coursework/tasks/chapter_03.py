"""Tasks of chapter 03, Loops on all cores: numba parallel."""

import copy
import threading
from itertools import pairwise

import numpy as np
from numba import njit, prange

from cpulab.explore import Program

from ..checking import short
from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..events import Events
from ..kinds.arrays import Suspect
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.measured import Card, MeasuredParallelTask
from ..kinds.parallel import ParallelTask, Watch, WatchedTask
from ..kinds.prediction import PredictionTask, Question
from ..kinds.schedule import ScheduleTask
from ..kinds.thread import ThreadTask

# Schedules played: used by several tasks ---------------------------------------------------------------------


def makespan(costs, threads, chunk, step=None):
    """When the last thread ends, if whoever is free takes the next ``chunk`` iterations. `step`: from chunk to chunk."""
    free = [0] * threads
    for first in range(0, len(costs), step or chunk):
        free[free.index(min(free))] += sum(costs[first : first + chunk])
    return max(free)


def _static_makespan(costs, threads):
    from cpulab.watch.loops import blocks

    return max(sum(costs[first:last]) for first, last in blocks(len(costs), threads))


def _round_robin(costs, threads, chunk):
    free = [0] * threads
    for turn, first in enumerate(range(0, len(costs), chunk)):
        free[turn % threads] += sum(costs[first : first + chunk])
    return max(free)


def guided(n, threads, least, share=2):
    """Lengths of the chunks, if each is 1 / `share` of a fair share of what is left, but at least `least`."""
    lengths = []
    while sum(lengths) < n:
        left = n - sum(lengths)
        lengths.append(min(left, max(least, left // (share * threads))))
    return lengths


def stolen_first(costs):
    """Rows of the first theft, if two threads begin with a half of the rows each and take one of their own at a time."""
    n = len(costs)
    left, free = [list(range(n // 2)), list(range(n // 2, n))], [0, 0]
    while True:
        t = free.index(min(free))
        if not left[t]:
            return len(left[1 - t]) - len(left[1 - t]) // 2
        free[t] += costs[left[t].pop(0)]


# 03-first -----------------------------------------------------------------------------------------------------


def point_arguments(n):
    """make(rng) -> x and y of shape (n,), out of shape (n,), all float64."""
    return lambda rng: (
        random_values(rng, n, dtype=np.float64),
        random_values(rng, n, dtype=np.float64),
        unwritten(n, dtype=np.float64),
    )


FIRST = ParallelTask(
    id="03-first",
    section=Section("3", "03_numba_parallel", "`prange`: divide it among the cores"),
    title="A first loop on all cores",
    objective="Compile a loop and divide it among the cores with prange",
    points=1,
    minutes=4,
    spec=lambda x, y, out: np.hypot(x, y),
    rtol=1e-12,
    cases=(
        Case("8 points", point_arguments(8)),
        Case("one point", point_arguments(1)),
        Case("1001 points", point_arguments(1001)),
    ),
    suspects=(
        Suspect(lambda x, y, out: x * x + y * y, "This is the square of the distance: the root is missing."),
        Suspect(lambda x, y, out: np.abs(x) + np.abs(y), "This is |x| + |y|. Add the squares, and take the root."),
        Suspect(lambda x, y, out: np.sqrt(np.abs(x * x - y * y)), "The squares are added, not subtracted."),
        Suspect(lambda x, y, out: np.sqrt(x * x - y * y), "The squares are added, not subtracted."),
        Suspect(lambda x, y, out: np.sqrt(2) * np.abs(x), "y was not used: this is the root of x * x + x * x."),
    ),
    advice={
        "some-unwritten": "Some points were left out. From where to where does your loop run?",
        "race": "Two rounds write to the same element of out. Which element belongs to round i?",
        "not-parallel": "One thread did all of it. Which word in `for i in range(...)` makes the loop parallel?",
        "raised-IndexError": "An index left its array. How many points are there?",
        "raised-ValueError": "The root of a number below 0? A sum of two squares never is.",
    },
    hints=(
        "What would the loop look like in plain Python? Does any round need what another one made?",
        "One round for each point: it reads x[i] and y[i], and writes out[i]. Then say that threads may share the rounds.",
        "The loop runs over `x.size`, with `prange` where you would write `range`; `math.sqrt` takes the root.",
    ),
)

# 03-pays ------------------------------------------------------------------------------------------------------

START, EACH = 12_000, 2  # nanoseconds: to start a parallel loop and end it; for an element on one thread
CORES, PROCESSES = 8, 4


def pays_from(threads):
    """Elements for which EACH * n == START + EACH * n / threads."""
    return START * threads // (EACH * (threads - 1))


PAYS = PredictionTask(
    id="03-pays",
    section=Section("3", "03_numba_parallel", "What a parallel loop costs"),
    title="Predict when threads pay",
    objective="Compute from which size a parallel loop pays, and how many threads a machine is given",
    points=2,
    minutes=8,
    questions=(
        Question(
            "two",
            "elements from which two threads are as fast as one",
            lambda: pays_from(2),
            {START // EACH: "That many elements take as long as the start alone. The two threads must still compute."},
            "Write both times with n elements: 2 n on one thread; the start, and half of the work, on two.",
        ),
        Question(
            "four",
            "elements from which four threads are as fast as one",
            lambda: pays_from(4),
            {
                START
                // EACH: "That many elements take as long as the start alone. Four threads still need their quarter.",
                2 * pays_from(2): "More threads save more of the work, so fewer elements are enough.",
            },
            "Four threads save three quarters of 2 n. From which n on is that the start?",
        ),
        Question(
            "running",
            "threads that want to run at once",
            lambda: CORES * PROCESSES,
            {
                CORES: "Each process makes a pool of its own: it knows nothing of the others.",
                PROCESSES: "That is one thread for each process. How many does a pool have?",
                CORES + PROCESSES: "Each of the processes has a pool of as many threads as there are cores.",
                CORES // PROCESSES: "That is how many there should be in each, not how many there are.",
            },
            "How many threads are in the pool of one process, if nobody says anything? How many processes?",
        ),
        Question(
            "each",
            "threads to allow in each process",
            lambda: CORES // PROCESSES,
            {
                CORES: "That is what numba takes by itself; four processes with so many are too much.",
                PROCESSES: "That is the number of processes. Four times four threads on eight cores?",
                1: "Then half of the cores have nothing to do.",
            },
            "All threads together should be as many as the cores.",
        ),
    ),
    hints=(
        "What does the parallel loop do that the plain one does not, and what does it save?",
        "Saved is the part of the work that other threads do: a half with two threads, three quarters with four. It pays from "
        "the size on at which that is as much as the start.",
        "Write what is saved as a multiple of n, once for two threads and once for four: where is it as much as the "
        "start? For the pools: how many threads do all processes have together, and how many cores are there for each "
        "process?",
    ),
)

# 03-loops -----------------------------------------------------------------------------------------------------


@njit(parallel=True)
def loop_a(x, out):
    top = np.empty(1)
    for i in prange(x.shape[0]):
        top[0] = x[i, 0]
        for j in range(1, x.shape[1]):
            top[0] = max(top[0], x[i, j])
        out[i] = top[0]


@njit(parallel=True)
def loop_b(x, out):
    for i in range(x.shape[0]):
        top = -np.inf
        for j in prange(x.shape[1]):
            top = max(top, x[i, j])
        out[i] = top


@njit(parallel=True)
def loop_c(x, out):
    part = x.shape[0] // 4
    for t in prange(4):
        for i in range(t * part, (t + 1) * part):
            out[i] = x[i, 0]
            for j in range(1, x.shape[1]):
                out[i] = max(out[i], x[i, j])


@njit(parallel=True)
def loop_d(x, out):
    for i in prange(x.shape[0]):
        top = 0.0
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        out[i] = top


@njit(parallel=True)
def loop_e(x, out):
    top = x[0, 0]
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > top:
                top = x[i, j]
        out[i] = top


def rows_arguments(rows, columns):
    """make(rng) -> x of shape (rows, columns) with one row below -1, out of shape (rows,), float64."""

    def make(rng):
        x = random_values(rng, rows, columns, dtype=np.float64)
        x[rows // 2] -= 2
        return x, unwritten(rows, dtype=np.float64)

    return make


LARGEST_OF_ROWS = WatchedTask(
    id="03-loops-judge",
    title="The largest number of each row",
    objective="Judge a loop",
    points=0,
    minutes=0,
    spec=lambda x, out: x.max(axis=1),
    cases=(Case("10 x 6", rows_arguments(10, 6)),),
    hints=("", "", ""),
)

LOOPS = DetectiveTask(
    id="03-loops",
    section=Section("3", "03_numba_parallel", "A race"),
    title="Judge five loops",
    objective="Tell a right prange loop from one that races, carries a value, begins wrong or forgets rows",
    points=3,
    minutes=12,
    judge=LARGEST_OF_ROWS,
    nothing="Every element is as it should be, and no two iterations meet.",
    programs={"A": loop_a, "B": loop_b, "C": loop_c, "D": loop_d, "E": loop_e},
    faults=(
        Fault("right", "gives the largest number of each row, with any number of threads"),
        Fault("race", "two iterations use one element, and one of them writes it", ("race",)),
        Fault("carried", "an iteration uses what another one left in a name", ("carried-scalar",)),
        Fault(
            "wrong start",
            "the comparison begins with a number that need not be in the row",
            ("wrong-value", "suspect", "constant", "shifted", "precision"),
        ),
        Fault("rows left out", "some rows belong to no iteration", ("some-unwritten",)),
    ),
    advice={
        "verdict": "Follow one row: with which number does it begin, and what may another iteration do to its names meanwhile?"
    },
    hints=(
        "For each loop: which names are made inside the prange loop, which before it? Who else uses these?",
        "What is made before the loop is shared, or carried from round to round. What numba makes a reduction (max, with its "
        "own name on both sides) is neither. Then try numbers: all below zero, a number of rows that 4 does not divide.",
        "One of them looks wrong because its prange stands in an unusual place: ask what it reduces. One has an array of a "
        "single element. One is right for all rows that have a positive number.",
    ),
)

# 03-twice -----------------------------------------------------------------------------------------------------

ROWS_HANDED = 3

TWICE = ScheduleTask(
    id="03-twice",
    section=Section("3.2", "03_schedules", "Dynamic: a shared counter"),
    title="Be the scheduler: a counter without fetch_add",
    objective="Choose the steps of two threads so that a dynamic schedule without an atomic counter repeats its rows",
    points=3,
    minutes=10,
    program=Program(
        """
        counter = 0
        by_a = by_b = 0


        def a(rows):
            global counter, by_a
            row = 0
            while row < rows:
                row = counter
                counter = row + 1
                if row < rows:
                    by_a += 1


        def b(rows):
            global counter, by_b
            row = 0
            while row < rows:
                row = counter
                counter = row + 1
                if row < rows:
                    by_b += 1
        """,
        A=("a", ROWS_HANDED),
        B=("b", ROWS_HANDED),
    ),
    score=lambda played: played.state["by_a"] + played.state["by_b"],
    shown="{} rows computed",
    slips={
        3: "Three rows, computed once each: no harm was done. What can B do between A's reading and A's writing?",
        4: "One row too many. Whoever has read may wait much longer: how far can the other one go before the old number "
        "plus 1 is written?",
        6: "Twice as many. Once an old number is written, who reads it next? The thread that wrote it can wait with it again, while "
        "the other one computes on.",
    },
    otherwise="A thread that waits with an old number can set the counter back once. When does that cost the other one most, "
    "and how soon can it do it again?",
    hints=(
        "A thread reads the counter and is stopped. What happens to the counter when it goes on?",
        "The writing of a thread that waited sets the counter back to what it read, plus 1. The further the other one came, the "
        "more rows it gets again. It must not have found the end yet.",
        "Let B read 0 and wait, while A computes all three rows but has not read 3 yet. Then B writes 1 and reads it at once: it is "
        "ready to do the same again, one row later.",
    ),
)

# 03-predict ---------------------------------------------------------------------------------------------------

PREDICT_ROWS = list(range(1, 9))  # row i of a causal loop costs i + 1
LOOP, LEAST = 64, 5  # rows of another loop; of a chunk at least
DEAR = 6  # cost of a row in the second half of that loop, if one in the first half costs 1

PREDICT = PredictionTask(
    id="03-predict",
    section=Section("3.2", "03_schedules", "The five schedules"),
    title="Predict five schedules",
    objective="Predict how much work each thread gets under a static, a dynamic and a folded schedule, what a guided one hands out, "
    "and what a thief takes",
    points=4,
    minutes=17,
    questions=(
        Question(
            "static",
            "work of the busier of 2 threads, static schedule",
            lambda: _static_makespan(PREDICT_ROWS, 2),
            {
                18: "18 is half of all work. The threads get half of the rows each: which rows are the long ones?",
                10: "10 is the work of thread 0, with the short rows. Which thread ends last?",
                22: "Rows 4 to 7 have i + 1 terms each: the first of them has 5, not 4.",
            },
            "Write down the rows of each thread, 0 to 3 and 4 to 7, and add up i + 1.",
        ),
        Question(
            "chunks",
            "chunks handed out with chunks of 3",
            lambda: len(range(0, len(PREDICT_ROWS), 3)),
            {2: "8 // 3 forgets the last, shorter chunk.", 4: "4 would be chunks of 2. Here they have 3 rows."},
            "A chunk is 3 rows; the last one may be shorter. How many until all 8 rows are gone?",
        ),
        Question(
            "dynamic",
            "work of the busier of 2 threads, dynamic schedule, chunks of 2",
            lambda: makespan(PREDICT_ROWS, 2, 2),
            {
                18: "18 is half of all work: perfect balance. But the last chunk is a large one.",
                26: "26 is what the static schedule gives. Here a thread that is free takes the next two rows.",
                20: "20 is right for chunks of 1. Here two rows are taken at once.",
            },
            "The chunks cost 3, 7, 11 and 15. Thread 0 takes 3, thread 1 takes 7. Who is free first, and takes 11?",
        ),
        Question(
            "folded",
            "work of each of 2 threads, folded",
            lambda: sum(PREDICT_ROWS) // 2,
            {
                9: "9 is one pair of rows, the first and the last. Each thread has two pairs.",
                36: "36 is all the work. Two threads share it.",
            },
            "Rows i and 7 - i together cost 9. How many such pairs does each thread get?",
        ),
        Question(
            "guided",
            f"chunks of a guided schedule: {LOOP} rows, 2 threads, at least {LEAST} rows in a chunk",
            lambda: len(guided(LOOP, 2, LEAST)),
            {
                len(
                    guided(LOOP, 2, LEAST, share=1)
                ): "That is the schedule of the paper, with a fair share in each chunk. Ours takes half of one.",
                -(-LOOP // LEAST): f"That many chunks of {LEAST} there would be. The first ones are larger.",
                LOOP
                // len(
                    guided(LOOP, 2, LEAST)
                ): "That is the length of a chunk, in the mean. Their number is asked for.",
                guided(LOOP, 2, LEAST)[
                    0
                ]: "That is the length of the first chunk. How many come until all rows are gone?",
                len(guided(LOOP, 2, LEAST)) - 1: "Was a quarter rounded up, or the last, shorter chunk forgotten?",
            },
            f"The first chunk has {LOOP} // 4 rows. What is left then, and what is a quarter of that? Below {LEAST}, it is {LEAST}, as long as "
            "so many are left.",
        ),
        Question(
            "stolen",
            f"rows that thread 0 takes in its first theft: {LOOP // 2} rows of 1 unit are its own, {LOOP // 2} of {DEAR} units are thread 1's",
            lambda: stolen_first([1] * (LOOP // 2) + [DEAR] * (LOOP // 2)),
            {
                26: "So many rows thread 1 still has. A thief takes half of them.",
                27: "That is what thread 1 has not finished. One of these rows is in work, and a thief takes half of the rest.",
                14: "Was the row counted that thread 1 is computing? It has taken that one already.",
                16: "That is half of what thread 1 had at the beginning. What has it left when thread 0 needs more?",
                5: "So many rows thread 1 has finished by then. How many are left to it?",
                6: "So many rows thread 1 has taken by then. How many are left to it?",
                1: "A dynamic schedule hands out one row. A thief takes half of what it finds.",
            },
            "When has thread 0 done its own rows? How many has thread 1 taken by then, and what is half of the rest?",
            section=Section("3.2", "03_schedules", "Stealing: a range of one's own"),
        ),
    ),
    hints=(
        "Write down the eight costs in a row: row i costs i + 1. Which of them belongs to which thread?",
        "For the dynamic schedule play it with two clocks: the thread with the earlier clock takes the next chunk and its "
        "clock moves on by the cost.",
        "static: the last four rows. chunks: the last one may be small. dynamic: write down the costs of the four "
        "chunks first, then let the clocks decide. folded: what do rows k and 7 - k cost together? guided: each time a "
        "quarter of what is left, and never less than 5. stolen: when is thread 0 done, and how far has thread 1 come "
        "by then?",
    ),
)

# 03-layers, the second part of 03-predict -----------------------------------------------------------------------

PIECES, PIECE, LATE = 16, 100, 4000  # pieces of a loop; microseconds of one; until the other thread gets a core


def returns_after(pieces, each, late, for_all):
    """Microseconds until a loop returns, on the caller's thread and one that comes `late`; both take pieces from a counter.
    `for_all`: it returns when both have come, and not as soon as all pieces are done."""
    free = [0, late]
    for _ in range(pieces):
        k = free.index(min(free))
        free[k] += each
    return max(free) if for_all or free[1] > late else free[0]


LAYERS = PredictionTask(
    id="03-layers",
    section=Section("3.3", "03_pools", "Three layers under `prange`"),
    title="Who hands out the chunks, and who waits at the end?",
    objective="Predict what a threading layer makes of a chunk size, and what a loop costs that waits for every thread",
    after="03-predict",
    points=2,
    minutes=8,
    questions=(
        Question(
            "blocks",
            "work of the busier of 2 threads with a chunk size of 1, under a layer that hands out blocks of chunks",
            lambda: _static_makespan(PREDICT_ROWS, 2),
            {
                sum(PREDICT_ROWS)
                // 2: "That is half of the work. Each thread gets a block of four chunks: which ones?",
                makespan(
                    PREDICT_ROWS, 2, 1
                ): "That is so if a thread takes its next row when it is free. Here nobody hands out "
                "anything while the loop runs.",
                10: "That is the thread with the short rows. Who is busier?",
            },
            "Chunks of one row, and four chunks for each thread, one after the other. Which rows does the busier one get?",
        ),
        Question(
            "handed_out",
            "work of the busier of 2 threads, if each takes the next row when it is free",
            lambda: makespan(PREDICT_ROWS, 2, 1),
            {
                sum(PREDICT_ROWS)
                // 2: "That would be perfect. Row 7, the longest, is taken last: what does the other thread do then?",
                _static_makespan(PREDICT_ROWS, 2): "That is in blocks. Here the thread that is free takes one row.",
                makespan(PREDICT_ROWS, 2, 2): "That is with two rows at a time.",
                16: "That is the other thread: one of the two ends later.",
            },
            "Two clocks. Row 0 goes to one thread, row 1 to the other; then always to the clock that is behind.",
        ),
        Question(
            "all_come",
            "microseconds until the loop returns, if it waits until both threads have come",
            lambda: returns_after(PIECES, PIECE, LATE, for_all=True),
            {
                PIECES * PIECE: "Then all pieces are done. But this loop waits for the second thread, too.",
                PIECES * PIECE // 2: "That would be so if both began at once.",
                LATE
                + PIECES * PIECE // 2: "When the second thread comes, no piece is left: the first one was not idle.",
                LATE + PIECES * PIECE: "One does not wait for the other before it begins.",
                PIECES: "That is the number of pieces. How many microseconds is it until the loop returns?",
            },
            "What has the first thread done when the second one comes? What must happen before the loop returns?",
        ),
        Question(
            "all_done",
            "microseconds until the loop returns, if it waits only until all pieces are done",
            lambda: returns_after(PIECES, PIECE, LATE, for_all=False),
            {
                LATE: "Who waits for a thread that has begun no work waits for nothing.",
                PIECES: "That is the number of pieces. How many microseconds do they take?",
                PIECES
                * PIECE
                // 2: "That would be so if both began at once. How many pieces are left when the second one comes?",
            },
            "How long does one thread alone need for 16 pieces, and has the other one come by then?",
        ),
    ),
    hints=(
        "For each layer: when is it decided who gets which row, before the loop or while it runs? And for each loop: what must have "
        "happened before it returns?",
        "In blocks, a chunk size changes nothing: the first half of the chunks for one thread, the second half for the other. Handed "
        "out, it is the game with two clocks.",
        "blocks: the rows 4 to 7. handed_out: the clocks show 1 and 2, then 4 and 6, then 9 and 12, and then? The pieces: 16 "
        "times 100 is less than 4000.",
    ),
)

# 03-table -----------------------------------------------------------------------------------------------------


def table_arguments(n, classes):
    """make(rng) -> truth and guess (int64) and weight (float64) of shape (n,), out of shape (classes, classes). The first
    samples are in the last place of the table, the last ones in the first: there two tables meet."""

    def make(rng):
        truth, guess = rng.integers(0, classes, (2, n))
        truth[: n // 16] = guess[: n // 16] = classes - 1
        truth[n - n // 16 :] = guess[n - n // 16 :] = 0
        return truth, guess, random_values(rng, n, dtype=np.float64), unwritten(classes, classes, dtype=np.float64)

    return make


def _table(truth, guess, weight, out):
    table = np.zeros(out.shape)
    np.add.at(table, (truth, guess), weight)
    return table


TABLE = ParallelTask(
    id="03-table",
    section=Section("3", "03_numba_parallel", "Three repairs"),
    title="A weighted table of errors",
    objective="Repair a race by private tables that neither share cache lines nor waste memory",
    points=3,
    minutes=20,
    spec=_table,
    watch=Watch(outside=0.5),  # of few samples: the tables of the threads are added up
    rtol=1e-9,
    atol=1e-12,
    cases=(
        Case("40 samples of 3 classes", table_arguments(40, 3)),
        Case("one sample of 2 classes", table_arguments(1, 2)),
        Case("1001 samples of 7 classes", table_arguments(1001, 7)),
        Case("20,000 samples of 10 classes", table_arguments(20_000, 10)),
    ),
    suspects=(
        Suspect(
            lambda truth, guess, weight, out: _table(guess, truth, weight, out),
            "Rows and columns are exchanged: the row is the true class, the column the guess.",
        ),
        Suspect(
            lambda truth, guess, weight, out: _table(truth, guess, np.ones_like(weight), out),
            "These are counts. Each sample adds its weight, not 1.",
        ),
    ),
    advice={
        "race": (
            "Two iterations add to the same place: load, add, store. When both load the old value, one weight is lost. Give each "
            "thread a table of its own, and add up the tables after the loop."
        ),
        "raised-IndexError": "An index left its array. A table has classes * classes places: is yours as large?",
        "some-unwritten": "Places of out were never set. A pair of classes that does not occur has the weight 0.",
        "wrong-value": "Is it right with one thread, and wrong with several? Then samples belong to no thread, because a division was "
        "rounded down, or the tables of some threads are not in the sum.",
        "constant": "Every element is 0. Is a fraction cut off, by whole numbers in a table or by a `//` that leaves a thread no "
        "samples, or is nothing added to out?",
        "not-finite": "out holds NaN at first, and NaN plus anything is NaN. Set it before you add to it.",
    },
    budget=Budget(
        points=2,
        text="no cache line shared by two threads inside the loop, and at most 52 cache lines touched (48 samples of 9 classes)",
        require={"false_sharing": 0, "cache_lines": 52},
        over=(
            "The result is right, but two threads write into one cache line, or there are more private tables than threads, or larger "
            "ones than need be. A line holds 8 float64. Which is padded in yours: the row of a table, or the table? Which needs to be?"
        ),
        case=Case("48 samples of 9 classes", table_arguments(48, 9)),
    ),
    hints=(
        "Two samples of the same pair of classes meet at one place. Who could have a table of its own, so that nobody meets?",
        "Only the beginning of a thread's table must lie on a new line; rows inside it are used by one thread. So think of a "
        "table as one row of numbers: which place has the pair (truth, guess) in it?",
        "A private array with a row of places for each thread, and as many places as fill whole lines. Number the "
        "pairs as one numbers the elements of a matrix, row by row. Then out[r, c] is the sum over the threads.",
    ),
)

# 03-largest ---------------------------------------------------------------------------------------------------


def largest_arguments(n, kind="random"):
    def make(rng):
        x = random_values(rng, n, dtype=np.float64)
        if kind == "ties":
            x = np.round(2 * x)
        elif kind == "negative":
            x = -1 - np.abs(x)
        elif kind == "last":
            x[-1] = 5
        return x, np.full(1, -1)

    return make


LARGEST = ParallelTask(
    id="03-largest",
    section=Section("3", "03_numba_parallel", "Reductions"),
    title="A reduction that numba does not know",
    objective="Write a reduction with private results and a last step on one thread",
    points=4,
    minutes=15,
    spec=lambda x, where: np.full(1, np.argmax(x)),
    watch=Watch(outside=0.9),  # the largest number may be found first, and then one thread looks for its place
    cases=(
        Case("64 numbers, many of them equal", largest_arguments(64, "ties")),
        Case("one number", largest_arguments(1)),
        Case("997 numbers", largest_arguments(997)),
        Case("100 negative numbers", largest_arguments(100, "negative")),
        Case("the largest is the last of 1001", largest_arguments(1001, "last")),
    ),
    suspects=(
        Suspect(
            lambda x, where: np.full(1, len(x) - 1 - np.argmax(x[::-1])),
            "This is the last of the largest elements; np.argmax gives the first. Which comparison keeps the earlier one?",
        ),
        Suspect(
            lambda x, where: np.full(1, np.argmin(x)),
            "This is the smallest element. If you compared absolute values: signs count, -3 is smaller than 1.",
        ),
        Suspect(
            lambda x, where: np.zeros(1, int),
            "Index 0: no element was found larger than the starting value. With which value does the comparison begin?",
        ),
        Suspect(lambda x, where: np.full(1, int(x.max())), "This is the largest element itself, not its place."),
    ),
    advice={
        "wrong-value": (
            "The candidates of all threads must be compared, by their elements x[place], in the order of the parts, and of equal "
            "ones the first stays. A place counts from the beginning of x, not of a part; the parts must cover all of x."
        ),
        "race": (
            "Iterations of the prange loop write to the same element. Let each thread write only to its own element of an "
            "array, and compare these few candidates after the loop."
        ),
        "carried-scalar": (
            "numba makes a reduction of name += ..., and of max and min. A name that is compared and then set is none: every "
            "iteration would need what the one before it left. Use one candidate for each thread."
        ),
        "raised-TypingError": (
            "A name that is set inside the prange loop and used by later iterations cannot be compiled here: it is no "
            "reduction that numba knows. Keep one candidate for each thread in an array."
        ),
    },
    hints=(
        "numba knows sum, product, max and min. Here you need the place of the maximum. Could each thread find its own?",
        "An array of one candidate index for each thread. The loop over t is the prange loop; inside it, an ordinary loop over "
        "the part of thread t. Then an ordinary loop over the candidates.",
        "A candidate begins at the first element of its part. Which comparison keeps the first of equal elements: > or "
        ">=? Behind the inner loop each thread stores its candidate at its own place; in which order must the "
        "candidates be compared at the end?",
    ),
)

# 03-softmax ---------------------------------------------------------------------------------------------------


def softmax_arguments(rows, columns, scale=1.0):
    """With a `scale`, every other row has negative numbers only."""

    def make(rng):
        x = np.float32(scale) * random_values(rng, rows, columns)
        if scale != 1:
            x[1::2] -= np.float32(1.2 * scale)
        return x, unwritten(rows, columns)

    return make


def _softmax(x, axis=1):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


SOFTMAX = ParallelTask(
    id="03-softmax",
    section=Section("3", "03_numba_parallel", "What numba makes parallel"),
    title="Softmax of every row, without temporaries",
    objective="Parallelise over independent rows and keep everything else private",
    points=2,
    minutes=15,
    spec=lambda x, out: _softmax(x),
    rtol=2e-5,
    cases=(
        Case("6 x 5", softmax_arguments(6, 5)),
        Case("one row: 1 x 40", softmax_arguments(1, 40)),
        Case("one column: 30 x 1", softmax_arguments(30, 1)),
        Case("large numbers, up to 1000 and down to -2200: 20 x 33", softmax_arguments(20, 33, scale=1000)),
        Case("300 x 17", softmax_arguments(300, 17)),
    ),
    suspects=(
        Suspect(lambda x, out: _softmax(x, axis=0), "This is the softmax of every column. Rows were asked for."),
        Suspect(
            lambda x, out: np.exp(x - x.max(axis=1, keepdims=True)), "The exponentials were not divided by their sum."
        ),
        Suspect(
            lambda x, out: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
            "All elements together sum up to 1. Each row must: the sum belongs to a row.",
        ),
    ),
    advice={
        "not-finite": (
            "exp of a large number is infinite, exp of a very negative one is 0, and neither inf / inf nor 0 / 0 is a number. "
            "Subtract the largest element of the row first (it may be below 0): the result is the same, and the largest "
            "exponent is 0."
        ),
        "wrong-value": (
            "Each row needs three things of its own, over all its columns: the largest element; the sum of "
            "exp(x[i, j] - largest), begun at 0 in each row; and each exp(x[i, j] - largest) divided by that sum."
        ),
        "race": (
            "Two rows use the same scratch element at the same time. What belongs to a row must be a scalar inside the loop, "
            "or a part of out that belongs to this row."
        ),
    },
    budget=Budget(
        points=2,
        text="no array allocated inside the function",
        require={"arrays": 0, "temporaries": 0},
        over=(
            "The result is right, but an array is made for each row: that costs time, and all threads ask one allocator. Write "
            "the exponentials into out, and divide there."
        ),
        case=Case("64 x 32", softmax_arguments(64, 32)),
    ),
    hints=(
        "Which iterations are independent: rows or columns? What does a row need besides its own elements?",
        "prange over the rows. For each row three short loops: find the largest, write exp(x - largest) into out while "
        "summing up, divide.",
        "All three names, for the largest, the exponential and the sum, are made inside the prange loop, so they are "
        "private. With which two values does a row begin? And which of the three short loops may read what it has just "
        "stored?",
    ),
)

# 03-roof ------------------------------------------------------------------------------------------------------

WIDTH, MANY = 32, 1024


def centre_arguments(rows, width=WIDTH):
    """make(rng) -> x of shape (rows, width), c of shape (width,), out of shape (rows,), float32."""
    return lambda rng: (random_values(rng, rows, width), random_values(rng, width), unwritten(rows))


def _distances(x, c):
    return ((x.astype(np.float64) - c) ** 2).sum(axis=1)


ROOF = MeasuredParallelTask(
    id="03-roof",
    section=Section("3", "03_numba_parallel", "What numba makes parallel"),
    title="Distances to a centre, under the roof of all cores",
    objective="Write a parallel loop over rows, count its flops and bytes, and say which roof is over it",
    points=3,
    minutes=12,
    spec=lambda x, c, out: _distances(x, c),
    rtol=1e-4,
    cases=(
        Case("10 x 6", centre_arguments(10, 6)),
        Case("one row: 1 x 32", centre_arguments(1)),
        Case("one column: 30 x 1", centre_arguments(30, 1)),
    ),
    suspects=(
        Suspect(lambda x, c, out: np.sqrt(_distances(x, c)), "This is the distance. Its square is asked for."),
        Suspect(
            lambda x, c, out: np.cumsum(_distances(x, c)),
            "Each row goes on with the sum of the rows before it. A row's sum begins with 0, inside the prange loop.",
        ),
        Suspect(lambda x, c, out: (x.astype(np.float64) ** 2).sum(axis=1), "The centre was not subtracted."),
        Suspect(
            lambda x, c, out: np.abs(x.astype(np.float64) - c).sum(axis=1), "Square the differences before you add."
        ),
    ),
    watch=Watch(starts=3),
    advice={
        "race": "Two rows use one element. What belongs to a row must be a name that is made inside the prange loop.",
        "not-parallel": "Threads share the rows: `prange` in the outer loop, in a function with `@njit(parallel=True)`, and a plain "
        "`range` inside.",
        "flops": "Count one term: a subtraction, a multiplication, an addition. A sum that begins with 0 adds every term.",
        "moved": "Which elements of x, c and out does the loop touch? Each counts once, with 4 bytes: c, too, once for all rows.",
        "roof": "Below the ridge the bytes take longer than the flops, above it the flops do. Which side is your intensity on?",
    },
    claimed=Case(f"{MANY} x {WIDTH}", centre_arguments(MANY)),
    measured=Case(f"{1 << 18} x {WIDTH}", centre_arguments(1 << 18)),
    card=Card(peak=12e9, bandwidth=24e9),
    hints=(
        "What does one row need of its own? What does one term of its sum cost?",
        "prange over the rows, a sum that is made inside. A term takes three flops. Bytes: all of x, all of c, all of out.",
        "How many terms are there in all, of three flops each? Which of the three arrays has an element for each row "
        "and column, and which has one for each row or each column only? The ridge of the machine is peak divided by "
        "bandwidth.",
    ),
)

# 03-finish ----------------------------------------------------------------------------------------------------


def _ends(parts, threads):
    """When each thread ends, the first one first, if `parts` are handed out to whoever is free."""
    free = [0] * threads
    for part in parts:
        free[0] += sum(part)
        free.sort()
    return free


def _whole(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def judge_finish(arguments, result):
    costs, threads, chunk = arguments
    expected = makespan(costs, threads, chunk)
    if not _whole(result):
        return Slip("type", f"{expected}, a whole number", "Return the time at which the last thread ends.")
    if result == expected:
        return None
    # The most telling explanation that fits comes first.
    perfect, largest_first = -(-sum(costs) // threads), makespan(sorted(costs, reverse=True), threads, chunk)
    overlapping = makespan(costs, threads, chunk, step=1)
    parts = [costs[first : first + chunk] for first in range(0, len(costs), chunk)]
    slips = (
        (
            "one-thread",
            sum(costs),
            "This is all the work, one after the other, as if there were one thread"
            + (", or as if the chunks overlapped." if overlapping == sum(costs) else "."),
        ),
        ("overlapping", overlapping, "The chunks overlap: the next one begins `chunk` further."),
        (
            "static",
            _static_makespan(costs, threads),
            "This is the static schedule: parts fixed in advance. Here the thread that is free first takes the next chunk.",
        ),
        (
            "in-turns",
            _round_robin(costs, threads, chunk),
            "This hands out chunks in turns. A thread that is still busy must not get one: who is free first?",
        ),
        (
            "single",
            makespan(costs, threads, 1),
            "This is the result for chunks of 1: a thread takes `chunk` iterations at once.",
        ),
        (
            "tail",
            makespan(costs[: len(costs) // chunk * chunk], threads, chunk),
            "The last chunk, which may be shorter, was left out.",
        ),
        (
            "long-slice",
            makespan(costs, threads, chunk + 1, step=chunk),
            "Each chunk has an iteration too many: a slice [first : first + chunk] ends before first + chunk.",
        ),
        (
            "ideal",
            perfect,
            "This is all work divided by the threads, as if iterations could be split"
            + (", or as if they were sorted: they come in the order of the list." if perfect == largest_first else "."),
        ),
        ("sorted", largest_first, "The iterations come in the order of the list: do not sort."),
        (
            "sorted",
            makespan(sorted(costs), threads, chunk),
            "The iterations come in the order of the list: do not sort.",
        ),
        ("first-end", _ends(parts, threads)[0], "This is when the first thread ends. The last one is asked for."),
        (
            "largest-only",
            _ends([[max(part)] for part in parts], threads)[-1],
            "A thread does all iterations of its chunk, one after the other: their sum.",
        ),
        (
            "rounds",
            sum(max(map(sum, parts[k : k + threads])) for k in range(0, len(parts), threads)),
            "Here all threads wait for each other before the next chunks. A thread that is free takes the next one at once.",
        ),
        ("two-threads", _ends(parts, 2)[-1], "This is the result for 2 threads. `threads` says how many there are."),
    )
    for kind, value, cause in slips:
        if result == value:
            return Slip(kind, str(expected), cause)
    cause = "Only the arguments decide. Play it with paper: a clock for each thread; the earliest clock takes the next chunk and moves on by its cost."
    return Slip("other", str(expected), cause)


def cost_arguments(n, threads, chunk, highest=20):
    return lambda rng: ([int(c) for c in rng.integers(1, highest, n)], threads, chunk)


FINISH = FunctionTask(
    id="03-finish",
    section=Section("3.2", "03_schedules", "Dynamic: a shared counter"),
    title="Simulate a dynamic schedule",
    objective="Compute when a dynamic schedule ends, and choose a chunk size with it",
    points=4,
    minutes=15,
    judge=judge_finish,
    cases=(
        Case("8 causal rows, 2 threads, chunks of 2", lambda rng: (list(PREDICT_ROWS), 2, 2)),
        Case("a long iteration first", lambda rng: ([30, 1, 2, 3, 4, 5, 6, 7], 3, 1)),
        Case("a shorter chunk at the end", lambda rng: ([5, 1, 4, 2, 3, 9, 8], 2, 3)),
        Case("more threads than iterations", lambda rng: ([4, 7], 4, 1)),
        Case("40 random costs", cost_arguments(40, 3, 4)),
    ),
    hints=(
        "What does the scheduler need to know to hand out the next chunk? Who gets it?",
        "Keep a list with the time at which each thread is free, all 0 at first. Go through the chunks in order; the thread with "
        "the smallest time gets the chunk, and its time grows by the sum of the costs.",
        "`free` has one time for each thread. Which thread comes next, and what is added to its time? The last chunk "
        "may be short. And when is all work done?",
    ),
)

# 03-chunk -----------------------------------------------------------------------------------------------------


def visited_makespan(costs, threads, chunk, visit):
    """As `makespan`, where a visit to the counter takes `visit`, and only one thread can be there at a time."""
    free, counter = [0] * threads, 0
    for first in range(0, len(costs), chunk):
        t = free.index(min(free))
        counter = max(free[t], counter) + visit
        free[t] = counter + sum(costs[first : first + chunk])
    return max(free)


def best_chunk(costs, threads, visit):
    """The specification of 03-chunk: the smallest of the chunk sizes that end first."""
    return min(range(1, len(costs) + 1), key=lambda chunk: visited_makespan(costs, threads, chunk, visit))


def _misplayed(costs, threads, chunk, visit, wrong):
    """A wrong time, as simulations have it: every thread visits the counter as if it were "alone"; it is "held" while its
    chunk is computed; threads come by "turns"; the "first" thread that is free ends the loop."""
    free, counter = [0] * threads, 0
    for number, first in enumerate(range(0, len(costs), chunk)):
        t = number % threads if wrong == "turns" else free.index(min(free))
        visited = (free[t] if wrong == "alone" else max(free[t], counter)) + visit
        free[t] = visited + sum(costs[first : first + chunk])
        counter = free[t] if wrong == "held" else visited
    return min(free) if wrong == "first" else max(free)


def judge_chunk(arguments, result):
    costs, threads, visit = arguments
    sizes = range(1, len(costs) + 1)
    best = best_chunk(*arguments)
    least = visited_makespan(costs, threads, best, visit)
    expected = f"a chunk size that ends at {least}"
    if not _whole(result) or result not in sizes:
        return Slip("type", f"a whole number from 1 to {len(costs)}", "Return the number of iterations in a chunk.")
    if result == best:
        return None
    ends = visited_makespan(costs, threads, int(result), visit)
    got = f"{result}, which ends at {ends}"
    if ends == least:
        return Slip(
            "tie", expected, "A smaller chunk size ends at the same time: of equal ones return the smallest.", got
        )
    slips = (
        ("free", lambda k: makespan(costs, threads, k), "This is best if a visit costs nothing."),
        (
            "no-queue",
            lambda k: _misplayed(costs, threads, k, visit, "alone"),
            "This is best if threads never wait for each other at the counter. Only one can be there at a time: its visit begins "
            "when it is free AND the counter is.",
        ),
        (
            "turns",
            lambda k: _misplayed(costs, threads, k, visit, "turns"),
            "This is best if the threads come one after the other, by turns. The one that is free first comes first.",
        ),
        (
            "held",
            lambda k: _misplayed(costs, threads, k, visit, "held"),
            "This is best if a thread keeps the counter while it computes. The counter is free again after the visit.",
        ),
        (
            "first-end",
            lambda k: _misplayed(costs, threads, k, visit, "first"),
            "This is best for the thread that is done first. The loop ends when the last one is done.",
        ),
    )
    matching = [(kind, cause) for kind, ends_at, cause in slips if result == min(sizes, key=ends_at)]
    if matching:
        return Slip(matching[0][0], expected, " Or: ".join(cause for _, cause in matching[:2]), got)
    if result == -(-len(costs) // threads):
        return Slip("static", expected, "One chunk for each thread: the visits are few, but who ends last?", got)
    if result == 1:
        cause = (
            "Chunks of 1 balance best, and visit the counter most often. Is every size tried (is the `return` behind the loop), and "
            "does each begin with free threads and a free counter?"
        )
        return Slip("ones", expected, cause, got)
    cause = "Play this size with paper: the thread that is free first waits for the counter, visits it, and then computes its chunk. "
    cause += "The loop ends when the last thread does. Do you try all sizes, the last one too?"
    return Slip("other", expected, cause, got)


def triangle_visits(n, threads, visit):
    return lambda rng: (list(range(1, n + 1)), threads, visit)


def random_visits(n, threads, visit, highest=40):
    return lambda rng: ([int(c) for c in rng.integers(1, highest, n)], threads, visit)


def _one_long(rng):
    """Whoever has the first iteration comes to the counter no more: by turns it would still get every second chunk."""
    return [60, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 2, 1


CHUNK = FunctionTask(
    id="03-chunk",
    after="03-finish",
    section=Section("3.2", "03_schedules", "How large a chunk?"),
    title="Choose the chunk size",
    objective="Choose a chunk size for given costs, with visits to the counter that cost time and exclude each other",
    points=3,
    minutes=12,
    judge=judge_chunk,
    cases=(
        Case("12 causal rows, 2 threads, a visit costs 3", triangle_visits(12, 2, 3)),
        Case("100 causal rows, 4 threads, a visit costs 20", triangle_visits(100, 4, 20)),
        Case("150 causal rows, 8 threads, a visit costs 35", triangle_visits(150, 8, 35)),
        Case("6 equal rows, 2 threads, free visits", lambda rng: ([3] * 6, 2, 0)),
        Case("90 random costs, 3 threads, a visit costs 10", random_visits(90, 3, 10)),
        Case("more threads than iterations", lambda rng: ([4, 7], 4, 1)),
        Case("a visit costs more than all the work", lambda rng: ([1, 2, 3, 4, 5], 2, 50)),
        Case("one iteration is longer than all others", _one_long),
    ),
    advice={"raised-ValueError": "The smallest chunk has one iteration: begin with the size 1."},
    hints=(
        "What changes in your simulation when a visit takes time? And what when two threads come at once?",
        "Besides the times at which the threads are free, keep the time at which the counter is free. A visit begins at the later "
        "of the two. Then try all sizes.",
        "A visit begins when both are free, the thread and the counter, and keeps the counter busy as long as it "
        "lasts; only then does the chunk's work begin. Go through the sizes from 1 on, and keep a size only if it ends "
        "earlier than the best before it.",
    ),
)

# 03-gate ------------------------------------------------------------------------------------------------------


def serve(Gate, rounds, bad, hold, forks, children):
    """Call a gate for the numbers in `rounds`, a list for each thread. `bad`: the number on which the parallel loop fails.

    `hold`: "call" keeps a thread inside the parallel loop until another one has its result, "fork" until a child has; with "turns"
    each thread begins when the one before has ended. `forks`: a child calls "before" the first call, "after" the calls, or "both".
    `children`: their three numbers, and the parent's last one.
    """
    process, owner, home = 1, {1: None}, threading.get_ident()
    inside, go = threading.Event(), threading.Event()
    events, seen = Events(), {"results": [], "ended": [], "alone": [], "errors": [], "at_once": 0}

    def parallel(x):
        me, number = threading.get_ident(), 1
        if me == home:
            number = process
        if owner[number] is None:
            owner[number] = number
        elif owner[number] != number:
            seen["ended"].append(x)
        events.enter("in_the_loop")
        if hold == "call" or (hold == "fork" and me != home):
            inside.set()
            go.wait()
        events.leave("in_the_loop")
        if x == bad:
            raise ValueError(f"{x} is bad")
        return x * x

    def alone(x):
        seen["alone"].append(x)
        return x * x

    gate = Gate(parallel, alone, lambda: process if threading.get_ident() == home else 1)

    def call(gate, numbers):
        for x in numbers:
            try:
                seen["results"].append([x, gate(x)])
                if hold == "call":
                    go.set()
            except ValueError as error:
                seen["errors"].append(str(error))

    def child(*numbers):
        nonlocal process
        twin, process, owner[2] = copy.copy(gate), 2, owner[1]  # a fork copies what is there
        call(twin, numbers)
        process = 1

    if forks in ("before", "both"):
        child(children[0])
    if hold == "turns":
        call(gate, rounds[0])
    others = [threading.Thread(target=call, args=(gate, numbers)) for numbers in rounds[1:]]
    for thread in others:
        thread.start()
        if hold == "turns":
            thread.join()
    if hold == "fork":
        inside.wait()
        child(children[1])
    if hold != "turns":
        call(gate, rounds[0])
    go.set()
    for thread in others:
        thread.join()
    if forks in ("after", "both"):
        child(children[2])
        call(gate, [children[3]])
    return seen | {"at_once": events.counts().get("in_the_loop", 0)}


def judge_serve(arguments, result):
    rounds, bad, hold, forks, children = arguments
    if result["at_once"] > 1:
        cause = (
            "Two threads came in at the same moment. To look whether the loop is free, and to take it, must be one step: a lock that is "
            "asked for without waiting does both."
        )
        got = f"{result['at_once']} at once: the layer ends the process"
        return Slip("two-at-once", "one thread at a time in `parallel`", cause, got)
    if result["ended"]:
        cause = (
            "A child was sent to threads that only its parent has. Compare the number of the process, `pid()`, with that of the "
            "process that called `parallel` first, at each call."
        )
        got = f"parallel({result['ended'][0]}) in a child whose parent had used it: the layer ends the process"
        return Slip("fork", "`alone` in a child whose parent has used `parallel`", cause, got)
    if bad is not None and result["errors"] != [f"{bad} is bad"]:
        cause = "The caller must hear of the error of the loop: let it go out. `finally` opens the lock on the way."
        got = f"the errors {result['errors']}" if result["errors"] else "no error"
        return Slip("error-lost", f"ValueError: {bad} is bad, raised by the call", cause, got)
    numbers = [x for row in rounds for x in row if x != bad]
    before, after = forks in ("before", "both"), forks in ("after", "both")
    numbers += children[:1] * before + children[1:2] * (hold == "fork") + children[2:] * after
    expected = sorted([x, x * x] for x in numbers)
    came = sorted(result["results"], key=str)
    if sorted(map(str, came)) != sorted(map(str, expected)):
        cause = "Each call returns what `parallel(x)` or `alone(x)` returns."
        wrong = next((pair for pair in came if pair not in expected), None)
        got = f"gate({wrong[0]}) = {short(wrong[1])}" if wrong else f"{len(came)} results of {len(expected)} calls"
        return Slip("wrong-result", "gate(x) = x * x, the result of both", cause, got)
    if len(rounds) > 1 and not hold:
        return None  # who came while somebody was inside cannot be told from outside
    allowed = {children[2]} | ({*numbers} if hold in ("call", "fork") else set())
    vain = [x for x in result["alone"] if x not in allowed]
    if vain:
        of_process = {children[0]: "child", children[3]: "parent"}
        cause = VAIN["error" if bad is not None else of_process.get(vain[0], "free")]
        return Slip("alone-in-vain", "`parallel` where nothing speaks against it", cause, f"alone({vain[0]})")
    return None


VAIN = {
    "error": "After an error in the loop nobody is inside any more, and the next caller may use it. Is the lock opened on every way out?",
    "child": "The gate was made before the fork, but nobody had called `parallel` yet: the child may, and has threads of its own "
    "then. So the process that counts is not the one that made the gate.",
    "parent": "The child is gone, and the parent's threads are as they were. Does the object still belong to the parent?",
    "free": "Nobody was inside, and the process is the one that called `parallel` first. Is the lock opened after each call, and is "
    "any thread let in?",
}


def serving(*rounds, bad=None, hold="", forks=""):
    """A list of calls for each thread; each number stands for a random one."""

    def make(rng):
        names = [int(x) for x in 10 + rng.permutation(80)]
        numbers = [[names[x] for x in row] for row in rounds]
        return numbers, None if bad is None else names[bad], hold, forks, names[10:14]

    return make


GATE = ThreadTask(
    id="03-gate",
    section=Section("3.3", "03_pools", "Two callers, and a fork"),
    title="A gate before the pool",
    objective="Make a parallel loop safe for two callers at once and for a fork, under a layer that is neither",
    points=3,
    minutes=12,
    scenario=serve,
    schedules=80,
    judge=judge_serve,
    without=dict.fromkeys(
        ("timeout", "sleep"), "a caller never waits here, not even for a while; `acquire(blocking=False)` asks"
    ),
    cases=(
        Case("one caller, three calls", serving([1, 2, 3])),
        Case("two callers", serving([1], [2])),
        Case("two callers, one after the other", serving([1], [2], hold="turns")),
        Case("two callers, and one stays inside until the other has its result", serving([1], [2], hold="call")),
        Case("an error in the loop", serving([1, 2], bad=1)),
        Case("a child after the first call, then its parent", serving([1], forks="after")),
        Case("a child before the first call", serving([1], forks="before")),
        Case("a child while a thread of the parent is inside", serving([1], [2], hold="fork")),
    ),
    advice={
        "deadlock": "A caller waits. Somebody else is inside for a long time, or the lock was closed when the process was forked, and "
        "nobody in the child will ever open it: `acquire(blocking=False)` asks, and does not wait. Or was the lock not opened "
        "after an error?",
        "lock-not-released": "The lock is still closed at the end. What opens it when `parallel` raises an error? `finally` does.",
        "raised-RuntimeError": "Only who got the lock may open it. What did `acquire(blocking=False)` return?",
        "busy-waiting": "A caller asks again and again. It need not wait at all: it can do the work alone.",
        "endless": "A caller asks again and again. It need not wait at all: it can do the work alone.",
        "livelock": "A caller asks again and again. It need not wait at all: it can do the work alone.",
        "lost-update": "Two callers read and changed a name of the object at the same time: what tells that somebody is inside must be "
        "taken in one step, as a lock is.",
    },
    hints=(
        "What must be true before a call may use `parallel`? There are two things. And which of them can change between your looking "
        "and your calling?",
        "A lock that is closed while somebody is inside, and the number of the process that called `parallel` first: None until then. "
        "Who does not get the lock works alone.",
        "Ask for the lock without waiting. If you have it: note the process if none is noted yet, and compare. Everything from there "
        "on stands in a `try`, for the lock must be opened on three ways out.",
    ),
)

# 03-sizes -----------------------------------------------------------------------------------------------------


@njit(parallel=True)
def first(x, parts, out):
    own = np.zeros(parts, np.int64)
    part = (x.size + parts // 2) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                own[t] += 1
    out[0] = 0
    for count in own:
        out[0] += count


@njit(parallel=True)
def second(x, parts, out):
    own = np.zeros(parts, np.int8)
    part = (x.size + parts - 1) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                own[t] += 1
    out[0] = 0
    for count in own:
        out[0] += count


@njit(parallel=True)
def third(x, parts, out):
    own = np.zeros(16, np.int64)
    part = (x.size + parts - 1) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                own[t % 16] += 1
    out[0] = 0
    for count in own:
        out[0] += count


@njit(parallel=True)
def positives(x, parts, out):
    own = np.zeros(parts, np.int64)
    part = (x.size + parts - 1) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                own[t] += 1
    out[0] = 0
    for count in own:
        out[0] += count


def positive_arguments(n, parts):
    """make(rng) -> x of shape (n,) with a zero at every fourth place, parts, out of shape (1,)."""

    def make(rng):
        x = np.abs(random_values(rng, n, dtype=np.float64))
        x[1::4] = 0
        return x, parts, np.full(1, -1)

    return make


COUNTING = WatchedTask(
    id="03-sizes-judge",
    title="Count the positive numbers",
    objective="Judge a loop",
    points=0,
    minutes=0,
    spec=lambda x, parts, out: np.full(1, (x > 0).sum()),
    cases=(Case("n = 8 in 2 parts", positive_arguments(8, 2)),),
    hints=("", "", ""),
)

_FIELDS = {"n": Whole(1, 2000), "parts": Whole(1, 64)}


def _counted(name, wrong, lead):
    def case(n, parts):
        return Case(f"n = {n} in {parts} parts", positive_arguments(n, parts))

    return Flaw(name=name, judge=COUNTING, wrong=wrong, right=positives, fields=_FIELDS, case=case, lead=lead)


SIZES = CounterexampleTask(
    id="03-sizes",
    section=Section("3", "03_numba_parallel", "The race that no test sees"),
    title="Find sizes on which three parallel loops fail",
    objective="Find a size and a number of parts at which a parallel loop is wrong that is right for most",
    points=3,
    minutes=12,
    flaws=(
        _counted("first", first, "Where does the last part end, and where does x? Rounded to the nearest: up or down?"),
        _counted("second", second, "How many does one part find at most here, and how many can an int8 hold?"),
        _counted("third", third, "Which two parts use the same place of own? Does each of these two have an element?"),
    ),
    hints=(
        "Each loop differs in one line from a right one. Which numbers does that line make for your n and your parts?",
        "first: write down the ends of all parts. second: what is the largest number that one element of own can hold? third: "
        "from how many parts on do two threads meet, and are both parts non-empty?",
        "first wants a remainder that is rounded down, and a positive number behind the last part. second wants few parts and many "
        "numbers, third many parts, and enough numbers that part 16 has some.",
    ),
)

# 03-cut -------------------------------------------------------------------------------------------------------


def parts_needed(costs, most):
    """Contiguous parts of at most `most` that a loop of `costs` needs."""
    parts, part = 1, 0
    for cost in costs:
        if part + cost > most:
            parts, part = parts + 1, 0
        part += cost
    return parts


def least_busiest(costs, threads):
    """The specification of 03-cut: the least work of the busiest of `threads` contiguous parts."""
    low, high = max(costs), sum(costs)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if parts_needed(costs, middle) <= threads else (middle + 1, high)
    return low


def judge_cut(arguments, result):
    costs, threads = arguments
    n = len(costs)
    expected = f"{threads + 1} whole numbers from 0 to {n}, none smaller than the one before"
    borders = list(result) if isinstance(result, list | tuple | np.ndarray) else [None]
    if not all(_whole(b) for b in borders):
        return Slip("type", expected, "Return a list: part t is range(borders[t], borders[t + 1]).")
    if len(borders) != threads + 1:
        return Slip(
            "number",
            expected,
            "Each part has a beginning, and the last one an end; empty parts have both, too. If there are too many: the largest "
            "part may hold more than your search allowed. It can need up to the sum of all costs.",
            f"{len(borders)} numbers",
        )
    if borders[0] != 0 or borders[-1] != n:
        cause = "The first part begins at 0, and the last one ends after the last iteration."
        return Slip("ends", expected, cause, f"from {borders[0]} to {borders[-1]}")
    if any(a > b for a, b in pairwise(borders)):
        return Slip("order", expected, "A part begins where the one before ends. It may be empty.")
    works = [sum(costs[a:b]) for a, b in pairwise(borders)]
    least, busiest = least_busiest(costs, threads), max(works)
    if busiest == least:
        return None
    got = f"{busiest} units, in part {works.index(busiest)}"
    if busiest == _static_makespan(costs, threads):
        cause = "These parts have the same number of iterations. Equal work is asked for: where the rows are long, take fewer."
    elif max(sum(sorted(costs)[a:b]) for a, b in pairwise(borders)) == least_busiest(sorted(costs), threads):
        cause = "These are the best borders for the costs in order of their size. The loop keeps its own order: do not sort."
    elif busiest <= -(-sum(costs) // threads) + max(costs):
        cause = (
            "Close, but a better cut exists. If you cut where the sum passes a share of the work, every border is rounded the same "
            "way. Ask instead: with at most so many units in a part, how many parts are needed?"
        )
    else:
        cause = (
            "Which part is the busiest, and could one of its ends go to its neighbour? If you fill parts up to a limit: does each new "
            "part begin with nothing in it?"
        )
    return Slip("busier", f"{least} units in the busiest part", cause, got)


def cut_arguments(n, threads, highest=50):
    return lambda rng: ([int(c) for c in rng.integers(1, highest, n)], threads)


CUT = FunctionTask(
    id="03-cut",
    section=Section("3.2", "03_schedules", "Rows that are not equal"),
    title="Cut a loop of known costs",
    objective="Divide uneven iterations into contiguous parts so that the busiest thread has as little as possible",
    points=5,
    minutes=20,
    judge=judge_cut,
    cases=(
        Case("8 causal rows, 2 threads", lambda rng: (list(PREDICT_ROWS), 2)),
        Case("100 causal rows, 4 threads", lambda rng: (list(range(1, 101)), 4)),
        Case("a long one in the middle", lambda rng: ([2, 3, 2, 40, 1, 2, 3, 2], 3)),
        Case("more threads than iterations", lambda rng: ([4, 7], 4)),
        Case("60 random costs, 7 threads", cut_arguments(60, 7)),
        Case("3000 random costs, 16 threads", cut_arguments(3000, 16)),
    ),
    advice={
        "raised-TooManyIterations": "There are far too many cuts to try them all. And a search that halves a range must make it smaller in "
        "every round, also when only two numbers are left."
    },
    hints=(
        "If somebody told you how much a part may hold at most, could you cut the loop?",
        "Go through the costs and begin a new part whenever the next one no longer fits. That takes the fewest parts for this "
        "limit. So the question is for the smallest limit that needs no more parts than there are threads.",
        "The limit lies between the largest cost and the sum of all. Halve that range again and again: does the middle need at most "
        "`threads` parts? At the end add borders at n for parts that are not needed.",
    ),
)

TASKS = (FIRST, PAYS, LOOPS, TWICE, PREDICT, LAYERS, LARGEST, SOFTMAX, ROOF, FINISH, CHUNK, GATE, SIZES, TABLE, CUT)
