"""08-bug: Repair two bugs that most inputs do not show."""

import numpy as np

from ...definition import Budget, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import SUSPECTS, TILE_ADVICE, TOLD_FIRST, case, spec, thread_of, tiled_loads

BUG = KernelTask(
    id="08-bug",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Repair two bugs that most inputs do not show",
    objective="Debug a tiled kernel with the x-ray's findings",
    points=3,
    minutes=18,
    spec=spec,
    atol=1e-5,
    cases=(case("one block, one tile", 16, 16, 16), case("exact", 16, 48, 16), case("ragged", 20, 19, 28)),
    suspects=(
        *SUSPECTS,
        Suspect(
            lambda a, b, out: (
                np.where(np.arange(out.shape[1]) < len(out), spec(a, b, out), 0)
                if len(out) < out.shape[1]
                else np.zeros(0)
            ),
            "Columns from m on are 0: b was left out where j is m or more. j is a column, and ends at n.",
        ),
    ),
    writer=thread_of,
    tell_first=TOLD_FIRST,
    advice=TILE_ADVICE
    | {
        "race": (
            "Between these two lines there is no barrier, so a fast thread stores the next tile while a slow one still "
            "reads this one. Between which two statements must all threads wait for each other?"
        ),
        "uninitialised-shared": (
            "This thread reads an element of a tile that nobody stored, or that a former tile left behind. What should "
            "stand there, where a or b has ended, so that it adds nothing to the sum?"
        ),
        "wrong-value": (
            "k is no multiple of 16 in this case: the last tile is not full. What stands in the rest of it? And does "
            "each guard ask for the two indices that its own load uses?"
        ),
    },
    kept=Budget(
        points=0,
        text="the load requests of tiles in shared memory",
        require={"global_load_requests": tiled_loads(16, 48, 16)},
        over="The colleague's tiles are gone: more is loaded from global memory than the broken kernel did. Keep them.",
        case=case("exact", 16, 48, 16),
    ),
    hints=(
        "Run the check on the kernel as it is: the first bug is a pair of lines that the message names. What could a "
        "fast thread do while a slow one is still in the loop over p?",
        "The second shows only where a tile reaches beyond the matrix. An `if` without `else` leaves in the tile what "
        "was there before: nothing at first, then the tile before it.",
        "No tile may be filled before all have read the one before: where does the round end? And a thread whose "
        "element lies outside has something to store, too: what adds nothing to a sum?",
    ),
)
