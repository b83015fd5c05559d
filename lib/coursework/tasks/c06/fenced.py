"""06-fenced, the second part of 06-order: A fence on one side only."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask
from .shared import TRUSTED

FENCED = ScheduleTask(
    id="06-fenced",
    section=Section("6.5", "06_order", "Memory order"),
    title="A fence on one side only",
    objective="Choose the steps by which a reader that loads in the wrong order is deceived although the writer has a "
    "fence",
    after="06-order",
    points=2,
    minutes=7,
    who="player",
    program=Program(
        """
        number, flag = 0, 0  # in global memory
        trusted = 0


        def writer():
            global number, flag
            for k in (1, 2, 3):
                number = k
                # threadfence(): the number arrives before the flag
                flag = k


        def reader():
            global trusted
            last = 0
            for k in (1, 2, 3):
                got = number  # loaded early
                new = flag
                if new > last:
                    if got < new:
                        trusted = trusted + 1
                    last = new
        """,
        W=("writer",),
        R=("reader",),
    ),
    score=lambda played: played.state["trusted"],
    shown=TRUSTED,
    slips={
        0: "The writer's stores arrive in their order, and still R can be deceived: it has the number in hand before "
        "it looks at the flag. What may happen between these two loads?",
        1: "Once R had an old number in hand when it saw a new flag. How many steps of W are enough for that, so that "
        "some are left for the next time?",
        2: "Twice. Each time two steps of W are enough: the number and its flag, both between R's two loads.",
    },
    at_the_end=lambda played: f"flag {played.state['flag']}, number {played.state['number']}",
    advice={
        "unknown-thread": "Write W or R for each step.",
        "impossible": "The writer has six steps: three numbers and three flags.",
        "type": 'Write a string with one letter for each step, as "WWRR".',
    },
    hints=(
        "What does R have in hand when it looks at the flag? And how old may that be?",
        "R loads the number; then W stores a new number and its flag; then R loads the flag. What does R believe?",
        "Each round of R has two loads, and between them there is room for a whole message of W: two steps. W has six "
        "steps, enough for three rounds.",
    ),
)
