"""Tasks of chapter 06, GPU memory: sectors and banks, tiles, reductions, histograms, votes, races and memory order."""

import numpy as np

from dlkernels import cuda

from ..definition import Budget, Case, Section, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.kernel import KernelTask
from ..kinds.prediction import PredictionTask, Question

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
    section=Section("6", "06_memory", "Rung 3: a padded tile"),
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
    section=Section("6", "06_memory", "Rung 3: a padded tile"),
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

TASKS = (SECTORS, BANKS, SOA, TURN)
