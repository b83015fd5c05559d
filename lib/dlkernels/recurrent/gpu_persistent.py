"""The LSTM in one launch for all its steps, in float32 (Diamos and others 2016).

    lstm_persistent       U is read once: a warp has a unit, and the unit's four rows of U stay in shared memory. After
                          each step all blocks wait for one another, and then read the new h
    lstm_batch_parallel   groups of blocks, each with a U of its own and some of the sequences

Registers would be nearer, as in the paper. But the barrier is a function that is called, and what lies in registers
then has to be kept: with weights among it there are too few. A launch per step moves 16 H^2 bytes of weights in each.
Here a step moves h: 4 H bytes for each sequence to each of H / 8 blocks.
"""

import math

import numpy as np
from numba import float32

from .. import device
from ..device import cuda
from ..implementations import implementation
from ..matrix.gpu_layers import linear_transposed
from .gpu import LENGTHS, LINE, PLACE, copy_kernel, lstm_fused_inputs, on_layers, sigmoid, zeros

f32 = np.float32
ALL = 0xFFFFFFFF
UNITS = SEQUENCES = (
    8  # of a block: a warp for each unit; sequences whose h is in shared memory at a time, a warp loads each
)
THREADS = 32 * UNITS
PERSISTENT = f"void({', '.join([LINE] * 4)}, float32[:, ::1], {LINE}, {LENGTHS}, int64, boolean, int64, {PLACE})"


@cuda.jit(device=True)
def warp_sum(value):
    """In lane 0: the sum of the values of all lanes."""
    value += cuda.shfl_down_sync(ALL, value, 16)
    value += cuda.shfl_down_sync(ALL, value, 8)
    value += cuda.shfl_down_sync(ALL, value, 4)
    value += cuda.shfl_down_sync(ALL, value, 2)
    return value + cuda.shfl_down_sync(ALL, value, 1)


def persistent(most):
    """The kernel for at most so many units: lane l of a warp has the weights of units l, l + 32, ..."""

    @cuda.jit
    def lstm_persistent_kernel(
        p, u, b_hh, c, rooms, out, lengths, steps, reverse, share, by_step, by_sequence, hidden, width, column
    ):
        """p: W x + b of all steps. rooms: two rows for h, before and after a step, in turn. share: sequences of a
        group."""
        old = cuda.shared.array((SEQUENCES, most), float32)
        gates = cuda.shared.array((SEQUENCES, 4, UNITS), float32)
        weights = cuda.shared.array((4, UNITS, most), float32)
        thread, lane, warp = cuda.threadIdx.x, cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
        first_unit, rows = cuda.blockIdx.x * UNITS, 4 * hidden
        unit = first_unit + warp
        for k in range(lane, most, 32):
            for gate in range(4):
                weights[gate, warp, k] = 0
                if unit < hidden and k < hidden:
                    weights[gate, warp, k] = u[(gate * hidden + unit) * hidden + k]
        first = cuda.blockIdx.y * share
        last = min(first + share, lengths.size)
        grid = cuda.cg.this_grid()
        for number in range(steps):
            t = steps - 1 - number if reverse else number
            before = number % 2
            for begin in range(first, last, SEQUENCES):
                count = min(SEQUENCES, last - begin)
                if warp < count:
                    for k in range(lane, most, 32):
                        old[warp, k] = rooms[before, (begin + warp) * hidden + k] if k < hidden else f32(0)
                cuda.syncthreads()
                for s in range(count):
                    i = f = g = o = f32(0)
                    for k in range(lane, most, 32):  # of weights, a lane reads what it has written
                        state = old[s, k]
                        i += weights[0, warp, k] * state
                        f += weights[1, warp, k] * state
                        g += weights[2, warp, k] * state
                        o += weights[3, warp, k] * state
                    i, f, g, o = warp_sum(i), warp_sum(f), warp_sum(g), warp_sum(o)
                    if lane == 0:
                        gates[s, 0, warp], gates[s, 1, warp], gates[s, 2, warp], gates[s, 3, warp] = i, f, g, o
                cuda.syncthreads()
                s, block_unit = thread // UNITS, thread % UNITS  # from here on neighbours have neighbouring units
                b, state_unit = begin + s, first_unit + block_unit
                if s < count and state_unit < hidden:
                    row, job = t * by_step + b * by_sequence, b * hidden + state_unit
                    state, written = old[s, state_unit], f32(0)
                    if t < lengths[b]:
                        input_gate = row * rows + state_unit
                        i = gates[s, 0, block_unit] + p[input_gate] + b_hh[state_unit]
                        f = gates[s, 1, block_unit] + p[input_gate + hidden] + b_hh[state_unit + hidden]
                        g = gates[s, 2, block_unit] + p[input_gate + 2 * hidden] + b_hh[state_unit + 2 * hidden]
                        o = gates[s, 3, block_unit] + p[input_gate + 3 * hidden] + b_hh[state_unit + 3 * hidden]
                        cell = sigmoid(f) * c[job] + sigmoid(i) * math.tanh(g)
                        c[job] = cell
                        state = sigmoid(o) * math.tanh(cell)
                        written = state
                    rooms[1 - before, job] = state
                    out[row * width + column + state_unit] = written
                cuda.syncthreads()  # `old` is read until here
            grid.sync()

    return lstm_persistent_kernel


