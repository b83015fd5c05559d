"""ZeRO: what data-parallel workers would all have, cut among them. Rajbhandari and others 2020, "ZeRO".

With n workers and P parameters, bytes of a worker in float32 (4 of a weight, 4 of its gradient, 8 of Adam's moments):

    stage   cut among the workers          bytes                       sent by a worker
    0       nothing (data.py)              (4 + 4 + 8) P               2 (n - 1) / n 4P: an all-reduce
    1       the optimizer's state          (4 + 4 + 8 / n) P           the same: a reduce-scatter, an all-gather
    2       and the gradients              (4 + (4 + 8) / n) P         the same
    3       and the weights (FSDP)         (4 + 4 + 8) / n P           3 (n - 1) / n 4P: weights twice, gradients once

    optimizer = ZeroOptimizer(model.parameters(), Adam, group, stage=2, lr=1e-3)    # stages 1 and 2
    model = fully_shard(model, group); optimizer = Adam(model.parameters(), lr=1e-3)  # stage 3

An optimizer that looks at each weight alone (SGD, Adam, AdamW) does not notice that it has a part of them only: the
weights are, bit for bit, those of one worker who adds up all workers' gradients in order and divides by their number.
"""

import numpy as np

from training.modules import Module, Parameter
from training.tensor import Tensor, record, saving

from .data import buckets


def state_bytes(parameters, workers, stage, weights=4, gradients=4, optimizer=8):
    """Bytes of model state on a worker (section 3 of the paper): mean of all workers, where parts differ by one number.

    weights, gradients, optimizer: bytes of one parameter each. The paper's mixed precision: 2, 2, 12.
    """
    parts = [weights, gradients, optimizer]
    for k in range(stage):
        parts[2 - k] /= workers
    return parameters * sum(parts)


def held_bytes(parameters, optimizer=None):
    """(weights, gradients, moments): bytes that this worker holds; memory that several arrays view counts once."""
    tensors = {id(p): p for p in (*parameters, *(optimizer.parameters if optimizer else ()))}.values()
    moments = [value for state in (optimizer.state if optimizer else ()) for value in state.values()]
    kinds = [p.data for p in tensors], [p.grad for p in tensors], moments
    return tuple(sum(_memory(arrays).values()) for arrays in kinds)


def _memory(arrays):
    blocks = {}
    for array in arrays:
        if isinstance(array, np.ndarray):
            while isinstance(array.base, np.ndarray):
                array = array.base
            blocks[array.ctypes.data] = array.nbytes
    return blocks


# ---- stages 1 and 2 --------------------------------------------------------------------------------------------------


class ZeroOptimizer:
    """An optimizer of which each worker runs a part: stage 1, and with gradients that are cut, too, stage 2.

    parameters: of a model that all workers have; those of worker 0 count. kind: SGD, Adam or AdamW, with its options.
    Stage 2 adds up a bucket of gradients as soon as backward has made it, and each worker keeps its part: afterwards
    `.grad` of a parameter is None. Call `zero_grad`, backward and `step` as usual.
    """

    def __init__(self, parameters, kind, group, stage=1, bucket=1 << 20, **options):
        if stage not in (1, 2):
            raise ValueError(f"stage is {stage}; expected 1 or 2. Stage 3 is fully_shard.")
        self.group, self.stage = group, stage
        self.buckets = [_Bucket(bucket, group) for bucket in buckets(list(parameters), bucket)]
        self.shards = [bucket.shard for bucket in self.buckets]
        self.inner = kind(self.shards, **options)
        self._bucket_of = {p: k for k, bucket in enumerate(self.buckets) for p in bucket.parameters}
        self._begin()
        if stage == 2:
            for p in self._bucket_of:
                p.when_ready = self._ready

    def _begin(self):
        self._missing, self._next = [set(bucket.parameters) for bucket in self.buckets], 0

    def _ready(self, p):
        if p not in self._missing[self._bucket_of[p]]:
            self._finish()  # a second backward before the step
        self._missing[self._bucket_of[p]].discard(p)
        while self._next < len(self.buckets) and not self._missing[self._next]:
            self._reduce()

    def _reduce(self):
        self.buckets[self._next].reduce(self.group, free=self.stage == 2)
        self._next += 1

    def _finish(self):
        """Add up what backward has not."""
        while self._next < len(self.buckets):
            self._reduce()
        self._begin()

    def step(self):
        self._finish()
        self.inner.step()
        for bucket in self.buckets:
            bucket.gather(self.group)

    def zero_grad(self):
        for bucket in self.buckets:
            for p in (*bucket.parameters, bucket.shard):
                p.grad = None

    lr = property(lambda self: self.inner.lr, lambda self, lr: setattr(self.inner, "lr", lr))
    state = property(lambda self: self.inner.state)
    parameters = property(lambda self: self.shards)


