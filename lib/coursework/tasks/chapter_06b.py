"""Tasks of the second notebook of chapter 06: eight kernels to mend, one of them right.

Each kernel stands here as it is handed out; the build writes it into the answer cell.
"""

import math
from functools import partial

import numpy as np

from dlkernels import cuda

from ..definition import Case, Section, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.detective import Fault
from ..kinds.kernel import WRONG_ACCESS
from ..kinds.mend import MendTask
from .chapter_06 import NOTHING, THREADS, blocks_of

FAULTS = (
    Fault("right", "gives what the specification says, for every input and launch that the task allows"),
    Fault(
        "race",
        "two threads use one place of memory, one of them stores, and nothing orders the two",
        ("race", "atomic-against-plain"),
    ),
    Fault(
        "stuck",
        "threads wait at a barrier for others of their block that never come",
        ("divergent-barrier", "barrier-after-exit"),
    ),
    Fault("unset", "a place of shared memory is read that nobody has stored", ("uninitialised-shared",)),
    Fault("outside", "an index lies outside of its array", WRONG_ACCESS),
    Fault(
        "lanes",
        "a lane takes a value from a lane of its warp that takes no part",
        ("inactive-lane-read", "lane-not-in-mask", "divergent-warp-operation"),
    ),
    Fault("wrong number", "no two threads meet, and still a number is wrong", ("wrong-value", "suspect", "precision")),
)
TOGETHER, SHUFFLES = (
    Section("6.3", "06_together", heading) for heading in ("Barriers and races", "Rung 4: shuffles in a warp")
)
STRIDE = Section("6.3", "06_together", "Rung 5: a grid-stride loop")
ORDER = Section("6.5", "06_order", "Memory order")

_GONE = "Some threads of a block wait at a barrier that others never reach. Which threads go another way, and where does their way part from that of the others?"
# What the x-ray has seen, and a question; what to do about it is the task.
SEEN = {
    "race": "Two threads use one place, and one of them stores. Which line is each of them in, and what would have to lie between the two?",
    "atomic-against-plain": "One thread changes a place with an atomic operation, another one uses it without, and nothing says who comes first.",
    "uninitialised-shared": "Shared memory holds anything at first. Which thread should have stored this place, in this launch?",
    "divergent-barrier": _GONE,
    "barrier-after-exit": _GONE,
    "out-of-bounds": "An index left its array. Which thread is it, and what is there for it to do?",
    "none-beyond": "An index left its array, and every thread has an element here. How large is the index at most, and how large is the array?",
    "negative-index": "An index fell below 0. Which thread is it, and what is there for it to do?",
    "inactive-lane-read": "A lane asks another one for its value, and that one is not there. Which lanes come to this line, in this launch?",
    "lane-not-in-mask": "The mask names the lanes that come to this line. Which ones do come, in this launch?",
    "divergent-warp-operation": "The mask names the lanes that come to this line. Which ones do come, in this launch?",
}


def launch(name, n, threads, what="n"):
    """The name of a case, its blocks and its threads: as many blocks as n elements need."""
    blocks, where = blocks_of(n, threads)
    return f"{name}: {what} = {n} in {where}", blocks, threads


# 06b-bins ----------------------------------------------------------------------------------------------------

CLASSES = 10


@cuda.jit
def bins(labels, counts):
    own = cuda.shared.array(10, np.int32)
    t = cuda.threadIdx.x
    if t < 10:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        own[labels[i]] += 1
    cuda.syncthreads()
    if t < 10:
        cuda.atomic.add(counts, t, own[t])


def labels_case(name, n, blocks, labels=None):
    """labels (n,) int32, from 0 to 9; counts (10,) int32, zeros."""
    return Case(
        f"{name}: n = {n} in {blocks} block{'s' * (blocks > 1)} of 32",
        lambda rng: (
            (rng.integers(0, CLASSES, n) if labels is None else np.array(labels)).astype(np.int32),
            np.zeros(CLASSES, np.int32),
        ),
        blocks,
        32,
    )


