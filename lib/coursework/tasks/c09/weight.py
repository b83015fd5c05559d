"""09-weight: The gradient of the weights."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import NOTHING, rimmed


def gradient_arguments(batch, ins, outs, height, width, kernel, padding):
    """make(rng) -> grad (batch, outs, ...), x (batch, ins, height, width), padding, out (outs, ins, kernel, kernel)."""
    high, wide = (n + 2 * padding - kernel + 1 for n in (height, width))
    return lambda rng: (
        random_values(rng, batch, outs, high, wide),
        random_values(rng, batch, ins, height, width),
        padding,
        unwritten(outs, ins, kernel, kernel),
    )


def gradient_case(name, batch, ins, outs, height, width, kernel, padding):
    said = (
        f"{name}: {batch} of {height} x {width}, {ins} to {outs} channels, kernel {kernel} x {kernel}, padding "
        f"{padding}"
    )
    return Case(said, gradient_arguments(batch, ins, outs, height, width, kernel, padding))


def weight_gradient(grad, x, padding, mode="constant", shift=0):
    """For each weight the sum of grad times the pixel that it met, float64."""
    x, grad = rimmed(x, padding, mode, shift), grad.astype(np.float64)
    high, wide = grad.shape[2:]
    tall, broad = x.shape[2] - high + 1, x.shape[3] - wide + 1
    sums = np.empty((grad.shape[1], x.shape[1], tall, broad))
    for ky, kx in np.ndindex(tall, broad):
        sums[:, :, ky, kx] = np.einsum("nohw,nchw->oc", grad, x[:, :, ky : ky + high, kx : kx + wide])
    return sums


def backwards(grad, x, padding, out):
    """As if weight[ky, kx] had met the pixel (y - ky + padding, z - kx + padding)."""
    (tall, broad), (high, wide) = out.shape[2:], grad.shape[2:]
    more = max(tall, broad) + 3 * padding
    x, sums = rimmed(x, more), np.empty(out.shape)
    for ky, kx in np.ndindex(tall, broad):
        i, j = more - ky + padding, more - kx + padding
        sums[:, :, ky, kx] = np.einsum("nohw,nchw->oc", grad.astype(np.float64), x[:, :, i : i + high, j : j + wide])
    return sums


def _gradient(change):
    """A suspect: `change` of the right gradient, where that is another one."""

    def formula(grad, x, padding, out):
        return change(weight_gradient(grad, x, padding), grad, x, padding)

    return formula


WEIGHT = ParallelTask(
    id="09-weight",
    section=Section("9.2", "09_convolution_fast", "Backward"),
    title="The gradient of the weights",
    objective="Write the backward pass of a convolution by its weights in parallel, without a race",
    points=3,
    minutes=22,
    spec=lambda grad, x, padding, out: weight_gradient(grad, x, padding),
    rtol=2e-5,
    atol=2e-5,
    cases=(
        gradient_case("one picture", 1, 1, 1, 5, 6, 3, 0),
        gradient_case("channels", 1, 3, 2, 6, 5, 3, 1),
        gradient_case("a batch", 3, 2, 4, 5, 7, 3, 1),
        gradient_case("1 x 1", 2, 3, 2, 4, 5, 1, 0),
        gradient_case("kernel 5 x 5", 2, 2, 3, 6, 7, 5, 2),
    ),
    suspects=(
        Suspect(
            _gradient(lambda right, grad, x, p: right[:, :, ::-1, ::-1]),
            "The kernel is turned round: weight[..., ky, kx] met the pixel (y + ky - padding, z + kx - padding), and "
            "that pixel counts here.",
        ),
        Suspect(
            backwards,
            "The way back was taken the wrong way round: element (y, z) of the result met pixel (y + ky - padding, z + "
            "kx - padding), so pixel (i, j) belongs to element (i - ky + padding, j - kx + padding).",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: right.swapaxes(2, 3)),
            "ky and kx are exchanged: ky goes with rows, kx with columns.",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: weight_gradient(grad[:1], x[:1], p) if len(x) > 1 else NOTHING),
            "This is the gradient of the first picture alone. All pictures of the batch used the same weights: their "
            "gradients add up.",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: weight_gradient(grad[-1:], x[-1:], p) if len(x) > 1 else NOTHING),
            "This is the gradient of the last picture alone: does the sum begin at 0 again for each picture?",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: right / len(x) if len(x) > 1 else NOTHING),
            "This is divided by the number of pictures. A gradient of a sum is a sum: the loss has seen to the mean.",
        ),
        Suspect(
            lambda grad, x, padding, out: weight_gradient(grad, x, padding, "edge") if padding else NOTHING,
            "A wrong border: beyond the edge the nearest pixel was used again. There the picture counts as 0.",
        ),
        Suspect(
            lambda grad, x, padding, out: weight_gradient(grad, x, padding, "negative") if padding else NOTHING,
            "A wrong border: a negative index takes a pixel from the other side. Beyond the edge the picture counts as "
            "0.",
        ),
        Suspect(
            lambda grad, x, padding, out: weight_gradient(grad, x, padding, shift=padding) if padding else NOTHING,
            "A wrong border: the padding was not subtracted. Element (0, 0) of the result saw pixels from -padding on.",
        ),
        Suspect(
            lambda grad, x, padding, out: (
                weight_gradient(grad, np.repeat(x[:, :1], x.shape[1], 1), padding) if x.shape[1] > 1 else NOTHING
            ),
            "All input channels got the gradient of channel 0.",
        ),
        Suspect(
            lambda grad, x, padding, out: (
                weight_gradient(np.repeat(grad[:, :1], grad.shape[1], 1), x, padding) if grad.shape[1] > 1 else NOTHING
            ),
            "All output channels got the gradient of output channel 0.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. A pixel may lie beyond the picture: its row must be from 0 to height - 1, its "
            "column from 0 to width - 1. grad has the result's shape: (batch, out channels, rows, columns)."
        ),
        "race": (
            "Two rounds of the parallel loop add to the same weight: every picture, and every pixel of the result, "
            "used every weight. Which loop can the threads share so that each has weights of its own?"
        ),
        "carried-scalar": "Each weight has a sum of its own. Begin it at 0 inside the loops, where its weight is "
        "chosen.",
        "wrong-value": (
            "Work out the first wrong weight, [o, c, ky, kx]: over all pictures, rows y and columns z, grad[n, o, y, "
            "z] times the pixel x[n, c, y + ky - padding, z + kx - padding], where there is one. Is the padding "
            "subtracted, and does the sum begin anew for each weight?"
        ),
    },
    watch=Watch(
        case=gradient_case("watched", 2, 2, 2, 4, 4, 3, 1),
        starts=3,
        larger=(gradient_case("many channels", 2, 6, 12, 4, 5, 3, 1),),
    ),
    hints=(
        "In the forward pass, which elements of the result did weight[o, c, 0, 0] help to make? With which pixel was "
        "it multiplied for each of them?",
        "The slope of a sum by one of its weights is the pixel beside it. So each weight gathers: over all pictures, "
        "rows and columns of the result, what arrived there times the pixel. Share the weights out, not the pictures.",
        "`for o in prange(...)` over the output channels; inside, plain loops over c, ky, kx, and for each a sum that "
        "begins with 0; then loops over n, y, z, and the same four comparisons as in task 3.",
    ),
)
