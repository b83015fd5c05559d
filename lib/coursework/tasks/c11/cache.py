"""11-cache: One query, and a cache of keys."""

import math

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.compiled import CompiledTask
from .shared import NOTHING, ONLINE, attention, far_below


def cache_arguments(heads, groups, capacity, length, width, rest=5.0, below=False):
    """make(rng) -> q (heads, width), keys and values (groups, capacity, width), length, scale, out (heads, width).
    rest: how large the numbers are that lie in the cache beyond its length. below: all scores far below 0 (width 4)."""

    def make(rng):
        q, keys, values = (
            random_values(rng, *shape, width) for shape in ((heads,), (groups, capacity), (groups, capacity))
        )
        if below:
            q, keys = far_below(rng, (heads,), (groups, capacity))
        keys[:, length:] *= np.float32(rest)
        values[:, length:] *= np.float32(rest)
        return q if below else 3 * q, keys, values, length, width**-0.5, unwritten(heads, width)

    return make


def cache_case(name, heads, groups, capacity, length, width, rest=5.0, below=False):
    said = f"{name}: heads {heads} of q and {groups} of the cache, {length} of {capacity} positions filled"
    return Case(said, cache_arguments(heads, groups, capacity, length, width, rest, below))


def decoded(q, keys, values, scale, begin=0, end=None, group=None, how=attention):
    """Attention of one query for each head to the positions from begin to end; `group(h, heads, groups)`: of head h."""
    group = group or (lambda h, heads, groups: h // (heads // groups))
    heads, groups = len(q), len(keys)
    rows = [
        how(q[h : h + 1], *(x[group(h, heads, groups), begin:end] for x in (keys, values)), scale) for h in range(heads)
    ]
    return np.concatenate(rows)


def _of_cache(begin=0, more=0, **mistake):
    """A suspect: positions from begin to length + more."""

    def formula(q, keys, values, length, scale, out):
        if length + more <= begin or length + more > keys.shape[1]:
            return NOTHING
        return decoded(q, keys, values, scale, begin, length + more, **mistake)

    return formula


DECODE = CompiledTask(
    id="11-cache",
    section=Section("11.5", "11_decoding", "One token at a time"),
    title="One query, and a cache of keys",
    objective="Write the attention of one new token to a cache, with heads that share keys and values",
    points=2,
    minutes=18,
    spec=lambda q, keys, values, length, scale, out: decoded(q, keys, values, scale, 0, length),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        cache_case("one head", 1, 1, 6, 6, 4),
        cache_case("a head of the cache for each", 3, 3, 10, 7, 5),
        cache_case("shared", 6, 2, 12, 9, 4),
        cache_case("one position", 4, 2, 8, 1, 3),
        cache_case("NaN beyond the length", 4, 1, 20, 13, 8, math.nan),
        cache_case("scores far below 0", 4, 2, 12, 10, 4, below=True),
    ),
    suspects=(
        Suspect(
            lambda q, keys, values, length, scale, out: (
                np.full(out.shape, np.nan) if np.isnan(values).any() else NOTHING
            ),
            "NaN came in from beyond `length`. A weight of 0 does not help: 0 * NaN is NaN. Do not load those "
            "positions.",
        ),
        Suspect(
            lambda q, keys, values, length, scale, out: (
                decoded(q, keys, values, scale) if length < keys.shape[1] else NOTHING
            ),
            "All of the cache was looked at. Only its first `length` positions are filled; the others hold anything.",
        ),
        Suspect(
            _of_cache(more=-1), "The newest position is missing: `length` counts it, so the last one is length - 1."
        ),
        Suspect(_of_cache(more=1), "One position too many: the last one that is filled is length - 1."),
        Suspect(_of_cache(begin=1), "The first position is missing. Does the loop begin at 0?"),
        Suspect(
            _of_cache(group=lambda h, heads, groups: h % groups),
            "Heads that share keys are neighbours: with 6 heads and 2 in the cache, heads 0 to 2 use the first, heads "
            "3 to 5 the second. This is head h with h % groups.",
        ),
        Suspect(
            _of_cache(group=lambda h, heads, groups: 0),
            "All heads used the first head of the cache. So many neighbours share one: the number of heads of q // "
            "that of the cache.",
        ),
        *(Suspect(_of_cache(how=formula), cause) for formula, cause in ONLINE),
        Suspect(
            lambda q, keys, values, length, scale, out: decoded(q, keys, values, scale * scale, 0, length),
            "Each score was multiplied by `scale` twice: once where it is compared, and again where its weight is "
            "made?",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. q and out have a row for each head; keys and values have fewer heads, each for "
            "several of q's: to which does head h belong?"
        ),
        "nothing-written": (
            "Nothing was stored, or NaN was stored again: out holds NaN before, and 0 * NaN is NaN. Does each row of "
            "out begin with 0, before it is corrected?"
        ),
        "not-finite": (
            "NaN or an infinity on the way. out holds NaN before, and 0 * NaN is NaN. Does each row of it begin with "
            "0? -inf - (-inf) is NaN: is the largest score a score before it is subtracted from itself? And is a "
            "position beyond `length` loaded?"
        ),
        "wrong-value": (
            "Work out the first wrong head with length = 2. Which head of the cache is its own? Which two scores come, "
            "and what are their weights? Do largest score and sum begin anew in each head?"
        ),
        "some-unwritten": "Does the loop go over all heads of q, and over all columns of out?",
        "raised-ZeroDivisionError": (
            "The sum of the weights is 0: was anything added to it? Does the largest score begin below all scores, "
            "with -inf? If it begins with 0, and all scores are far below, their exponentials are 0. And is `heads // "
            "groups` computed from q and keys?"
        ),
        "raised-ImportError": "Write the loops yourself: `@` and np.dot inside a numba function call a library.",
        "raised-TypingError": "numba has no einsum. Scalars and loops will do: a score is a sum of `width` products.",
    },
    budget=Budget(
        points=1,
        text="no array made inside, however long the cache is",
        require={"arrays": 0, "numpy_bytes": 4096},
        over=(
            "The result is right, but an array is made on the way, for scores or weights. With an online softmax no "
            "score has to be kept: the row of out is corrected when a larger score comes."
        ),
        case=cache_case("long", 4, 2, 80, 64, 8),
    ),
    hints=(
        "With 6 heads of q and 2 heads in the cache: which heads belong together? And which positions of the cache "
        "have been filled so far?",
        "A loop over heads, in it one over positions below `length`. It is the online softmax again: the result, "
        "out[h], is corrected together with the sum, and divided at the end.",
        "Head h uses head h // (heads // groups) of the cache. For each position: a score, the larger of it and the "
        "largest so far, one exponential that corrects and one that weighs; two loops over `width` for the score and "
        "for out[h].",
    ),
)
