"""A small network that reads digits: its pictures, its weights, and what it says, in NumPy and float64.

63 pixels -> 32 hidden values, bias and SiLU -> 10 classes, bias, softmax, the largest. The pictures are made here from
the ten glyphs below, moved by a pixel and with noise; the weights are trained here, from a seed, in a second.
"""

import functools

import numpy as np
from threadpoolctl import threadpool_limits

ROWS, COLUMNS, HIDDEN, DIGITS = 9, 7, 32, 10
_GLYPHS = """
.###. ..#.. .###. ####. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. .###. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# .#... #...# ....#
#...# ..#.. .#... ....# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### ####. ...#. .###. .###. .#... .###. .##..
"""


@functools.cache
def _glyphs():
    """(10, 7, 5) of 0 and 1."""
    rows = [line.split() for line in _GLYPHS.split("\n") if line]
    return np.array([[[c == "#" for c in row[d]] for row in rows] for d in range(DIGITS)], np.float32)


def pictures(rng, n, noise=0.25):
    """x of shape (n, 63), float32: digits moved by at most a pixel, with noise; and labels of shape (n,)."""
    labels = rng.integers(0, DIGITS, n)
    x = rng.normal(0, noise, (n, ROWS, COLUMNS))
    for picture, label, (down, right) in zip(x, labels, rng.integers(0, 3, (n, 2)), strict=True):
        picture[down : down + 7, right : right + 5] += _glyphs()[label]
    return x.reshape(n, -1).astype(np.float32), labels


def _forward(x, w1, b1, w2, b2):
    """(before SiLU, after it, probabilities), float64."""
    z = x.astype(np.float64) @ w1 + b1
    h = z / (1 + np.exp(-z))
    logits = h @ w2 + b2
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return z, h, e / e.sum(axis=1, keepdims=True)


def forward(x, w1, b1, w2, b2):
    """The digit that the network sees in each row of x: the specification."""
    return probabilities(x, w1, b1, w2, b2).argmax(axis=1)


def probabilities(x, w1, b1, w2, b2):
    """(n, 10): how sure the network is of each digit in each row of x."""
    return _forward(x, w1, b1, w2, b2)[2]


@functools.cache
@threadpool_limits.wrap(limits=1)  # small matrices: more threads only wait for each other
def weights(seed=0, steps=400, rate=1.0):
    """w1 (63, 32), b1 (32,), w2 (32, 10), b2 (10,), float32: gradient descent with momentum on 2000 pictures."""
    rng = np.random.default_rng(seed)
    x, labels = pictures(rng, 2000)
    wish = np.eye(DIGITS)[labels]
    w = [rng.normal(0, 1 / np.sqrt(n), (n, m)) for n, m in ((ROWS * COLUMNS, HIDDEN), (HIDDEN, DIGITS))]
    w1, w2, b1, b2 = *w, np.zeros(HIDDEN), np.zeros(DIGITS)
    speed = [np.zeros_like(p) for p in (w1, b1, w2, b2)]
    for _ in range(steps):
        z, h, p = _forward(x, w1, b1, w2, b2)
        d_logits = (p - wish) / len(x)
        s = 1 / (1 + np.exp(-z))
        d_z = d_logits @ w2.T * (s * (1 + z * (1 - s)))
        slopes = (x.T @ d_z, d_z.sum(axis=0), h.T @ d_logits, d_logits.sum(axis=0))
        for parameter, v, slope in zip((w1, b1, w2, b2), speed, slopes, strict=True):
            v *= 0.9
            v -= rate * slope
            parameter += v
    return tuple(p.astype(np.float32) for p in (w1, b1, w2, b2))
