"""15-profile: Read a profile."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

#: steps; own milliseconds of forward, relu, compile, scatter; calls of row in a step, its own milliseconds
BOOK = 10, 40, 10, 1450, 200, 256, 300
PRICE = 2  # microseconds that the profiler adds to a call of `row`


def asked(steps, forward, relu, compiling, scatter, rows, row):
    """For each question: its text, its answer, what wrong answers rest on, what to do about any other."""
    total = forward + relu + compiling + scatter + row
    calls = steps * rows
    without = total / (total - compiling)
    quarter = total / (total - scatter * 3 / 4)
    return {
        "callees": (
            "forward calls relu, and relu calls compile: milliseconds of forward in the column *with callees*",
            forward + relu + compiling,
            {
                forward: "That is its own time. What it calls counts, too.",
                forward + relu: "relu calls compile, whose time counts for all that called it.",
                relu + compiling: "The own time of forward is missing.",
                total: "scatter and row are not called by forward.",
            },
            "Own time, and that of all it calls, at any depth.",
        ),
        "each": (
            "microseconds of own time in one call of row",
            1000 * row / calls,
            {
                1000 * row / rows: "It was called so often in each of the steps.",
                1000 * row / steps: "That is a step's. How many calls has a step?",
                row / calls: "In milliseconds. The question is about microseconds.",
                row / rows: "It was called so often in each of the steps, and the question is about microseconds.",
            },
            "Own time divided by all calls; a millisecond has 1000 microseconds.",
        ),
        "without": (
            "times as fast as before, when nothing is compiled any more",
            without,
            {
                total / compiling: "That is the whole, divided by what goes. Divide by what stays.",
                1 / without: "Old time by new time: more than 1.",
                compiling / (total - compiling): "What went, divided by what stays. The question is about the whole.",
            },
            "The time before, divided by the time that stays.",
        ),
        "quarter": (
            "times as fast as before, when scatter alone becomes 4 times as fast",
            quarter,
            {
                4: "scatter becomes 4 times as fast, and all else stays as it was.",
                total / (total - scatter): "scatter does not vanish: a quarter of it stays.",
                total / (total - scatter / 4): "A quarter of it stays, three quarters go.",
                1 / quarter: "Old time by new time: more than 1.",
                without * 4: "These do not multiply, and compile stays here.",
            },
            "Amdahl: all else stays, and a quarter of scatter.",
        ),
        "price": (
            f"milliseconds of row's time that are the profiler's, when it adds {PRICE} microseconds to each call",
            calls * PRICE / 1000,
            {
                rows * PRICE / 1000: "That is one step's.",
                steps * PRICE / 1000: "It is called many times in a step.",
                calls * PRICE: "In microseconds. The question is about milliseconds.",
            },
            "All calls, times the price of one.",
        ),
    }


def _question(name):
    text, _, slips, otherwise = asked(*BOOK)[name]
    tolerance = 0.006 if name in ("without", "quarter", "each") else 0.0
    return Question(name, text, lambda: asked(*BOOK)[name][1], slips, otherwise, tolerance)


PROFILE = PredictionTask(
    id="15-profile",
    section=Section("15", "15_profiling", "By function"),
    title="Read a profile",
    objective="Compute from a profile by function what a repair can gain, and what the profiler itself costs",
    points=2,
    minutes=12,
    questions=tuple(_question(name) for name in ("callees", "each", "without", "quarter", "price")),
    hints=(
        "Draw who calls whom. Which functions are below forward?",
        "The own times add up to the whole. The times with callees do not: why?",
        "callees: own, and relu's with all below it. without and quarter: the sum of all own times, divided by the "
        "same sum after the repair. each and price: calls are steps times calls in a step.",
    ),
)
