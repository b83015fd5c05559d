"""06-scan: Running sums of a row."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import EVERYBODY_COMES, NOTHING, SHUFFLES_TOO

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
    """A scan of one warp in which lanes without a partner add their own number again: that is what a shuffle gives
    them."""
    total = np.zeros((len(piece), 32))
    total[:, : piece.shape[1]] = piece
    for d in (1, 2, 4, 8, 16):
        total = total + np.concatenate([total[:, :d], total[:, :-d]], axis=1)
    return total[:, : piece.shape[1]]


def _of_warps(x):
    """The sum of each warp's numbers, (rows, warps)."""
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, -x.shape[1] % 32)))
    return wide.reshape(len(x), -1, 32).sum(2)


def _within_warps(x):
    """The running sums of each warp by itself, for whole warps."""
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, -x.shape[1] % 32)))
    return wide.reshape(len(x), -1, 32).cumsum(2).reshape(len(x), -1)


def _before(sums):
    """The sum of the warp before, 0 for the first."""
    return np.pad(sums, ((0, 0), (1, 0)))[:, :-1]


SCAN = KernelTask(
    id="06-scan",
    section=Section("6.5", "06_order", "A scan in a warp"),
    title="Running sums of a row",
    objective="Write an inclusive scan of a block: by shuffles in each warp, and over the warps' sums",
    points=2,
    minutes=21,
    spec=lambda x, out: x.astype(np.float64).cumsum(1),
    rtol=1e-4,
    atol=1e-4,
    tell_first=("divergent-barrier", "divergent-warp-operation", "barrier-after-exit", "uninitialised-shared"),
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
            "Lanes without a partner added their own number once more: that is what shfl_up gives to a lane d places "
            "before which no lane is. Which lanes have a partner?",
        ),
        Suspect(
            lambda x, out: x.astype(np.float64).cumsum(1) - x,
            "This is the sum of what comes before each number. The number itself belongs to it, too.",
        ),
        Suspect(
            lambda x, out: x.astype(np.float64)[:, ::-1].cumsum(1)[:, ::-1],
            "The sums run from the end. Each place needs what comes before it: shfl_up hands numbers to higher lanes, "
            "shfl_down to lower ones.",
        ),
        Suspect(
            _of_pieces(lambda p: p[:, ::-1].cumsum(1)[:, ::-1]),
            "In each warp the sums run from the end. Each lane needs what comes before it: shfl_up hands numbers to "
            "higher lanes, shfl_down to lower ones.",
        ),
        Suspect(
            lambda x, out: np.repeat(x.astype(np.float64).cumsum(1)[:1], len(x), 0) if len(x) > 1 else NOTHING,
            "All rows got the sums of row 0. Which row is a block's own?",
        ),
        Suspect(
            lambda x, out: (
                (_within_warps(x) + _of_warps(x).sum(1)[:, None])[:, : x.shape[1]] if x.shape[1] > 32 else NOTHING
            ),
            "Every warp added the sums of all warps. Warp w needs those of the warps before it only: w numbers.",
        ),
        Suspect(
            lambda x, out: (
                (_within_warps(x) + np.repeat(_of_warps(x).cumsum(1), 32, 1))[:, : x.shape[1]]
                if x.shape[1] > 32
                else NOTHING
            ),
            "Each warp added its own sum, too. Warp w needs those of the warps before it only: w numbers.",
        ),
        Suspect(
            lambda x, out: (
                (_within_warps(x) + np.repeat(_before(_of_warps(x)), 32, 1))[:, : x.shape[1]]
                if x.shape[1] > 64
                else NOTHING
            ),
            "Each warp added the sum of one warp, the one before it. Warp w needs those of all warps before it: w "
            "numbers.",
        ),
        Suspect(lambda x, out: x, "This is x itself: nothing was added."),
    ),
    advice={
        "race": (
            "A thread reads the sum of a warp that another one stores, and no barrier lies between the two. Or do "
            "several lanes store to one place? One lane of a warp has its whole sum."
        ),
        "divergent-barrier": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "barrier-after-exit": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "divergent-warp-operation": f"The lanes of a warp do not come to the same shuffle. {SHUFFLES_TOO}",
        "inactive-lane-read": f"A shuffle reads from a lane that does not take part in it. {SHUFFLES_TOO}",
        "uninitialised-shared": (
            "The sum of a warp is read that nobody has stored by then. Which lane stores it, in every warp, and is "
            "there a barrier before others read it?"
        ),
        "out-of-bounds": (
            "An index left its array. A thread behind the end of the row has no number: it takes part with 0, and "
            "stores nothing. And a block has eight warps: which places has the shared array?"
        ),
        "none-beyond": "Every thread has a number here. A block has eight warps: which places has the shared array?",
        "negative-index": "An index fell below 0. A warp adds the sums of the warps before it: which has the first?",
        "some-unwritten": "Every thread with a number stores its sum, in the row of its block.",
        "one-block": "Only one row was stored. A block's row is the one of its number, cuda.blockIdx.x.",
        **dict.fromkeys(
            ("wrong-value", "precision"),
            "Work out lanes 0 to 3 of the first warp by hand: d is 1, then 2. Who adds what? Then lane 0 of warp 2: it "
            "needs the sums of the warps 0 and 1, of all their 32 lanes.",
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
            "The sums are right, but more goes through shared memory than one number of each warp, or the block waits "
            "more than once. In a warp shuffles hand on the sums, without a barrier; only the sum of each warp is for "
            "the others."
        ),
        causes=(
            (
                lambda rows: {o.name for o in rows} == {"global_load_requests"},
                "The sums are right, but x is loaded more often than once for each element. A thread loads its own "
                "number; the others come by shuffles.",
            ),
        ),
        case=scan_case("exact", 1, 256),
    ),
    hints=(
        "After the round with distance 1 a lane knows of two numbers. After the next one, with distance 2? How many "
        "rounds does it take to 32?",
        "Five rounds: each lane gets the sum of the lane d places before, and adds it if there is such a lane. Then "
        "the last lane of a warp has the warp's sum, which goes to shared memory. After one barrier each thread adds "
        "the sums of the warps before its own.",
        "cuda.shfl_up_sync(0xFFFFFFFF, total, d) stands outside of the `if`, the addition inside: only lanes from "
        "number d on have a partner. d is 1, 2, 4, 8, 16. Warp w adds w numbers from shared memory.",
    ),
)
