"""Tensors that wait: what a fused function computes is noted, and run when its numbers are needed.

A Lazy is a Tensor whose array is computed at first use. `apply` (training/tensor.py) asks `_take` before it runs an
operation: what is element-wise becomes a Lazy, all else takes its inputs' arrays as ever, and so runs what they wait
for. The tape gets one node for a group: its backward pass is a Program, too (gradient.py).
"""

import functools
from numbers import Integral, Real

import numpy as np

from dlkernels.implementations import bound
from dlkernels.layers.philox import halves, threshold, u64
from dlkernels.vector import PARAMETERS

from .. import tensor as tape
from ..tensor import Tensor, no_grad, record
from .gradient import GRAD, MINUS_ONE, backward_of
from .graph import Program, Step
from .run import run

FLOATS = ("float32", "float64")
name_of = functools.cache(lambda dtype: dtype.name)  # NumPy puts the name together each time: 2 us, 13 times a call
MOST = 32  # operations of a group: more would need more registers than a thread has


def fused(function=None, *, most=MOST):
    """function, or a Module, whose element-wise operations are fused. Gradients go through it as without.

    Inside, `+`, `-` and `*` of two tensors broadcast a row (columns,) or a column (..., 1). What else runs there, a
    product of matrices say, ends a group. most: operations of a group at most; 1 fuses nothing. Inputs may be in host
    or device memory. Results are those of the operations one by one, to the bit but for sums (and for products that a
    GPU's compiler adds without rounding). Inside autocast nothing is fused.
    """
    if function is None:
        return functools.partial(fused, most=most)
    if not isinstance(most, Integral) or most < 1:
        raise ValueError(f"most is {most!r}; expected a whole number of operations, 1 or more.")

    def wrapper(*arguments, **named):
        if tape.rounding.get():
            return function(*arguments, **named)
        trace = _Trace(most)
        before = tape.fusing.set(trace.take)
        try:
            leaf = lambda x: trace.leaf(x) if isinstance(x, Tensor) else x  # noqa: E731
            result = function(*map(leaf, arguments), **{key: leaf(x) for key, x in named.items()})
            several = isinstance(result, tuple | list)
            found = tuple(x.wait() if isinstance(x, Lazy) else x for x in (result if several else (result,)))
        finally:
            tape.fusing.reset(before)
        return found if several else found[0]

    if hasattr(function, "__name__"):
        functools.update_wrapper(wrapper, function)
    return wrapper


def cast(x, dtype):
    """x with another dtype, float32 or float64: inside a fused function a step of its group."""
    dtype = np.dtype(dtype).name
    if dtype not in FLOATS:
        raise TypeError(f"dtype is {dtype}; expected float32 or float64.")
    if not isinstance(x, Lazy):
        raise TypeError(f"x is a {type(x).__name__}; expected a tensor inside a fused function.")
    return x.then("cast", x, dtype=dtype)


