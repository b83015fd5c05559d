"""Answers to 12-own, in NumPy."""

import numpy as np
from answers import edit, replace


def softmax(y):
    e = np.exp(y - y.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def plainly(x, labels, w1, b1, w2, b2, rate):
    """right"""
    z = x @ w1 + b1
    h = np.maximum(z, 0)
    d = softmax(h @ w2 + b2)
    d[np.arange(len(x)), labels] -= 1
    d /= len(x)
    back = d @ w2.T * (z > 0)
    return w1 - rate * x.T @ back, b1 - rate * back.sum(axis=0), w2 - rate * h.T @ d, b2 - rate * d.sum(axis=0)


def biases_as_rows(x, labels, w1, b1, w2, b2, rate):
    """right"""
    ones = np.ones((len(x), 1), np.float32)
    x = np.hstack((x, ones))
    first, second = np.vstack((w1, b1)), np.vstack((w2, b2))
    h = np.hstack((np.maximum(x @ first, 0), ones))
    d = (softmax(h @ second) - np.eye(second.shape[1], dtype=np.float32)[labels]) * (rate / len(x))
    back = (d @ w2.T) * (h[:, :-1] > 0)
    first, second = first - x.T @ back, second - h.T @ d
    return [first[:-1], first[-1], second[:-1], second[-1]]


def row_by_row(x, labels, w1, b1, w2, b2, rate):
    """right"""
    new = [np.array(w, np.float64) for w in (w1, b1, w2, b2)]
    for row, label in zip(x, labels, strict=True):
        h = np.maximum(row @ w1 + b1, 0)
        d = softmax((h @ w2 + b2)[None])[0] - (np.arange(b2.size) == label)
        back = (w2 @ d) * (h > 0)
        for w, slope in zip(new, (np.outer(row, back), back, np.outer(h, d), d), strict=True):
            w -= rate / len(x) * slope
    return tuple(new)


not_divided = edit(plainly, "wrong step: The loss is a mean over the rows", replace("d /= len(x)\n", "\n"))
no_mask = edit(plainly, "wrong step: multiply by z > 0", replace(" * (z > 0)", ""))
probabilities = edit(
    plainly, "wrong step: one is taken off at each row's label", replace("d[np.arange(len(x)), labels] -= 1", "pass")
)
takes_off_columns = edit(
    plainly, "wrong step: at its own label", replace("d[np.arange(len(x)), labels] -= 1", "d[:, labels] -= 1")
)
new_w2_first = edit(
    plainly,
    "wrong step: as it was in the forward pass",
    replace("back = d @ w2.T * (z > 0)", "new_w2 = w2 - rate * h.T @ d\nback = d @ new_w2.T * (z > 0)"),
)
up_the_slope = edit(plainly, "wrong step: up the slope", replace("d /= len(x)", "d /= -len(x)"))
gradients = edit(
    plainly,
    "wrong step: These are the gradients",
    replace(
        "w1 - rate * x.T @ back, b1 - rate * back.sum(axis=0), w2 - rate * h.T @ d, b2 - rate * d.sum(axis=0)",
        "x.T @ back, back.sum(axis=0), h.T @ d, d.sum(axis=0)",
    ),
)
biases_stay = edit(
    plainly,
    "wrong step: b1 has not changed",
    replace("b1 - rate * back.sum(axis=0)", "b1"),
    replace("b2 - rate * d.sum(axis=0)", "b2"),
)
times_h = edit(plainly, "wrong step: The gradient was multiplied by h", replace("* (z > 0)", "* h"))
columns = edit(plainly, "wrong step: each row", replace("softmax(h @ w2 + b2)", "softmax((h @ w2 + b2).T).T"))
not_a_number = edit(
    plainly, "wrong not-finite: the largest of its row", replace("rate * h.T @ d", "rate * h.T @ d * np.nan")
)
means_of_means = edit(
    plainly,
    "wrong step: by the rows already",
    replace("back.sum(axis=0)", "back.mean(axis=0)"),
    replace("d.sum(axis=0)", "d.mean(axis=0)"),
)
forgets_the_rate = edit(plainly, "wrong step: without the rate", replace("d /= len(x)", "d /= len(x) * rate"))
no_relu = edit(plainly, "wrong step: ReLU is missing", replace("h = np.maximum(z, 0)", "h = z"))
z_for_h = edit(plainly, "wrong step: what went into the second layer", replace("h.T @ d", "z.T @ d"))
wrong_axis = edit(
    plainly,
    "wrong type: have the shapes of the old ones",
    replace("d.sum(axis=0)", "d.sum(axis=0, keepdims=True)", after="h.T @ d"),
)
does_not_fit = edit(plainly, "wrong raised-ValueError: Do the shapes fit?", replace("h.T @ d", "h @ d"))


def in_place(x, labels, w1, b1, w2, b2, rate):
    """wrong input-changed: Write into one of your own"""
    new = plainly(x, labels, w1, b1, w2, b2, rate)
    for old, w in zip((w1, b1, w2, b2), new, strict=True):
        old[:] = w
    return w1, b1, w2, b2


def lists(x, labels, w1, b1, w2, b2, rate):
    """wrong type: The new weights have the shapes"""
    return [w.tolist() for w in plainly(x, labels, w1, b1, w2, b2, rate)]


def one_array(x, labels, w1, b1, w2, b2, rate):
    """wrong type: Return (w1, b1, w2, b2)"""
    return plainly(x, labels, w1, b1, w2, b2, rate)[0]
