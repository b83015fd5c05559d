"""Small networks and batches for tests of many workers, and what one worker makes of them."""

import itertools

import numpy as np

from training import Tensor, modules
from training import functional as F


def mlp(widths=(6, 12, 9, 5), norm=True, seed=0):
    rng, parts = np.random.default_rng(seed), []
    for k, (a, b) in enumerate(itertools.pairwise(widths)):
        parts += [modules.GELU()] * bool(k) + [modules.Linear(a, b, generator=rng)]
        parts += [modules.LayerNorm(b)] * norm
    return modules.Sequential(*parts)


def batches(n, examples=4, width=6, classes=5, seed=0):
    """n batches (x, labels)."""
    rng = np.random.default_rng(seed)
    return [
        (rng.standard_normal((examples, width), np.float32), rng.integers(classes, size=examples)) for _ in range(n)
    ]


def loss_of(model, batch):
    return F.cross_entropy(model(Tensor(batch[0])), batch[1])


def gradients(model):
    return {name: p.grad.copy() for name, p in model.named_parameters()}


def accumulated(model, parts):
    """The mean of the gradients of several batches, added up one after the other."""
    model.zero_grad()
    for part in parts:
        loss_of(model, part).backward()
    return {name: grad / np.float32(len(parts)) for name, grad in gradients(model).items()}


def joined(parts):
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert array.shape == expected[name].shape, name
        assert array.tobytes() == expected[name].tobytes(), name


def close(found, expected, tolerance=1e-5):
    """But for roundings of float32, relative to the largest number of an array."""
    assert found.keys() == expected.keys()
    for name, array in found.items():
        scale = max(1e-3, np.abs(expected[name]).max(initial=0))
        np.testing.assert_allclose(array, expected[name], rtol=0, atol=tolerance * scale, err_msg=name)


def transformer(width=12, heads=4, layers=2, seed=0):
    rng = np.random.default_rng(seed)
    return modules.Sequential(
        *(modules.TransformerBlock(width, heads, 2 * width, generator=rng) for _ in range(layers))
    )


def sequence(batch=2, steps=7, width=12, seed=0):
    return np.random.default_rng(seed).standard_normal((batch, steps, width), np.float32)
