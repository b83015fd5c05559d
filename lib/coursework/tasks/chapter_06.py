"""Tasks of chapter 06, GPU memory: sectors and banks, tiles, reductions, histograms, votes, races and memory order."""

from dataclasses import replace

import numpy as np

from cpulab.explore import Program
from dlkernels import cuda

from ..definition import Budget, Case, Section, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Numbers, Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.kernel import KernelTask
from ..kinds.prediction import PredictionTask, Question
from ..kinds.schedule import ScheduleTask

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit
# A race explains a wrong result better than the result does.
TOLD_FIRST = ("race", "divergent-barrier", "barrier-after-exit", "uninitialised-shared", "atomic-against-plain")


def over(name):
    """Whether a count is over its budget."""
    return lambda rows: any(o.name == name for o in rows)


def blocks_of(n, threads):
    """How many blocks of `threads` cover n elements, and that in words."""
    blocks = -(-n // threads)
    return blocks, f"{blocks} block{'s' * (blocks > 1)} of {threads}"


# 06-sectors --------------------------------------------------------------------------------------------------


@cuda.jit
def _apart(x, out, stride, first):
    i = cuda.grid(1)
    out[i] = x[stride * i + first]


def _counted(kernel, threads, *arguments):
    """The x-ray's rows of one block, one for each access in the source."""
    from simt.xray import xray

    return xray(kernel, 1, threads)(*arguments).expressions


def _sectors(stride, first, dtype):
    """Sectors of one warp for x[stride * i + first]."""
    x, out = np.zeros(32 * stride + first, dtype), np.zeros(32, dtype)
    rows = _counted(_apart, 32, x, out, stride, first)
    return int(next(row.sectors_per_request for row in rows if row.array == "x"))


SECTORS = PredictionTask(
    id="06-sectors",
    section=Section("6", "06_memory", "Coalescing"),
    title="Three loads of a warp",
    objective="Predict the sectors of a load from its offset, its stride and the width of an element",
    points=1,
    minutes=4,
    questions=(
        Question(
            "shifted",
            "sectors of one warp for x[i + 1], float32",
            lambda: _sectors(1, 1, np.float32),
            {
                4: "128 bytes in a row are four sectors if they begin with one. These begin at byte 4: where do they end?",
                8: "How many bytes do the lanes touch in all? Not every lane has a new sector.",
                32: "Neighbouring lanes share a sector: it has room for 8 float32.",
                33: "Those are elements. How many sectors of 8 do the elements 1 to 32 lie in?",
                6: "The elements 1 to 32 begin in sector 0. In which one is element 32?",
                1: "One request, but of 128 bytes, and a sector has 32.",
            },
            "Element 1 begins at byte 4, element 32 ends before byte 132. Sectors are bytes 0 to 31, 32 to 63 and so on: how many are touched?",
        ),
        Question(
            "thirds",
            "sectors of one warp for x[3 * i], float32",
            lambda: _sectors(3, 0, np.float32),
            {
                4: "As few as for neighbours? Lane 31 reads element 93.",
                32: "Lanes 0, 1 and 2 read bytes 0, 12 and 24: is that three sectors?",
                3: "The stride is 3. How far is it, in bytes, from lane 0 to lane 31?",
                11: "32 lanes with nearly three of them in a sector: lane 31 reads byte 372. In which sector is that, counted from 0?",
                96: "Those are the elements from the first to the last. How many sectors of 8 are they?",
                384: "Those are the bytes from the first to the last lane. How many sectors of 32 bytes?",
                10: "Not every sector has three of the lanes. Lane 31 reads byte 372: in which sector is that, counted from 0?",
            },
            "Lane i reads byte 12 i. No sector between the first and the last is left out: in which sector is the last?",
        ),
        Question(
            "doubles",
            "sectors of one warp for x[i], float64",
            lambda: _sectors(1, 0, np.float64),
            {
                4: "That is for float32. An element of float64 has 8 bytes.",
                2: "Wider elements need more sectors, not fewer.",
                16: "A sector has 32 bytes. How many float64 are that?",
                32: "Neighbouring lanes share a sector: it has room for four float64.",
                256: "Those are bytes. How many sectors of 32 are they?",
                64: "Those are words of 4 bytes. How many sectors are they?",
            },
            "How many bytes do 32 elements of 8 bytes have? And a sector?",
        ),
    ),
    hints=(
        "Write down the first byte that lane 0 reads, and the last byte that lane 31 reads. Which sectors lie between them?",
        "A sector is bytes 0 to 31, 32 to 63, and so on, and it is moved as a whole. Divide the first and the last byte by 32, rounded down: that is where they "
        "lie.",
        "For `shifted` the first byte is 4 and the last 131. For `thirds` lane 31 begins at byte 3 * 31 * 4. For `doubles` the lanes have 32 times 8 bytes.",
    ),
)

# 06-banks ----------------------------------------------------------------------------------------------------


@cuda.jit
def _of_shared(out, factor, divisor):
    s = cuda.shared.array(2048, np.float32)
    t = cuda.threadIdx.x
    for k in range(t, 2048, 32):
        s[k] = 0
    cuda.syncthreads()
    out[t] = s[factor * t // divisor]


def _ways(factor, divisor=1):
    """Ways of the bank conflict of one warp for s[factor * t // divisor]."""
    rows = _counted(_of_shared, 32, np.zeros(32, np.float32), factor, divisor)
    return next(row.bank_ways for row in rows if row.array == "s" and row.kind == "load")


BANKS = PredictionTask(
    id="06-banks",
    section=Section("6.2", "06_banks", "32 banks"),
    title="Who waits at a bank?",
    objective="Predict the ways of a bank conflict from the words that a warp reads",
    points=1,
    minutes=5,
    questions=(
        Question(
            "seconds",
            "ways for s[2 * t]",
            lambda: _ways(2),
            {
                1: "Lane 16 reads word 32. In which bank is that, and who else reads there?",
                16: "Those are the banks in use. How many lanes meet in one of them?",
                32: "Not all lanes meet in one bank. Write down the banks of lanes 0, 1 and 2.",
                4: "Lanes 0 and 16 meet in bank 0. Who else?",
            },
            "Word w lies in bank w % 32. Write down the banks of lanes 0, 1, 15, 16 and 17.",
        ),
        Question(
            "fours",
            "ways for s[t // 4]",
            lambda: _ways(1, 4),
            {
                4: "Four lanes read the same word. Does the bank have to hand it out four times?",
                8: "Those are the banks in use. Each hands out one word, to all who ask for it.",
                32: "Lanes 0 to 3 read word 0, lanes 4 to 7 word 1. Is that one bank?",
            },
            "A bank hands out one word at a time, to every lane that asks for that word.",
        ),
        Question(
            "column",
            "ways for a column of a tile whose rows have 36 words: s[36 * t]",
            lambda: _ways(36),
            {
                1: "Padding helps if the step from row to row reaches every bank. Which banks do lanes 0, 1, 8 and 9 use?",
                32: "That would be rows of 32 words. Here row 1 begins in bank 4.",
                8: "Those are the banks in use. How many of 32 lanes meet in each of them?",
                36: "There are 32 lanes only, and these use several banks.",
                2: "Lanes 0 and 8 meet in bank 0. Who else?",
            },
            "Row t begins at word 36 t, in bank 4 t % 32. After how many rows does bank 0 come again?",
        ),
    ),
    hints=(
        "Word w of shared memory lies in bank w % 32. Which banks do the first lanes use, and when does the first bank come again?",
        "The ways are the number of different words that the busiest bank has to hand out. Lanes that read the same word do not wait for each other.",
        "For `column`: lane t uses bank (36 * t) % 32, which is (4 * t) % 32. How many different banks are these, and how many of the 32 lanes has each?",
    ),
)

# 06-soa ------------------------------------------------------------------------------------------------------

THREADS = 64


def apart_case(name, n):
    """points (3 n,), out (3, n)."""
    blocks, where = blocks_of(n, THREADS)
    return Case(
        f"{name}: n = {n} in {where}", lambda rng: (random_values(rng, 3 * n), unwritten(3, n)), blocks, THREADS
    )


def _points(formula):
    """A suspect of the points as a matrix (n, 3)."""
    return lambda points, out: formula(points.reshape(-1, 3))


SOA = KernelTask(
    id="06-soa",
    section=Section("6", "06_memory", "Array of structs, or struct of arrays"),
    title="Points apart: from an array of structs to a struct of arrays",
    objective="Write a kernel that changes the layout of an array on its way through shared memory, in whole sectors",
    points=2,
    minutes=12,
    spec=lambda points, out: points.reshape(-1, 3).T,
    tell_first=TOLD_FIRST,
    cases=(
        apart_case("one block, exact", 64),
        apart_case("exact", 256),
        apart_case("ragged", 100),
        apart_case("few", 5),
    ),
    writer=lambda index, case: (index[1] // THREADS, index[1] % THREADS),
    suspects=(
        Suspect(
            lambda points, out: points.reshape(3, -1),
            "The numbers stand in out in the order in which they were loaded: nothing was sorted. Number k of points belongs to point k // 3, so in the tile the three "
            "numbers of point t lie side by side, the first of them at 3 * t.",
        ),
        Suspect(_points(lambda p: p.T[::-1]), "The rows of out are exchanged: row 0 is for x, which comes first."),
        Suspect(
            _points(lambda p: np.repeat(p[:, :1].T, 3, 0)),
            "All three rows got x. Which index of shared memory, or of points, changes from row to row?",
        ),
    ),
    advice={
        "race": (
            "A thread reads a number of the tile that another one stores, and nothing makes it wait. Where must all threads of the block have come, before "
            "any of them reads?"
        ),
        "divergent-barrier": (
            "Some threads of the block wait where others never come. Every thread comes to the barrier, those without a point too: guard the loads and the "
            "stores, not the barrier."
        ),
        "barrier-after-exit": (
            "Some threads had ended when the others waited. Did they return early, or is the barrier in an `if` that they skip? Threads without a point come to it, too: "
            "guard the loads and the stores, not the barrier."
        ),
        "uninitialised-shared": (
            "A place of the tile is read that nobody stored. A block has three times as many numbers as threads: does each thread store three? And does "
            "a thread without a point read?"
        ),
        "out-of-bounds": (
            "An index left its array. A block of 64 points has 192 numbers, so the tile needs as many places; and the last block has fewer points: "
            "which number of points, and which point of out, is still there?"
        ),
        "two-writers": "Two blocks store the same points. Which point is the first one of a block?",
        "wrong-value": (
            "Work out block 1 by hand: its first number is number 192 of points, x of point 64. Which place of the tile does it get, and which thread stores it?"
        ),
    },
    budget=Budget(
        points=1,
        text="whole sectors both ways (at most 4 for a request, 192 in all for 256 points), and no bank conflict",
        require={"sectors_per_request": 4, "sectors": 192, "bank_ways": 1},
        over="The result is right, but sectors are moved more than once. Each number of points is loaded once, and each of out stored once.",
        causes=(
            (
                lambda rows: any(o.name == "sectors_per_request" and o.kind == "load" for o in rows),
                "The result is right, but neighbouring lanes load numbers that are 12 bytes apart, so that a request touches three times the sectors it "
                "should. Let the lanes load neighbours, whichever points they belong to, and let the tile sort them.",
            ),
            (
                over("sectors_per_request"),
                "The result is right, but the lanes store into several rows of out at a time. Neighbouring lanes should store neighbours of one row: the tile "
                "has them all.",
            ),
            (
                over("bank_ways"),
                "The result is right, but lanes meet in a bank of shared memory. Which words of the tile do neighbouring lanes touch? A step of 3 words meets "
                "no bank twice, a step that shares a factor with 32 does.",
            ),
        ),
        case=apart_case("exact", 256),
    ),
    hints=(
        "A block has 64 points, which are 192 numbers in a row. Which of them would 64 threads load so that neighbours load neighbours? And how often must "
        "they?",
        "Load first, sort later: three rounds of 64 numbers into the tile, as they come. Then a barrier. Then a thread takes the three numbers of its own point "
        "from the tile, and stores each in its row.",
        "The loop over the numbers is one of a block: from the thread's number on, in steps of 64, as far as the block has numbers. The last block has fewer: "
        "3 times the points that are left. Behind the barrier, point t of the block has three places of the tile in a row.",
    ),
)

# 06-turn -----------------------------------------------------------------------------------------------------

TILE = 32


def turn_case(name, rows, columns):
    """picture (rows, columns), out (columns, rows), in blocks of 32 x 32 threads that cover the picture."""
    x, y = -(-columns // TILE), -(-rows // TILE)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    return Case(
        f"{name}: {rows} x {columns} in {where}",
        lambda rng: (random_values(rng, rows, columns), unwritten(columns, rows)),
        (x, y),
        (TILE, TILE),
    )


def _stores(index, case):
    """(block, thread) that stores an element of the turned picture out of the tile."""
    (column, place), rows = index, case.make(np.random.default_rng(0))[0].shape[0]
    row = rows - 1 - place
    return (column // TILE, row // TILE), (row % TILE, column % TILE)


TURN = KernelTask(
    id="06-turn",
    section=Section("6.2", "06_banks", "Rung 3: a padded tile"),
    title="A picture on its side",
    objective="Write a kernel that loads and stores in whole sectors although rows become columns, and meets in no bank",
    points=2,
    minutes=16,
    spec=lambda picture, out: np.rot90(picture, -1),
    tell_first=TOLD_FIRST,
    cases=(
        turn_case("one block, exact", 32, 32),
        turn_case("exact", 64, 32),
        turn_case("ragged", 40, 21),
        turn_case("ragged, one row", 1, 45),
    ),
    writer=_stores,
    suspects=(
        Suspect(
            lambda picture, out: picture.T,
            "This is the transpose: rows became columns, but from left to right. The first row of the picture becomes the last column.",
        ),
        Suspect(
            lambda picture, out: np.rot90(picture),
            "It was turned to the left. To the right, the first row of the picture becomes the last column.",
        ),
        Suspect(
            lambda picture, out: picture[::-1, ::-1].T,
            "It was transposed the other way round: rows and columns are both counted from the end. Only the rows are.",
        ),
        Suspect(
            lambda picture, out: picture if picture.shape == out.shape else NOTHING,
            "This is the picture itself: nothing was turned.",
        ),
        Suspect(
            lambda picture, out: picture[:, ::-1] if picture.shape == out.shape else NOTHING,
            "The picture was mirrored, not turned: its rows are still rows. The tile is crossed once: stored along its rows and read down its columns, or the other way round.",
        ),
    ),
    advice={
        "race": (
            "A thread reads an element of the tile that another one stores, and nothing makes it wait. Where must all threads of the block have come, before "
            "any of them reads?"
        ),
        "divergent-barrier": (
            "Some threads of the block wait where others never come. A thread that has nothing to load comes to the barrier all the same: it may have something to store."
        ),
        "barrier-after-exit": (
            "Some threads had ended when the others waited. Did they return early, or is the barrier in an `if` that they skip? A thread that has nothing to load comes to the "
            "barrier all the same: it may have something to store."
        ),
        "uninitialised-shared": (
            "An element of the tile is read that nobody stored. At the edge the tile is not full, and it is read crosswise: the thread that stores has another row and "
            "another column than the one it loaded, so it needs a guard of its own."
        ),
        "out-of-bounds": (
            "An index left its array. At the edge the tile is not full. The thread that loads asks for row top + y and column left + x; the thread that stores takes "
            "another element, and asks for that one. And out has as many rows as the picture has columns."
        ),
        "none-beyond": (
            "The blocks end where the picture ends here, so no guard is missing. out has as many rows as the picture has columns: is one used as the other? And "
            "counted from 0, the last column is one less than their number."
        ),
        "negative-index": (
            "An index fell below 0. Row r of the picture becomes column rows - 1 - r, if there is such a row. The thread that stores takes another element out of the tile than it "
            "put in: does its guard ask for that one?"
        ),
        "some-unwritten": (
            "Some elements were never stored. Is the number of the block in their place, and are rows and columns of blocks exchanged as those of threads are? And the guard of the "
            "store asks for the element that this thread takes out of the tile, not for the one that it put in."
        ),
        "gaps-in-one-block": (
            "Some elements were never stored. The guard of the store asks for the element that this thread takes out of the tile, not for the one that it put in."
        ),
        "wrong-value": (
            "Take the second block of a picture of 64 x 32, block (0, 1): its tile begins at row 32 of the picture. In which columns of out does it belong?"
        ),
    },
    budget=Budget(
        points=2,
        text="at most 4 sectors for each request, one load and one store for each element, one barrier, and no bank conflict",
        require={
            "sectors_per_request": 4,
            "global_load_requests": 128,
            "global_store_requests": 128,
            "barriers": 1,
            "bank_ways": 1,
        },
        over="The picture is right, but it costs more than one load and one store for each element, with one barrier between them.",
        causes=(
            (
                lambda rows: any(o.name == "sectors_per_request" and o.kind == "store" for o in rows),
                "The picture is right, but neighbouring lanes store into different rows of out. x is what differs from lane to lane: in the store it must count along "
                "a row of out, whatever it counted in the load. The tile has all 1024 elements.",
            ),
            (
                over("sectors_per_request"),
                "The picture is right, but neighbouring lanes load from different rows of the picture. x is what differs from lane to lane: in the load it must count "
                "along a row.",
            ),
            (
                over("bank_ways"),
                "The picture is right, but the lanes of a warp meet in a bank. They go down a column of the tile, and element [r, c] of a tile whose rows have W words lies "
                "in bank (W r + c) % 32. With W = 32 that is one bank for the whole column. With which W are there 32?",
            ),
        ),
        case=turn_case("exact", 64, 64),
    ),
    hints=(
        "Where does the element at row 0 and column 5 go? And the one at row 7? Which elements of the picture become one row of out?",
        "Load along a row, store along a row: in between the tile is crossed. A thread takes another element out of the tile than it put in: row x of it, column y. Which element of the "
        "picture was that?",
        "The store's thread has the picture's row top + x and column left + y, with a guard for each. That column is the row of out; the column of out is counted from the end, as the "
        "statement says. Down a column of the tile every lane should meet another bank: let its rows be one word longer.",
    ),
)

# 06-divergence -----------------------------------------------------------------------------------------------


@cuda.jit
def _three_ways(out):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        out[t] = 0
    elif t % 3 == 1:
        out[t] = 1
    else:
        out[t] = 2


@cuda.jit
def _some_rounds(out):
    t = cuda.threadIdx.x
    for k in range(t % 8):
        out[t] = k


@cuda.jit
def _every_eighth(out):
    t = cuda.threadIdx.x
    if t % 8 == 0:
        out[t] = 0


@cuda.jit
def _the_first(out):
    t = cuda.threadIdx.x
    if t < 32:
        out[t] = 0


def _turns(kernel, threads=32):
    """Warp instructions that store, of one block."""
    return sum(row.requests for row in _counted(kernel, threads, np.zeros(threads, np.float32)))


def _lanes():
    (row,) = _counted(_some_rounds, 32, np.zeros(32, np.float32))
    return int(row.active_lanes)


DIVERGENCE = PredictionTask(
    id="06-divergence",
    section=Section("6.4", "06_branches", "Divergence"),
    title="Lanes that wait for others",
    objective="Predict how often a warp goes through a branch or a loop, and with how many active lanes",
    points=2,
    minutes=7,
    questions=(
        Question(
            "ways",
            "times that a warp stores in an if, elif, else by t % 3",
            lambda: _turns(_three_ways),
            {
                1: "Each lane stores once. But do all lanes take the same way?",
                2: "There are three ways, and some lane takes each of them.",
                32: "Lanes that take the same way go through it together.",
                11: "Those are lanes that take one way. They go together.",
                96: "A lane goes one way, and is switched off in the others.",
            },
            "A warp goes through every way that at least one of its lanes takes, one after the other.",
        ),
        Question(
            "rounds",
            "rounds of a warp in for k in range(t % 8)",
            lambda: _turns(_some_rounds),
            {
                8: "t % 8 is 7 at most. How many rounds has range(7)?",
                0: "Lane 0 makes no round. Lane 1 does.",
                112: "Those are the rounds of all lanes together. Lanes make a round together.",
                28: "Those are the rounds of lanes 0 to 7 together. They make them at the same time.",
                31: "Lane 31 makes 31 % 8 rounds.",
                32: "Lanes make a round together. How many rounds does the last one of them make?",
            },
            "The warp goes on until its last lane is done. Which lanes have most rounds?",
        ),
        Question(
            "lanes",
            "lanes active in such a round, on average",
            _lanes,
            {
                32: "Lane 0 makes no round at all: it is never active.",
                28: "That is the first round: all lanes but those with t % 8 == 0. Later on there are fewer.",
                4: "That is the last round, with the lanes 7, 15, 23 and 31. Before, there are more.",
                14: "112 active lanes in all, but in how many rounds?",
                3: "Those are the rounds of a lane, on average. How many lanes are active in a round?",
                112: "Those are active lanes of all rounds together.",
                50: "Per cent? The number of lanes is asked for.",
            },
            "Count the lanes that are active in the first round, in the second, and so on to the last. What is their mean?",
        ),
        Question(
            "eighths",
            "warps of a block of 256 threads that store under if t % 8 == 0",
            lambda: _turns(_every_eighth, 256),
            {
                1: "32 threads store, but they do not lie in one warp. Which warp has thread 248?",
                32: "Those are threads. In how many warps do they lie?",
                4: "Those are the lanes of one warp that store. How many warps have such lanes?",
                256: "Those are all threads. How many warps have one that stores?",
            },
            "Warp 0 has threads 0 to 31, warp 1 has 32 to 63. Which of the eight warps has a thread whose number is a multiple of 8?",
        ),
        Question(
            "firsts",
            "warps of a block of 256 threads that store under if t < 32",
            lambda: _turns(_the_first, 256),
            {
                8: "Warps 1 to 7 have no thread below 32: they skip the store.",
                32: "Those are threads. In how many warps do they lie?",
                0: "Which warp has threads 0 to 31?",
                2: "Threads 0 to 31 are one warp, and 32 does not belong to them.",
            },
            "Which warps have a thread with a number below 32?",
        ),
    ),
    hints=(
        "The lanes of a warp share one instruction at a time. What happens to lanes that do not take part in it?",
        "Every way that some lane takes is gone through once, every round that some lane makes is made once. A warp in which no lane takes part skips it.",
        "For `lanes`: round k, counted from 0, has the lanes with t % 8 above k: that is 28 lanes, then 24, and so on to 4. For the last two: the same number of threads "
        "stores. In which warps do they lie?",
    ),
)

# 06-spread ---------------------------------------------------------------------------------------------------

REDUCED = 128  # threads of a block


def spread_case(name, n, shift):
    """x (n,) with values around `shift`, so that 0 is beyond them all; out: a number for each block."""
    blocks, where = blocks_of(n, REDUCED)
    return Case(
        f"{name}: n = {n} in {where}",
        lambda rng: ((random_values(rng, n) + np.float32(shift)).astype(np.float32), unwritten(blocks)),
        blocks,
        REDUCED,
    )


def by_block(formula, threads=REDUCED):
    """formula(stretch of x) of each block, in float64."""
    return lambda x, out: np.array([formula(x[k : k + threads].astype(np.float64)) for k in range(0, len(x), threads)])


def _with_zero(stretch):
    """The spread where threads without an element put in 0."""
    more = np.zeros(int(len(stretch) < REDUCED))
    return np.ptp(np.concatenate([stretch, more]))


SPREAD_SUSPECTS = (
    Suspect(by_block(np.max), "This is the largest number of each stretch. The smallest one has to be taken away."),
    Suspect(by_block(np.min), "This is the smallest number of each stretch."),
    Suspect(
        by_block(lambda s: s.min() - s.max()), "The sign is turned round: the largest minus the smallest is asked for."
    ),
    Suspect(
        by_block(_with_zero),
        "Where the last block is not full, 0 took part, and x has no 0. What may a thread without an element put in, so that it changes neither the largest number nor the "
        "smallest?",
    ),
    Suspect(
        lambda x, out: np.full(len(out), np.ptp(x.astype(np.float64))) if len(out) > 1 else NOTHING,
        "This is the spread of all of x. Each block has a stretch of its own.",
    ),
    Suspect(by_block(lambda s: s[0] - s[0]), "The spread came out as 0: the number of thread 0 met no other number."),
    Suspect(
        lambda x, out: by_block(np.ptp)(x[:REDUCED], out)[np.zeros(len(out), int)] if len(out) > 1 else NOTHING,
        "All blocks got the spread of the first stretch. Which element does thread t of block b load?",
    ),
)
WHO_MAY_STORE = "Several threads store to one place of out. A block has one place, that of its number, and one thread of it is enough to store."
EVERYBODY_COMES = (
    "Some threads of the block wait at a barrier where others never come. Everybody comes to every barrier, in every round, those with nothing left to do, too: only the "
    "work stands under the `if`."
)

SPREAD_BY_HAND = (
    "Work out a block of 8 threads by hand: d is 4, then 2, then 1, and in each round the first d threads take in what lies d places further. Does every number get "
    "to place 0, in both trees? And does each block begin at its own stretch?"
)
LANES_BY_HAND = "After which distances has lane 0 seen all 32 numbers? 16, 8, 4, 2 and 1, five rounds. And both results of all four warps have to come together."

ONE_WALKS = "The result is right, but x is asked for much more often than once for each warp. Does one thread walk through a stretch, while the others wait? Each thread loads the one element that is its own."

SPREAD = KernelTask(
    id="06-spread",
    section=Section("6.3", "06_together", "Rung 2: sequential addressing"),
    title="From the smallest to the largest",
    objective="Write a tree reduction in shared memory with a neutral element, whole warps and a barrier for each round",
    points=2,
    minutes=12,
    spec=by_block(np.ptp),
    tell_first=TOLD_FIRST,
    cases=(
        spread_case("one block, exact", 128, 3),
        spread_case("exact", 384, -3),
        spread_case("ragged, all positive", 200, 3),
        spread_case("ragged, all negative", 290, -3),
    ),
    writer=lambda index, case: (index[0], 0),
    suspects=SPREAD_SUSPECTS,
    advice={
        "race": (
            "Two threads use one place, and no barrier lies between the two. Is it out? There one thread of a block is enough. Is it shared memory? After the tree is filled, and "
            "after each round, the next readers have to wait for all who store."
        ),
        "divergent-barrier": EVERYBODY_COMES,
        "barrier-after-exit": EVERYBODY_COMES,
        "uninitialised-shared": (
            "A place of shared memory is read that nobody stored. A thread without an element has to put in something, too: what changes neither the largest number nor the "
            "smallest?"
        ),
        "out-of-bounds": (
            "An index left its array. The last stretch of x may be short; and in a round a thread reads the place t + d, which must lie in the tree: which d comes first, and "
            "which threads take part?"
        ),
        "none-beyond": "Here every thread has an element. In a round a thread reads the place t + d, which must lie in the tree.",
        "two-writers": WHO_MAY_STORE,
        "one-block": "Only block 0 stored. out has a place for each block: which number is it?",
        "not-finite": "An infinite number is left over: did the threads' own numbers get into both trees, and did all rounds take place?",
        **dict.fromkeys(("wrong-value", "precision"), SPREAD_BY_HAND),
    },
    budget=Budget(
        points=1,
        text="at most 8 barriers, no bank conflict, and for n = 256 48 store and 100 load requests to shared memory, 16 load requests to global memory",
        require={
            "barriers": 8,
            "bank_ways": 1,
            "shared_store_requests": 48,
            "shared_load_requests": 100,
            "atomics": 0,
            "global_load_requests": 16,
        },
        over="The result is right, but it costs more than a tree whose rounds are made by whole warps.",
        causes=(
            (
                over("atomics"),
                "The result is right, but threads go one after the other through an atomic operation. In a tree, half of them work at the same time.",
            ),
            (
                over("bank_ways"),
                "The result is right, but lanes of a warp meet in a bank: their places lie 2, 4, 8 ... words apart. Let neighbouring threads take neighbouring places, and the "
                "distance to the partner change from round to round.",
            ),
            (
                over("shared_store_requests"),
                "The result is right, but more warps take part than the work needs. Are the threads that work in a round spread over all warps? Then each warp goes through the "
                "round for a few lanes. The threads that work should be the first ones.",
            ),
            (
                over("shared_load_requests"),
                "The result is right, but shared memory is read more often than a tree of seven rounds needs. Does one thread read everything, while the others wait?",
            ),
            (
                over("barriers"),
                "The result is right, with more barriers than a tree of 128 numbers needs: one when it is filled, and one for each of seven rounds.",
            ),
            (over("global_load_requests"), ONE_WALKS),
        ),
        case=spread_case("exact", 256, 1),
    ),
    hints=(
        "Eight numbers, four threads: how do you find the largest in three rounds? And why not the smallest in the same rounds?",
        "Two shared arrays of 128 numbers, which begin alike. In a round with distance d the first d threads take in what lies d places further: the larger one in the one "
        "array, the smaller one in the other. d is 64, 32, and so on. A barrier belongs between two rounds, for all.",
        "A thread without an element may put in any element of its block's stretch once more. The loop over d goes through seven numbers, halving; in it the work under an `if t < d`, and "
        "the barrier outside of that `if`. Thread 0 has both results in place 0.",
    ),
)

# 06-lanes, the second part of 06-spread --------------------------------------------------------------------------

SHUFFLES_TOO = (
    "Shuffles, too, stand outside of every `if`: all 32 lanes of a warp make all of them, those without an element too."
)

LANES = KernelTask(
    id="06-lanes",
    section=Section("6.3", "06_together", "Rung 4: shuffles in a warp"),
    title="The same, from register to register",
    objective="Write a reduction by shuffles in each warp and shared memory between the warps",
    after="06-spread",
    points=1,
    minutes=12,
    spec=by_block(np.ptp),
    tell_first=TOLD_FIRST,
    cases=(
        spread_case("one block, exact", 128, 3),
        spread_case("exact", 384, -3),
        spread_case("ragged, all positive", 200, 3),
        spread_case("ragged, all negative", 257, -3),
    ),
    writer=lambda index, case: (index[0], 0),
    suspects=(
        *SPREAD_SUSPECTS,
        Suspect(
            by_block(lambda s: np.ptp(s[:32])),
            "This is the spread of the first warp alone: 32 elements. The block has four warps, whose results have to meet.",
        ),
    ),
    advice={
        "race": (
            "A thread reads what another one stores, and no barrier lies between the two. The warps store their results, then all wait, then they are put together: who stores to "
            "which place?"
        ),
        "divergent-barrier": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "barrier-after-exit": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "uninitialised-shared": "A place of shared memory is read that nobody stored. Which thread of a warp stores the warp's result, and at which place?",
        "lane-not-in-mask": "A lane takes part that the mask does not name. 0xFFFFFFFF names all 32.",
        "inactive-lane-read": (f"A shuffle reads from a lane that does not take part in it. {SHUFFLES_TOO}"),
        "divergent-warp-operation": (f"The lanes of a warp do not come to the same shuffle. {SHUFFLES_TOO}"),
        "out-of-bounds": "An index left its array. The last stretch of x may be short. And a block has four warps: which places has the shared array?",
        "two-writers": WHO_MAY_STORE,
        **dict.fromkeys(("wrong-value", "precision"), LANES_BY_HAND),
    },
    budget=Budget(
        points=2,
        text="one barrier; for n = 256 at most 16 store and 16 load requests to shared memory, and 16 load requests to global memory",
        require={
            "barriers": 1,
            "shared_store_requests": 16,
            "shared_load_requests": 16,
            "atomics": 0,
            "global_load_requests": 16,
        },
        over=(
            "The result is right, but more goes through shared memory than two numbers of each warp. Inside a warp a shuffle hands a number from register to register, without a "
            "barrier. Only the results of the warps need shared memory."
        ),
        causes=(
            (
                over("atomics"),
                "The result is right, but threads go one after the other through an atomic operation. Shuffles need none.",
            ),
            (
                lambda rows: {o.name for o in rows} == {"barriers"},
                "The result is right, with more than one barrier. Lanes of a warp that shuffle need none; one is for the results of the warps.",
            ),
            (over("global_load_requests"), ONE_WALKS),
        ),
        case=spread_case("exact", 256, 1),
    ),
    hints=(
        "Which of the seven rounds of your tree stay within one warp? Those need neither shared memory nor a barrier.",
        "Five rounds in every warp, with distances 16 to 1: each lane takes the larger of its own number and the one that it gets, and alike for the smaller one. Lane 0 has the warp's "
        "result. Four warps, so two shared arrays of four.",
        "cuda.shfl_down_sync(0xFFFFFFFF, value, d) hands over the value of the lane d places further. Behind the five rounds the first lane of each warp stores two numbers at the "
        "warp's place; one barrier; then one thread goes through four places.",
    ),
)

# 06-bug ------------------------------------------------------------------------------------------------------


def energy_case(name, n, threads):
    """x (n,), out: a number for each block. The last block lacks fewer elements than there are blocks: see `energies`."""
    blocks, where = blocks_of(n, threads)
    if blocks * threads - n >= blocks:
        raise ValueError(f"{n} elements in {where}: their number does not say how long a stretch is")
    return Case(f"{name}: n = {n} in {where}", lambda rng: (random_values(rng, n), unwritten(blocks)), blocks, threads)


def energies(x, out):
    """Sum of squares of each block's stretch, float64."""
    return by_block(lambda stretch: (stretch**2).sum(), -(-len(x) // len(out)))(x, out)


BUG = KernelTask(
    id="06-bug",
    section=Section("6.3", "06_together", "Barriers and races"),
    title="Repair a reduction",
    objective="Debug a reduction with the x-ray's findings: what most launches do not show",
    points=3,
    minutes=12,
    spec=energies,
    rtol=1e-4,
    atol=1e-5,
    tell_first=TOLD_FIRST,
    cases=(
        energy_case("one block, exact", 128, 128),
        energy_case("exact, 96 threads", 192, 96),
        energy_case("ragged, 5 threads", 13, 5),
        energy_case("ragged, 100 threads", 298, 100),
    ),
    writer=lambda index, case: (index[0], 0),
    suspects=(
        Suspect(
            lambda x, out: by_block(np.sum, -(-len(x) // len(out)))(x, out),
            "This is the sum of x. The squares are asked for.",
        ),
    ),
    advice={
        "race": (
            "A thread reads what another one stores, and no barrier lies between the two: a fast warp is in the next round already, while a slow one still adds. Where must all "
            "threads have come, before the next round begins?"
        ),
        "divergent-barrier": EVERYBODY_COMES,
        "barrier-after-exit": EVERYBODY_COMES,
        "uninitialised-shared": "A place is read that nobody stored: it lies behind the last thread of the block. Which partners are there, if the block has 5 threads?",
        "out-of-bounds": "An index left its array. A partner must be a thread of the block: t + half below the number that is left.",
        "wrong-value": (
            "No race any more, but a number is lost, or counted twice. After some round an odd number of places is left. Write down for three of them which is added to which: is one left out, "
            "or does a thread take a partner that is not there any more?"
        ),
        "precision": "Nearly right, but one number of a stretch is missing or too many. Which place is left out if an odd number of places is halved?",
        "two-writers": WHO_MAY_STORE,
    },
    kept=Budget(
        points=0,
        text="a tree",
        require={"shared_load_requests": 24, "atomics": 0, "global_load_requests": 6},
        over="The tree is gone: the numbers are added up one after the other. Keep it, and repair its rounds.",
        case=energy_case("exact", 96, 96),
    ),
    hints=(
        "Run the check on the kernel as it is: the first bug is a pair of accesses that the message names. In which rounds do they happen?",
        "The second shows where a number that is not a power of two is halved. With 5 threads: which places are added in the first round, and which one is added to none?",
        "Every round needs a barrier that all threads reach. And half of an odd number must be rounded up: then the last thread has no partner, and asks for it before it adds.",
    ),
)

# 06-histogram ------------------------------------------------------------------------------------------------

BINS = 50


def bins_case(name, n, blocks):
    """x (n,) int32 with a few values outside of the bins, counts (BINS,) int32, zeros."""
    return Case(
        f"{name}: n = {n} in {blocks} block{'s' * (blocks > 1)} of 32",
        lambda rng: (rng.integers(-3, BINS + 3, n).astype(np.int32), np.zeros(BINS, np.int32)),
        blocks,
        32,
    )


def _bins(x):
    return np.bincount(x[(x >= 0) & (x < BINS)], minlength=BINS)


NOT_BROUGHT = "Some bins of counts stayed 0. Does the block bring what it has counted to counts, and all 50 bins of it? A block has 32 threads: which of them brings bin 40?"

HISTOGRAM = KernelTask(
    id="06-histogram",
    section=Section("6.4", "06_branches", "One for each block"),
    title="A histogram with more bins than threads",
    objective="Write a histogram that counts in shared memory and goes to global memory once for each bin",
    points=2,
    minutes=14,
    spec=lambda x, counts: _bins(x),
    tell_first=TOLD_FIRST,
    cases=(
        bins_case("one block, exact", 32, 1),
        bins_case("exact", 256, 4),
        bins_case("ragged", 333, 3),
        bins_case("more threads than elements", 10, 2),
    ),
    suspects=(
        Suspect(
            lambda x, counts: np.bincount(np.clip(x, 0, BINS - 1), minlength=BINS),
            "Values below 0 or above 49 were counted in the first and the last bin. They belong to none.",
        ),
        Suspect(
            lambda x, counts: np.bincount(x % BINS, minlength=BINS),
            "Values outside of 0 to 49 were counted in some other bin, by their rest. They belong to none.",
        ),
        Suspect(
            lambda x, counts: _bins(x) * (_bins(x) < 2) + (_bins(x) > 1),
            "No count is above 1: what stood there was replaced, not added to.",
        ),
        *(
            Suspect(
                lambda x, counts, k=k: _bins(x[: 32 * k]) if len(x) > 32 * k else NOTHING,
                "Each thread counted one element. There are more elements than threads in the grid: a thread goes on by the number of threads in the grid.",
            )
            for k in (1, 2, 3, 4)
        ),
        *(
            Suspect(
                lambda x, counts, k=k: k * _bins(x),
                "Each element was counted several times, once by every block. Which elements does block b begin with?",
            )
            for k in (2, 3, 4)
        ),
    ),
    advice={
        "race": (
            "Two threads change one count at the same time: both read it, both add 1 to the same number, and one addition is lost. Which operation reads, adds and writes "
            "without letting anybody in between?"
        ),
        "atomic-against-plain": (
            "A thread counts in a bin which another one sets to 0, or reads to bring it to counts, and no barrier lies between the two. Set to 0, count, bring away: "
            "everybody waits after each of the first two."
        ),
        "divergent-barrier": EVERYBODY_COMES,
        "barrier-after-exit": EVERYBODY_COMES,
        "uninitialised-shared": (
            "A bin in shared memory holds anything at first. All 50 of them need a 0, and a block has 32 threads: which thread sets bin 40? And is there a barrier before anybody counts?"
        ),
        "out-of-bounds": (
            "An index left its array. x has n elements, the bins are 0 to 49, and some values of x belong to no bin: ask both ways before you count."
        ),
        "none-beyond": "Every thread has an element here. Some values of x lie above 49, and belong to no bin.",
        "negative-index": "A value of x below 0 belongs to no bin. Python would count from the end; here it is an error.",
        "two-writers": "Several blocks bring their counts to the same bins of counts. There, too, an addition must not be lost.",
        **dict.fromkeys(("nothing-written", "some-unwritten", "gaps-in-one-block", "tail"), NOT_BROUGHT),
        "wrong-value": (
            "Work out bin 0 by hand. Is each element of x counted by one thread of the grid? And does each block bring its bins to counts, added to what others have brought?"
        ),
        "scaled": "Every count is too large by the same factor. Does every block count all of x?",
    },
    budget=Budget(
        points=1,
        text="at most 4 atomic requests to global memory, and 32 loads, for n = 1024 in 2 blocks",
        require={"global_atomic_requests": 4, "global_load_requests": 32, "global_store_requests": 0},
        over=(
            "The histogram is right, but global memory is asked more often than once for each element and once for each bin of a block. Where does a block count, and when does "
            "it bring its counts away?"
        ),
        causes=(
            (
                over("global_load_requests"),
                "The histogram is right, but x is asked for more often than once for each warp and round. A value that is compared and then used as an index can stay in a variable. Or does one thread "
                "count everything?",
            ),
        ),
        case=bins_case("exact", 1024, 2),
    ),
    hints=(
        "How many threads of a block may want to count in bin 7 at the same time? And how many blocks?",
        "Three stages, with a barrier between them: the block sets its own bins to 0, it counts its share of x there, it brings each bin to counts. A block has 32 threads and 50 bins, so the "
        "first and the last stage are loops.",
        "All three loops begin at a thread's number and go on by a number of threads: of the block for bins, of the "
        "grid for x. cuda.atomic.add takes an array, an index and what to add: 1 where a thread counts, and in the "
        "last stage what the block has counted.",
    ),
)

# 06-races ----------------------------------------------------------------------------------------------------
# The statement shows these kernels; a test compares.


@cuda.jit
def _kernel_a(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[min(i, last)]
    if t == 63:
        tile[64] = x[min(i + 1, last)]
    if i <= last:
        cuda.syncthreads()
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_b(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[min(i, last)]
    cuda.syncthreads()
    if t == 0:
        tile[64] = x[min(i + 64, last)]
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_c(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    if i <= last:
        tile[t] = x[i]
    if i == last:
        tile[t + 1] = x[last]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_d(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[i] if i <= last else x[last]
    if t == 63 and i <= last:
        tile[64] = x[i + 1]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_e(x, out):
    tile = cuda.shared.array(64, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    if i <= last:
        tile[t] = x[i]
    cuda.syncthreads()
    if i < last:
        beside = tile[t + 1] if t < 63 else x[i + 1]
        out[i] = max(tile[t], beside)
    if i == last:
        out[i] = tile[t]


@cuda.jit
def _kernel_f(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, last = cuda.threadIdx.x, x.size - 1
    i = cuda.blockIdx.x * 63 + t
    tile[t] = x[min(i, last)]
    if t == 63:
        tile[64] = x[min(i + 1, last)]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_g(x, out):
    tile = cuda.shared.array(64, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[min(i, last)]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[min(t + 1, 63)])


@cuda.jit
def _kernel_h(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    if i > last:
        return
    tile[t] = x[i]
    if t == 63 or i == last:
        tile[t + 1] = x[min(i + 1, last)]
    cuda.syncthreads()
    out[i] = max(tile[t], tile[t + 1])


def _pair_case(n, blocks):
    """Where blocks meet, the right one of two elements is the larger one: who forgets it is always wrong."""

    def make(rng):
        x = random_values(rng, n)
        for k in range(THREADS, n, THREADS):
            x[k - 1], x[k] = sorted(x[k - 1 : k + 1])
        return x, unwritten(n)

    return Case(f"n = {n} in {blocks} blocks of {THREADS}", make, blocks, THREADS)


PAIRS = replace(
    SOA,
    id="06-pairs",
    spec=lambda x, out: np.maximum(x, np.append(x[1:], x[-1:])).astype(np.float64),
    cases=(_pair_case(256, 5), _pair_case(200, 4), _pair_case(100, 3)),
    tell_first=TOLD_FIRST,
    writer=None,
    suspects=(),
    advice={},
    budget=None,
)

RACES = DetectiveTask(
    id="06-races",
    section=Section("6.3", "06_together", "Barriers and races"),
    title="Eight kernels, one of them right",
    objective="Judge kernels with shared memory by their text: races, barriers, edges",
    points=4,
    minutes=16,
    judge=PAIRS,
    programs={
        "A": _kernel_a,
        "B": _kernel_b,
        "C": _kernel_c,
        "D": _kernel_d,
        "E": _kernel_e,
        "F": _kernel_f,
        "G": _kernel_g,
        "H": _kernel_h,
    },
    faults=(
        Fault("right", "gives what the specification says, for every n and every such launch"),
        Fault("race", "two threads use one place, one of them stores, and nothing orders the two", ("race",)),
        Fault(
            "stuck",
            "threads wait at a barrier for others of their block that never come",
            ("divergent-barrier", "barrier-after-exit"),
        ),
        Fault("unset", "a place of shared memory is read that nobody has stored", ("uninitialised-shared",)),
        Fault("outside", "an index lies outside of its array", ("out-of-bounds", "negative-index")),
        Fault("wrong number", "an element gets a wrong number", ("wrong-value", "shifted", "suspect", "precision")),
    ),
    hints=(
        "Choose a launch of two blocks in which the second is not full, and one in which both are. For each kernel: what do thread 63 of block 0 and the thread of the last "
        "element do?",
        "Go through each kernel with four questions. Who stores each place of tile, and is there a barrier before others read it? Do all threads of a block come to the barrier? "
        "Who stores tile[64], or what stands in its place? Which block stores each place of out?",
        "A thread that has nothing to store must come to the barrier, too. A number may be right and two threads may have stored it all the same. And a kernel that needs no place "
        "64 can be right without one.",
    ),
)

# 06-fails ----------------------------------------------------------------------------------------------------
# The statement shows the kernels `halved`, `crossed` and `copies`; a test compares.


@cuda.jit
def halved(x, out):
    s = cuda.shared.array(128, np.float32)
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    s[t] = x[cuda.grid(1)]
    d = 64
    while d > 0:
        cuda.syncthreads()
        if t < d and d < threads:
            s[t] += s[t + d]
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def crossed(x, out):
    tile = cuda.shared.array((16, 17), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    inside = top + ty < x.shape[0] and left + tx < x.shape[1]
    if inside:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()
    if inside:
        out[left + ty, top + tx] = tile[tx, ty]


@cuda.jit
def copies(x, counts):
    own = cuda.shared.array((32, 8), np.int32)
    t = cuda.threadIdx.x
    if t < 32:
        for b in range(8):
            own[t, b] = 0
    cuda.syncthreads()
    if t < x.size:
        own[t % 32, x[t]] += 1
    cuda.syncthreads()
    if t < 8:
        for k in range(32):
            counts[t] += own[k, t]


@cuda.jit
def _summed(x, out):
    if cuda.threadIdx.x == 0:
        total = np.float32(0)
        for k in range(cuda.blockDim.x):
            total += x[cuda.grid(1) + k]
        out[cuda.blockIdx.x] = total


@cuda.jit
def _transposed(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[column, row] = x[row, column]


@cuda.jit
def _counted_in_turn(x, counts):
    if cuda.threadIdx.x == 0:
        for k in range(x.size):
            counts[x[k]] += 1


def sum_of(threads, blocks):
    """The case of a block-wise sum that a student chose."""
    said = f"{blocks} block{'s' * (blocks > 1)} of {threads} thread{'s' * (threads > 1)}"
    return Case(said, lambda rng: (random_values(rng, blocks * threads), unwritten(blocks)), blocks, threads)


def transpose_of(rows, columns):
    """The case of a transpose that a student chose, in blocks of 16 x 16."""
    x, y = -(-columns // 16), -(-rows // 16)
    return Case(
        f"{rows} x {columns} in {x} x {y} blocks",
        lambda rng: (random_values(rng, rows, columns), unwritten(columns, rows)),
        (x, y),
        (16, 16),
    )


def histogram_of(x):
    """The case of a histogram of numbers that a student chose, in one block of 64 threads."""
    words = ", ".join(str(v) for v in x[:4]) + (", ..." if len(x) > 4 else "")
    return Case(f"x = [{words}] in 1 block of 64", lambda rng: (x, np.zeros(8, np.int32)), 1, THREADS)


_PLAIN = replace(PAIRS, id="06-plain", cases=())
FAILS = CounterexampleTask(
    id="06-fails",
    section=Section("6.3", "06_together", "Barriers and races"),
    title="Find inputs on which three kernels fail",
    objective="Find the launch, the shape or the values on which a kernel with shared memory fails",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="halved",
            judge=replace(
                _PLAIN,
                id="06-halved",
                spec=lambda x, out: x.reshape(len(out), -1).sum(1, dtype=np.float64),
                rtol=1e-4,
                atol=1e-5,
                writer=lambda index, case: (index[0], 0),
            ),
            wrong=halved,
            right=_summed,
            fields={"threads": Whole(1, 128), "blocks": Whole(1, 4)},
            case=sum_of,
            lead="In the first round that counts, thread t takes in place t + d. Is there such a thread, whatever the number of threads?",
        ),
        Flaw(
            name="crossed",
            judge=replace(
                _PLAIN,
                id="06-crossed",
                spec=lambda x, out: x.T.astype(np.float64),
                writer=lambda index, case: ((index[0] // 16, index[1] // 16), (index[1] % 16, index[0] % 16)),
            ),
            wrong=crossed,
            right=_transposed,
            fields={"rows": Whole(1, 64), "columns": Whole(1, 64)},
            case=transpose_of,
            lead="`inside` asks for the element that a thread loads. Which element does it store, and for which shapes of a tile are both there or both not?",
        ),
        Flaw(
            name="copies",
            judge=replace(_PLAIN, id="06-copies", spec=lambda x, counts: np.bincount(x, minlength=8), writer=None),
            wrong=copies,
            right=_counted_in_turn,
            fields={"x": Numbers(1, 64, 0, 7, np.int32)},
            case=histogram_of,
            lead="Nothing atomic is needed as long as no two threads use one counter. Which threads have the same copy, and what else must they share?",
        ),
    ),
    hints=(
        "Each kernel was tried where it is right: a block of 128 threads, a matrix of 32 x 32, a short list. What does each of them take for granted?",
        "halved: write down the rounds of a block of 3 threads. crossed: write down what thread (3, 0) of a tile with 2 rows loads, and what it stores. copies: which two threads have "
        "copy 5?",
        "halved: no power of two. crossed: a tile at the edge that is not full. copies: a block has 64 threads and 32 copies, so two threads have each, and the list must be long "
        "enough for both.",
    ),
)

# 06-keep -----------------------------------------------------------------------------------------------------

KEPT = 256  # the most threads of the block: 8 warps


def keep_case(name, n, threads, share=0.5):
    """x (n,), of which about `share` is above 0; out (n,); one block."""

    def make(rng):
        x = np.abs(random_values(rng, n))
        return np.where(rng.random(n) < share, x, -x).astype(np.float32), unwritten(n)

    return Case(f"{name}: n = {n} in 1 block of {threads}", make, 1, threads)


def kept(x, size=None):
    """What is above 0, in its order, and zeros."""
    found = x[x > 0].astype(np.float64)
    return np.concatenate([found, np.zeros(len(x) - len(found))])


def _by_warps(x, out):
    """Each warp begins at place 0 again, and the last one that stores wins; zeros behind what all of them kept."""
    found = np.zeros(len(x))
    for k in range(0, len(x), 32):
        stretch = x[k : k + 32]
        stretch = stretch[stretch > 0]
        found[: len(stretch)] = stretch
    return found


KEEP = KernelTask(
    id="06-keep",
    section=Section("6.4", "06_branches", "Warp votes"),
    title="Keep what is positive, in its order",
    objective="Write a compaction: places from a vote in each warp, and a scan over the warps' counts",
    points=3,
    minutes=16,
    spec=lambda x, out: kept(x),
    tell_first=("divergent-barrier", "barrier-after-exit", "uninitialised-shared"),
    cases=(
        keep_case("one block, exact, one warp", 32, 32),
        keep_case("exact", 128, 128),
        keep_case("ragged", 100, 128),
        keep_case("ragged, nearly all", 250, 256, 0.9),
    ),
    writer=lambda index, case: (0, index[0]),
    suspects=(
        Suspect(
            lambda x, out: np.maximum(x, 0),
            "The positive numbers stayed where they were. They shall move together, to the front.",
        ),
        Suspect(lambda x, out: kept(-x) * -1, "The negative numbers were kept."),
        Suspect(
            lambda x, out: np.concatenate([kept(x)[(x > 0).sum() :], kept(x)[: (x > 0).sum()]]),
            "The zeros come first. They belong behind the numbers.",
        ),
        Suspect(
            _by_warps,
            "Every warp began at place 0 again. Which place does the first positive number of warp 1 get, and how does the warp know?",
        ),
        Suspect(
            lambda x, out: (
                np.concatenate([kept(x)[(x > 0).sum() - 1 :: -1], np.zeros((x <= 0).sum())])
                if (x > 0).any()
                else NOTHING
            ),
            "The order is turned round: a place counts the positive numbers before it, not behind it.",
        ),
    ),
    advice={
        "race": (
            "Is it a count of a warp? Between storing and reading it a barrier has to come. Is it a place of out? That is the place of one thread: how many positive numbers come before "
            "its own, in its warp and in all warps before?"
        ),
        "divergent-barrier": f"{EVERYBODY_COMES} {SHUFFLES_TOO.replace('Shuffles', 'Votes')}",
        "barrier-after-exit": f"{EVERYBODY_COMES} {SHUFFLES_TOO.replace('Shuffles', 'Votes')}",
        "divergent-warp-operation": f"The lanes of a warp do not come to the same vote. {SHUFFLES_TOO.replace('Shuffles', 'Votes')}",
        "uninitialised-shared": (
            "A count is read that nobody has stored by then. One lane of each warp stores the warp's count: is there a barrier before others read it? And a launch may have fewer warps "
            "than the array has places: how many has this one?"
        ),
        "out-of-bounds": (
            "An index left its array. A thread beyond the end of x has no number: it votes, and says no. Is the place counted right? Behind the last number of out there is none."
        ),
        "none-beyond": (
            "Each thread has a number here. Is its place counted right? It is the number of positive numbers before it: none for the first."
        ),
        "one-block": "Only the first places were stored: do the other warps know how many numbers come before theirs?",
        "tail": "The places behind the kept numbers hold anything before. Who stores the zeros there? How many are kept in all?",
        "some-unwritten": (
            "Some places were never stored. Those below the number of all that are kept get a number, those from there on a 0: do both groups know that number?"
        ),
        "gaps-in-one-block": (
            "Some places were never stored. Those below the number of all that are kept get a number, those from there on a 0: do both groups know that number?"
        ),
        "head": "The first places were never stored. How many positive numbers come before the first one?",
        "wrong-value": (
            "Take the first warp by hand: votes of lanes 0 to 4 are 1, 0, 1, 1, 0, say. Lane 3 gets place 2: which bits of the votes count? And what is added for the warps before?"
        ),
    },
    budget=Budget(
        points=1,
        text="one barrier, no atomics, for 256 threads at most 8 store requests to shared memory and 128 that load, and one load of each element",
        require={
            "barriers": 1,
            "atomics": 0,
            "shared_store_requests": 8,
            "shared_load_requests": 128,
            "global_load_requests": 8,
        },
        over=(
            "The result is right, but it costs more than a vote and a count for each warp. The votes of 32 lanes come as one number, and its bits tell each lane its place: shared memory "
            "need hold one number for each warp."
        ),
        causes=(
            (
                over("atomics"),
                "The result is right, but threads go one after the other through an atomic operation. A vote needs none.",
            ),
            (
                lambda rows: {o.name for o in rows} == {"global_load_requests"},
                "The result is right, but x is loaded more than once. What a thread has loaded can stay in a variable. Or does one thread do it all?",
            ),
            (
                lambda rows: {o.name for o in rows} <= {"barriers", "shared_store_requests"},
                "The result is right, with more than one barrier, or more stores than one for each warp. When the counts of all warps are stored, each thread can add up what it needs.",
            ),
        ),
        case=keep_case("exact", 256, 256),
    ),
    hints=(
        "Where does a kept number go? What must its thread know of the numbers before it? What of that does its own warp know, and what not?",
        "cuda.ballot_sync gives each lane the votes of its whole warp as one number, bit k for lane k. The bits below a lane's own are the lanes before it; cuda.popc counts them. One "
        "number for each warp goes through shared memory: how many it keeps.",
        "A mask with as many ones as there are lanes before lane l picks their bits: a power of two, less 1, is such a "
        "number. The first lane of each warp stores popc of all votes; one barrier; then every thread goes through the "
        "counts: those of the warps before its own belong to its place, those of all warps make the number from which "
        "on zeros stand.",
    ),
)

# 06-work -----------------------------------------------------------------------------------------------------


def hillis_steele(n):
    """(rounds, additions) of an inclusive scan in which every place adds what lies d places before it."""
    rounds = additions = 0
    d = 1
    while d < n:
        rounds, additions, d = rounds + 1, additions + n - d, 2 * d
    return rounds, additions


def blelloch(n):
    """(rounds, additions) of an exclusive scan by a tree: up to the sum, and down again."""
    rounds = additions = 0
    d = 1
    while d < n:
        rounds, additions, d = rounds + 2, additions + 2 * (n // (2 * d)), 2 * d
    return rounds, additions


WORK = PredictionTask(
    id="06-work",
    section=Section("6.5", "06_order", "Blelloch"),
    title="Two scans, two bills",
    objective="Predict the rounds and additions of two scans",
    points=1,
    minutes=5,
    questions=(
        Question(
            "additions",
            "additions of Hillis and Steele for 64 numbers",
            lambda: hillis_steele(64)[1],
            {
                6 * 64: "In a round with distance d the first d places have nothing to add.",
                63: "That is a loop of one thread. Here nearly every place adds in every round.",
                6: "Those are the rounds. How many places add something in each?",
                6 * 63: "In the first round 63 places add something; in the last, with d = 32, only 32.",
                126: "That is what a tree needs, up and down.",
                hillis_steele(64)[1] + 1: "One too many.",
                hillis_steele(64)[1] - 1: "One too few.",
                64 * 63 // 2: "That would be each place adding up all before it by itself.",
            },
            "d is 1, 2, 4, 8, 16, 32. In a round 64 - d places add something. What is the sum?",
        ),
        Question(
            "tree",
            "additions of Blelloch for 64 numbers, up and down",
            lambda: blelloch(64)[1],
            {
                63: "That is the way up. On the way down each pair adds once more.",
                64: "How many pairs are added on the way up, over all rounds? And on the way down?",
                128: "Count the way up: 32 + 16 + 8 + 4 + 2 + 1.",
                12: "Those are the rounds. How many pairs are there in each?",
                6: "Those are the rounds of one way.",
                384: "In a tree only a pair for every 2 d places adds: 32 in the first round, then 16.",
                321: "That is what Hillis and Steele need.",
                127: "Count the way up: 32 + 16 + 8 + 4 + 2 + 1. The way down has as many.",
            },
            "On the way up 32 pairs are added, then 16, and so on to one. On the way down it is as many again.",
        ),
        Question(
            "rounds",
            "rounds of Blelloch for 64 numbers, up and down",
            lambda: blelloch(64)[0],
            {
                6: "That is the way up. The way down has as many.",
                64: "In a round all pairs of one size are added at the same time.",
                7: "How many times can 64 be halved, until one is left?",
                126: "Those are the additions. Many of them happen in the same round.",
                11: "The way up ends with one pair, the way down begins with one: both are rounds.",
                13: "64 is halved six times, up and down.",
            },
            "How many times can 64 be halved until one is left? That is one way.",
        ),
    ),
    hints=(
        "Draw both for 8 numbers. How many arrows has each round?",
        "Hillis and Steele: in the round with distance d every place adds what lies d places before it, if there is such a place. Blelloch: up, pairs are added, then pairs of pairs; down, "
        "the same pairs again.",
        "For 8 numbers the first makes 7 + 6 + 4 additions, and the second 4 + 2 + 1 up and as many down. Do the same for 64.",
    ),
)

# 06-scan -----------------------------------------------------------------------------------------------------

LONG = 256  # threads of a block: 8 warps


def scan_case(name, rows, n):
    """x and out (rows, n), a block for each row."""
    return Case(
        f"{name}: {rows} x {n} in {rows} block{'s' * (rows > 1)} of {LONG}",
        lambda rng: (random_values(rng, rows, n), unwritten(rows, n)),
        rows,
        LONG,
    )


def _of_pieces(formula, length=32):
    """formula of each piece of every row, put together again."""
    return lambda x, out: np.concatenate(
        [formula(x[:, k : k + length].astype(np.float64)) for k in range(0, x.shape[1], length)], axis=1
    )


def _unguarded(piece):
    """A scan of one warp in which lanes without a partner add their own number again: that is what a shuffle gives them."""
    total = np.zeros((len(piece), 32))
    total[:, : piece.shape[1]] = piece
    for d in (1, 2, 4, 8, 16):
        total = total + np.concatenate([total[:, :d], total[:, :-d]], axis=1)
    return total[:, : piece.shape[1]]


SCAN = KernelTask(
    id="06-scan",
    section=Section("6.5", "06_order", "A scan in a warp"),
    title="Running sums of a row",
    objective="Write an inclusive scan of a block: by shuffles in each warp, and over the warps' sums",
    points=2,
    minutes=14,
    spec=lambda x, out: x.astype(np.float64).cumsum(1),
    rtol=1e-4,
    atol=1e-4,
    tell_first=("divergent-barrier", "barrier-after-exit", "uninitialised-shared"),
    cases=(
        scan_case("one block, exact", 1, 256),
        scan_case("exact", 3, 256),
        scan_case("ragged", 2, 100),
        scan_case("ragged, short", 2, 9),
    ),
    writer=lambda index, case: index,
    suspects=(
        Suspect(
            _of_pieces(lambda p: p.cumsum(1)),
            "Each warp begins with 0 again. What has thread 32 to add, and which warp knows it?",
        ),
        Suspect(
            _of_pieces(_unguarded),
            "Lanes without a partner added their own number once more: that is what shfl_up gives to a lane d places before which no lane is. Which lanes have a partner?",
        ),
        Suspect(
            lambda x, out: x.astype(np.float64).cumsum(1) - x,
            "This is the sum of what comes before each number. The number itself belongs to it, too.",
        ),
        Suspect(
            lambda x, out: x.astype(np.float64)[:, ::-1].cumsum(1)[:, ::-1],
            "The sums run from the end. Each place needs what comes before it: shfl_up hands numbers to higher lanes, shfl_down to lower ones.",
        ),
        Suspect(
            _of_pieces(lambda p: p[:, ::-1].cumsum(1)[:, ::-1]),
            "In each warp the sums run from the end. Each lane needs what comes before it: shfl_up hands numbers to higher lanes, shfl_down to lower ones.",
        ),
        Suspect(
            lambda x, out: np.repeat(x.astype(np.float64).cumsum(1)[:1], len(x), 0) if len(x) > 1 else NOTHING,
            "All rows got the sums of row 0. Which row is a block's own?",
        ),
        Suspect(lambda x, out: x, "This is x itself: nothing was added."),
    ),
    advice={
        "race": (
            "A thread reads the sum of a warp that another one stores, and no barrier lies between the two. Or do several lanes store to one place? One lane of a warp has its whole sum."
        ),
        "divergent-barrier": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "barrier-after-exit": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "divergent-warp-operation": f"The lanes of a warp do not come to the same shuffle. {SHUFFLES_TOO}",
        "inactive-lane-read": f"A shuffle reads from a lane that does not take part in it. {SHUFFLES_TOO}",
        "uninitialised-shared": (
            "The sum of a warp is read that nobody has stored by then. Which lane stores it, in every warp, and is there a barrier before others read it?"
        ),
        "out-of-bounds": (
            "An index left its array. A thread behind the end of the row has no number: it takes part with 0, and stores nothing. And a block has eight warps: which places has the shared array?"
        ),
        "none-beyond": "Every thread has a number here. A block has eight warps: which places has the shared array?",
        "negative-index": "An index fell below 0. A warp adds the sums of the warps before it: which has the first?",
        "some-unwritten": "Every thread with a number stores its sum, in the row of its block.",
        "one-block": "Only one row was stored. A block's row is the one of its number, cuda.blockIdx.x.",
        **dict.fromkeys(
            ("wrong-value", "precision"),
            "Work out lanes 0 to 3 of the first warp by hand: d is 1, then 2. Who adds what? Then lane 0 of warp 2: it needs the sums of the warps 0 and 1, of all their 32 lanes.",
        ),
    },
    budget=Budget(
        points=1,
        text="one barrier, no atomics, and for a row of 256 at most 8 store and 64 load requests to shared memory",
        require={
            "barriers": 1,
            "atomics": 0,
            "shared_store_requests": 8,
            "shared_load_requests": 64,
            "global_load_requests": 8,
        },
        over=(
            "The sums are right, but more goes through shared memory than one number of each warp, or the block waits more than once. In a warp shuffles hand on the sums, without a "
            "barrier; only the sum of each warp is for the others."
        ),
        causes=(
            (
                lambda rows: {o.name for o in rows} == {"global_load_requests"},
                "The sums are right, but x is loaded more often than once for each element. A thread loads its own number; the others come by shuffles.",
            ),
        ),
        case=scan_case("exact", 1, 256),
    ),
    hints=(
        "After the round with distance 1 a lane knows of two numbers. After the next one, with distance 2? How many rounds does it take to 32?",
        "Five rounds: each lane gets the sum of the lane d places before, and adds it if there is such a lane. Then the last lane of a warp has the warp's sum, which goes to shared memory. After "
        "one barrier each thread adds the sums of the warps before its own.",
        "cuda.shfl_up_sync(0xFFFFFFFF, total, d) stands outside of the `if`, the addition inside: only lanes from number d on have a partner. d is 1, 2, 4, 8, 16. Warp w adds w numbers from "
        "shared memory.",
    ),
)

# 06-order ----------------------------------------------------------------------------------------------------

_TRUSTED = {n: f"R trusts {n} flag{'s' * (n != 1)} whose number is not there yet" for n in range(4)}

ORDER = ScheduleTask(
    id="06-order",
    section=Section("6.5", "06_order", "Memory order"),
    title="Be the memory: the flag overtakes the number",
    objective="Choose the order in which stores arrive and loads are made so that a flag without a fence lies",
    points=2,
    minutes=7,
    who="player",
    program=Program(
        """
        number, flag = 0, 0  # in global memory
        trusted = 0


        def numbers_arrive():
            global number
            for k in (1, 2, 3):
                number = k


        def flags_arrive():
            global flag
            for k in (1, 2, 3):
                flag = k


        def reader():
            global trusted
            last = 0
            for k in (1, 2, 3):
                new = flag
                if new > last:
                    got = number
                    if got < new:
                        trusted = trusted + 1
                    last = new
        """,
        N=("numbers_arrive",),
        F=("flags_arrive",),
        R=("reader",),
    ),
    score=lambda played: played.state["trusted"],
    shown=_TRUSTED,
    slips={
        0: "R found behind each flag the number that belongs to it. Which of the two stores has to be late, so that R believes a flag that came alone?",
        1: "R looks at the flag three times, and trusts it when it is larger than last time. How large should it be at the first look, so that it can still grow twice?",
        2: "Twice R was deceived. The flag has three values: R can see each of them, one after the other, and the number may arrive after all that.",
    },
    at_the_end=lambda played: f"flag {played.state['flag']}, number {played.state['number']}",
    advice={
        "unknown-thread": "Write N, F or R for each step: a number arrives, a flag arrives, the reader loads.",
        "impossible": "Three numbers arrive, and three flags; the reader has ended when it has looked three times.",
        "type": 'Write a string with one letter for each step, as "NFRR".',
    },
    hints=(
        "The block that sends has stored number 1, flag 1, number 2 and so on. Nothing says in which order these stores arrive. Which order would deceive R?",
        "R loads the flag and, if it is new, the number. Let a flag arrive, let R look at both, and let the number be late.",
        "A step of R is one load. Let a flag arrive, let R make the two loads that belong to it, and then the next flag. Leave all numbers for the end.",
    ),
)

# 06-fenced, the second part of 06-order --------------------------------------------------------------------------

FENCED = ScheduleTask(
    id="06-fenced",
    section=Section("6.5", "06_order", "Memory order"),
    title="A fence on one side only",
    objective="Choose the steps by which a reader that loads in the wrong order is deceived although the writer has a fence",
    after="06-order",
    points=2,
    minutes=7,
    who="player",
    program=Program(
        """
        number, flag = 0, 0  # in global memory
        trusted = 0


        def writer():
            global number, flag
            for k in (1, 2, 3):
                number = k
                # threadfence(): the number arrives before the flag
                flag = k


        def reader():
            global trusted
            last = 0
            for k in (1, 2, 3):
                got = number  # loaded early
                new = flag
                if new > last:
                    if got < new:
                        trusted = trusted + 1
                    last = new
        """,
        W=("writer",),
        R=("reader",),
    ),
    score=lambda played: played.state["trusted"],
    shown=_TRUSTED,
    slips={
        0: "The writer's stores arrive in their order, and still R can be deceived: it has the number in hand before it looks at the flag. What may happen between these two loads?",
        1: "Once R had an old number in hand when it saw a new flag. How many steps of W are enough for that, so that some are left for the next time?",
        2: "Twice. Each time two steps of W are enough: the number and its flag, both between R's two loads.",
    },
    at_the_end=lambda played: f"flag {played.state['flag']}, number {played.state['number']}",
    advice={
        "unknown-thread": "Write W or R for each step.",
        "impossible": "The writer has six steps: three numbers and three flags.",
        "type": 'Write a string with one letter for each step, as "WWRR".',
    },
    hints=(
        "What does R have in hand when it looks at the flag? And how old may that be?",
        "R loads the number; then W stores a new number and its flag; then R loads the flag. What does R believe?",
        "Each round of R has two loads, and between them there is room for a whole message of W: two steps. W has six steps, enough for three rounds.",
    ),
)

TASKS = (
    SECTORS,
    BANKS,
    SOA,
    TURN,
    DIVERGENCE,
    SPREAD,
    LANES,
    BUG,
    HISTOGRAM,
    RACES,
    FAILS,
    KEEP,
    WORK,
    SCAN,
    ORDER,
    FENCED,
)
