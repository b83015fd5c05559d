"""A network on the device: its steps beside those of the references, and digits that it learns to read."""

import numpy as np
import opencl_here as here
import pytest

from dlkernels.convolution import geometry
from dlkernels.convolution import reference as pictures
from dlkernels.loss import reference as loss
from dlkernels.matrix import reference as matrix
from dlkernels.optim import reference as optim
from dlkernels.vector import reference as vector
from training import data

here.needed()

from opencl import launches  # noqa: E402
from opencl.digits import Convolutional, Network  # noqa: E402


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


def train_alike(network, gradients_of, x, y, steps):
    """Losses, gradients and parameters of some steps with momentum, compared with those of gradients_of(parameters)."""
    there, buffers = launches.device().array, None
    parameters = tuple(one.get().astype(np.float64) for one in network.parameters)
    for _ in range(steps):
        expected, wanted = gradients_of(parameters)
        losses, found = network.gradients(there(x), there(y))
        np.testing.assert_allclose(losses.get().mean(), expected, rtol=1e-5)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.get().reshape(other.shape), other, rtol=1e-3, atol=1e-5)
        network.step(there(x), there(y), lr=0.1, momentum=0.9)
        parameters, buffers = optim.sgd(parameters, tuple(wanted), buffers, lr=0.1, momentum=0.9)
    for one, other in zip(network.parameters, parameters, strict=True):
        np.testing.assert_allclose(one.get(), other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("sizes", [(5, 3), (64, 17, 10), (7, 33, 20, 4)])
def test_steps_are_those_of_the_references(sizes):
    random = np.random.default_rng(1)
    x, y = random.standard_normal((19, sizes[0])).astype(np.float32), random.integers(0, sizes[-1], 19).astype(np.int32)
    train_alike(Network(sizes, seed=2), lambda parameters: gradients(parameters, x, y), x, y, steps=5)


def convolved(parameters, x, y):
    """(loss, gradients of all parameters) of the convolutional network, in NumPy and float64."""
    taps, bias, weight, offset = parameters
    summed = pictures.conv2d(x, taps, bias, padding=1)
    pooled = pictures.max_pool2d(vector.relu(summed), 2)
    flat = pooled.reshape(len(x), -1)
    logits = matrix.linear(flat, weight, offset)
    of_flat, *of_linear = matrix.linear_backward(loss.cross_entropy_backward(1.0, logits, y), flat, weight, offset)
    of_found = pictures.max_pool2d_backward(of_flat.reshape(pooled.shape), vector.relu(summed), 2)
    _, *of_taps = pictures.conv2d_backward(vector.relu_backward(of_found, summed), x, taps, bias, padding=1)
    return loss.cross_entropy(logits, y), [*of_taps, *of_linear]


def test_steps_of_a_convolution_are_those_of_the_references():
    random = np.random.default_rng(1)
    x, y = random.standard_normal((19, 1, 8, 8)).astype(np.float32), random.integers(0, 10, 19).astype(np.int32)
    train_alike(
        Convolutional(5, seed=2), lambda parameters: convolved(parameters, x.astype(np.float64), y), x, y, steps=3
    )


@pytest.mark.parametrize("window", [(1, 0, 1, 1), (2, 1, 1, 2), (1, (2, 1), 2, 1), ((3, 2), 2, (1, 2), 4)])
def test_gradients_of_any_convolution(window):
    groups = window[-1]
    random, there = np.random.default_rng(3), launches.device().array
    x, weight = random.standard_normal((3, 4, 11, 9)), random.standard_normal((8, 4 // groups, 3, 2))
    g, sizes = geometry.convolution(x.shape[2:], weight.shape[2:], *window)
    grad = random.standard_normal((3, 8, *sizes))
    _, *wanted = pictures.conv2d_backward(grad, x, weight, np.zeros(8), *window)
    found = launches.conv2d_backward(*(there(one.astype(np.float32)) for one in (grad, x, weight)), g)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.get(), other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("height", "width", "size"), [(8, 8, 2), (7, 17, 3), (5, 4, 1), (33, 20, 4)])
def test_the_largest_of_windows_and_its_gradient(height, width, size):
    random, there = np.random.default_rng(4), launches.device().array
    x = random.integers(0, 4, (2, 3, height, width)).astype(np.float32)  # with equal ones
    found = launches.max_pool(there(x), size)
    grad = random.standard_normal(found.shape).astype(np.float32)
    assert np.array_equal(found.get(), pictures.max_pool2d(x, size))
    of_x = launches.max_pool_backward(there(grad), there(x), size).get()
    assert np.array_equal(of_x, pictures.max_pool2d_backward(grad, x, size).astype(np.float32))


@pytest.mark.parametrize(
    ("make", "epochs"),
    [(lambda: Network([64, 64, 10]), 15), (lambda: Convolutional(8), 8)],
    ids=["linear", "convolution"],
)
def test_digits_are_learned(make, epochs):
    (x, y), (test_x, test_y) = data.digits()
    network = make()
    losses = network.fit(x, y, epochs=epochs)
    assert losses[-1] < 0.06 < losses[0]
    assert (network.predict(test_x) == test_y).mean() >= 0.96


@pytest.mark.quick
def test_sizes_are_checked():
    with pytest.raises(ValueError, match="at least two"):
        Network([64])
