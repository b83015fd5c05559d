"""16-tiled: A tiled product, within a budget of bytes."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.opencl import OpenCLTask
from .shared import FIRST, by_place, rounded

TILE = 8


def product(a, b, out, m, n, k):
    return a.astype(np.float64) @ b


def tiled_case(name, m, n, k):
    return Case(
        f"{name}: ({m} x {k}) @ ({k} x {n})",
        lambda rng: (random_values(rng, m, k), random_values(rng, k, n), unwritten(m, n), m, n, k),
        grid=rounded((n, m), (TILE, TILE)),
        block=(TILE, TILE),
    )


_M = _N = _K = 16
_LEAST = 4 * (2 * _M * _N * _K // TILE + _M * _N)

TILED = OpenCLTask(
    id="16-tiled",
    section=Section("16", "16_opencl", "Local memory and a barrier"),
    kernel="matmul",
    tell_first=FIRST,
    title="A tiled product, within a budget of bytes",
    objective="Write a tiled matrix product in OpenCL C that moves no more bytes than its tiles need",
    points=3,
    minutes=25,
    spec=product,
    out=2,
    writer=by_place,
    rtol=1e-5,
    atol=1e-5,
    cases=(
        tiled_case("one tile", 8, 8, 8),
        tiled_case("two steps", 8, 16, 16),
        tiled_case("ragged", 9, 13, 11),
        tiled_case("one row", 1, 9, 5),
    ),
    suspects=(
        Suspect(
            lambda a, b, out, m, n, k: a[:, : k // TILE * TILE].astype(np.float64) @ b[: k // TILE * TILE],
            "The last, ragged step along k is missing: the number of steps is rounded up.",
        ),
        Suspect(
            lambda a, b, out, m, n, k: a[:, :TILE].astype(np.float64) @ b[:TILE],
            "Only the first 8 steps along k were added.",
        ),
        Suspect(
            lambda a, b, out, m, n, k: a.astype(np.float64) @ b.T if k == n else np.zeros(0),
            "b was read turned: this is a times the transpose of b. In the sum the row of b changes, and the column is "
            "the work-item's.",
        ),
        Suspect(lambda a, b, out, m, n, k: np.zeros((m, n)), "Nothing was added."),
    ),
    advice={
        "out-of-bounds": "At the edges a tile hangs over: beyond m, n or k a 0 goes into local memory, and nothing is "
        "loaded.",
        "race": (
            "Two barriers in each step: one when the tiles are loaded, one when they were used. Which of them orders "
            "the two lines that are named?"
        ),
        "barrier-after-exit": "A work-item without an element of the result loads for the others. Guard the loads and "
        "the store, not the barrier.",
        "divergent-barrier": "The barrier stands where only some come. All work-items have the same number of steps "
        "along k.",
        "uninitialised-shared": "A place of a tile was used that nobody wrote: beyond the edge a 0 belongs there.",
    },
    budget=Budget(
        points=2,
        text="each work-group loads its tiles once: 2 m n k / 8 numbers, and m n are stored",
        require={"bytes_moved": _LEAST},
        over=(
            "The result is right, and more bytes move than the tiles need. Is a or b read inside the innermost loop? "
            "Is the sum kept in a variable, or does it go to out in every step?"
        ),
        case=tiled_case("exact", _M, _N, _K),
    ),
    hints=(
        "A work-group has 8 x 8 elements of the result. Which 8 rows of a and which 8 columns of b does it need, and "
        "how often is each number used?",
        "Steps of 8 along k: each work-item loads one number of a and one of b into local memory; a barrier; 8 "
        "products from local memory; a barrier. The sum is a private variable.",
        "Of a it is the own row and a column of this step, of b a row of this step and the own column; what lies "
        "beyond the edge is zero. The loop over steps is the same for all work-items, because of its barriers.",
    ),
)
