"""Bytes of two poolings, and of a convolution for each picture of small and large batches, counted."""

from . import FALSE, Part, random

CLAIM = "Max pooling needs less bandwidth than average pooling. Smaller batches use memory bandwidth worse."
WEIGHTS = "true if the layer has many weights and few pixels"
PARTS = (
    Part(
        "pooling",
        "the maximum needs less",
        "bytes of the average / of the maximum; 64 channels, 112 x 112, 3 x 3",
        FALSE,
        "09_convolution",
        1.01,
        exact=True,
    ),
    Part(
        "weights",
        "a small batch is worse, many weights",
        "bytes for each picture, a batch of 1 / of 16; 512 channels, 7 x 7",
        WEIGHTS,
        "09_convolution",
        1.5,
        exact=True,
    ),
    Part(
        "pixels",
        "a small batch is worse, many pixels",
        "bytes for each picture, a batch of 1 / of 16; 64 channels, 56 x 56",
        WEIGHTS,
        "09_convolution",
        1.5,
        exact=True,
    ),
)


def measure(quick):
    from dlkernels import avg_pool2d, max_pool2d

    x = random(64, 112, 112)

    def for_each(batch, channels, side, k=3):
        return 4 * (2 * channels * side**2 + channels**2 * k * k / batch)

    return {
        "pooling": (x.nbytes + avg_pool2d(x, 3, 2, 1).nbytes) / (x.nbytes + max_pool2d(x, 3, 2, 1).nbytes),
        "weights": for_each(1, 512, 7) / for_each(16, 512, 7),
        "pixels": for_each(1, 64, 56) / for_each(16, 64, 56),
    }
