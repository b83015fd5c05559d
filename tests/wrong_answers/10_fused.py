"""Answers to 10-fused."""

import math

from answers import MASTER, cut, edit, replace

from dlkernels import cuda


@cuda.jit(device=True)
def squash(x):
    return 1 / (1 + math.exp(-x))


@cuda.jit
def with_a_device_function(of_x, of_h, h, out):
    """right"""
    place = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    batch, hidden = out.shape
    if place >= batch * hidden:
        return
    b = place // hidden
    unit = place - b * hidden
    reset = squash(of_h[b, unit] + of_x[b, unit])
    stays = squash(of_h[b, unit + hidden] + of_x[b, unit + hidden])
    fresh = math.tanh(reset * of_h[b, unit + 2 * hidden] + of_x[b, unit + 2 * hidden])
    out[b, unit] = fresh + stays * (h[b, unit] - fresh)


@cuda.jit
def in_strides(of_x, of_h, h, out):
    """right"""
    hidden = h.shape[1]
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        row, j = i // hidden, i % hidden
        r = 0.5 + 0.5 * math.tanh(0.5 * (of_x[row, j] + of_h[row, j]))
        z = 0.5 + 0.5 * math.tanh(0.5 * (of_x[row, hidden + j] + of_h[row, hidden + j]))
        n = math.tanh(of_x[row, 2 * hidden + j] + r * of_h[row, 2 * hidden + j])
        out[row, j] = (1 - z) * n + z * h[row, j]


@cuda.jit
def no_guard(of_x, of_h, h, out):
    """wrong out-of-bounds: guard them"""
    i = cuda.grid(1)
    hidden = h.shape[1]
    row, j = i // hidden, i % hidden
    r = 1 / (1 + math.exp(-of_x[row, j] - of_h[row, j]))
    z = 1 / (1 + math.exp(-of_x[row, hidden + j] - of_h[row, hidden + j]))
    n = math.tanh(of_x[row, 2 * hidden + j] + r * of_h[row, 2 * hidden + j])
    out[row, j] = (1 - z) * n + z * h[row, j]


r_of_the_input = edit(
    MASTER,
    "wrong suspect: It belongs to the part of the state",
    replace("of_x[row, 2 * hidden + j] + r *", "r * of_x[row, 2 * hidden + j] +"),
)
no_r = edit(
    MASTER,
    "wrong suspect: r is missing",
    cut("r = 1 / (1 + math.exp(-of_x[row, j] - of_h[row, j]))"),
    replace("r * of_h", "of_h"),
)


@cuda.jit
def sigmoid_of_n(of_x, of_h, h, out):
    """wrong suspect: n went through a sigmoid"""
    i = cuda.grid(1)
    hidden = h.shape[1]
    if i < out.size:
        row, j = i // hidden, i % hidden
        r = 1 / (1 + math.exp(-of_x[row, j] - of_h[row, j]))
        z = 1 / (1 + math.exp(-of_x[row, hidden + j] - of_h[row, hidden + j]))
        n = 1 / (1 + math.exp(-of_x[row, 2 * hidden + j] - r * of_h[row, 2 * hidden + j]))
        out[row, j] = (1 - z) * n + z * h[row, j]


old_state_in_full = edit(MASTER, "wrong suspect: n counts in full", replace("(1 - z) * n", "n"))
first_row = edit(MASTER, "wrong one-element: with the first row of `h`", replace("z * h[row, j]", "z * h[0, j]"))
minus_only_once = edit(MASTER, "wrong wrong-value: Its six sums", replace("- of_h[row, j]", "+ of_h[row, j]"))
loaded_again = edit(
    MASTER,
    "over budget over-budget: load each into a name",
    replace("(1 - z) * n + z", "(1 - z) * n + h[row, j] - (1 - z)"),
)
