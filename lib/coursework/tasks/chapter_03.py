"""Tasks of chapter 03, Loops on all cores: numba parallel."""

import numpy as np

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.function import FunctionTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

# 03-makespan: used by the first task, too ---------------------------------------------------------------------


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


# 03-predict ---------------------------------------------------------------------------------------------------

PREDICT_ROWS = list(range(1, 9))  # row i of a causal loop costs i + 1

PREDICT = PredictionTask(
    id="03-predict",
    section=Section("3.2", "03_schedules", "The five schedules"),
    title="Predict four schedules",
    objective="Predict how much work each thread gets under a static, a dynamic and a folded schedule",
    points=3,
    minutes=15,
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
                21: "21 is right for chunks of 1. Here two rows are taken at once.",
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
    ),
    hints=(
        "Write down the eight costs in a row: row i costs i + 1. Which of them belongs to which thread?",
        "For the dynamic schedule play it with two clocks: the thread with the earlier clock takes the next chunk and its "
        "clock moves on by the cost.",
        "static: 5 + 6 + 7 + 8. Chunks of 3: rows 0-2, 3-5, 6-7. Dynamic: costs 3, 7, 11, 15; thread 0 gets 3 and 11, "
        "thread 1 gets 7 and 15. Folded: two pairs of 9.",
    ),
)

# 03-histogram -------------------------------------------------------------------------------------------------


def label_arguments(n, classes):
    return lambda rng: (rng.integers(0, classes, n), np.full(classes, -1))


