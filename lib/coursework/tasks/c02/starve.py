"""02-starve, the second part of 02-hang: Now starve a polite thread."""

from dataclasses import dataclass, replace

from cpulab.explore import Program

from ...definition import Case, Section
from ...kinds.schedule import RoundTask


def kept_out(round):
    """0: only one thread moves in the round; 1: both, and nobody gets in; 2: both, and B gets in. A, once in, ends."""
    if len(round.threads) < 2:
        return 0
    return 1 + (len({state["inside"] for state in round.states}) > 1)


@dataclass(frozen=True, kw_only=True)
class StarveTask(RoundTask):
    """The first of the two cases alone, which gives points in part, is met by a livelock."""

    cases: tuple = (Case("a livelock", lambda rng: ()), Case("starvation", lambda rng: ()))

    def examine(self, answer, cases, seed):
        if len(cases) < len(self.cases):
            return replace(self, goal=1, cases=cases, partial={}).examine(answer, cases, seed)
        return super().examine(answer, cases, seed)


STARVE = StarveTask(
    id="02-starve",
    section=Section("2.2", "02_waiting", "Starvation"),
    title="Now starve a polite thread",
    objective="Choose steps that can be repeated for ever, in which a thread tries again and again and never has its "
    "turn",
    after="02-hang",
    points=2,
    partial={"a livelock": 1},
    minutes=12,
    program=Program(
        """
        wants_a = wants_b = False
        inside = ""


        def a():
            global wants_a, inside
            wants_a = True
            while True:
                if not wants_b:
                    break
                wants_a = False  # after you
                wants_a = True
            inside = "A"
            wants_a = False


        def b():
            global wants_b, inside
            while True:
                wants_b = True
                while True:
                    if not wants_a:
                        break
                    wants_b = False  # after you
                    wants_b = True
                inside = "B"
                inside = ""
                wants_b = False
        """,
        A=("a",),
        B=("b",),
    ),
    score=kept_out,
    shown={
        0: "A round of one thread alone",
        1: "A livelock: both step aside for ever, and nobody gets in",
        2: "Starvation: B gets in again and again, and A tries for ever",
    },
    slips={
        0: "Only one thread moves in this round: the other thread is not asked at all. Both must move in it.",
        1: "This can go on for ever, too, but B gets in as seldom as A. What must B find when it looks, so that it "
        "gets in? And what must A find when it looks?",
    },
    advice={
        "no-round": "After the last step all must be as it was once before: the three variables, and the line that "
        "each thread comes to next. What is missing until then?",
        "impossible": "A thread that has got in as A, or that has ended, makes no further step. In a round for ever A "
        "must not get in.",
    },
    hints=(
        "A livelock: both want to go in. What does each of them see now, what does it do, and when is all as it was? "
        "Starvation: what does A see each time it looks, if it is to step aside again, and what does B see, if it is "
        "to get in?",
        "B may look only in the moment in which A has stepped aside. A may look at any moment in which B wants to be "
        "in.",
        "Begin so: B says that it wants in; A says so, looks, and steps aside. Here the round can begin. B looks now. "
        "How far does B go, before A comes back and looks again?",
    ),
)
