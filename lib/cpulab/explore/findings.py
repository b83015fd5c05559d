"""What is wrong with a run, in words: from its RunOutcome to Findings."""

from collections import Counter
from dataclasses import dataclass, replace

from . import locks, queues, workers
from .scheduler import BLOCKED, DONE, Abandoned, NotInARun
from .tracing import source

ERROR, WARNING = "error", "warning"
LOOKS = ("acquires", "releases")  # what a thread does to look at something under a lock
GIVES = ("acquires", "releases", "puts", "gets", "sets", "clears", "notifies")  # what others may notice
SPINS = 1  # turns that had to be forced on a thread that only looked: busy waiting


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `facts` are (label, text) pairs; `cause` says why, or what to do."""

    kind: str
    headline: str
    facts: tuple = ()
    cause: str = ""
    severity: str = ERROR
    name: str = ""  # of the exception; "own lock": of a deadlock of a thread with itself
    often: bool = False  # `cause` is what is often the reason, not what was seen
    until: str = ""  # the words of the event with which it was wrong; "": at the end
    waits: tuple = ()  # of a deadlock: (thread, what it waits for, the thread that has it or "")

    def __str__(self):
        lines = [f"{self.kind}: {self.headline}"]
        lines += [f"  {label:<10} {text}" for label, text in self.facts]
        lines += [f"  {'why':<10} {self.cause}"] if self.cause else []
        return "\n".join(lines)


def of(outcome, judge):
    """The findings of a run, the most telling first."""
    findings = [_exception(outcome, task, error) for task, error in outcome.errors]  # the rest may follow from it
    if outcome.ending == "deadlock":
        findings.append(_deadlock(outcome))
    elif outcome.ending == "too-long":
        findings.append(_too_long(outcome))
    elif outcome.ending == "stuck":
        findings.append(_stuck(outcome))
    if outcome.ending == "ended" and not outcome.errors:
        slip = judge(outcome.result) if judge else None
        if slip:
            findings.append(_wrong(outcome, slip))
        findings += [_held(lock) for lock in outcome.held]
    if outcome.ending == "ended":
        spinning = [name for name, n in outcome.spins.items() if n >= SPINS]
        findings += [_busy(outcome, name) for name in spinning]
        findings += [
            _polls(outcome, name, *position) for name, position in _polling(outcome).items() if name not in spinning
        ]
    return findings


def _at(outcome, file, line):
    if outcome.in_check(file):
        return ("in the check: " if outcome.is_checks_own(file, line) else "") + f"`{source(file, line)}`"
    return f"line {line}: `{source(file, line)}`"


def _position(outcome, task):
    return _at(outcome, getattr(task, "file", ""), task.line)


# nobody goes on ----------------------------------------------------------------------------------------------------


def _deadlock(outcome):
    stuck = [t for t in outcome.tasks if t.last != DONE and t.doing]
    facts = []
    for task in stuck:
        holder = getattr(task.resource, "held_by", None)
        said = task.doing
        if holder is not None:
            who = "which it holds itself" if holder is task else f"which {holder.name} holds"
            said += f", {who} since line {task.resource.held_since}"
            said += " and will not release: it has ended" if holder.last == DONE else ""
        taken = dict(getattr(task.resource, "takers", None) or ())  # the last line of each
        if taken and len(taken) == len(task.resource.takers):  # several parts of one thread: the cause tells
            said += f", which {_names([f'{taker.name} took in line {line}' for taker, line in taken.items()])}"
        checks = outcome.is_checks_own(getattr(task, "file", ""), task.line)
        facts.append((task.name, f"{said} ({'in the check' if checks else _position(outcome, task)})"))
    headline = f"nobody can go on: {_names([t.name for t in stuck])} {'wait' if len(stuck) > 1 else 'waits'}"
    alone = any(getattr(task.resource, "held_by", None) is task for task in stuck)
    cause, waits = _seen_why(stuck), tuple(map(_waits, stuck))
    often = "" if cause else _often_why([t for t in stuck if not outcome.is_checks_own(getattr(t, "file", ""), t.line)])
    name = "own lock" if alone else ""
    return Finding("deadlock", headline, tuple(facts), cause or often, name=name, often=bool(often), waits=waits)


def _names(names):
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _waits(task):
    """(thread, what it waits for, who has that or "")"""
    resource = task.resource
    if isinstance(resource, workers.Thread):
        return task.name, "its end", resource.label
    holder = getattr(resource, "held_by", None)
    return task.name, getattr(resource, "label", ""), holder.name if holder is not None else ""


def _seen_why(stuck):
    """Why nobody can go on, where what is held tells it."""
    ring = _ring(stuck)
    if len(ring) > 1:
        waits = ", ".join(f"{a.name} waits for {b.name}" for a, b in zip(ring, [*ring[1:], ring[0]], strict=True))
        semaphores = any(isinstance(task.resource, locks.Semaphore) for task in ring)
        return (
            f"{waits}: each holds what the one before it wants. If all threads take the "
            f"locks{' and semaphores' if semaphores else ''} in the same order, there is no such ring."
        )
    for task in stuck:
        resource = task.resource
        holder = getattr(resource, "held_by", None)
        if holder is task:
            return (
                f"{task.name} took {resource.label} before and has not released it. Is the release missing, or does "
                "one method that holds the lock call another that takes it? A Lock cannot be taken twice by the same "
                "thread; an RLock can."
            )
        ended = list(dict.fromkeys(t.name for t in _holders(resource) if t.last == DONE))
        if ended:
            return f"{_names(ended)} ended without releasing {resource.label}: `with` releases it on every way out."
    for task in stuck:
        takers = _holders(task.resource)
        if len(set(takers)) > 1 and all(t.resource is task.resource for t in takers):
            return (
                f"{_names(list(dict.fromkeys(t.name for t in takers)))} hold all of {task.resource.label} together, "
                "and each waits for more of it. Let one thread at a time take all that it needs (under a lock), or "
                "let it give back what it has got."
            )
    return ""


def _holders(resource):
    """The threads that hold a lock, or a part of a semaphore."""
    holder = getattr(resource, "held_by", None)
    return [holder] if holder is not None else [taker for taker, _ in getattr(resource, "takers", ())]


def _often_why(stuck):
    """Why threads often wait in vain for what these wait for."""
    for task in stuck:  # who holds a lock while it waits for something else
        for other in stuck:
            holder = getattr(other.resource, "held_by", None)
            if holder is task and other is not task and getattr(task.resource, "held_by", None) is None:
                label = other.resource.label
                return (
                    f"{task.name} {task.doing}, and meanwhile it holds {label}, for which {other.name} waits. If "
                    f"{other.name} is who should end that wait, neither can go on: release {label} before waiting."
                )
    for task in stuck:
        resource = task.resource
        if isinstance(resource, locks.Semaphore) and resource.first == resource.given == 0:
            return (
                f"{resource.label} began at 0, and nobody has released it yet. Who should do that waits, has ended, or "
                "never began."
            )
    for task in stuck:
        resource = task.resource
        if isinstance(resource, locks.Condition):
            return (
                "The notification came before the wait, or to the wrong thread, or never. Look at the state in a loop "
                "under the lock before waiting, and notify whenever the state changes."
            )
        if isinstance(resource, queues.Queue):
            if "room" in task.doing:
                return "The queue is full and nobody takes anything out any more."
            if "tasks" in task.doing:
                return "Every get must be followed by one task_done."
            if not resource.came:
                return (
                    f"Nobody has put anything into {resource.label} yet. Who should do that waits, has ended, or never "
                    "began."
                )
            return "Nobody puts anything in any more. Each consumer needs a sign that the work is over."
        if isinstance(resource, locks.Event):
            return "Nobody is left to set the event."
        if isinstance(resource, locks.Barrier | locks.SyncThreads):
            return "Fewer threads come to the barrier than it waits for."
        if isinstance(resource, locks.Semaphore):
            if task in _holders(resource):
                return (
                    f"{task.name} has taken {resource.label} and waits for more of it. A semaphore counts acquires, by "
                    "the same thread too. Is a release missing, here or in another thread?"
                )
            if resource.given and not resource.takers:
                return (
                    f"{resource.label} is acquired more often than it is released. Each thread that waits for it needs "
                    "a release of its own."
                )
            return "Every acquire needs its release, on every way out; and the first value is how many may enter."
        if isinstance(resource, workers.Future) and resource.waits_for_a_worker:
            return "The task it waits for has no free worker to run on."
    if any(isinstance(task.resource, workers.Future) for task in stuck):
        return "Tasks wait for each other's results: what a task needs of another must be there before it begins."
    if len(stuck) > 1 and all(isinstance(task.resource, workers.Thread) for task in stuck):
        return "Threads wait for each other to end: one of them must not join."
    return ""


def _ring(stuck):
    """Threads that wait in a ring for what another one holds alone."""
    for start in stuck:
        path, task = [], start
        while task is not None and task not in path:
            path.append(task)
            holders = _holders(task.resource)
            task = holders[0] if len(holders) == 1 and holders[0].last == BLOCKED else None
        if task is not None:
            return path[path.index(task) :]
    return []


def _too_long(outcome):
    tail = outcome.events[len(outcome.events) // 2 :]
    where = {}
    for event in tail:
        where.setdefault(event.task, Counter())[(event.file, event.line)] += 1
    alive = {t.name for t in outcome.tasks if t.last != DONE}
    busy = {name: lines for name, lines in where.items() if name in alive}
    if not busy:
        busy = {t.name: Counter({(getattr(t, "file", ""), t.line): 1}) for t in outcome.tasks if t.last != DONE}
    facts = []
    for name, lines in busy.items():
        numbers = sorted({line for (_, line), _ in lines.most_common(8)})
        facts.append((name, f"repeats line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"))
    backs_off = {e.task for e in tail if e.text.startswith(("does not get", "finds", "sleeps"))}
    backs_off &= {
        e.task for e in tail if e.kind in ("write", "call") or e.text.startswith(GIVES)
    }  # who only asks gives nothing
    steps = f"after {len(outcome.points) or 'many'} steps nothing has come to an end"
    if len(busy) > 1 and len(backs_off & set(busy)) > 1:
        cause = (
            "Each gives way to the other, again and again: they move, and get nowhere. Give them different waiting "
            "times (a random back-off), or take the locks in one order so that nobody has to give way."
        )
        return Finding("livelock", steps, tuple(facts), cause)
    cause = "The loop waits for something that nobody does. Does every path through it come closer to its end?"
    return Finding("endless", steps, tuple(facts), cause)


def _stuck(outcome):
    facts = tuple((t.name, _position(outcome, t)) for t in outcome.tasks if t.last != DONE)
    cause = (
        "The explorer controls threading, queue, time and concurrent.futures where they are imported at the top. "
        "Reading a file or the network, or a lock made by a library, it cannot see."
    )
    return Finding("blocked", "a thread waits for something that the explorer does not control", facts, cause)


# wrong -------------------------------------------------------------------------------------------------------------


def _exception(outcome, task, error):
    name = type(error).__name__
    facts = [("it said", f"{name}: {error}" if str(error) else name), (task.name, _position(outcome, task))]
    if isinstance(error, AssertionError) and task.name == "main":
        lost = _lost_update(outcome)
        kind = "lost-update" if lost else "wrong-result"
        return Finding(kind, str(error) or "an assertion does not hold", tuple(facts[1:]), lost or _stale(outcome))
    headline = f"{task.name} ended with {name}"
    cause = "" if isinstance(error, (NotImplementedError, NotInARun, Abandoned)) else _stale(outcome, task.name)
    return Finding("exception", headline, tuple(facts), cause, name=name)


def _wrong(outcome, slip):
    """`slip`: what a judge says, a sentence or a Finding. A lost update explains it better than the judge can."""
    lost = _lost_update(outcome)
    if isinstance(slip, Finding):
        if slip.kind == "wrong-result":
            kind = "lost-update" if lost else slip.kind
            return replace(slip, kind=kind, cause=lost or slip.cause or _stale(outcome))
        return slip
    return Finding("lost-update" if lost else "wrong-result", str(slip), (), lost or _stale(outcome))


def _lost_update(outcome):
    """A read, another thread's write, and a write over it without looking again."""
    seen = {}
    for event in outcome.events:
        if event.location is None or event.kind not in ("read", "write") or event.location[1] is None:
            continue
        reads = seen.setdefault(event.location, {})
        if event.kind == "read":
            reads[event.task] = (event, None)
            continue
        if event.task in reads:
            read, between = reads[event.task]
            if between is not None and not _same_value(between, read):
                return (
                    f"{event.task} read {read.text}{_value(read)} {_of(outcome, read)}. Then {between.task} wrote "
                    f"{_written(between)} {_of(outcome, between)}. {event.task} did not see it and wrote "
                    f"{_written(event)} over it {_of(outcome, event)}: the update of {between.task} is lost."
                )
            del reads[event.task]
        for task, (read, _) in list(reads.items()):
            if task != event.task:
                reads[task] = (read, event)
    return ""


