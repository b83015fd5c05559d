"""Optimizers: from gradients to weights, as torch.optim. A step is one operation of the table over all parameters.

`step` writes into the parameters' own memory and leaves those alone that have no gradient. Set `lr` at any time; a
schedule does (schedules.py). The state of a parameter begins with its first step, on the device where it is then.
"""

from itertools import groupby

import dlkernels
from dlkernels.layouts import as_host

from .arrays import filled, write
from .tensor import Tensor


class Optimizer:
    """What all share. parameters: Tensors with requires_grad, as `module.parameters()`."""

    moments = ()  # the arrays of a parameter's state, by PyTorch's names

    def __init__(self, parameters, lr, **options):
        self.parameters, self.lr, self.options = list(parameters), lr, options
        if not self.parameters or not all(isinstance(p, Tensor) and p.requires_grad for p in self.parameters):
            raise TypeError("parameters: expected some Tensors with requires_grad=True, as module.parameters() gives.")
        if not lr >= 0:
            raise ValueError(f"lr is {lr}; expected a number that is not negative.")
        self.state = [{"step": 0} for _ in self.parameters]

    def step(self):
        """Change all parameters that have a gradient."""
        ready = [(p, state) for p, state in zip(self.parameters, self.state, strict=True) if p.grad is not None]
        ready.sort(key=lambda pair: pair[1]["step"])  # usually all the same: one call
        for done, group in groupby(ready, lambda pair: pair[1]["step"]):
            parameters, states = zip(*group, strict=True)
            self.update([p.data for p in parameters], [p.grad for p in parameters], states, done + 1)
            for p, state in zip(parameters, states, strict=True):
                p.version, state["step"] = p.version + 1, done + 1

    def update(self, parameters, grads, states, step):
        """Write the step numbered `step` (from 1) into lists of arrays and into the states' moments."""
        raise NotImplementedError

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def state_dict(self):
        """{"lr", "options", "state": {"0": {"step", a moment's name: a copy of its array}, "1": ...}}."""
        states = {
            str(k): {name: value if name == "step" else as_host(value).copy() for name, value in state.items()}
            for k, state in enumerate(self.state)
        }
        return {"lr": self.lr, "options": dict(self.options), "state": states}

    def load_state_dict(self, state):
        """Go on from a state_dict of the same optimizer over the same parameters."""
        states = [state["state"].get(str(k)) for k in range(len(state["state"]))]
        if len(states) != len(self.parameters) or None in states:
            raise ValueError(f"the state has {len(states)} parameters; expected {len(self.parameters)}.")
        for k, (p, saved) in enumerate(zip(self.parameters, states, strict=True)):
            for name, value in saved.items():
                if name != "step" and (name not in self.moments or tuple(value.shape) != p.shape):
                    raise ValueError(
                        f"{name} of parameter {k} has shape {value.shape}; expected one of "
                        f"{self.moments}, of shape {p.shape}."
                    )
        self.lr, self.options = state["lr"], {name: _plain(value) for name, value in state["options"].items()}
        for p, current, saved in zip(self.parameters, self.state, states, strict=True):
            current.clear()
            current["step"] = int(saved["step"])
            for name in self.moments:
                if name in saved:
                    current[name] = filled(p.data, 0)
                    write(current[name], saved[name])


def _plain(value):
    return tuple(value) if isinstance(value, list) else value  # what JSON made of betas


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum as torch.optim.SGD has it (Sutskever and others 2013, but for lr)."""

    moments = ("momentum_buffer",)

    def __init__(self, parameters, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
        super().__init__(
            parameters, lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov
        )

    def update(self, parameters, grads, states, step):
        has = all("momentum_buffer" in state for state in states)
        buffers = [state["momentum_buffer"] for state in states] if has else None
        _, new = dlkernels.sgd(parameters, grads, buffers, lr=self.lr, **self.options, out=(parameters, buffers))
        for state, buffer in zip(states, new or (), strict=bool(new)):
            state["momentum_buffer"] = buffer


class Adam(Optimizer):
    """Adam (Kingma, Ba 2015); weight_decay is added to the gradient."""

    moments = ("exp_avg", "exp_avg_sq")
    operation = "adam"

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(parameters, lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay)

    def update(self, parameters, grads, states, step):
        for parameter, state in zip(parameters, states, strict=True):
            for name in self.moments:
                state.setdefault(name, None)
                if state[name] is None:
                    state[name] = filled(parameter, 0)
        averages, squares = ([state[name] for state in states] for name in self.moments)
        function = getattr(dlkernels, self.operation)
        function(
            parameters, grads, averages, squares, step, lr=self.lr, **self.options, out=(parameters, averages, squares)
        )


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov, Hutter 2019): weights shrink by lr * weight_decay, whatever the
    gradient."""

    operation = "adamw"

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(parameters, lr, betas, eps, weight_decay)


def clip_grad_norm_(parameters, max_norm):
    """Scale gradients in place so that their common norm is at most max_norm. Returns the norm before, a number."""
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return 0.0
    norm, _ = dlkernels.clip_grad_norm(grads, max_norm, out=(None, grads))
    return float(as_host(norm))
