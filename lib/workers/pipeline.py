"""Pipeline parallel: each worker has some stages of the network, and microbatches go from worker to worker.

    orders = schedules.one_f_one_b(group.size, microbatches=8)
    pipeline = Pipeline({group.rank: my_stage}, orders, group, loss=F.cross_entropy)
    losses = pipeline.step(inputs, targets)       # lists of microbatches; leaves gradients, as backward does
    optimizer.step()

The same executor runs any schedule (schedules.py): it does its worker's Actions in order, receives before each what it
needs, and sends on what comes out. A stage is cut off from the tape of the others: its input is a leaf, whose gradient
goes back to the stage before.

Gradients are those of one worker that accumulates over the microbatches in order, bit for bit: the same kernels add up
the same numbers in the same order.

Where a schedule has W apart (zero bubble), `DeferredWeights` lets the linear layers of a stage keep what their weights'
gradients need until then; the gradients of other weights are small work, and stay with B. Qi and others 2023,
"Zero Bubble Pipeline Parallelism", do so in Megatron.
"""

from collections import deque

from dlkernels import implementations
from training import functional as F
from training.modules import Linear
from training.tensor import Tensor, record

from .schedules import stages_of


class Pipeline:
    """The part of a pipeline that a worker runs.

    stages: {number: Module} of this worker. orders: a schedule, the same on all workers. loss: of the last stage's
    result and a target, a function that returns a Tensor of one number, the mean of a microbatch.
    """

    def __init__(self, stages, orders, group, loss):
        if len(orders) != group.size:
            raise ValueError(f"the schedule is for {len(orders)} workers; expected {group.size}.")
        self.owners, self.order = stages_of(orders), orders[group.rank]
        owned = [s for s, owner in enumerate(self.owners) if owner == group.rank]
        if sorted(stages) != owned:
            raise ValueError(f"worker {group.rank} has the stages {sorted(stages)}; the schedule gives it {owned}.")
        self.stages, self.group, self.loss = stages, group, loss
        self.microbatches = 1 + max(action.microbatch for order in orders for action in order)
        # A channel for what goes into each stage forward, and backward: in each, microbatches come in order.
        self.channels = {(kind, s): group.split(0) for s in range(len(self.owners)) for kind in "FB"}
        self.deferred = {s: DeferredWeights(stage) for s, stage in stages.items()} if self._has("W") else {}

    def _has(self, kind):
        return any(action.kind == kind for action in self.order)

    def step(self, inputs=None, targets=None):
        """Run all microbatches forward and backward. Gradients of the mean loss are added to the weights' `.grad`.

        inputs: a list of arrays, on the worker with the first stage; targets: on the one with the last. Others give
        None. Returns the list of losses on the worker with the last stage, else [].
        """
        last = len(self.owners) - 1
        for name, batches, stage in (("inputs", inputs, 0), ("targets", targets, last)):
            if stage in self.stages and (batches is None or len(batches) != self.microbatches):
                found = "None" if batches is None else len(batches)
                raise ValueError(f"{name} has {found} microbatches; the schedule has {self.microbatches}.")
        self.live, self.losses, self.sendings = {}, [], []
        for kind, s, i in self.order:
            if kind == "F":
                self._forward(s, i, inputs, targets, last)
            elif kind == "B":
                self._backward(s, i, last)
            else:
                self.deferred[s].run()
        for sending in self.sendings:
            sending.wait()
        return self.losses

    def _forward(self, s, i, inputs, targets, last):
        x = inputs[i] if s == 0 else self._receive("F", s, s - 1)
        if s or x.dtype.kind == "f":
            x = Tensor(x, requires_grad=s > 0)
        y = self.stages[s](x)
        if s == last:
            y = self.loss(y, targets[i])
            self.losses.append(y.item())
            y = y / self.microbatches
        else:
            self._send("F", s + 1, y.data)
        self.live[s, i] = x, y

    def _backward(self, s, i, last):
        x, y = self.live.pop((s, i))
        if s in self.deferred:
            self.deferred[s].begin()
        y.backward(None if s == last else self._receive("B", s, s + 1))
        if s:
            self._send("B", s - 1, x.grad)

    def _send(self, kind, s, array):
        """To stage s; does not wait for its worker, which may be sending to this one."""
        channel, to = self.channels[kind, s], self.owners[s]
        if to == self.group.rank:
            self.live.setdefault((kind, s), deque()).append(array)
        else:
            self.sendings.append(channel.start_send(array, to))

    def _receive(self, kind, s, source):
        if self.owners[source] == self.group.rank:
            return self.live[kind, s].popleft()
        return self.channels[kind, s].receive(self.owners[source])


class DeferredWeights:
    """Lets the Linear layers of a module compute their weights' gradients when `run` is called, once for each backward.

    The same gradients, bit for bit.
    """

    def __init__(self, module):
        self.todo = deque()
        for _, part in module.named_modules():
            if isinstance(part, Linear):
                part.forward = self._forward_of(part)

    def begin(self):
        self.todo.append([])

    def run(self):
        for layer, grad, kept in self.todo.popleft():
            found = implementations.gradients("linear", grad, kept, {"weight", "bias"})
            for name in ("weight", "bias"):
                p = getattr(layer, name)
                if p is not None:
                    p.grad = found[name].copy() if p.grad is None else p.grad + found[name]

    def _forward_of(self, layer):
        def forward(x):
            weight, bias = layer.weight.data, layer.bias and layer.bias.data
            result = F.linear(x.data, weight, bias).data
            kept = implementations.keep("linear", result, x.data, weight, bias)

            def backward(grad, kept):
                self.todo[-1].append((layer, grad, kept))
                return [implementations.gradients("linear", grad, kept, {"x"})["x"] if x.requires_grad else None]

            leaf = x if x.requires_grad else Tensor(x.data, requires_grad=True)  # so that backward comes here
            return record("linear", result, [leaf], backward, kept)

        return forward
