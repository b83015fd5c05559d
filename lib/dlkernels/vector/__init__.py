"""Element-wise operations: add, axpy, activations, and a bias with an activation in one pass.

The names, argument orders and defaults are PyTorch's. All take float32 or float64 arrays of any shape and strides, in
host or device memory (a device array that is not contiguous is copied there first), never change their inputs, and
write into `out` if it is given; `out` may be one of the inputs. Nothing is broadcast. Wrong arguments raise ValueError
or TypeError.

Its files, in reading order:

reference.py  the specification in NumPy            examples.py  sizes, layouts, extreme values
scalar.py     each function for one element         flat.py      every array as one line of elements
cpu.py        the ladders, forward and backward     fast.py      activations that LLVM turns into vectors
gpu.py        the same on a GPU
"""

import numpy as np
from numpy import empty

from ..arguments import float_array, number, one_place, output, same
from ..device import cuda, is_device_array
from ..host import new
from ..implementations import call, operation
from . import examples, reference
from .flat import alike
from .scalar import PARAMETERS

# Each `_prepare_*` checks the arguments of an operation and returns what all its rungs take.


def _add_backward(grad):
    return {"a": grad, "b": grad}


def _quick_add(a, b, out):
    if out is None and alike(a, b):
        out = empty(a.shape, a.dtype)
        if out.size:
            cpu.add_lines(a.reshape(-1), b.reshape(-1), out.reshape(-1), new=True)
        return out
    return None


@operation("add", reference.add, examples.ADD, quick=_quick_add, backward=_add_backward, by_shape=True)
def _prepare_add(a, b, out=None):
    _alike(a=a, b=b)
    return a, b, output(out, a.shape, a.dtype, a=a, b=b)


def _axpy_backward(grad, alpha):
    nothing = np.zeros(grad.shape, grad.dtype)
    return {"x": axpy(alpha, grad, cuda.to_device(nothing) if is_device_array(grad) else nothing), "y": grad}


def _quick_axpy(alpha, x, y, out):
    if out is None and type(alpha) is float and alike(x, y):
        out = new(x.shape, x.dtype)
        if out.size:
            cpu.axpy_lines(x.dtype.type(alpha), x.reshape(-1), y.reshape(-1), out.reshape(-1), new=True)
        return out
    return None


@operation("axpy", reference.axpy, examples.AXPY, quick=_quick_axpy, backward=_axpy_backward, by_shape=True)
def _prepare_axpy(alpha, x, y, out=None):
    _alike(x=x, y=y)
    return number("alpha", alpha, x.dtype), x, y, output(out, x.shape, x.dtype, x=x, y=y)


@operation("bias_activation", reference.bias_activation, examples.BIAS, by_shape=True)
def _prepare_bias_activation(x, bias, activation="relu", out=None):
    parameter = _check_bias(x, bias, activation)
    return x, bias, activation, parameter, output(out, x.shape, x.dtype, x=x, bias=bias)


@operation(
    "bias_activation_backward",
    reference.bias_activation_backward,
    examples.BIAS_BACKWARD,
    backward_of="bias_activation",
    by_shape=True,
)
def _prepare_bias_activation_backward(grad, x, bias, activation="relu"):
    parameter = _check_bias(x, bias, activation)
    _alike(grad=grad, x=x)
    return grad, x, bias, activation, parameter, output(None, x.shape, x.dtype, x=x)


def _check_bias(x, bias, activation):
    """The activation's parameter."""
    float_array("x", x)
    float_array("bias", bias)
    one_place(x=x, bias=bias)
    same("dtype", x=x, bias=bias)
    if x.ndim < 1 or bias.ndim != 1 or bias.shape[0] != x.shape[-1]:
        raise ValueError(
            f"bias has shape {bias.shape} and x has shape {x.shape}; "
            "expected x of shape (..., features) and bias of shape (features,)."
        )
    if activation not in PARAMETERS:
        raise ValueError(f"activation is {activation!r}; expected one of {', '.join(PARAMETERS)}.")
    return _parameter(activation, None, x)


def _alike(**arrays):
    if alike(*arrays.values()):
        return
    for name, x in arrays.items():
        float_array(name, x)
    one_place(**arrays)
    same("shape", **arrays)
    same("dtype", **arrays)


