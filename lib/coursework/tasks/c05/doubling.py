"""Kernels that double a vector: the judge of tasks 05-fails and 05-verdicts."""

from dataclasses import replace

import numpy as np

from ...definition import Case, random_values, unwritten
from .shift import SHIFT


def _vector(n):
    return lambda rng: (random_values(rng, n), unwritten(n))


def a_launch(n, blocks, threads):
    """The case of a doubling that a student chose."""
    return Case(f"n = {n} in {blocks} block{'s' * (blocks > 1)} of {threads}", _vector(n), blocks, threads)


DOUBLE = replace(
    SHIFT, id="05-double", spec=lambda x, out: 2 * x.astype(np.float64), cases=(), suspects=(), advice={}, partial={}
)
