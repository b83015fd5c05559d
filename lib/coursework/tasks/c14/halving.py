"""14-halving: Reduce-scatter in log2 n steps."""

import numpy as np

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...kinds.scenario import ScenarioTask
from .shared import COLLECTIVES, LONG, NOT_THERE, ROUNDED, addends, at_once, exchanges, not_shared, processes, whose


def play_halving(reduce_scatter, parts):
    n, events = len(parts), Events()
    ends, sent, times = exchanges(n), [0] * n, [0] * n
    programs, problem = processes(reduce_scatter, n)
    if problem:
        return Played(problem, events.counts())

    def work(rank):
        def exchange(partner, data):
            sent[rank] += np.size(data)
            times[rank] += 1
            return ends[rank](partner, data)

        return programs[rank](rank, n, parts[rank].copy(), exchange)

    found = at_once(n, work)
    events.add("numbers that a worker sends", max(sent))
    events.add("exchanges of a worker", max(times))
    return Played({"found": found, "sent": sent}, events.counts())


def judge_halving(arguments, result):
    if slip := not_shared(result, "exchange"):
        return slip
    (parts,), n = arguments, len(arguments[0])
    chunks = np.split(sum(parts), n)
    for rank, got in enumerate(result["found"]):
        right = chunks[rank]
        expected = f"worker {rank}: {_shown(right)}, chunk {rank} of the sum"
        if not isinstance(got, np.ndarray) or got.ndim != 1:
            return Slip("type", expected, "Each worker returns an array: its chunk of the sum.", short(got))
        if got.shape == right.shape and np.array_equal(got, right):
            continue
        return _wrong_chunk(rank, n, got, chunks, parts, expected)
    least = (n - 1) * len(chunks[0])
    if min(result["sent"]) < least:
        cause = (
            "Workers are processes: what one knows comes to another by `exchange` alone, not through a variable that "
            "both see."
        )
        return Slip("shared", f"at least {least} numbers sent by each worker", cause, f"{min(result['sent'])}")
    return None


def _wrong_chunk(rank, n, got, chunks, parts, expected):
    said, size = f"worker {rank}: {_shown(got)}", len(chunks[rank])
    index = next((k for k, chunk in enumerate(chunks) if np.array_equal(got, chunk)), None)
    if got.size == n * size and np.array_equal(got, np.concatenate(chunks)):
        return Slip("all", expected, f"This is the whole sum. Worker {rank} returns its own chunk of it.", said)
    if got.size != size:
        cause = f"There are {n} chunks of {size} numbers. Is what a worker keeps half as long after each exchange?"
        return Slip("length", expected, cause, said)
    if index is not None:
        cause = (
            f"This is chunk {index}, and right. Which half a worker keeps follows from its rank: of the two, the one "
            "with the larger rank keeps the upper half; the first partner is n / 2 away, the next n / 4."
        )
        return Slip("another-chunk", expected, cause, said)
    if np.allclose(n * got, chunks[rank]):
        return Slip(
            "mean", expected, "This is the mean. A reduce-scatter adds; who wants a mean divides afterwards.", said
        )
    if np.allclose(got, chunks[rank], rtol=1e-5):
        return Slip("rounded", expected, ROUNDED, said)
    own_part = np.split(parts[rank], n)[rank]
    if np.array_equal(got, own_part):
        return Slip("own", expected, "These are the worker's own numbers: what came was not added.", said)
    for k in range(n):
        brought = [np.split(part, n)[k] for part in parts]
        counts = addends(got[0], [part[0] for part in brought])
        if counts and np.array_equal(got, sum(c * part for c, part in zip(counts, brought, strict=True))):
            cause = (
                f"This is of chunk {k}: {whose(counts)}. Does what a worker sends hold all that it has added up so far?"
            )
            return Slip("missing", expected, cause, said)
    cause = (
        "No sum of what the workers have in one chunk is this. Are the half that is sent and the half that comes of "
        "the same places? What a worker keeps is what its partner sends."
    )
    return Slip("mixed", expected, cause, said)


def _shown(x):
    return np.array2string(x, threshold=8, max_line_width=200)


def brought(n, length, most=500):
    return lambda rng: ([rng.integers(-most, most, length).astype(float) for _ in range(n)],)


HALVING = ScenarioTask(
    id="14-halving",
    section=Section("14.2", COLLECTIVES, "Long and short arrays"),
    title="Reduce-scatter in few steps",
    objective="Write a reduce-scatter by recursive halving, and count its messages and bytes",
    points=3,
    minutes=20,
    scenario=play_halving,
    judge=judge_halving,
    cases=(
        Case("2 workers, 2 numbers", brought(2, 2)),
        Case("4 workers, 8 numbers", brought(4, 8)),
        Case("4 workers, 12 numbers", brought(4, 12)),
        Case("1 worker", brought(1, 3)),
        Case("2 workers, 6 numbers", brought(2, 6, LONG)),
    ),
    advice={
        "deadlock": "A worker waits for a partner that has named another one, or has ended. In each step the two must "
        "name each other: rank ^ distance is such a partner, rank + distance is not.",
        "raised-KeyError": NOT_THERE.format("exchange"),
        "raised-ValueError": "Do the lengths fit? What comes has the length of what the partner sent; it is added to "
        "the half that is kept. And a partner is another worker, 0 to n - 1.",
    },
    budget=Budget(
        points=1,
        text="log2 n exchanges, and (n - 1) / n of its numbers sent by each worker: for 8 workers and 16 numbers 3 and "
        "14",
        require={"numbers that a worker sends": 14, "exchanges of a worker": 3},
        over="The sums are right. What a worker still needs halves in each step, and so does what it sends: to the "
        "partner goes only the half that the partner keeps.",
        case=Case("8 workers, 16 numbers", brought(8, 16)),
        causes=(
            (
                lambda over: [measure.name for measure in over] == ["exchanges of a worker"],
                "The sums are right, and no number is sent in vain, but in many small messages. Let a partner add up "
                "for a whole half of the workers: then there are log2 n exchanges.",
            ),
        ),
    ),
    hints=(
        "Two workers, two chunks: what does worker 0 send, what does worker 1, and what do they add? Now four workers, "
        "as two pairs of pairs: who must talk to whom first, so that afterwards each pair needs one half only?",
        "Distances n / 2, n / 4, ... 1. The partner is rank ^ distance. Of the two, the one whose rank has that bit "
        "set keeps the upper half of what both still have, and the other one the lower.",
        "Keep an array that shrinks: cut it in two halves, exchange the one that the partner keeps, add what came to "
        "the other, and go on with that. After the last step it is the worker's chunk.",
    ),
)