def _parameter(name, value, x):
    """The value of the operation's slope or scale, as a number of the type of `x`."""
    label, default = PARAMETERS[name] or ("parameter", 0.0)
    return number(label, default if value is None else value, x.dtype)


def _declare_activation(name):
    def prepare(x, parameter=None, out=None):
        float_array("x", x)
        return x, _parameter(name, parameter, x), output(out, x.shape, x.dtype, x=x)

    def prepare_backward(grad, x, parameter=None, out=None):
        _alike(grad=grad, x=x)
        return grad, x, _parameter(name, parameter, x), output(out, x.shape, x.dtype, grad=grad, x=x)

    operation(name, getattr(reference, name), examples.FORWARD, by_shape=True)(prepare)
    backward = operation(
        f"{name}_backward", getattr(reference, f"{name}_backward"), examples.BACKWARD, backward_of=name, by_shape=True
    )
    backward(prepare_backward)


for _name in PARAMETERS:
    _declare_activation(_name)

from . import cpu, gpu  # noqa: E402, F401  (their rungs enter the table of the operations declared above)


def add(a, b, out=None):
    """a + b, element by element.

    a, b: float32 or float64, same shape and dtype. out: where to write, or None for a new array.
    """
    found = _quick_add(a, b, out)
    return call("add", a, b, out) if found is None else found


def axpy(alpha, x, y, out=None):
    """alpha * x + y, element by element (BLAS level 1, ?axpy). alpha: a number; x, y: same shape and dtype."""
    found = _quick_axpy(alpha, x, y, out)
    return call("axpy", alpha, x, y, out) if found is None else found


def bias_activation(x, bias, activation="relu", out=None):
    """activation(x + bias) in one pass over memory: the end of every linear layer.

    x: (..., features). bias: (features,), same dtype. activation: a name, such as "relu" or "gelu".
    """
    return call("bias_activation", x, bias, activation, out)


def bias_activation_backward(grad, x, bias, activation="relu"):
    """The gradients of x and bias, given `grad`, the one with respect to bias_activation(...). New arrays.

    grad, x: (..., features), same shape and dtype. bias: (features,).
    """
    return call("bias_activation_backward", grad, x, bias, activation)


def relu(x, out=None):
    """max(x, 0)."""
    return call("relu", x, None, out)


def leaky_relu(x, negative_slope=0.01, out=None):
    """x where x > 0, else negative_slope * x."""
    return call("leaky_relu", x, negative_slope, out)


def elu(x, alpha=1.0, out=None):
    """x where x > 0, else alpha * (exp(x) - 1) (Clevert, Unterthiner, Hochreiter 2015)."""
    return call("elu", x, alpha, out)


def sigmoid(x, out=None):
    """1 / (1 + exp(-x))."""
    return call("sigmoid", x, None, out)


def tanh(x, out=None):
    """The hyperbolic tangent."""
    return call("tanh", x, None, out)


def silu(x, out=None):
    """x * sigmoid(x), also called Swish (Ramachandran, Zoph, Le 2017)."""
    return call("silu", x, None, out)


def gelu(x, out=None):
    """x * Phi(x), Phi the normal distribution function (Hendrycks, Gimpel 2016); exact, not the tanh form."""
    return call("gelu", x, None, out)


def relu_backward(grad, x, out=None):
    """The gradient of relu with respect to x, given `grad`, the one with respect to relu(x)."""
    return call("relu_backward", grad, x, None, out)


def leaky_relu_backward(grad, x, negative_slope=0.01, out=None):
    """The gradient of leaky_relu with respect to x."""
    return call("leaky_relu_backward", grad, x, negative_slope, out)


def elu_backward(grad, x, alpha=1.0, out=None):
    """The gradient of elu with respect to x."""
    return call("elu_backward", grad, x, alpha, out)


def sigmoid_backward(grad, x, out=None):
    """The gradient of sigmoid with respect to x."""
    return call("sigmoid_backward", grad, x, None, out)


def tanh_backward(grad, x, out=None):
    """The gradient of tanh with respect to x."""
    return call("tanh_backward", grad, x, None, out)


def silu_backward(grad, x, out=None):
    """The gradient of silu with respect to x."""
    return call("silu_backward", grad, x, None, out)


def gelu_backward(grad, x, out=None):
    """The gradient of gelu with respect to x."""
    return call("gelu_backward", grad, x, None, out)
