"""Convolution on the CPU.

The ladder of conv2d                      what the rung adds
    conv2d_direct          seven loops, as the formula is written
    conv2d_planes          all cores: each computes whole planes of the result, along rows
    conv2d_im2col          patches as columns: the rest is our matmul
    conv2d_pointwise       a kernel of one pixel is a product as it stands (pointwise.py)
    conv2d_tile            no patches: a tile of the result in registers, pixels from a padded copy that the cache holds
    conv2d_depthwise       one input channel for each result: four rows of it at a time
    conv2d_depthwise_lanes channels in the lanes: for narrow or strided pictures
    conv2d_implicit        implicit GEMM: the product of im2col without its matrix, channels in the lanes
    conv2d_chosen          what fits the shape and the numbers: one of these, or of the two ladders below

conv2d_winograd            fewer multiplications (winograd.py): 16 for 36, or 36 for 144
conv2d_fft                 by Fourier transforms (fft.py)
conv2d_half                numbers of 16 bits become float32 first: conv2d_half_widened
"""

from numba import njit, prange

from ..implementations import implementation
from ..simd.cache import cached_njit
from . import choose, fft, im2col, implicit, lanes, pointwise, reference, winograd
from .im2col import inside
from .pictures import on_pictures

CONTRACT = {"contract"}  # a * b + c may become one instruction, with one rounding


# ---- 1: the formula --------------------------------------------------------------------------------------------


@cached_njit()
def _direct(x, weight, bias, g, out):
    outs_of_group = out.shape[1] // g.groups
    for n in range(out.shape[0]):
        for o in range(out.shape[1]):
            first_channel = o // outs_of_group * weight.shape[1]
            for y in range(out.shape[2]):
                for z in range(out.shape[3]):
                    total = bias[o]
                    for c in range(weight.shape[1]):
                        for ky in range(g.kernel_y):
                            for kx in range(g.kernel_x):
                                i = y * g.stride_y + ky * g.dilation_y - g.top
                                j = z * g.stride_x + kx * g.dilation_x - g.left
                                if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                                    factor = weight[o, c, ky, kx]
                                    total += factor * x[n, first_channel + c, i, j]
                    out[n, o, y, z] = total


@implementation("conv2d", device="cpu", adds="seven loops, as the formula is written")
@on_pictures
def conv2d_direct(x, weight, bias, g, out):
    _direct(x, weight, bias, g, out)


# ---- 2: rows, and all cores ------------------------------------------------------------------------------------


@njit(fastmath=CONTRACT)
def _add_row(factor, source, stride, target):
    """target += factor * source[::stride]: the loop along the row, which LLVM turns into vectors where stride is 1."""
    if stride == 1:
        for z in range(target.size):
            target[z] += factor * source[z]
    else:
        for z in range(target.size):
            target[z] += factor * source[z * stride]


@cached_njit(parallel=True)
def _planes(x, weight, bias, g, out):
    count, outs, height, width = out.shape
    outs_of_group = outs // g.groups
    for plane in prange(count * outs):
        n, o = plane // outs, plane % outs
        first_channel = o // outs_of_group * weight.shape[1]
        target = out[n, o]
        target[:] = bias[o]
        for c in range(weight.shape[1]):
            picture = x[n, first_channel + c]
            tall, broad = picture.shape
            for ky in range(g.kernel_y):
                top, bottom = inside(ky, tall, height, g.stride_y, g.top, g.dilation_y)
                for kx in range(g.kernel_x):
                    factor = weight[o, c, ky, kx]
                    begin, end = inside(kx, broad, width, g.stride_x, g.left, g.dilation_x)
                    j = begin * g.stride_x + kx * g.dilation_x - g.left
                    for y in range(top, bottom if begin < end else top):
                        source = picture[y * g.stride_y + ky * g.dilation_y - g.top, j:]
                        _add_row(factor, source, g.stride_x, target[y, begin:end])


@implementation(
    "conv2d",
    device="cpu",
    adds="all cores: each a plane of the result; the inner loop runs along a row, and what lies outside is left out",
)
@on_pictures
def conv2d_planes(x, weight, bias, g, out):
    _planes(x, weight, bias, g, out)


# ---- 3, 4: as a product of matrices ----------------------------------------------------------------------------


@implementation(
    "conv2d",
    device="cpu",
    adds="im2col: each window's pixels become a column, and the convolution a product of matrices",
    limits="patches take as many times the picture's memory as the kernel has places: 4 MiB of them at a time",
)
@on_pictures
def conv2d_im2col(x, weight, bias, g, out):
    im2col.convolve(x, weight, bias, g, out)


@implementation(
    "conv2d",
    device="cpu",
    adds="a kernel of one pixel: the picture is the matrix of columns already, and nothing is copied",
    limits=(
        "with a stride, the pixels that are met are copied first; kernels of more than one, or with padding, go the "
        "way of conv2d_im2col"
    ),
)
@on_pictures
def conv2d_pointwise(x, weight, bias, g, out):
    (pointwise if pointwise.fits(g) else im2col).convolve(x, weight, bias, g, out)


