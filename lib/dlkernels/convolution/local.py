"""Local convolution on the CPU: windows as in a convolution, but each place of the result has weights of its own.

    out[n, o, y, x] = bias[o] + sum over c, ky, kx of weight[o, c, ky, kx, y, x] * input[n, c, y stride + ky dilation - padding, ...]

No weight is used twice in a picture: the weights are read once for each picture or, where a row of the result is made for
all pictures in turn, once for all. So memory is the limit, whatever the kernel.

The ladder of conv2d_local                what the rung adds
    conv2d_local_direct    the loops of the convolution, with weights of each place
    conv2d_local_rows      all cores: each some rows of the result, of all pictures; the inner loop runs along weights and pixels
"""

from .. import team
from ..implementations import implementation
from ..matrix import choose as products
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .im2col import inside
from .pictures import on_pictures

CONTRACT = {"contract"}


@cached_njit()
def _direct(x, weight, bias, g, out):
    for n in range(out.shape[0]):
        for o in range(out.shape[1]):
            for y in range(out.shape[2]):
                for z in range(out.shape[3]):
                    total = bias[o]
                    for c in range(x.shape[1]):
                        for ky in range(g.kernel_y):
                            for kx in range(g.kernel_x):
                                i = y * g.stride_y + ky * g.dilation_y - g.top
                                j = z * g.stride_x + kx * g.dilation_x - g.left
                                if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                                    total += weight[o, c, ky, kx, y, z] * x[n, c, i, j]
                    out[n, o, y, z] = total


@implementation("conv2d_local", device="cpu", adds="the loops of the convolution, with weights of each place")
@on_pictures
def conv2d_local_direct(x, weight, bias, g, out):
    _direct(x, weight, bias, g, out)


@inner_njit(fastmath=CONTRACT)
def _add_products(weights, source, stride, target):
    """target += weights * source[::stride]."""
    if stride == 1:
        for z in range(target.size):
            target[z] += weights[z] * source[z]
    else:
        for z in range(target.size):
            target[z] += weights[z] * source[z * stride]


@inner_njit()
def _row(arguments, task, who):
    """One row of one output channel, of all pictures."""
    x, weight, bias, g, out = arguments
    o, y = task // out.shape[2], task % out.shape[2]
    for n in range(out.shape[0]):
        out[n, o, y, :] = bias[o]
    for c in range(x.shape[1]):
        for ky in range(g.kernel_y):
            i = y * g.stride_y + ky * g.dilation_y - g.top
            for kx in range(g.kernel_x if 0 <= i < x.shape[2] else 0):
                begin, end = inside(kx, x.shape[3], out.shape[3], g.stride_x, g.left, g.dilation_x)
                j = begin * g.stride_x + kx * g.dilation_x - g.left
                weights = weight[o, c, ky, kx, y, begin:end]
                for n in range(out.shape[0] if begin < end else 0):
                    _add_products(weights, x[n, c, i, j:], g.stride_x, out[n, o, y, begin:end])


@cached_njit()
def _rows(x, weight, bias, g, out, threads, least, team):
    share(_row, (x, weight, bias, g, out), out.shape[1] * out.shape[2], threads, least, team)


@implementation(
    "conv2d_local",
    device="cpu",
    adds="all cores: each some rows of the result, of all pictures, so that weights come once; the inner loop runs along a row",
    public=True,
)
@on_pictures
def conv2d_local_rows(x, weight, bias, g, out):
    multiplies = weight.size * len(x)
    threads = products.threads_for(multiplies)
    _rows(x, weight, bias, g, out, threads, products.least_time(multiplies), team.members())
