"""Answers to 09-weight."""

from answers import MASTER, edit, insert, replace
from numba import njit, prange


@njit(parallel=True)
def a_loop_over_all_weights(grad, x, padding, out):
    """right"""
    outs, channels, tall, broad = out.shape
    for k in prange(outs * channels * tall * broad):
        o, c, ky, kx = k // (channels * tall * broad), k // (tall * broad) % channels, k // broad % tall, k % broad
        total = 0.0
        for n in range(len(x)):
            for i in range(x.shape[2]):
                y = i - ky + padding
                if y >= 0 and y < grad.shape[2]:
                    for j in range(x.shape[3]):
                        z = j - kx + padding
                        if z >= 0 and z < grad.shape[3]:
                            total += grad[n, o, y, z] * x[n, c, i, j]
        out[o, c, ky, kx] = total


@njit(parallel=True)
def sums_in_out(grad, x, padding, out):
    """right"""
    for o in prange(out.shape[0]):
        for c in range(out.shape[1]):
            for ky in range(out.shape[2]):
                for kx in range(out.shape[3]):
                    out[o, c, ky, kx] = 0
        for n in range(grad.shape[0]):
            for c in range(out.shape[1]):
                for ky in range(out.shape[2]):
                    for kx in range(out.shape[3]):
                        for y in range(max(0, padding - ky), min(grad.shape[2], x.shape[2] + padding - ky)):
                            for z in range(max(0, padding - kx), min(grad.shape[3], x.shape[3] + padding - kx)):
                                out[o, c, ky, kx] += grad[n, o, y, z] * x[n, c, y + ky - padding, z + kx - padding]


@njit(parallel=True)
def pictures_shared(grad, x, padding, out):
    """wrong race: Which loop can the threads share"""
    batch, outs, high, wide = grad.shape
    channels, height, width = x.shape[1], x.shape[2], x.shape[3]
    for o in range(outs):
        for c in range(channels):
            for ky in range(out.shape[2]):
                for kx in range(out.shape[3]):
                    out[o, c, ky, kx] = 0
    for n in prange(batch):
        for o in range(outs):
            for c in range(channels):
                for ky in range(out.shape[2]):
                    for kx in range(out.shape[3]):
                        for y in range(high):
                            i = y + ky - padding
                            for z in range(wide):
                                j = z + kx - padding
                                if i >= 0 and i < height and j >= 0 and j < width:
                                    out[o, c, ky, kx] += grad[n, o, y, z] * x[n, c, i, j]


one_thread = edit(MASTER, "wrong not-parallel: prange", replace("prange(outs)", "range(outs)"))
turned = edit(
    MASTER,
    "wrong suspect: The kernel is turned round",
    replace("out[o, c, ky, kx]", "out[o, c, out.shape[2] - 1 - ky, out.shape[3] - 1 - kx]"),
)
first_picture = edit(
    MASTER,
    "wrong suspect: the first picture alone",
    replace("batch, outs, high, wide = grad.shape", "outs, high, wide = grad.shape[1:]"),
    replace("range(batch)", "range(1)"),
)
anew_for_each_picture = edit(
    MASTER, "wrong suspect: the last picture alone", insert("total = 0.0", before="for y in range(high):")
)
other_side = edit(
    MASTER,
    "wrong suspect: takes a pixel from the other side",
    replace("i >= 0 and i < height and j >= 0", "i < height"),
)
one_channel = edit(MASTER, "wrong suspect: the gradient of channel 0", replace("[n, c, i, j]", "[n, 0, i, j]"))
nothing_begun = edit(
    MASTER, "wrong adds-to-old: Begin each sum with 0", replace("total = 0.0", "total = out[o, c, ky, kx]")
)
no_edge = edit(
    MASTER,
    "wrong raised-IndexError: A pixel may lie beyond the picture",
    replace("channels, height, width = x.shape[1], x.shape[2], x.shape[3]", "channels = x.shape[1]"),
    replace(
        "if i >= 0 and i < height and j >= 0 and j < width:\n    total += grad[n, o, y, z] * x[n, c, i, j]",
        "total += grad[n, o, y, z] * x[n, c, i, j]",
    ),
)


