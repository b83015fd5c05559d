"""03-twice: Be the scheduler: a counter without fetch_add."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask

ROWS_HANDED = 3

TWICE = ScheduleTask(
    id="03-twice",
    section=Section("3.2", "03_schedules", "Dynamic: a shared counter"),
    title="Be the scheduler: a counter without fetch_add",
    objective="Choose the steps of two threads so that a dynamic schedule without an atomic counter repeats its rows",
    points=3,
    minutes=10,
    program=Program(
        """
        counter = 0
        by_a = by_b = 0


        def a(rows):
            global counter, by_a
            row = 0
            while row < rows:
                row = counter
                counter = row + 1
                if row < rows:
                    by_a += 1


        def b(rows):
            global counter, by_b
            row = 0
            while row < rows:
                row = counter
                counter = row + 1
                if row < rows:
                    by_b += 1
        """,
        A=("a", ROWS_HANDED),
        B=("b", ROWS_HANDED),
    ),
    score=lambda played: played.state["by_a"] + played.state["by_b"],
    shown="{} rows computed",
    slips={
        3: "Three rows, computed once each: no harm was done. What can B do between A's reading and A's writing?",
        4: "One row too many. Whoever has read may wait much longer: how far can the other one go before the old "
        "number plus 1 is written?",
        6: "Twice as many. Once an old number is written, who reads it next? The thread that wrote it can wait with it "
        "again, while the other one computes on.",
    },
    otherwise="A thread that waits with an old number can set the counter back once. When does that cost the other one "
    "most, and how soon can it do it again?",
    hints=(
        "A thread reads the counter and is stopped. What happens to the counter when it goes on?",
        "The writing of a thread that waited sets the counter back to what it read, plus 1. The further the other one "
        "came, the more rows it gets again. It must not have found the end yet.",
        "Let B read 0 and wait, while A computes all three rows but has not read 3 yet. Then B writes 1 and reads it "
        "at once: it is ready to do the same again, one row later.",
    ),
)
