"""Tensors, and the tape on which they write how they came to be: automatic differentiation in reverse.

A Tensor is an array and, where it was computed from something that wants a gradient, the Node that computed it. Nodes
know their inputs, so they are a graph. `backward` walks it from a loss to the leaves (what nobody computed: weights):
each node turns the gradients of its results into those of its inputs (the chain rule), and what arrives at a leaf by
several ways is added up in its `.grad`.

No formula of a gradient stands here. The table of operations has them (dlkernels/implementations.py), and `apply` asks
it twice: what is to be kept of a call, and what the gradients are.
"""

import itertools
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real

import numpy as np

import dlkernels
from dlkernels import implementations
from dlkernels.device import is_device_array
from dlkernels.layouts import as_host

from .arrays import duplicate, filled, keep_freed_memory

_recording = ContextVar("recording", default=True)
saving = ContextVar("saving", default=None)  # None, or what a node keeps -> a function that returns it (memory.py)
rounding = ContextVar("rounding", default=None)  # None, or what results and gradients pass through (precision.py)
fusing = ContextVar("fusing", default=None)  # None, or what may take a call in the place of `apply` (fusion/lazy.py)


class Tensor:
    """An array with a place for its gradient.

    data: an array in host or device memory, or numbers (floating-point numbers become float32). requires_grad: whether
    `backward` shall leave a gradient in `.grad`: an array of its shape, dtype and device, in memory of its own.
    """

    __array_ufunc__ = None  # array + tensor is a Tensor's business, not NumPy's

    def __init__(self, data, requires_grad=False):
        if not (isinstance(data, np.ndarray) or is_device_array(data)):
            data = np.asarray(data)
            data = data.astype(np.float32) if data.dtype == np.float64 else data
        if requires_grad and data.dtype.kind != "f":
            raise TypeError(f"a tensor of {data.dtype} was asked for its gradient; expected floating-point numbers.")
        self.data, self.requires_grad, self.grad = data, requires_grad, None
        self.node, self.index = None, 0  # the node whose result it is, and which one
        self.version = 0  # counts the times that data was written anew, as by an optimizer
        self.when_ready = None  # of a leaf: called with it in each backward, when all of its gradient has arrived

    shape = property(lambda self: tuple(self.data.shape))
    dtype = property(lambda self: self.data.dtype)
    size = property(lambda self: self.data.size)

    def __repr__(self):
        return f"Tensor({self.shape}, {self.dtype}{', requires_grad=True' if self.requires_grad else ''})"

    def numpy(self):
        """The array in host memory: of a host array itself, not a copy."""
        return as_host(self.data)

    def item(self):
        return self.numpy().item()

    def wait(self):
        """The tensor itself. One of a fused function that was not computed yet is computed first."""
        return self

    def detach(self):
        """The same array, without its history."""
        return Tensor(self.data)

    def backward(self, grad=None):
        """Add to `.grad` of every leaf the gradient of this tensor with respect to it. Releases the graph.

        grad: the gradient of something with respect to this tensor, as an array; may be left out for a single number.
        """
        if not self.requires_grad:
            raise RuntimeError("nothing that this tensor was computed from has requires_grad=True.")
        if grad is None and self.size != 1:
            raise ValueError(f"backward from a tensor of shape {self.shape} needs grad, an array of this shape.")
        keep_freed_memory()
        grad = filled(self.data, 1) if grad is None else data_of(grad)
        if tuple(grad.shape) != self.shape or grad.dtype != self.dtype:
            raise ValueError(f"grad is {tuple(grad.shape)} {grad.dtype}; expected {self.shape} {self.dtype}.")
        nodes, arrived = tape(self), {}  # {node: the gradients of its results so far, None for zeros}
        watched = Counter(leaf for node in nodes for leaf in node.watched())  # uses that backward has yet to come to
        _arrive(arrived, _edge(self), grad)
        if self.node is None and self.when_ready:
            self.when_ready(self)
        for node in nodes:
            if node in arrived:
                for edge, gradient in zip(node.inputs, node.gradients(arrived.pop(node)), strict=True):
                    if edge is not None and gradient is not None:
                        _arrive(arrived, edge, gradient)
            leaves = node.watched()
            node.release()
            watched.subtract(leaves)
            for leaf in {leaf: None for leaf in leaves if not watched[leaf] and leaf.grad is not None}:
                leaf.when_ready(leaf)

    # Operators: each is a row of the table. Nothing is broadcast but a number.
    def __add__(self, other):
        return apply("add", self, filled(self.data, other) if isinstance(other, Real) else other)

    def __sub__(self, other):
        return self + -other if isinstance(other, Real) else apply("axpy", -1, other, self)

    def __mul__(self, factor):
        if not isinstance(factor, Real):
            raise TypeError(f"a tensor times {type(factor).__name__}: expected a number. The product of matrices is @.")
        return apply("axpy", factor, self, filled(self.data, 0))

    def __truediv__(self, divisor):
        return self * (1 / divisor)

    def __neg__(self):
        return self * -1

    def __rsub__(self, other):
        return -self + other

    def __matmul__(self, other):
        return apply("matmul", self, other)

    def __rmatmul__(self, other):
        return apply("matmul", other, self)

    __radd__, __rmul__ = __add__, __mul__

    def sum(self, dim=None, keepdim=False):
        return apply("sum", self, dim, keepdim)

    def mean(self):
        return self.sum() / self.size


