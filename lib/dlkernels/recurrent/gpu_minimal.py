"""minGRU and minLSTM on the GPU, in float32: a product for all steps, one pass over the gates, a scan."""

import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..matrix.gpu_layers import linear_backward_transposed, linear_transposed
from .gpu_scans import LIMITS, scan_backward_blocks, scan_blocks

f32 = np.float32
THREADS = 128
LINE = "float32[::1]"


@cuda.jit(device=True)
def sigmoid(x):
    """Right to its last digits on both sides."""
    small = math.exp(-abs(x))
    return f32(1) / (f32(1) + small) if x >= 0 else small / (f32(1) + small)


@cuda.jit(device=True)
def share_of(f, i):
    """What f / (f + i), behind their sigmoids, is the sigmoid of: there is no 0 / 0."""
    of_i = max(-i, f32(0)) + math.log(f32(1) + math.exp(-abs(i)))
    of_f = max(-f, f32(0)) + math.log(f32(1) + math.exp(-abs(f)))
    return of_i - of_f


@cuda.jit
def gates_kernel(gates, keep, fresh, hidden, lstm):
    """h = keep * h + fresh of each unit of each row, from its gates z n, or f i n."""
    job = cuda.grid(1)
    if job < keep.size:
        row, unit = job // hidden, job % hidden
        if lstm:
            gate = row * 3 * hidden + unit
            share, n = share_of(gates[gate], gates[gate + hidden]), gates[gate + 2 * hidden]
        else:
            gate = row * 2 * hidden + unit
            share, n = -gates[gate], gates[gate + hidden]
        keep[job] = sigmoid(share)
        fresh[job] = sigmoid(-share) * n


@cuda.jit
def gates_gradient_kernel(gates, of_keep, of_fresh, of_gates, hidden, lstm):
    job = cuda.grid(1)
    if job < of_keep.size:
        row, unit = job // hidden, job % hidden
        if lstm:
            gate = row * 3 * hidden + unit
            share, n = share_of(gates[gate], gates[gate + hidden]), gates[gate + 2 * hidden]
        else:
            gate = row * 2 * hidden + unit
            share, n = -gates[gate], gates[gate + hidden]
        take = sigmoid(-share)
        of_share = (of_keep[job] - of_fresh[job] * n) * sigmoid(share) * take
        if lstm:
            of_gates[gate] = of_share * sigmoid(-gates[gate])
            of_gates[gate + hidden] = -of_share * sigmoid(-gates[gate + hidden])
            of_gates[gate + 2 * hidden] = of_fresh[job] * take
        else:
            of_gates[gate] = -of_share
            of_gates[gate + hidden] = of_fresh[job] * take


def parts_of(weight, bias, x, lstm):
    """(x as rows, hidden units, gates, what is kept, what is new), the last two (steps, numbers of a step)."""
    features, hidden = tuple(x.shape)[-1], weight.shape[0] // (3 if lstm else 2)
    rows = x.reshape(x.size // features, features)
    gates = linear_transposed(rows, weight, bias, None, cuda.device_array((rows.shape[0], weight.shape[0]), f32))
    keep, fresh = (cuda.device_array(rows.shape[0] * hidden, f32) for _ in range(2))
    gates_kernel[-(-keep.size // THREADS), THREADS](gates.reshape(gates.size), keep, fresh, hidden, lstm)
    shape = x.shape[0], keep.size // x.shape[0]
    return rows, hidden, gates, keep.reshape(shape), fresh.reshape(shape)


def forward(h0, weight, bias, x, lstm):
    shape = (*tuple(x.shape)[:-1], weight.shape[0] // (3 if lstm else 2))
    if x.size == 0:
        return cuda.device_array(shape, f32)
    _, _, _, keep, fresh = parts_of(weight, bias, x, lstm)
    return scan_blocks(0, False, h0, keep, fresh).reshape(shape)


def backward(grad, h0, weight, bias, x, lstm):
    if x.size == 0:
        inputs = [x, *(array for array in (h0, weight, bias) if array is not None)]
        return tuple(cuda.to_device(np.zeros(tuple(array.shape), f32)) for array in inputs)
    rows, hidden, gates, keep, fresh = parts_of(weight, bias, x, lstm)
    start = None if h0 is None else h0.reshape(h0.size)
    of_keep, of_fresh, *of_h0 = scan_backward_blocks(0, False, start, grad.reshape(keep.shape), keep, fresh)
    of_gates = cuda.device_array(tuple(gates.shape), f32)
    gates_gradient_kernel[-(-keep.size // THREADS), THREADS](
        gates.reshape(gates.size),
        of_keep.reshape(keep.size),
        of_fresh.reshape(keep.size),
        of_gates.reshape(gates.size),
        hidden,
        lstm,
    )
    of_x, *of_weights = linear_backward_transposed(bias, None, of_gates, rows, weight)
    return of_x.reshape(tuple(x.shape)), *(array.reshape(tuple(h0.shape)) for array in of_h0), *of_weights


ADDS = "gates of all steps in one product and one pass, a thread for each unit; then the scan in chunks"
AGAIN = "gates are computed again; two scans, one pass over gates, two products"
GATES = [(gates_kernel, [f"void({LINE}, {LINE}, {LINE}, int64, boolean)"])]
GRADIENT = [(gates_gradient_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, int64, boolean)"])]


@implementation("min_gru", "gpu", adds=ADDS, dtypes=("float32",), limits=LIMITS, kernels=GATES, public=True)
def min_gru_blocks(h0, weight, bias, x):
    return forward(h0, weight, bias, x, False)


@implementation("min_lstm", "gpu", adds=ADDS, dtypes=("float32",), limits=LIMITS, kernels=GATES, public=True)
def min_lstm_blocks(h0, weight, bias, x):
    return forward(h0, weight, bias, x, True)


@implementation(
    "min_gru_backward", "gpu", adds=AGAIN, dtypes=("float32",), limits=LIMITS, kernels=GRADIENT, public=True
)
def min_gru_backward_blocks(grad, h0, weight, bias, x):
    return backward(grad, h0, weight, bias, x, False)


@implementation(
    "min_lstm_backward", "gpu", adds=AGAIN, dtypes=("float32",), limits=LIMITS, kernels=GRADIENT, public=True
)
def min_lstm_backward_blocks(grad, h0, weight, bias, x):
    return backward(grad, h0, weight, bias, x, True)
