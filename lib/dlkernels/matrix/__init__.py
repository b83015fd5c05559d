"""Matrix products, and the transpose of a matrix.

The names, argument orders and defaults are PyTorch's. Operands are float32 or float64 arrays of at least two
dimensions, of any strides, in host or device memory; leading dimensions are broadcast against each other. What is
computed from device arrays stays on the device, in float32; a device array that is not contiguous is copied there
first. Nothing changes its inputs; ``out`` may not share memory with them. Wrong arguments raise ValueError or
TypeError.

Its files, in reading order:

reference.py   the specification in NumPy                examples.py   what each operation can be called with
batch.py       stacks of matrices as products of two     choose.py     which way a product goes

cpu            cpu.py (the ladder of matmul), blocks.py (its last rungs: blocks, packing, a register tile),
               few.py (few rows), strassen.py, cpu_transpose.py
cpu, few bits  half.py and int8.py (the ladders), dots.py (dot-product instructions), half_dot.py and int8_dot.py on
               them
backward, cpu  backward.py (and the linear layer), bias.py (sums over rows, or over pictures)
gpu            gpu.py (the ladder), gpu_wide.py (16 bytes at a time), gpu_stacks.py (more matrices, split sums),
               gpu_layers.py (linear layer and gradients), gpu_transpose.py
gpu, few bits  gpu_tensor.py (tensor cores), gpu_tensor_fed.py (feeding them)
gpu, no rungs  gpu_local.py (where a local array lies), gpu_signed.py (what a sign costs)
"""

import numpy as np
from numpy import empty, ndarray

from ..arguments import FLOATS, check_gradient, float_array, one_place, output, overlap, same
from ..device import is_device_array
from ..host import new
from ..implementations import call, operation
from ..vector.flat import alike
from ..vector.scalar import PARAMETERS
from . import examples, reference

FLOAT32, FLOAT64 = FLOATS
CONTIGUOUS = 0x101  # bits of flags.num: NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED


def _quick_matmul(a, b, out):
    """Two contiguous matrices that fit."""
    if out is None and type(a) is ndarray and type(b) is ndarray and a.ndim == 2 and b.ndim == 2:
        (m, k), (rows, n), dtype = a.shape, b.shape, a.dtype
        adds = m * n * k
        if k == rows and adds and dtype is b.dtype and (dtype is FLOAT32 or dtype is FLOAT64):
            if a.flags.num & b.flags.num & CONTIGUOUS == CONTIGUOUS:
                out = empty((m, n), dtype)
                if adds < PARALLEL_FROM and m >= SMALL_ROWS and n >= ONE_VECTOR:
                    matmul_small(a, b, out)
                else:
                    multiply_contiguous(a, b, out)
                return out
    return None


@operation("matmul", reference.matmul, examples.MATMUL, quick=_quick_matmul, by_shape=True)
def _prepare_matmul(a, b, out=None):
    float_array("a", a)
    float_array("b", b)
    one_place(a=a, b=b)
    same("dtype", a=a, b=b)
    shape = _product_shape(a, b)
    _apart(out, a=a, b=b)
    return a, b, output(out, shape, a.dtype, a=a, b=b)


def _apart(out, **inputs):
    """Raise if out is one of the inputs: a product cannot be made in place."""
    for name, x in inputs.items():
        if out is x or (_is_array(out) and overlap(out, x)):
            raise ValueError(
                f"out overlaps {name}; expected separate memory: {name} is still read when out is written."
            )


def _is_array(x):
    return isinstance(x, np.ndarray) or is_device_array(x)


def _product_shape(a, b):
    """The shape of a @ b; ValueError where there is none."""
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"a has shape {tuple(a.shape)} and b has shape {tuple(b.shape)}; expected (..., m, k) and (..., k, n) "
            "with the same k. A vector is a matrix with one row, x[None, :], or one column, x[:, None]."
        )
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if max(a.ndim, b.ndim) > 2 else ()
    except ValueError:
        raise ValueError(
            f"a has shape {tuple(a.shape)} and b has shape {tuple(b.shape)}; expected leading dimensions that are "
            "equal, 1 or missing."
        ) from None
    return (*batch, a.shape[-2], b.shape[-1])


def _prepare_strassen(a, b, out=None):
    if is_device_array(a) or is_device_array(b):
        raise ValueError(
            "a or b is in device memory; expected host memory: matmul_strassen runs on the CPU. Use x.copy_to_host(), "
            "or matmul."
        )
    return _prepare_matmul(a, b, out)


