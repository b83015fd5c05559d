"""What a tape holds in memory: counted, and exchanged for time by computing it again (checkpointing).

Between forward and backward each node keeps what its gradient needs. In a deep network these activations are most of
the memory. `checkpoint` keeps the inputs of a part instead, and runs the part a second time when backward comes to it
(Chen and others 2016, "Training Deep Nets with Sublinear Memory Cost").
"""

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from dlkernels.device import is_device_array
from dlkernels.layouts import address

from .tensor import Tensor, data_of, rounding, saving, tape

_drawing = ContextVar("drawing", default=None)


def checkpoint(function, *inputs):
    """function(*inputs), of which the tape keeps the inputs only; backward computes it again. Gradients: bit for bit
    those without it.

    function: a Module, or any function of Tensors that gives the same result for the same inputs. Dropout does: it
    draws by `draw`, which repeats itself. What is changed by the first run, as a running mean, is not changed by the
    second where it asks `running_again`.
    """
    if rounding.get():
        raise RuntimeError("checkpoint runs its function again when autocast is over: call it outside of autocast.")
    part = _Part(function, inputs)
    with _set(saving, part.save), _set(_drawing, part.draw):
        return function(*inputs)


def draw(generator):
    """A seed from a numpy.random.Generator; when a checkpoint is computed again, the one drawn the first time."""
    source = _drawing.get()
    return source(generator) if source else int(generator.integers(1 << 63))


def running_again():
    """Whether this is the second run of a checkpoint."""
    source = _drawing.get()
    return source is not None and source.__self__.again


class _Part:
    """A part of a network whose nodes keep nothing. Where one asks for what it would have kept, the part runs again."""

    def __init__(self, function, inputs):
        self.function, self.inputs = function, inputs
        self.nodes, self.kept = 0, None  # how many nodes the part has; {number of a node: what it keeps}
        self.seeds, self.drawn, self.again = [], 0, False

    def save(self, kept):
        """What stands on the tape in the place of `kept`."""
        self.nodes += 1
        return _Later(self, self.nodes - 1)

    def get(self, number):
        if self.kept is None:
            self.compute_again()
        return self.kept.pop(number)

    def compute_again(self):
        kept = []
        inputs = [Tensor(x.data, x.requires_grad) if isinstance(x, Tensor) else x for x in self.inputs]
        self.again, self.drawn = True, 0

        def collect(node):
            kept.append(node)
            return node

        with _set(saving, collect), _set(_drawing, self.draw):
            self.function(*inputs)
        if len(kept) != self.nodes:
            raise RuntimeError(
                f"a checkpoint ran {self.nodes} operations, and {len(kept)} when it was computed again; expected a "
                "function that does the same for the same inputs."
            )
        self.kept = dict(enumerate(kept))

    def draw(self, generator):
        if not self.again:
            self.seeds.append(int(generator.integers(1 << 63)))
        self.drawn += 1
        return self.seeds[self.drawn - 1]


class _Later:
    """What a node of a checkpoint keeps: a promise."""

    def __init__(self, part, number):
        self.part, self.number, self.held = part, number, part.inputs

    def __call__(self):
        return self.part.get(self.number)


@contextmanager
def _set(variable, value):
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def activation_bytes(*tensors):
    """How many bytes the tape behind these Tensors keeps until backward: each array once, leaves (weights) not counted.

    Arrays that are views of the same memory count as what they are views of. What `checkpoint` will compute again does
    not count; its inputs do.
    """
    leaves, memory = set(), {}
    nodes = {node for tensor in tensors for node in tape(tensor)}
    for node in nodes:
        leaves |= {_block(x.data)[0] for x, _ in filter(None, node.inputs) if isinstance(x, Tensor)}
        kept = getattr(node.kept, "held", node.kept) or {}
        kept = kept.values() if isinstance(kept, dict) else kept
        memory |= dict(_block(array) for array in _arrays(kept))
    return sum(count for where, count in memory.items() if where not in leaves)


def _arrays(values):
    for value in map(data_of, values):
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif isinstance(value, np.ndarray) or is_device_array(value):
            yield value


def _block(array):
    """(where the memory lies that an array is in, its bytes)."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return (address(array) if is_device_array(array) else array.ctypes.data), array.nbytes
