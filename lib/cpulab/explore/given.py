"""Play a small program under one schedule that somebody chose step by step, and find the schedule that goes furthest.

    counter = Program('''
    value = 0

    def add(times):
        global value
        for k in range(times):
            seen = value
            value = seen + 1
    ''', A=("add", 2), B=("add", 2))
    counter.play("ABAB").state["value"]                      # 3: one update is lost
    counter.furthest(lambda played: -played.state["value"])  # (-2, the steps that do it, schedules tried, all of them?)

A **step** is what a thread does from one access to something shared (a global variable that is written, a lock) to just
before its next: here, a reading or a writing of `value`. The schedule names a thread for every step. `Lock` is there,
and `syncthreads()`, a barrier of all threads; nothing else of `threading` is.

A program that goes round for ever is played no further than the steps say (`to_the_end=False`). What counts are its
rounds:

    polite.play("ABABABAB", to_the_end=False).rounds[0].threads   # {"A", "B"}: after step 8 all is as after step 2
    polite.furthest_round(lambda r: len(r.threads))
"""

import copy
import functools
import linecache
import reprlib
import sys
import textwrap
import unicodedata
import zlib
from dataclasses import dataclass, field

from . import findings, locks, policies, rounds
from .report import Interleaving, Run, described
from .scheduler import BLOCKED, DONE, Scheduler, active
from .tracing import source, tracer

MAX_POINTS = 600  # decisions in one play
MAX_TICKS = 30_000
MAX_RUNS = 20_000  # of a search
_PLAIN = (int, float, str, bool, type(None), list, tuple)


def _spelt(name):
    """A name that nobody has, in few words; a letter of another alphabet may look like one of ours."""
    if isinstance(name, str) and len(name) == 1 and not name.isascii():
        return f"{name!a}, {unicodedata.name(name, 'a character without a name')}"
    return reprlib.repr(name)


@dataclass(frozen=True)
class Played:
    """What a schedule came to.

    ending: "ended" (all threads), "deadlock" (nobody can go on), "impossible" (`refused` says which step, and why),
    "too-long", or "stopped" after the given steps. steps: the names of the threads that made them, one for each. given:
    how many of them the schedule named; the others were played thread by thread. state: the program's plain global
    variables at the end. waiting: names of the threads that wait. rounds: of a program that was stopped, a rounds.Round
    for each state that came again; nearest: of one without, (number of steps, what differs) of the earlier state that
    is most like the last one.
    """

    ending: str
    steps: tuple
    given: int
    state: dict
    waiting: tuple
    refused: str = ""
    why: tuple = ()  # (label, text) of a deadlock, or of an error of the program
    rounds: tuple = ()
    nearest: tuple = ()
    table: Interleaving = field(default=None, compare=False)


