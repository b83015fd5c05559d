"""Answers to 13-breaks."""

import numpy as np
from answers import MASTER, edit, replace


def by_search(n, bits):
    """right"""
    x = [(k * 7919 % n) / n for k in range(n)]
    best, far = 0.0, 0.0
    for tenth in range(11, 80):
        m = tenth / 10
        whole = (m / (2**bits - 1)) ** 2 / 12
        cut = (1 / (2**bits - 1)) ** 2 / 12 + (m - 1) ** 2 / n
        if whole / cut > best:
            best, far = whole / cut, m
    x[3] = far
    return x


def several_outliers(n, bits):
    """right"""
    rng = np.random.default_rng(5)
    x = 3 * rng.uniform(0, 1, n)
    x[-1] = 3 * {2: 2.1, 3: 2.4}.get(bits, 3.5)
    return x


no_outlier = edit(
    MASTER, "wrong full: Who needs few of its codes", replace("x[0] = {2: 2.0, 3: 2.5}.get(bits, 4.0)", "x[0] = 1")
)
a_huge_one = edit(MASTER, "wrong too-far: counts 10,000", replace("{2: 2.0, 3: 2.5}.get(bits, 4.0)", "1e4"))
far_out = edit(
    MASTER, "wrong too-far: near enough not to be missed", replace("{2: 2.0, 3: 2.5}.get(bits, 4.0)", "60.0")
)
all_equal = edit(
    MASTER,
    "wrong no-error: Begin with many different numbers",
    replace("np.random.default_rng(0).uniform(0, 1, n)", "np.ones(n)"),
    replace("x[0] = {2: 2.0, 3: 2.5}.get(bits, 4.0)", "x[0] = 1.0"),
)
negative = edit(MASTER, "wrong range: none is below 0", replace("uniform(0, 1, n)", "standard_normal(n)"))
infinite = edit(MASTER, "wrong range: All numbers are finite", replace("{2: 2.0, 3: 2.5}.get(bits, 4.0)", "np.inf"))
too_few = edit(MASTER, "wrong count: numbers are asked for", replace("return x", "return x[1:]"))
always_the_same_size = edit(
    MASTER, "wrong count: numbers are asked for", replace("uniform(0, 1, n)", "uniform(0, 1, 1000)")
)
hardly_out = edit(
    MASTER, "wrong not-yet: Try each while the other is kept", replace("{2: 2.0, 3: 2.5}.get(bits, 4.0)", "1.3")
)
not_numbers = edit(MASTER, "wrong type: Return numbers", replace("return x", 'return ["many"] * n'))
