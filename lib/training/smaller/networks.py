"""Two networks of chapter 12, their data in three parts, and the training that the methods begin and go on with.

The test part is for the last figure alone. What is tried out (bits, thresholds, epochs) is tried on the validation
part: who chooses by the test part has learned from it.
"""

from dataclasses import dataclass

import numpy as np

from .. import functional as F
from .. import modules
from ..data import Loader
from ..loop import fit
from ..optimizers import Adam
from ..schedules import CosineAnnealing


@dataclass(frozen=True)
class Parts:
    """(images, labels) three times."""

    train: tuple
    validation: tuple
    test: tuple


def parts(load):
    """The `Parts` of `data.digits` or `data.mnist5k`: the test part is theirs, every fifth of the rest validates."""
    (images, labels), test = load()
    fifth = np.arange(len(labels)) % 5 == 4
    return Parts((images[~fifth], labels[~fifth]), (images[fifth], labels[fifth]), test)


def digits(seed=0, width=32):
    """Two convolutions and two linear layers for 8 x 8 pictures; `width` filters in the first layer."""
    draw = {"generator": np.random.default_rng(seed)}
    return modules.Sequential(
        modules.Conv2d(1, width, 3, padding=1, **draw),
        modules.ReLU(),
        modules.Conv2d(width, 2 * width, 3, padding=1, **draw),
        modules.ReLU(),
        modules.MaxPool2d(2),
        modules.Flatten(),
        modules.Linear(2 * width * 16, 4 * width, **draw),
        modules.ReLU(),
        modules.Linear(4 * width, 10, **draw),
    )


def mnist(seed=0, width=16):
    """The network of chapter 12.3 for 28 x 28 pictures, with batch norm and dropout."""
    draw = {"generator": np.random.default_rng(seed)}
    blocks = []
    for ins, outs in ((1, width), (width, 2 * width)):
        blocks += [
            modules.Conv2d(ins, outs, 3, padding=1, bias=False, **draw),
            modules.BatchNorm2d(outs),
            modules.ReLU(),
            modules.MaxPool2d(2),
        ]
    return modules.Sequential(
        *blocks, modules.Flatten(), modules.Dropout(0.3, **draw), modules.Linear(2 * width * 49, 10, **draw)
    )


def trained(model, train, epochs=8, lr=3e-3, batch_size=64, seed=0, loss=F.cross_entropy, hooks=()):
    """Train `model` itself on (images, targets) by Adam, with a rate that rises for 20 steps and falls along a cosine.
    Returns it, in evaluation mode. With a smaller `lr` and few epochs this is the fine-tuning of all methods."""
    loader = Loader(train, batch_size, seed=seed)
    optimizer = Adam(model.parameters(), lr=lr)
    total = max(1, epochs * len(loader))
    schedule = CosineAnnealing(optimizer, total, warmup=min(20, total - 1))
    fit(model, loss, optimizer, loader, epochs=epochs, schedule=schedule, hooks=hooks, show=None)
    return model.eval()