class Lazy(Tensor):
    """A Tensor that was not computed yet, or an input of a fused function.

    step: the Step's (op, inputs: Lazies or numbers) where it waits; real: the Tensor, where there is one.
    """

    def __init__(self, trace, op, inputs, shape, dtype, real=None):
        self.trace, self.op, self.inputs, self.real = trace, op, inputs, real
        self._shape, self._dtype, self.depth = shape, np.dtype(dtype), 0
        self.wanted = (
            real.requires_grad
            if real
            else tape.recording() and any(x.requires_grad for x in inputs if isinstance(x, Lazy))
        )

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    size = property(lambda self: int(np.prod(self._shape, dtype=np.int64)))
    requires_grad = property(lambda self: self.wanted)
    data = property(lambda self: self.wait().data)
    node = property(lambda self: self.wait().node)
    index = property(lambda self: self.wait().index)
    grad = property(lambda self: self.wait().grad)
    version = property(lambda self: self.wait().version)
    when_ready = property(lambda self: self.wait().when_ready)

    def wait(self):
        """The Tensor: what this one waits for is computed now, in one pass."""
        if self.real is None:
            self.real = _run(self)
            self.inputs = ()
        return self.real

    def then(self, op, *inputs, dtype=None, shape=None):
        """The Lazy of an operation of tensors and numbers; its shape and dtype are this one's, if not given."""
        trace = self.trace
        found = Lazy(trace, op, inputs, self.shape if shape is None else shape, dtype or self.dtype)
        found.depth = 1 + sum(i.depth for i in inputs if isinstance(i, Lazy) and i.real is None)
        if found.depth >= trace.most:
            found.wait()
        return found

    def _binary(self, op, other, swapped=False):
        if isinstance(other, Real):
            pair = (self, float(other))
            if op == "sub" and not swapped:
                op, pair = "add", (self, -float(other))
            elif op == "sub":
                op, pair = "add", (self.then("mul", self, -1.0), float(other))
            return self.then(op, *pair)
        if not isinstance(other, Tensor):
            return NotImplemented
        other = self.trace.leaf(other)
        a, b = (other, self) if swapped else (self, other)
        shape = _joined(a, b)
        wide = [x if x.shape == shape else self.trace.narrow(x) for x in (a, b)]
        return self.then(op, *wide, shape=shape)

    def __add__(self, other):
        return self._binary("add", other)

    def __sub__(self, other):
        return self._binary("sub", other)

    def __mul__(self, other):
        return self._binary("mul", other)

    def __rsub__(self, other):
        return self._binary("sub", other, swapped=True)

    def __neg__(self):
        return self.then("mul", self, -1.0)

    __radd__, __rmul__ = __add__, __mul__

    def sum(self, dim=None, keepdim=False):
        if dim in (-1, len(self.shape) - 1) and self.real is None and self.shape:
            total = Lazy(self.trace, "sum", (self,), (*self.shape[:-1], 1), self.dtype).wait()
            from .. import functional

            return self.trace.leaf(total if keepdim else functional.reshape(total, self.shape[:-1]))
        return Tensor.sum(self, dim, keepdim)


def _joined(a, b):
    """The shape of a + b."""
    for wide, narrow in ((a.shape, b.shape), (b.shape, a.shape)):
        if a.dtype == b.dtype and narrow in (wide, wide[-1:], (*wide[:-1], 1)):
            return wide
    raise ValueError(
        f"the tensors are {a.shape} {a.dtype} and {b.shape} {b.dtype}; expected one dtype, and the same shape, or one "
        "number for each column, or for each row (..., 1)."
    )


class _Trace:
    """One call of a fused function."""

    def __init__(self, most):
        self.most, self.leaves = most, {}

    def leaf(self, x):
        """The Lazy of a Tensor; the same for the same Tensor, so that it is read once."""
        if isinstance(x, Lazy):
            return x
        if id(x) not in self.leaves:
            self.leaves[id(x)] = Lazy(self, "input", (), x.shape, x.dtype, x)
        return self.leaves[id(x)]

    def narrow(self, x):
        """A row or column as an input: it is computed before."""
        x.wait()
        return x

    def take(self, name, arguments, named):
        """A Lazy for an operation that can wait, else None."""
        if name not in TAKEN:
            return None
        call = bound(_function(name), arguments, named)
        tensors = [x for x in call.values() if isinstance(x, Tensor)]
        known = all(name_of(x.dtype) in FLOATS for x in tensors)
        if not tensors or not known or call.get("out") is not None:
            return None
        for key, x in call.items():
            call[key] = self.leaf(x) if isinstance(x, Tensor) else x
        return TAKEN[name](call)


def _function(name):
    import dlkernels

    return getattr(dlkernels, name)


def _add(call):
    a, b = call["a"], call["b"]
    return a + b if isinstance(a, Lazy) and isinstance(b, Lazy) and a.shape == b.shape else None


def _axpy(call):
    alpha, x, y = call["alpha"], call["x"], call["y"]
    if not (isinstance(x, Lazy) and isinstance(y, Lazy)) or x.shape != y.shape or not isinstance(alpha, Real):
        return None
    return x * float(alpha) + y


def _bias_activation(call):
    x, bias = call["x"], call["bias"]
    if not (isinstance(x, Lazy) and isinstance(bias, Lazy)) or bias.shape != x.shape[-1:] or len(x.shape) < 2:
        return None
    return _activate(call.get("activation", "relu"), x + bias, None)


def _activate(name, x, parameter):
    default = (PARAMETERS[name] or ("parameter", 0.0))[1]
    return x.then(name, x, float(default if parameter is None else parameter))


