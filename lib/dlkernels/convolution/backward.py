"""Gradients of convolution and pooling on the CPU.

With r the gradient of the loss with respect to the result, and the columns of im2col.py,

    of the weight   the sum over pictures of r columns^T, a product of matrices
    of the columns  weight^T r, another one; each column then goes back to where its pixels came from, and is added
    of the bias     the sum of r over pictures and pixels

The ladder of conv2d_backward             what the rung adds
    conv2d_backward_direct     the loops of the convolution: each multiply-add becomes two
    conv2d_backward_planes     all cores: each computes gradients of whole planes, along rows
    conv2d_backward_columns    two products of matrices with the columns of im2col
    conv2d_backward_implicit   no columns: each thread uses what it has made; with stride 1 the pixels' is a convolution
                               again
    conv2d_backward_lines      depthwise convolutions: each plane as one long line (depthwise_backward.py)
    conv2d_backward_turned     channels last, where the gradient of the weights is small (backward_turned.py)
"""

import functools

import numpy as np

from .. import team
from ..host import plain, workspace
from ..implementations import implementation
from ..matrix import choose as products
from ..matrix.bias import over_pictures
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from . import backward_implicit, backward_turned, choose, im2col, pairs
from .cpu import fastest
from .depthwise_backward import add_gradients
from .im2col import inside
from .pictures import no_bias, with_batch
from .pooling import largest_of, plane_of, planes, planes_of_task, put, threads_for, two_by_two
from .sizes import sizes

CONTRACT = {"contract"}
APART = 16  # numbers between what two threads write: two lines of the cache


def on_pictures(rung):
    """Let `rung`, written for contiguous arrays with a batch, fill gradients of x and weight, which come as zeros."""

    @functools.wraps(rung)
    def wrapper(bias, g, grad, x, weight):
        of_x, of_weight = np.zeros(x.shape, x.dtype), np.zeros(weight.shape, x.dtype)
        if grad.size and weight.size:
            rung(g, with_batch(plain(grad)), with_batch(plain(x)), plain(weight), with_batch(of_x), of_weight)
        return (of_x, of_weight) if bias is None else (of_x, of_weight, over_pictures(with_batch(grad)))

    return wrapper


# ---- 1: the formula --------------------------------------------------------------------------------------------


@cached_njit()
def _direct(g, grad, x, weight, of_x, of_weight):
    outs_of_group = grad.shape[1] // g.groups
    for n in range(grad.shape[0]):
        for o in range(grad.shape[1]):
            first = o // outs_of_group * weight.shape[1]
            for y in range(grad.shape[2]):
                for z in range(grad.shape[3]):
                    arrived = grad[n, o, y, z]
                    for c in range(weight.shape[1]):
                        for ky in range(g.kernel_y):
                            for kx in range(g.kernel_x):
                                i = y * g.stride_y + ky * g.dilation_y - g.top
                                j = z * g.stride_x + kx * g.dilation_x - g.left
                                if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                                    of_x[n, first + c, i, j] += weight[o, c, ky, kx] * arrived
                                    of_weight[o, c, ky, kx] += x[n, first + c, i, j] * arrived


@implementation(
    "conv2d_backward",
    device="cpu",
    adds="the loops of the convolution: each multiply-add becomes two, one for each gradient",
)
@on_pictures
def conv2d_backward_direct(g, grad, x, weight, of_x, of_weight):
    _direct(g, grad, x, weight, of_x, of_weight)


# ---- 2: planes ---------------------------------------------------------------------------------------------------


@inner_njit(fastmath=CONTRACT)
def _scatter_row(factor, source, stride, target):
    """target[::stride] += factor * source."""
    if stride == 1:
        for z in range(source.size):
            target[z] += factor * source[z]
    else:
        for z in range(source.size):
            target[z * stride] += factor * source[z]


@inner_njit(fastmath={"contract", "reassoc"})
def _dot(row, pixels, stride):
    """The sum of row * pixels[::stride], in an order that the compiler chooses."""
    total = row.dtype.type(0)
    if stride == 1:
        for z in range(row.size):
            total += row[z] * pixels[z]
    else:
        for z in range(row.size):
            total += row[z] * pixels[z * stride]
    return total


