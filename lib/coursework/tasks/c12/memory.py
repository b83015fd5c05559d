"""12-memory: Predict what training keeps."""

import functools

import numpy as np

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

BOOK = 64, 256, 10, 128, 16


def parameters(inputs, hidden, classes):
    """Weights and biases of two layers."""
    return hidden * inputs + hidden + classes * hidden + classes


@functools.cache
def kept_bytes(inputs, hidden, classes, batch):
    """Bytes of the arrays that linear, relu, linear keep for their backward, by the table; weights not counted."""
    from dlkernels import implementations, linear, relu

    x, w1, w2 = (np.zeros(shape, np.float32) for shape in ((batch, inputs), (hidden, inputs), (classes, hidden)))
    before = linear(x, w1)
    after = relu(before)
    kept = [
        implementations.keep("linear", before, x, w1),
        implementations.keep("relu", after, before),
        implementations.keep("linear", linear(after, w2), after, w2),
    ]
    arrays = {id(a): a for of_layer in kept for a in of_layer.values() if isinstance(a, np.ndarray)}
    return sum(a.nbytes for a in arrays.values() if a is not w1 and a is not w2)


def peak(layers, every):
    """The most results kept at once, if each `every`-th of `layers` equal layers keeps its input, and the others
    compute it again."""
    points = range(0, layers, every)
    return max(len(points) + min(every, layers - point) - 1 for point in points)


def least_peak(layers):
    return min(peak(layers, every) for every in range(1, layers + 1))


def asked(inputs, hidden, classes, batch, layers):
    """For each question: its text, its answer, what wrong answers rest on, what to do about any other."""
    count, kept, least = (
        parameters(inputs, hidden, classes),
        kept_bytes(inputs, hidden, classes, batch),
        least_peak(layers),
    )
    return {
        "parameters": (
            f"numbers in the weights and biases of two linear layers, {inputs} to {hidden} to {classes}",
            count,
            {
                inputs * hidden
                + hidden * classes: "These are the weights. Each layer has a bias for each of its results, too.",
                hidden
                + classes: "These are the biases. A weight stands between each input and each result of a layer.",
            },
            "A layer from a to b has a weight for each pair, and a bias for each of its b results.",
        ),
        "state": (
            "bytes of parameters, gradients and Adam's two averages, in float32",
            4 * 4 * count,
            {
                4 * count: "These are the parameters alone. How many arrays as large are there besides?",
                8 * count: "Parameters and gradients. Adam keeps two running averages for each of them.",
                12 * count: "Count again: parameters, gradients, the average of the gradients, that of their squares.",
            },
            "Four bytes for each number: and how many numbers belong to each parameter?",
        ),
        "kept": (
            f"bytes of activations that linear, ReLU, linear keep for the backward pass of a batch of {batch}",
            kept,
            {
                4
                * batch
                * (inputs + hidden): "One array is missing. The second layer keeps what went into it, and ReLU what "
                "went into it: are these the same?",
                4
                * batch
                * (inputs + 2 * hidden + classes): "The result of the last layer is kept by the loss, if at all. The "
                "three keep what went in.",
                8 * batch * hidden: "The first layer keeps the pictures: the gradient of its weights needs them.",
                kept // batch: f"That is one picture. The batch has {batch}.",
                kept // 4: "These are numbers. A float32 has four bytes.",
            },
            "For each of the three: what must its backward know of the forward pass? The table on the page says it. "
            "Multiply by the batch and by four bytes.",
        ),
        "peak": (
            f"inputs kept at once, at least, in a network of {layers} equal layers with checkpoints at even distances",
            least,
            {
                layers: "That is without checkpoints: each layer keeps its input. With checkpoints, layers between two "
                "of them compute theirs again, when the backward pass comes to them.",
                least + 1: "Nearly: of the group at work one input is the checkpoint itself, which is counted already.",
                (least + 1) // 2: "These are the checkpoints, or the inputs of one group. Both are there at once.",
            },
            "Choose a distance d between checkpoints. How many checkpoints are there, and how many inputs of the group "
            "at work that are no checkpoint? Try d = 1, 2, 4, 8.",
        ),
    }


def question(name):
    text, _, slips, otherwise = asked(*BOOK)[name]
    return Question(name, text, lambda: asked(*BOOK)[name][1], slips, otherwise)


MEMORY = PredictionTask(
    id="12-memory",
    section=Section("12.2", "12_step", "What is kept"),
    title="Predict what training keeps",
    objective="Predict the bytes of parameters, optimiser and activations, and what checkpointing leaves of them",
    points=3,
    minutes=15,
    questions=tuple(question(name) for name in ("parameters", "state", "kept", "peak")),
    hints=(
        "Draw the network as boxes, with the arrays between them. Which arrays does the backward pass of each box "
        "need?",
        "parameters: weights and biases. state: four arrays of the same size. kept: what goes into each of the three. "
        "peak: checkpoints, and what the group at work computes again.",
        "peak: with distance d there are 16 / d checkpoints, and d - 1 more inputs while a group is at work. Which d "
        "makes the sum smallest?",
    ),
)
