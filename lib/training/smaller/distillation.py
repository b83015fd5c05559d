"""A small network learns from a large one: not only which digit it is, but what else it looked like.

Hinton, Vinyals, Dean 2015, "Distilling the Knowledge in a Neural Network". Logits divided by a temperature T make
probabilities that show the small ones. The student's loss is part T^2 KL(teacher's, student's), both at T, and part
cross-entropy with the labels; T^2 keeps the gradients of the first as large as those of the second.
"""

import numpy as np

from .. import functional as F
from ..tensor import Tensor, no_grad, record


def targets(teacher, images, labels, batch_size=256):
    """(n, classes + 1) float32: the teacher's logits, in evaluation mode, and the label behind them. To be given to a
    Loader in place of labels. The teacher runs once, not in each epoch."""
    modes = [(module, module.training) for _, module in teacher.named_modules()]
    teacher.eval()
    try:
        with no_grad():
            starts = range(0, len(images), batch_size)
            logits = np.concatenate([teacher(Tensor(images[k : k + batch_size])).numpy() for k in starts])
    finally:
        for module, mode in modes:
            module.training = mode
    return np.column_stack([logits, labels]).astype(np.float32)


class Distillation:
    """The loss for `fit` with such targets. temperature: T > 0. soft: the teacher's part, 0 (labels alone) to 1."""

    def __init__(self, temperature=4.0, soft=0.9):
        if not temperature > 0 or not 0 <= soft <= 1:
            raise ValueError(f"temperature is {temperature}, soft {soft}; expected a number above 0, and 0 to 1.")
        self.temperature, self.soft = temperature, soft

    def __call__(self, logits, y):
        if y.ndim != 2 or y.shape[1] != logits.shape[1] + 1:
            raise ValueError(
                f"y has shape {y.shape} and the logits {logits.shape}; expected one column more: `targets`."
            )
        hard = F.cross_entropy(logits, y[:, -1].astype(np.int64))
        return hard * (1 - self.soft) + divergence(logits, y[:, :-1], self.temperature) * self.soft


def divergence(logits, teacher, temperature):
    """T^2 KL(softmax(teacher / T), softmax(logits / T)), the mean over the batch: a Tensor (). teacher: an array."""
    p, log_p = _softmax(teacher / temperature)
    q, log_q = _softmax(logits.data / temperature)
    value = temperature**2 * np.mean(np.sum(p * (log_p - log_q), axis=1))
    slope = ((q - p) * (temperature / len(p))).astype(logits.dtype)
    return record("divergence", np.asarray(value, logits.dtype), [logits], lambda grad, kept: [grad * kept], slope)


def _softmax(x):
    """(softmax, its logarithm) of rows, in float64."""
    x = x.astype(np.float64)
    x = x - x.max(axis=1, keepdims=True)
    log = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    return np.exp(log), log
