"""02-lock, the second part of 02-lose: Now with a lock that does not help."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask

LOCK = ScheduleTask(
    id="02-lock",
    section=Section("2", "02_threads", "Locked, and still wrong"),
    title="Now with a lock that does not help",
    objective="Choose the steps that lose updates although each writing is under a lock",
    after="02-lose",
    points=2,
    minutes=8,
    program=Program(
        """
        value, lock = 0, Lock()


        def add(times):
            global value
            for k in range(times):
                seen = value
                with lock:
                    value = seen + 1
        """,
        A=("add", 3),
        B=("add", 3),
    ),
    score=lambda played: 6 - played.state["value"],
    shown="{} of 6 updates lost",
    slips={0: "Nothing was lost. Is the reading under the lock? Where can B come in?"},
    otherwise="Some are lost. The order of readings and writings from the first part still works here: the lock only "
    "adds two steps to each writing.",
    hints=(
        "Which line of the addition does the lock not protect?",
        "Take the order of readings and writings that you found without a lock. Each writing is now three steps: take "
        "the lock, write, open it.",
        "Reading is one letter, writing is three of the same. A reads; B makes two whole additions, 8 letters; A "
        "writes, 3 letters; B reads. What remains is for you.",
    ),
)