@inner_njit()
def _plane_of_x(arguments, task, who):
    """The gradient of one input channel of one picture: from all results that it went into."""
    g, grad, weight, of_x = arguments
    n, channel = task // of_x.shape[1], task % of_x.shape[1]
    group, c = channel // weight.shape[1], channel % weight.shape[1]
    target, outs = of_x[n, channel], grad.shape[1] // g.groups
    for o in range(group * outs, (group + 1) * outs):
        source = grad[n, o]
        for ky in range(g.kernel_y):
            top, bottom = inside(ky, target.shape[0], source.shape[0], g.stride_y, g.top, g.dilation_y)
            for kx in range(g.kernel_x):
                begin, end = inside(kx, target.shape[1], source.shape[1], g.stride_x, g.left, g.dilation_x)
                j = begin * g.stride_x + kx * g.dilation_x - g.left
                for y in range(top, bottom if begin < end else top):
                    row = target[y * g.stride_y + ky * g.dilation_y - g.top, j:]
                    _scatter_row(weight[o, c, ky, kx], source[y, begin:end], g.stride_x, row)


@inner_njit()
def _plane_of_weight(arguments, task, who):
    """The gradient of the weights between one output channel and one input channel."""
    g, grad, x, of_weight = arguments
    o, c = task // of_weight.shape[1], task % of_weight.shape[1]
    channel = o // (grad.shape[1] // g.groups) * of_weight.shape[1] + c
    for n in range(grad.shape[0]):
        source, pixels = grad[n, o], x[n, channel]
        for ky in range(g.kernel_y):
            top, bottom = inside(ky, pixels.shape[0], source.shape[0], g.stride_y, g.top, g.dilation_y)
            for kx in range(g.kernel_x):
                begin, end = inside(kx, pixels.shape[1], source.shape[1], g.stride_x, g.left, g.dilation_x)
                j = begin * g.stride_x + kx * g.dilation_x - g.left
                for y in range(top, bottom if begin < end else top):
                    row = pixels[y * g.stride_y + ky * g.dilation_y - g.top, j:]
                    of_weight[o, c, ky, kx] += _dot(source[y, begin:end], row, g.stride_x)


@cached_njit()
def _planes(g, grad, x, weight, of_x, of_weight, threads, team):
    share(_plane_of_x, (g, grad, weight, of_x), of_x.shape[0] * of_x.shape[1], threads, 0, team)
    share(_plane_of_weight, (g, grad, x, of_weight), of_weight.shape[0] * of_weight.shape[1], threads, 0, team)


@implementation(
    "conv2d_backward",
    device="cpu",
    adds="all cores: each the gradients of whole planes, so that nobody adds to what another adds to; loops along rows",
)
@on_pictures
def conv2d_backward_planes(g, grad, x, weight, of_x, of_weight):
    threads = products.threads_for(grad.size * weight[0].size)
    _planes(g, grad, x, weight, of_x, of_weight, threads, team.members())


# ---- 3: products of matrices ---------------------------------------------------------------------------------------


@inner_njit()
def _put_back(arguments, task, who):
    """Add the columns of one input channel to the pixels that they came from."""
    columns, g, top, rows, width, of_x = arguments
    target = of_x[task]
    high, wide = target.shape
    for tap in range(g.kernel_y * g.kernel_x):
        ky, kx = tap // g.kernel_x, tap % g.kernel_x
        begin, end = inside(kx, wide, width, g.stride_x, g.left, g.dilation_x)
        j = begin * g.stride_x + kx * g.dilation_x - g.left
        line = columns[task * g.kernel_y * g.kernel_x + tap]
        for y in range(rows if begin < end else 0):
            i = (top + y) * g.stride_y - g.top + ky * g.dilation_y
            if 0 <= i < high:
                _scatter_row(line.dtype.type(1), line[y * width + begin : y * width + end], g.stride_x, target[i, j:])


@cached_njit()
def _put_all_back(columns, g, top, rows, width, of_x, threads, team):
    share(_put_back, (columns, g, top, rows, width, of_x), of_x.shape[0], threads, 0, team)


