"""The larger one of two neighbours: the judge of tasks 06-races and 06-fails."""

from dataclasses import replace

import numpy as np

from ...definition import Case, random_values, unwritten
from .shared import THREADS, TOLD_FIRST
from .soa import SOA


def _pair_case(n, blocks):
    """Where blocks meet, the right one of two elements is the larger one: who forgets it is always wrong."""

    def make(rng):
        x = random_values(rng, n)
        for k in range(THREADS, n, THREADS):
            x[k - 1], x[k] = sorted(x[k - 1 : k + 1])
        return x, unwritten(n)

    return Case(f"n = {n} in {blocks} blocks of {THREADS}", make, blocks, THREADS)


PAIRS = replace(
    SOA,
    id="06-pairs",
    spec=lambda x, out: np.maximum(x, np.append(x[1:], x[-1:])).astype(np.float64),
    cases=(_pair_case(256, 5), _pair_case(200, 4), _pair_case(100, 3)),
    tell_first=TOLD_FIRST,
    writer=None,
    suspects=(),
    advice={},
    budget=None,
)
