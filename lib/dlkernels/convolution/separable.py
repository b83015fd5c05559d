"""Depthwise separable convolution: a depthwise one, then one of 1 x 1 pixels.

Done one after the other, what is between them is written to memory and read again: as many channels as the input has,
for as few operations as a depthwise convolution makes of each. Fused, a band of it stays in the cache: channels stand
in the lanes (turned.py), a vector of them is summed over the places of the kernel, and the product of implicit.py reads
what was just written.

The ladder of conv2d_separable                what the rung adds
    conv2d_separable_in_two    conv2d twice
    conv2d_separable_fused     a band of what is between stays in the cache
"""

import functools

import numpy as np

from .. import measured, team
from ..host import plain, taken, workspace
from ..implementations import implementation
from ..matrix import choose as products
from ..simd import lanes, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from . import cpu, implicit
from .geometry import Geometry
from .lanes import PIXELS, pixels_of_vector
from .pictures import with_batch

POINT = Geometry(1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1)


def on_pictures(rung):
    """Let `rung`, written for contiguous arrays with a batch and a bias, take what `conv2d_separable` prepares."""

    @functools.wraps(rung)
    def wrapper(x, depthwise, pointwise, bias, g, out):
        if pointwise.size == 0:
            out[...] = 0 if bias is None else bias[:, None, None]
        elif out.size:
            bias = np.zeros(len(pointwise), out.dtype) if bias is None else plain(bias)
            rung(with_batch(plain(x)), plain(depthwise), plain(pointwise), bias, g, with_batch(out))
        return out

    return wrapper


def _in_two(x, depthwise, pointwise, bias, g, out):
    between = np.empty((len(x), len(depthwise), *out.shape[2:]), x.dtype)
    cpu.direct(x, depthwise, np.zeros(len(depthwise), x.dtype), g, between)
    cpu.direct(between, pointwise, bias, POINT, out)


@implementation(
    "conv2d_separable", device="cpu", adds="conv2d twice: what is between is written to memory and read again"
)
@on_pictures
def conv2d_separable_in_two(*arguments):
    _in_two(*arguments)


@inner_njit()
def _task_of_weights(arguments, task, who):
    _x, pointwise, _bias, _out, work, _places, _g, p, _q = arguments
    implicit.turn_weights(pointwise, task, p, memory(work), task * p.factors, p.shared + who * p.own)


