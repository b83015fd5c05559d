"""A tuner: it searches for the configuration of a program that is fastest on this machine, and keeps what it found.

    sizes = space()                                             which configurations there are
    trial = Timed(build, check)                                 right first, then timed
    found = search(sizes, trial, bayesian, budget=40)           found.best
    tuned(sizes, lambda: found, "product", arrays=(a, b))       kept for this machine, and these shapes

Its files, in reading order:

space.py        the search space and its constraints     strategies.py   what to try next
search.py       the loop, its budget                     timed.py        trials on a clock
kept.py         results by machine, shape and versions   model.py        cost models that prune
replay.py       strategies on a recorded exhaustive search
product.py      a CPU's product of matrices, its sizes left open; tiled.py: a GPU's
"""

from .kept import key, tuned
from .model import fitted, kept_of_best, pruned, roofline
from .replay import Replay
from .search import Failed, Found, Trial, search
from .space import Space
from .strategies import STRATEGIES, bayesian, by_model, exhaustive, hill_climb, random, successive_halving
from .timed import Timed

__all__ = [
    "STRATEGIES",
    "Failed",
    "Found",
    "Replay",
    "Space",
    "Timed",
    "Trial",
    "bayesian",
    "by_model",
    "exhaustive",
    "fitted",
    "hill_climb",
    "kept_of_best",
    "key",
    "pruned",
    "random",
    "roofline",
    "search",
    "successive_halving",
    "tuned",
]
