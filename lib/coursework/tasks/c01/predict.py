"""01-predict: Predict, then count."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

DEGREE, ELEMENTS, LANES, LATENCY, UNITS = 8, 1000, 8, 4, 2


class _Counted:
    """A number that counts the additions and multiplications made with its like."""

    done = 0

    def _count(self, other):
        _Counted.done += 1
        return self

    __mul__ = __rmul__ = __add__ = __radd__ = _count


def _flops():
    """Flops of Horner's rule, counted for one element and taken for all."""
    before = _Counted.done
    s = v = _Counted()
    for _ in range(DEGREE):
        s = s * v + 1
    return (_Counted.done - before) * ELEMENTS


def _vector_instructions():
    """Multiply-add instructions for all elements, counted as a vectorised loop goes over them."""
    count = 0
    for _ in range(0, ELEMENTS, LANES):
        for _ in range(DEGREE):
            count += 1
    return count


def _finished(chains, cycles=400):
    """Steps that a core finishes if each of `chains` chains may start its next step when the last is done."""
    ready, done = [0] * chains, 0
    for now in range(cycles):
        free = UNITS
        for k in range(chains):
            if free and ready[k] <= now:
                ready[k], free, done = now + LATENCY, free - 1, done + 1
    return done


def _fewest_chains():
    """The smallest number of chains with which the core finishes as many steps as with very many, by trying."""
    most = _finished(100)
    return next(k for k in range(1, 101) if _finished(k) == most)


def _scaled_speedup():
    """Eight workers, a job of 8 hours: 2 serial, 6 in parallel. Time of one worker, added up, over theirs."""
    serial, parallel, workers = 2, 6, 8
    return (serial + sum(parallel for _ in range(workers))) / (serial + parallel)


PREDICT = PredictionTask(
    id="01-predict",
    section=Section("1", "01_why_parallel", "The roofline"),
    title="Predict, then count",
    objective="Predict flops, instructions, steps in flight and a scaled speed-up",
    points=4,
    minutes=15,
    questions=(
        Question(
            "flops",
            f"flops of a polynomial of degree {DEGREE} for {ELEMENTS} elements, multiply and add counted as one each",
            _flops,
            {
                DEGREE * ELEMENTS: "Each step of the rule is a multiply and an add: two flops.",
                2 * DEGREE: "That is one element.",
                2 * ELEMENTS: "That is one step of the rule for all elements. How many steps are there?",
            },
            "Count the multiplies and adds of one element first.",
        ),
        Question(
            "intensity",
            "arithmetic intensity of that loop in flop per byte, float32, each element read once and written once",
            lambda: _flops() / (2 * 4 * ELEMENTS),
            {
                4: "Each element is read and written: twice 4 bytes.",
                16: "That is flop per element. How many bytes is an element read and written?",
                1: "Half of it. Is a multiply-add one flop or two, and has a float32 4 bytes or 8?",
                8: "That is flop per number moved. A float32 has 4 bytes.",
            },
            "flops of one element over bytes of one element.",
        ),
        Question(
            "instructions",
            f"multiply-add instructions of that loop, if each handles {LANES} lanes",
            _vector_instructions,
            {
                DEGREE * ELEMENTS: f"That is without vectors. One instruction does {LANES} elements.",
                2 * DEGREE * ELEMENTS // LANES: "A multiply-add is two flops, but one instruction.",
                ELEMENTS // LANES: "That is the number of vectors. How many multiply-adds does each need?",
            },
            "How many vectors are there, and how many multiply-adds does each go through?",
        ),
        Question(
            "in_flight",
            f"chains that keep a core busy which can begin {UNITS} steps in each cycle, with a latency of {LATENCY} "
            "cycles",
            _fewest_chains,
            {
                LATENCY: f"With {LATENCY} chains, one step can begin in each cycle. The core can begin {UNITS}.",
                LATENCY * UNITS * LANES: "The lanes of a vector work side by side: a chain is a chain of vectors.",
                LATENCY // UNITS: "In flight is throughput times latency, not latency over throughput.",
            },
            "Little's law: how many steps begin until the first one is done?",
        ),
        Question(
            "scaled",
            "scaled speed-up of 8 workers whose run takes 8 hours, 2 of them serial",
            _scaled_speedup,
            {
                8
                / (
                    0.25 * 8 + 0.75
                ): "That is Amdahl's law, with the share as one worker sees it. Add up what one worker would need.",
                8: "The serial part does not get faster.",
                6: "That is the parallel part alone, 6 of 8 hours with 8 workers. The serial part is work, too.",
            },
            "How many hours would one worker need for all of it? Divide by 8.",
        ),
    ),
    hints=(
        "Take one element: how many steps does the rule have, and how many flops is a step? For the chains: draw the "
        "cycles as columns.",
        "Vectors: elements / lanes of them, each goes through all steps. In flight = steps begun per cycle * cycles of "
        "one step.",
        "flops: what do the steps of one element cost, and how many elements are there? intensity: which bytes belong "
        "to one element? scaled: how many hours would one worker need for all of it?",
    ),
)
