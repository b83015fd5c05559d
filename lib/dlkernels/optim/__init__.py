"""Optimisers: one call is one step of all parameters.

Names, formulas and defaults are PyTorch's (torch.optim.SGD, Adam, AdamW, torch.nn.utils.clip_grad_norm_). Arrays
are float32 or float64, of any shape and strides, in host or device memory. Each group (params, grads, a state) is one
array, or a tuple of arrays. One array is the fastest, on a GPU too, where each array is a launch: a buffer of which
all parameters are views.

Nothing changes its inputs but `out`: None, or a tuple like the one that is returned. Its members may be the very
arguments that the results replace, as in usual training; None in it stands for new arrays. The results are the same,
bit for bit, for any number of threads, in place or not, in one buffer or in many arrays (but for the sum of
`clip_grad_norm`, whose order follows from the arrays). Wrong arguments raise ValueError or TypeError.

Its files, in reading order:

reference.py  the specification in NumPy            examples.py  what each operation can be called with
groups.py     groups of arrays, in place or not     steps.py     the step of one element
cpu.py        the ladders of the optimisers         clip.py      the norm of all gradients, on the CPU
gpu.py        the same on a GPU
"""

import math
import numbers

import numpy as np

from ..arguments import number
from ..implementations import Several, call, operation
from . import examples, reference
from .groups import gather

NONE = "training does not differentiate through a step of its optimiser"


def _real(name, value, least=0.0, below=math.inf):
    """`value` as a float, from `least` on and less than `below`; ValueError otherwise."""
    if type(value) is float and least <= value < below:
        return value
    value = float(number(name, value, "float64"))
    if not least <= value < below:
        limit = "" if below == math.inf else f" and less than {below:g}"
        raise ValueError(f"{name} is {value:g}; expected a finite number of at least {least:g}{limit}.")
    return value


@operation("sgd", reference.sgd, examples.SGD, results=("params", "momentum_buffers"), no_backward=NONE)
def _prepare_sgd(
    params,
    grads,
    momentum_buffers=None,
    lr=1e-3,
    momentum=0.0,
    dampening=0.0,
    weight_decay=0.0,
    nesterov=False,
    out=None,
):
    lr, momentum, decay = _real("lr", lr), _real("momentum", momentum), _real("weight_decay", weight_decay)
    dampening = float(number("dampening", dampening, "float64"))
    if nesterov not in (True, False):
        raise TypeError(f"nesterov is {nesterov!r}; expected True or False.")
    if nesterov and (not momentum or dampening):
        raise ValueError(
            f"momentum is {momentum:g} and dampening {dampening:g}; Nesterov's way expects one and no other."
        )
    if momentum_buffers is not None and not momentum:
        raise ValueError("momentum_buffers are given, but momentum is 0; expected None, or a momentum above 0.")
    groups = {"params": params, "grads": grads, "momentum_buffers": momentum_buffers}
    if momentum:
        gathered, results = gather(groups, out, ("params", "momentum_buffers"))
    else:
        if out is not None and isinstance(out, tuple | list) and len(out) == 2 and out[1] is not None:
            raise ValueError("out has momentum_buffers, but momentum is 0; expected (params, None).")
        gathered, results = gather(
            groups, out[:1] if isinstance(out, tuple | list) and len(out) == 2 else out, ("params",)
        )
        results = type(results)((*results, None))
    real = results.dtype.type
    kind = 0 if not momentum else 1 if momentum_buffers is None else 2
    constants = tuple(map(real, (lr, momentum, 1 - dampening, decay)))
    return constants, kind, bool(nesterov), *map(_group, gathered), results


def _group(arrays):
    return None if arrays is None else Several(arrays)


@operation("adam", reference.adam, examples.ADAM, results=("params", "exp_avgs", "exp_avg_sqs"), no_backward=NONE)
def _prepare_adam(
    params, grads, exp_avgs, exp_avg_sqs, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, out=None
):
    return _prepare(params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, weight_decay, out, decoupled=False)


@operation("adamw", reference.adamw, examples.ADAMW, results=("params", "exp_avgs", "exp_avg_sqs"), no_backward=NONE)
def _prepare_adamw(
    params, grads, exp_avgs, exp_avg_sqs, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, out=None
):
    return _prepare(params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, weight_decay, out, decoupled=True)