BINS = MendTask(
    id="06b-bins",
    section=TOGETHER,
    title="How many of each class?",
    objective="Debug a histogram in shared memory",
    points=2,
    minutes=6,
    spec=lambda labels, counts: np.bincount(labels, minlength=CLASSES),
    cases=(
        labels_case("one block", 32, 1),
        labels_case("exact", 128, 2),
        labels_case("ragged", 75, 3),
        labels_case("few", 5, 1),
    ),
    handed_out=bins,
    tried=labels_case("each class once", CLASSES, 1, range(CLASSES)),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda labels, counts: np.minimum(np.bincount(labels, minlength=CLASSES), 1),
            "No count is above 1: what stood there was replaced, not added to.",
        ),
    ),
    advice={
        **SEEN,
        "race": "Two threads count in one place. Each of them loads the count, adds 1 and stores it again: what happens if both load before either stores?",
        "wrong-value": "Is each element of labels counted, by one thread of the grid and no other?",
    },
    hints=(
        "The author's labels were all different. Which two threads meet if two of them are equal?",
        "Give the x-ray labels of which some are equal. It names one line, with a load and a store by two threads: what may come between the load and the store of one of them?",
        "`own[k] += 1` is three steps, and others may come between them. The last line of the kernel adds to a count without letting anybody in between: how?",
    ),
)

# 06b-dots ----------------------------------------------------------------------------------------------------


@cuda.jit
def dots(a, b, out):
    s = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < a.size:
        s[t] = a[i] * b[i]
        d = 32
        while d > 0:
            cuda.syncthreads()
            if t < d:
                s[t] += s[t + d]
            d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def dots_case(name, n):
    """a and b (n,); out: a number for each block of 64."""
    said, blocks, threads = launch(name, n, THREADS)
    return Case(said, lambda rng: (random_values(rng, n), random_values(rng, n), unwritten(blocks)), blocks, threads)


def by_stretch(formula, a, b, out, length=THREADS):
    return np.array([formula(np.float64(a[k : k + length]), b[k : k + length]) for k in range(0, len(a), length)])


DOTS = MendTask(
    id="06b-dots",
    section=TOGETHER,
    title="A dot product for each block",
    objective="Debug a tree reduction",
    points=2,
    minutes=7,
    spec=lambda a, b, out: by_stretch(np.dot, a, b, out),
    rtol=1e-4,
    atol=1e-5,
    cases=(dots_case("one block", 64), dots_case("exact", 192), dots_case("ragged", 100), dots_case("few", 3)),
    writer=lambda index, case: (index[0], 0),
    handed_out=dots,
    tried=dots_case("two full blocks", 128),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda a, b, out: by_stretch(lambda x, y: x[0] * y[0], a, b, out),
            "Each sum has one product only: the rounds of the tree did not take place.",
        ),
    ),
    advice={
        **SEEN,
        "uninitialised-shared": "All threads come to the barriers now, and the tree has 64 places. In this launch not every thread has a product: what do the others bring along?",
        "race": "A thread takes in what another one stores, and no barrier lies between the two. Where do the threads of a block have to meet, in every round?",
        "out-of-bounds": "An index left its array: a thread without an element loads all the same.",
        "wrong-value": "Work out a block of 8 by hand, of which 5 have a product: d is 4, then 2, then 1. Does every product get to place 0, and does anything else?",
    },
    hints=(
        "The author's blocks were full. Which threads go another way if a is shorter?",
        "X-ray it with n = 100. The threads without an element skip more than the product: who waits for them? And if they come along, what is their place of the tree to hold?",
        "Only the product stands under `if i < a.size`, the rounds behind it. A thread without an element stores what changes no sum.",
    ),
)

# 06b-smooth --------------------------------------------------------------------------------------------------


