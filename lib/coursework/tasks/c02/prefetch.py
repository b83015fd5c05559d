"""02-prefetch: A prefetcher that does not lose errors."""

import threading
import time

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...kinds.thread import ThreadTask
from .shared import BATCH_RAISED


def feed_batches(prefetch, batches, bound, bad):
    """Consume what `prefetch` loads. `load(k)` gives batches[k]; it raises OSError for k = bad. AN_ERROR among the
    batches stands for an exception object, which is a batch like any other."""
    events, home, at_home, got, error = Events(), threading.get_ident(), 0, [], None
    kept = OSError("this was a batch")

    def load(k):
        nonlocal at_home
        at_home += threading.get_ident() == home
        if k == bad:
            raise OSError(f"batch {k} cannot be read")
        events.enter("in_memory")
        return kept if batches[k] == AN_ERROR else batches[k]

    try:
        for batch in prefetch(range(len(batches)), load, bound):
            time.sleep(0)  # the consumer computes
            got.append(AN_ERROR if batch is kept else batch)
            events.leave("in_memory")
    except OSError as raised:
        error = str(raised)
    return Played({"got": got, "error": error, "at_home": at_home}, events.counts())


def judge_batches(arguments, result):
    batches, _, bad = arguments
    expected = list(batches) if bad is None else list(batches)[:bad]
    if result["at_home"]:
        return Slip(
            "no-thread",
            "load called in another thread than the consumer's",
            "The consumer's own thread called `load`, so nothing is loaded while it computes.",
            f"{result['at_home']} calls by the consumer's own thread",
        )
    if bad is not None and result["error"] is None:
        return Slip(
            "error-lost",
            f"OSError: batch {bad} cannot be read, raised where the batches are used",
            "The loader failed and the consumer never heard of it: it takes the data set for shorter than it is. Catch "
            "the error in the loader, hand it over like a batch, and raise it on the other side.",
            f"no error; the batches {short(result['got'])}",
        )
    if bad is None and result["error"] is not None:
        got = f"it was raised: OSError: {result['error']}"
        return Slip("batch-raised", f"the batches {expected}, in this order", BATCH_RAISED, got)
    if result["got"] != expected:
        more = len(result["got"]) - len(expected)
        cause = PREFETCH_SHORT if more < 0 else PREFETCH_LONG if more else PREFETCH_ORDER
        return Slip(
            "wrong-result", f"the batches {expected}, in this order", cause, f"the batches {short(result['got'])}"
        )
    return None


AN_ERROR = "an OSError object"

PREFETCH_ORDER = "The batches came in another order. One loader and one queue keep the order by themselves."
PREFETCH_LONG = (
    "There are more batches than items: something is handed over twice, or the sign of the end is yielded, too."
)
PREFETCH_SHORT = (
    "The consumer stopped too early. Does it look at something else than the queue (a flag, a list, `is_alive`)? "
    "Batches are missing. Two usual reasons: a batch was taken for the sign of the end (a batch may be None, 0 or "
    "empty: the sign must be an object of your own), or what was loaded before an error is thrown away."
)


def loading(n, bound, bad=None, odd=()):
    def make(rng):
        batches = [int(x) for x in rng.permutation(90)[:n]]
        batches[1 : 1 + len(odd)] = odd
        return batches, bound, bad

    return make


PREFETCH = ThreadTask(
    id="02-prefetch",
    section=Section("2.3", "02_queues", "When loading fails"),
    title="A prefetcher that does not lose errors",
    objective="Overlap loading with computing by a bounded queue; keep order, bound and errors",
    points=7,
    minutes=35,
    scenario=feed_batches,
    schedules=150,
    judge=judge_batches,
    cases=(
        Case("three batches, bound 1", loading(3, 1)),
        Case("no batch at all", loading(0, 2)),
        Case("batches that are None and 0", loading(4, 2, odd=(None, 0))),
        Case("a batch that is an exception object", loading(3, 1, odd=(AN_ERROR,))),
        Case("batch 2 of 4 cannot be read", loading(4, 1, bad=2)),
    ),
    partial={"three batches, bound 1": 1, "batch 2 of 4 cannot be read": 3},
    budget=Budget(
        points=2,
        text="at most bound + 2 loaded batches at a time: 4 for a bound of 2",
        require={"in_memory": 4},
        over=(
            "The result is right, but more batches are in memory than the bound allows. How many can your queue hold, "
            "and does `put` wait when it is full?"
        ),
        case=Case("7 batches, bound 2", loading(7, 2)),
    ),
    advice={
        "deadlock": (
            "The consumer waits for a batch that never comes. Was the thread started? How does the consumer learn that "
            "there are no more batches? And how, if the loader stopped with an error?"
        ),
        "deadlock-full": (
            "`put` waits for room, and nobody takes any more. Did the consumer leave early: a batch (None, 0) taken "
            "for the end, a timeout taken for the end, a join before the last get? Or does the consumer's own thread "
            "load (`run()`, or `target=work()`, in the place of `start()` and `target=work`)?"
        ),
        "raised-RuntimeError": (
            "Where the batches are used, the loader's own error must be raised, an OSError, not another one around it: "
            "`raise error`."
        ),
        "raised-OSError": "The error stayed in the loader's thread. Catch it there and hand it over through the queue.",
    },
    hints=(
        "Two things must reach the consumer besides batches. Which?",
        "Put pairs into the queue: `(kind, thing)`, with the kinds batch, end and error. The loader's loop stands in "
        "`try`; `except Exception as error` puts the error.",
        "The consumer gets `kind, thing` in a `while True`. `return`, `raise`, `yield`: which of them for which kind? "
        "And what must `queue.Queue` be told, so that `put` waits?",
    ),
)