def _prepare(params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, weight_decay, out, decoupled):
    """The numbers that `steps.adam_step` takes, computed as PyTorch does, in float64; the groups; the results."""
    if isinstance(step, bool) or not isinstance(step, numbers.Integral) or step < 1:
        raise ValueError(f"step is {step!r}; expected a whole number, 1 for the first step.")
    if not isinstance(betas, tuple | list) or len(betas) != 2:
        raise TypeError(f"betas is {betas!r}; expected two numbers.")
    beta1, beta2 = (_real(f"betas[{k}]", beta, below=1.0) for k, beta in enumerate(betas))
    lr, eps, decay = _real("lr", lr), _real("eps", eps), _real("weight_decay", weight_decay)
    for name, state in (("grads", grads), ("exp_avgs", exp_avgs), ("exp_avg_sqs", exp_avg_sqs)):
        if state is None:
            raise TypeError(f"{name} is None; expected an array or a tuple of arrays. States begin as zeros.")
    groups = {"params": params, "grads": grads, "exp_avgs": exp_avgs, "exp_avg_sqs": exp_avg_sqs}
    gathered, results = gather(groups, out, ("params", "exp_avgs", "exp_avg_sqs"))
    kept, decay = (1 - lr * decay, 0.0) if decoupled else (1.0, decay)
    root, rate = math.sqrt(1 - beta2**step), lr / (1 - beta1**step)
    constants = tuple(map(results.dtype.type, (kept, decay, 1 - beta1, beta2, 1 - beta2, root, eps, rate)))
    return constants, *map(_group, gathered), results


@operation(
    "clip_grad_norm",
    reference.clip_grad_norm,
    examples.CLIP,
    results=("total_norm", "grads"),
    no_backward="training does not differentiate through the clipping of its gradients",
)
def _prepare_clip_grad_norm(grads, max_norm, out=None):
    infinite = isinstance(max_norm, float | np.floating) and max_norm == math.inf
    most = math.inf if infinite else _real("max_norm", max_norm)
    if grads is None:
        raise TypeError("grads is None; expected an array or a tuple of arrays.")
    gathered, results = gather({"grads": grads}, out, ("grads",), single=("total_norm",))
    return most, *map(_group, gathered), results


from . import clip, cpu, gpu  # noqa: E402, F401


def sgd(
    params,
    grads,
    momentum_buffers=None,
    lr=1e-3,
    momentum=0.0,
    dampening=0.0,
    weight_decay=0.0,
    nesterov=False,
    out=None,
):
    """A step of gradient descent, as torch.optim.SGD. Returns (params, momentum_buffers).

        g = grad + weight_decay * param
        buffer = momentum * buffer + (1 - dampening) * g              without buffers, in the first step: g
        param - lr * (g + momentum * buffer if nesterov else buffer)  without momentum: param - lr * g

    params, grads, momentum_buffers: each an array, or a tuple of arrays of the same shapes and one dtype. Without
    momentum there are no buffers: None in the result, too. out: as in the head of this folder.
    """
    return call("sgd", params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, out)


def adam(params, grads, exp_avgs, exp_avg_sqs, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, out=None):
    """A step of Adam, as torch.optim.Adam. Returns (params, exp_avgs, exp_avg_sqs).

        g = grad + weight_decay * param
        m = m + (1 - beta1) * (g - m)                                 exp_avg
        v = beta2 * v + (1 - beta2) * g * g                           exp_avg_sq
        param - lr / (1 - beta1^step) * m / (sqrt(v) / sqrt(1 - beta2^step) + eps)

    params, grads, exp_avgs, exp_avg_sqs: each an array, or a tuple of arrays of the same shapes and one dtype; the
    states begin as zeros. step: 1 for the first. out: as in the head of this folder. Squares overflow as PyTorch's do:
    float32 gradients beyond 1e19 make v infinite, and the parameter stays.
    """
    return call("adam", params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, weight_decay, out)


def adamw(
    params, grads, exp_avgs, exp_avg_sqs, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, out=None
):
    """A step of AdamW, as torch.optim.AdamW. Returns (params, exp_avgs, exp_avg_sqs).

    As `adam`, but the decay stands beside the gradient: param * (1 - lr * weight_decay) takes the place of param, and
    weight_decay * param is not added to the gradient.
    """
    return call("adamw", params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, weight_decay, out)


def clip_grad_norm(grads, max_norm, out=None):
    """Gradients that are together no longer than max_norm, as torch.nn.utils.clip_grad_norm_.

    Returns (total_norm, grads).
    total_norm: the square root of the sum of all squares, an array of no dimensions. grads: an array, or a tuple of
    arrays; what is returned is each times min(1, max_norm / (total_norm + 1e-6)). max_norm may be infinite: then only
    the norm is found. out: (array or None, where the gradients go or None), as in the head of this folder.

    The squares are added in float64, so that float32 gradients of 1e25, or 1e-30, have their norm; PyTorch 2.13 adds
    in float32 and gets inf, or 0, there. float64 gradients beyond 1e154 give inf. Where the norm is inf, gradients
    become 0 (inf becomes NaN); where it is NaN, all become NaN: both as with PyTorch.
    """
    return call("clip_grad_norm", grads, max_norm, out)
