"""02-map: A parallel map in chunks."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...kinds.thread import ThreadTask


class Ticket:
    """What `submit` returns to the student: a future that notes when its result is asked for."""

    def __init__(self, future, asked):
        self.future, self.asked = future, asked

    def result(self, timeout=None):
        self.asked()
        return self.future.result(timeout)


def map_in_chunks(chunked_map, items, chunk, bad):
    """The student's map over `items` with a pool of two threads; the job that meets `bad` raises."""
    events, asked, late, home, at_home, empty = Events(), 0, 0, threading.get_ident(), 0, 0
    calls, sizes = {}, []  # of the function: by the job that a thread is at; by each job that ended

    def ask():
        nonlocal asked
        asked += 1

    def triple(x):
        nonlocal at_home
        at_home += threading.get_ident() == home
        calls[threading.get_ident()] = calls.get(threading.get_ident(), 0) + 1
        if x == bad:
            raise ValueError(f"{x} is bad")
        return 3 * x + 1

    with ThreadPoolExecutor(2) as pool:

        def run(job, arguments):
            nonlocal empty
            calls[threading.get_ident()] = 0
            result = job(*arguments)
            sizes.append(calls[threading.get_ident()])
            empty += sizes[-1] == 0
            return result

        def submit(job, *arguments):
            nonlocal late
            late += asked > 0
            events.add("jobs")
            return Ticket(pool.submit(run, job, arguments), ask)

        passed = list(items)
        try:
            result = list(chunked_map(submit, triple, passed, chunk))
            if any(isinstance(x, Ticket) for x in result):
                result = "futures"
        except ValueError as error:
            result = f"ValueError: {error}"
    counts = events.counts()
    seen = {"result": result, "late": late, "at_home": at_home, "empty": empty, "jobs": counts.get("jobs", 0)}
    seen["largest"] = max(sizes, default=0)
    seen["changed"] = passed != items
    return Played(seen, counts)


def judge_map(arguments, result):
    items, chunk, bad = arguments
    got, expected = result["result"], [3 * x + 1 for x in items]
    came = short(got)
    if result["changed"]:
        cause = "The caller still needs its list: take slices of it, and remove nothing."
        return Slip("input-changed", "items as they were", cause, "another list")
    if got == "futures":
        return Slip(
            "futures", str(expected), "These are the futures. `result()` of each gives what the job returned.", got
        )
    if bad is not None:
        if got != f"ValueError: {bad} is bad":
            return Slip(
                "error-lost",
                f"the error of the job: ValueError: {bad} is bad",
                "A job raised an error and nobody heard of it. `result()` of its future raises it again.",
                came,
            )
        return None
    if result["at_home"] and result["jobs"]:
        return Slip(
            "at-home",
            "`function` called by the threads of the pool",
            "The jobs ended at once, and the work was done afterwards, in your own thread. `map` and generators do "
            "nothing until somebody takes their results: let the job make a list.",
            f"{result['at_home']} calls by your own thread",
        )
    if not result["jobs"] and items:
        cause = "Nothing was handed over: the threads had no work."
        return Slip("no-jobs", "the work handed over with submit", cause, "no call of submit")
    if isinstance(got, list) and None in got:
        cause = "A result was used before its job had ended: ask each future for its `result()`, which waits."
        return Slip("too-early", str(expected), cause, came)
    if isinstance(got, list) and got != expected and sorted(map(str, got)) == sorted(map(str, expected)):
        return Slip(
            "order",
            str(expected),
            "The results are right, but in another order: who ends first must not come first. Keep the futures in the "
            "order of the items, and ask them in that order.",
            came,
        )
    if (
        isinstance(got, list)
        and all(isinstance(x, list) for x in got)
        and list(itertools.chain(*got)) == expected != got
    ):
        cause = "A list for each job stands in the result. Join them into one list."
        return Slip("nested", str(expected), cause, came)
    if isinstance(got, list) and 0 < len(got) < len(expected) and got == expected[: len(got)]:
        cause = "The last items are missing. The last chunk may be shorter than the others."
        return Slip("tail", str(expected), cause, came)
    if isinstance(got, list) and len(got) != len(expected):
        cause = (
            f"There are {len(got)} results for {len(expected)} items. A chunk is items[k : k + chunk], and the next "
            "one begins at k + chunk: does each item lie in exactly one?"
        )
        return Slip("slices", str(expected), cause, came)
    if got != expected:
        return Slip("wrong-result", str(expected), MAP_CAUSE, came)
    if result["empty"]:
        return Slip(
            "empty-job",
            f"{-(-len(items) // chunk)} jobs for {len(items)} items in chunks of {chunk}",
            "A job without any item was handed over. len // chunk + 1 is one too many where the division has no rest.",
            f"{result['jobs']} jobs",
        )
    if result["largest"] > chunk:
        return Slip(
            "large-job",
            f"at most {chunk} items in a job",
            "While one job does the work of several, the other threads have nothing to do. A job is one chunk.",
            f"a job with {result['largest']} items",
        )
    if result["late"]:
        return Slip(
            "one-after-another",
            "all jobs handed over before the first result is asked for",
            "A result was asked for before the next job was handed over, so the threads worked one after another. "
            "First submit everything, then collect.",
            f"{result['late']} of {result['jobs']} jobs handed over after the first `result()`",
        )
    return None


