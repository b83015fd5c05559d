"""Local SGD: each worker trains on its own for some steps, then their weights are averaged.

    local = LocalSGD(model.parameters(), optimizer, group, every=8)
    ...; loss.backward(); local.step()

Data parallel sends gradients after each step; this sends as many bytes every `every` steps. With every=1 and plain SGD
it is the same step, but for rounding: the mean of w - lr g is w - lr times the mean of g. With more, the workers part
and come together, and it is another method. McMahan and others 2017, "Communication-Efficient Learning of Deep Networks
from Decentralized Data" (federated averaging); Stich 2019, "Local SGD Converges Fast and Communicates Little".

outer: an optimizer for what the workers have learned together. What the mean moved away from the weights before is
taken for a gradient (Douillard and others 2023, "DiLoCo": Adam inside, SGD with Nesterov momentum outside).
"""

import numpy as np

from training.modules import Parameter


class LocalSGD:
    """An optimizer of this worker's own, and the average every so many of its steps.

    outer: None, or a function that makes an optimizer of a list of one Parameter, as
    ``lambda parameters: SGD(parameters, lr=0.7, momentum=0.9, nesterov=True)``. All begin with worker 0's weights.
    """

    def __init__(self, parameters, optimizer, group, every, outer=None):
        if every < 1:
            raise ValueError(f"every is {every}; expected 1 step or more.")
        self.parameters, self.optimizer, self.group, self.every, self.steps = (
            list(parameters),
            optimizer,
            group,
            every,
            0,
        )
        self._write(group.broadcast(self._flat()))
        self.anchor = Parameter(self._flat()) if outer else None
        self.outer = outer([self.anchor]) if outer else None

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.steps += 1
        if self.steps % self.every == 0:
            self.average()

    def average(self):
        """The mean of all workers' weights, on each of them. Moments of the optimizer stay each worker's own."""
        mean = self.group.all_reduce(self._flat(), "mean", "direct")
        if self.outer:
            self.anchor.grad = self.anchor.data - mean
            self.outer.step()
            mean = self.anchor.data
        self._write(mean)

    def _flat(self):
        return np.concatenate([p.data.reshape(-1) for p in self.parameters])

    def _write(self, flat):
        offset = 0
        for p in self.parameters:
            p.data[...] = flat[offset : offset + p.size].reshape(p.shape)
            p.version, offset = p.version + 1, offset + p.size
