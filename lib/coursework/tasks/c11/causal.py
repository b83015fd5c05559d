"""11-causal: Half of the tiles are never loaded."""

import numpy as np

from ...definition import Budget, Case, Section
from ...golf import Golf
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .attention import ATTENTION
from .shared import BLOCK, HEAD, ONLINE, TILE, TOLD_FIRST, attention, attention_arguments

_LONG = 96


def causal_case(name, n, large=1.0):
    blocks = -(-n // BLOCK)
    where = "1 block" if blocks == 1 else f"{blocks} blocks"
    said = f"{name}: {n} queries and keys, {where}"
    return Case(said, attention_arguments(n, n, large), grid=blocks, block=BLOCK)


def _seen(allowed, masked=-np.inf):
    """A suspect's formula: other keys are looked at than those up to the query's own place."""
    return lambda q, k, v, scale, out: attention(q, k, v, scale, allowed, masked)


def _masked_as_zero(q, k, v, scale, out):
    """Scores of 0 for the keys of the block that come after the query."""
    blocks = [slice(start, start + BLOCK) for start in range(0, len(q), BLOCK)]
    parts = [attention(q[b], k[: b.stop], v[: b.stop], scale, lambda i, j, b=b: j <= i + b.start, 0.0) for b in blocks]
    return np.concatenate(parts)


def needed_bytes(n, skip=True):
    """Of queries and results, and for each block of the keys and values of its tiles, each once: up to the last query
    of the block, or of all of them."""
    ends = [min(start + BLOCK, n) if skip else n for start in range(0, n, BLOCK)]
    return 4 * HEAD * (2 * n + 2 * sum(min(-(-end // TILE) * TILE, n) for end in ends))


CAUSAL = KernelTask(
    id="11-causal",
    section=Section("11.2", "11_attention", "The causal triangle"),
    title="Half of the tiles are never loaded",
    objective="Write causal attention that skips the tiles above the diagonal, without a thread that waits alone",
    points=2,
    minutes=22,
    spec=lambda q, k, v, scale, out: attention(q, k, v, scale, lambda i, j: j <= i),
    rtol=1e-4,
    atol=1e-4,
    cases=(
        causal_case("ragged", 41),
        causal_case("one block", 32),
        causal_case("fewer than a tile", 6),
        causal_case("large scores", 20, 200.0),
        causal_case("exact, two blocks", 64),
    ),
    writer=lambda index, case: divmod(index[0], BLOCK),
    suspects=(
        Suspect(_seen(lambda i, j: j >= 0), "Every query looks at every key. Query i may look at keys 0 to i only."),
        Suspect(_seen(lambda i, j: j < i), "Query i may look at key i, too: its own is left out."),
        Suspect(
            _seen(lambda i, j: (j < i) | ((i == 0) & (j == 0))), "Query i may look at key i, too: its own is left out."
        ),
        Suspect(_seen(lambda i, j: j <= i + 1), "Query i looks at key i + 1, which comes after it."),
        *(
            Suspect(_seen(mask), "The mask is turned round: query i looks at the keys after its own.")
            for mask in (lambda i, j: j >= i, lambda i, j: (j >= i) & (j < i // BLOCK * BLOCK + BLOCK))
        ),
        Suspect(
            _seen(lambda i, j: (j % TILE <= i) & (j < i // BLOCK * BLOCK + BLOCK)),
            "A key's place within its tile was compared with the query. Place r of a tile is key start + r: how many "
            "keys from `start` on may query i look at?",
        ),
        Suspect(
            _seen(lambda i, j: j <= i % BLOCK),
            "The thread's number within its block was taken for its query. In block 1, thread 0 has query 32.",
        ),
        Suspect(
            _seen(lambda i, j: j < i // TILE * TILE + TILE),
            "Each query looks at the whole of its own tile. In the tile on the diagonal each query has an end of its "
            "own.",
        ),
        Suspect(
            _seen(lambda i, j: j < i // BLOCK * BLOCK + BLOCK),
            "Each query looks at the keys of its whole block. In the tiles on the diagonal each query has an end of "
            "its own.",
        ),
        Suspect(
            _seen(lambda i, j: (j <= i) & (j < i // BLOCK * BLOCK + TILE)),
            "The loop over tiles ends with the first query of the block: the last one may look at keys of one tile "
            "more.",
        ),
        Suspect(
            _seen(lambda i, j: (j <= i) & ((j < i // TILE * TILE) | (i < TILE))),
            "The tile on the diagonal is missing: half of it may be looked at.",
        ),
        Suspect(
            _masked_as_zero,
            "A masked score became 0, and a score of 0 counts as exp(0). It must be -inf, or be left out.",
        ),
        Suspect(
            _seen(lambda i, j: j <= i, 0.0),
            "A masked score became 0, and a score of 0 counts as exp(0). It must be -inf, or be left out.",
        ),
        *(
            Suspect(
                lambda q, k, v, scale, out, f=formula: np.concatenate(
                    [f(q[i : i + 1], k[: i + 1], v[: i + 1], scale) for i in range(len(q))]
                ),
                cause,
            )
            for formula, cause in ONLINE
        ),
    ),
    tell_first=TOLD_FIRST,
    advice=ATTENTION.advice
    | {
        "divergent-barrier": (
            "All threads of a block must make the same rounds over tiles: a barrier waits for all. The end of that "
            "loop belongs to the block: the place of its last query. The end of a thread belongs into the inner loop."
        ),
        "barrier-after-exit": (
            "A thread has left the loop over tiles, or the kernel, and others wait for it at the barrier. The end of "
            "that loop belongs to the block: the place of its last query. The end of a thread belongs into the inner "
            "loop."
        ),
        "wrong-value": (
            "Is query 0 right? It sees one key, so out[0] is v[0]. Then the first wrong query: which keys does it look "
            "at, and which of them are after it? If only large scores go wrong: does the largest score begin below all "
            "scores, with -inf?"
        ),
    },
    budget=Budget(
        points=2,
        text=f"for {_LONG} queries and keys at most {needed_bytes(_LONG)} bytes used in global memory: no tile that "
        "lies above the diagonal of a block",
        require={"bytes_used": needed_bytes(_LONG)},
        over=(
            "The result is right, but more is loaded than a block needs. Its last query is 32 * blockIdx.x + 31: no "
            "tile beyond it. Is anything loaded twice: the query, once for each tile?"
        ),
        causes=(
            (
                lambda rows: any(o.counted == needed_bytes(_LONG, skip=False) for o in rows),
                "The result is right, but all tiles are loaded, also those that lie above the diagonal: keys that no "
                "query of the block may look at. Where can the loop over tiles end?",
            ),
        ),
        case=causal_case("exact", _LONG),
        golf=Golf(
            count="global_load_requests",
            best=36,
            require={"atomics": 0},
            lead="Each block loads the first tile, for 32 queries. How many queries can one load of a tile serve?",
        ),
    ),
    hints=(
        "For block 1, with queries 32 to 63: which tiles of 16 keys may nobody look at? Which tiles may all look at, "
        "and in which is it different from query to query?",
        "Two ends: the loop over tiles ends with the last query of the block, for all its threads alike, because of "
        "the barriers. The loop over the keys of a tile ends with the thread's own query.",
        "The kernel of task 10, with two ends changed. That of the tiles is the same for threads 0 and 31: what is the "
        "first key that thread 31 does not see, and is it a key at all? That of the keys in a tile is different for "
        "the two: how many keys from `start` on does thread t see?",
    ),
)
