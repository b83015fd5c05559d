"""Losses: one number that says how wrong a network is, and the gradient with which its backward pass begins.

Names, argument orders and defaults are PyTorch's. Arrays are float32 or float64, of any strides, in host or device
memory (there: float32); targets of cross-entropy are int64 or int32. Nothing changes its inputs. Wrong arguments
raise ValueError or TypeError.

Its files, in reading order:

reference.py          the specification in NumPy       examples.py           what each operation can be called with
cpu_cross_entropy.py  log-sum-exp in one pass          gpu_cross_entropy.py  a thread, a block, a warp for each row
cpu_mse.py            squares, summed in fixed parts   gpu_mse.py            the same by blocks

Sums are added in an order that follows from the sizes alone: results repeat bit for bit, on any number of threads.
"""

import numpy as np

from ..arguments import check_gradient, float_array, number, one_place, same
from ..implementations import call, operation
from ..indices import checked_indices, counted
from . import examples, reference

REDUCTIONS = ("none", "mean", "sum")


def _check_reduction(reduction):
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; expected 'none', 'mean' or 'sum'.")


def _check_cross_entropy(input, target, ignore_index, reduction, label_smoothing):
    """(targets, ignore_index, reduction, smoothing, how many rows count, input): what all rungs take."""
    float_array("input", input)
    if input.ndim < 1:
        raise ValueError("input has no dimensions; expected (N, C), (N, C, d1, ...) or (C,).")
    one_place(input=input, target=checked_indices("target", target))
    classes = input.shape[1] if input.ndim > 1 else input.shape[0]
    expected = (input.shape[0], *input.shape[2:]) if input.ndim > 1 else ()
    if tuple(target.shape) != expected:
        raise ValueError(
            f"target has shape {tuple(target.shape)}; expected {expected}: a class for each row of input, whose shape "
            f"is {tuple(input.shape)} (classes along dimension {min(input.ndim - 1, 1)})."
        )
    _check_reduction(reduction)
    smoothing = number("label_smoothing", label_smoothing, input.dtype)
    if not 0 <= smoothing <= 1:
        raise ValueError(f"label_smoothing is {label_smoothing}; expected a number from 0 to 1.")
    if isinstance(ignore_index, bool) or not isinstance(ignore_index, int | np.integer):
        raise TypeError(f"ignore_index is {ignore_index!r}; expected a whole number.")
    if not -(2**63) <= ignore_index < 2**63:
        raise ValueError(f"ignore_index is {ignore_index}; expected a whole number that fits int64, as targets do.")
    if not classes and target.size:
        raise ValueError(f"input has shape {tuple(input.shape)}; expected at least one class.")
    count = counted("target", target, classes, ignore_index)
    return target, int(ignore_index), reduction, smoothing, count, input


def _shape_of_result(target, reduction):
    return tuple(target.shape) if reduction == "none" else ()