class _Bucket:
    """Parameters that lie one behind the other in one array, `flat`, of which `shard` is this worker's part."""

    def __init__(self, parameters, group):
        self.parameters = parameters
        self.flat = group.broadcast(np.concatenate([p.data.reshape(-1) for p in parameters]))
        offset = 0
        for p in parameters:
            p.data = self.flat[offset : offset + p.size].reshape(p.shape)
            offset += p.size
        self.shard = Parameter(self.flat[group.part(self.flat.size)])  # a view: the step writes into the weights

    def reduce(self, group, free):
        grads = [np.zeros(p.size, p.dtype) if p.grad is None else p.grad.reshape(-1) for p in self.parameters]
        shard_grad = group.reduce_scatter(np.concatenate(grads), "mean", "direct")
        self.shard.grad = shard_grad if self.shard.grad is None or not free else self.shard.grad + shard_grad
        if free:
            for p in self.parameters:
                p.grad = None

    def gather(self, group):
        self.flat[...] = group.all_gather(self.shard.data)
        for p in self.parameters:
            p.version += 1


# ---- stage 3: fully sharded data parallel ----------------------------------------------------------------------------


class FullySharded(Module):
    """A module of whose weights each worker keeps a part, `shard`. All are there only while it computes.

    Forward gathers the weights and lets go of them; where a node of the tape would keep some, it keeps their place.
    Backward gathers them a second time, adds up their gradients, and leaves each worker its part in `shard.grad`.
    Zhao and others 2023, "PyTorch FSDP", section 3.2. Weights of one dtype, buffers stay whole.
    """

    def __init__(self, module, group):
        self.module, self.group = module, group
        shards, places = [part.shard for _, part in module.named_modules() if isinstance(part, FullySharded)], {}
        for prefix, part in module.named_modules():
            for name, x in vars(part).items():
                if isinstance(x, Parameter) and x not in shards:
                    places.setdefault(x, []).append((part, name, f"{prefix}.{name}" if prefix else name))
        if len({p.dtype for p in places}) != 1:
            found = sorted({str(p.dtype) for p in places}) or "no weights"
            raise ValueError(f"a module has {found}; expected weights of one dtype to cut.")
        self.shapes, flat = [p.shape for p in places], np.concatenate([p.data.reshape(-1) for p in places])
        flat = group.broadcast(flat)
        self.shard = Parameter(flat[group.part(flat.size)].copy())
        self.places = list(places.values())  # of each weight: (module, attribute, name), several where it is shared
        self._fill([None] * len(self.places))

    def _fill(self, tensors):
        for x, places in zip(tensors, self.places, strict=True):
            for part, name, _ in places:
                setattr(part, name, x)

    def _views(self, flat):
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        parts = np.split(flat, ends[:-1])
        return tuple(part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True))

    def forward(self, *arguments, **named):
        use = _Use(self)
        views = self._views(use.whole())
        weights = record("fully_sharded", views, [self.shard], use.backward)
        self._fill(weights)
        outer = saving.get()  # a checkpoint, or a module around this one
        ours = isinstance(getattr(outer, "__self__", None), _Use)
        # What is inside of a checkpoint keeps nothing.
        token = saving.set(use.keep) if outer is None or ours else None
        try:
            return self.module(*arguments, **named)
        finally:
            if token:
                saving.reset(token)
            self._fill([None] * len(self.places))
            use.flat = None

    def whole(self):
        """{name: array} of all weights, on each worker."""
        found = self._views(self.group.all_gather(self.shard.data))
        return {name: array for array, places in zip(found, self.places, strict=True) for _, _, name in places}


