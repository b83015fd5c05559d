"""08-network: A network on your own kernels."""

import numpy as np

from ... import network
from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def network_arguments(n):
    """make(rng) -> x (n, 63) of pictures on which the network is sure, and its trained weights w1, b1, w2, b2."""

    def make(rng):
        x, _ = network.pictures(rng, 4 * n + 20)
        p = np.sort(network.probabilities(x, *network.weights()), axis=1)
        return (x[p[:, -1] - p[:, -2] > 0.05][:n], *network.weights())

    return make


_SLIPS = (
    (lambda x, w1, b1, w2, b2: (x, w1, 0 * b1, w2, b2), "the bias of the hidden layer is missing"),
    (lambda x, w1, b1, w2, b2: (x, w1, b1, w2, 0 * b2), "the bias of the last layer is missing"),
    (lambda x, w1, b1, w2, b2: (x, w1, 0 * b1, w2, 0 * b2), "both biases are missing"),
    (
        lambda x, w1, b1, w2, b2: (x, w1, 2 * b1, w2, b2),
        "the bias of the hidden layer is added twice: bias_silu adds it, too",
    ),
    (lambda x, w1, b1, w2, b2: (x[:1].repeat(len(x), 0), w1, b1, w2, b2), "every row got the answer of the first"),
    (lambda x, w1, b1, w2, b2: (x[::-1], w1, b1, w2, b2), "the rows come in the opposite order"),
)


def judge_network(arguments, result):
    """Right if the label of every picture is that of the network in NumPy and float64."""
    x, w1, b1, w2, b2 = arguments
    expected = f"{len(x)} whole numbers from 0 to 9, one for each row of x"
    if not isinstance(result, list | tuple | np.ndarray):
        return Slip("type", expected, "Return the labels as an array or a list.")
    try:
        labels = np.asarray(result)
    except ValueError:
        return Slip("type", expected, "Return one number for each row.")
    if labels.shape == (len(x), network.DIGITS):
        return Slip(
            "probabilities",
            expected,
            "These are numbers for every class. Which is the largest in each row?",
            f"an array of shape {labels.shape}",
        )
    if labels.shape != (len(x),) or labels.dtype.kind not in "iu":
        return Slip(
            "type", expected, "Return one whole number for each row.", f"{labels.dtype} of shape {labels.shape}"
        )
    truth = network.forward(*arguments)
    wrong = np.flatnonzero(labels != truth)
    if not wrong.size:
        return None
    cause = next(
        (
            f"This is what comes out when {words}."
            for without_silu, words in _SLIPS
            if np.array_equal(labels, network.forward(*without_silu(*arguments)))
        ),
        "",
    )
    straight = [((x.astype(np.float64) @ w1 + p * b1) @ w2 + q * b2).argmax(axis=1) for p in (0, 1) for q in (0, 1)]
    if not cause and any(np.array_equal(labels, without_silu) for without_silu in straight):
        cause = (
            "This is what comes out without SiLU: two matmuls in a row are no more than one. Which array does the "
            "second one get?"
        )
    if not cause and not labels.any():
        cause = "Every label is 0. Does anything write into the labels, row by row?"
    if not cause and ((labels < 0) | (labels >= network.DIGITS)).any():
        cause = (
            f"A digit is 0 to {network.DIGITS - 1}. `largest` says where the largest number of the array lies that it "
            "was given: did it get one row of the probabilities, or all of them?"
        )
    cause = cause or "Follow one picture: which shape has what you hold after each step, and which kernel wrote it?"
    return Slip(
        "labels",
        f"{truth[wrong[0]]} for row {wrong[0]}",
        cause,
        f"{labels[wrong[0]]}; {wrong.size} of {len(x)} rows are wrong",
    )


NETWORK = FunctionTask(
    id="08-network",
    section=Section("7.2", "07_fusion", "The first neural layer"),
    title="A network on your own kernels",
    objective="Compose matmul, bias, activation and softmax into a network that reads digits",
    points=2,
    minutes=12,
    judge=judge_network,
    cases=(
        Case("one picture", network_arguments(1)),
        Case("64 pictures", network_arguments(64)),
        Case("33 pictures: no multiple of anything", network_arguments(33)),
    ),
    advice={
        "raised-ValueError": "Do the shapes fit, for any number of rows? A kernel writes into an array that you have "
        "made for it.",
        "raised-TypeError": "A kernel returns nothing, None: it writes into its last argument. That must be an array, "
        "or a part of one as `labels[i : i + 1]`, not a number.",
        "raised-NameError": "A name is used that is not defined there. The kernels are called `mine.matmul` and so on.",
    },
    hints=(
        "Which shape has x, which has w1? So which shape must the array have that the first matmul writes into?",
        "Each kernel writes into its last argument: make that array first, as np.empty of float32. The order is "
        "matmul, bias_silu, matmul, scale_shift, softmax_rows, largest.",
        "An array in between has the rows of what goes into a kernel and the columns of its weights. scale_shift wants "
        "four axes: reshape both arrays to (n, 1, 1, 10), with a scale of ones. largest takes one row, as float64.",
    ),
)
