"""16-sums: Sums of work-groups, in local memory."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.opencl import OpenCLTask
from .shared import FIRST

LOCAL = 64


def group_sums(x, out, n):
    padded = np.zeros(out.size * LOCAL)
    padded[:n] = x
    return padded.reshape(-1, LOCAL).sum(axis=1)


def sums_case(name, n):
    groups = -(-n // LOCAL)
    return Case(
        f"{name}: {n} numbers", lambda rng: (random_values(rng, n), unwritten(groups), n), grid=groups, block=LOCAL
    )


SUMS = OpenCLTask(
    id="16-sums",
    section=Section("16", "16_opencl", "Local memory and a barrier"),
    kernel="sums",
    tell_first=FIRST,
    title="Sums of work-groups, in local memory",
    objective="Reduce in local memory with barriers that all work-items reach",
    points=3,
    minutes=18,
    spec=group_sums,
    out=1,
    rtol=1e-5,
    atol=1e-5,
    writer=lambda index, case: (int(index[0]), 0),
    cases=(
        sums_case("one work-group", 64),
        sums_case("three", 192),
        sums_case("ragged", 100),
        sums_case("one number", 1),
    ),
    suspects=(
        Suspect(
            lambda x, out, n: [x[i * LOCAL] for i in range(out.size)],
            "Only the first number of each work-group arrived.",
        ),
        Suspect(
            lambda x, out, n: [x[i * LOCAL : i * LOCAL + 32].sum(dtype=float) for i in range(out.size)],
            "The second half of a work-group is missing. With which distance does the tree begin?",
        ),
        Suspect(
            lambda x, out, n: [x[i * LOCAL : (i + 1) * LOCAL : 2].sum(dtype=float) for i in range(out.size)],
            "The last step is missing: two sums are left, and one of them is stored.",
        ),
        Suspect(lambda x, out, n: group_sums(x, out, n) / LOCAL, "These are means."),
    ),
    advice={
        "race": (
            "Between a store to local memory and the load of another work-item stands a barrier; in a tree that is one "
            "for each step. Which of the two named lines comes first, and what orders them?"
        ),
        "barrier-after-exit": (
            "All work-items come to every barrier, so it stands outside of each `if`. A work-item without a number "
            "brings one that changes no sum."
        ),
        "divergent-barrier": "The barrier stands where only some work-items come. Put only the addition under `if`.",
        "uninitialised-shared": "A place in local memory was read that nobody wrote. What does a work-item without a "
        "number put there?",
        "out-of-bounds": "In the last work-group some work-items have no number; in a tree the partner may lie beyond "
        "the end. And out has one number for each work-group, at its number: get_group_id(0).",
    },
    budget=Budget(
        points=1,
        text="7 barriers for 64 work-items, and no bank conflict in local memory",
        require={"barriers": 7, "bank_ways": 1},
        over=(
            "The result is right. A tree over 64 numbers has 6 steps, and one barrier comes before the first. Where "
            "two work-items of a sub-group need the same bank, they take turns: work-items that are neighbours shall "
            "use neighbours."
        ),
        case=sums_case("two work-groups", 128),
    ),
    hints=(
        "64 numbers stand in local memory. In one step 32 work-items can make 32 sums of them. And in the next?",
        "Each work-item stores its number, or 0 beyond the end; a barrier; then distances 32, 16, 8, 4, 2, 1: who is "
        "below the distance adds the number that lies so far away. After each step a barrier, outside of the `if`.",
        "A loop halves the distance, from 32 down to 1. Those below the distance add; all pass the barrier, so it "
        "stands behind the `if`. At the end work-item 0 stores.",
    ),
)