@cuda.jit
def smooth(x, out):
    tile = cuda.shared.array(68, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t + 2] = x[min(i, last)]
    if t < 2:
        tile[t] = x[max(i - 2, 0)]
    if t > 62:
        tile[t + 4] = x[min(i + 2, last)]
    cuda.syncthreads()
    if i <= last:
        total = np.float32(0)
        for k in range(5):
            total += tile[t + k]
        out[i] = total / 5


def smooth_case(name, n):
    """x and out (n,), blocks of 64."""
    said, blocks, threads = launch(name, n, THREADS)
    return Case(said, lambda rng: (random_values(rng, n), unwritten(n)), blocks, threads)


def windows(x, out, low=-2, high=2):
    """The mean of the elements from i + low to i + high, with the first and the last one repeated at the ends."""
    places = np.arange(len(x))[:, None] + np.arange(low, high + 1)
    return np.float64(x)[np.clip(places, 0, len(x) - 1)].mean(axis=1)


SMOOTH = MendTask(
    id="06b-smooth",
    section=TOGETHER,
    title="The mean of five neighbours",
    objective="Debug a tile with a halo",
    points=2,
    minutes=7,
    spec=lambda x, out: windows(x, out),
    rtol=1e-4,
    atol=1e-5,
    cases=(smooth_case("one block", 64), smooth_case("exact", 192), smooth_case("ragged", 100), smooth_case("few", 2)),
    handed_out=smooth,
    tried=smooth_case("an image row", 50),
    faults=FAULTS,
    suspects=(
        *(
            Suspect(partial(windows, low=low, high=high), f"Each mean reaches from element i {low:+d} to i {high:+d}.")
            for low, high in ((-1, 2), (-2, 1), (-1, 1), (0, 4), (-4, 0))
        ),
    ),
    advice={
        **SEEN,
        "uninitialised-shared": "A place of the tile is read that nobody stored. The tile has 68 places and the block 64 threads: write down who stores places 0, 1, 2, 65, 66 and 67.",
        "race": "Two threads use one place of the tile. Does each place have one thread that stores it, and is there a barrier before anybody reads?",
        "wrong-value": "Each thread reads five places of the tile. Which elements of x belong there, for the first two and for the last two threads of a block?",
    },
    hints=(
        "The author's block was not full. Which places of the tile does thread 61 read, and which thread 62?",
        "Thread t reads the places t to t + 4, the last thread up to place 67. A tile for 64 threads has two places more on each side: count how many threads fill the two on the left, and "
        "how many those on the right.",
        "Place 65 belongs to thread 63. Places 66 and 67 are one halo: as many threads fill it as fill the one on the left.",
    ),
)

# 06b-loss ----------------------------------------------------------------------------------------------------


@cuda.jit
def loss(y, target, out):
    total = np.float32(0)
    for i in range(cuda.grid(1), y.size, cuda.blockDim.x):
        error = y[i] - target[i]
        total += error * error
    cuda.atomic.add(out, 0, total)


def loss_case(name, n, blocks):
    """y and target (n,); out (1,), zero."""
    return Case(
        f"{name}: n = {n} in {blocks} block{'s' * (blocks > 1)} of 32",
        lambda rng: (random_values(rng, n), random_values(rng, n), np.zeros(1, np.float32)),
        blocks,
        32,
    )


def squares(y, target, out):
    return (np.float64(y) - target) ** 2