operation("matmul_strassen", reference.matmul, examples.STRASSEN, backward="matmul_backward")(_prepare_strassen)


@operation(
    "matmul_half",
    reference.matmul_half,
    examples.HALF,
    no_backward="matmul of the same in float32 has one",
    by_shape=True,
)
def _prepare_half(a, b, out=None):
    for name, x in (("a", a), ("b", b)):
        float_array(name, x, ("float16", "uint16"))
    one_place(a=a, b=b)
    same("dtype", a=a, b=b)
    shape = _product_shape(a, b)
    _apart(out, a=a, b=b)
    return a, b, "f16" if a.dtype == np.float16 else "bf16", output(out, shape, np.dtype("float32"), a=a, b=b)


@operation("matmul_int8", reference.matmul_int8, examples.INT8, no_backward="whole numbers have no gradient")
def _prepare_int8(a, b):
    for name, x in (("a", a), ("b", b)):
        float_array(name, x, ("int8",))
        if is_device_array(x):
            raise ValueError(
                f"{name} is in device memory; expected host memory: matmul_int8 runs on the CPU. Use x.copy_to_host()."
            )
    shape = _product_shape(a, b)
    if a.shape[-1] >= int8.LONGEST:
        raise ValueError(
            f"a has shape {a.shape}: sums of {a.shape[-1]} terms might exceed 32 bits; expected less than "
            f"{int8.LONGEST}."
        )
    return a, b, np.empty(shape, np.int32)


def _partial_matmul_backward(wanted, grad, a, b):
    if is_device_array(grad):
        return None
    return backward.matmul_backward_products(*_prepare_matmul_backward(grad, a, b), wanted)


@operation(
    "matmul_backward",
    reference.matmul_backward,
    examples.MATMUL_BACKWARD,
    backward_of="matmul",
    by_shape=True,
    partial=_partial_matmul_backward,
)
def _prepare_matmul_backward(grad, a, b):
    for name, x in (("a", a), ("b", b)):
        float_array(name, x)
    check_gradient(grad, _product_shape(a, b), a=a, b=b)
    return grad, a, b


def _quick_linear(x, weight, bias, activation, out):
    """Contiguous arrays that fit; no activation."""
    if out is None and activation is None and type(x) is ndarray and type(weight) is ndarray and weight.ndim == 2:
        (outs, ins), dtype = weight.shape, x.dtype
        if x.size and outs and x.shape[-1] == ins and dtype is weight.dtype and (dtype is FLOAT32 or dtype is FLOAT64):
            fits = bias is None or (type(bias) is ndarray and bias.dtype is dtype and bias.shape == (outs,))
            if fits and x.flags.num & weight.flags.num & CONTIGUOUS == CONTIGUOUS:
                out = empty((*x.shape[:-1], outs), dtype)
                multiply_contiguous(x.reshape(-1, ins), weight.T, out.reshape(-1, outs))
                if bias is not None:
                    out += bias
                return out
    return None


@operation("linear", reference.linear, examples.LINEAR, quick=_quick_linear, by_shape=True)
def _prepare_linear(x, weight, bias=None, activation=None, out=None):
    shape = _check_linear(x, weight, bias, activation)
    arrays = {"x": x, "weight": weight} | ({} if bias is None else {"bias": bias})
    _apart(out, **arrays)
    return x, weight, bias, activation, output(out, shape, x.dtype, **arrays)


def _partial_linear_backward(wanted, grad, x, weight, bias=None, activation=None):
    if is_device_array(grad):
        return None
    return backward.linear_backward_products(*_prepare_linear_backward(grad, x, weight, bias, activation), wanted)


@operation(
    "linear_backward",
    reference.linear_backward,
    examples.LINEAR_BACKWARD,
    backward_of="linear",
    by_shape=True,
    partial=_partial_linear_backward,
)
def _prepare_linear_backward(grad, x, weight, bias=None, activation=None):
    shape = _check_linear(x, weight, bias, activation)
    check_gradient(grad, shape, x=x)
    return bias, activation, grad, x, weight


