"""Other numbers for the predictions of chapter 10."""

import math

from . import Asked, Variants


def steps(features, hidden, steps, layers):
    products, rounds = 4 * hidden * (features + hidden), (steps - 1).bit_length()
    in_pairs = (
        "An LSTM squashes its state at each step: its steps cannot be put together in pairs, as in the next question."
    )
    return {
        "products": Asked(
            "multiplications of one step, of one sequence, in its two matrix products",
            products,
            {
                products // 4: "That is one gate. An LSTM has four.",
                3 * products // 4: "That is three gates, as a GRU has them. An LSTM has four.",
                4 * hidden * hidden: "That is the product with the state. The features of the input have one, too.",
                4 * hidden * features: "That is the product with the input. The state has one, too.",
                hidden * hidden: "That is the state for one gate. There are four gates, and the input.",
                2 * products: "Multiplications alone are asked for: without the additions.",
                4 * features * (features + hidden): (
                    f"Each gate has a number for each unit: {hidden}, not {features}."
                ),
                4 * hidden * hidden * features: (
                    "Input and state are two products whose results are added. They do not multiply each other."
                ),
                steps * products: f"That is all {steps} steps. One is asked for.",
            },
            f"One number of one gate takes {features} products with the input and {hidden} with the state. How many "
            "such numbers are there in a step?",
        ),
        "weights": Asked(
            "bytes of w_ih and w_hh, float32: what a step reads if no cache keeps them",
            4 * products,
            {
                products: "That is the number of weights. A float32 has 4 bytes.",
                8 * products: "A float32 has 4 bytes, not 8.",
                2 * products: "A float32 has 4 bytes, not 2.",
                4 * (products + 8 * hidden): "That counts the two biases. Only w_ih and w_hh are asked for.",
                16 * hidden * hidden: "That is w_hh alone.",
                16 * hidden * features: "That is w_ih alone.",
                4 * steps * products: f"That is all {steps} steps. One is asked for.",
            },
            "For one sequence each weight is used once in a step: as many weights as products, of 4 bytes each.",
        ),
        "chain": Asked(
            f"{layers} layers of {steps} steps, any number of processors: cells that come one after the other at least",
            steps + layers - 1,
            {
                layers
                * steps: "That is all cells, one after the other. Layer 1 can begin as soon as layer 0 has done its "
                "first step.",
                steps: "That is one layer. The last cell of the last layer waits for the one below it, too.",
                steps + layers: "Nearly. Count the cells of a small chain: with 1 layer and 1 step there is one.",
                steps + layers - 2: "Nearly: those are the arrows between the cells. The cells are asked for.",
                layers: "The layers wait for each other. So do the steps of each layer.",
                rounds: in_pairs,
                rounds + layers - 1: in_pairs,
            },
            "Draw 2 layers of 3 steps. A cell waits for the step before in its layer, and for the same step in the "
            "layer below. Which way through the drawing is the longest?",
        ),
        "rounds": Asked(
            f"rounds of a scan over h[t] = a[t] * h[t-1] + b[t], one layer, a thread for each of {steps} steps",
            rounds,
            {
                steps: "That is one step after the other. Here two stretches of steps can be joined before the state "
                "is known.",
                steps // 2: "That many pairs are joined in the first round. How many rounds are there?",
                rounds - 1: f"After this many rounds a thread knows of {steps // 2} steps.",
                rounds
                + 1: f"After one round less a thread knows of all {steps} steps: it knows of one before the first "
                "round.",
                2 * rounds: "That is up and down a tree, as Blelloch does it. The fewest rounds are asked for, with a "
                "thread for each step.",
                steps
                - 1: "That many times something is joined, one after the other. In a round many threads do so at once.",
                math.isqrt(
                    steps
                ): "In each round the stretch that a thread knows of doubles: that goes faster than a square root.",
            },
            "Before the first round a thread knows of one step, after it of two, after the second of four.",
        ),
    }


VARIANTS = {
    "10-steps": Variants(
        {"features": 256, "hidden": 512, "steps": 1024, "layers": 3},
        {
            "features": (128, 192, 256, 384),
            "hidden": (256, 320, 512, 640),
            "steps": (256, 512, 1024, 2048, 4096),
            "layers": (3, 4, 5),
        },
        "a layer has {features} features and {hidden} units, and reads {steps} steps (`w_ih` has 4 gates of {hidden} "
        "rows and {features} columns, `w_hh` as many rows of {hidden}); `chain` is about {layers} layers.",
        steps,
        lambda features, hidden, steps, layers: features < hidden and steps not in (features, hidden),
    )
}
