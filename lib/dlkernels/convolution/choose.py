"""Which way a convolution goes: the one place that decides it, by shape and accuracy, and says why.

What a sum of n products may be off, term by term, is (n + 3) eps |weight| * |input| (examples.py), whatever the order.
Ways that add before they multiply, Winograd's and Fourier's, have a bound of the same form only with the largest
numbers in the place of all: a result is off by at most

    WORSE * (n + 3) eps n largest|weight| largest|input|

which says little where the largest number is far larger than the others: a dark corner of a picture then takes errors
from a bright one. So the sizes of all numbers are looked at first. The faster way is taken where

    (largest / mean of |input|) * (largest / mean of |weight|)  <=  SPREAD

and where numbers are neither so large nor so small that intermediate ones leave the range of the dtype. Otherwise, and
always where a number is infinite or NaN, the sum goes term by term.
"""

import functools
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from .. import implementations, measured, team
from ..host import LARGE, workspace
from ..matrix import choose as products
from . import depthwise, fft, implicit, lanes, pointwise, tiles, winograd
from .plans import by_shape
from .sizes import sizes
from .tiles import FEW, ROWS

#: How much larger than a direct sum's the bound of the error is, both for the largest numbers: for m = 2 and 4 the
#: product of the sums of the absolute values of `winograd.matrices`, over 81, and twice as much for the roundings of
#: transforms.
WORSE = {"conv2d_winograd_2x2": 2, "conv2d_winograd_4x4": 20, "conv2d_fft": 4}
SPREAD = {"conv2d_winograd_2x2": 1 << 16, "conv2d_winograd_4x4": 1 << 12, "conv2d_fft": 1 << 12}


@dataclass(frozen=True)
class Choice:
    """How `conv2d` computes a result.

    multiplies: how many multiply-adds that takes, those with padded zeros included. workspace: bytes beside arguments
    and result; those not counted that any product of matrices keeps (matrix/choose.py), and copies of arguments that
    are not contiguous. bytes: those of input, weights, bias and result, each read or written once; no way moves less if
    it needs every pixel, and most move more.
    """

    rung: str
    why: str
    multiplies: int
    workspace: int
    bytes: int = 0

    def __str__(self):
        work = f"{self.multiplies:,} multiply-adds, {self.bytes:,} bytes of arguments and result"
        return f"{self.rung}: {self.why} {work}, {self.workspace:,} bytes of workspace."


class Question(namedtuple("Question", "rungs layer")):
    """What no count decides, and each machine times once: rungs, the usual one first, and a layer that stands for all
    such, as (pictures, input channels, output channels, (height, width), kernel, (stride_y, stride_x))."""

    @functools.cached_property
    def text(self):
        pictures, ins, outs, (tall, broad), kernel, (down, across) = self.layer
        layer = f"{pictures} x {ins} to {outs} channels, {tall} x {broad}, kernel {kernel}, stride {down} x {across}"
        return f"conv2d by {' or '.join(self.rungs)}: {layer}"


FIRST_LAYERS = Question(("conv2d_tile", "conv2d_implicit"), (1, 3, 64, (112, 112), 3, (2, 2)))
ONE_CHANNEL = Question(("conv2d_depthwise", "conv2d_tile", "conv2d_implicit"), (1, 1, 32, (28, 28), 3, (1, 1)))
#: Of 1x1 kernels none stands for all, and each is timed: with a stride, where on one machine a long product is faster,
#: and implicit GEMM where it is short; and with a large result of few channels, where all hangs on how it is written.
STRIDED_PIXELS = "conv2d_pointwise", "conv2d_implicit"
FEW_CHANNELS = "conv2d_tile", "conv2d_pointwise"


def direct_way(weight, g, out):
    """The name of the rung that is fastest for such weights, of those that add up the products as they are."""
    return _answered(_direct(weight, g, out))


def _answered(way):
    return way if isinstance(way, str) else measured_way(way)


def _direct(weight, g, out):
    """As `direct_way`; where no count tells, what is to be asked."""
    if is_depthwise(weight, g):
        return "conv2d_depthwise_lanes" if lanes.pays(weight, g, out) else "conv2d_depthwise"
    if pointwise.fits(g):
        return _direct_of_pixels(weight, g, out)
    if implicit.pays(weight, g, out):
        return "conv2d_implicit"
    if not implicit.may_pay(weight, g, out):
        return "conv2d_tile"
    return ONE_CHANNEL if weight.shape[1] == 1 else FIRST_LAYERS


def _direct_of_pixels(weight, g, out):
    """`_direct` where the kernel is one pixel."""
    (pictures, outs, high, wide), ins, strides = out.shape, weight.shape[1], (g.stride_y, g.stride_x)
    if strides != (1, 1) and implicit.pays(weight, g, out):
        rungs = STRIDED_PIXELS
    elif strides == (1, 1) and g.groups == 1 and ins <= FEW and out.nbytes >= LARGE:
        rungs = FEW_CHANNELS
    else:
        return "conv2d_pointwise"
    seen = (high - 1) * g.stride_y + 1, (wide - 1) * g.stride_x + 1  # no larger than the picture, whatever the stride
    return Question(rungs, (pictures, ins, outs, seen, 1, strides))