@implementation(
    "conv2d_backward",
    device="cpu",
    adds="two products of matrices with the columns of im2col; depthwise convolutions, which have none, go by planes",
)
@on_pictures
def conv2d_backward_columns(g, grad, x, weight, of_x, of_weight):
    if choose.is_depthwise(weight, g):
        conv2d_backward_planes.__wrapped__(g, grad, x, weight, of_x, of_weight)
        return
    width = grad.shape[3]
    arrived = grad.reshape(*grad.shape[:2], -1)
    matrix, of_matrix = weight.reshape(len(weight), -1), of_weight.reshape(len(weight), -1)
    for n, out_channels, in_channels, top, rows in im2col.parts(weight, g, grad):
        some = np.ascontiguousarray(arrived[n, out_channels, top * width : (top + rows) * width])
        with im2col.columns_of(x[n, in_channels], g, top, rows, width) as columns:
            of_matrix[out_channels] += product(some, columns.T)
        back = product(matrix[out_channels].T, some)
        _put_all_back(back, g, top, rows, width, of_x[n, in_channels], products.threads_for(back.size), team.members())


@implementation(
    "conv2d_backward",
    device="cpu",
    adds=(
        "no columns, which would move from one core's cache to another's: patches are packed from the picture, and the "
        "gradient of the pixels is, with stride 1, a convolution with the kernel turned round, the fastest that fits"
    ),
)
@on_pictures
def conv2d_backward_implicit(g, grad, x, weight, of_x, of_weight):
    if choose.is_depthwise(weight, g):
        conv2d_backward_planes.__wrapped__(g, grad, x, weight, of_x, of_weight)
        return
    backward_implicit.of_weights(g, grad, x, of_weight)
    _pixels(g, grad, x, weight, of_x)


def _pixels(g, grad, x, weight, of_x):
    again = backward_implicit.back(g)
    # Beyond the edge of r the convolution multiplies by zeros that the formula does not have; 0 times infinity is NaN.
    if again and np.isfinite(sizes(weight)[0].mean):
        kernel = backward_implicit.turned(weight, g.groups)
        fastest(grad, kernel, no_bias(len(kernel), x.dtype), again, of_x)
    else:
        backward_implicit.of_pixels(g, grad, weight, of_x)


@implementation(
    "conv2d_backward",
    device="cpu",
    adds="depthwise convolutions: each plane as one long line, so that short rows fill vectors; others as before",
)
@on_pictures
def conv2d_backward_lines(g, grad, x, weight, of_x, of_weight):
    if choose.is_depthwise(weight, g) and all(np.isfinite(size.mean) for size in sizes(grad, x, weight)):
        add_gradients(g, grad, x, weight, of_x, of_weight)
    else:
        conv2d_backward_implicit.__wrapped__(g, grad, x, weight, of_x, of_weight)


# ---- 6: channels last ----------------------------------------------------------------------------------------------


@implementation(
    "conv2d_backward",
    device="cpu",
    adds=(
        "pixels turned to channels last, where the gradient of the weights is small: what the taps of a row see is one "
        "run then, so no patch is written; each task some pictures, with a gradient of its own"
    ),
    public=True,
)
@on_pictures
def conv2d_backward_turned(g, grad, x, weight, of_x, of_weight):
    if choose.is_depthwise(weight, g):
        conv2d_backward_lines.__wrapped__(g, grad, x, weight, of_x, of_weight)
        return
    _weights(g, grad, x, of_weight)
    _pixels(g, grad, x, weight, of_x)


def _weights(g, grad, x, of_weight):
    way = backward_turned if backward_turned.pays(of_weight, g, grad) else backward_implicit
    way.of_weights(g, grad, x, of_weight)


def without_pixels(bias, g, grad, x, weight):
    """(None, the gradient of weight, of bias) as `conv2d_backward_turned` has them; None for depthwise convolutions,
    which compute both gradients in one pass."""
    if choose.is_depthwise(weight, g):
        return None
    of_weight = np.zeros(weight.shape, x.dtype)
    if grad.size and weight.size:
        _weights(g, with_batch(plain(grad)), with_batch(plain(x)), of_weight)
    return (None, of_weight) if bias is None else (None, of_weight, over_pictures(with_batch(grad)))


def product(a, b):
    """a b for matrices that are contiguous, or transposes of such."""
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    products.multiply_contiguous(a, b, out)
    return out


# ---- pooling -------------------------------------------------------------------------------------------------------