def _dropout(call):
    x, p, training, seed, offset = (call.get(k, d) for k, d in _DROPOUT)
    if not (0 <= p <= 1 and isinstance(seed, Integral) and isinstance(offset, Integral)):
        return None
    p = float(p) if training else 0.0
    scale, below = (1 / (1 - p), threshold(p)) if threshold(p) < 1 << 32 else (1.0, 1 << 32)
    seed_low, seed_high = halves(int(seed))
    return x.then("dropout", x, scale, u64(below), seed_low, seed_high, u64(offset // 4), np.int64(offset % 4))


_DROPOUT = (("input", None), ("p", 0.5), ("training", True), ("seed", 0), ("offset", 0))


def _activation(name):
    label = (PARAMETERS[name] or ("parameter", 0))[0]
    return lambda call: _activate(name, call["x"], call.get("parameter", call.get(label)))


TAKEN = {"add": _add, "axpy": _axpy, "bias_activation": _bias_activation, "dropout": _dropout}
TAKEN |= {name: _activation(name) for name in PARAMETERS}


# ---- a group ---------------------------------------------------------------------------------------------------------


def _run(last):
    """Compute a Lazy and what it waits for: a Tensor, with a node on the tape that has the gradients of all."""
    reduce = last.op == "sum"
    elementwise = last.inputs[0] if reduce else last
    shape = elementwise.shape
    steps, values, number = [], [], {}

    def leaf(step, value):
        steps.append(step)
        values.append(value)
        return len(steps) - 1

    def operand(x, dtype):
        if isinstance(x, Lazy):
            return number[id(x)]
        kind = {np.uint64: "uint64", np.int64: "int64"}.get(type(x), dtype)
        return leaf(Step("number", (), kind), x)

    for x in _ordered(elementwise):
        if x.real is not None:
            form = "full" if x.shape == shape else "row" if x.shape == shape[-1:] else "column"
            number[id(x)] = leaf(Step("input", (), name_of(x.dtype), form), x)
        else:
            inputs = tuple(operand(i, name_of(x.inputs[0].dtype)) for i in x.inputs)
            number[id(x)] = len(steps)
            steps.append(Step(x.op, inputs, name_of(x.dtype)))
    result = number[id(elementwise)]
    program = Program(tuple(steps), ((result, "column" if reduce else "full"),))
    return _evaluated(program, values, shape, last)


def _ordered(last):
    """The Lazies that a Lazy is made of, each after its inputs."""
    found, seen, todo = [], set(), [(last, False)]
    while todo:
        x, done = todo.pop()
        if done:
            found.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            todo.append((x, True))
            if x.real is None:
                todo += [(i, False) for i in reversed(x.inputs) if isinstance(i, Lazy)]
    return found


def _evaluated(program, values, shape, last):
    leaves = [k for k, s in enumerate(program.steps) if s.op in ("input", "number")]
    value = dict(zip(leaves, values, strict=True))
    tensors = {k: x.real for k, x in value.items() if isinstance(x, Lazy)}
    arrays = {k: tensors[k].data if k in tensors else v for k, v in value.items()}
    wanted = tuple(k for k, x in tensors.items() if x.requires_grad) if last.wanted else ()
    if not wanted:
        (result,) = run(program, [arrays[k] for k in leaves], shape)
        with no_grad():
            return record("fused", result)
    back = backward_of(program, wanted)
    also = Program(program.steps, (*program.outputs, *((k, "full") for k in back.kept)))
    result, *kept = run(also, [arrays[k] for k in leaves], shape)
    held = dict(zip(back.kept, kept, strict=True))
    if program.outputs[0][1] == "full":
        held[program.outputs[0][0]] = result
    constants = {k: v for k, v in arrays.items() if k not in tensors} | {MINUS_ONE: -1.0}
    named = [k for k in back.leaves if k != GRAD and k not in constants]
    keep = tuple(held[k] if k in held else arrays[k] for k in named)

    def backward(grad, kept):
        leaf_values = dict(zip(named, kept, strict=True)) | constants | {GRAD: grad}
        found = run(back.program, [leaf_values[k] for k in back.leaves], shape) if back.program.outputs else []
        return [grad if back.outputs[k] == GRAD else found[back.outputs[k]] for k in wanted]

    return record("fused", result, [tensors[k] for k in wanted], backward, keep)
