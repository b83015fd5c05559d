"""Hidden cases of chapter 14: numbers of workers and lengths that no visible case has."""

import numpy as np

from ..definition import Case
from ..tasks.c14 import halving, ring
from ..tasks.c14.experts import tokens
from ..tasks.c14.reshard import asked
from ..tasks.c14.tensor import network

CASES = {
    "14-chunk": tuple(Case(f"{n} workers", lambda rng, n=n: (n,)) for n in (5, 6, 1)),
    "14-ring": (Case("5 workers, 7 numbers", ring.brought(5, 7)), Case("2 workers, no numbers", ring.brought(2, 0))),
    "14-halving": (
        Case("8 workers, 8 numbers", halving.brought(8, 8)),
        Case("1 worker, 1 number", halving.brought(1, 1)),
    ),
    "14-tensor": (Case("2 workers, one row", network(1, 1, 2, 1, 2)), Case("5 workers", network(3, 2, 10, 4, 5))),
    "14-experts": (
        Case("one slot each", tokens(9, 3, 1)),
        Case("all to the last expert", lambda rng: (np.full(7, 4), 5, 3)),
        Case("300 tokens, 7 experts", tokens(300, 7, 40, 0.8)),
    ),
    "14-reshard": (asked(1, 1, 1, 0), asked(7, 3, 3, 2), asked(1000, 7, 2, 1), asked(3, 8, 2, 1), asked(4, 2, 5, 4)),
}
