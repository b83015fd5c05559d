"""02-shards, the second part of 02-prefetch: Several loaders that end when the consumer stops."""

import threading

from ...definition import Case, Section, Slip
from ...events import Events
from ...kinds.thread import ThreadTask
from .shared import BATCH_RAISED


def feed_shards(interleave, lengths, bound, bad, stop, odd=None):
    """Consume what `interleave` makes of shards of these lengths. Batch b of shard s is the number 10 s + b, so that
    the first one is 0; `bad`: [s, b] of the one that cannot be read; `stop`: so many batches are taken, then the
    consumer closes the generator; `odd`: the number of a batch in whose place an exception object is handed over, a
    batch like any other."""
    events, at_home, home, two_at_once, got, error = Events(), 0, threading.get_ident(), [], [], None
    before, kept = threading.active_count(), OSError("this was a batch")

    def shard(s):
        nonlocal at_home
        for b in range(lengths[s]):
            at_home += threading.get_ident() == home
            if [s, b] == bad:
                raise OSError(f"batch {b} of shard {s} cannot be read")
            events.enter("in_memory")
            yield kept if 10 * s + b == odd else 10 * s + b

    batches = interleave([shard(s) for s in range(len(lengths))], bound)
    try:
        while stop is None or len(got) < stop:
            batch = next(batches, None)
            if batch is None:
                break
            got.append(odd if batch is kept else batch)
            events.leave("in_memory")
        batches.close()
    except OSError as raised:
        error = str(raised)
    except ValueError as raised:  # "generator already executing"
        two_at_once.append(str(raised))
    left = threading.active_count() - before
    loaded = events.counts().get("in_memory", 0)
    return {
        "got": got,
        "error": error,
        "at_home": at_home,
        "left": left,
        "two_at_once": len(two_at_once),
        "loaded": loaded,
    }


def in_turns(lengths, bad=None):
    """The batches in the order asked for, up to the one that cannot be read."""
    order = [[s, b] for b in range(max(lengths, default=0)) for s in range(len(lengths)) if b < lengths[s]]
    return [10 * s + b for s, b in (order[: order.index(bad)] if bad else order)]


def judge_shards(arguments, result):
    lengths, bound, bad, stop, odd = arguments
    expected, most = in_turns(lengths, bad)[:stop], len(lengths) * (bound + 1) + 1
    if result["at_home"]:
        cause = "The consumer's own thread read a shard, so nothing is loaded while it computes."
        got = f"{result['at_home']} batches read by the consumer's own thread"
        return Slip("no-thread", "each shard read by a thread of its own", cause, got)
    if result["two_at_once"]:
        cause = "Two threads read one shard at the same time. A shard is a generator: one thread may be in it."
        return Slip("two-at-once", "one thread for each shard", cause, "ValueError: generator already executing")
    if odd is not None and result["error"] is not None:
        told = f"the batches {expected}, in this order; {odd} stands for the exception object"
        return Slip("batch-raised", told, BATCH_RAISED, f"it was raised: OSError: {result['error']}")
    if bad and stop is None and result["error"] is None:
        cause = "A shard failed, and the consumer never heard of it. Hand the error over in the place of the batch."
        return Slip(
            "error-lost",
            f"OSError: batch {bad[1]} of shard {bad[0]} cannot be read",
            cause,
            f"no error; {result['got']}",
        )
    if result["got"] != expected:
        told = f"the batches {expected}, in this order (10 s + b is batch b of shard s)"
        return Slip("wrong-result", told, SHARDS_ORDER, f"{result['got']}")
    if result["loaded"] > most:
        cause = (
            "More batches are loaded than the bound allows. What makes a loader wait when `bound` of its batches lie "
            "ready?"
        )
        told = (
            f"at most {most} loaded batches at a time: {bound} ready and one in hand for each shard, one with the "
            "consumer"
        )
        return Slip("over-bound", told, cause, f"{result['loaded']} at a time")
    if result["left"]:
        cause = (
            "Loaders are still there when the generator has ended: each keeps its file open and its batches in memory. "
            "Whoever waits in `put` is woken by somebody who takes; then it must learn that it is over, and `join` "
            "waits for its end."
        )
        return Slip("left-behind", "no loader left", cause, f"{result['left']} threads left")
    return None


SHARDS_ORDER = (
    "Shards take turns: one batch of each, in the order of the shards; a shard that has no more is left out. Which "
    "queue do you ask, whoever is faster? And how do you tell the end from a batch, which may be 0 or anything else?"
)


def sharded(*lengths, bound=1, bad=None, stop=None, odd=None):
    return lambda rng: (list(lengths), bound, bad, stop, odd)


SHARDS = ThreadTask(
    id="02-shards",
    section=Section("2.3", "02_queues", "Several loaders, in order, with an early stop"),
    title="Several loaders that end when the consumer stops",
    objective="Load from several sources at once, in a fixed order; end all loaders on an early stop or an error",
    after="02-prefetch",
    points=7,
    minutes=30,
    scenario=feed_shards,
    schedules=120,
    judge=judge_shards,
    cases=(
        Case("two shards of 2 batches", sharded(2, 2)),
        Case("shards of different lengths", sharded(1, 3, bound=2)),
        Case("one shard, the consumer stops after 1 of 5", sharded(5, stop=1)),
        Case("two shards, the consumer stops after 1 of 6", sharded(3, 3, stop=1)),
        Case("batch 0 of shard 1 cannot be read", sharded(4, 2, bad=[1, 0])),
        Case("batch 1 of shard 0 is an exception object", sharded(2, 1, odd=1)),
    ),
    partial={"two shards of 2 batches": 2, "two shards, the consumer stops after 1 of 6": 2},
    advice={
        "deadlock": "Somebody waits for ever. The consumer, for a batch that never comes: is each loader started, with "
        "its own shard and its own queue? Or, after an early stop, a loader in `put`, because nobody takes any more: "
        "make room before you wait for its end, and do it in a `finally`, as nothing else behind a `yield` runs then.",
        "raised-RuntimeError": "The shard's own error must come out where the batches are used: `raise error`.",
        "raised-OSError": "The error stayed in the loader's thread. Catch it there and hand it over through the queue.",
        "raised-TypeError": "The check takes batches with `next(...)`: `interleave` must be a generator, which has a "
        "`yield`. If a line of yours is named, what stands in it is of another type than you think.",
        "busy-waiting": "A thread asks again and again. After the sign to stop, one look into each queue is enough: "
        "how many batches can a loader still put?",
    },
    hints=(
        "Who keeps the order if each shard has a queue of its own? And what runs when a generator is closed?",
        "A thread and a bounded queue for each shard; the consumer asks the queues in turn. In `finally`: set an "
        "`Event`, which each loader looks at after each `put`; take what lies in the queues, so that nobody waits in "
        "`put`; then `join`.",
        "The queues that are not at their end stand in a `deque`: take the first, `get` from it, `yield`, append it "
        "again. After the Event is set, a loader puts one thing more at most: is there room for it, once the queue was "
        "emptied?",
    ),
)
