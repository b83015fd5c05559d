"""15-chain: A chain in one kernel, within a budget of bytes."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

BLOCK = (32, 4)
SCALE = 0.5


def _silu(z):
    z = np.asarray(z, np.float64)
    small = np.exp(-np.abs(z))
    return z * np.where(z < 0, small, 1.0) / (1 + small)


def chain_arguments(rows, columns):
    """make(rng) -> x (rows, columns), bias (columns,), residual (rows, columns), scale, out (rows, columns)."""
    return lambda rng: (
        random_values(rng, rows, columns),
        random_values(rng, columns),
        random_values(rng, rows, columns),
        SCALE,
        unwritten(rows, columns),
    )


def chain_case(name, rows, columns, down):
    """A launch of `down` blocks along the rows: fewer threads than rows, as a rule."""
    across = -(-columns // BLOCK[0])
    where = f"{across} x {down} block{'s' if across * down > 1 else ''}"
    return Case(
        f"{name}: {rows} x {columns} in {where}", chain_arguments(rows, columns), grid=(across, down), block=BLOCK
    )


def _chain(x, bias, residual, scale, out):
    return _silu(x.astype(np.float64) + bias) * scale + residual


def _by_rows(x, bias, residual, scale, out):
    """The bias along the rows, where it is long enough."""
    return _silu(x + bias[: len(x), None]) * scale + residual if len(x) <= bias.size else np.zeros(0)


def _with(formula):
    """A suspect's formula of x, bias, residual and scale."""
    return lambda x, bias, residual, scale, out: formula(x, bias, residual, scale)


_ROWS, _COLUMNS, _DOWN = 32, 64, 2
_LEAST = (
    3 * 4 * _ROWS * _COLUMNS + 4 * _COLUMNS * BLOCK[1] * _DOWN
)  # three arrays; the bias once for each row of threads

CHAIN = KernelTask(
    id="15-chain",
    section=Section("15.3", "15_fusion", "The same graph on a GPU"),
    title="A chain in one kernel, within a budget of bytes",
    objective="Fuse bias, SiLU, scale and residual into one kernel that reads each number once",
    points=3,
    minutes=22,
    spec=_chain,
    rtol=2e-5,
    atol=1e-6,
    cases=(
        chain_case("one block, one round", 4, 32, 1),
        chain_case("exact, several rounds", 21, 32, 2),
        chain_case("ragged", 10, 45, 1),
        chain_case("fewer rows than threads", 3, 70, 2),
    ),
    suspects=(
        Suspect(_with(lambda x, b, r, s: _silu(x) * s + r), "The bias is missing."),
        Suspect(_by_rows, "The bias was added along the rows; bias[j] belongs to column j."),
        Suspect(_with(lambda x, b, r, s: _silu(x + b) * s), "The residual is missing."),
        Suspect(_with(lambda x, b, r, s: _silu(x + b) + r), "The scale is missing."),
        Suspect(
            _with(lambda x, b, r, s: (_silu(x + b) + r) * s), "The scale belongs to SiLU alone, not to the residual."
        ),
        Suspect(_with(lambda x, b, r, s: _silu((x + b) * s) + r), "The scale comes after SiLU."),
        Suspect(_with(lambda x, b, r, s: _silu(x + b + r) * s), "The residual is added at the end, not before SiLU."),
        Suspect(
            _with(lambda x, b, r, s: s / (1 + np.exp(-(x.astype(np.float64) + b))) + r),
            "This is the sigmoid of z. SiLU is z times it.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The grid has more threads than the matrix has columns, and may have more than it has rows. The column "
            "must be below out.shape[1]; the loop over rows ends at out.shape[0]."
        ),
        "first-round-only": (
            "Only what the first round reaches is written. The grid has fewer threads along the rows than the matrix "
            "has rows: a thread takes several rows. By how much does the row grow in each round?"
        ),
        "some-unwritten": (
            "Are whole rows missing? The grid has fewer threads along the rows than the matrix has rows: a thread "
            "takes several rows, its own and those a whole grid further on. Or whole columns? Columns go along x, and "
            "end at out.shape[1]."
        ),
        "wrong-value": "Follow one element: z = x + bias, y = z / (1 + exp(-z)), out = y * scale + residual.",
        "race": "Two threads wrote one element. By how much does the row grow in each round? By the number of threads "
        "along y in the grid.",
        "raised-TypeError": "cuda.grid(2) and cuda.gridsize(2) are pairs: along x first, then along y.",
    },
    budget=Budget(
        points=2,
        text="x and residual are read once and out is written once; the bias is read once by each thread",
        require={"bytes_moved": _LEAST},
        over=(
            "The result is right, but more bytes move than must. Does something go to out and come back, or is an "
            "element of x read twice? And the bias of a column: it is the same in every round."
        ),
        case=chain_case("exact", _ROWS, _COLUMNS, _DOWN),
    ),
    hints=(
        "Which number does a thread need in every round, though its row changes? When can it be loaded?",
        "A thread has one column and several rows. Guard the column; then load the bias; then a loop over the rows, in "
        "steps of the number of threads along y. Inside, all values are local variables.",
        "The position in the grid gives column and first row, the size of the grid along y the step. Nothing is stored "
        "but the final value.",
    ),
)
