"""What a tape keeps, counted in bytes, and checkpoints: the same gradients, bit for bit, with less kept."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from training import Tensor, activation_bytes, checkpoint, modules
from training import functional as F

pytestmark = pytest.mark.quick


def numbers(*shape):
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def test_bytes_are_those_of_the_arrays_that_are_kept():
    x = Tensor(numbers(3, 4), requires_grad=True)
    y = F.tanh(x)  # keeps x, a leaf
    assert activation_bytes(y) == 0
    z = F.tanh(y) + F.sigmoid(y)  # both keep y, add nothing
    assert activation_bytes(z) == 3 * 4 * 4
    assert activation_bytes(z, y) == 3 * 4 * 4
    reshaped = F.tanh(F.reshape(y, (4, 3)))  # a view of the same memory
    assert activation_bytes(z + F.reshape(reshaped, (3, 4))) == 3 * 4 * 4
    assert activation_bytes(F.tanh(z)) == 2 * 3 * 4 * 4
    assert activation_bytes(x.detach()) == 0


def layers(generator):
    parts = [
        (modules.Linear(6, 6, generator=generator), modules.Dropout(0.3, generator=generator), modules.Tanh())
        for _ in range(4)
    ]
    return [modules.Sequential(*part) for part in parts]


def gradients(wrap):
    """(bytes kept, output and gradients of four layers with dropout, a residual way, one of them used twice)."""
    generator = np.random.default_rng(7)
    parts = layers(generator)
    x = Tensor(numbers(5, 6), requires_grad=True)
    y = x
    for part in (*parts, parts[0]):
        y = wrap(lambda one, part=part: part(one) + one + F.tanh(one), y) + y
    kept = activation_bytes(y)
    y.sum().backward()
    return kept, [y.data, x.grad, *(p.grad for part in parts for p in part.parameters())]


def plain(function, *inputs):
    return function(*inputs)


def test_gradients_are_the_same_bits_with_checkpoints_and_less_is_kept():
    kept, expected = gradients(plain)
    kept_less, found = gradients(checkpoint)
    assert all((one == other).all() for one, other in zip(expected, found, strict=True))
    assert kept == 9 * 5 * 6 * 4  # of each part what came in (x is a leaf), and what dropout left for tanh
    assert kept_less == 4 * 5 * 6 * 4  # only what came in


def test_checkpoints_inside_checkpoints():
    def both(function, x):
        return checkpoint(lambda one: checkpoint(function, one), x)

    _, expected = gradients(plain)
    _, found = gradients(both)
    assert all((one == other).all() for one, other in zip(expected, found, strict=True))


def test_a_running_mean_moves_once():
    results = []
    for wrap in (plain, checkpoint):
        norm = modules.BatchNorm2d(2)
        x = Tensor(numbers(3, 2, 4, 4), requires_grad=True)
        wrap(lambda one, norm=norm: F.tanh(norm(one)), x).sum().backward()
        results.append([x.grad, norm.running_mean.data, norm.running_var.data])
    assert all((one == other).all() for one, other in zip(*results, strict=True))


def test_a_function_that_changes_its_mind_is_told():
    calls = []

    def function(x):
        calls.append(1)
        return F.tanh(x) if len(calls) == 1 else F.tanh(F.tanh(x))

    y = checkpoint(function, Tensor(numbers(3), requires_grad=True))
    with pytest.raises(RuntimeError, match="1 operations, and 2 when it was computed again"):
        y.sum().backward()


def test_each_call_of_dropout_drops_others_and_evaluation_none():
    drop = modules.Dropout(0.5, generator=np.random.default_rng(1))
    x = Tensor(np.ones(1000, np.float32), requires_grad=True)
    y, z = drop(x), drop(x)
    assert not (y.data == z.data).all()
    y.sum().backward()
    assert (x.grad == y.data).all()
    assert drop.eval()(x) is x


def test_a_weight_that_was_changed_before_the_second_run():
    layer = modules.Linear(3, 3, generator=np.random.default_rng(1))
    y = checkpoint(layer, Tensor(numbers(2, 3)))
    layer.load_state_dict(layer.state_dict())
    with pytest.raises(RuntimeError, match="changed after linear had used it"):
        y.sum().backward()


GIVEN_BACK = """
import numpy as np
import training
from training import Tensor
from training.arrays import freed_memory_kept

def in_memory():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20

def given_back():
    arrays = [np.ones(1 << 20) for _ in range(16)]
    before = in_memory()
    del arrays
    return before - in_memory()

told = [given_back()]
Tensor(np.ones(3, np.float32), requires_grad=True).sum().backward()
told.append(given_back())
with freed_memory_kept():
    told.append(given_back())
    before = in_memory()
print(*told, before - in_memory())
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc", reason="glibc keeps freed memory"
)
def test_freed_memory_is_kept_from_the_first_backward_to_the_end_of_fit():
    """16 arrays of 8 MiB are made and freed: how many MiB of them the process gives back."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", GIVEN_BACK]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    imported, trained, in_fit, after_fit = map(int, ran.stdout.split())
    assert imported >= 100, ran.stdout
    assert max(trained, in_fit) <= 20, ran.stdout
    assert after_fit >= 100, ran.stdout
