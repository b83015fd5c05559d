"""06-order: Be the memory: the flag overtakes the number."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask
from .shared import TRUSTED

ORDER = ScheduleTask(
    id="06-order",
    section=Section("6.5", "06_order", "Memory order"),
    title="Be the memory: the flag overtakes the number",
    objective="Choose the order in which stores arrive and loads are made so that a flag without a fence lies",
    points=2,
    minutes=7,
    who="player",
    program=Program(
        """
        number, flag = 0, 0  # in global memory
        trusted = 0


        def numbers_arrive():
            global number
            for k in (1, 2, 3):
                number = k


        def flags_arrive():
            global flag
            for k in (1, 2, 3):
                flag = k


        def reader():
            global trusted
            last = 0
            for k in (1, 2, 3):
                new = flag
                if new > last:
                    got = number
                    if got < new:
                        trusted = trusted + 1
                    last = new
        """,
        N=("numbers_arrive",),
        F=("flags_arrive",),
        R=("reader",),
    ),
    score=lambda played: played.state["trusted"],
    shown=TRUSTED,
    slips={
        0: "R found behind each flag the number that belongs to it. Which of the two stores has to be late, so that R "
        "believes a flag that came alone?",
        1: "R looks at the flag three times, and trusts it when it is larger than last time. How large should it be at "
        "the first look, so that it can still grow twice?",
        2: "Twice R was deceived. The flag has three values: R can see each of them, one after the other, and the "
        "number may arrive after all that.",
    },
    at_the_end=lambda played: f"flag {played.state['flag']}, number {played.state['number']}",
    advice={
        "unknown-thread": "Write N, F or R for each step: a number arrives, a flag arrives, the reader loads.",
        "impossible": "Three numbers arrive, and three flags; the reader has ended when it has looked three times.",
        "type": 'Write a string with one letter for each step, as "NFRR".',
    },
    hints=(
        "The block that sends has stored number 1, flag 1, number 2 and so on. Nothing says in which order these "
        "stores arrive. Which order would deceive R?",
        "R loads the flag and, if it is new, the number. Let a flag arrive, let R look at both, and let the number be "
        "late.",
        "A step of R is one load. Let a flag arrive, let R make the two loads that belong to it, and then the next "
        "flag. Leave all numbers for the end.",
    ),
)
