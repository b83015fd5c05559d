"""10-steps: What a step costs, and which steps wait."""

import numpy as np

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

FEATURES, HIDDEN, STEPS, LAYERS = 256, 512, 1024, 3


def _weights():
    """w_ih and w_hh of an LSTM, of which only the shapes matter."""
    return np.empty((4 * HIDDEN, FEATURES), np.float32), np.empty((4 * HIDDEN, HIDDEN), np.float32)


def _products():
    return sum(w.size for w in _weights())


def _bytes():
    return sum(w.nbytes for w in _weights())


def _chain():
    """The longest chain of cells, each of which needs the one before: followed through all of them."""
    depth = np.zeros((LAYERS + 1, STEPS + 1), np.int64)
    for layer, t in np.ndindex(LAYERS, STEPS):
        depth[layer + 1, t + 1] = 1 + max(depth[layer, t + 1], depth[layer + 1, t])
    return int(depth.max())


def _rounds():
    """Rounds in which the stretch that a thread knows of doubles, from 1 to all steps."""
    known, rounds = 1, 0
    while known < STEPS:
        known, rounds = 2 * known, rounds + 1
    return rounds


STEPS_TASK = PredictionTask(
    id="10-steps",
    section=Section("10", "10_recurrent", "Count first"),
    title="What a step costs, and which steps wait",
    objective="Predict products and bytes of a step of an LSTM, and how many steps must come one after the other",
    points=1,
    minutes=4,
    questions=(
        Question(
            "products",
            "multiplications of one step, of one sequence, in its two matrix products",
            _products,
            {
                _products() // 4: "That is one gate. An LSTM has four.",
                3 * _products() // 4: "That is three gates, as a GRU has them. An LSTM has four.",
                4 * HIDDEN * HIDDEN: "That is the product with the state. The features of the input have one, too.",
                4 * HIDDEN * FEATURES: "That is the product with the input. The state has one, too.",
                HIDDEN * HIDDEN: "That is the state for one gate. There are four gates, and the input.",
                2 * _products(): "Multiplications alone are asked for: without the additions.",
                4 * FEATURES * (FEATURES + HIDDEN): "Each gate has a number for each unit: 512, not 256.",
                4 * HIDDEN * HIDDEN * FEATURES: "Input and state are two products whose results are added. They do not "
                "multiply each other.",
                STEPS * _products(): "That is all 1024 steps. One is asked for.",
            },
            "One number of one gate takes 256 products with the input and 512 with the state. How many such numbers "
            "are there in a step?",
        ),
        Question(
            "weights",
            "bytes of w_ih and w_hh, float32: what a step reads if no cache keeps them",
            _bytes,
            {
                _bytes() // 4: "That is the number of weights. A float32 has 4 bytes.",
                2 * _bytes(): "A float32 has 4 bytes, not 8.",
                _bytes() // 2: "A float32 has 4 bytes, not 2.",
                _bytes() + 2 * 4 * HIDDEN * 4: "That counts the two biases. Only w_ih and w_hh are asked for.",
                4 * HIDDEN * HIDDEN * 4: "That is w_hh alone.",
                4 * HIDDEN * FEATURES * 4: "That is w_ih alone.",
                STEPS * _bytes(): "That is all 1024 steps. One is asked for.",
            },
            "For one sequence each weight is used once in a step: as many weights as products, of 4 bytes each.",
        ),
        Question(
            "chain",
            "3 layers of 1024 steps, any number of processors: cells that come one after the other at least",
            _chain,
            {
                LAYERS * STEPS: "That is all cells, one after the other. Layer 1 can begin as soon as layer 0 has done "
                "its first step.",
                STEPS: "That is one layer. The last cell of the last layer waits for the one below it, too.",
                STEPS + LAYERS: "Nearly. Count the cells of a small chain: with 1 layer and 1 step there is one.",
                STEPS + LAYERS - 2: "Nearly: those are the arrows between the cells. The cells are asked for.",
                LAYERS: "The layers wait for each other. So do the steps of each layer.",
                10: "An LSTM squashes its state at each step: its steps cannot be put together in pairs, as in the "
                "next question.",
                12: "An LSTM squashes its state at each step: its steps cannot be put together in pairs, as in the "
                "next question.",
            },
            "Draw 2 layers of 3 steps. A cell waits for the step before in its layer, and for the same step in the "
            "layer below. Which way through the drawing is the longest?",
        ),
        Question(
            "rounds",
            "rounds of a scan over h[t] = a[t] * h[t-1] + b[t], one layer, a thread for each of 1024 steps",
            _rounds,
            {
                STEPS: "That is one step after the other. Here two stretches of steps can be joined before the state "
                "is known.",
                STEPS // 2: "That many pairs are joined in the first round. How many rounds are there?",
                _rounds() - 1: "After this many rounds a thread knows of 512 steps.",
                _rounds() + 1: "After one round less a thread knows of all 1024 steps: it knows of one before the "
                "first round.",
                2 * _rounds(): "That is up and down a tree, as Blelloch does it. The fewest rounds are asked for, with "
                "a thread for each step.",
                STEPS - 1: "That many times something is joined, one after the other. In a round many threads do so at "
                "once.",
                32: "In each round the stretch that a thread knows of doubles: that goes faster than a square root.",
            },
            "Before the first round a thread knows of one step, after it of two, after the second of four.",
        ),
    ),
    hints=(
        "How many rows has w_ih, how many w_hh, and how long are they? And which cells does cell (layer 1, step 5) "
        "need?",
        "Each weight is one product of a step. The longest chain goes along a layer and climbs up the layers, a cell "
        "at a time. In a scan the stretch that is known doubles with each round.",
        "Rows: 4 * 512. Their lengths: 256 and 512. For the chain count the cells of a 2 x 3 drawing first, then write "
        "down how it depends on layers and steps. For the rounds ask how often 1 has to be doubled.",
    ),
)
