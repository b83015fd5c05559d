"""Networks that learn to read digits, all of it on the device: linear layers, a convolution, cross-entropy, SGD.

    network = Network([64, 64, 10])           # or Convolutional(8): convolution, ReLU, pooling, a linear layer
    losses = network.fit(x, y, epochs=20)
    (network.predict(test_x) == test_y).mean()

Weights, activations and gradients stay there; pictures and classes go there batch by batch, and a loss comes back once
in an epoch.
"""

import itertools

import numpy as np

from dlkernels.convolution.geometry import convolution

from . import launches
from .host import device


class Network:
    """Linear layers with ReLU between them, float32. sizes: of the input, of each layer.

    Weights begin as PyTorch's linear layers do: uniform within 1 / sqrt(inputs) (He and others 2015, with a = sqrt(5)).
    """

    def __init__(self, sizes, seed=0):
        pairs = list(itertools.pairwise(sizes))
        if not pairs:
            raise ValueError(f"sizes is {sizes!r}; expected at least two: of the input, and of each layer.")
        self._begin([(outs, ins) for ins, outs in pairs], seed)

    def _begin(self, shapes, seed):
        """A weight of each shape, and its bias."""
        random = np.random.default_rng(seed)
        self.parameters = [
            device().array(random.uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(np.prod(weight[1:]))))
            for weight in shapes
            for shape in (weight, weight[:1])
        ]
        self.buffers = [device().array(np.zeros(parameter.shape, np.float32)) for parameter in self.parameters]
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
        grad = back(self.one, logits, target, scale=1 / len(x))
        found = []
        for k, (weight, _) in reversed(list(enumerate(self.layers()))):
            x_k = seen[k]
            of_x, *of_w = launches.linear_backward(grad, x_k, weight, of_x=k > 0)
            found = [*of_w, *found]
            if k:  # of a ReLU the result says as much as what came in
                grad = launches.activation_backward(of_x, x_k, "relu")
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
            for start in range(0, len(x), batch):
                rows = order[start : start + batch]
                losses = self.step(device().array(x[rows]), device().array(y[rows]), lr, momentum)
                total.append(launches.sum_rows(losses.reshape(1, -1)))
            means.append(float(sum(loss.get()[0] for loss in total)) / len(x))
        return means

    def predict(self, x):
        """The class of each row of a NumPy array."""
        x = np.asarray(x, np.float32).reshape(len(x), -1)
        return self.forward(device().array(x))[-1].get().argmax(axis=1)


class Convolutional(Network):
    """A 3 x 3 convolution of one channel with zeros around, ReLU, the largest of 2 x 2 pixels, a linear layer.

    channels: of the convolution. side: of the pictures, even. classes: of the result.
    """

    def __init__(self, channels, side=8, classes=10, seed=0):
        self.side, (self.geometry, _) = side, convolution((side, side), (3, 3), padding=1)
        self._begin([(channels, 1, 3, 3), (classes, channels * (side // 2) ** 2)], seed)

    def forward(self, x):
        """The pictures (n, 1, side, side), what comes out of convolution and ReLU, what of pooling, and the logits."""
        (taps, bias), (weight, offset) = self.layers()
        x = x.reshape(len(x), 1, self.side, self.side)
        found = launches.activation(launches.conv2d(x, taps, bias, self.geometry, x.shape[2:]), "relu")
        pooled = launches.max_pool(found, 2)
        return x, found, pooled, launches.linear(pooled.reshape(len(x), -1), weight, offset)

    def gradients(self, x, target):
        x, found, pooled, logits = self.forward(x)
        losses = launches.cross_entropy(logits, target)
        grad = launches.cross_entropy_backward(self.one, logits, target, scale=1 / len(x))
        (taps, _), (weight, _) = self.layers()
        of_pooled, *of_linear = launches.linear_backward(grad, pooled.reshape(len(x), -1), weight)
        of_found = launches.max_pool_backward(of_pooled.reshape(pooled.shape), found, 2)
        of_sums = launches.activation_backward(of_found, found, "relu")
        return losses, [*launches.conv2d_backward(of_sums, x, taps, self.geometry), *of_linear]
