"""A numba function with `prange`: compared for several numbers of threads, and every access of its loop watched."""

import statistics
from dataclasses import dataclass, field

import numpy as np

from ..answer import AnswerFailed
from ..checking import arguments_of, attempt
from ..definition import Case, refuse_unknown
from ..outcome import Failed, Failure
from . import compiled
from .compiled import CompiledTask

THREADS = (1, 2, 4)  # of a compiled parallel loop, as far as numba has them
DRAWS = 8  # of numbers, on which a loop that is said to do nothing did nothing
ELEMENTS = range(100, 20_001)  # of a case that is watched again: fewer prove nothing, more take seconds
LEFT = (
    0.5  # of the numbers that a loop without iterations leaves right: more, and the rest of the program computes them
)
#: Of a loop's loads and stores, on the thread that has most: more is no sharing. (Half of a triangle's rows have 0.75.)
EVEN = 0.8
SCHEDULES = ("static", "cyclic", "dynamic", "guided")

# What a budget may name beside the counts of compiled.py: what `cpulab.watch` counts.
WATCHED = {
    "false_sharing": "cache lines with false sharing",
    "line_transfers": "moves of a cache line to another core",
    "cache_lines": "cache lines touched",
    "loads": "elements loaded",
    "stores": "elements stored",
    "allocations": "arrays made inside",
    "temporaries": "temporary arrays",
    "imbalance": "work on the longest path / mean work",
}
_RACE = (
    "Two iterations use the same element and one of them writes it. They run at the same time on different threads: "
    "give each iteration (or each thread) an element of its own, and combine afterwards."
)
_CARRIED = (
    "Iterations run at the same time and in any order, so one cannot use what the one before it left behind. Compute "
    "the value anew in each iteration, or make it a reduction: name += ..."
)
_UNSET = "np.empty makes an array that holds anything. np.zeros fills it with zeros, where a sum or a count begins."
_ALONE = (
    "Threads share the rounds of a loop `for ... in prange(...)`, in a function with `@njit(parallel=True)`. Which of "
    "your loops can be shared?"
)


@dataclass(frozen=True)
class Watch:
    """How `cpulab.watch` runs a ParallelTask. `case`: a small one; default: the first that is checked. `outside`: the
    share of the loads and stores that may stand outside its parallel loops; more is no parallel function. `starts`: how
    many parallel loops one call may run, where it is the outer loop that threads shall share. `larger`: cases that are
    run for one question only: is it parallel there, too? Whichever axis threads share, it should have many more
    elements than threads."""

    threads: int = 2
    schedule: str = "static"
    chunk: int | None = None
    case: Case | None = None
    outside: float = 0.3
    starts: int | None = None
    larger: tuple = ()