def _check_linear(x, weight, bias, activation):
    """The shape of the layer's result."""
    arrays = {"x": x, "weight": weight} | ({} if bias is None else {"bias": bias})
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    if x.ndim < 1 or weight.ndim != 2 or weight.shape[1] != x.shape[-1]:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)} and x has shape {tuple(x.shape)}; expected x of shape (..., in) "
            "and weight of shape (out, in)."
        )
    if bias is not None and tuple(bias.shape) != tuple(weight.shape[:1]):
        raise ValueError(
            f"bias has shape {tuple(bias.shape)}; expected {tuple(weight.shape[:1])}, one number for each row of "
            "weight."
        )
    if activation is not None and activation not in PARAMETERS:
        raise ValueError(f"activation is {activation!r}; expected None or one of {', '.join(PARAMETERS)}.")
    return (*x.shape[:-1], weight.shape[0])


def _transpose_backward(grad):
    return {"x": transpose(grad)}


def _quick_transpose(x, out):
    if out is None and alike(x) and x.ndim == 2 and x.size:
        out = new(x.shape[::-1], x.dtype)
        cpu_transpose.turned(x.reshape(1, *x.shape), out.reshape(1, *out.shape))
        return out
    return None


@operation(
    "transpose",
    reference.transpose,
    examples.TRANSPOSE,
    quick=_quick_transpose,
    backward=_transpose_backward,
    by_shape=True,
)
def _prepare_transpose(x, out=None):
    float_array("x", x)
    if x.ndim < 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., m, n): at least two dimensions.")
    _apart(out, x=x)
    *stack, m, n = x.shape
    return x, output(out, (*stack, n, m), x.dtype, x=x)


from . import (  # noqa: E402
    backward,
    cpu,  # noqa: F401
    cpu_transpose,
    gpu,  # noqa: F401
    gpu_layers,  # noqa: F401
    gpu_stacks,  # noqa: F401
    gpu_tensor,  # noqa: F401
    gpu_tensor_fed,  # noqa: F401
    gpu_transpose,  # noqa: F401
    half,  # noqa: F401
    half_dot,  # noqa: F401
    int8,
    int8_dot,  # noqa: F401
    strassen,  # noqa: F401
)
from .blocks import SMALL_ROWS, matmul_small  # noqa: E402
from .choose import ONE_VECTOR, PARALLEL_FROM, multiply_contiguous  # noqa: E402


def matmul(a, b, out=None):
    """The matrix product a b; for stacks of matrices, of each pair.

    a: (..., m, k), b: (..., k, n), float32 or float64 (on a GPU: float32), same dtype; leading dimensions are
    broadcast.
    out: (..., m, n), where to write, or None for a new array.
    """
    found = _quick_matmul(a, b, out)
    return call("matmul", a, b, out) if found is None else found


def matmul_backward(grad, a, b):
    """The gradients of a and of b, given `grad`, the one with respect to matmul(a, b)."""
    return call("matmul_backward", grad, a, b)


def matmul_strassen(a, b, out=None):
    """The matrix product a b with seven multiplications for eight, for sides of at least 2048 (Strassen 1969).

    Arguments as for `matmul`. Elements are less accurate than matmul's where they are small beside others.
    """
    return call("matmul_strassen", a, b, out)


def matmul_half(a, b, out=None):
    """The product of float16 matrices, or of bfloat16 ones given by their bits as uint16; sums and result in float32.

    a: (..., m, k), b: (..., k, n). out: (..., m, n) float32, where to write, or None for a new array.
    """
    return call("matmul_half", a, b, out)


def matmul_int8(a, b):
    """The product of int8 matrices as an int32 array: exact, for k below 131,072. Leading dimensions are broadcast."""
    return call("matmul_int8", a, b)


def linear(x, weight, bias=None, activation=None, out=None):
    """activation(x weight^T + bias): torch.nn.functional.linear, and the activation that follows it.

    x: (..., in), weight: (out, in), bias: (out,) or None, one dtype, float32 or float64 (on a GPU: float32).
    activation: None or a name, such as "relu" or "gelu". out: (..., out), where to write, or None.
    """
    found = _quick_linear(x, weight, bias, activation, out)
    return call("linear", x, weight, bias, activation, out) if found is None else found


def linear_backward(grad, x, weight, bias=None, activation=None):
    """The gradients of x, weight and (if there is one) bias, given `grad`, the one with respect to linear(...)."""
    return call("linear_backward", grad, x, weight, bias, activation)


def transpose(x, out=None):
    """A contiguous copy of x with rows and columns exchanged: torch.transpose(x, -1, -2).contiguous().

    x: (..., m, n), float32 or float64. out: (..., n, m), where to write, or None for a new array.
    """
    found = _quick_transpose(x, out)
    return call("transpose", x, out) if found is None else found