MAP_CAUSE = (
    "Some chunks are missing or there twice. A function that is made in a loop sees the loop's variable as it is when "
    "the job runs, not as it was when the job was handed over. Pass what the job needs as arguments of `submit`."
)


def mapping(n, chunk, bad=False):
    def make(rng):
        items = [int(x) for x in rng.permutation(50)[:n]]
        return items, chunk, items[n // 2] if bad else None

    return make


MAP = ThreadTask(
    id="02-map",
    section=Section("2.3", "02_queues", "A pool of threads"),
    title="A parallel map in chunks",
    objective="Hand over large parts to a pool, keep the order and the errors",
    points=3,
    minutes=15,
    scenario=map_in_chunks,
    schedules=120,
    judge=judge_map,
    cases=(
        Case("two chunks: 4 items in chunks of 2", mapping(4, 2)),
        Case("ragged: 5 items in chunks of 2", mapping(5, 2)),
        Case("one item fails: 4 items in chunks of 2", mapping(4, 2, bad=True)),
        Case("nothing to do: 0 items", mapping(0, 3)),
    ),
    budget=Budget(
        points=1,
        text="one job for each chunk: 3 jobs for 10 items in chunks of 4",
        require={"jobs": 3},
        over=(
            "The result is right, but the work was handed over in smaller pieces than asked for. Handing over costs "
            "more than a small job: one `submit` for a whole chunk. `chunk` is the number of items in a job, not the "
            "number of jobs."
        ),
        case=Case("10 items in chunks of 4", mapping(10, 4)),
    ),
    advice={
        "raised-AttributeError": (
            "What `submit` returns has `result()`, which waits until the job has ended. To ask again and again keeps a "
            "core busy."
        ),
        "raised-TimeoutError": "A job that is not ready yet is no error: `result()` without a timeout waits for it.",
        "raised-TypeError": (
            "Does a job get a whole part where one item is expected? `function` takes one item: the job must call it "
            "for each item of its part, and return a list."
        ),
    },
    hints=(
        "What is one job: one item, or a list of items? And what do you keep from each `submit`?",
        "A helper that works on a whole list of items. Submit it once for each slice `items[k : k + chunk]`, keep the "
        "futures in a list, and only then go through the list and ask for the results.",
        "`work(function, part)` returns a list. A part begins at every chunk-th place: what is the call of `submit` "
        "for the one that begins at k? And what makes one list of the lists that `f.result()` gives?",
    ),
)
