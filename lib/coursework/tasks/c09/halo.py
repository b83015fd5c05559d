"""09-halo: A tile and its halo in shared memory."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...golf import Golf
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import BORDERS, NOTHING, ONE_TAP, TAPS, names_over, windows

TOLD_FIRST = (
    "race",
    "divergent-barrier",
    "divergent-warp-operation",
    "barrier-after-exit",
    "uninitialised-shared",
    "uninitialised-local",
)

TILE = 16
HALO_BLOCK = (TILE, TILE)


def halo_arguments(height, width):
    """make(rng) -> x (height, width), weight (3, 3), out (height, width)."""
    return lambda rng: (random_values(rng, height, width), random_values(rng, 3, 3), unwritten(height, width))


def halo_case(name, height, width):
    x, y = -(-width // TILE), -(-height // TILE)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    return Case(f"{name}: {height} x {width}, {where}", halo_arguments(height, width), grid=(x, y), block=HALO_BLOCK)


def _of_picture(formula):
    return lambda x, weight, out: formula(x[None], weight[None], 1)


def by_blocks(x, weight, keep):
    """The result if each block knows only some of its halo: keep(r, q) of the 18 x 18 places of its tile, the others
    are 0."""
    out, wide = np.zeros(x.shape), np.pad(x.astype(np.float64), (1, TILE + 1))
    r, q = np.ogrid[: TILE + 2, : TILE + 2]
    for i, j in np.ndindex(-(-x.shape[0] // TILE), -(-x.shape[1] // TILE)):
        i, j = i * TILE, j * TILE
        tile = np.where(keep(r, q), wide[i : i + TILE + 2, j : j + TILE + 2], 0)
        part = windows(tile[None], weight[None], 0)
        out[i : i + TILE, j : j + TILE] = part[: x.shape[0] - i, : x.shape[1] - j]
    return out


def _halo(keep):
    """A suspect's formula: nothing where one block has the whole picture, because then there is no neighbour."""
    return lambda x, weight, out: by_blocks(x, weight, keep) if max(x.shape) > TILE else NOTHING


