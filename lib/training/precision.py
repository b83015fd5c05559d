"""Half precision: what a network keeps is float16, what it computes is float32 (P. Micikevicius and others, "Mixed
Precision Training", ICLR 2018).

    scaler = GradScaler()
    with autocast(model):
        output = model(x)
    scaler.scale(loss(output, y)).backward()
    scaler.step(optimizer)
    scaler.update()

What is in which precision:

float32   the weights that the optimiser changes (the master copy), its states; every product and sum inside an
          operation, as in tensor cores; second results (the sums of a softmax, indices), running means; the loss
float16   the copy of the weights that the forward pass reads; the first result of every operation, also where the tape
          keeps it for the backward pass: half the bytes; every gradient that an operation returns, those of weights too

Between two operations the numbers are float32 arrays that hold float16 values, because that is what the CPU's kernels
read. float16 ends at 65504, and below 6e-8 everything is zero: many gradients are smaller. So the loss is multiplied
by a large number before the backward pass, and the gradients are divided by it before the step.
"""

import weakref
from contextlib import contextmanager

import numpy as np

from .tensor import rounding, saving


@contextmanager
def autocast(model):
    """Inside, the forward pass runs in half precision, as the module's docstring says. Host arrays only.

    Backward and the optimiser's step come after it, with the master weights back in place.
    """
    half, weights = _Half(), model.parameters()
    masters, tokens = [x.data for x in weights], (rounding.set(half), saving.set(half.keep))
    try:
        for x in weights:
            x.data = half.result(x.data)
        yield
    finally:
        for x, master in zip(weights, masters, strict=True):
            x.data = master
        rounding.reset(tokens[0])
        saving.reset(tokens[1])


class _Half:
    """Rounds arrays, and knows of those that it rounded the 16-bit form, for what the tape keeps."""

    def __init__(self):
        self.known = {}  # of a float32 array that still exists, by its id: (reference to it, the same in float16)

    def gradient(self, x):
        return x if x is None or x.dtype != np.float32 else _float16(x).astype(np.float32)

    def result(self, x):
        if x.dtype != np.float32:
            return x
        half = _float16(x)
        back = half.astype(np.float32)
        key = id(back)
        self.known[key] = weakref.ref(back, lambda _: self.known.pop(key)), half
        return back

    def keep(self, kept):
        """What a node holds instead of `kept`."""
        return _Kept(_each(self._packed, kept))

    def _packed(self, x):
        """The array in float16, of a view the same view of that; what was not rounded as it is."""
        base = x if id(x) in self.known else getattr(x, "base", None)
        if id(base) not in self.known or x.dtype != np.float32:
            return x
        offset = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        half = self.known[id(base)][1]
        return _Packed([np.ndarray(x.shape, np.float16, half, offset // 2, [stride // 2 for stride in x.strides])])


class _Kept:
    """Returns what was kept; `held` is how (memory.py counts its bytes)."""

    def __init__(self, held):
        self.held = held

    def __call__(self):
        return _each(lambda x: x[0].astype(np.float32) if isinstance(x, _Packed) else x, self.held)


class _Packed(tuple):
    """One array in float16 that shall be float32 again."""


def _each(function, kept):
    """The same dict or tuple with the function of each thing in it."""
    if isinstance(kept, dict):
        return {name: _each(function, value) for name, value in kept.items()}
    return tuple(_each(function, value) for value in kept) if type(kept) is tuple else function(kept)


def _float16(x):
    if not isinstance(x, np.ndarray):
        raise TypeError("autocast rounds arrays in host memory, and this one is in device memory: model.to('cpu').")
    with np.errstate(over="ignore"):  # infinite, which GradScaler looks for
        return x.astype(np.float16)


class GradScaler:
    """The factor by which losses are scaled: as large as goes without an overflow. torch.amp.GradScaler's rules.

    Gradients with nan or inf: `step` leaves the weights as they are and `update` halves the scale. After
    `growth_interval` good steps in a row it is doubled.
    """

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        self.factor, self.growth_factor, self.backoff_factor = float(init_scale), growth_factor, backoff_factor
        self.growth_interval, self.good, self.overflow = growth_interval, 0, None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        """Divide the gradients by the scale, once for each step: by `step`, or before it, to clip them."""
        gradients = [x.grad for x in optimizer.parameters if x.grad is not None]
        self.overflow = not all(np.isfinite(grad).all() for grad in gradients)
        for grad in gradients:
            grad *= np.float32(1 / self.factor)  # its memory is its own

    def step(self, optimizer):
        if self.overflow is None:
            self.unscale_(optimizer)
        if not self.overflow:
            optimizer.step()

    def update(self):
        self.good = 0 if self.overflow else self.good + 1
        if self.overflow:
            self.factor *= self.backoff_factor
        elif self.good == self.growth_interval:
            self.factor, self.good = self.factor * self.growth_factor, 0
        self.overflow = None

    def state_dict(self):
        return {"factor": self.factor, "good": self.good}

    def load_state_dict(self, state):
        self.factor, self.good = float(state["factor"]), int(state["good"])
