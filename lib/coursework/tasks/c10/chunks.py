"""10-chunks: A recurrence in two passes."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import NOTHING


def chunk_arguments(steps, chunks, low=-1.0, high=1.0, zeros=0):
    """make(rng) -> a, b (steps,), h0, chunks, out (steps,). `zeros`: every so many a[t] is 0."""

    def make(rng):
        a = rng.uniform(low, high, steps).astype(np.float32)
        if zeros:
            a[zeros - 1 :: zeros] = 0
        return a, random_values(rng, steps), float(rng.uniform(1, 2)), chunks, unwritten(steps)

    return make


def chunk_case(name, steps, chunks, **values):
    return Case(f"{name}: {steps} steps in {chunks} chunks", chunk_arguments(steps, chunks, **values))


def states(a, b, h, times=True):
    """h' = a h + b for all steps, float64."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    found = np.empty_like(b)
    for t in range(len(b)):
        found[t] = h = (a[t] * h if times else h) + b[t]
    return found


def _by_chunks(start):
    """A suspect: every chunk of ceil(steps / chunks) steps for itself, from start(h0, c, ends, products)."""

    def formula(a, b, h0, chunks, out):
        length = -(-len(a) // chunks)
        parts = [slice(begin, begin + length) for begin in range(0, len(a), length)]
        if len(parts) < 3:
            return NOTHING
        ends = [states(a[part], b[part], 0.0)[-1] for part in parts]
        products = [float(np.prod(a[part].astype(np.float64))) for part in parts]
        return np.concatenate([states(a[part], b[part], start(h0, c, ends, products)) for c, part in enumerate(parts)])

    return formula


def _left(h0, c, ends, products, of=lambda h, p, e: p * h + e, first=None):
    h = h0 if first is None else first
    for k in range(c):
        h = of(h, products[k], ends[k])
    return h


def _added(a, b, h0, chunks, out):
    """Each chunk from 0, and the state before it added to each of its numbers."""
    length = -(-len(a) // chunks)
    if -(-len(a) // length) < 2:
        return NOTHING
    right = states(a, b, h0)
    found = np.empty_like(right)
    for begin in range(0, len(a), length):
        part = slice(begin, begin + length)
        found[part] = states(a[part], b[part], 0.0) + (right[begin - 1] if begin else h0)
    return found


_LONG, _MANY = 960, 8
CHUNKS = ParallelTask(
    id="10-chunks",
    section=Section("10.3", "10_scan", "Chunks, walked through twice"),
    title="A recurrence in two passes",
    objective="Compute a linear recurrence with several threads, each of which takes a chunk and walks it twice",
    points=2,
    minutes=22,
    spec=lambda a, b, h0, chunks, out: states(a, b, h0),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        chunk_case("exact", 24, 4),
        chunk_case("ragged", 23, 4),
        chunk_case("zeros among a", 40, 5, low=0.9, high=1.0, zeros=9),
        chunk_case("more chunks than steps", 3, 8),
        chunk_case("one chunk", 7, 1),
        chunk_case("a long memory", 500, 7, low=0.98, high=1.0),
    ),
    suspects=(
        Suspect(
            _by_chunks(lambda h0, c, ends, products: 0.0),
            "Every chunk began with 0. It has to begin with the state that the chunk before it ends with.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: h0 if c == 0 else 0.0),
            "Every chunk but the first began with 0. It has to begin with the state that the chunk before it ends "
            "with.",
        ),
        Suspect(_by_chunks(lambda h0, c, ends, products: h0), "Every chunk began with h0. Only the first does."),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: ends[c - 1] if c else h0),
            "A chunk began with what the chunk before it makes of a state of 0. The state before that one is lost: it "
            "comes through, times the product of the chunk's a.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c, ends, products, lambda h, p, e: h + e)),
            "The states before the chunks were added up. The state before a chunk comes through it times the product "
            "of its a.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c, ends, products, first=0.0)),
            "h0 is missing: the first chunk begins with it.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c, ends, products, first=0.0) if c else h0),
            "h0 got lost behind the first chunk: the chain of states over the chunks begins with it, too.",
        ),
        Suspect(
            _by_chunks(lambda h0, c, ends, products: _left(h0, c + 1, ends, products)),
            "Each chunk began with the state at its own end. It begins with that of the chunk before.",
        ),
        Suspect(
            _added,
            "The state before a chunk was added to each of its numbers. It fades: at step t it is multiplied by the "
            "product of all a of the chunk up to t.",
        ),
        Suspect(lambda a, b, h0, chunks, out: states(a, b, h0, times=False), "a is missing: this is h + b[t]."),
        Suspect(
            lambda a, b, h0, chunks, out: states(np.append(np.float32(1), a[:-1]), b, h0),
            "a is taken one step too early: at step t the state is multiplied by a[t].",
        ),
    ),
    advice={
        "race": (
            "Two chunks use the same number at the same time. What a chunk keeps needs a place of its own, as in an "
            "array with an element for each chunk; its state is made inside the prange loop."
        ),
        "carried-scalar": (
            "A chunk cannot use the state that the chunk before it leaves behind: that one is not done. First pass: "
            "what does a chunk do to any state? Its product and its end from a state of 0 begin anew inside the prange "
            "loop."
        ),
        "some-unwritten": (
            "Some steps were never written. With 23 steps in 4 chunks a chunk has 6 steps, the last one 5: round up. "
            "With more chunks than steps some chunks are empty, and the others have a step each."
        ),
        "raised-IndexError": (
            "An index left its array. With 23 steps in 4 chunks of 6 the last one has 5, and with 3 steps in 8 chunks "
            "some are empty: let each chunk end at min(begin + length, steps)."
        ),
        "wrong-value": (
            "Work out two chunks of two steps. What is the state at the end of the first, with h0? What does the "
            "second one do to a state of 0, and to a state of 1? If only large a or zeros are wrong: is anything "
            "divided by a product?"
        ),
        "not-finite": "Is something divided by a product of a? One a is 0, and many small ones make 0. The product of "
        "a chunk is multiplied, never divided by.",
        "not-parallel": "Both walks through the steps belong into a prange loop over chunks. Only the few states "
        "between the chunks are computed one after the other.",
        "raised-ValueError": (
            "A name that is set before the prange loop changes inside it. Product, end and state of a chunk are its "
            "own: let them begin inside the loop, each time anew. A chunk cannot go on with the state that the one "
            "before leaves: that one is not done. What does a chunk do to any state?"
        ),
        "raised-ZeroDivisionError": "Is something divided by a product of a? One a is 0. Or is the length of a chunk "
        "computed from something else than steps and chunks?",
    },
    watch=Watch(starts=3),
    budget=Budget(
        points=2,
        text="a and b loaded at most twice, out stored once, no array inside that is as long as they are, and the work "
        "shared out evenly",
        require={"loads": 4 * _LONG + 16 * _MANY, "stores": _LONG + 8 * _MANY, "numpy_bytes": 4096, "imbalance": 1.5},
        over=(
            "The result is right, but more is loaded or stored than two walks need. The first walk keeps two numbers "
            "of a chunk, and stores nothing in out; the second one begins with the state before its chunk, and stores "
            "each step."
        ),
        causes=(
            (
                lambda rows: "imbalance" in {o.name for o in rows},
                "The result is right, but one thread does most of the work. Which loop do the threads share: is it the "
                "one over the chunks?",
            ),
            (
                lambda rows: any(o.name == "loads" and o.counted > 1.5 * o.limit for o in rows),
                "The result is right, but steps are walked through again and again. Does each chunk begin at the first "
                "step of all? The state before a chunk follows from two numbers of each chunk before it.",
            ),
            (
                lambda rows: {o.name for o in rows} == {"loads"},
                "The result is right, but a number is loaded more than twice. Is a[t] loaded once in a round of the "
                "first walk, into a name that is used twice?",
            ),
            (
                lambda rows: "numpy_bytes" in {o.name for o in rows},
                "The result is right, but an array as long as a is made on the way. Of each chunk two numbers are "
                "kept.",
            ),
        ),
        case=chunk_case("longer", _LONG, _MANY),
    ),
    hints=(
        "Two steps, h' = a1 h + b1 and h'' = a2 h' + b2. Put the first into the second: what stands with h, and what "
        "is left over? How many numbers do you have to keep of a chunk of a hundred steps?",
        "First walk, in parallel: the product of the chunk's a, and where it ends from a state of 0. Then a short loop "
        "over the chunks, one after the other: the state before each. Second walk, in parallel: the recurrence itself, "
        "from that state.",
        "Two arrays of `chunks` numbers from np.empty, a length that is rounded up, begin and end by min. An empty "
        "chunk has the product 1 and the end 0, so that it passes the state on as it is.",
    ),
)
