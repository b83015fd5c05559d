"""A network on the device: its steps beside those of the references, and digits that it learns to read."""

import numpy as np
import opencl_here as here
import pytest

from dlkernels.loss import reference as loss
from dlkernels.matrix import reference as matrix
from dlkernels.optim import reference as optim
from dlkernels.vector import reference as vector
from training import data

here.needed()

from opencl import launches  # noqa: E402
from opencl.digits import Network  # noqa: E402


def gradients(parameters, x, y):
    """(loss, gradients of all parameters) in NumPy and float64."""
    layers, seen = list(zip(parameters[::2], parameters[1::2], strict=True)), [x]
    for k, (weight, bias) in enumerate(layers):
        seen.append(matrix.linear(vector.relu(seen[-1]) if k else x, weight, bias))
    arriving, found = loss.cross_entropy_backward(1.0, seen[-1], y), []
    for k, (weight, bias) in reversed(list(enumerate(layers))):
        of_x, *of_layer = matrix.linear_backward(arriving, vector.relu(seen[k]) if k else x, weight, bias)
        found = [*of_layer, *found]
        arriving = vector.relu_backward(of_x, seen[k])
    return loss.cross_entropy(seen[-1], y), found


@pytest.mark.parametrize("sizes", [(5, 3), (64, 17, 10), (7, 33, 20, 4)])
def test_steps_are_those_of_the_references(sizes):
    """Losses, gradients and parameters of five steps with momentum."""
    random, there = np.random.default_rng(1), launches.device().array
    x, y = random.standard_normal((19, sizes[0])).astype(np.float32), random.integers(0, sizes[-1], 19).astype(np.int32)
    network = Network(sizes, seed=2)
    parameters, buffers = tuple(one.get().astype(np.float64) for one in network.parameters), None
    for _ in range(5):
        expected, wanted = gradients(parameters, x, y)
        losses, found = network.gradients(there(x), there(y))
        np.testing.assert_allclose(losses.get().mean(), expected, rtol=1e-5)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.get().reshape(other.shape), other, rtol=1e-3, atol=1e-5)
        network.step(there(x), there(y), lr=0.1, momentum=0.9)
        parameters, buffers = optim.sgd(parameters, tuple(wanted), buffers, lr=0.1, momentum=0.9)
    for one, other in zip(network.parameters, parameters, strict=True):
        np.testing.assert_allclose(one.get(), other, rtol=1e-3, atol=1e-5)


def test_digits_are_learned():
    (x, y), (test_x, test_y) = data.digits()
    network = Network([64, 64, 10])
    losses = network.fit(x, y, epochs=15)
    assert losses[-1] < 0.05 < losses[0]
    assert (network.predict(test_x) == test_y).mean() >= 0.96


@pytest.mark.quick
def test_sizes_are_checked():
    with pytest.raises(ValueError, match="at least two"):
        Network([64])
