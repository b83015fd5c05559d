"""What several tasks of chapter 02 use: items that go through a bounded buffer, and their judge."""

import threading

from ...checking import short
from ...definition import Slip
from ...events import Events

HIDDEN_JUDGE = {"points": 1, "minutes": 5, "hints": ("", "", ""), "cases": (), "stress": 0, "schedules": 120}


def through(Buffer, bound, producers, consumers, per_producer):
    """Producers put [producer, number]; the buffer is closed; consumers get until they are told that it is over."""
    buffer, events, taken = Buffer(bound), Events(), [[] for _ in range(consumers)]
    closing, early = False, 0

    def produce(k):
        for number in range(per_producer):
            buffer.put([k, number])
            events.enter("held")

    def consume(k):
        nonlocal early
        events.leave("held")  # before get: what it takes has left the buffer by the time that get returns
        while (item := buffer.get()) is not None:
            taken[k].append(item)
            events.leave("held")
        early += not closing

    takers = [threading.Thread(target=consume, args=(k,), name=f"taker {k}") for k in range(consumers)]
    makers = [threading.Thread(target=produce, args=(k,), name=f"maker {k}") for k in range(producers)]
    for thread in takers + makers:
        thread.start()
    for thread in makers:
        thread.join()
    closing = True
    buffer.close()
    for thread in takers:
        thread.join()
    return {"taken": taken, "held": events.counts().get("held", 0), "early": early}


def judge_through(arguments, result):
    bound, producers, _, per_producer = arguments
    every = sorted(item for taken in result["taken"] for item in taken)
    if result["early"]:
        return Slip(
            "early-end",
            "None from get only after close",
            "A getter was told that there was something, found nothing, and gave up: another thread had been faster. "
            "After `wait`, look again: `while`, not `if`.",
            "None from get, though the buffer was still open",
        )
    if result["held"] > bound:
        return Slip(
            "over-bound",
            f"at most {bound} items put and not yet asked for",
            "`put` must wait while `bound` items (or more) are in the buffer, and look again after each `wait`: "
            "`while`, not `if`. What it cannot add yet must not push another item out.",
            f"{result['held']} items",
        )
    if every != [[k, number] for k in range(producers) for number in range(per_producer)]:
        cause = (
            "An item is missing, or somebody got it twice. May a getter leave before the buffer is empty and closed? "
            "And does `close` leave in the buffer what is there?"
        )
        return Slip(
            "wrong-result",
            f"each of the {producers * per_producer} items exactly once",
            cause,
            f"[producer, number]: {short(every)}",
        )
    for taken in result["taken"]:
        for k in range(producers):
            numbers = [number for maker, number in taken if maker == k]
            if numbers != sorted(numbers):
                cause = "The item that came first must leave first: append on one side, popleft on the other."
                return Slip(
                    "order",
                    f"the items of producer {k} in the order in which it put them",
                    cause,
                    f"the numbers {numbers}",
                )
    return None


def passing(bound, producers, consumers, per_producer):
    return lambda rng: (bound, producers, consumers, per_producer)


BATCH_RAISED = (
    "A batch was raised as if loading had failed. A batch may be anything, an exception object too, so what it is does "
    "not tell whether loading failed: hand over with each thing which of the two it is, as in `(kind, thing)`."
)
