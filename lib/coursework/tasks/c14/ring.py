"""14-ring: A ring of workers adds up."""

import numpy as np

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...kinds.thread import ThreadTask
from .shared import COLLECTIVES, LONG, NOT_THERE, ROUNDED, addends, at_once, links, not_shared, processes, whose


def play_ring(all_reduce, parts):
    """Each of len(parts) workers calls `all_reduce` with its own part."""
    n, events, sent = len(parts), Events(), [0] * len(parts)
    ends = links(n)
    programs, problem = processes(all_reduce, n)
    if problem:
        return Played(problem, events.counts())

    def work(rank):
        send, receive = ends[rank]

        def counted(data):
            sent[rank] += np.size(data)
            send(data)

        return programs[rank](rank, n, parts[rank].copy(), counted, receive)

    found = at_once(n, work)
    events.add("numbers that a worker sends", max(sent))
    return Played({"found": found, "sent": sent}, events.counts())


def judge_ring(arguments, result):
    if slip := not_shared(result, "send"):
        return slip
    (parts,), found = arguments, result["found"]
    right, n = sum(parts), len(parts)
    for rank, got in enumerate(found):
        expected = f"worker {rank}: {_shown(right)}"
        if not isinstance(got, np.ndarray) or got.shape != right.shape:
            said = f"shape {got.shape}" if isinstance(got, np.ndarray) else short(got)
            return Slip("type", expected, f"Each worker returns an array of {right.size} numbers: the sum.", said)
        if np.allclose(got, right, rtol=1e-9, atol=1e-9):
            continue
        return _wrong_sum(rank, n, got, right, parts, expected)
    least = 2 * (n - 1) * right.size
    if sum(result["sent"]) < least:
        cause = (
            "Workers are processes: what one knows comes to another by `send` alone, not through a variable that both "
            "see."
        )
        return Slip("shared", f"at least {least} numbers sent by all workers together", cause, f"{sum(result['sent'])}")
    return None


def _wrong_sum(rank, n, got, right, parts, expected):
    said = f"worker {rank}: {_shown(got)}"
    if np.array_equal(got, parts[rank]):
        cause = "This is the worker's own part: nothing of the others has come into it, or what came was not kept."
        return Slip("own", expected, cause, said)
    bad = np.flatnonzero(got != right)
    if np.allclose(got, right / n):
        return Slip("mean", expected, "This is the mean. All-reduce adds; who wants a mean divides afterwards.", said)
    if np.allclose(got, right, rtol=1e-5):
        return Slip("rounded", expected, ROUNDED, said)
    index = int(bad[0])
    counts = addends(got[index], [part[index] for part in parts])
    if counts is None:
        cause = (
            f"No sum of what the workers brought to place {index} is this number. Was a chunk put, or added, at the "
            "place of another one? Which chunk arrives is known: the one that the left neighbour sends in this step."
        )
        return Slip("place", expected, cause, said)
    words = f"In place {index} is {whose(counts)}. "
    if max(counts) > 1:
        cause = (
            words
            + "A chunk that is complete is only copied, not added again; and what came is added to the worker's own "
            "numbers, not to a sum that holds them already."
        )
        return Slip("twice", expected, cause, said)
    if got.size % n and index >= n * (got.size // n):
        cause = (
            words
            + "The last numbers belong to no chunk if all chunks are equal: chunk k ends at len(x) * (k + 1) // n."
        )
        return Slip("some", expected, cause, said)
    if bad.size < got.size:
        cause = (
            words
            + "Other places are right. The first n - 1 steps complete one chunk in each worker; in n - 1 more it goes "
            "round."
        )
        return Slip("some", expected, cause, said)
    return Slip(
        "missing",
        expected,
        words + "In n - 1 steps, one for each other worker, a chunk is completed: that one is what a worker sends on.",
        said,
    )


def _shown(x):
    return np.array2string(x, threshold=8, max_line_width=200)


def brought(n, length, most=500):
    """make(rng) -> a list of n arrays of whole numbers, float64."""
    return lambda rng: ([rng.integers(-most, most, length).astype(float) for _ in range(n)],)


RING = ThreadTask(
    id="14-ring",
    section=Section("14.2", COLLECTIVES, "The ring"),
    title="A ring of workers adds up",
    objective="Write a ring all-reduce that sends the fewest numbers and cannot deadlock, whatever the order of the "
    "workers",
    points=4,
    minutes=30,
    scenario=play_ring,
    judge=judge_ring,
    schedules=4,  # messages alone connect the workers: the order of the threads changes nothing but who waits
    preemptions=0,
    stress=2,
    cases=(
        Case("2 workers, 4 numbers", brought(2, 4)),
        Case("3 workers, 6 numbers", brought(3, 6)),
        Case("4 workers, 10 numbers: chunks of 2 and 3", brought(4, 10)),
        Case("1 worker", brought(1, 3)),
        Case("3 workers, 2 numbers: an empty chunk", brought(3, 2, LONG)),
    ),
    advice={
        "deadlock": "`send` returns when the next worker has received. If all workers send first, none receives, and "
        "all wait for ever: some have to receive first. Does each worker send as often as the one after it receives? "
        "And with one worker there is no one to send to.",
        "raised-KeyError": NOT_THERE.format("send"),
        "raised-ValueError": "`send` takes an array or a slice of one, and nothing beside it: which chunk it is the "
        "receiver knows. Of arrays that are added the lengths have to fit: chunks have different lengths where n does "
        "not divide that of x.",
        "raised-TypeError": "`send(data)` takes the data alone, and goes to the next worker; `receive()` takes "
        "nothing, and returns an array.",
    },
    budget=Budget(
        points=1,
        text="each worker sends at most 2 (n - 1) / n of its numbers: 30 of 20, for 4 workers",
        require={"numbers that a worker sends": 30},
        over="The sum is right, but whole arrays go round. In each of 2 (n - 1) steps a worker need send only one of n "
        "chunks: those of the first n - 1 steps complete one chunk in each worker, the others pass complete chunks on.",
        case=Case("4 workers, 20 numbers", brought(4, 20)),
    ),
    hints=(
        "Which chunk does a worker send in the first step, and which in the next? It is the one that it has just "
        "received and added to. And who receives before it sends, so that a ring of waiting workers cannot close?",
        "n - 1 steps: send chunk rank - step, receive chunk rank - step - 1, add it to your own (all modulo n). Then "
        "worker rank holds the complete chunk rank + 1. In n - 1 more steps send it on, and copy what comes.",
        "Let worker 0 (or every worker of even rank) send first, and the others receive first: `came = receive()` "
        "before `send(...)`. What is sent must be what was there before the step: it is another chunk than the one "
        "that comes.",
    ),
)
