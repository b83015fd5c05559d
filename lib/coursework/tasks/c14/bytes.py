"""14-bytes: Predict what each collective sends."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import COLLECTIVES

BOOK = 8, 3


def asked(workers, millions):
    """For each question: its text, its answer, what wrong answers rest on, what to do about any other. `workers`: a
    power of two."""
    n, rounds, numbers = workers, workers.bit_length() - 1, millions << 20
    size = 4 * numbers
    return {
        "naive": (
            f"bytes that worker 0 sends, if the other {n - 1} send it their gradients, and it sends the sum to each of "
            "them",
            (n - 1) * size,
            {
                size: "The sum goes to each of the others: that is one message for each of them.",
                n * size: "Worker 0 has the sum itself: it sends to the others.",
                2 * (n - 1) * size: "Half of this comes in. What does worker 0 send?",
                (n - 1) * numbers: "These are numbers. A float32 has four bytes.",
            },
            "The whole gradient, once for each of the other workers.",
        ),
        "tree": (
            "bytes that worker 0 sends in a tree: it gets all that the others have added up, and then passes the sum "
            "on in log2 n rounds, in which every worker that has it sends it to one that has not",
            rounds * size,
            {
                (n - 1)
                * size: "That is without a tree. In each round worker 0 sends to one other worker: how many rounds are "
                "there?",
                2 * rounds * size: "Half of these are the rounds in which worker 0 receives.",
                (rounds + 1) * size: f"After {rounds} rounds 2 ** {rounds} workers have it.",
                rounds * numbers: "These are numbers. A float32 has four bytes.",
                size: "That is one round.",
            },
            "In how many rounds do all have it, if their number doubles in each? Worker 0 sends the whole gradient in "
            "each round.",
        ),
        "ring": (
            "bytes that a worker sends in a ring all-reduce",
            2 * (n - 1) * (size // n),
            {
                (n - 1)
                * (size // n): "That is half of it, the reduce-scatter. Then complete chunks go round once more.",
                2 * (n - 1) * size: "In each step one chunk is sent, the n-th part of the gradient.",
                2 * size: "Nearly: a chunk need not go round to where it came from. n - 1 steps, twice.",
                2 * n * (size // n): "n - 1 steps, twice: a chunk need not go round to where it came from.",
                2 * (n - 1) * (numbers // n): "These are numbers. A float32 has four bytes.",
            },
            "How many steps are there, and how many bytes has a chunk?",
        ),
        "messages": (
            "messages that a worker sends in a ring all-reduce",
            2 * (n - 1),
            {
                n - 1: "That is the reduce-scatter. How many more does it take until all have every chunk?",
                2 * n: "A chunk that is complete in one worker needs n - 1 steps to come to the others.",
                n: "n - 1 steps complete the chunks: one for each other worker. And then?",
                2 * rounds: "That is a tree.",
            },
            "One in each step. How many steps complete a chunk, and how many bring it to all?",
        ),
        "reduce_scatter": (
            "bytes that a worker sends in a reduce-scatter by a ring, of gradients in bfloat16",
            2 * (n - 1) * (numbers // n),
            {
                4 * (n - 1) * (numbers // n): "A bfloat16 has two bytes.",
                2 * (n - 1) * numbers: "One chunk in each step, not all of them.",
                2 * numbers: "Nearly: its last chunk a worker keeps.",
            },
            "n - 1 steps with a chunk each, two bytes a number.",
        ),
        "all_gather": (
            f"bytes that a worker sends in an all-gather by a ring, where each of the {n} workers begins with "
            f"{millions} Mi numbers of float32, and ends with those of all",
            (n - 1) * size,
            {
                (n - 1)
                * (
                    size // n
                ): f"Here each worker begins with all of {millions} Mi numbers: the result is {n} times as long.",
                n * size: "Its last message would be what the next worker began with.",
                size: "That is one step. What came is passed on, too.",
                (n - 1) * numbers: "These are numbers. A float32 has four bytes.",
            },
            "In each of n - 1 steps a worker sends what one worker began with.",
        ),
    }


def question(name):
    text, _, slips, otherwise = asked(*BOOK)[name]
    return Question(name, text, lambda: asked(*BOOK)[name][1], slips, otherwise)


BYTES = PredictionTask(
    id="14-bytes",
    section=Section("14.2", COLLECTIVES, "To a root, and by a tree"),
    title="Predict what each collective sends",
    objective="Count the bytes and messages of all-reduce as star, tree and ring, of reduce-scatter and all-gather",
    points=3,
    minutes=12,
    questions=tuple(map(question, asked(*BOOK))),
    hints=(
        "For each of them: in how many steps does a worker send, and how much in each?",
        "naive: to each other worker, all. tree: in each of log2 n rounds, all. ring: n - 1 steps, twice, a chunk in "
        "each.",
        "A chunk is the n-th part: bytes of the gradient / n. reduce_scatter is the first half of a ring all-reduce, "
        "with two bytes a number; all_gather the second half, with a whole worker's numbers as a chunk.",
    ),
)