def measured_way(question):
    """Which of the rungs is faster on this machine, the first if none is clearly, for layers like that one."""
    rungs, (pictures, ins, outs, edges, kernel, strides) = question

    def ways():
        x, weight = np.ones((pictures, ins, *edges), np.float32), np.ones((outs, ins, kernel, kernel), np.float32)
        table = {row.name: row for row in implementations.of("conv2d", "cpu")}
        call = (x, weight, None, strides, kernel // 2)
        return {name: functools.partial(table[name], *call) for name in rungs}

    return measured.fastest(question.text, rungs, ways)


@by_shape
def _ways(weight, g, out, threads):
    """The names of the rungs that are faster by shape, the fastest first; the last is `_direct`."""
    faster = [f"conv2d_winograd_{m}x{m}" for m in winograd.pays(weight, g, out)]
    return [*faster, *(["conv2d_fft"] if fft.pays(weight, g, out) else []), _direct(weight, g, out)]


def way(x, weight, g, out):
    """(name of the rung, why not one that is faster by shape) for contiguous arrays."""
    *faster, direct = _ways(weight, g, out, team.size())
    if not faster:
        return _answered(direct), ""
    of_x, of_weight = sizes(x, weight)
    limits = np.finfo(out.dtype)
    products_ = of_x.mean * of_weight.mean, of_x.largest * of_weight.largest * weight[0].size
    least, most = float(limits.tiny / limits.eps), float(limits.max * limits.eps)
    if not (
        least < min(of_x.mean, of_weight.mean, products_[0])
        and max(of_x.largest, of_weight.largest, products_[1]) < most
    ):
        return _answered(direct), f"{faster[0]} would be faster, but numbers are not all of moderate size."
    spread = of_x.largest / of_x.mean * (of_weight.largest / of_weight.mean)
    fitting = next((name for name in faster if spread <= SPREAD[name]), None) or _answered(direct)
    if fitting == faster[0]:
        return fitting, ""
    return fitting, f"{faster[0]} would be faster, but the largest numbers are {spread:.0f} times the usual ones."


def explained(x, weight, g, out):
    """The `Choice` for contiguous host arrays with a batch, in words."""
    multiplies = out.size * weight[0].size
    if not multiplies:
        return Choice("conv2d_chosen", "there is nothing to multiply.", 0, 0)
    rung, but = way(x, weight, g, out)
    threads = products.threads_for(multiplies)
    if rung == "conv2d_pointwise":
        why = "a 1x1 kernel makes each pixel a product of its channels with the weights: a product of matrices."
        return Choice(rung, why, multiplies, pointwise.room(x, g, out))
    if rung == "conv2d_fft":
        edges, multiplies, room = fft.counts(weight, g, out)
        why = (
            f"a kernel of {g.kernel_y} x {g.kernel_x}: products of spectra of {edges[0]} x {edges[1]} pixels cost less."
        )
        return Choice(rung, why, multiplies, room)
    if rung.startswith("conv2d_winograd"):
        m = int(rung[-1])
        p = winograd.plan(weight, g, out, m, threads)
        why = f"{(m + 2) ** 2} multiplications for {9 * m * m}; the largest numbers are near enough to the usual ones."
        multiplies = (m + 2) ** 2 * x.shape[0] * p.down * p.across * len(weight) * weight.shape[1]
        return Choice(rung, f"{but} {why}".strip(), multiplies, (p.shared + threads * p.own) * out.itemsize)
    if rung == "conv2d_depthwise_lanes":
        p = lanes.plan(weight, g, out)
        why = "one input channel for each result, rows that are short or strided: a channel in each lane."
        return Choice(rung, why, multiplies, (p.factors + threads * p.own) * out.itemsize)
    if rung == "conv2d_implicit":
        p = implicit.plan(weight, g, out, threads)
        why = f"{len(weight)} output channels fill vectors: a product with patches that nobody writes."
        return Choice(rung, f"{but} {why}".strip(), multiplies, (p.shared + threads * p.own) * out.itemsize)
    if rung == "conv2d_depthwise":
        why = "one input channel for each result: nothing to share among channels, so each plane is read once and done."
    else:
        why = f"{weight[0].size} terms for each result: a tile of {ROWS} channels stays in registers meanwhile."
    c = tiles.cut(weight, g, out, threads, rung == "conv2d_tile")
    return Choice(rung, f"{but} {why}".strip(), multiplies, (c.weights + threads * c.each) * out.itemsize)


def is_depthwise(weight, g):
    """Whether a group is one channel, with too few results to fill a tile."""
    return weight.shape[1] == 1 and weight.shape[0] // g.groups < ROWS


def convolve(x, weight, bias, g, out, pack):
    """out = the convolution by `tiles`: dense, or depthwise where weights need not be packed."""
    multiplies = out.size * weight[0].size
    threads = products.threads_for(multiplies)
    c = tiles.cut(weight, g, out, threads, pack)
    kernel = tiles.convolve if pack else depthwise.convolve_depthwise
    work = workspace(out.dtype, c.weights + threads * c.each)
    kernel(
        x, weight, bias, out, work, tiles.offsets(g, c), g, c, threads, products.least_time(multiplies), team.members()
    )