class Program:
    """The source text of a program, and its threads: name -> (function, *arguments).

    The functions keep all that they share in global variables of plain types and in Locks, and the rest in their own
    plain variables: that is what `furthest` compares states by. It raises RuntimeError for a program that fails.
    """

    def __init__(self, text, **threads):
        self.text = textwrap.dedent(text).strip("\n") + "\n"
        self.threads = threads
        self.file = f"<program {zlib.crc32(repr((self.text, threads)).encode()):x}>"
        self.code = compile(self.text, self.file, "exec")
        self.kept = {}

    @functools.cached_property
    def focus(self):
        """The places where threads touch what another one writes: found out by running."""
        known = set()
        for policy in (*(_First(number) for number in range(1, len(self.threads) + 1)), _InTurns()):
            known |= self._run(policy, None).shared
        return frozenset(known)

    def play(self, steps, to_the_end=True):
        """Play `steps`, a string or list of the names of threads; what they leave is played thread by thread,
        `to_the_end`.

        Returns Played. Raises ValueError for a name that no thread has.
        """
        steps, names = list(steps), list(self.threads)
        for number, name in enumerate(steps, 1):
            if name not in names:
                raise ValueError(f"step {number} is {_spelt(name)}; the threads are called {', '.join(names)}")
        policy = _Given([names.index(name) + 1 for name in steps])
        if not to_the_end:
            policy.state = self._state
        run = self._run(policy, self.focus)
        return self._played(run, policy)

    def furthest(self, score, most_runs=MAX_RUNS):
        """(largest `score(played)`, the steps of the first that reaches it, schedules played, whether that was all).

        Tries every step in every state that can be reached; schedules that lead to the same state go on only once.
        """
        best, steps, count, waiting = None, (), 0, [((), None)]
        for run, policy in self._schedules(waiting, most_runs):
            count += 1
            if policy.known:
                continue
            played = self._played(run, policy)
            if played.ending not in ("ended", "deadlock") or run.outcome.errors:
                raise RuntimeError(f"the program came to {played.ending} {played.why}")
            reached = score(played)
            if best is None or reached > best:
                best, steps = reached, played.steps
        return best, steps, count, not waiting

    def furthest_round(self, score, most_runs=MAX_RUNS):
        """(largest `score(round)` of all rounds.Round, steps that end with one that reaches it, states found, all of
        them?).

        `score` must not fall when a round gets longer. (None, (), ...) for a program that comes back to no state.
        """
        follows, names, start, waiting = {}, list(self.threads), None, [((), None)]
        for run, policy in self._schedules(waiting, most_runs):
            if run.outcome.errors or run.ending == "too-long":
                raise RuntimeError(f"the program came to {run.ending} {run.outcome.errors}")
            start = start or policy.new[0]
            for state in policy.new:
                follows.setdefault(state, {})
            for state, number, after in policy.edges:
                follows[state][names[number - 1]] = after
        most, steps = rounds.best(follows, start, score)
        return most, steps, len(follows), not waiting

    def _schedules(self, waiting, most_runs):
        """(run, its policy) of every step in every state. `waiting`: the beginnings that are still to be tried, each
        with the state before its last step."""
        seen = set()
        for _ in range(most_runs):
            policy = _Search(*waiting.pop(), seen, self._state)
            run = self._run(policy, self.focus)
            if missed := run.shared - self.focus:
                lines = sorted({site.line for site in missed})
                raise RuntimeError(
                    f"lines {lines} are reached only in orders that `focus` does not try: let it try one"
                )
            waiting += policy.others
            yield run, policy
            if not waiting:
                return

    def _run(self, policy, focus):
        linecache.cache[self.file] = (len(self.text), None, self.text.splitlines(keepends=True), self.file)
        tracing = tracer(focus, {self.file})
        policy.program = self

        def main():
            run = active()
            barrier = locks.SyncThreads(len(self.threads))
            self.names = {"__name__": "program", "Lock": locks.Lock, "syncthreads": barrier}
            exec(self.code, self.names)
            tasks = [run.spawn(name) for name in self.threads]
            for task, (function, *arguments) in zip(tasks, self.threads.values(), strict=True):
                run.start(task, functools.partial(self.names[function], *arguments))
            run.wait(lambda: all(task.state is DONE for task in tasks), None, "waits for the threads")

        outcome = Scheduler(policy, tracing, MAX_POINTS, MAX_TICKS).run(main)
        run = Run(outcome, findings.of(outcome, None), None, tracing.shared())
        run.state = {k: v for k, v in self.names.items() if isinstance(v, _PLAIN) and not k.startswith("__")}
        return run

    def _played(self, run, policy):
        out, names = run.outcome, list(self.threads)
        steps = tuple(names[number - 1] for number in policy.made)
        waiting = tuple(t.name for t in out.tasks[1:] if t.last is BLOCKED)
        told = [f for f in run.findings if f.kind in ("deadlock", "exception")]
        why = tuple(
            fact for f in told for fact in (*f.facts, *((("why", f.cause),) if f.cause else ())) if fact[0] != "main"
        )
        ending, refused = "stopped" if out.ending == "refused" else out.ending, ""
        if policy.refused:
            ending, refused = "impossible", self._refusal(out, policy)
        elif out.errors:
            ending = "failed"
        circles = rounds.of_steps(steps, policy.states)
        nearest = rounds.nearest(policy.states, names) if ending == "stopped" and steps and not circles else ()
        forced = min(len(getattr(policy, "order", steps)), len(steps))
        return Played(
            ending, steps, forced, run.state, waiting, refused, why, circles, nearest, self._table(run, policy)
        )

    def _refusal(self, out, policy):
        """Why the thread of the next step could not make it."""
        task, number = out.tasks[policy.refused], len(policy.made) + 1
        if task.last is DONE:
            count = sum(made == policy.refused for made in policy.made)
            return f"step {number} is {task.name}, but {task.name} has ended: it has {count} step{'s' * (count != 1)}"
        holder = getattr(task.resource, "held_by", None)
        said = f"step {number} is {task.name}, but {task.name} {task.doing}"
        return said + (f", which {holder.name} holds since line {task.resource.held_since}" if holder else "")

    def _table(self, run, policy):
        """A row for each step: its number, thread, line, code, what happens. What follows an access on the way to the
        thread's next step belongs to it."""
        rows = {}
        for event in run.outcome.events:
            number = event.point - policy.opened
            if (
                event.task not in self.threads
                or number < 1
                or (event.site is not None and event.site not in self.focus)
            ):
                continue
            row = rows.setdefault(number, [event.task, event.line, source(event.file, event.line), []])
            row[-1].append(described(event))
        return Interleaving(
            [(n, task, line or "", code, "; ".join(said)) for n, (task, line, code, said) in rows.items()]
        )

    def _state(self):
        """The rounds.State in which the run stands."""
        run, frames = active(), sys._current_frames()
        values = {k: v for k, v in self.names.items() if isinstance(v, _PLAIN) and not k.startswith("__")}
        shared = [(name, repr(value)) for name, value in values.items()]
        for name, value in self.names.items():
            if isinstance(value, locks.Lock):
                shared.append((name, f"held by {value.held_by.name}" if value.held_by else "open"))
        threads, lines = [], []
        for task in run.tasks[1:]:
            frame, places, line = frames.get(task.ident) if task.state is not DONE else None, [], 0
            while frame is not None:
                if frame.f_code.co_filename == self.file:
                    local_values = sorted((k, repr(v)) for k, v in frame.f_locals.items() if isinstance(v, _PLAIN))
                    places.append((frame.f_code.co_name, frame.f_lasti, *local_values))
                    line = line or frame.f_lineno
                frame = frame.f_back
            stuck = task.state is BLOCKED
            threads.append((task.state, stuck and (task.doing, task.ready()), *places))
            lines.append(f"at line {line}" if line else "at its end")
        return rounds.State(tuple(shared), tuple(threads), copy.deepcopy(values), tuple(lines))


