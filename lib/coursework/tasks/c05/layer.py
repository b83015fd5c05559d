"""05-layer: A layer for a batch."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit
LARGE = 80  # exp(88.8) leaves float32


def layer_arguments(samples, inputs, outputs, scale=1):
    """make(rng) -> x (samples, inputs), w (inputs, outputs), b (outputs,), y (samples, outputs)."""
    return lambda rng: (
        scale * random_values(rng, samples, inputs),
        random_values(rng, inputs, outputs),
        random_values(rng, outputs),
        unwritten(samples, outputs),
    )


def layer_case(name, samples, inputs, outputs, scale=1):
    """A case in blocks of 16 x 4 threads, the outputs along x."""
    x, y = -(-outputs // 16), -(-samples // 4)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    arguments = layer_arguments(samples, inputs, outputs, np.float32(scale))
    return Case(
        f"{name}: {samples} sample{'s' * (samples > 1)}, {inputs} -> {outputs} in {where}", arguments, (x, y), (16, 4)
    )


def sigmoid(z):
    """1 / (1 + exp(-z)) in float64, without overflow."""
    z = np.asarray(z, np.float64)
    small = np.exp(-np.abs(z))
    return np.where(z < 0, small, 1.0) / (1 + small)


def weighted(x, w, b=0, first=0):
    """x @ w + b in float64."""
    return x[:, first:].astype(np.float64) @ w[first:].astype(np.float64) + b


def _without(gone):
    """sigmoid with no number where gone(z); large z say nothing, as exp has no number for those either."""

    def formula(x, w, b, y):
        z = weighted(x, w, b)
        return np.where(gone(z), np.nan, sigmoid(z)) if np.abs(z).max() < LARGE else NOTHING

    return formula


LAYER = KernelTask(
    id="05-layer",
    section=Section("5", "05_threads", "The first layer"),
    title="A layer for a batch",
    objective="Write a layer as a kernel with a device function, a thread for each output of each sample",
    points=3,
    minutes=18,
    spec=lambda x, w, b, y: sigmoid(weighted(x, w, b)),
    rtol=2e-5,
    cases=(
        layer_case("one block, exact", 4, 7, 16),
        layer_case("ragged", 6, 10, 21),
        layer_case("large numbers, up to 1000", 3, 5, 18, 1000),
        layer_case("one sample", 1, 12, 33),
    ),
    writer=lambda index, case: ((index[1] // 16, index[0] // 4), (index[1] % 16, index[0] % 4)),
    suspects=(
        Suspect(
            lambda x, w, b, y: weighted(x, w, b), "This is the weighted sum with its bias: sigmoid was not applied."
        ),
        *(
            Suspect(
                _without(gone),
                f"There is no number exactly where z is {which} 0: does the device function return one on each of its "
                "ways? Without a `return` it returns None.",
            )
            for gone, which in ((lambda z: z <= 0, "below"), (lambda z: z > 0, "above"))
        ),
        Suspect(lambda x, w, b, y: sigmoid(weighted(x, w)), "The bias was not added."),
        Suspect(lambda x, w, b, y: sigmoid(weighted(x, w)) + b, "The bias comes before sigmoid, not behind it."),
        Suspect(
            lambda x, w, b, y: sigmoid(-weighted(x, w, b)),
            "This is sigmoid(-z): a sign is turned round in its exponent.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x, w) + x.shape[1] * b.astype(np.float64)),
            "The bias was added for each input. It is added once.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x[:, -1:], w[-1:], b)),
            "This is the last product alone with the bias: the products must be added up, not replaced.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x[:, -1:], w[-1:])),
            "This is the last product alone: the products must be added up, not replaced.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x, w, b, first=1)),
            "The first input is missing: where does the loop begin?",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x[:, :-1], w[:-1], b)),
            "The last input is missing: where does the loop end?",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(np.repeat(x[:1], len(x), 0), w, b)),
            "All samples got the result of sample 0.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x, w) + b[: len(x), None]) if len(x) <= len(b) else NOTHING,
            "The bias of a sample was added. A bias belongs to an output: b[output].",
        ),
        Suspect(
            lambda x, w, b, y: b + sigmoid(x[:, :, None].astype(np.float64) * w).sum(axis=1),
            "sigmoid was applied to each product. It comes once, around the whole sum.",
        ),
        Suspect(lambda x, w, b, y: sigmoid(sigmoid(weighted(x, w, b))), "sigmoid was applied twice."),
    ),
    advice={
        "out-of-bounds": (
            "An index left its array. There are more threads than outputs and samples: output < y.shape[1], sample < "
            "y.shape[0]. And x has samples first, w has inputs first."
        ),
        "none-beyond": (
            "Here each thread has an output, so no guard is missing. x has samples first, then inputs; w inputs first, "
            "then outputs; and the loop takes each of the x.shape[1] inputs once."
        ),
        "negative-index": "An index fell below 0. The loop goes over the inputs, from 0 on.",
        "not-finite": (
            "exp of a large number is infinite, and infinity divided by infinity is no number. 1 / (1 + exp(-z)) never "
            "divides infinity by infinity."
        ),
        "adds-to-old": "The sum begins with what stood in y. Begin it with 0, or with the bias, in a variable.",
        "some-unwritten": "Some outputs have no thread. x counts outputs, y counts samples: is one used as the other, "
        "in an index or in the guard?",
        "gaps-in-one-block": "x counts outputs, y counts samples: is one of them used as the other, in the guard or in "
        "the store?",
        "race": "Two threads store to one element. An output of a sample belongs to one thread: y[sample, output].",
        "raised-TypeError": (
            "Is one number used where there is an array? The sum is one number, of elements x[sample, k] and w[k, "
            "output], and the device function takes and returns one number."
        ),
        "wrong-value": (
            "Work out the first wrong element by hand: y[s, o] is the sum of x[s, k] * w[k, o] over all k, plus b[o], "
            "and then sigmoid. Which index in your loop does not change as it should?"
        ),
    },
    hints=(
        "A thread has one output of one sample. Which row of x and which column of w does it need? How long is its "
        "loop?",
        "A device function is an ordinary function with @cuda.jit(device=True) above it: it returns a number, and a "
        "kernel calls it. The sum over the inputs begins with the bias or with 0.",
        "cuda.grid(2) gives the output first, then the sample. A guard for both. In the loop one product is added; "
        "behind it stands the one store, with the device function around the sum.",
    ),
)