def _blocks_exchanged(x, weight, out):
    """Each block computes what belongs to the block at the other side of the diagonal."""
    edge = -(-max(x.shape) // TILE) * TILE
    if edge == TILE:
        return NOTHING
    square = np.zeros((edge, edge))
    square[: x.shape[0], : x.shape[1]] = x
    rows, columns = np.indices(x.shape)
    all_of_it = windows(square[None], weight[None], 1)
    return all_of_it[columns // TILE * TILE + rows % TILE, rows // TILE * TILE + columns % TILE]


def _four_taps(x, weight, out):
    kept = np.zeros_like(weight)
    kept[:2, :2] = weight[:2, :2]
    return windows(x[None], kept[None], 1)


_LAST = TILE + 1
HALOS = (
    (
        lambda r, q: (r > 0) & (q > 0) & (r < _LAST) & (q < _LAST),
        "A wrong border, between blocks: the halo is missing. The pixels around a block's own 16 x 16 belong to its "
        "neighbours, and count. Only beyond the picture is 0.",
    ),
    (
        lambda r, q: ((r > 0) & (r < _LAST)) | ((q > 0) & (q < _LAST)),
        "A wrong border, between blocks: the four corners of the halo are missing. The pixel above and to the left of "
        "a block counts for its first window.",
    ),
    (
        lambda r, q: (q > 0) & (q < _LAST),
        "A wrong border, between blocks: the halo to the left and right is missing. Above and below it is there.",
    ),
    (
        lambda r, q: (r > 0) & (r < _LAST),
        "A wrong border, between blocks: the halo above and below is missing. To the left and right it is there.",
    ),
    (
        lambda r, q: (r < _LAST) & (q < _LAST),
        "A wrong border, between blocks: the halo below and to the right is missing. The tile has 18 rows and columns, "
        "two more than the block has threads.",
    ),
    (
        lambda r, q: (r > 0) & (q > 0),
        "A wrong border, between blocks: the halo above and to the left is missing. The tile begins one pixel before "
        "the block's own.",
    ),
    (
        lambda r, q: (r < _LAST) & (r >= 0) & (q >= 0),
        "A wrong border, between blocks: the last row of the halo is missing. The tile has 18 rows.",
    ),
    (
        lambda r, q: (q < _LAST) & (r >= 0),
        "A wrong border, between blocks: the last column of the halo is missing. The tile has 18 columns.",
    ),
)

_GOLF_HEIGHT, _GOLF_WIDTH = 32, 48
_BLOCKS = _GOLF_HEIGHT * _GOLF_WIDTH // TILE**2
_NAIVE = 18 * 8 * _BLOCKS  # requests of one thread per output: 9 weights and 9 pixels, 8 warps in a block

HALO = KernelTask(
    id="09-halo",
    section=Section("9.3", "09_convolution_gpu", "Rung 3: a tile with its halo"),
    title="A tile and its halo in shared memory",
    objective="Write a convolution whose blocks load each pixel once, with the halo that their neighbours own",
    points=3,
    minutes=30,
    spec=lambda x, weight, out: windows(x[None], weight[None], 1),
    atol=1e-5,
    cases=(
        halo_case("one block", 16, 16),
        halo_case("exact", 32, 32),
        halo_case("ragged", 21, 37),
        halo_case("smaller than a block", 5, 3),
    ),
    writer=lambda index, case: ((index[1] // TILE, index[0] // TILE), (index[1] % TILE, index[0] % TILE)),
    suspects=(
        Suspect(
            _blocks_exchanged,
            "Blocks took their pixels from each other's place: blockIdx.y counts rows of blocks, blockIdx.x columns.",
        ),
        Suspect(_four_taps, "The last row and the last column of the kernel are missing: nine taps, 3 x 3."),
        *(Suspect(_halo(keep), cause) for keep, cause in HALOS),
        *(Suspect(_of_picture(formula), cause) for formula, cause in (*BORDERS, *TAPS, *ONE_TAP)),
    ),
    tell_first=TOLD_FIRST,
    advice={
        "race": (
            "One thread stores a place of shared memory, another one uses it, and nothing orders the two. All threads "
            "must have stored before anyone reads: where belongs a barrier? And does each place have one thread that "
            "fills it?"
        ),
        "divergent-barrier": (
            "All threads of a block must reach the barrier, those without an element of out too: they load for the "
            "others. Keep cuda.syncthreads() out of every `if` and every loop whose rounds differ."
        ),
        "barrier-after-exit": (
            "A thread that has come to its end does not reach the barrier. Does one without an element of out return "
            "early? It has pixels to load for others: guard the store in the place of the return. Or does the barrier "
            "stand in a loop that others leave earlier?"
        ),
        "uninitialised-shared": (
            "A place of shared memory is read that nobody has filled. The tile has 18 x 18 = 324 places and the block "
            "256 threads: who fills the other 68? Beyond the picture a place needs a 0, too. And is there a barrier "
            "between storing and reading?"
        ),
        "out-of-bounds": (
            "Three shapes are in play: a tile of 18 x 18, a block of 16 x 16, a picture of any size. Compare this "
            "index with the shape of its own array; a pixel that the picture does not have is a 0 in the tile."
        ),
        "negative-index": (
            "The tile begins one pixel above and to the left of the block's own: at the edge of the picture that is "
            "row or column -1, where there is none. Ask before you load, and put 0 into the tile. Is it the index of "
            "the tile? Its place (0, 0) is the pixel above and to the left of the block, so thread (0, 0) reads from "
            "(0, 0) on; a tile of 16 x 16 has no room for the halo."
        ),
        "some-unwritten": "Which thread has this element? x counts columns and y rows; a block computes 16 x 16 "
        "elements.",
        "wrong-value": (
            "Is the error everywhere, at the rim of the picture, or where two blocks meet? Everywhere: which place of "
            "the tile meets weight[ky, kx]? At a rim: what stands in the outermost places of the tile?"
        ),
    },
    budget=Budget(
        points=2,
        text="a quarter of the load requests of one thread for each output without a tile, and at most two barriers",
        require={"global_load_requests": _NAIVE // 4, "barriers": 2},
        over=(
            "The result is right, but the warps ask global memory more often than they must. A thread for each output, "
            "without a tile, makes 9 requests of pixels and 9 of weights for each warp. Which of the two are still in "
            "your inner loop?"
        ),
        causes=(
            (
                lambda rows: "barriers" in names_over(rows),
                "The result is right, but the block waits more often than it must. When is the tile full? Nobody fills "
                "it again.",
            ),
            (
                lambda rows: any(
                    o.name == "global_load_requests" and o.counted >= 9 * 8 * _BLOCKS + 8 * _BLOCKS for o in rows
                ),
                "The result is right, but something is still loaded from global memory by each warp, tap by tap. "
                "The pixels lie in the tile; the nine weights can be loaded once for a block, too.",
            ),
        ),
        case=halo_case("exact", _GOLF_HEIGHT, _GOLF_WIDTH),
        golf=Golf(
            count="global_load_requests",
            best=49,
            require={"atomics": 0},
            lead="A request brings up to 32 numbers. How many of your requests bring fewer, and which pixels are "
            "loaded by several blocks?",
        ),
    ),
    hints=(
        "A block of 16 x 16 outputs with a kernel of 3 x 3: how many pixels does it need? How many threads are there "
        "to load them?",
        "Number the 324 places of the tile, and the 256 threads. Each thread takes the places with its own number, and "
        "256 further on. From the number of a place follow its row and its column in the tile, and from those the "
        "pixel.",
        "A thread goes on in steps of 256 as long as there are places. // and % by the width of the tile give row and "
        "column; the tile's corner is the pixel one above and one to the left of the block's own first. A barrier; "
        "then nine products, of which the thread's own place in the tile is the first; the guard only around the "
        "store. The weights fit into shared memory, too.",
    ),
)
