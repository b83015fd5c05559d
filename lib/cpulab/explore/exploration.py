"""Run a threaded program under many schedules, and find the one that breaks it.

Systematic: all schedules with no preemption, then with one, two ... (Musuvathi and Qadeer 2007 bound the *context
switches* that are forced on a thread: most bugs need one or two). Between them random ones. A point is only
made where a thread touches what another thread touches too, which the first runs find out.
"""

import functools
import heapq
import itertools
import os
import random
import time
from pathlib import Path

from . import findings, policies
from .report import Report, Run
from .scheduler import Scheduler
from .substitution import Substitution
from .tracing import tracer

MAX_POINTS = 3000
MAX_TICKS = 150_000
SHORTER = 40  # runs spent on a simpler failure than one that was found by chance


def explore(
    scenario,
    expected=None,
    *,
    judge=None,
    seed=0,
    preemptions=2,
    schedules=400,
    seconds=10.0,
    keep_going=False,
    check_folders=(),
    given=(),
    ticks=MAX_TICKS,
):
    """Run `scenario()` under up to `schedules` schedules and report what goes wrong.

    scenario: a function without arguments that makes its objects, starts threads, joins them, and returns a result (or
    asserts something). `expected`: the right result; or `judge(result)` returns None, or a sentence that says what is
    wrong. Without both only deadlocks, exceptions and the like are found, and `report.results` tells whether results
    differ.
    preemptions: threads are interrupted at most that often in systematic schedules. seconds: of CPU time, a limit that
    ends the search early. keep_going: do not stop at the first failure (`report.results` then counts all).
    check_folders: code in these folders belongs to a check, not to the program; no message gives its line numbers, and
    no table its steps. given: (file, first line, last line) of programs in them whose steps are shown all the same.
    ticks: lines and accesses of one run, a limit that right programs do not reach.

    Returns a Report. The same arguments give the same report.
    """
    return Search(
        scenario, expected, judge, seed, preemptions, schedules, seconds, keep_going, check_folders, given, ticks
    ).run()


def replay(scenario, schedule=None, expected=None, *, judge=None):
    """Run `scenario()` once under a schedule of an earlier report (None: no thread is ever interrupted). Returns a
    Run."""
    choices, focus = (schedule.choices, schedule.focus) if schedule is not None else ({}, None)
    search = Search(scenario, expected, judge)
    search.focus = focus
    with Substitution(scenario, search.tracer()) as names:
        return search.once(policies.Follow(choices), names)


class Schedule:
    """What is needed to run the same again: the choices that were made, and where threads can be interrupted."""

    def __init__(self, choices, focus):
        self.choices, self.focus = dict(choices), focus

    def __repr__(self):
        return f"Schedule({self.choices})"