@njit(parallel=True)
def pictures_shared_for_each_weight(grad, x, padding, out):
    """wrong not-parallel: parallel loops were run, one after the other"""
    for o in range(out.shape[0]):
        for c in range(out.shape[1]):
            for ky in range(out.shape[2]):
                for kx in range(out.shape[3]):
                    total = 0.0
                    for n in prange(len(x)):
                        for y in range(grad.shape[2]):
                            for z in range(grad.shape[3]):
                                i, j = y + ky - padding, z + kx - padding
                                if i >= 0 and i < x.shape[2] and j >= 0 and j < x.shape[3]:
                                    total += grad[n, o, y, z] * x[n, c, i, j]
                    out[o, c, ky, kx] = total


pixel_first = edit(
    pictures_shared_for_each_weight,
    "wrong suspect: The way back was taken the wrong way round",
    replace("o in range", "o in prange"),
    replace("prange", "range"),
    replace("y in range(grad.shape[2])", "i in range(x.shape[2])"),
    replace("z in range(grad.shape[3])", "j in range(x.shape[3])"),
    replace("i, j = y + ky - padding, z", "y, z = i + ky - padding, j"),
    replace("i >= 0 and i < x.shape[2] and j >= 0 and j < x", "y >= 0 and y < grad.shape[2] and z >= 0 and z < grad"),
)


@njit
def one_weight(grad, x, padding, out, k):
    channels, tall, broad = out.shape[1:]
    o, c, ky, kx = k // (channels * tall * broad), k // (tall * broad) % channels, k // broad % tall, k % broad
    total = 0.0
    for n in range(len(x)):
        for y in range(max(0, padding - ky), min(grad.shape[2], x.shape[2] + padding - ky)):
            for z in range(max(0, padding - kx), min(grad.shape[3], x.shape[3] + padding - kx)):
                total += grad[n, o, y, z] * x[n, c, y + ky - padding, z + kx - padding]
    out[o, c, ky, kx] = total


@njit(parallel=True)
def four_weights_of_five(grad, x, padding, out):
    """wrong not-parallel: stand outside the loop"""
    some = out.size * 4 // 5
    for k in range(some):
        one_weight(grad, x, padding, out, k)
    for k in prange(some, out.size):
        one_weight(grad, x, padding, out, k)


@njit(parallel=True)
def the_last_channel_for_the_second_thread(grad, x, padding, out):
    """wrong not-parallel: one of 2 threads has at least"""
    last, each = out.shape[0] - 1, out[0].size
    for part in prange(2):
        for k in range(last * each if part else 0, out.size if part else last * each):
            one_weight(grad, x, padding, out, k)


@njit(parallel=True)
def all_but_one_in_the_first_round(grad, x, padding, out):
    """wrong not-parallel: one of 2 threads has at least"""
    each = out[0].size
    for o in prange(out.shape[0]):
        if o == 0:
            for k in range(max(1, out.shape[0] - 1) * each):
                one_weight(grad, x, padding, out, k)
        elif o == out.shape[0] - 1:
            for k in range(o * each, out.size):
                one_weight(grad, x, padding, out, k)


@njit(parallel=True)
def serial_for_many_channels(grad, x, padding, out):
    """wrong not-parallel: the case: many channels"""
    if out.shape[0] > 4:
        for k in range(out.size):
            one_weight(grad, x, padding, out, k)
    else:
        for k in prange(out.size):
            one_weight(grad, x, padding, out, k)


@njit(parallel=True)
def pairs_of_channels(grad, x, padding, out):
    """right"""
    each = out[0].size
    for pair in prange((out.shape[0] + 1) // 2):
        for k in range(2 * pair * each, min(2 * pair + 2, out.shape[0]) * each):
            one_weight(grad, x, padding, out, k)


@njit(parallel=True)
def in_two_halves(grad, x, padding, out):
    """right"""
    half = (out.size + 1) // 2
    for part in prange(2):
        for k in range(part * half, min(part * half + half, out.size)):
            one_weight(grad, x, padding, out, k)


@njit(parallel=True)
def channels_of_the_picture_shared(grad, x, padding, out):
    """right"""
    outs, channels = out.shape[:2]
    taps = out.shape[2] * out.shape[3]
    for c in prange(channels):
        for o in range(outs):
            for tap in range(taps):
                one_weight(grad, x, padding, out, (o * channels + c) * taps + tap)


@njit(parallel=True)
def one_loop_for_each_half_of_the_channels(grad, x, padding, out):
    """right"""
    middle = out.size // 3
    for k in prange(middle):
        one_weight(grad, x, padding, out, k)
    for k in prange(middle, out.size):
        one_weight(grad, x, padding, out, k)
