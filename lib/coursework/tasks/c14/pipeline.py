"""14-pipeline: Be the scheduler of a pipeline."""

import functools
from typing import ClassVar

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask
from .shared import CUTTING

STAGES, BATCHES, FORWARD, BACKWARD = 3, "ABCD", 1, 2  # ms
LEAST = (len(BATCHES) + STAGES - 1) * (FORWARD + BACKWARD)  # the busiest stage's work, and the way there and back
FITS = tuple(STAGES - stage for stage in range(STAGES))  # activations that fit in the memory of a stage
TOP, EACH = 2000, 100  # of a score: one activation too many counts more than any time


def timeline(issued):
    """[[(name, forward?, begin, end), ...] of each stage] of work in the order in which it was issued; ms."""
    stages, ready = [[] for _ in range(STAGES)], {}
    for name, forward, stage in issued:
        begin = max(stages[stage][-1][3] if stages[stage] else 0, ready.get(name, 0))
        ready[name] = begin + (FORWARD if forward else BACKWARD)
        stages[stage].append((name, forward, begin, ready[name]))
    return stages


def held(lane):
    """The most activations that a stage keeps at once: from the begin of a forward pass to the end of its backward
    pass."""
    now = most = 0
    for _, forward, _, _ in lane:
        now += 1 if forward else 0
        most = max(most, now)
        now -= 0 if forward else 1
    return most


def _came_to(played):
    """(ms at the end, activations that do not fit)."""
    stages = timeline(_issued(played))
    return max(lane[-1][3] for lane in stages), sum(
        max(0, held(lane) - fits) for lane, fits in zip(stages, FITS, strict=True)
    )


def _issued(played):
    return [(text[0], text[1] == "f", int(text[2])) for text in played.state["issued"]]


def score(played):
    end, over = _came_to(played)
    return TOP - (end + EACH * over)


def in_words(score):
    """A score in words."""
    over, end = divmod(TOP - score, EACH)
    many = f", with {over} activation{'s' if over > 1 else ''} more than fit" if over else ""
    return f"All has ended after {end} ms{many}"


def bars(played):
    """A bar for each stage, a letter for each ms, small for a backward pass; a dot where it waits."""
    rows = []
    for stage, lane in enumerate(timeline(_issued(played))):
        bar = ""
        for name, forward, begin, end in lane:
            bar = bar.ljust(begin, ".") + (name if forward else name.lower()) * (end - begin)
        rows.append(f"stage {stage} `{bar}` keeps {held(lane)} of {FITS[stage]}")
    return "; ".join(rows)


class PipelineTask(ScheduleTask):
    """No schedule ends before LEAST: so there is nothing to search for."""

    longest: ClassVar[int] = 24
    proof: ClassVar[str] = (
        f"a stage works for {len(BATCHES) * (FORWARD + BACKWARD)} ms, and the first and the last microbatch are "
        f"{(STAGES - 1) * (FORWARD + BACKWARD)} ms on their way to it and from it."
    )

    @functools.cached_property
    def most(self):
        return TOP - LEAST, one_forward_one_backward(), 1, True


def one_forward_one_backward():
    """Steps in which stage k does STAGES - 1 - k forward passes, and then one forward, one backward, in turns."""
    rows = []
    for stage in range(STAGES):
        ahead = min(STAGES - 1 - stage, len(BATCHES))
        row = [(name, stage) for name in BATCHES[:ahead]]
        for k, name in enumerate(BATCHES):
            row += [(forward, stage) for forward in BATCHES[ahead + k : ahead + k + 1]]
            row.append((name, 2 * STAGES - 1 - stage))
        rows.append(row)
    made, steps = dict.fromkeys(BATCHES, 0), []
    while any(rows):
        row = next(row for row in rows if row and made[row[0][0]] == row[0][1])
        name, _ = row.pop(0)
        made[name] += 1
        steps.append(name)
    return tuple(steps)


PIPELINE = PipelineTask(
    id="14-pipeline",
    section=Section("14.3", CUTTING, "The depth"),
    title="Be the scheduler of a pipeline",
    objective="Choose the order of the passes of a pipeline so that its bubble is smallest and its activations fit",
    points=3,
    minutes=20,
    program=Program(
        """
        issued = []


        def microbatch(name):
            issued.append(name + "f0")
            issued.append(name + "f1")
            issued.append(name + "f2")
            issued.append(name + "b2")
            issued.append(name + "b1")
            issued.append(name + "b0")
        """,
        **{name: ("microbatch", name) for name in BATCHES},
    ),
    who="microbatch",
    score=score,
    shown={worth: in_words(worth) for worth in range(TOP + 1)},
    at_the_end=bars,
    steps_shown=False,
    more="less is possible",
    slips={
        TOP
        - 2
        * LEAST: "Nothing overlaps: a microbatch begins when the one before it has ended. What could stage 0 do while "
        "stage 1 works?",
        TOP
        - LEAST
        - 6
        * EACH: "All forward passes come before all backward passes, so that each stage keeps four activations. How "
        "soon can stage 2 do the backward pass of A, and what does that free?",
    },
    otherwise="Look at the bars. Where a stage waits (a dot), which pass could it do there, if it had been issued "
    "earlier? And where a stage keeps more than fits, which backward pass should come before the next forward pass?",
    advice={
        "unknown-thread": "The microbatches are A, B, C and D. A step issues the next pass of its microbatch.",
        "impossible": "A microbatch has six passes: three forward, three backward. One that has issued them all cannot "
        "be named again.",
        "type": 'Write a string with one letter for each step, as "AAAAAABBBBBB".',
    },
    hints=(
        "How long does a stage work in all? Which waiting can no order avoid, before its first pass and behind its "
        "last?",
        "The last stage does a backward pass right after each forward pass. Stage 1 does two forward passes first, "
        "stage 0 three; then each does one backward, one forward, in turns.",
        "Write down the eight passes of each stage in that order. Then issue them: name a microbatch only when its "
        "next pass is the next in the row of its stage. It begins with A three times, B twice ...",
    ),
)