# ---- 5, 6: without patches (tiles.py) --------------------------------------------------------------------------


@implementation(
    "conv2d",
    device="cpu",
    adds=(
        "no patches: vectors of pixels are loaded from a padded copy wherever a place of the kernel begins; a tile of "
        "the result stays in registers over all input channels"
    ),
)
@on_pictures
def conv2d_tile(x, weight, bias, g, out):
    choose.convolve(x, weight, bias, g, out, pack=True)


@implementation(
    "conv2d",
    device="cpu",
    adds="one input channel for each result: no tile to fill, so each weight serves four rows of one plane",
    limits="groups of more than one input channel go the way of conv2d_tile",
)
@on_pictures
def conv2d_depthwise(x, weight, bias, g, out):
    choose.convolve(x, weight, bias, g, out, pack=weight.shape[1] > 1)


@implementation(
    "conv2d",
    device="cpu",
    adds="the same with channels in the lanes, not pixels: rows may be shorter than vectors, and strided",
    limits="more than one input or output channel in a group go the way of conv2d_depthwise",
)
@on_pictures
def conv2d_depthwise_lanes(x, weight, bias, g, out):
    if len(weight) == g.groups == x.shape[1]:
        lanes.convolve(x, weight, bias, g, out)
    else:
        choose.convolve(x, weight, bias, g, out, pack=weight.shape[1] > 1)


@implementation(
    "conv2d",
    device="cpu",
    adds=(
        "output channels in the lanes, neighbouring pixels in the rows of the tile: a product with patches that exist "
        "only as addresses in a turned picture; nothing is wasted where pictures are small or strided"
    ),
    limits="groups go the way of conv2d_tile",
)
@on_pictures
def conv2d_implicit(x, weight, bias, g, out):
    if g.groups > 1:
        choose.convolve(x, weight, bias, g, out, pack=True)
    else:
        implicit.convolve(x, weight, bias, g, out)


# ---- other sums: fewer multiplications -----------------------------------------------------------------------------

DIRECT = {
    rung.__name__: rung.__wrapped__
    for rung in (conv2d_pointwise, conv2d_tile, conv2d_depthwise, conv2d_depthwise_lanes, conv2d_implicit)
}


def direct(x, weight, bias, g, out):
    """out = the convolution, its products added up as they are."""
    DIRECT[choose.direct_way(weight, g, out)](x, weight, bias, g, out)


@implementation(
    "conv2d_winograd",
    device="cpu",
    adds="16 multiplications for 36; the sum over channels is 16 products of matrices",
    limits=(
        "less accurate where weights or pixels are of very different size; Inf becomes NaN; other kernels than 3 x 3, "
        "strides, dilations and groups are added up directly"
    ),
)
@on_pictures
def conv2d_winograd_2x2(x, weight, bias, g, out):
    winograd.convolve(2, x, weight, bias, g, out) if winograd.fits(g) else direct(x, weight, bias, g, out)


@implementation(
    "conv2d_winograd",
    device="cpu",
    adds="larger tiles: 36 multiplications for 144, and errors that are several times as large",
    limits="as conv2d_winograd_2x2",
    public=True,
)
@on_pictures
def conv2d_winograd_4x4(x, weight, bias, g, out):
    winograd.convolve(4, x, weight, bias, g, out) if winograd.fits(g) else direct(x, weight, bias, g, out)


@implementation(
    "conv2d_fft",
    device="cpu",
    adds="a convolution is a product of spectra: its cost hardly grows with the kernel",
    limits=(
        "less accurate where weights or pixels are of very different size; Inf becomes NaN; strides are added up "
        "directly"
    ),
    public=True,
)
@on_pictures
def conv2d_fft_tiles(x, weight, bias, g, out):
    fft.convolve(x, weight, bias, g, out) if fft.fits(g) else direct(x, weight, bias, g, out)


# ---- 7: what fits ----------------------------------------------------------------------------------------------

WAYS = DIRECT | {
    "conv2d_winograd_2x2": conv2d_winograd_2x2.__wrapped__,
    "conv2d_winograd_4x4": conv2d_winograd_4x4.__wrapped__,
    "conv2d_fft": conv2d_fft_tiles.__wrapped__,
}


def fastest(x, weight, bias, g, out):
    """out = the convolution, for contiguous arrays with a batch, none of them empty."""
    WAYS[choose.way(x, weight, g, out)[0]](x, weight, bias, g, out)


@implementation(
    "conv2d",
    device="cpu",
    adds=(
        "of these and of Winograd's and Fourier's, what fits the shape and the numbers: conv2d(..., explain=True) says "
        "it"
    ),
    public=True,
)
@on_pictures
def conv2d_chosen(x, weight, bias, g, out):
    fastest(x, weight, bias, g, out)


# ---- 16-bit numbers --------------------------------------------------------------------------------------------


@implementation(
    "conv2d_half",
    device="cpu",
    adds="numbers of 16 bits become float32 first; then as conv2d",
    dtypes=("float32",),
    public=True,
)
def conv2d_half_widened(x, weight, bias, g, out):
    return conv2d_chosen(reference.widened(x), reference.widened(weight), bias, g, out)
