"""02-lose: Be the scheduler: lose updates."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask

LOSE = ScheduleTask(
    id="02-lose",
    section=Section("2", "02_threads", "The lost update"),
    title="Be the scheduler: lose updates",
    objective="Choose the steps of two threads so that as many updates as possible are lost",
    points=2,
    minutes=8,
    program=Program(
        """
        value = 0


        def add(times):
            global value
            for k in range(times):
                seen = value
                value = seen + 1
        """,
        A=("add", 3),
        B=("add", 3),
    ),
    score=lambda played: 6 - played.state["value"],
    shown="{} of 6 updates lost",
    slips={
        0: "Every thread wrote before the other one read. Which step of B must come between A's reading and its "
        "writing?",
        1: "One update was written over. Let a thread that has read wait longer: how many writings can its own one "
        "undo?",
        2: "Let a thread that has read wait longer: how many writings of the other thread can its own one undo?",
        3: "One thread lost all it had. Can the other one lose some, too? Whoever writes last should have read very "
        "early.",
    },
    hints=(
        "A thread that has read an old value may sleep as long as you like. What does its writing do to all that "
        "happened meanwhile?",
        "An old value can be written twice: by A early, so that B reads a small number for its last addition; and by "
        "B, at the very end.",
        "A reads. B makes two whole additions. A writes its old value plus one, and B reads that. Who goes on now, how "
        "far, and who must make the very last step?",
    ),
)