LOSS = MendTask(
    id="06b-loss",
    section=STRIDE,
    title="The sum of squared errors",
    objective="Debug a loop over more elements than there are threads",
    points=2,
    minutes=7,
    spec=lambda y, target, out: squares(y, target, out).sum(keepdims=True),
    rtol=1e-4,
    atol=1e-4,
    cases=(
        loss_case("one block", 100, 1),
        loss_case("exact", 256, 4),
        loss_case("ragged", 300, 3),
        loss_case("fewer elements than threads", 20, 2),
    ),
    writer=lambda index, case: (0, 0),
    handed_out=loss,
    tried=loss_case("one block", 1000, 1),
    faults=FAULTS,
    suspects=(
        *(
            Suspect(
                lambda y, target, out, n=n: squares(y, target, out)[:n].sum(keepdims=True) if len(y) > n else NOTHING,
                f"This is the sum of the first {n} elements: each thread took one. There are more elements than threads in the grid.",
            )
            for n in (32, 64, 96, 128)
        ),
        Suspect(
            lambda y, target, out: (np.float64(y) - target).sum(keepdims=True),
            "This is the sum of the errors. Their squares are asked for.",
        ),
    ),
    advice={
        **SEEN,
        "race": "Several threads change out, and nothing keeps them apart. How did the kernel that was handed out do that?",
        "wrong-value": "No two threads meet, and the sum is wrong. Write down which elements thread 0 of block 0 takes, and which thread 0 of block 1. Is any of them taken twice, or by nobody?",
    },
    hints=(
        "Nothing is found, and with one block the sum is right. What does the x-ray count: how often is y loaded with one block, and how often with two?",
        "Block 0 begins at element 0, block 1 at element 32. By how much does each of them go on, and where does that lead the first one?",
        "The step of the loop has to be the number of all threads that take part, those of the other blocks too.",
    ),
)

# 06b-largest -------------------------------------------------------------------------------------------------


@cuda.jit
def largest(x, lengths, out):
    best = cuda.shared.array(64, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = lengths[row]
    if n == 0:
        if t == 0:
            out[row] = 0
        return
    best[t] = x[row, min(t, n - 1)]
    for j in range(t + 64, n, 64):
        best[t] = max(best[t], x[row, j])
    d = 32
    while d > 0:
        cuda.syncthreads()
        if t < d:
            best[t] = max(best[t], best[t + d])
        d //= 2
    if t == 0:
        out[row] = best[0]


def rows_case(name, width, *lengths):
    """x (rows, width), all negative, with numbers of another sequence behind the length of each row; lengths; out (rows,)."""

    def make(rng):
        x = random_values(rng, len(lengths), width) - np.float32(2)
        for row, length in enumerate(lengths):
            x[row, length:] += 4
        return x, np.array(lengths, np.int32), unwritten(len(lengths))

    rows = len(lengths)
    said = f"{name}: lengths {', '.join(map(str, lengths))} in {rows} block{'s' * (rows > 1)} of {THREADS}"
    return Case(said, make, rows, THREADS)


def of_rows(formula, x, lengths, out):
    """formula of what belongs to each row; 0 for an empty one."""
    return np.array([formula(row[:n]) if n else 0 for row, n in zip(np.float64(x), lengths, strict=True)])


LARGEST = MendTask(
    id="06b-largest",
    section=TOGETHER,
    title="The largest number of each sequence",
    objective="Debug a reduction over rows of different lengths",
    points=2,
    minutes=8,
    spec=lambda x, lengths, out: of_rows(np.max, x, lengths, out),
    cases=(
        rows_case("one block, exact", 64, 64),
        rows_case("ragged, with an empty one", 70, 0, 70, 33),
        rows_case("long and short", 150, 150, 1, 64, 65, 0),
    ),
    writer=lambda index, case: (index[0], 0),
    handed_out=largest,
    tried=rows_case("a small batch", 64, 64, 40, 7),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda x, lengths, out: of_rows(lambda row: row.max(), x, np.full_like(lengths, x.shape[1]), out),
            "Numbers behind the length of a row took part. They belong to no sequence.",
        ),
        Suspect(
            lambda x, lengths, out: of_rows(lambda row: max(row.max(), 0), x, lengths, out),
            "All numbers are below 0, and a 0 took part. What may a thread without an element put in, so that it changes no largest number?",
        ),
        Suspect(
            lambda x, lengths, out: of_rows(lambda row: row[:64].max(), x, lengths, out),
            "Only the first 64 numbers of each row took part.",
        ),
    ),
    advice={
        **SEEN,
        **dict.fromkeys(
            ("head", "tail", "some-unwritten", "one-block", "nothing-written"),
            "Some rows have no number. An empty sequence gets one, too: which thread stores it?",
        ),
    },
    hints=(
        "What looks wrong to you? For each suspicion, write down a launch that would show it, and x-ray that one: rows of length 0 and 1, shorter and longer than a block.",
        "A barrier waits for all threads of the block. Which threads leave early here, and which other threads of their block stay? And who stored place 0 last, before thread 0 reads it?",
        "The threads of a block have one row, and one length: they leave together or not at all. Where a suspicion shows nothing in any launch, and you can say why, there is nothing to mend.",
    ),
)

