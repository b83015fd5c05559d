"""A network that learns to read digits, all of it on the device: two linear layers, ReLU, cross-entropy, SGD.

    network = Network([64, 64, 10])
    losses = network.fit(x, y, epochs=20)
    (network.predict(test_x) == test_y).mean()

Weights, activations and gradients stay there; pictures and classes go there batch by batch, and a loss comes back once
in an epoch.
"""

import itertools

import numpy as np

from . import launches
from .host import device


class Network:
    """Linear layers with ReLU between them, float32. sizes: of the input, of each layer.

    Weights begin as PyTorch's linear layers do: uniform within 1 / sqrt(inputs) (He and others 2015, with a = sqrt(5)).
    """

    def __init__(self, sizes, seed=0):
        random, pairs = np.random.default_rng(seed), list(itertools.pairwise(sizes))
        if not pairs:
            raise ValueError(f"sizes is {sizes!r}; expected at least two: of the input, and of each layer.")
        self.parameters = [
            device().array(random.uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(ins)))
            for ins, outs in pairs
            for shape in ((outs, ins), (outs,))
        ]
        self.buffers = [device().array(np.zeros(one.shape, np.float32)) for one in self.parameters]
        self.fresh = True
        self.one = device().array(np.ones(1, np.float32))

    def layers(self):
        """[(weight, bias), ...]"""
        return list(zip(self.parameters[::2], self.parameters[1::2], strict=True))

    def forward(self, x):
        """The inputs of all layers, and last the logits: x (n, inputs) on the device."""
        seen, layers = [x], self.layers()
        for k, (weight, bias) in enumerate(layers):
            seen.append(launches.linear(seen[-1], weight, bias, "relu" if k + 1 < len(layers) else None))
        return seen

    def gradients(self, x, target):
        """(losses of the rows, gradients of their mean), on the device."""
        *seen, logits = self.forward(x)
        losses = launches.cross_entropy(logits, target)
        back = launches.cross_entropy_backward
        arriving = back(self.one, logits, target, scale=1 / len(x))
        found = []
        for k, (weight, _) in reversed(list(enumerate(self.layers()))):
            x_k = seen[k]
            of_x, *own = launches.linear_backward(arriving, x_k, weight, of_x=k > 0)
            found = [*own, *found]
            if k:  # of a ReLU the result says as much as what came in
                arriving = launches.activation_backward(of_x, x_k, "relu")
        return losses, found

    def step(self, x, target, lr=0.1, momentum=0.9):
        """One step of gradient descent; the losses before it, on the device."""
        losses, found = self.gradients(x, target)
        for parameter, gradient, buffer in zip(self.parameters, found, self.buffers, strict=True):
            launches.sgd(parameter, gradient, buffer, lr, momentum, first=self.fresh)
        self.fresh = False
        return losses

    def fit(self, x, y, epochs=10, batch=64, lr=0.1, momentum=0.9, seed=0):
        """Learn from NumPy arrays x (n, inputs) and classes y (n,); the mean loss of each epoch."""
        random, means = np.random.default_rng(seed), []
        x, y = np.asarray(x, np.float32).reshape(len(x), -1), np.asarray(y, np.int32)
        for _ in range(epochs):
            order, total = random.permutation(len(x)), []
            for first in range(0, len(x), batch):
                rows = order[first : first + batch]
                losses = self.step(device().array(x[rows]), device().array(y[rows]), lr, momentum)
                total.append(launches.sum_rows(losses.reshape(1, -1)))
            means.append(float(sum(one.get()[0] for one in total)) / len(x))
        return means

    def predict(self, x):
        """The class of each row of a NumPy array."""
        x = np.asarray(x, np.float32).reshape(len(x), -1)
        return self.forward(device().array(x))[-1].get().argmax(axis=1)
