"""Answers to 13-frontier: many are edits of the master."""

import numpy as np
from answers import MASTER, edit, replace


def silu(z):
    return z / (1 + np.exp(-z))


def ends(w, bits, axis):
    """(scale, low) with the least square error of a few ranges, for all of w or along an axis."""
    best, kept = np.inf, None
    for part in np.linspace(0.3, 1, 15):
        low = np.float16(part * w.min(axis=axis, keepdims=True)).astype(float)
        scale = np.float16((part * w.max(axis=axis, keepdims=True) - low) / (2**bits - 1)).astype(float)
        scale = np.where(scale > 0, scale, 1)
        codes = np.clip(np.rint((w - low) / scale), 0, 2**bits - 1)
        error = ((codes * scale + low - w) ** 2).sum(axis=axis, keepdims=True)
        kept = (
            (scale, low)
            if kept is None
            else (np.where(error < best, scale, kept[0]), np.where(error < best, low, kept[1]))
        )
        best = np.minimum(error, best)
    return kept


def gptq(w, x, bits, axis):
    """Row after row: what a row's rounding spoils, the rows that are not rounded yet make good, on the inputs x."""
    w, (scale, low) = w.copy(), ends(w, bits, axis)
    second = x.T @ x / len(x)
    second += 0.01 * np.trace(second) / len(second) * np.eye(len(second))
    upper = np.linalg.cholesky(np.linalg.inv(second)).T
    codes = np.zeros(w.shape)
    for i in range(len(w)):
        here, off = (s[0] if s.shape[0] == 1 else s[i] for s in (scale, low))
        codes[i] = np.clip(np.rint((w[i] - off) / here), 0, 2**bits - 1)
        w[i + 1 :] -= np.outer(upper[i, i + 1 :], (w[i] - (codes[i] * here + off)) / upper[i, i])
    return codes, bits, scale, low


def coded(w, bits, axis=None):
    scale, low = ends(w, bits, axis)
    return np.clip(np.rint((w - low) / scale), 0, 2**bits - 1), bits, scale, low


def number(stored):
    codes, _, scale, low = stored
    return low + scale * codes


def with_compensation(w1, b1, w2, b2, x, labels):
    """right"""
    first = gptq(w1.astype(float), x.astype(float), 3, None)
    bias = coded(b1 + (x @ (w1 - number(first))).mean(axis=0), 4)
    wanted = silu(x @ w1 + b1) @ w2 + b2
    h = silu(x @ number(first) + number(bias))
    ones = np.c_[h, np.ones(len(h))]
    solved = np.linalg.solve(ones.T @ ones + 3 * np.eye(ones.shape[1]), ones.T @ wanted)
    second = gptq(solved[:-1], h, 4, None)
    return [first, bias, second, coded(solved[-1] + (h @ (solved[:-1] - number(second))).mean(axis=0), 4)]


def learns_with_its_rounding(w1, b1, w2, b2, x, labels, steps=240):
    """right"""
    teacher = np.exp(silu(x @ w1 + b1) @ w2 + b2)
    teacher /= teacher.sum(axis=1, keepdims=True)
    size = np.linalg.norm(w1, axis=0) * np.linalg.norm(w2, axis=1)
    kept = np.sort(np.argsort(-size)[:28])
    weights = [w.astype(float) for w in (w1[:, kept], b1[kept], w2[kept], b2)]
    bits = 2, 3, 3, 3
    grids = [ends(w, b, None) for w, b in zip(weights, bits, strict=True)]
    mean, square = [0 * w for w in weights], [0 * w for w in weights]

    def codes():
        return [
            np.clip(np.rint((w - low) / scale), 0, 2**b - 1)
            for w, b, (scale, low) in zip(weights, bits, grids, strict=True)
        ]

    for t in range(1, steps + 1):
        rounded = [low + scale * c for c, (scale, low) in zip(codes(), grids, strict=True)]
        v1, c1, v2, c2 = rounded if t > steps // 4 else weights
        z = x @ v1 + c1
        s = 1 / (1 + np.exp(-z))
        h = z * s
        e = np.exp(h @ v2 + c2)
        e = (e / e.sum(axis=1, keepdims=True) - teacher) / len(x)
        d = e @ v2.T * (s * (1 + z * (1 - s)))
        for i, g in enumerate((x.T @ d, d.sum(axis=0), h.T @ e, e.sum(axis=0))):
            mean[i] += 0.1 * (g - mean[i])
            square[i] += 0.01 * (g * g - square[i])
            step = mean[i] / (1 - 0.9**t) / (np.sqrt(square[i] / (1 - 0.99**t)) + 1e-8)
            weights[i] -= 0.03 * (1.01 - t / steps) * step
            scale, low = grids[i]
            weights[i] = np.clip(weights[i], low - scale / 2, low + scale * (2 ** bits[i] - 0.5))
    return [(c, b, *grid) for c, b, grid in zip(codes(), bits, grids, strict=True)]


def lists_and_a_narrower_range(w1, b1, w2, b2, x, labels):
    """right"""
    stored = []
    for w, bits in ((w1, 4), (b1, 6), (w2, 4), (b2, 6)):
        codes, _, scale, low = coded(w.astype(float), bits)
        stored.append([codes.astype(int).tolist(), bits, scale.item(), low.item()])
    return stored


