"""16-race: What Oclgrind found."""

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.data import claimed
from ...kinds.opencl import OpenCLTask
from ...outcome import UNSOLVED, Failed, Failure
from .shared import FIRST

LOCAL, ROUNDS = 64, 3

#: as it is handed out: the first line is line 1 of Oclgrind's report
SMOOTH = """\
__kernel void smooth(__global const float *x, __global float *out)
{
    __local float t[64];
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < 3; round++) {
        float left = t[max(l - 1, 0)];
        float right = t[min(l + 1, 63)];
        float middle = t[l];
        t[l] = 0.25f * left + 0.5f * middle + 0.25f * right;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = t[l];
}
"""


def smoothed(x, out, rounds=ROUNDS):
    t = x.astype(np.float64).reshape(-1, LOCAL)
    for _ in range(rounds):
        padded = np.pad(t, ((0, 0), (1, 1)), mode="edge")
        t = 0.25 * padded[:, :-2] + 0.5 * t + 0.25 * padded[:, 2:]
    return t.ravel()


def race_case(groups):
    n = groups * LOCAL
    return Case(f"{n} numbers", lambda rng: (random_values(rng, n), unwritten(n)), grid=groups, block=LOCAL)


@functools.cache
def places():
    """(the last line that loads what another work-item stores, the line of that store), as the x-ray finds them."""
    from opencl.read import Program

    x = np.ones(LOCAL, np.float32)
    report = Program(SMOOTH).xray("smooth", LOCAL, LOCAL)(x, x.copy())
    lines = sorted({line for finding in report.findings if finding.kind == "race" for line in finding.lines})
    return lines[-2], lines[-1]


@dataclass(frozen=True, kw_only=True)
class RaceTask(OpenCLTask):
    """The line is asked for first, so that barriers are not put here and there until it is green."""

    claims: ClassVar[tuple] = ("line",)

    def failures(self):
        return (*super().failures(), "line")

    def examine(self, answer, cases, seed):
        line = claimed(answer, "line")
        last, store = places()
        if line is None or line is ...:
            raise Failed(Failure("unanswered", "Not answered yet: which line?"), UNSOLVED)
        if type(line) is not int or not last <= line < store:
            raise Failed(
                Failure(
                    "line",
                    "A barrier behind this line does not help",
                    (("got", repr(line)[:80]),),
                    _where(line, last, store),
                )
            )
        return super().examine(answer, cases, seed)


def _where(line, last, store):
    if type(line) is not int:
        return "A line is a whole number: the kernel's first line is 1, as in the report."
    if line == store:
        return (
            "This is the line of the store, and a barrier stands behind it. Who else uses t in this round, and where?"
        )
    if line > store:
        return (
            "All stores of this round are ordered before the next round's loads: there is a barrier. Who loads while "
            "others store?"
        )
    if line < last - 2:
        return (
            "Before the loop all is in order: the first barrier does that. The report names two lines inside the loop."
        )
    return (
        "Behind this line a work-item still loads a neighbour's number, in the line below. Behind which load is the "
        "last one done?"
    )


RACE = RaceTask(
    id="16-race",
    section=Section("16", "16_opencl", "Local memory and a barrier"),
    kernel="smooth",
    title="What Oclgrind found",
    objective="Read a report of a race, name the line behind which a barrier is missing, and mend the kernel",
    points=2,
    minutes=12,
    spec=lambda x, out: smoothed(x, out),
    out=1,
    cases=(race_case(1), race_case(3)),
    tell_first=FIRST,
    suspects=(
        Suspect(lambda x, out: smoothed(x, out, 1), "One round instead of three."),
        Suspect(lambda x, out: smoothed(x, out, 2), "Two rounds instead of three."),
        Suspect(lambda x, out: x, "Nothing was smoothed."),
    ),
    kept=Budget(
        points=0,
        text="7 barriers, as many loads as before",
        require={"barriers": 7, "atomics": 0, "shared_load_requests": 20},
        over="Start again from the kernel as it was handed out, and add one line.",
        case=race_case(1),
    ),
    advice={
        "race": "The two lines that are named: which of them comes first in a round? What must all work-items have "
        "done before the other?",
        "divergent-barrier": "A barrier is for all work-items of the work-group: it stands under no `if`.",
    },
    hints=(
        "The report names a load and a store of t. In which order does one work-item come to them? And two work-items?",
        "In a round each work-item loads three numbers, two of them of neighbours, and then stores its own. A "
        "neighbour may be slower.",
        "All loads of a round, by all work-items, come before the first store: a barrier behind the last line that "
        "loads.",
    ),
)
