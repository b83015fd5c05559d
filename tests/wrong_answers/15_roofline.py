"""Answers to 15-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import numpy as np
from answers import MASTER, edit
from numba import njit

CLAIMS = {"flops": 4000, "moved": 20_000, "intensity": 0.2, "roof": "memory"}


@njit
def through_out(w, g, v, out):
    """right"""
    for i in range(w.size):
        out[1, i] = np.float32(0.9) * v[i]
        out[1, i] = out[1, i] + g[i]
    for i in range(w.size):
        out[0, i] = w[i] - np.float32(0.1) * out[1, i]


two_flops = edit(MASTER, "wrong flops: That is half of them", claims={"flops": 2000})
of_one_weight = edit(MASTER, "wrong flops: two multiplications, an addition and a subtraction", claims={"flops": 4})
numbers_not_bytes = edit(MASTER, "wrong moved: That is the number of elements", claims={"moved": 5000})
only_read = edit(MASTER, "wrong moved: Three numbers are read", claims={"moved": 12_000})
no_roof = edit(MASTER, 'wrong not-a-roof: "memory" or', claims={"roof": "bandwidth"})
no_number = edit(MASTER, "wrong not-a-number: a number above 0", claims={"moved": 0})
