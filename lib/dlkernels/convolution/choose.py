"""Which way a convolution goes: the one place that decides it, and says why. Memory that is kept for the next call."""

import threading
from dataclasses import dataclass

import numpy as np

from .. import team
from ..matrix import choose as products
from . import tiles
from .tiles import ROWS

KEPT = 32 << 20  # bytes of workspace that a thread keeps for its next call; what is larger is given back
_kept = threading.local()


@dataclass(frozen=True)
class Choice:
    """How `conv2d` computes a result.

    multiplies: how many multiply-adds that takes, those with padded zeros included. workspace: bytes beside arguments and
    result; those not counted that any product of matrices keeps (matrix/choose.py), and copies of arguments that are not
    contiguous.
    """

    rung: str
    why: str
    multiplies: int
    workspace: int

    def __str__(self):
        return f"{self.rung}: {self.why} {self.multiplies:,} multiply-adds, {self.workspace:,} bytes of workspace."


def way(weight, g):
    """The name of the rung that is fastest for such weights."""
    if is_depthwise(weight, g):
        return "conv2d_depthwise"
    return "conv2d_pointwise" if is_product(g) else "conv2d_tile"


def explained(x, weight, g, out):
    """The `Choice` for host arrays with a batch, in words."""
    rung, multiplies = way(weight, g), out.size * weight[0].size
    if not multiplies:
        return Choice("conv2d_chosen", "there is nothing to multiply.", 0, 0)
    if rung == "conv2d_pointwise":
        why = "a 1x1 kernel makes each pixel a product of its channels with the weights: a product of matrices."
        smaller = (g.stride_y, g.stride_x) != (1, 1)
        why += " Pixels that the stride leaves out are left out first." if smaller else ""
        return Choice(rung, why, multiplies, out[:, 0].size * x.shape[1] * x.itemsize if smaller else 0)
    if rung == "conv2d_depthwise":
        why = "one input channel for each result: nothing to share among channels, so each plane is read once and done."
    else:
        why = f"{weight[0].size} terms for each result: a tile of {ROWS} channels stays in registers meanwhile."
    threads = products.threads_for(multiplies)
    c = tiles.cut(x, weight, g, out, threads, rung == "conv2d_tile")
    return Choice(rung, why, multiplies, (c.weights + threads * c.each) * out.itemsize)


def is_product(g):
    """Whether a convolution is a product of matrices as it stands."""
    return (g.kernel_y, g.kernel_x) == (1, 1) and not (g.top or g.bottom or g.left or g.right)


def is_depthwise(weight, g):
    """Whether a group is one channel, with too few results to fill a tile."""
    return weight.shape[1] == 1 and weight.shape[0] // g.groups < ROWS


def workspace(dtype, elements):
    """Memory for so many elements, or more, kept for this thread's next call unless it is large."""
    line = _kept.__dict__.get(dtype.char)
    if line is None or line.size < elements:
        line = np.empty(elements, dtype)
        if line.nbytes <= KEPT:
            setattr(_kept, dtype.char, line)
    return line


def convolve(x, weight, bias, g, out, pack):
    """out = the convolution by `tiles`: dense, or depthwise where weights need not be packed."""
    multiplies = out.size * weight[0].size
    threads = products.threads_for(multiplies)
    c = tiles.cut(x, weight, g, out, threads, pack)
    kernel = tiles.convolve if pack else tiles.convolve_depthwise
    work = workspace(out.dtype, c.weights + threads * c.each)
    kernel(
        x, weight, bias, out, work, tiles.offsets(g, c), g, c, threads, products.least_time(multiplies), team.members()
    )
