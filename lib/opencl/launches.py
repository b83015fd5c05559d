"""The host's part of each kernel: NDRange, work-group, local memory, results. Arrays on the device in, arrays out.

Shapes as the kernels' files say them; arrays are contiguous and of one dtype, float32 or float64. Nothing waits: a
queue is in order. operations.py checks arguments as a user gives them, and brings arrays there and back.
"""

import math

import numpy as np

from .host import device

TILE = 16  # of matrices, as in the .cl files
WIDE = 64  # of results in the tile of matmul_registers
GROUP = 64  # work-items for a row, or for elements of a list
CHUNK = 1 << 12  # numbers of a row that one work-group adds up
ACTIVATIONS = (None, "relu", "leaky_relu", "elu", "sigmoid", "tanh", "silu", "gelu")  # by number, as in activations.cl
MATMUL = {"matmul_naive": 1, "matmul_tiled": 1, "matmul_registers": 4}  # results of a work-item along a side
CONV2D = ("conv2d_direct", "conv2d_implicit")


def program(dtype, *files):
    """The program of these files for one type of numbers; TypeError where the device has no double precision."""
    there = device()
    if dtype == np.float64 and not there.has_double:
        raise TypeError(f"{there.name} has no double precision; expected float32.")
    return there.program(*files, real="double" if dtype == np.float64 else "float")


