"""08-naive: One thread for each element."""

from ...definition import Budget, Section
from ...kinds.kernel import KernelTask
from .shared import INITIAL_NAN, SUSPECTS, case, over, spec, thread_of

EXCHANGED = (
    "The threads of this grid are as many as the elements of `out`, and stand as they do, so no guard is missing. x "
    "counts columns, y counts rows, and `cuda.grid(2)` gives x first: is one of them used as the other? And p runs "
    "over the columns of `a`, which are the rows of `b`."
)

NAIVE = KernelTask(
    id="08-naive",
    section=Section("8.2", "08_matmul_gpu", "Rungs 1 and 2: one thread per element"),
    title="One thread for each element",
    objective="Write a matmul kernel on a two-dimensional grid whose warps read neighbouring elements",
    points=2,
    minutes=15,
    spec=spec,
    atol=1e-5,
    cases=(case("one block, square", 16, 16, 16), case("exact", 32, 8, 48), case("ragged", 20, 13, 28)),
    suspects=SUSPECTS,
    writer=thread_of,
    advice={
        "out-of-bounds": (
            "The grid has more threads than out has elements, in both directions: a guard must look at the row and at "
            "the column. If this thread does have an element, compare each of the two indices with the shape: p runs "
            "over the columns of a, which are the rows of b."
        ),
        "some-unwritten": (
            "Where does this element lie: at the right, at the bottom? x counts blocks and threads along a row of out, "
            "y along a column, and cuda.grid(2) gives x first."
        ),
        "none-beyond": EXCHANGED,
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
    },
    budget=Budget(
        points=1,
        text="at most 4 sectors for each load and each store of a warp, and each element of out stored once",
        require={"sectors_per_request": 4, "global_store_requests": 32 * 64 // 32, "active_lanes": 32},
        over=(
            "The result is right, but elements of `out` are stored more than once: add up in a local variable, and "
            "store at the end."
        ),
        causes=(
            (
                over("sectors_per_request"),
                "The result is right, but neighbouring threads of a warp work on different rows, which lie far apart: "
                "`threadIdx.x` changes fastest within a warp, so let it choose the column.",
            ),
        ),
        case=case("exact", 32, 24, 64),
    ),
    hints=(
        "Which element of out belongs to thread (x, y) of block (bx, by)? Which threads have none?",
        "One thread computes one sum in a local variable, and stores it once at the end. The column comes from x, the "
        "row from y, and the guard checks both.",
        "cuda.grid(2) gives the column first. Under a guard that asks two things: a sum that begins with "
        "np.float32(0), a loop over p, and the store behind the loop.",
    ),
)