# 06b-norms ---------------------------------------------------------------------------------------------------


@cuda.jit
def norms(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = x[i] * x[i]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        if cuda.laneid == 0:
            out[i // 32] = math.sqrt(total)


def norms_case(name, n):
    """x (n,); out: a number for each 32 elements; blocks of 64."""
    said, blocks, threads = launch(name, n, THREADS)
    return Case(said, lambda rng: (random_values(rng, n), unwritten(-(-n // 32))), blocks, threads)


def of_groups(formula, x, length=32):
    return np.array([formula(np.float64(x[k : k + length])) for k in range(0, len(x), length)])


NORMS = MendTask(
    id="06b-norms",
    section=SHUFFLES,
    title="The length of each group of 32",
    objective="Debug a reduction by shuffles",
    points=2,
    minutes=7,
    spec=lambda x, out: of_groups(np.linalg.norm, x),
    rtol=1e-4,
    atol=1e-5,
    cases=(norms_case("one block", 64), norms_case("exact", 192), norms_case("ragged", 100), norms_case("few", 5)),
    writer=lambda index, case: (index[0] // 2, index[0] % 2 * 32),
    handed_out=norms,
    tried=norms_case("four groups", 128),
    faults=FAULTS,
    suspects=(
        Suspect(lambda x, out: of_groups(lambda g: (g**2).sum(), x), "The roots of the sums are asked for."),
        Suspect(
            lambda x, out: of_groups(lambda g: abs(g[0]), x),
            "Only the first number of each group went in: the others did not come to lane 0.",
        ),
    ),
    advice={
        **SEEN,
        "out-of-bounds": "An index left its array: a thread without an element loads or stores all the same.",
        "wrong-value": "Work out a warp of 8 lanes by hand, of which 5 have an element: d is 4, then 2, then 1. Has lane 0 seen every number in the end, and nothing else?",
        **dict.fromkeys(
            ("tail", "some-unwritten", "gaps-in-one-block"),
            "Some groups have no number. A block has two warps, and each of them has a group: which thread of each stores?",
        ),
    },
    hints=(
        "The author's n was a multiple of 32. Which lanes are behind the `if` where it is not?",
        "The mask 0xFFFFFFFF says that all 32 lanes come to the shuffle. In the last warp only some lanes have an element: whom do they ask? And what would the others have to bring along, so that the sum stays "
        "what it is?",
        "Let all lanes shuffle: the load stands under the `if`, and so does the store. In between, total is there in every lane, also in one without an element.",
    ),
)

# 06b-rises ---------------------------------------------------------------------------------------------------


@cuda.jit
def rises(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], np.float32(0))
    cuda.syncthreads()
    right = np.float32(0)
    if i + 1 < x.size:
        right = out[i + 1]
    cuda.syncthreads()
    if i < x.size:
        out[i] = right - out[i]


def relu(x):
    return np.maximum(np.float64(x), 0)


def steps(x):
    """From each element to its right neighbour, both after a ReLU; the last one steps down to 0."""
    return np.append(relu(x)[1:], 0) - relu(x)


RISES = MendTask(
    id="06b-rises",
    section=TOGETHER,
    title="ReLU, and the step to the right neighbour",
    objective="Debug a kernel whose threads read what others store",
    points=2,
    minutes=9,
    spec=lambda x, out: steps(x),
    cases=(smooth_case("one block", 64), smooth_case("exact", 192), smooth_case("ragged", 100), smooth_case("few", 2)),
    handed_out=rises,
    tried=smooth_case("one block", 60),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda x, out: np.concatenate([steps(x[k : k + THREADS]) for k in range(0, len(x), THREADS)]),
            "The last thread of each block sees no right neighbour. Which element of x is it, and who may load it?",
        ),
        Suspect(lambda x, out: relu(x), "This is the ReLU of x: the step to the right neighbour is missing."),
        Suspect(
            lambda x, out: np.append(np.float64(x[1:]), 0) - x,
            "These are steps of x itself. The ReLU comes first, for both neighbours.",
        ),
        Suspect(lambda x, out: -steps(x), "The sign is turned round: the right neighbour minus the element itself."),
        Suspect(lambda x, out: np.append(np.float64(x[1:]), 0) - relu(x), "The right neighbour went in without ReLU."),
    ),
    advice={
        **SEEN,
        "race": "One thread reads a place that another one stores. Are the two in one block? And for whom does the barrier between the two lines wait?",
        "wrong-value": "Work out the first wrong element by hand. Which two elements of x does it need?",
    },
    hints=(
        "The author had one block. Which thread stores what the last thread of block 0 reads?",
        "cuda.syncthreads() waits for the threads of a block. Nothing in a kernel makes block 0 wait until block 1 has stored its numbers, and nothing makes block 1 wait until block 0 has read them. "
        "What a thread wants from its neighbour: can it get that without asking the neighbour?",
        "The ReLU of the right neighbour depends on x alone. A thread may load x[i + 1], too.",
    ),
)

# 06b-total ---------------------------------------------------------------------------------------------------


@cuda.jit
def total(x, parts, count, out):
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = np.float32(0)
    if i < x.size:
        own = x[i]
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


def total_case(name, n):
    """x (n,); parts: a place for each block of 32; count (1,) int32, zero; out (1,)."""
    said, blocks, threads = launch(name, n, 32)
    return Case(
        said,
        lambda rng: (random_values(rng, n), unwritten(blocks), np.zeros(1, np.int32), unwritten(1)),
        blocks,
        threads,
    )


TOTAL = MendTask(
    id="06b-total",
    section=ORDER,
    title="The block that comes last",
    objective="Debug a sum that blocks hand on through a counter",
    points=2,
    minutes=9,
    spec=lambda x, parts, count, out: np.float64(x).sum(keepdims=True),
    rtol=1e-4,
    atol=1e-5,
    cases=(total_case("one block", 32), total_case("exact", 128), total_case("ragged", 75), total_case("few", 3)),
    scratch=(1, 2),
    writer=lambda index, case: (case.grid - 1, 0),
    handed_out=total,
    tried=total_case("one block", 30),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda x, parts, count, out: x[(len(x) - 1) // 32 * 32 :].sum(keepdims=True) if len(x) > 32 else NOTHING,
            "This is the sum of the last block alone.",
        ),
    ),
    advice={
        **SEEN,
        "race": "One block reads a number of parts that another one has stored, and all that passed between them is the counter. What must be seen before the counter is raised? And what may be loaded before the "
        "counter is known?",
        "nothing-written": "No block found that it is the last one. What does the counter hold when a block raises it, and how many blocks are there?",
        "wrong-value": "Which places of parts go into the sum, and which block has stored each of them?",
    },
    hints=(
        "The author had one block, which reads only what it stored itself. With two: by what does the last block know that the other's number is there?",
        "A message has two ends. The block that sends puts the number before the counter, and has a fence for it. The block that receives looks at the counter, and then loads numbers: what keeps these loads from being made "
        "early?",
        "Section 6.5 of the book has both fences: data, fence, flag; flag, fence, data. Which of the two is missing here?",
    ),
)

TASKS = (BINS, DOTS, SMOOTH, LOSS, LARGEST, NORMS, RISES, TOTAL)
