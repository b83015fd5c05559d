"""A layer in eight groups, and its bytes; one in four, and what it can still compute of one without groups."""

from . import FALSE, Part, random

CLAIM = "Grouped convolution reduces memory traffic without changing accuracy."
PARTS = (
    Part(
        "few pixels",
        "less traffic, many channels on few pixels",
        "bytes, dense / 8 groups; 512 channels, 7 x 7",
        "true if most of the bytes are weights",
        "09_convolution",
        1.5,
        exact=True,
    ),
    Part(
        "many pixels",
        "less traffic, few channels on many pixels",
        "bytes, dense / 8 groups; 64 channels, 56 x 56",
        "true if most of the bytes are weights",
        "09_convolution",
        1.5,
        exact=True,
    ),
    Part(
        "accuracy",
        "the same result",
        "part of a dense layer's result, in squares, that the best grouped layer misses",
        FALSE,
        "09_convolution",
        0,
        0.01,
        exact=True,
    ),
)


def measure(quick):
    import numpy as np

    def moved(channels, side, groups=1, k=3):
        return 4 * (2 * channels * side**2 + channels * channels // groups * k * k)

    pixels = random(4000, 16)
    wanted = pixels @ random(16, 16, seed=1)
    parts = [slice(4 * g, 4 * g + 4) for g in range(4)]
    fits = [np.linalg.lstsq(pixels[:, p], wanted[:, p]) for p in parts]
    missed = sum(np.sum(squares) for _, squares, *_ in fits) / np.sum(wanted**2)
    return {
        "few pixels": moved(512, 7) / moved(512, 7, 8),
        "many pixels": moved(64, 56) / moved(64, 56, 8),
        "accuracy": missed,
    }