@inner_njit()
def _max_back(arguments, task, who):
    """Some planes. A row of windows: first where the largest stand, then what arrives goes there."""
    down, across, grad, x, work, found, of_x, each = arguments
    (planes, high, wide), (rows, count) = x.shape, grad.shape[1:]
    source, arrived, target = memory(x), memory(grad), memory(of_x)
    best, places = memory(work)[who * found.shape[1] :], found[who]
    for plane in range(task * each, min((task + 1) * each, planes)):
        picture, result = plane_of(source, plane, high, wide), target[plane * high * wide : (plane + 1) * high * wide]
        result[:] = 0
        for y in range(rows):
            for z in range(count):
                best[z], places[z] = largest_of(picture, down, across, y, z)
            start = (plane * rows + y) * count
            for z in range(count):
                if places[z] >= 0:
                    result[np.uint64(places[z])] += arrived[np.uint64(start + z)]


@cached_njit()
def _max_planes_back(down, across, grad, x, work, found, of_x, each, threads, team):
    share(_max_back, (down, across, grad, x, work, found, of_x, each), -(-len(x) // each), threads, 0, team)


@inner_njit()
def _pairs_back(arguments, task, who):
    """Some planes with windows of 2 x 2: their largest pixels are found and written at once."""
    top, left, grad, x, of_x, each = arguments
    (planes, high, wide), (rows, count), target = x.shape, grad.shape[1:], memory(of_x)
    for plane in range(task * each, min((task + 1) * each, planes)):
        if 2 * rows < high or 2 * count < wide:
            for pixel in range(plane * high * wide, (plane + 1) * high * wide):
                target[np.uint64(pixel)] = 0
        first = (plane * high + top) * wide + left
        pairs.back_to_plane(memory(x), first, wide, memory(grad), plane * rows * count, target, rows, count)


@cached_njit()
def _max_pairs_back(top, left, grad, x, of_x, each, threads, team):
    share(_pairs_back, (top, left, grad, x, of_x, each), -(-len(x) // each), threads, 0, team)


MAX_ADDS = "the largest of each window is looked for again, not kept: it gets what arrives; all cores, each some planes"


@implementation("max_pool2d_backward", device="cpu", adds=MAX_ADDS, public=True)
def max_pool2d_backward_planes(down, across, grad, x):
    of_x = np.empty(x.shape, x.dtype)
    if x.size:
        threads = threads_for(grad.size * int(down[:, 1].max() * across[:, 1].max()))
        source, arrived, result = planes(x), planes(grad), planes(of_x)
        rest = result, planes_of_task(source), threads, team.members()
        if grad.size and grad.shape[-1] >= pairs.LEAST and two_by_two(down, across):
            _max_pairs_back(int(down[0, 0]), int(across[0, 0]), arrived, source, *rest)
        else:
            found = np.empty((threads, grad.shape[-1] + APART), np.int64)
            _max_planes_back(down, across, arrived, source, workspace(x.dtype, found.size), found, *rest)
    return of_x


put(
    "adaptive_max_pool2d_backward",
    "adaptive_max_pool2d_backward_planes",
    max_pool2d_backward_planes,
    MAX_ADDS,
    public=True,
)


@inner_njit()
def _mean_back(arguments, task, who):
    down, across, divisor, grad, of_x, each = arguments
    (planes, high, wide), (rows, columns) = of_x.shape, grad.shape[1:]
    source, target = memory(grad), memory(of_x)
    for plane in range(task * each, min((task + 1) * each, planes)):
        arrived, result = plane_of(source, plane, rows, columns), plane_of(target, plane, high, wide)
        for y in range(rows):
            for z in range(columns):
                part = arrived[y, z] / (divisor if divisor else down[y, 2] * across[z, 2])
                for i in range(down[y, 0], down[y, 1]):
                    for j in range(across[z, 0], across[z, 1]):
                        result[i, j] += part


@cached_njit()
def _mean_planes_back(down, across, divisor, grad, of_x, each, threads, team):
    share(_mean_back, (down, across, divisor, grad, of_x, each), -(-len(of_x) // each), threads, 0, team)


def mean_backward(down, across, divisor, grad, x):
    of_x = np.zeros(x.shape, x.dtype)
    if x.size:
        threads = threads_for(x.size + grad.size)
        arrived, result = planes(grad), planes(of_x)
        _mean_planes_back(down, across, divisor, arrived, result, planes_of_task(result), threads, team.members())
    return of_x


MEAN_ADDS = "each window gives what arrives in equal parts to its pixels; all cores, each some planes"


for _name in ("avg_pool2d", "adaptive_avg_pool2d"):
    put(f"{_name}_backward", f"{_name}_backward_planes", mean_backward, MEAN_ADDS, public=True)