@inner_njit()
def _task_of_band(arguments, task, who):
    x, _pointwise, bias, out, work, places, g, p, q = arguments
    picture, top = task // p.bands, task % p.bands * p.rows
    rows, wide = min(p.rows, out.shape[2] - top), out.shape[3]
    line, scratch, size = memory(work), p.shared + who * p.own, lanes(work)
    results = scratch + p.scratch
    seen = results + (p.rows * wide + implicit.TALL) * 2 * size
    between = seen + p.band
    factors = p.panels * p.factors
    steps = p.down * p.wide * p.pitch, p.across * p.pitch, p.pitch, p.pitch
    for vector in range(-(-x.shape[1] // size)):
        implicit.turn_band(x, g, p, picture, top, rows, vector, line, seen, scratch)
        channel = vector * size
        pixels_of_vector(steps, places, rows, wide, line, seen + channel, factors + channel, between + channel)
    for panel in range(p.panels):
        implicit.multiply(q, places[:1], bias, panel, rows, wide, line, between, panel * p.factors, results)
        implicit.put(out, picture, panel, top, rows, line, results)


@cached_njit()
def convolve_fused(x, pointwise, bias, out, work, places, g, p, q, threads, least, team):
    """out = the convolution, for contiguous arrays. p: the plan of the depthwise part, q: of the product."""
    arguments = x, pointwise, bias, out, work, places, g, p, q
    share(_task_of_weights, arguments, p.panels, threads, 0, team)
    share(_task_of_band, arguments, out.shape[0] * p.bands, threads, least, team)


def _pays_fused(x, depthwise, pointwise, bias, g, out):
    """Whether the fused way is faster. Where a panel of output channels stays partly empty, each machine says so."""
    if len(pointwise) % (2 * vector_width(pointwise.dtype)) == 0:
        return True

    def ways():
        arguments = x, depthwise, pointwise, bias, g, np.empty_like(out)
        return {"fused": functools.partial(_fused, *arguments), "in two": functools.partial(_in_two, *arguments)}

    shapes = f"{x.shape}, {depthwise.shape[2:]}, to {out.shape}, {out.dtype.char}"
    return measured.fastest(f"conv2d_separable: {shapes}", ("fused", "in two"), ways) == "fused"


def plans(x, depthwise, pointwise, g, out, threads):
    """(`implicit.Plan` of the depthwise part, with room for what is between; the same of the product)."""
    high, wide = out.shape[2:]
    channels, line, size = x.shape[1], implicit.LINE, vector_width(out.dtype)
    pitch = (-(-channels // line) | 1) * line
    columns = (wide - 1) * g.stride_x + (g.kernel_x - 1) * g.dilation_x + 1
    reach = (g.kernel_y - 1) * g.dilation_y + 1
    fit = implicit.BAND // (columns * pitch * out.itemsize)
    rows = max(1, min(high, (fit - reach) // g.stride_y + 1))
    if threads > 1:
        rows = max(1, min(rows, -(-len(x) * high // (2 * threads))))
    rows = -(-high // -(-high // rows))
    tall = (rows - 1) * g.stride_y + reach
    stride_y, stride_x = (g.stride_y if high > 1 else 1), (g.stride_x if wide > 1 else 1)
    beyond = max(implicit.LOW, PIXELS) * stride_x * pitch
    panels = -(-len(pointwise) // (2 * size))
    factors = 2 * size * channels
    scratch = -(-(tall * columns + implicit.TURNED) * size // line) * line
    band, between = tall * columns * pitch + beyond, (rows * wide + 2 * PIXELS) * pitch
    own = scratch + (rows * wide + implicit.TALL) * 2 * size + band + between
    shared = panels * factors + depthwise[0].size * pitch
    shared, own = (-(-elements // line) * line for elements in (shared, own))
    p = implicit.Plan(
        rows, -(-high // rows), 1, tall, columns, 1, 1, stride_y, stride_x, pitch, band, depthwise[0].size, channels,
        panels, factors, False, False, scratch, shared, own,
    )  # fmt: skip
    return p, p._replace(down=1, across=1, wide=wide, runs=1)


@implementation(
    "conv2d_separable",
    device="cpu",
    adds="fused: a band of what is between stays in the cache, channels in the lanes from beginning to end",
    limits=(
        "more than one channel between the two for each input channel, and pixels that tiles multiply faster "
        "(`implicit.pays`: few channels), go the way of conv2d_separable_in_two; so do output channels that leave "
        "vectors empty, where a machine is faster so"
    ),
    public=True,
)
@on_pictures
def conv2d_separable_fused(x, depthwise, pointwise, bias, g, out):
    fits = len(depthwise) == x.shape[1] and implicit.pays(pointwise, POINT, out)
    arguments = x, depthwise, pointwise, bias, g, out
    (_fused if fits and _pays_fused(*arguments) else _in_two)(*arguments)


def _fused(x, depthwise, pointwise, bias, g, out):
    multiplies = out[:, 0].size * (depthwise.size + pointwise.size)
    threads = products.threads_for(multiplies)
    p, q = plans(x, depthwise, pointwise, g, out, threads)
    work = workspace(out.dtype, p.shared + threads * p.own)
    turned = work[p.panels * p.factors :][: p.runs * p.pitch].reshape(p.runs, p.pitch)
    padded, least = implicit.filled_up(bias, p.panels), products.least_time(multiplies)
    with taken(work):
        turned[:, : len(depthwise)], turned[:, len(depthwise) :] = depthwise.reshape(len(depthwise), -1).T, 0
        convolve_fused(x, pointwise, padded, out, work, implicit.offsets(g, p), g, p, q, threads, least, team.members())
