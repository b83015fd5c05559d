"""16-rows: A sub-group for each row."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.opencl import OpenCLTask
from .shared import FIRST

SUB, LOCAL = 32, 64


def row_sums(x, out, rows, columns):
    return x.astype(np.float64).sum(axis=1)


def rows_case(name, rows, columns):
    groups = -(-rows * SUB // LOCAL)
    return Case(
        f"{name}: {rows} x {columns}",
        lambda rng: (random_values(rng, rows, columns), unwritten(rows), rows, columns),
        grid=groups,
        block=LOCAL,
    )


_ALL = (
    "sub_group_reduce_add is for all work-items of the sub-group. Those that have nothing to add bring a 0: it stands "
    "behind the loop, not inside it or under a condition that only some fulfil. And all of a sub-group have one row, "
    "by the sub-group's number."
)

ROWS = OpenCLTask(
    id="16-rows",
    section=Section("16", "16_opencl", "Term by term"),
    kernel="rows",
    tell_first=FIRST,
    title="A sub-group for each row",
    objective="Reduce with sub_group_reduce_add: no local memory, no barrier",
    points=2,
    minutes=15,
    spec=row_sums,
    out=1,
    rtol=1e-5,
    atol=1e-5,
    writer=lambda index, case: (int(index[0]) * SUB // LOCAL, int(index[0]) * SUB % LOCAL),
    cases=(
        rows_case("one work-group", 2, 32),
        rows_case("long rows", 4, 100),
        rows_case("an odd number of rows", 3, 64),
        rows_case("short rows", 5, 7),
    ),
    suspects=(
        Suspect(
            lambda x, out, r, c: x[:, :SUB].sum(axis=1, dtype=np.float64),
            "Only the first 32 numbers of a row were added. A sub-group goes on, in steps of its size.",
        ),
        Suspect(
            lambda x, out, r, c: x[:, 0::SUB].sum(axis=1, dtype=np.float64),
            "This is the sum of one work-item, not of the sub-group.",
        ),
        Suspect(
            lambda x, out, r, c: row_sums(x.reshape(c, r).T, out, r, c),
            "x was read as if its columns lay one after the other. Rows do: element [row, column] is at row * columns "
            "+ column.",
        ),
        Suspect(
            lambda x, out, r, c: row_sums(x, out, r, c) * SUB,
            "Every work-item added the whole row, so that it counts 32 times.",
        ),
    ),
    advice={
        "out-of-bounds": "The last work-group may have a sub-group without a row, and a row need not have a multiple "
        "of 32 numbers.",
        "inactive-lane-read": _ALL,
        "divergent-warp-operation": _ALL,
        "race": "Several work-items store to one element: one of each sub-group is enough.",
        "two-writers": "A row belongs to a sub-group: its number is that of the sub-group in the whole NDRange.",
        "some-unwritten": "Some rows have no sub-group. There are get_num_sub_groups() in each work-group.",
    },
    budget=Budget(
        points=1,
        text="no barrier and no local memory, 4 sectors for each load of 32 neighbours",
        require={"barriers": 0, "shared_bytes": 0, "sectors_per_request": 4},
        over=(
            "The result is right. The 32 work-items of a sub-group shall load 32 numbers that lie side by side, and "
            "what they have shall meet in one call, without local memory."
        ),
        case=rows_case("exact", 4, 64),
    ),
    hints=(
        "Which row has work-item 40 of work-group 1, if each sub-group of 32 has a row and a work-group has 64 "
        "work-items?",
        "The number of the row: the work-groups before this one, times the sub-groups in each, plus the own "
        "sub-group's number. Each work-item adds every 32nd element of it into a private sum; behind the loop the "
        "sub-group reduces.",
        "All of a sub-group have the same row, so `if (row < rows)` may stand around everything. The loop's end is "
        "columns; the store is for get_sub_group_local_id() == 0.",
    ),
)
