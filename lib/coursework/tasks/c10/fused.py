"""10-fused: All of a GRU's gates in one kernel."""

import itertools

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import NOTHING, sigmoid

CELL_BLOCK = 32


def gru_case(name, batch, hidden, scale=1.0):
    """of_x and of_h (batch, 3 * hidden), h and out (batch, hidden)."""

    def make(rng):
        sums = (np.float32(scale) * random_values(rng, batch, 3 * hidden) for _ in range(2))
        return *sums, random_values(rng, batch, hidden), unwritten(batch, hidden)

    blocks = -(-batch * hidden // CELL_BLOCK)
    said = f"{name}: {batch} x {hidden}, {blocks} block{'s' if blocks > 1 else ''}"
    return Case(said, make, grid=blocks, block=CELL_BLOCK)


def gru_cell(
    of_x,
    of_h,
    h,
    order="rzn",
    neighbours=False,
    fresh=lambda x, y, r: np.tanh(x + r * y),
    mix=lambda z, n, h: (1 - z) * n + z * h,
    gate=lambda x, y: sigmoid(x + y),
):
    """The new h; the options are mistakes."""
    of_x, of_h, h = (array.astype(np.float64) for array in (of_x, of_h, h))
    hidden = h.shape[1]

    def part(sums, name):
        k = order.index(name)
        return sums[:, k::3] if neighbours else sums[:, k * hidden : (k + 1) * hidden]

    r, z = (gate(part(of_x, name), part(of_h, name)) for name in "rz")
    return mix(z, fresh(part(of_x, "n"), part(of_h, "n"), r), h)


def _gru(**mistake):
    return lambda of_x, of_h, h, out: gru_cell(of_x, of_h, h, **mistake)


def _of_columns(gate, columns):
    """As if one gate had been taken from columns(j, hidden), where those are in the row."""

    def formula(of_x, of_h, h, out):
        j, hidden, k = np.arange(h.shape[1]), h.shape[1], "rzn".index(gate)
        taken = columns(j, hidden)
        if taken.max() >= 3 * hidden or np.array_equal(taken, k * hidden + j):
            return NOTHING
        changed = [sums.copy() for sums in (of_x, of_h)]
        for new, sums in zip(changed, (of_x, of_h), strict=True):
            new[:, k * hidden : (k + 1) * hidden] = sums[:, taken]
        return gru_cell(*changed, h)

    return formula


_COLUMNS = (
    (lambda j, hidden: 2 * j, "column 2 * j"),
    (lambda j, hidden: 3 * j, "column 3 * j"),
    (lambda j, hidden: 3 * j + 1, "column 3 * j + 1"),
    (lambda j, hidden: 3 * j + 2, "column 3 * j + 2"),
    (lambda j, hidden: j + 1, "column j + 1"),
    (lambda j, hidden: j + 2, "column j + 2"),
    (lambda j, hidden: j, "column j"),
    (lambda j, hidden: hidden + j, "column hidden + j"),
    (lambda j, hidden: 2 * hidden + j, "column 2 * hidden + j"),
)
_STANDS = {"r": "j", "z": "hidden + j", "n": "2 * hidden + j"}


_CELL_WARPS = 8 * 32 // CELL_BLOCK
FUSED = KernelTask(
    id="10-fused",
    section=Section("10.4", "10_recurrent_gpu", "Rung 2: a fused cell"),
    title="All of a GRU's gates in one kernel",
    objective="Write the pointwise part of a GRU as one kernel that reads each number once, with coalesced accesses",
    points=2,
    minutes=15,
    spec=lambda of_x, of_h, h, out: gru_cell(of_x, of_h, h),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        gru_case("one block", 4, 8),
        gru_case("ragged", 3, 13),
        gru_case("one unit", 37, 1),
        gru_case("exact, large numbers", 4, 16, 60.0),
    ),
    suspects=(
        *(
            Suspect(
                _gru(order=order),
                f"The gates stand in PyTorch's order: r, z, n. Here they were taken in the order {', '.join(order)}.",
            )
            for order in map("".join, itertools.permutations("rzn"))
            if order != "rzn"
        ),
        Suspect(
            _gru(neighbours=True),
            "Neighbours were taken for the three gates of a unit. Unit j has columns j, hidden + j and 2 * hidden + j.",
        ),
        *(
            Suspect(
                _of_columns(gate, columns),
                f"{gate} was taken from {said}. For unit j it stands in column {_STANDS[gate]}.",
            )
            for gate in "rzn"
            for columns, said in _COLUMNS
            if said != f"column {_STANDS[gate]}"
        ),
        Suspect(
            _gru(mix=lambda z, n, h: (1 - z) * h + z * n),
            "z is turned round: in PyTorch's GRU z says how much of the old h stays.",
        ),
        Suspect(
            _gru(fresh=lambda x, y, r: np.tanh(r * (x + y))),
            "r was multiplied with both parts of n. It lets the state's part in, more or less; the input's part always "
            "counts.",
        ),
        Suspect(
            _gru(fresh=lambda x, y, r: np.tanh(r * x + y)),
            "r was multiplied with the input's part of n. It belongs to the part of the state, of_h.",
        ),
        Suspect(_gru(fresh=lambda x, y, r: np.tanh(x + y)), "r is missing: it is multiplied with of_h's part of n."),
        Suspect(_gru(fresh=lambda x, y, r: np.tanh(x)), "n lacks the part of the state: r times of_h's columns of n."),
        Suspect(_gru(fresh=lambda x, y, r: sigmoid(x + r * y)), "n went through a sigmoid. It goes through tanh."),
        Suspect(_gru(fresh=lambda x, y, r: x + r * y), "n was not squashed: it goes through tanh."),
        Suspect(_gru(gate=lambda x, y: np.tanh(x + y)), "r and z went through tanh. They are gates: a sigmoid."),
        Suspect(_gru(gate=lambda x, y: sigmoid(-x - y)), "The sigmoid is turned round: the exponent is -x."),
        Suspect(_gru(gate=lambda x, y: sigmoid(x)), "r and z lack the part of the state, of_h."),
        Suspect(_gru(gate=lambda x, y: sigmoid(y)), "r and z lack the part of the input, of_x."),
        Suspect(_gru(mix=lambda z, n, h: n + z * h), "n counts in full. What stays of h, z, is taken from n: 1 - z."),
        Suspect(_gru(mix=lambda z, n, h: (1 - z) * n), "The old h is missing: z times h."),
        Suspect(
            lambda of_x, of_h, h, out: (
                gru_cell(of_x.T.reshape(of_x.shape), of_h.T.reshape(of_h.shape), h) if len(h) > 1 else NOTHING
            ),
            "Rows and columns are exchanged: the first index is the row of the batch.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The last block may have threads beyond the last unit: guard them. Row and unit are i // hidden and i % "
            "hidden, where hidden is the width of h; of_x and of_h are three times as wide."
        ),
        "none-beyond": (
            "Each thread has a unit here. Row and unit are i // hidden and i % hidden, where hidden is the width of h "
            "and not that of of_x, which is three times as wide."
        ),
        "wrong-value": (
            "Work out the first wrong number: which row and unit is it? Its six sums stand in columns j, hidden + j "
            "and 2 * hidden + j of of_x and of_h."
        ),
        "one-block": "Only block 0 worked. The number of a thread in the grid is cuda.grid(1).",
    },
    budget=Budget(
        points=1,
        text="each number loaded once, by accesses that are coalesced: 7 load requests and 28 sectors of loads for a "
        "warp, 1 store request and 4 sectors",
        require={
            "global_load_requests": 7 * _CELL_WARPS,
            "global_load_sectors": 28 * _CELL_WARPS,
            "global_store_requests": _CELL_WARPS,
            "global_store_sectors": 4 * _CELL_WARPS,
        },
        over="The result is right, but something is loaded or stored more than once. Six sums and the old h: load each "
        "into a name, and use the name.",
        causes=(
            (
                lambda rows: {o.name for o in rows} <= {"global_load_sectors", "global_store_sectors"},
                "The result is right, but the lanes of a warp lie far apart in memory. Neighbouring threads should "
                "have neighbouring units of one row: which of // and % gives the unit?",
            ),
        ),
        case=gru_case("exact", 8, 32),
    ),
    hints=(
        "A row of of_x has three numbers for each unit. Where do those of unit 5 stand if there are 16 units? And "
        "which of the six sums does r change?",
        "Number of the thread, a guard for the size of out, then row and unit by // and %. Two gates with a sigmoid, "
        "one value with tanh, and a mixture of it and the old h.",
        "hidden is h.shape[1]. Columns j and hidden + j make r and z, from of_x and of_h added. For n only of_h's "
        "number is multiplied, by r, before it is added. Then z of the old and 1 - z of the new.",
    ),
)
