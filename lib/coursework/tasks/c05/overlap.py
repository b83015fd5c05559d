"""05-overlap: Be the scheduler: keep both engines busy."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask

LASTS = {"A": (4, 2, 3), "B": (1, 6, 1), "C": (2, 3, 2)}  # ms of load, kernel and store
WORK = ("load", "kernel", "store")
ONE_BY_ONE = sum(map(sum, LASTS.values()))


def timeline(issued):
    """{engine: [(stream, begin, end), ...]} of work in the order in which it was issued; ms."""
    lanes, ready = {"copies": [], "kernels": []}, {}
    for name, work in (text.split() for text in issued):
        lane = lanes["kernels" if work == "kernel" else "copies"]
        begin = max(lane[-1][2] if lane else 0, ready.get(name, 0))
        ready[name] = begin + LASTS[name][WORK.index(work)]
        lane.append((name, begin, ready[name]))
    return lanes


def _ends(played):
    return max(end for lane in timeline(played.state["issued"]).values() for _, _, end in lane)


def _lanes(played):
    """A bar for each engine, a letter for each ms; a dot where it waits."""
    bars = timeline(played.state["issued"])
    return "; ".join(f"{engine} `{_bar(lane)}` ({_steps(lane)})" for engine, lane in bars.items())


def _bar(lane):
    bar = ""
    for name, begin, end in lane:
        bar = bar.ljust(begin, ".") + name * (end - begin)
    return bar


def _steps(lane):
    return ", ".join(f"{name} {begin} to {end}" for name, begin, end in lane)


OVERLAP = ScheduleTask(
    id="05-overlap",
    section=Section("5.2", "05_transfers", "Streams and overlap"),
    title="Be the scheduler: keep both engines busy",
    objective="Choose the order in which three streams are issued so that copies and kernels overlap most",
    points=2,
    minutes=20,
    program=Program(
        """
        issued = []


        def stream(name):
            issued.append(name + " load")
            issued.append(name + " kernel")
            issued.append(name + " store")
        """,
        A=("stream", "A"),
        B=("stream", "B"),
        C=("stream", "C"),
    ),
    who="stream",
    score=lambda played: ONE_BY_ONE - _ends(played),
    shown={saved: f"All has ended after {ONE_BY_ONE - saved} ms" for saved in range(ONE_BY_ONE)},
    at_the_end=_lanes,
    steps_shown=False,  # each is `issued.append`; the bars show more
    more="it can be earlier",
    slips={
        0: "Nothing overlaps: each store is issued before the next load, and a store waits for its kernel. What could "
        "the copy engine do while the first kernel runs?",
        7: "In turns some copies run beside kernels. Whose kernel is the longest, and from when on does it run?",
        8: "Which engine waits at the beginning, and for how long? Another stream could go first.",
        9: "One millisecond is left. Look for a gap in the line of the copies: which store waits there for its kernel, "
        "and what could be copied meanwhile?",
    },
    otherwise="Look for gaps in the two lines. Where an engine waits, what was issued too late, or too early?",
    advice={
        "unknown-thread": "The streams are A, B and C. A step issues the next piece of work of its stream.",
        "impossible": "A stream has three pieces of work. One that has issued them all cannot be named again.",
        "type": 'Write a string with one letter for each step, as "AAABBBCCC".',
    },
    hints=(
        "Add up all copies, and all kernels. How soon could everything end if the busier engine never waited? Which "
        "waiting can no order avoid?",
        "The kernels should begin early and the stores should not wait: begin with the stream whose load is short and "
        "whose kernel is long, and load the others beside it.",
        "A store that is issued early blocks every load behind it until its kernel has ended. Load two streams first; "
        "then place each store where its kernel has just ended.",
    ),
)
