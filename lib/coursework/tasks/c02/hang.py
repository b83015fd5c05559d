"""02-hang: Be the scheduler: hang three threads."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask

HANG = ScheduleTask(
    id="02-hang",
    section=Section("2.2", "02_waiting", "Deadlock"),
    title="Be the scheduler: hang three threads",
    objective="Choose the steps after which three threads with two locks wait forever",
    points=2,
    minutes=8,
    program=Program(
        """
        red, blue = Lock(), Lock()
        busy = False


        def forward():
            global busy
            if not busy:
                busy = True
                with red:
                    with blue:
                        pass
                busy = False


        def backward():
            global busy
            if not busy:
                busy = True
                with blue:
                    with red:
                        pass
                busy = False
        """,
        A=("forward",),
        B=("backward",),
        C=("forward",),
    ),
    score=lambda played: len(played.waiting),
    shown="{} of 3 threads wait forever",
    slips={
        0: "All threads came to their end. Which lock must A hold, and which B, so that each wants what the other has? "
        "And how does each of them get past its `if`?",
        2: "Two hang, and the third has ended. How does it get past its `if`, so that it asks for a lock as well?",
    },
    hints=(
        "The flag shall let in one thread at a time. What does a thread know that has looked at it, and is then "
        "stopped?",
        "First let the threads look at the flag, all before anybody sets it. Then two of them must each hold one lock "
        "before one asks for its second.",
        "One letter for each thread to look, one for each to set the flag. Who must take the next two steps, so that A "
        "holds red and B holds blue?",
    ),
)
