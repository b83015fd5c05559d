"""Answers to 08-network, in NumPy."""

import numpy as np


def layers(x, w1, b1, w2, b2):
    z = x @ w1 + b1
    return z / (1 + np.exp(-z)) @ w2 + b2


def a_list(x, w1, b1, w2, b2):
    """right"""
    return [int(k) for k in layers(x, w1, b1, w2, b2).argmax(axis=1)]


def no_hidden_bias(x, w1, b1, w2, b2):
    """wrong labels: the bias of the hidden layer is missing"""
    return layers(x, w1, 0 * b1, w2, b2).argmax(axis=1)


def no_last_bias(x, w1, b1, w2, b2):
    """wrong labels: the bias of the last layer is missing"""
    return layers(x, w1, b1, w2, 0 * b2).argmax(axis=1)


def no_bias(x, w1, b1, w2, b2):
    """wrong labels: both biases are missing"""
    return layers(x, w1, 0 * b1, w2, 0 * b2).argmax(axis=1)


def no_activation(x, w1, b1, w2, b2):
    """wrong labels: without SiLU"""
    return ((x @ w1 + b1) @ w2 + b2).argmax(axis=1)


def first_row_for_all(x, w1, b1, w2, b2):
    """wrong labels: every row got the answer of the first"""
    return np.full(len(x), layers(x, w1, b1, w2, b2).argmax(axis=1)[0])


def backwards(x, w1, b1, w2, b2):
    """wrong labels: opposite order"""
    return layers(x, w1, b1, w2, b2).argmax(axis=1)[::-1]


def smallest(x, w1, b1, w2, b2):
    """wrong labels: Follow one picture"""
    return layers(x, w1, b1, w2, b2).argmin(axis=1)


def probabilities(x, w1, b1, w2, b2):
    """wrong probabilities: Which is the largest in each row"""
    return layers(x, w1, b1, w2, b2)


def whole_matrix(x, w1, b1, w2, b2):
    """wrong type: one whole number for each row"""
    return np.array([layers(x, w1, b1, w2, b2).argmax()] * (len(x) + 1))


def floats(x, w1, b1, w2, b2):
    """wrong type: one whole number for each row"""
    return layers(x, w1, b1, w2, b2).argmax(axis=1).astype(float)


def not_numbers(x, w1, b1, w2, b2):
    """wrong type: one whole number for each row"""
    return [float("nan")] * len(x)


def ragged(x, w1, b1, w2, b2):
    """wrong type: one number for each row"""
    return [[1], [2, 3]]


def text(x, w1, b1, w2, b2):
    """wrong type: as an array or a list"""
    return "7" * len(x)


def nothing(x, w1, b1, w2, b2):
    """wrong type: as an array or a list"""


def scales_its_input(x, w1, b1, w2, b2):
    """wrong input-changed: The caller still needs its array"""
    said = layers(x, w1, b1, w2, b2).argmax(axis=1)
    x /= 2
    return said


def standardises_its_input(x, w1, b1, w2, b2):
    """wrong input-changed: argument 1, of shape (1, 63), as it was"""
    x -= x.mean(axis=1, keepdims=True)
    return layers(x, w1, b1, w2, b2).argmax(axis=1)


def spoils_a_bias(x, w1, b1, w2, b2):
    """wrong input-changed: argument 5, of shape (10,), as it was"""
    y = layers(x, w1, b1, w2, b2)
    b2[:] = 0
    return y.argmax(axis=1)


def flattens_its_input(x, w1, b1, w2, b2):
    """wrong input-changed: shape (63, 1)"""
    said = layers(x, w1, b1, w2, b2).argmax(axis=1)
    x.resize((63, len(x)), refcheck=False)
    return said


def wrong_shapes(x, w1, b1, w2, b2):
    """wrong raised-ValueError: Do the shapes fit"""
    return (w1 @ x).argmax(axis=1)
