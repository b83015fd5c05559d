"""A Transformer block on all cores of this machine."""

from . import Part, by_threads, random

CLAIM = "Parallelising a Transformer cuts training time by 80 %, and inference by 3x."
PARTS = (
    Part(
        "training",
        "training takes a fifth of the time",
        "part of the time saved, forward and backward; 256 words, 256 wide",
        "true only with five cores or more, or five machines",
        "11_block",
        0.8,
    ),
    Part(
        "inference",
        "inference is three times as fast",
        "times as fast, forward",
        "true only with three cores or more",
        "11_block",
        3,
    ),
)
WORDS, WIDTH, HEADS = 256, 256, 4


def measure(quick):
    import numpy as np

    from training import Tensor
    from training.modules import TransformerBlock

    block, x = TransformerBlock(WIDTH, HEADS, generator=np.random.default_rng(0)), random(1, WORDS, WIDTH)
    ones = np.ones_like(x)

    def training():
        block(Tensor(x)).backward(ones)

    def inference():
        return block(Tensor(x))

    return {"training": 1 - 1 / by_threads(training, quick), "inference": by_threads(inference, quick)}