@operation("cross_entropy", reference.cross_entropy, examples.CROSS_ENTROPY)
def _prepare_cross_entropy(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    return _check_cross_entropy(input, target, ignore_index, reduction, label_smoothing)


@operation(
    "cross_entropy_with_lse",
    reference.cross_entropy_with_lse,
    examples.WITH_LSE,
    results=("result", "lse"),
    constants=("lse",),
)
def _prepare_cross_entropy_with_lse(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    return _check_cross_entropy(input, target, ignore_index, reduction, label_smoothing)


@operation("cross_entropy_backward", reference.cross_entropy_backward, examples.BACKWARD, backward_of="cross_entropy")
def _prepare_cross_entropy_backward(grad, input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    *checked, input = _check_cross_entropy(input, target, ignore_index, reduction, label_smoothing)
    check_gradient(grad, _shape_of_result(target, reduction), input=input)
    return *checked, None, grad, input


@operation(
    "cross_entropy_backward_from_lse",
    reference.cross_entropy_backward_from_lse,
    examples.FROM_LSE,
    backward_of="cross_entropy_with_lse",
)
def _prepare_cross_entropy_from_lse(grad, input, target, lse, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    *checked, _, grad, input = _prepare_cross_entropy_backward(
        grad, input, target, ignore_index, reduction, label_smoothing
    )
    float_array("lse", lse)
    one_place(lse=lse, input=input)
    same("dtype", input=input, lse=lse)
    if tuple(lse.shape) != tuple(target.shape):
        raise ValueError(
            f"lse has shape {tuple(lse.shape)}; expected {tuple(target.shape)}, as cross_entropy_with_lse returns it."
        )
    return *checked, lse, grad, input


def _check_mse(input, target, reduction):
    float_array("input", input)
    float_array("target", target)
    one_place(input=input, target=target)
    same("shape", input=input, target=target)
    same("dtype", input=input, target=target)
    _check_reduction(reduction)


@operation("mse_loss", reference.mse_loss, examples.MSE)
def _prepare_mse(input, target, reduction="mean"):
    _check_mse(input, target, reduction)
    return reduction, input, target


@operation("mse_loss_backward", reference.mse_loss_backward, examples.MSE_BACKWARD, backward_of="mse_loss")
def _prepare_mse_backward(grad, input, target, reduction="mean"):
    _check_mse(input, target, reduction)
    check_gradient(grad, tuple(input.shape) if reduction == "none" else (), input=input)
    return reduction, grad, input, target


from . import cpu_cross_entropy, cpu_mse, gpu_cross_entropy, gpu_mse  # noqa: E402, F401

# ---- what is called -------------------------------------------------------------------------------------------------


def cross_entropy(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """-log softmax(input)[target] of each row, as torch.nn.functional.cross_entropy of class indices without weights.

    input: logits, (N, C), (N, C, d1, ...) or (C,), float32 or float64. target: (N,), (N, d1, ...) or (), int64 or
    int32, each from 0 to C - 1 or `ignore_index`, else ValueError. reduction: "none" for the loss of each target,
    "sum", or "mean" over the targets that are not ignored: NaN where all are. label_smoothing: the part of the weight,
    from 0 to 1, that goes to all classes evenly (Szegedy and others, 2016, section 7). A new array, () where it is
    reduced.

    Targets in device memory are copied to the host to be checked: a kernel cannot raise an error.
    """
    return call("cross_entropy", input, target, ignore_index, reduction, label_smoothing)


def cross_entropy_with_lse(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """(result, lse): that of `cross_entropy`, and what `cross_entropy_backward_from_lse` needs beside it.

    lse: log(sum of e^input) of each row, of the shape of target and the dtype of input. Arguments and errors are those
    of `cross_entropy`. New arrays.
    """
    return call("cross_entropy_with_lse", input, target, ignore_index, reduction, label_smoothing)


def cross_entropy_backward(grad, input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """The gradient of input, given `grad`, the one with respect to cross_entropy(...): softmax minus what was wanted.

    grad: of the shape of that result, and of the dtype of input. Ignored rows get zeros. A new array.
    """
    return call("cross_entropy_backward", grad, input, target, ignore_index, reduction, label_smoothing)


def cross_entropy_backward_from_lse(grad, input, target, lse, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """`cross_entropy_backward` without its way forward: lse is what `cross_entropy_with_lse` returned. One pass.

    The other arguments are those of that call. With other ones the gradient is wrong: only shapes are checked.
    """
    return call("cross_entropy_backward_from_lse", grad, input, target, lse, ignore_index, reduction, label_smoothing)


def mse_loss(input, target, reduction="mean"):
    """(input - target)^2, as torch.nn.functional.mse_loss; nothing is broadcast.

    input, target: any shape, the same, and one dtype, float32 or float64. reduction: "none" for all squares, "sum", or
    "mean" (NaN of an empty array). A new array, () where it is reduced.
    """
    return call("mse_loss", input, target, reduction)


def mse_loss_backward(grad, input, target, reduction="mean"):
    """The gradients of input and target, given `grad`, the one with respect to mse_loss(...). New arrays."""
    return call("mse_loss_backward", grad, input, target, reduction)
