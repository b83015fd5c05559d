"""14-stale: Gradients that come too late."""

from ...definition import Case, Section, Slip
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Real, Whole
from ...kinds.function import FunctionTask
from .shared import CUTTING

MOST = 2000


# The statement shows these; a test compares.
def stale(rate, staleness):
    w = [1.0] * (staleness + 1)
    while len(w) < 2000 and abs(w[-1]) < 1e9:
        gradient = w[-1 - staleness]
        w.append(w[-1] - rate * gradient)
    return w


def divided(rate, staleness):
    return stale(rate / (staleness + 1), staleness)


def together(rate, staleness):
    return stale(rate, 0)


def judge_stale(arguments, result):
    far = max(abs(w) for w in result[-100:])
    if far < 1:
        return None
    return Slip("away", "less than 1 from the minimum at the end", "", f"{far:.3g} from it")


DESCENT = FunctionTask(
    id="14-descent", title="", objective="", points=2, minutes=12, hints=("", "", ""), judge=judge_stale, cases=()
)


def _case(rate, staleness):
    return Case(f"rate = {rate:g}, staleness = {staleness}", lambda rng: (rate, staleness))


FIELDS = {"rate": Real(0.001, 10.0), "staleness": Whole(0, 50)}
STALE = CounterexampleTask(
    id="14-stale",
    section=Section("14.3", CUTTING, "Not waiting at all"),
    title="Gradients that come too late",
    objective="Find learning rates and stalenesses at which asynchronous descent leaves a minimum that synchronous "
    "descent finds",
    points=2,
    minutes=12,
    flaws=(
        Flaw(
            name="stale",
            judge=DESCENT,
            wrong=stale,
            right=together,
            fields=FIELDS,
            case=_case,
            rules=(
                (
                    lambda rate, staleness: rate <= 0.65 and staleness <= 2,
                    "a rate of at most 0.65, a staleness of at most 2",
                ),
            ),
            agrees="both come nearer to the minimum",
            lead="With staleness 1 it holds up to the rate 1. From which rate on does it not with staleness 2? Halve "
            "what is between.",
        ),
        Flaw(
            name="divided",
            judge=DESCENT,
            wrong=divided,
            right=together,
            fields=FIELDS,
            case=_case,
            agrees="both come nearer to the minimum",
            lead="For which rates does one worker only just converge? Try one of these, with staleness 0, 1, 2 and 3.",
        ),
    ),
    advice={
        "right-fails-too": "With this rate every step jumps over the minimum and lands further away, however fresh the "
        "gradient is."
    },
    hints=(
        "Play it by hand: rate 1, w = 1, staleness 0. Then staleness 1: what is subtracted after w has come to 0?",
        "Run `stale` in a loop over rates, and print the largest of the last 100 numbers. For `divided`, begin with "
        "the largest rate at which one worker converges.",
        "stale: staleness 2, and a rate only just below 0.65. divided: one worker converges below the rate 2, and with "
        "a rate close to 2 the rule is too bold from staleness 2 on.",
    ),
)
