"""Optimisers in NumPy, float64: what all rungs are checked against.

sgd             gradient descent with momentum (Polyak 1964), after Nesterov (1983) or not, as torch.optim.SGD
adam, adamw     Adam (Kingma and Ba 2015, algorithm 1); weight decay beside the gradient (Loshchilov and Hutter 2019)
clip_grad_norm  all gradients by one factor, so that their norm is at most `max_norm` (Pascanu et al. 2013, algorithm 1)

Each takes arrays or tuples of arrays, as the public functions do, and returns what they return.
"""

import math

import numpy as np


def _each(function, *groups):
    """`function` of one array of each group, for all of them; its results by group."""
    if not isinstance(groups[0], tuple | list):
        return function(*(None if x is None else np.asarray(x, np.float64) for x in groups))
    lines = zip(*([None] * len(groups[0]) if x is None else x for x in groups), strict=True)
    return tuple(zip(*(_each(function, *one) for one in lines), strict=True))


def sgd(params, grads, momentum_buffers=None, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    def one(p, g, buffer):
        g = g + weight_decay * p if weight_decay else g
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        return p - lr * g, buffer

    moved, buffers = _each(one, params, grads, momentum_buffers if momentum else None)
    return moved, buffers if momentum else None


def adam(params, grads, exp_avgs, exp_avg_sqs, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return _adam(params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, 1.0, weight_decay)


def adamw(params, grads, exp_avgs, exp_avg_sqs, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    return _adam(params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, 1 - lr * weight_decay, 0.0)


def _adam(params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, eps, kept, decay):
    def one(p, g, m, v):
        g = g + decay * p if decay else g
        m = m + (1 - betas[0]) * (g - m)
        v = betas[1] * v + (1 - betas[1]) * g * g
        below = np.sqrt(v) / math.sqrt(1 - betas[1] ** step) + eps
        return kept * p - lr / (1 - betas[0] ** step) * m / below, m, v

    return _each(one, params, grads, exp_avgs, exp_avg_sqs)


def clip_grad_norm(grads, max_norm):
    several = isinstance(grads, tuple | list)
    arrays = [np.asarray(g, np.float64) for g in (grads if several else (grads,))]
    norm = np.sqrt(sum(np.square(g).sum() for g in arrays))
    clipped = tuple(g * np.minimum(1.0, max_norm / (norm + 1e-6)) for g in arrays)
    return np.asarray(norm), clipped if several else clipped[0]
