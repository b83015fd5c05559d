"""11-attention: Attention, tile by tile."""

import numpy as np

from ...definition import Budget, Case, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import BLOCK, HEAD, NOTHING, ONLINE, TILE, TOLD_FIRST, attention, attention_arguments, names_over, running


def attention_case(name, queries, keys, large=1.0, below=False):
    blocks = -(-queries // BLOCK)
    where = "1 block" if blocks == 1 else f"{blocks} blocks"
    said = f"{name}: {queries} queries, {keys} keys, {where}"
    return Case(said, attention_arguments(queries, keys, large, below), grid=blocks, block=BLOCK)


def _whole(k):
    """Keys in full tiles."""
    return len(k) // TILE * TILE


def _of_attention(formula, least=1):
    """A suspect's formula of (q, k, v, scale), for at least so many keys."""
    return lambda q, k, v, scale, out: formula(q, k, v, scale) if len(k) >= least else NOTHING


def _stale(x):
    """With what the tile before left behind the last keys."""
    return np.concatenate((x, x[_whole(x) - TILE + len(x) % TILE : _whole(x)]))


def _filled(x):
    return np.concatenate((x, np.zeros((-len(x) % TILE, HEAD), np.float32)))


ATTENTION = KernelTask(
    id="11-attention",
    section=Section("11.3", "11_attention_gpu", "Rung 3: tiles in shared memory"),
    title="Attention, tile by tile",
    objective="Write attention with an online softmax, whose blocks load each key and value once, in tiles",
    points=4,
    minutes=30,
    spec=lambda q, k, v, scale, out: attention(q, k, v, scale),
    rtol=1e-4,
    atol=1e-4,
    cases=(
        attention_case("one block, one tile", 32, 16),
        attention_case("exact, several tiles", 32, 48),
        attention_case("ragged", 40, 37),
        attention_case("fewer keys than a tile", 7, 5),
        attention_case("large scores", 20, 32, 200.0),
        attention_case("scores far below 0", 20, 20, below=True),
    ),
    partial={
        "one block, one tile: 32 queries, 16 keys, 1 block": 1,
        "exact, several tiles: 32 queries, 48 keys, 1 block": 1,
    },
    writer=lambda index, case: divmod(index[0], BLOCK),
    suspects=(
        *(Suspect(_of_attention(formula), cause) for formula, cause in ONLINE),
        *(
            Suspect(
                _of_attention(lambda q, k, v, s, f=forgotten: running(q, k, v, s, *f, of_step=TILE), TILE + 1),
                "Within a tile all is right, and from tile to tile something is not corrected: when the next one has a "
                "larger score, both sum and result were counted from the old one.",
            )
            for forgotten in ((True, False), (False, True), (False, False))
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, k[: _whole(k)], v[: _whole(k)], s), TILE),
            "The last tile, which is not full, is missing: a division rounds down, or a loop ends too early.",
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, k[:TILE], v[:TILE], s), TILE + 1),
            "This is the first tile alone. Does the loop go on over all keys?",
        ),
        Suspect(
            _of_attention(
                lambda q, k, v, s: attention(q, k[(len(k) - 1) // TILE * TILE :], v[(len(k) - 1) // TILE * TILE :], s),
                TILE + 1,
            ),
            "This is the last tile alone. Largest score, sum and result go on from tile to tile: let them begin before "
            "the loop.",
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, _stale(k), _stale(v), s), TILE + 1),
            "The last tile is not full, and what the tile before left in its other places was used as keys, too. How "
            "many keys are there from `start` on?",
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, _filled(k), _filled(v), s)),
            "The last tile is not full, and its other places were filled with 0 and used. A score of 0 is a score like "
            "others: exp(0) is 1. Keys that do not exist must be left out.",
        ),
    ),
    tell_first=TOLD_FIRST,
    advice={
        "divergent-barrier": (
            "All threads of a block must reach the barrier, those without a query too: they load for the others. Keep "
            "cuda.syncthreads() out of every `if`, and out of every loop whose rounds differ."
        ),
        "barrier-after-exit": (
            "A thread that has come to its end does not reach the barrier. Does one without a query return early? It "
            "has keys to load for others: guard its query and its store in the place of the return. Or does the "
            "barrier stand in an `if`, and it passed by?"
        ),
        "uninitialised-shared": (
            "A place of a tile is read that nobody has filled. 16 keys of 4 numbers are 64 places, and the block has "
            "32 threads: each fills two of each tile. Is the last tile full? And is there a barrier between storing "
            "and reading?"
        ),
        "uninitialised-local": "A local array holds anything at first. Begin `result` with zeros, and fill `query` in "
        "every thread that uses it.",
        "out-of-bounds": (
            "Three lengths are in play: queries, keys, and the 16 keys of a tile. Compare this index with the length "
            "of its own array. The last block may have threads without a query, and the last tile fewer keys than 16."
        ),
        "not-finite": (
            "A number overflowed, or NaN came in. exp(score) overflows in float32 from 89 on: subtract the largest "
            "score so far. That begins below all scores, with -inf, and -inf - (-inf) is NaN: has it become a score "
            "before you subtract it from itself? And does `result` begin with zeros?"
        ),
        "wrong-value": (
            "Work out the first wrong query with two keys. After each key: the largest score so far; by what were sum "
            "and result multiplied; what was added to each?"
        ),
    },
    budget=Budget(
        points=1,
        text="at most 64 load requests to global memory (776 without tiles), and two barriers for each tile",
        require={"global_load_requests": 64, "barriers": 6},
        over=(
            "The result is right, but the warps ask global memory more often than they must. Each key and each value "
            "is loaded once for a block, and a query once for its thread. Which of them is loaded again in the loop "
            "over the keys of a tile?"
        ),
        causes=(
            (
                lambda rows: "barriers" in names_over(rows),
                "The result is right, but the block waits more often than it must: once when a tile is full, keys and "
                "values, and once when everybody has used it.",
            ),
        ),
        case=attention_case("exact", 64, 48),
    ),
    hints=(
        "For one query, key after key: what does it have to remember to give the result at the end? And who, of the "
        "block, needs the same key next?",
        "A loop over tiles: load 16 keys and values together, wait, let each thread go through the keys of the tile "
        "with its own query, wait. In the inner loop it is task 3, with an array `result` that gets the same "
        "correction as the sum.",
        "Loading: number the 64 places of a tile; a thread takes its own and the one 32 further on, as far as there "
        "are keys. Inner loop: over as many keys as the tile has; a score, the larger of two, a correction, a weight. "
        "Guard the store only.",
    ),
)