def _same_value(write, read):
    return bool(write.value) and write.value == read.value


def _stale(outcome, who=None):
    """A thread that looked at something, and went on after another thread had changed it."""
    last = {}
    best = ""
    for event in outcome.events:
        if event.location is None:
            continue
        base = event.location[0]
        if event.kind == "read":
            last[(base, event.task)] = event
        for (other_base, task), read in list(last.items()):
            ours = outcome.in_check(read.file) or outcome.in_check(event.file)
            if other_base == base and task != event.task and event.kind in ("write", "call") and not ours:
                later = any(e.task == task for e in outcome.events[outcome.events.index(event) + 1 :])
                if later and (who is None or task == who) and read.point != event.point:
                    best = (
                        f"{task} looked at {read.text}{_value(read)} {_of(outcome, read)}; before it went on, "
                        f"{event.task} changed {event.text} {_of(outcome, event)}. What {task} had seen was no longer "
                        "true."
                    )
                del last[(base, task)]
    return best


def _of(outcome, event):
    return "in the check" if outcome.in_check(event.file) else f"in line {event.line}"


def _value(event):
    return f" ({event.value})" if event.value else ""


def _written(event):
    return event.value or event.text


def _held(lock):
    holder = lock.held_by
    facts = ((holder.name, f"took {lock.label} in line {lock.held_since} and did not give it back"),)
    cause = "`with` releases a lock on every way out, also through return and an exception."
    return Finding("lock-not-released", f"{lock.label} is still held when everything is over", facts, cause)