def up(n, to):
    """The least multiple of `to` that is at least n."""
    return -(-n // to) * to


def _flat(kernel, n, *arguments):
    return kernel(up(n, GROUP), GROUP, *arguments)


def _on_rows(kernel, rows, dtype, *arguments):
    return kernel((GROUP, rows), (GROUP, 1), *arguments, device().local(GROUP, dtype))


def add(a, b):
    out = device().empty(a.shape, a.dtype)
    _flat(program(a.dtype, "add.cl").add, a.size, a, b, out, a.size)
    return out


def sum_rows(x):
    """The sums of (rows, n), n at least 1, as (rows,): in parts, then the parts."""
    rows, n = x.shape
    while True:
        parts = -(-n // CHUNK)
        out = device().empty((rows, parts), x.dtype)
        shared = device().local(GROUP, x.dtype)
        sum_parts = program(x.dtype, "sum_sub_groups.cl" if device().has_sub_groups else "sum.cl").sum_parts
        sum_parts((parts * GROUP, rows), (GROUP, 1), x, out, n, parts, CHUNK, shared)
        if parts == 1:
            return out.reshape(rows)
        x, n = out, parts


def transpose(x):
    """(stack, m, n) as (stack, n, m)."""
    stack, m, n = x.shape
    out = device().empty((stack, n, m), x.dtype)
    program(x.dtype, "transpose.cl").transpose((up(n, TILE), up(m, TILE), stack), (TILE, TILE, 1), x, out, m, n)
    return out


def matmul(a, b, kernel="matmul_registers"):
    """(stack, m, k) times (stack, k, n) as (stack, m, n); a stack of one serves all. kernel: a name in MATMUL."""
    stack, m, n, k = max(len(a), len(b)), a.shape[1], b.shape[2], a.shape[2]
    out, tile = device().empty((stack, m, n), a.dtype), MATMUL[kernel]
    work_items = up(-(-n // tile), TILE), up(-(-m // tile), TILE), stack
    steps = (m * k if len(a) > 1 else 0), (k * n if len(b) > 1 else 0)
    getattr(program(a.dtype, "matmul.cl"), kernel)(work_items, (TILE, TILE, 1), a, b, out, m, n, k, *steps)
    return out


def linear(x, weight, bias=None, activation=None):
    """activation(x weight^T + bias): x (m, k), weight (n, k), bias (n,) or None, a name in ACTIVATIONS."""
    (m, k), n = x.shape, len(weight)
    out = device().empty((m, n), x.dtype)
    program(x.dtype, "activations.cl", "linear.cl").linear(
        (up(n, TILE), up(m, TILE)), (TILE, TILE), x, weight, weight if bias is None else bias, out, m, n, k,
        bias is not None, ACTIVATIONS.index(activation),
    )  # fmt: skip
    return out


def activation(x, name):
    out = device().empty(x.shape, x.dtype)
    kernel = program(x.dtype, "activations.cl").activation
    _flat(kernel, x.size, x, out, x.size, ACTIVATIONS.index(name))
    return out


def activation_backward(grad, x, name):
    """The gradient of x, given the one of activation(x)."""
    out = device().empty(x.shape, x.dtype)
    kernel = program(x.dtype, "activations.cl").activation_backward
    _flat(kernel, x.size, grad, x, out, x.size, ACTIVATIONS.index(name))
    return out


def linear_backward(grad, x, weight, of_x=True):
    """(gradient of x, of weight, of bias) of x weight^T + bias; of_x=False leaves out the first: None."""
    turned = transpose(grad[None])
    of_weight = matmul(turned, x[None]).reshape(weight.shape)
    return (
        matmul(grad[None], weight[None]).reshape(x.shape) if of_x else None,
        of_weight,
        sum_rows(turned.reshape(turned.shape[1:])),
    )


#: the struct of convolution.cl
GEOMETRY = np.dtype([
    (name, np.int32) for name in (
        "batch", "ins", "outs", "height", "width", "rows", "columns", "kernel_y", "kernel_x", "stride_y", "stride_x",
        "top", "left", "dilation_y", "dilation_x", "groups", "biased",
    )
])  # fmt: skip


def conv2d(x, weight, bias, g, sizes, kernel="conv2d_implicit"):
    """x (batch, channels, height, width), weight (outs, ins, ky, kx), bias or None; g: a geometry of dlkernels'
    convolutions; sizes: of the result's pictures. kernel: a name in CONV2D."""
    (batch, outs), (rows, columns) = (len(x), len(weight)), sizes
    out, outs_of_group = device().empty((batch, outs, *sizes), x.dtype), outs // g.groups
    struct = _struct(x, weight, bias, g, sizes)
    if kernel == "conv2d_direct":
        work_items = up(columns, TILE), up(rows, TILE), batch * outs
    else:
        work_items = up(rows * columns, TILE), up(outs_of_group, TILE), batch * g.groups
    run = getattr(program(x.dtype, "convolution.cl"), kernel)
    run(work_items, (TILE, TILE, 1), x, weight, weight if bias is None else bias, out, struct)
    return out


def _struct(x, weight, bias, g, sizes):
    (batch, _, height, width), (outs, ins, *_), (rows, columns) = x.shape, weight.shape, sizes
    values = {name: getattr(g, name) for name in GEOMETRY.names if hasattr(g, name)} | {
        "batch": batch,
        "ins": ins,
        "outs": outs // g.groups,
        "height": height,
        "width": width,
        "rows": rows,
        "columns": columns,
        "biased": bias is not None,
    }
    return np.array([tuple(values[name] for name in GEOMETRY.names)], GEOMETRY)[0]


def conv2d_backward(grad, x, weight, g):
    """(gradient of weight, of bias) of a convolution, given the one of its result (batch, outs, rows, columns)."""
    (batch, outs, *sizes), out = grad.shape, device().empty(weight.shape, x.dtype)
    kernel = program(x.dtype, "rows.cl", "convolution.cl", "convolution_backward.cl").conv2d_weight_gradient
    _on_rows(kernel, weight.size, x.dtype, grad, x, out, _struct(x, weight, None, g, sizes))
    return out, sum_rows(transpose(grad.reshape(1, batch, -1)).reshape(outs, -1))


def max_pool(x, size):
    """The largest of each size x size window of (..., height, width), windows side by side."""
    *planes, height, width = x.shape
    out = device().empty((*planes, height // size, width // size), x.dtype)
    _on_pictures("max_pool", out, x, out, height, width, *out.shape[-2:], size)
    return out


def max_pool_backward(grad, x, size):
    """The gradient of x, given the one of max_pool(x, size)."""
    out = device().empty(x.shape, x.dtype)
    _on_pictures("max_pool_backward", out, grad, x, out, *x.shape[-2:], *grad.shape[-2:], size)
    return out


def _on_pictures(kernel, out, *arguments):
    *planes, rows, columns = out.shape
    work_items = up(columns, TILE), up(rows, TILE), math.prod(planes)
    getattr(program(out.dtype, "pool.cl"), kernel)(work_items, (TILE, TILE, 1), *arguments)


def lstm(of_x, weight, bias, lengths, h, c, backward=False, sequence=True):
    """One layer in one direction: the output (steps, batch, hidden) and the last states.

    of_x: (steps, batch, 4 hidden), the product with the inputs. weight: (4 hidden, hidden). bias: (4 hidden,) or None.
    lengths: (batch,) int32. h, c: (batch, hidden), changed. sequence: one launch where the state fits in local memory;
    else, or for False, one for each step.
    """
    (steps, batch, _), hidden = of_x.shape, h.shape[1]
    out, lstm_program = device().empty((steps, batch, hidden), h.dtype), program(h.dtype, "lstm.cl")
    inputs = of_x, weight, weight if bias is None else bias, lengths
    if sequence and 2 * hidden * h.dtype.itemsize <= device().local_bytes:
        lstm_program.lstm_sequence(
            (GROUP, batch), (GROUP, 1), *inputs, h, c, out, steps, batch, hidden, bias is not None, backward,
            device().local(2 * hidden, h.dtype),
        )  # fmt: skip
        return out, h, c
    now, spare = h, device().empty(h.shape, h.dtype)
    for t in reversed(range(steps)) if backward else range(steps):
        lstm_program.lstm_step(
            (up(hidden, GROUP), batch), (GROUP, 1), *inputs, now, spare, c, out, t, batch, hidden, bias is not None
        )
        now, spare = spare, now
    return out, now, c


def softmax(x):
    out = device().empty(x.shape, x.dtype)
    _on_rows(program(x.dtype, "rows.cl").softmax, len(x), x.dtype, x, out, x.shape[1])
    return out


def layer_norm(x, weight, bias, eps):
    out, affine = device().empty(x.shape, x.dtype), [x if p is None else p for p in (weight, bias)]
    there = weight is not None, bias is not None
    _on_rows(program(x.dtype, "rows.cl").layer_norm, len(x), x.dtype, x, *affine, out, x.shape[1], *there, eps)
    return out


def cross_entropy(x, target, ignored=-100, smoothing=0.0):
    """The loss of each row: x (rows, classes), target (rows,) int32."""
    out = device().empty(len(x), x.dtype)
    kernel = program(x.dtype, "rows.cl").cross_entropy
    _on_rows(kernel, len(x), x.dtype, x, target, out, x.shape[1], ignored, smoothing)
    return out


def cross_entropy_backward(grad, x, target, ignored=-100, smoothing=0.0, scale=1.0):
    """The gradient of x. grad: (rows,), or (1,) for all. scale: 1 / rows for a mean."""
    out = device().empty(x.shape, x.dtype)
    kernel = program(x.dtype, "rows.cl").cross_entropy_backward
    per_row = grad.size > 1
    _on_rows(kernel, len(x), x.dtype, grad, x, target, out, x.shape[1], per_row, ignored, smoothing, scale)
    return out


def attention(q, k, v, mask, g, tile=16):
    """Attention as the geometry g of dlkernels' attention says: (heads, queries, values). tile: of queries and keys;
    smaller where local memory needs it. ValueError where no tile fits."""
    dtype, there = q.dtype, device()
    while True:
        shared = tile * (g.width + 1), tile * (g.width + 1), tile * g.values, tile * tile, tile * g.values, 3 * tile
        if sum(shared) * dtype.itemsize <= there.local_bytes:
            break
        if tile == 1:
            raise ValueError(
                f"q has {g.width} numbers in a row and v {g.values}; a work-group of {there.name} has "
                f"{there.local_bytes} bytes of local memory, too few for one of each and its result."
            )
        tile //= 2
    places = np.stack([g.of_q, g.of_k, g.of_v, g.of_mask], axis=1).astype(np.int64)
    kind = 0 if mask is None else 2 if mask.dtype == np.uint8 else 1
    terms, allowed = mask if kind == 1 else q, mask if kind == 2 else there.empty(1, np.uint8)
    out = there.empty((g.heads, g.queries, g.values), dtype)
    program(dtype, "attention.cl").attention(
        (-(-g.queries // tile) * GROUP, g.heads), (GROUP, 1), q, k, v, terms, allowed, there.array(places), out,
        g.queries, g.keys, g.width, g.values, g.causal, kind, g.mask_row, g.mask_column, g.scale, tile, tile,
        *(there.local(count, dtype) for count in shared),
    )  # fmt: skip
    return out


def sgd(p, grad, buffer=None, lr=1e-3, momentum=0.0, dampening=0.0, decay=0.0, first=False, nesterov=False):
    """Change p, and buffer where there is a momentum, by one step. first: the buffer's numbers are not set yet."""
    heavy = momentum != 0
    arrays = p, grad, buffer if heavy else p
    kernel = program(p.dtype, "sgd.cl").sgd
    _flat(kernel, p.size, *arrays, p.size, lr, momentum, dampening, decay, heavy, first, nesterov)
