"""Answers to 14-tensor."""

import numpy as np
from answers import MASTER, edit, replace


def bias_of_one(rank, n, x, w1, w2, b2, grad, all_reduce):
    """right"""
    z = x @ w1.T
    h = np.where(z > 0, z, 0)
    part = h @ w2.T
    if rank == n - 1:
        part = part + b2
    back = np.where(z > 0, grad @ w2, 0)
    y = all_reduce(part)
    gx = all_reduce(back @ w1)
    return [y, gx, np.dot(back.T, x), np.dot(grad.T, h), np.ones(len(grad)) @ grad]


def in_loops(rank, n, x, w1, w2, b2, grad, all_reduce):
    """right"""
    rows, part = len(x), len(w1)
    y, gx, g1, g2 = np.zeros(grad.shape), np.zeros(x.shape), np.zeros(w1.shape), np.zeros(w2.shape)
    for r in range(rows):
        for k in range(part):
            h = max(0.0, float(np.dot(w1[k], x[r])))
            y[r] += h * w2[:, k]
            g2[:, k] += grad[r] * h
            if h > 0:
                back = np.dot(grad[r], w2[:, k])
                g1[k] += back * x[r]
                gx[r] += back * w1[k]
    return all_reduce(y) + b2, all_reduce(gx), g1, g2, grad.sum(axis=0)


bias_in_each = edit(
    MASTER, "wrong bias-n: it counts n times", replace("all_reduce(h @ w2.T) + b2", "all_reduce(h @ w2.T + b2)")
)
no_bias = edit(
    MASTER, "wrong no-bias: The bias is missing", replace("all_reduce(h @ w2.T) + b2", "all_reduce(h @ w2.T)")
)
y_alone = edit(MASTER, "wrong not-reduced: it has to be all-reduced", replace("all_reduce(h @ w2.T)", "h @ w2.T"))
y_twice = edit(
    MASTER,
    "wrong formula: it is the worker's part of y",
    replace("all_reduce(h @ w2.T) + b2", "all_reduce(all_reduce(h @ w2.T)) + b2"),
)
grad_x_alone = edit(
    MASTER, "wrong not-reduced: Each hidden feature adds to all of it", replace("all_reduce(back @ w1)", "back @ w1")
)
no_relu = edit(MASTER, "wrong no-relu: ReLU is missing", replace("np.maximum(x @ w1.T, 0)", "x @ w1.T"))
relu_of_the_sum = edit(
    MASTER,
    "wrong relu-late: on the hidden features",
    replace("np.maximum(x @ w1.T, 0)", "x @ w1.T"),
    replace("all_reduce(h @ w2.T) + b2", "np.maximum(all_reduce(h @ w2.T), 0) + b2"),
)
no_mask = edit(MASTER, "wrong no-mask: Where ReLU gave 0", replace("(grad @ w2) * (h > 0)", "grad @ w2"))
mask_by_value = edit(MASTER, "wrong formula: where they are above 0; times w1", replace("(h > 0)", "h"))
grad_w1_reduced = edit(
    MASTER, "wrong reduced: gradients of different weights", replace("back.T @ x", "all_reduce(back.T @ x)")
)
grad_w2_reduced = edit(
    MASTER, "wrong reduced: gradients of different weights", replace("grad.T @ h,", "all_reduce(grad.T @ h),")
)
grad_b2_reduced = edit(
    MASTER, "wrong reduced: adding up counts it n times", replace("grad.sum(axis=0)", "all_reduce(grad.sum(axis=0))")
)
a_mean_of_rows = edit(MASTER, "wrong mean: The sum over the rows", replace("grad.sum(axis=0)", "grad.mean(axis=0)"))
transposed = edit(MASTER, "wrong shape: grad_w1 has the shape", replace("back.T @ x", "x.T @ back"))
four_results = edit(MASTER, "wrong type: Each worker returns all five", replace(", grad.sum(axis=0)", ""))
only_worker_0 = edit(
    MASTER,
    "wrong deadlock: Does a call depend on the rank",
    replace("all_reduce(h @ w2.T) + b2", "(all_reduce(h @ w2.T) if rank == 0 else h @ w2.T) + b2"),
    replace("all_reduce(back @ w1)", "back @ w1"),
)
wrong_product = edit(MASTER, "wrong raised-ValueError: Do the shapes fit", replace("(grad @ w2)", "(grad @ w2.T)"))
mean_of_b2 = edit(
    MASTER,
    "over budget over-budget: more is sent than needed",
    replace("grad.sum(axis=0)", "all_reduce(grad.sum(axis=0)) / n"),
)