def without_five_hidden_values(w1, b1, w2, b2, x, labels):
    """right"""
    kept = list(range(32))
    h, wanted = silu(x @ w1 + b1), silu(x @ w1 + b1) @ w2 + b2
    best = None
    for _ in range(5):
        tried = []
        for k in kept:
            rest = [j for j in kept if j != k]
            ones = np.c_[h[:, rest], np.ones(len(h))]
            solved = np.linalg.solve(ones.T @ ones + np.eye(len(rest) + 1), ones.T @ wanted)
            tried.append((np.square(ones @ solved - wanted).sum(), rest, solved))
        _, kept, best = min(tried, key=lambda each: each[0])
    return [coded(w1[:, kept].astype(float), 4), coded(b1[kept], 8), coded(best[:-1], 5), coded(best[-1], 8)]


no_low = edit(MASTER, "wrong low: It is the number of code 0", replace("bits, scale, low", "bits, scale, 0.0"))
two_bits = edit(
    MASTER,
    "wrong accuracy: With w1 as it was",
    replace("coded(w1, 4)", "coded(w1, 2)"),
    replace("coded(w2, 4)", "coded(w2, 8)"),
)
two_bits_at_the_end = edit(MASTER, "wrong accuracy: With w2 as it was", replace("coded(w2, 4)", "coded(w2, 2)"))
one_step_too_many = edit(
    MASTER,
    "wrong codes: 15 is the last one",
    replace("(2**bits - 1)", "2**bits", after="w.max() - low)"),
    replace("np.clip(codes, 0, 2**bits - 1)", "codes"),
)
with_a_sign = edit(
    MASTER,
    "wrong codes: subtract `low` first",
    replace("(w - float(low)) / float(scale)", "w / float(scale)"),
    replace("np.clip(codes, 0, 2**bits - 1)", "codes"),
    replace("bits, scale, low", "bits, scale, 0.0"),
)
not_rounded = edit(
    MASTER,
    "wrong codes: a whole number from 0 to 15",
    replace("np.rint((w - float(low)) / float(scale))", "(w - float(low)) / float(scale)"),
)
bits_as_float = edit(MASTER, "wrong bits: How many bits has each code of w1", replace("coded(w1, 4)", "coded(w1, 4.0)"))
bits_of_all = edit(
    MASTER,
    "wrong bits: How many bits has each code of w1",
    replace("2**bits - 1), bits, scale", "2**bits - 1), bits * w.size, scale"),
)
no_biases = edit(
    MASTER,
    "wrong type: one for each array",
    replace("[coded(w1, 4), coded(b1, 8), coded(w2, 4), coded(b2, 8)]", "[coded(w1, 4), coded(w2, 4)]"),
)
codes_alone = edit(
    MASTER,
    "wrong type: w1 has to be stored as four things",
    replace("np.clip(codes, 0, 2**bits - 1), bits, scale, low", "np.clip(codes, 0, 2**bits - 1)"),
)
a_dict = edit(
    MASTER,
    "wrong type: one for each array",
    replace("[coded(w1, 4), coded(b1, 8), coded(w2, 4), coded(b2, 8)]", '{"w1": coded(w1, 4), "b1": coded(b1, 8)}'),
)
transposed = edit(MASTER, "wrong shape: so does the order of the axes", replace("coded(w1, 4)", "coded(w1.T, 4)"))
left_out_of_w1_alone = edit(
    MASTER, "wrong shape: the same from w1, b1 and w2", replace("coded(w1, 4)", "coded(w1[:, :24], 4)")
)
half_of_it = edit(
    MASTER,
    "wrong pruned: Hidden values were left out",
    replace("coded(w1, 4), coded(b1, 8), coded(w2, 4)", "coded(w1[:, :16], 4), coded(b1[:16], 8), coded(w2[:16], 4)"),
)
a_scale_for_each_row = edit(
    MASTER,
    "wrong stretch: stretch to the shape of the codes of w1",
    replace("bits, scale, low", "bits, np.full(len(w), scale), low"),
)
a_tiny_scale = edit(
    MASTER,
    "wrong no-scale: The scale of w1 is 0 as float16",
    replace("bits, scale, low", "bits, float(scale) * 1e-9, low"),
)
a_huge_scale = edit(
    MASTER, "wrong not-finite: ends at 65,504", replace("bits, scale, low", "bits, float(scale) * 1e9, low")
)
turned_round = edit(MASTER, "wrong sign: They have the other sign", replace("bits, scale, low", "bits, -scale, -low"))
scale_of_w2 = edit(
    MASTER,
    "wrong accuracy: With w1 as it was",
    replace("coded(w1, 4)", "(coded(w1, 4)[0], 4, coded(w2, 4)[2], coded(w2, 4)[3])"),
)
eight_bits = edit(
    MASTER,
    "over budget over-budget: What do your scales take",
    replace("coded(w1, 4)", "coded(w1, 8)"),
    replace("coded(w2, 4)", "coded(w2, 8)"),
)


def a_scale_for_each_column(w1, b1, w2, b2, x, labels):
    """over budget over-budget: What do your scales take"""
    first, second = (coded(w.astype(float), 4, 0) for w in (w1, w2))
    return [first, coded(b1, 8), second, coded(b2, 8)]


def a_scale_for_each_weight(w1, b1, w2, b2, x, labels):
    """over budget over-budget: What do your scales take"""
    return [(np.ones(w.shape), 1, w, np.zeros(w.shape)) for w in (w1, b1, w2, b2)]


largest_as_scale = edit(
    MASTER, "wrong unused: the scale is too large", replace("(w.max() - low) / (2**bits - 1)", "w.max() - low")
)