class Search:
    """One exploration."""

    def __init__(
        self,
        scenario,
        expected=None,
        judge=None,
        seed=0,
        preemptions=2,
        schedules=1,
        seconds=60.0,
        keep_going=False,
        check_folders=(),
        given=(),
        ticks=MAX_TICKS,
    ):
        if not callable(scenario):
            raise TypeError(f"scenario is {scenario!r}; expected a function that runs the threads and returns a result")
        self.scenario, self.judge = scenario, judge
        if judge is None and expected is not None:
            self.judge = lambda result: (
                None if _same(result, expected) else f"the result is {result!r}, not {expected!r}"
            )
        self.seed, self.preemptions, self.limit, self.seconds = seed, preemptions, schedules, seconds
        self.keep_going, self.focus = keep_going, None
        self.given, self.ticks = tuple(given), ticks
        self.check_folders = tuple(os.path.join(folder, "") for folder in check_folders)
        program = scenario.func if isinstance(scenario, functools.partial) else scenario
        code = getattr(getattr(program, "__func__", program), "__code__", None)
        self.own_files = {code.co_filename} if code else set()
        if code and any(code.co_filename.startswith(str(folder)) for folder in check_folders):
            self.own_files |= {str(file) for file in Path(code.co_filename).parent.glob("*.py")}  # a chapter's tasks
        self.length, self.complete, self.count, self.results = 10, False, 0, {}

    def tracer(self):
        return tracer(self.focus, self.own_files)

    def once(self, policy, names):
        """One run; returns a Run."""
        tracer = self.tracer()
        state = random.getstate()
        random.seed(self.seed)

        def program():
            names.renew()
            return self.scenario()

        try:
            outcome = Scheduler(policy, tracer, MAX_POINTS, self.ticks).run(program)
        finally:
            random.setstate(state)
        outcome.check_folders, outcome.given = self.check_folders, self.given
        self.count += 1
        return Run(outcome, findings.of(outcome, self.judge), Schedule(outcome.schedule, self.focus), tracer.shared())

    def run(self):
        begun, cpu = time.perf_counter(), time.process_time()
        self.until = cpu + self.seconds
        failed, noted, patience = None, None, SHORTER  # noted: a run with a warning, told where there is no error
        with Substitution(self.scenario, self.tracer()) as names:
            for run in self._runs(names):
                self._count_result(run)
                if run.findings and noted is None:
                    noted = run
                if run.errors and (failed is None or run.systematic > failed.systematic):
                    failed = run
                if failed is not None:
                    patience -= 1
                    simple = failed.systematic or failed.ending == "too-long"
                    if not self.keep_going and (simple or not patience):
                        break
                if self.count >= self.limit or time.process_time() > self.until:
                    break
            if failed is not None:
                failed = self._shortest(failed, names)
            else:
                self.last = run
        return Report(self, failed or noted or self.last, time.perf_counter() - begun)

    def _count_result(self, run):
        key = repr(run.result)[:200] if run.ending == "ended" else run.ending
        self.results[key] = self.results.get(key, 0) + 1

    def _runs(self, names):
        """Runs in the order of the search. Learns first where threads meet; more places later begin it anew."""
        known, warm = (
            set(),
            [policies.Follow(), policies.Lockstep(1), policies.Lockstep(2), policies.Coin(self.seed, 0.2)],
        )
        for policy in warm:
            run = self.once(policy, names)
            known |= run.shared
            yield run
        for _ in range(5):
            self.focus = frozenset(known)
            for run in self._with_focus(names):
                new = run.shared - known
                known |= new
                yield run
                if new:
                    break
            else:
                self.complete = True
                return

    def _with_focus(self, names):
        """Systematic and random runs in turns. Ends when all schedules within the bound were run."""
        number = itertools.count()
        queue = [(0, next(number), 0, {}, -1)]
        for steps in (1, 2, 3, 4):
            yield self.once(policies.Lockstep(steps), names)
        for turn in itertools.count():
            if turn % 3 == 2:
                yield self.once(self._random(turn), names)
                continue
            if not queue:
                return
            _, _, cost, choices, last = heapq.heappop(queue)
            run = self.once(policies.Follow(choices), names)
            run.systematic = True
            self.length = max(self.length, len(run.points))
            for child in self._children(run, cost, choices, last):
                weight = child[0] + 0.1 * len(child[1])
                heapq.heappush(queue, (weight, next(number), *child))
            yield run

    def _random(self, turn):
        seed = f"{self.seed}/{turn}"
        if turn % 2:
            return policies.Priorities(seed, self.length, 1 + turn // 3 % 4)
        return policies.Coin(seed, (0.1, 0.3, 0.5)[turn // 3 % 3])

    def _children(self, run, cost, choices, last):
        if run.ending == "too-long":
            return
        for index in range(last + 1, len(run.points)):
            point = run.points[index]
            for thread in (*point.options, *point.late):
                if thread == point.chosen:
                    continue
                price = cost + (0 if point.forced and thread in point.options else 1)
                if price <= self.preemptions:
                    yield price, {**choices, index: thread}, index

    def _shortest(self, failing, names):
        """The same failure with as few choices as possible: they are what a reader has to follow."""
        kind, self.focus = failing.errors[0].kind, failing.schedule.focus
        if failing.ending == "too-long":
            return failing  # its many choices are what it is about
        best, choices = failing, dict(failing.schedule.choices)
        changed, tries = True, 0
        while changed and tries < 150:
            changed = False
            for index in sorted(choices, reverse=True):
                fewer = {i: c for i, c in choices.items() if i != index}
                run = self.once(policies.Follow(fewer), names)
                tries += 1
                if run.errors and run.errors[0].kind == kind and len(run.schedule.choices) < len(best.schedule.choices):
                    best, choices, changed = run, dict(run.schedule.choices), True
                    break
                if tries >= 150:
                    break
        return best


def _same(result, expected):
    try:
        return bool(result == expected)
    except (ValueError, TypeError):  # arrays
        import numpy as np

        return bool(np.array_equal(result, expected))