class _Use:
    """One forward and backward pass of a FullySharded module."""

    def __init__(self, module):
        self.module, self.flat = module, None

    def whole(self):
        if self.flat is None:
            self.flat = self.module.group.all_gather(self.module.shard.data)
        return self.flat

    def keep(self, kept):
        """What a node keeps: instead of weights, where in `flat` they are."""
        if not isinstance(kept, dict):
            return kept
        places = {name: _place(value, self.flat) for name, value in kept.items()}
        if not any(places.values()):
            return kept
        rest = {name: value for name, value in kept.items() if not places[name]}
        return _Kept(self, list(kept), rest, {name: location for name, location in places.items() if location})

    def backward(self, grads, kept):
        self.flat = None
        shapes = self.module.shapes
        parts = [
            np.zeros(shape, self.module.shard.dtype) if grad is None else grad
            for grad, shape in zip(grads, shapes, strict=True)
        ]
        flat = np.concatenate([part.reshape(-1) for part in parts])
        return [self.module.group.reduce_scatter(flat, "mean", "direct")]


class _Kept:
    """What a node keeps, without the weights; called, it has them again. `held`: what takes memory meanwhile."""

    def __init__(self, use, names, held, places):
        self.use, self.names, self.held, self.places = use, names, held, places

    def __call__(self):
        views = {
            name: np.ndarray(shape, dtype, self.use.whole(), offset, strides)
            for name, (shape, dtype, offset, strides) in self.places.items()
        }
        return {name: views[name] if name in views else self.held[name] for name in self.names}


def _place(value, flat):
    """(shape, dtype, offset, strides) of an array that lies in `flat`, else None."""
    if isinstance(value, np.ndarray) and np.may_share_memory(value, flat) and value.size:
        return value.shape, value.dtype, value.ctypes.data - flat.ctypes.data, value.strides
    return None


def fully_shard(module, group, units=None):
    """Cut the weights of a module among the workers: each of `units` (modules in it) as one, the rest as another.

    units: None for the parts of the module that have weights. The smaller a unit, the less is whole at a time, and the
    more messages are sent. Returns the module to call; its parameters() are the shards, for any optimizer that looks at
    each weight alone. All workers' batches count the same.
    """
    chosen = units if units is not None else [part for part in vars(module).values() if isinstance(part, Module)]
    wanted = {id(unit) for unit in chosen if unit.parameters()}
    for _, part in list(module.named_modules()):
        for name, child in list(vars(part).items()):
            if isinstance(child, Module) and id(child) in wanted:
                setattr(part, name, FullySharded(child, group))
    shards = [part.shard for _, part in module.named_modules() if isinstance(part, FullySharded)]
    return FullySharded(module, group) if set(module.parameters()) - set(shards) else module


def whole_state(module):
    """{name: array} of all weights and buffers of a module with FullySharded parts, by the names of the module that it
    was. All workers call it, and each gets all."""
    found = {}
    for prefix, part in module.named_modules():
        plain = ".".join(piece for piece in prefix.split(".") if piece != "module")
        if isinstance(part, FullySharded):
            found |= {f"{plain}.{name}" if plain else name: array for name, array in part.whole().items()}
        else:
            for name, x in vars(part).items():
                if isinstance(x, Tensor):
                    found[f"{plain}.{name}" if plain else name] = x.numpy().copy()
    return found


def clip_grad_norm_(parameters, max_norm, group):
    """Scale the shards' gradients so that the norm of all workers' is at most max_norm. Returns the norm before."""
    grads = [p.grad for p in parameters if p.grad is not None]
    local_square = np.array([sum(float(np.square(grad, dtype=np.float64).sum()) for grad in grads)])
    norm = float(np.sqrt(group.all_reduce(local_square, algorithm="direct")[0]))
    if norm > max_norm:
        for grad in grads:
            grad *= grad.dtype.type(max_norm / norm)
    return norm