@dataclass(frozen=True, kw_only=True)
class ParallelTask(CompiledTask):
    """Right is: the compiled result for several numbers of threads, no race, nothing carried."""

    watch: Watch = field(default_factory=Watch)

    def __post_init__(self):
        super().__post_init__()
        refuse_unknown(self, "watch.schedule", [self.watch.schedule], SCHEDULES)

    def failures(self):
        return (*super().failures(), "race", "carried-scalar", "not-parallel", "unset")

    def counts(self):
        return compiled.COUNTS | WATCHED

    def examine(self, answer, cases, seed):
        """Compiles, watches, then compares: a race is told by its iterations, not by a number that came out by
        chance. That nothing is parallel is told last."""
        first_arguments = arguments_of(cases[0], seed, 0)
        _, after = attempt(self, cases[0], lambda: answer.compiled_call(first_arguments))
        self.inputs_unchanged(cases[0], first_arguments, after)
        case = self.watch.case or cases[0]
        seen = self._watched(answer, case, arguments_of(case, seed, 2000))
        watched = case, arguments_of(case, seed, 2000)
        alone, again = seen["alone"], self._started_again(seen["started"])
        for index, case in enumerate(cases):
            arguments = arguments_of(case, seed, index)
            for threads in _threads():
                result, after = attempt(self, case, lambda a=arguments, t=threads: answer.compiled_call(a, threads=t))
                self.compare(case, arguments, after, result, lambda a: answer.compiled_call(a)[1])
        self.compare(*watched, seen["after"], seen["result"])  # not another program than the one that was compiled
        alone = alone or self._alone(answer, cases, seed)
        if alone or again:
            headline = "one thread computes all of it, or nearly all" if alone else "the threads share another loop"
            facts, cause = (("it has", str(alone or again)),), self.advice.get("not-parallel", _ALONE)
            raise Failed(Failure("not-parallel", f"The result is right, but {headline}", facts, cause))
        said = (
            f"Compiled, with {' and '.join(map(str, _threads()))} threads.",
            "No two iterations touch the same element where one writes; nothing is carried from one to the next.",
        )
        return (*self.said(cases, seed), *said), "Cache lines and speed were not looked at."

    def _telling(self, cases, seed):
        """(elements, case) of those that are not small, and whose right result changes with the numbers. The budget's
        is among them where it is larger than all that are compared: who is serial there is not parallel."""
        largest = 0
        for case in (*cases, *self.watch.larger, *([self.budget.case] if self.budget and self.budget.case else ())):
            first_draw, second_draw = (arguments_of(case, seed, 2000 + draw) for draw in range(2))
            size = sum(x.size for x in first_draw if isinstance(x, np.ndarray))
            if self.budget and case is self.budget.case and size < largest:
                continue
            largest = max(largest, size if case in self.cases else 0)
            if size >= ELEMENTS.start and not np.array_equal(
                self.spec(*first_draw), self.spec(*second_draw), equal_nan=True
            ):
                yield size, case

    def _alone(self, answer, cases, seed):
        """Why one thread computes all of a case, in words; "" where it does not. Who is parallel on one size need not
        be so on others; but in most cases the work is even, and in the largest that is watched: there no rest is left
        to excuse it."""
        shares = []
        for size, case in self._telling(cases, seed):
            why = ""
            try:
                if size in ELEMENTS:
                    seen = self._watched(answer, case, arguments_of(case, seed, 2000))
                    why = seen["alone"]
                    shares.append((seen["most"], size, case.name))
            except Failed as failed:
                if failed.failure.kind != "raised-TooLarge":
                    raise
            why = why or self._idle(answer, case, seed)
            if why:
                return f"{why}; the case: {case.name}"
        if not shares:
            return ""
        usual, largest = statistics.median_low(most for most, *_ in shares), max(shares, key=lambda share: share[1])
        said = f"one of {self.watch.threads} threads has at least"
        if usual > EVEN:
            return f"in most cases {said} {usual:.0%} of the loop's loads and stores"
        if largest[0] > EVEN:
            return f"{said} {largest[0]:.0%} of the loop's loads and stores; the case: {largest[2]}"
        return ""

    def _idle(self, answer, case, seed):
        """That the loops do nothing that counts, or little, in words; "" where they do: compiled without their
        iterations, most is missing. On one draw of the numbers what stood there before may be right by chance: who is
        accused was so on DRAWS."""
        left = 1
        for draw in range(DRAWS):
            arguments, others = (arguments_of(case, seed, 2000 + index) for index in (draw, draw + 1))
            try:
                result, after = answer.compiled_call(arguments, idle=True)
            except AnswerFailed:
                return ""
            left = min(left, self._left(arguments, others, result if self.out == "result" else after[self.out]))
            if left <= LEFT:
                return ""
        said = "the result is the same" if left == 1 else f"{left:.0%} of the result is right all the same"
        return f"with no iteration of its loops over prange(...) {said}: what they compute is not used, or hardly"

    def _left(self, arguments, others, got):
        """The fraction of what was `got` that is right; of its elements only those that change with the numbers."""
        right = np.atleast_1d(self.spec(*arguments))
        changes = np.isfinite(right) & (right != self.spec(*others))
        if np.shape(np.atleast_1d(got)) != right.shape or not changes.any():
            return 0
        return np.isclose(got, right, self.rtol, self.atol)[changes].mean()

    def _started_again(self, times):
        most = self.watch.starts
        if most is None or times <= most:
            return ""
        return (
            f"{times} parallel loops were run, one after the other: the threads share the inner loop, and wait at each "
            "of its ends"
        )

    def cost(self, answer, case, arguments):
        names = set(self.budget.require)
        watched = sorted(names & WATCHED.keys())
        cost, where = {}, {}
        if watched:
            seen = self._watched(answer, case, arguments, watched)
            self.compare(case, arguments, seen["after"], seen["result"])
            cost, where = dict(seen["counts"]), {k: f" ({v})" for k, v in seen["examples"].items()}
        if names - WATCHED.keys():
            cost |= self.counted(answer, case, arguments, sorted(names - WATCHED.keys()))
        return cost, where

    def _watched(self, answer, case, arguments, wanted=()):
        """What answer.watch says; raises Failed for a race, or a value that is carried between iterations."""
        how = self.watch
        seen = attempt(
            self, case, lambda: answer.watch(arguments, how.threads, how.schedule, how.chunk, wanted, how.outside)
        )
        where = f"Case {case.name!r}, watched with {how.threads} threads:"
        if seen["carried"]:
            name = str(seen["carried"][0])
            facts = (("carried", f"{name} is used before the iteration has set it"),)
            raise Failed(
                Failure(
                    "carried-scalar",
                    f"{where} {name} comes from another iteration",
                    facts,
                    self.advice.get("carried-scalar", _CARRIED),
                )
            )
        if seen["unset"]:
            facts = (("it said", f"{seen['unset']}, and nobody has stored anything there"),)
            raise Failed(
                Failure("unset", f"{where} a number that nobody has set", facts, self.advice.get("unset", _UNSET))
            )
        if seen["races"]:
            race = seen["races"][0]
            facts = tuple((str(a), str(b)) for a, b in race)
            more = len(seen["races"]) - 1
            facts += (("more", f"{more} more pairs of expressions race"),) if more else ()
            raise Failed(Failure("race", f"{where} data race", facts, self.advice.get("race", _RACE)))
        return seen


@dataclass(frozen=True, kw_only=True)
class WatchedTask(ParallelTask):
    """The judge of programs that the course itself shows, in a fraction of a second: nothing is compiled. Where no two
    iterations meet and nothing is carried, every order gives what Python gives in one."""

    def examine(self, answer, cases, seed):
        from .. import limited

        for index, case in enumerate(cases):
            arguments = arguments_of(case, seed, index)
            self._watched(answer, case, arguments)
            after = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in arguments)
            with np.errstate(over="ignore"):
                result = limited.interpreted(answer.function)(*after)
            self.compare(case, arguments, after, result)
        return self.said(cases, seed), ""


def _threads():
    from numba import config

    return sorted({min(n, config.NUMBA_NUM_THREADS) for n in THREADS})
