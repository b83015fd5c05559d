"""14-zero: Predict what a worker keeps."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import CUTTING

BOOK = 8, 64


def asked(billions, workers):
    """For each question: its text, its answer in GB (10 ** 9 bytes), what wrong answers rest on, what to do about any
    other."""
    p, n = billions, workers
    return {
        "stage_0": (
            "GB in each worker, nothing cut",
            float(16 * p),
            {
                4 * p: "Weights and gradients. Adam keeps its own weights in float32, and two averages.",
                12
                * p: "Those are the optimiser's, or all but one part. Weights, gradients, and three arrays of float32.",
                8 * p: "Count again: 2 bytes for a weight, 2 for its gradient, 4 for each of the optimiser's three "
                "numbers.",
                14 * p: "One of the two is missing: the weight in bfloat16, or its gradient.",
                20 * p: "Weights and gradients are bfloat16: two bytes each.",
            },
            "How many bytes belong to one parameter, all arrays together?",
        ),
        "stage_1": (
            "GB in each worker, the optimiser's state cut (ZeRO-1)",
            4 * p + 12 * p / n,
            {
                16 * p / n: "That is with everything cut. In stage 1 weights and gradients are whole.",
                12 * p / n: "Weights and gradients are missing: whole in each worker.",
                4 * p + 8 * p / n: "The weights in float32 belong to the optimiser's state: three numbers, not two.",
                2 * p + 14 * p / n: "That is stage 2: the gradients are cut as well.",
            },
            "4 bytes of each parameter are whole, 12 are cut.",
        ),
        "stage_2": (
            "GB in each worker, optimiser and gradients cut (ZeRO-2)",
            2 * p + 14 * p / n,
            {
                4 * p + 12 * p / n: "That is stage 1. Here the gradients are cut, too.",
                16 * p / n: "That is stage 3: the weights are whole in stage 2.",
                2 * p + 12 * p / n: "The gradients are cut, not gone: each worker keeps its part of them.",
            },
            "2 bytes of each parameter are whole, 14 are cut.",
        ),
        "stage_3": (
            "GB in each worker, all cut (ZeRO-3)",
            16 * p / n,
            {
                16 * p: "That is without any cut.",
                2 * p + 14 * p / n: "That is stage 2: in stage 3 the weights are cut, too.",
                14 * p / n: "The weights are cut, not gone.",
            },
            "All 16 bytes of a parameter are cut in n parts.",
        ),
        "sends": (
            "GB that a worker sends in a step of stage 3: the weights are gathered in bfloat16 for the forward pass "
            "and again for the backward, the gradients are reduced and scattered in bfloat16, all by rings",
            6 * p * (n - 1) / n,
            {
                4
                * p
                * (n - 1)
                / n: "That is an all-reduce, what stages 0 to 2 send. Here the weights are gathered twice.",
                3 * p * (n - 1) / n: "A bfloat16 has two bytes.",
                2 * p * (n - 1) / n: "That is one of the three.",
                6 * p: "Nearly: in a ring a worker's last part is not sent, n - 1 of n parts are.",
                12
                * p
                * (n - 1)
                / n: "An all-gather is half of an all-reduce: n - 1 steps, once. And a bfloat16 has two bytes.",
            },
            "Two all-gathers and a reduce-scatter: each has n - 1 steps, in which the n-th part of all weights is "
            "sent, two bytes a number.",
        ),
    }


def question(name):
    text, _, slips, otherwise = asked(*BOOK)[name]
    return Question(name, text, lambda: asked(*BOOK)[name][1], slips, otherwise, tolerance=0.002)


ZERO = PredictionTask(
    id="14-zero",
    section=Section("14.3", CUTTING, "The optimizer, the gradients, the weights"),
    title="Predict what a worker keeps",
    objective="Predict the memory of a worker in the stages of ZeRO with mixed precision, and what stage 3 sends",
    points=3,
    minutes=12,
    questions=tuple(map(question, asked(*BOOK))),
    hints=(
        "Which arrays are there for each parameter, and how many bytes has a number of each?",
        "bfloat16 weight 2, bfloat16 gradient 2, float32 weight 4, average 4, average of squares 4. The stages cut "
        "them from the end: first the optimiser's three, then the gradient, then the weight.",
        "What is cut counts 1 / n. In stage 3 a step has three rings of n - 1 steps: what is one part of the bfloat16 "
        "weights?",
    ),
)