KERNELS = {most: persistent(most) for most in (128, 256)}  # of 48 KiB, 256 units take 41 for weights and h
MOST = max(KERNELS)


def resident(kernel):
    """How many blocks of a kernel with a grid barrier the device holds at once."""
    made = kernel.compile(PERSISTENT) if device.name == "gpu" else kernel.overloads[PERSISTENT]
    return made.max_cooperative_grid_blocks(THREADS)


def all_steps(g, reverse, x, weights, h, c, new, out, lengths, place, groups):
    """A layer in one launch, by at most `groups` groups of blocks; as the rung before where the device has no room."""
    blocks = -(-g.hidden // UNITS)
    kernel = next((k for most, k in KERNELS.items() if g.hidden <= most), None)
    if kernel is None or blocks > resident(kernel):
        lstm_fused_inputs.__wrapped__(g, reverse, x, weights, h, c, new, out, lengths, place)
        return
    groups = max(1, min(groups, resident(kernel) // blocks))
    share = -(-g.batch // groups)
    w, u, b_ih, b_hh = weights
    p = linear_transposed(x, w, b_ih, None, cuda.device_array((x.shape[0], w.shape[0]), f32))
    rooms, copies = cuda.device_array((2, h.size), f32), -(-h.size // THREADS)
    copy_kernel[copies, THREADS](h, rooms[0])
    kernel[(blocks, -(-g.batch // share)), THREADS](
        p.reshape(p.size), u.reshape(u.size), zeros(u.shape[0]) if b_hh is None else b_hh, c, rooms, out, lengths,
        g.steps, reverse, share, *place,
    )  # fmt: skip
    copy_kernel[copies, THREADS](rooms[g.steps % 2], new)


LIMITS = (
    f"all blocks have to be on the device at once: up to {MOST} hidden units; more are computed as by the rung before"
)


@implementation(
    "lstm",
    "gpu",
    adds="one launch for all steps: weights stay in shared memory, blocks meet at a grid barrier after each step",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[(kernel, [PERSISTENT]) for kernel in KERNELS.values()],
)
@on_layers
def lstm_persistent(*arguments):
    all_steps(*arguments, groups=1)


@implementation(
    "lstm",
    "gpu",
    adds="groups of blocks, each with weights of its own and some of the sequences",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[(kernel, [PERSISTENT]) for kernel in KERNELS.values()],
    public=True,
)
@on_layers
def lstm_batch_parallel(g, *arguments):
    all_steps(g, *arguments, groups=-(-g.batch // SEQUENCES))