HISTOGRAM = ParallelTask(
    id="03-histogram",
    section=Section("3", "03_numba_parallel", "Three repairs"),
    title="Repair a histogram that loses counts",
    objective="Find the race in a prange loop and repair it with private results",
    points=3,
    minutes=20,
    spec=lambda labels, counts: np.bincount(labels, minlength=counts.size),
    cases=(
        Case("48 labels of 10 classes", label_arguments(48, 10)),
        Case("1001 labels of 7 classes", label_arguments(1001, 7)),
        Case("20,000 labels of 10 classes", label_arguments(20_000, 10)),
        Case("500 labels of 33 classes", label_arguments(500, 33)),
        Case("one label", label_arguments(1, 3)),
    ),
    suspects=(
        Suspect(
            lambda labels, counts: np.bincount(labels, minlength=counts.size) - 1,
            "Every count is one too small: counts held -1 before the call. Where is it set to 0?",
        ),
        Suspect(
            lambda labels, counts: np.bincount(labels[: labels.size // 2], minlength=counts.size),
            "Only the first half of the labels was counted: the parts must cover all of them.",
        ),
    ),
    advice={
        "race": (
            "Two iterations add to the same count: load, add, store. When both load the old value, one addition is lost. "
            "Give each thread a row of counts of its own, and add up the rows after the loop."
        ),
        "raised-IndexError": (
            "An index left its array. There are labels.size labels, a row needs one place for each class, and there is a row for "
            "each thread: get_num_threads() says how many."
        ),
        "some-unwritten": "Some counts were never written: the last loop must go over all classes, also those without a label.",
        "wrong-value": (
            "Each label must be counted once: the parts of the threads must cover all labels, also the last ones, and every row "
            "must begin with zeros (np.zeros; np.empty holds anything)."
        ),
    },
    budget=Budget(
        points=2,
        text="no cache line shared by two threads inside the loop",
        require={"false_sharing": 0},
        over=(
            "The result is right, but two threads write into one cache line, which must travel between their cores. A line "
            "holds 8 int64: make the rows longer, a multiple of 8."
        ),
        case=Case("48 labels of 10 classes", label_arguments(48, 10)),
    ),
    hints=(
        "Two iterations with the same label run at the same time. Both do counts[k] += 1. What are its three steps?",
        "Let t run over the threads with prange, and give thread t a row of an array own[threads, ...]. Inside, an ordinary "
        "loop over the labels of its part. After the prange loop add up the rows.",
        "own = np.zeros((threads, 16), np.int64) would do for 10 classes; (counts.size + 7) // 8 * 8 columns do for any. The "
        "part of thread t is range(t * n // threads, (t + 1) * n // threads).",
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
        "numba knows sum, product, max and min. Here you need the *place* of the maximum. Could each thread find its own?",
        "An array of one candidate index for each thread. The loop over t is the prange loop; inside it, an ordinary loop over "
        "the part of thread t. Then an ordinary loop over the candidates.",
        "Begin with best = t * n // threads, and go on with `if x[i] > x[best]: best = i`: > keeps the first of equal "
        "elements. After the inner loop candidates[t] = best. At the end compare the candidates in the order of t.",
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
    points=3,
    minutes=15,
    spec=lambda x, out: _softmax(x),
    rtol=2e-5,
    watch=Watch(outside=0.5),
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
            "Subtract the largest element of the *row* first (it may be below 0): the result is the same, and the largest "
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
        "largest = max(largest, x[i, j]); then e = math.exp(x[i, j] - largest), out[i, j] = e, total += e; then "
        "out[i, j] /= total. All three names are made inside the prange loop, so they are private.",
    ),
)

# 03-balance ---------------------------------------------------------------------------------------------------


def triangle_arguments(n):
    return lambda rng: (random_values(rng, n, n, dtype=np.float64), unwritten(n, dtype=np.float64))


BALANCE = ParallelTask(
    id="03-balance",
    section=Section("3.2", "03_schedules", "Rows that are not equal"),
    title="Balance a triangle",
    objective="Divide uneven iterations so that a static schedule gives every thread the same work",
    points=2,
    minutes=25,
    spec=lambda a, out: np.tril(a).sum(axis=1),
    rtol=1e-9,
    cases=(
        Case("12 rows", triangle_arguments(12)),
        Case("an odd number: 33 rows", triangle_arguments(33)),
        Case("one row", triangle_arguments(1)),
        Case("200 rows", triangle_arguments(200)),
    ),
    suspects=(
        Suspect(lambda a, out: a.sum(axis=1), "These are the sums of whole rows: row i ends at j = i."),
        Suspect(
            lambda a, out: np.tril(a, -1).sum(axis=1),
            "The element on the diagonal is missing: j runs from 0 to i, i included.",
        ),
        Suspect(lambda a, out: np.tril(a).sum(axis=0), "These are sums of columns. out[i] belongs to row i."),
        Suspect(
            lambda a, out: np.triu(a).sum(axis=1),
            "These are the elements right of the diagonal. Row i has j = 0 ... i.",
        ),
    ),
    advice={
        "wrong-value": (
            "Row i has a sum of its own, begun at 0: a[i, 0] + a[i, 1] ... + a[i, i]. Where two rows share an iteration, the "
            "second begins at 0 again; and with an odd number of rows the middle one must be added up once."
        ),
        "raised-IndexError": "Rows are numbered 0 to n - 1: the partner of row k is n - 1 - k, with n = a.shape[0].",
        "some-unwritten": (
            "Rows are missing. With an odd number of rows the middle one has no partner: how many pairs does n = 33 have?"
        ),
        "raised-TypingError": (
            "Did you loop over a tuple such as (k, n - 1 - k)? The index of a prange is an unsigned number, n - 1 - k a signed "
            "one, and a loop over a tuple needs one type. Write the two rows one after the other, or a function for one row."
        ),
    },
    watch=Watch(threads=4),
    budget=Budget(
        points=3,
        text="with 4 threads and a static schedule, the busiest thread has at most 1.05 times the mean work (64 rows)",
        require={"imbalance": 1.05},
        over=(
            "The result is right, but the threads with the long rows work longest, or wait for what one does outside the loop. "
            "Row i has i + 1 elements: which row together with row i always gives the same number? Share pairs of whole rows, "
            "in one parallel loop."
        ),
        case=Case("64 rows", triangle_arguments(64)),
    ),
    hints=(
        "Draw the triangle and cut it into four bands with equally many rows. Which band is the largest? Which two rows are "
        "together as long as the first and the last?",
        "Row i and row n - 1 - i together have n + 1 elements. Let one iteration do both rows, and mind the middle one.",
        "for k in prange((n + 1) // 2): do row k; then i = n - 1 - k, and do row i if i > k. A small @njit function for one "
        "row keeps it short.",
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
            "Each chunk has an iteration too many: a slice [first : first + chunk] ends *before* first + chunk.",
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
    points=3,
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
        "free = [0] * threads; for each first in range(0, len(costs), chunk): t = free.index(min(free)); "
        "free[t] += sum(costs[first:first + chunk]). The answer is max(free).",
    ),
)

TASKS = (PREDICT, HISTOGRAM, LARGEST, SOFTMAX, BALANCE, FINISH)