class Node:
    """One operation that ran: where its inputs came from, what it kept, and how its gradients are computed."""

    numbers = itertools.count()

    def __init__(self, name, inputs, backward, kept, results):
        self.name, self.backward, self.kept = name, backward, kept
        self.inputs = [_edge(x) if x.requires_grad else None for x in inputs]
        self.results = results  # how many; None: one that is not in a tuple
        self.number = next(self.numbers)

    def gradients(self, grads):
        """One for each input, or None, given those of its results."""
        for x, version in filter(None, self.inputs):
            if isinstance(x, Tensor) and x.version != version:
                raise RuntimeError(f"a weight was changed after {self.name} had used it: call backward before step().")
        kept = self.kept() if callable(self.kept) else self.kept
        return self.backward(grads[0] if self.results is None else tuple(grads), kept)

    def watched(self):
        """The leaves among its inputs that want to know when their gradient is ready."""
        return [x for x, _ in filter(None, self.inputs) if isinstance(x, Tensor) and x.when_ready]

    def release(self):
        self.inputs, self.backward, self.kept = [], None, None


def _edge(x):
    """Where the gradient of a tensor goes: (node, index of its result), or (leaf, version). Holds no array of a result,
    so that what no gradient needs is freed."""
    x = x.wait()  # a leaf of a fused function stands for the tensor that gets the gradient
    return (x, x.version) if x.node is None else (x.node, x.index)


def _arrive(arrived, edge, grad):
    """Add a gradient to what has come so far. Nothing is written into it, as others may share its memory."""
    target, index = edge
    if isinstance(target, Tensor):
        has_grad = target.grad is not None
        target.grad = dlkernels.add(target.grad, grad, out=target.grad) if has_grad else duplicate(grad)
    else:
        grads = arrived.setdefault(target, [None] * (target.results or 1))
        grads[index] = grad if grads[index] is None else dlkernels.add(grads[index], grad)


def tape(tensor):
    """The nodes that a tensor was computed by, last one first: each comes before those whose results it used."""
    found, todo = set(), [tensor.node] if tensor.node else []
    while todo:
        node = todo.pop()
        if node in found:
            continue
        if node.backward is None:
            raise RuntimeError(
                f"backward came to {node.name} a second time; the first released its graph. "
                "Compute the result again, or add up all losses and call backward once."
            )
        found.add(node)
        todo += [target for target, _ in filter(None, node.inputs) if isinstance(target, Node)]
    return sorted(found, key=lambda node: -node.number)


# ---- writing on the tape ---------------------------------------------------------------------------------------------


def apply(name, *arguments, **named):
    """Run an operation of the table by its name, with Tensors for arrays. Returns a Tensor, or a tuple of Tensors."""
    take = fusing.get()
    if take and (waits := take(name, arguments, named)) is not None:
        return waits
    for word in ("out", "explain", "return_indices"):
        if named.get(word) is not None:
            raise TypeError(f"{name} of tensors takes no {word}; expected a call that returns nothing but its results.")
    function = getattr(dlkernels, name)
    arrays, others = [data_of(x) for x in arguments], {key: data_of(x) for key, x in named.items()}
    result, half = function(*arrays, **others), rounding.get()
    if half:
        result = (half.result(result[0]), *result[1:]) if isinstance(result, tuple) else half.result(result)
    wanted = _wanted(implementations.bound(function, arguments, named)) if _recording.get() else {}
    if not wanted:
        return record(name, result)
    places, kept = list(wanted), implementations.keep(name, result, *arrays, **others)
    names = {argument for argument, _ in places}

    def backward(grad, kept):
        found = implementations.gradients(name, grad, kept, names)
        found = [found[argument] if k is None else found[argument][k] for argument, k in places]
        return [half.gradient(grad) for grad in found] if half else found

    return record(name, result, wanted.values(), backward, kept)


def record(name, result, inputs=(), backward=None, kept=None):
    """Tensors for the arrays of a result, computed from Tensors `inputs` by what is no operation of the table, too.

    backward(grad, kept) returns a gradient for each input, or None. grad: as the result, a tuple of arrays if it is.
    """
    several = isinstance(result, tuple)
    tensors = [Tensor(array) for array in (result if several else (result,))]
    if _recording.get() and any(x.requires_grad for x in inputs):
        hold = saving.get()
        node = Node(name, inputs, backward, hold(kept) if hold else kept, len(tensors) if several else None)
        for index, x in enumerate(tensors):
            if x.dtype.kind == "f":
                x.requires_grad, x.node, x.index = True, node, index
    return tuple(tensors) if several else tensors[0]


def recording():
    """Whether what is computed here and now goes on the tape, where something in it wants a gradient."""
    return _recording.get()


@contextmanager
def no_grad():
    """Inside, or in a function that this decorates, nothing is written on the tape."""
    before = _recording.set(False)
    try:
        yield
    finally:
        _recording.reset(before)


def _wanted(call):
    """{(argument, index in it or None): Tensor} of those that want a gradient, also inside a sequence of Tensors."""
    entries = (
        (name, k, x)
        for name, value in call.items()
        for k, x in (enumerate(value) if isinstance(value, tuple | list) else ((None, value),))
    )
    return {(name, k): x for name, k, x in entries if isinstance(x, Tensor) and x.requires_grad}


def data_of(x):
    """The array of a Tensor, of each in a sequence; all else as it is."""
    if isinstance(x, tuple | list):
        return tuple(data_of(item) for item in x)
    return x.data if isinstance(x, Tensor) else x
