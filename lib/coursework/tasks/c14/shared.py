"""What several tasks of chapter 14 use: workers as threads, what they send to each other, and who is in a wrong sum."""

import itertools
import queue
import threading

import numpy as np

from ...apart import Shared, copies
from ...definition import Slip

STEPS, COLLECTIVES, CUTTING, THOUSANDS = "14_workers", "14_collectives", "14_cutting", "14_ten_thousand"  # pages


def at_once(n, work):
    """[work(rank)] of n workers, a thread each."""
    found = [None] * n

    def worker(rank):
        found[rank] = work(rank)

    threads = [threading.Thread(target=worker, args=(rank,), name=f"worker {rank}") for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def processes(answer, n):
    """(the answer for each of n workers, with nothing in common; None), or (none, why it cannot be: the result of the
    run)."""
    try:
        return copies(answer, n), None
    except Shared as error:
        return [], {"shared": str(error)}


def not_shared(result, way):
    """The Slip of a result that says why there are no processes, or None. `way`: what carries numbers between them."""
    if "shared" not in result:
        return None
    cause = (
        f"Workers are processes: what one knows comes to another by `{way}` alone, not through a thing that all of "
        "them see."
    )
    return Slip("shared", "functions, and values that each worker can have of its own", cause, result["shared"])


def own_copy(x):
    """What another process would get: the numbers, not the array."""
    return np.array(x, dtype=float)


def links(n):
    """(send, receive) of each of n workers in a ring. `send(data)` goes to the next worker and returns when that one
    has received it, as MPI_Ssend does; `receive()` returns what the worker before has sent."""
    sent_to = [queue.Queue() for _ in range(n)]
    receipt_for = [queue.Queue() for _ in range(n)]

    def of(rank):
        def send(data):
            sent_to[(rank + 1) % n].put(own_copy(data))
            receipt_for[rank].get()

        def receive():
            data = sent_to[rank].get()
            receipt_for[rank - 1].put(None)
            return data

        return send, receive

    return [of(rank) for rank in range(n)]


def all_reduces(n):
    """all_reduce(data) of each of n workers: the sum of what all of them bring, added in the order of their ranks."""
    parts, barrier = [None] * n, threading.Barrier(n)

    def of(rank):
        def all_reduce(data):
            parts[rank] = own_copy(data)
            barrier.wait()
            brought = list(parts)
            barrier.wait()
            if len({part.shape for part in brought}) > 1:
                shapes = ", ".join(str(part.shape) for part in brought)
                raise ValueError(f"all_reduce adds arrays of one shape; workers 0 to {n - 1} came with {shapes}")
            return sum(brought[1:], brought[0].copy())

        return all_reduce

    return [of(rank) for rank in range(n)]


def exchanges(n):
    """exchange(partner, data) of each of n workers: returns the data of the partner's exchange with this worker."""
    sent_by = [[queue.Queue() for _ in range(n)] for _ in range(n)]  # [from][to]

    def of(rank):
        def exchange(partner, data):
            if type(partner) is bool or partner not in range(n) or partner == rank:
                raise ValueError(
                    f"worker {rank} cannot exchange with {partner}: partners are 0 to {n - 1}, and not itself"
                )
            sent_by[rank][int(partner)].put(own_copy(data))
            return sent_by[int(partner)][rank].get()

        return exchange

    return [of(rank) for rank in range(n)]


LONG = 2**40  # numbers up to there are whole in float64, and not in float32
ROUNDED = "Nearly right: digits were lost. All is float64 here, what is sent as well; a float32 has seven digits."


NOT_THERE = (
    "Who put this key in? Workers are processes: a dict outside of the function is another one in each of them, and "
    "what one worker knows comes to another by `{}` alone."
)


def addends(value, parts):
    """How often each of `parts` is in the sum `value`, or None where no such sum gives it: {0, 1, 2} times, whole
    numbers."""
    for counts in itertools.product(range(3), repeat=len(parts)):
        if value == sum(c * part for c, part in zip(counts, parts, strict=True)):
            return counts
    return None


def whose(counts):
    """(1, 2, 0) in words."""
    times = {0: "not at all", 1: "once", 2: "twice"}
    return ", ".join(f"worker {rank} {times[c]}" for rank, c in enumerate(counts))