def _busy(outcome, name):
    task = next(t for t in outcome.tasks if t.name == name)
    lines = Counter((e.file, e.line) for e in outcome.events if e.task == name)
    (file, line), times = lines.most_common(1)[0] if lines else ((getattr(task, "file", ""), task.line), 0)
    said = f"asks again and again{f', {times} times in this run' if times > 1 else ''}, {_at(outcome, file, line)}"
    facts = ((name, said),)
    sleeps = "A Condition, an Event or a queue lets the thread sleep until it is woken."
    asked = next(
        (e.text for e in reversed(outcome.events) if e.task == name and e.text.startswith(("does not get", "finds"))),
        "",
    )
    if asked.startswith("does not get"):
        sleeps = "Without `blocking=False`, `acquire` lets the thread sleep until it gets what it waits for."
    elif asked:
        sleeps = "Without `block=False`, the queue lets the thread sleep until there is something for it to do."
    cause = f"A core is kept busy with waiting. {sleeps}"
    return Finding("busy-waiting", f"{name} waits by asking", facts, cause, WARNING)


def _polling(outcome):
    """Thread -> (file, line) where it slept twice in a row and only looked between: read, or took a lock and gave it
    back. A thread that backs off, as it did not get a lock, does not poll."""
    found, naps = {}, {}
    for event in outcome.events:
        if event.kind == "sync" and event.text.startswith("sleeps"):
            line, looked = (event.file, event.line), naps.get(event.task, (None, False))
            if looked == (line, True) and not outcome.in_check(event.file):
                found.setdefault(event.task, line)
            naps[event.task] = (line, False)
        elif event.task in naps:
            if event.kind == "read" or event.text.startswith(LOOKS):
                naps[event.task] = (naps[event.task][0], True)
            elif not event.text.startswith("waits for"):  # for the lock under which it looks
                del naps[event.task]
    return found


def _polls(outcome, name, file, line):
    facts = ((name, f"sleeps, looks, and sleeps again, {_at(outcome, file, line)}"),)
    cause = (
        "It wakes for nothing, and sleeps on when there is something to do. A Condition, an Event or a queue wakes it "
        "at the right moment."
    )
    return Finding("busy-waiting", f"{name} waits by asking", facts, cause, WARNING)
