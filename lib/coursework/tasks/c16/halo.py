"""16-halo: A convolution with a halo."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.opencl import OpenCLTask
from .shared import FIRST, by_place, rounded

TILE = 8


def blurred(x, w, out, rows, columns, edge="zero", flipped=False):
    """3 x 3, cross-correlation, same size."""
    w = np.asarray(w, np.float64).reshape(3, 3)
    w = w[::-1, ::-1] if flipped else w
    padded = np.pad(x.astype(np.float64), 1, **({"mode": "edge"} if edge == "copy" else {}))
    return sum(w[i, j] * padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3))


def halo_arguments(rows, columns):
    """make(rng) -> x (rows, columns), w (9,), out (rows, columns), rows, columns."""
    return lambda rng: (
        random_values(rng, rows, columns),
        random_values(rng, 9),
        unwritten(rows, columns),
        rows,
        columns,
    )


def halo_case(name, rows, columns):
    groups = rounded((columns, rows), (TILE, TILE))
    return Case(f"{name}: {rows} x {columns}", halo_arguments(rows, columns), grid=groups, block=(TILE, TILE))


def _zero_in_tiles(x, w, out, rows, columns):
    """Each tile by itself, with zeros around it: the halo is missing."""
    made = np.zeros((rows, columns))
    for r in range(0, rows, TILE):
        for c in range(0, columns, TILE):
            part = x[r : r + TILE, c : c + TILE]
            made[r : r + TILE, c : c + TILE] = blurred(part, w, None, *part.shape)
    return made


HALO = OpenCLTask(
    id="16-halo",
    section=Section("16", "16_opencl", "Local memory and a barrier"),
    kernel="blur",
    tell_first=FIRST,
    title="A convolution with a halo",
    objective="Load a tile and its halo into local memory, so that each number crosses from global memory once for a "
    "work-group",
    points=3,
    minutes=25,
    spec=lambda x, w, out, rows, columns: blurred(x, w, out, rows, columns),
    out=2,
    writer=by_place,
    rtol=1e-5,
    atol=1e-5,
    cases=(
        halo_case("one work-group", 8, 8),
        halo_case("exact", 8, 16),
        halo_case("ragged", 9, 13),
        halo_case("one row", 1, 10),
    ),
    suspects=(
        Suspect(
            lambda *a: blurred(*a, edge="copy"), "Beyond the edge of the image are zeros, not the numbers at the edge."
        ),
        Suspect(
            lambda *a: blurred(*a, flipped=True),
            "The filter was turned round: w[0] belongs to the neighbour above and left.",
        ),
        Suspect(
            _zero_in_tiles,
            "At the edges of a tile the neighbours are missing: they belong to other work-groups' tiles.",
        ),
        Suspect(
            lambda x, w, out, r, c: blurred(x, np.reshape(w, (3, 3)).T, out, r, c),
            "Rows and columns of the filter are exchanged.",
        ),
        Suspect(lambda *a: blurred(*a) / 9, "The sum was divided: the filter's numbers are the weights already."),
    ),
    advice={
        "out-of-bounds": (
            "A neighbour of an element at the edge lies outside of the image, and of the memory. There the number is "
            "0, and nothing is loaded. And the tile: how many rows and columns has it with its halo?"
        ),
        "negative-index": "Left of the first column and above the first row are zeros: guard the load.",
        "race": "A barrier between the loading of the tile and the sums. Do all work-items reach it?",
        "barrier-after-exit": "A work-item without an element of its own still loads for the others, and comes to the "
        "barrier.",
        "uninitialised-shared": (
            "A part of the tile was not loaded: it has 10 x 10 numbers, and there are 64 work-items. Beyond the image "
            "a 0 is stored."
        ),
    },
    budget=Budget(
        points=2,
        text="each work-group loads its 10 x 10 numbers of x once: at most 7,000 bytes move for 16 x 16, the filter's "
        "included",
        require={"bytes_moved": 7000},
        over=(
            "The result is right, and global memory is asked too often. Is each number of the tile loaded once, by one "
            "work-item? Is x read again after the barrier?"
        ),
        case=halo_case("exact", 16, 16),
    ),
    hints=(
        "64 work-items of a work-group need which numbers of x? How many are that, and how often is each of them used?",
        "Number the 100 places of the tile. Work-item k loads places k and k + 64, where there is one. Place p is row "
        "p / 10, column p % 10 of the tile; in the image that is one row and one column less than the tile's corner.",
        "for (int p = ly * 8 + lx; p < 100; p += 64): row and column in the image, a 0 where they are outside. Then "
        "the barrier, then nine products. Only the store is guarded.",
    ),
)