class _Opening(policies.Policy):
    """The main thread starts all others; each then goes to its first step. From there on `step` decides, every time.

    made: the numbers of the threads that made the steps. opened: decisions before the first.
    """

    every_step = True
    refused = None

    def __init__(self):
        self.begun, self.made, self.opened = set(), [], 0

    def choose(self, index, default, options, late):
        if 0 in options:  # the main thread: still starting the others, or they have ended
            self.opened += not self.made
            return 0
        for number in options:
            if number not in self.begun:
                self.begun.add(number)
                self.opened += 1
                return number
        number = self.step(default, options)
        if number is not None:
            self.made.append(number)
        return number

    def step(self, default, options):
        return default


class _First(_Opening):
    """One thread as long as it can; then the others."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def step(self, default, options):
        return self.number if self.number in options else default


class _InTurns(_Opening):
    """The threads take turns step by step."""

    def step(self, default, options):
        last = self.made[-1] if self.made else 0
        return min([n for n in options if n > last] or options)


class _Given(_Opening):
    """The steps of a given order; then the thread that ran goes on as long as it can.

    Where `state` is set, it stops after them, and `states` holds what that found before each step, and at the end.
    """

    state = None

    def __init__(self, order):
        super().__init__()
        self.order, self.states = order, []

    def step(self, default, options):
        if self.state:
            self.states.append(self.state())
        if len(self.made) >= len(self.order):
            return None if self.state else default if self.made else min(options)
        wish = self.order[len(self.made)]
        if wish not in options:
            self.refused = wish
            return None
        return wish


class _Search(_Given):
    """A given beginning; then the first thread that can, until a state comes that was seen.

    before: the state in which the last step of the beginning is made. others: (beginning, its `before`) to try next.
    new: the states that nobody saw before. edges: (state, thread, state after its step). known: the last state was seen
    before.
    """

    def __init__(self, order, before, seen, look):
        super().__init__(order)
        self.before, self.seen, self.look, self.known = before, seen, look, False
        self.new, self.edges, self.others = [], [], []

    def step(self, default, options):
        if len(self.made) < len(self.order):
            return super().step(default, options)
        state = self.look()
        if self.made:
            self.edges.append((self.before, self.made[-1], state))
        if state in self.seen:
            self.known = True
            return None
        self.seen.add(state)
        self.new.append(state)
        self.others += [((*self.made, option), state) for option in options[1:]]
        self.before = state
        return options[0]
