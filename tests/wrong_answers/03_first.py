"""Answers to 03-first."""

import math

import numpy as np
from answers import MASTER, edit, replace
from numba import njit, prange


@njit(parallel=True)
def with_hypot(x, y, out):
    """right"""
    for i in prange(len(out)):
        out[i] = math.hypot(x[i], y[i])


@njit(parallel=True)
def backwards(x, y, out):
    """right"""
    n = x.shape[0]
    for k in prange(n):
        i = n - 1 - k
        out[i] = (x[i] ** 2 + y[i] ** 2) ** 0.5


@njit
def on_one_thread(x, y, out):
    """wrong not-parallel: makes the loop parallel"""
    for i in range(x.size):
        out[i] = math.sqrt(x[i] * x[i] + y[i] * y[i])


@njit(parallel=True)
def subtracted(x, y, out):
    """wrong suspect: not subtracted"""
    for i in prange(x.size):
        out[i] = math.sqrt(abs(x[i] * x[i] - y[i] * y[i]))


eight_points = edit(MASTER, "wrong raised-IndexError: How many points are there", replace("x.size", "8"))
one_place = edit(MASTER, "wrong race: Which element belongs to round i", replace("out[i]", "out[0]"))


@njit(parallel=True)
def into_x(x, y, out):
    """wrong input-changed: may only be read"""
    for i in prange(x.size):
        x[i] = math.sqrt(x[i] * x[i] + y[i] * y[i])
        out[i] = x[i]


nothing = edit(MASTER, "wrong nothing-written: Nothing was written", replace("out[i] = math", "math"))


@njit(parallel=True)
def constant(x, y, out):
    """wrong wrong-value: Work out the first wrong element"""
    for i in prange(x.size):
        out[i] = math.sqrt(2.0) * (1 + 0 * np.sign(x[i])) + i
