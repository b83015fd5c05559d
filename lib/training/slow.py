"""A training step that is slow for six ordinary reasons, and each reason mended: what chapter 15 profiles.

    step = Step()                         # all faults
    step = Step(mended=FAULTS[:2])        # the first two are mended
    loss = step()                         # one step on a batch, always the same one

The network reads 32 words and guesses the next: an embedding, two linear layers with a ReLU, cross-entropy, Adam.
Whatever is mended, the step computes the same, but for roundings: some faults compute in float64. Each part of a step
is a function with a name, as a profiler sees functions.
"""

import numpy as np
from numba import njit

import dlkernels

BATCH, STEPS, WORDS, WIDTH, HIDDEN = 256, 32, 2000, 16, 64
#: In the order in which a profile shows them.
FAULTS = ("compiled in each step", "a loop over samples", "np.add.at", "float64", "temporary arrays", "strided")


class Step:
    """One network with its state; a call is a step of training and returns the loss."""

    def __init__(self, mended=(), seed=0):
        unknown = set(mended) - set(FAULTS)
        if unknown:
            raise ValueError(f"mended has {sorted(unknown)}; expected some of {FAULTS}.")
        mended = set(mended)
        self.rectify = rectified if "compiled in each step" in mended else rectified_by_new_code
        self.loss = loss_of_batch if "a loop over samples" in mended else loss_by_sample
        self.scatter = scattered if "np.add.at" in mended else scattered_by_add_at
        self.update = adam_in_one_pass if "temporary arrays" in mended else adam_by_formulas
        dtype = np.float32 if "float64" in mended else np.float64  # of a weight times np.sqrt(...): NumPy keeps float64
        rng = np.random.default_rng(seed)
        shapes = (WORDS, WIDTH), (HIDDEN, STEPS * WIDTH), (HIDDEN,), (WORDS, HIDDEN), (WORDS,)
        self.weights = [(rng.standard_normal(s) / np.sqrt(s[-1])).astype(np.float32).astype(dtype) for s in shapes]
        if "strided" not in mended:  # the table as it comes from a file of (WIDTH, WORDS), transposed
            self.weights[0] = np.asfortranarray(self.weights[0])
        self.moments = [[np.zeros_like(w) for w in self.weights] for _ in range(2)]
        self.text = rng.integers(0, WORDS, (BATCH, STEPS + 1))
        self.count = 0

    def __call__(self):
        table, w1, b1, w2, b2 = self.weights
        words, answers = self.text[:, :STEPS], self.text[:, STEPS]
        x = looked_up(table, words)
        before = linear(x, w1, b1)
        hidden = self.rectify(before)
        scores = linear(hidden, w2, b2)
        loss, of_scores = self.loss(scores, answers)
        of_hidden, of_w2, of_b2 = linear_backward(of_scores, hidden, w2)
        of_before = np.where(before > 0, of_hidden, 0)
        of_x, of_w1, of_b1 = linear_backward(of_before, x, w1)
        of_table = self.scatter(of_x, words, table)
        self.count += 1
        grads = [of_table, of_w1, of_b1, of_w2, of_b2]
        self.update(self.weights, grads, self.moments, self.count)
        return float(loss)


def looked_up(table, words):
    """The rows of a table, one behind the other for each sample."""
    return table[words].reshape(len(words), -1)


def linear(x, weight, bias):
    return x @ weight.T + bias


def linear_backward(grad, x, weight):
    return grad @ weight, grad.T @ x, grad.sum(axis=0)


# ---- compiled in each step -------------------------------------------------------------------------------------------


def rectified_by_new_code(x):
    """ReLU by a function that is compiled anew, as it is a new one each time."""

    @njit
    def relu(x, out):
        for i in range(x.size):
            out.flat[i] = max(x.flat[i], 0)

    out = np.empty_like(x)
    relu(x, out)
    return out


def rectified(x):
    return np.maximum(x, 0)


# ---- a loop over samples ---------------------------------------------------------------------------------------------


def loss_by_sample(scores, answers):
    """The mean cross-entropy and its gradient, one sample after the other."""
    loss, grads = 0, []
    for row, answer in zip(scores, answers, strict=True):
        e = np.exp(row - row.max())
        p = e / e.sum()
        loss -= np.log(p[answer])
        p[answer] -= 1
        grads.append(p / len(scores))
    return loss / len(scores), np.array(grads)


def loss_of_batch(scores, answers):
    """The same by the kernels of the library, for all samples at once."""
    answers = np.ascontiguousarray(answers)
    grad = dlkernels.cross_entropy_backward(np.ones((), scores.dtype), scores, answers)
    return dlkernels.cross_entropy(scores, answers), grad


# ---- np.add.at -------------------------------------------------------------------------------------------------------


def scattered_by_add_at(grad, words, table):
    """The gradient of the table: the rows that a word was looked up for, added up."""
    found = np.zeros_like(table)
    np.add.at(found, words, grad.reshape(*words.shape, -1))
    return found


def scattered(grad, words, table):
    """The same by a kernel that sorts the words first."""
    grad = np.ascontiguousarray(grad).reshape(*words.shape, -1)
    return dlkernels.embedding_backward(grad, np.ascontiguousarray(words), table)


# ---- temporary arrays ------------------------------------------------------------------------------------------------


def adam_by_formulas(weights, grads, moments, step, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8):
    """Adam as it stands in the paper: an array for each operation."""
    for w, g, m, v in zip(weights, grads, *moments, strict=True):
        m[:] = b1 * m + (1 - b1) * g
        v[:] = b2 * v + (1 - b2) * g * g
        w -= lr * (m / (1 - b1**step)) / (np.sqrt(v / (1 - b2**step)) + eps)


def adam_in_one_pass(weights, grads, moments, step, lr=1e-3):
    """The same by a kernel that goes over all arrays once."""
    arrays = tuple(weights), tuple(grads), *map(tuple, moments)
    dlkernels.adam(*arrays, step, lr=lr, out=(arrays[0], *arrays[2:]))
