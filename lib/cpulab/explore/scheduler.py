"""One run of a threaded program, one thread at a time, in an order that a policy chooses.

The threads are real. Each waits for the baton; the one that has it runs until it reaches a *point*: an operation of a
stand-in (locks.py ...) or an access to something shared (tracing.py). There the policy says who goes on. Nobody else
decides anything, so the same choices give the same run, and when nobody can go on, that is a deadlock, known at once.
"""

import _thread
import ctypes
import threading
import time
from dataclasses import dataclass, field

NEW, READY, BLOCKED, DONE = "new", "ready", "blocked", "done"
PATIENCE = 5.0  # seconds without any step before a thread counts as stuck in something we do not control
UNWIND = 1.0  # seconds for a thread to end after its run is over
FAIR = 80  # points in a row after which others get a turn: whoever spins must not keep others from ending it

_active = None


class Abandoned(BaseException):
    """Ends a thread whose run is over. Ordinary handlers (`except Exception`) let it pass."""


class NotInARun(RuntimeError):
    """A stand-in was used outside of the run that made it."""


def active():
    """The scheduler of the run that the caller belongs to."""
    if _active is None:
        raise NotInARun(
            "this lock (queue, thread ...) belongs to an exploration that is over; make a new one in the scenario"
        )
    return _active


def pause():
    """A place where a thread can be interrupted while the program is explored; otherwise nothing."""
    if _active is not None and not _active.stopping and _active.running.ident == _thread.get_ident():
        _active.point()


def tell(text):
    """A step of its own in the table of a run: what a check saw. Otherwise nothing."""
    if _active is not None and not _active.stopping and _active.running.ident == _thread.get_ident():
        _active.note(_active.running, "note", text)


class ControlledThread:
    """A controlled thread."""

    def __init__(self, number, name, daemon=False):
        self.number, self.name, self.daemon = number, name, daemon
        self.state, self.error, self.line = NEW, None, 0
        self.ready, self.deadline, self.resource, self.doing = None, None, None, ""
        self.go, self.ended = _thread.allocate_lock(), _thread.allocate_lock()
        self.go.acquire()
        self.ended.acquire()
        self.ident, self.streak, self.pending = None, 0, None
        self.raised = None  # the exception that was told last
        self.since = self.middle = 0  # events before its turn began, and before the second half of it
        self.through = False  # whether it came out of `halt` just now: its next point was decided there
        self.last = NEW  # the state in which the run's end found it

    def __repr__(self):
        return f"<{self.name} {self.state}>"


@dataclass(slots=True)
class ThreadEvent:
    """One thing that happened: `kind` is read, write, call, sync or note; `location` is what was accessed."""

    task: str
    file: str
    line: int
    kind: str
    text: str
    location: tuple | None = None
    value: str = ""
    site: object = None
    point: int = -1

    @property
    def deed(self):
        """What was done, with what came of it: the same when it is done again for nothing."""
        return self.file, self.line, self.kind, self.text, self.value


@dataclass
class Decision:
    """At a point: who could have gone on here. `forced`: the thread that ran could not."""

    chosen: int
    default: int
    options: tuple
    late: tuple
    forced: bool


@dataclass
class RunOutcome:
    """What one run came to."""

    ending: str = "ended"  # ended, deadlock, too-long, stuck, refused (by the policy)
    result: object = None
    errors: list = field(default_factory=list)  # (task, exception)
    tasks: list = field(default_factory=list)
    events: list = field(default_factory=list)
    points: list = field(default_factory=list)
    held: list = field(default_factory=list)  # locks still held at the end
    spins: dict = field(default_factory=dict)  # task name -> how often it had to be made to wait
    clock: float = 0.0
    given: tuple = ()  # (file, first line, last line) of a program that a check brings: shown, without numbers of lines
    check_folders: tuple = ()  # code in them belongs to the check, not to the program

    def in_check(self, file):
        """Whether `file` belongs to the check: its line numbers mean nothing to who wrote the program."""
        return file.startswith(self.check_folders)

    def is_checks_own(self, file, line):
        """Whether the line is nothing that the reader has seen: in the check, and not in a program that it brings."""
        return self.in_check(file) and not any(file == f and first <= line <= last for f, first, last in self.given)

    @property
    def schedule(self):
        """The choices that were not the default ones: enough to run the same again."""
        return {i: p.chosen for i, p in enumerate(self.points) if p.chosen != p.default}


class Scheduler:
    """Runs a scenario once. `policy.choose(index, default, options, late)` returns the number of a task; None ends
    it."""

    def __init__(self, policy, tracer, max_points, max_ticks):
        self.policy, self.tracer = policy, tracer
        self.max_points, self.max_ticks = max_points, max_ticks
        self.tasks, self.running, self.clock, self.ticks = [], None, 0.0, 0
        self.stopping, self.out, self.locks = False, RunOutcome(), []
        self.done = _thread.allocate_lock()
        self.done.acquire()
        self.letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        self.labels, self.strangers = {}, []

    # the run -----------------------------------------------------------------------------------------------------

    def run(self, scenario):
        """Run `scenario()` as the thread "main" to the end of all threads; returns the RunOutcome. Never hangs."""
        global _active
        if _active is not None:
            raise RuntimeError("an exploration is running already; one inside another is not possible")
        _active = self
        hook = threading.gettrace()
        threading.settrace(self._stranger)
        if self.tracer:
            self.tracer.open(self)
        try:
            main = self.spawn("main")
            self.start(main, lambda: setattr(self.out, "result", scenario()))
            self.running = main
            main.go.release()
            self._await_end()
        finally:
            self._unwind()
            if self.tracer:
                self.tracer.close()
            threading.settrace(hook)
            _active = None
        if self.strangers:
            raise RuntimeError(
                f"the scenario started a real thread ({self.strangers[0]}), which the explorer cannot steer: use "
                "threading and concurrent.futures as they are imported at the top of the file or notebook"
            )
        self.out.tasks, self.out.clock = self.tasks, self.clock
        self.out.held = [lock for lock in self.locks if lock.held_by is not None]
        return self.out

    def _stranger(self, frame, event, argument):
        """Called in each new thread that is not ours: does it run the program's code?"""
        thread = threading.current_thread()
        target = getattr(thread, "_target", None) or type(thread).run
        file = getattr(getattr(target, "__code__", None), "co_filename", "")
        pool = getattr(target, "__module__", "") == "concurrent.futures.thread"
        if pool or (file and self.tracer and self.tracer.is_own(file)):
            self.strangers.append(thread.name)

    def _await_end(self):
        ticks, since = -1, time.monotonic()
        while not self.done.acquire(timeout=0.2):
            if self.ticks != ticks:
                ticks, since = self.ticks, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                self._finish("stuck")
                return

    def _unwind(self):
        """End what still runs, one thread after the other."""
        self.stopping = True
        for task in self.tasks:
            if task.state in (DONE, NEW):
                continue
            if task is not self.running or self.out.ending != "stuck":
                task.go.release()
            end = time.monotonic() + UNWIND
            while not task.ended.acquire(timeout=0.05) and time.monotonic() < end:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(task.ident or 0), ctypes.py_object(Abandoned))

    # threads -----------------------------------------------------------------------------------------------------

    def spawn(self, name=None, daemon=False):
        """A new task that does not run yet."""
        task = ControlledThread(len(self.tasks), name or next(self.letters, f"T{len(self.tasks)}"), daemon)
        self.tasks.append(task)
        return task

    def start(self, task, work):
        """Let `task` take part; it runs `work()` when it is first chosen."""
        task.state = READY
        _thread.start_new_thread(self._life, (task, work))

    def _life(self, task, work):
        task.ident = _thread.get_ident()
        task.go.acquire()
        try:
            if not self.stopping:
                if self.tracer:
                    self.tracer.begin(task)
                work()
        except Abandoned:
            pass
        except SystemExit:
            pass  # as threading does
        except BaseException as error:
            if not self.stopping:
                task.error = error
                self._locate(task, error)
                self.out.errors.append((task, error))
        finally:
            if self.tracer:
                self.tracer.end(task)
            task.state = DONE
            if self.stopping:
                task.ended.release()
            else:
                if task.number or task.error:
                    self.note(task, "note", "ends" if task.error is None else f"ends with {type(task.error).__name__}")
                task.ended.release()
                self._next_after(task)

    def _locate(self, task, error):
        """Let `task` stand at the line of the program that raised `error`."""
        frame = error.__traceback__
        while frame is not None and self.tracer:
            if self.tracer.is_own(frame.tb_frame.f_code.co_filename):
                task.file, task.line = frame.tb_frame.f_code.co_filename, frame.tb_lineno
            frame = frame.tb_next

    def _next_after(self, task):
        if all(t.state in (DONE, NEW) or t.daemon for t in self.tasks):
            self._finish("ended")
            return
        chosen = self._decide(task)
        if chosen is not None:
            self.running = chosen
            chosen.go.release()

    @property
    def crowd(self):
        """Whether two threads or more are under way."""
        return sum(t.state in (READY, BLOCKED) for t in self.tasks) > 1

    # points ------------------------------------------------------------------------------------------------------

    def point(self):
        """The running thread could be interrupted here. Raises Abandoned when the run is over."""
        if self.stopping:
            raise Abandoned
        me = self.running
        if me.through:
            me.through = False
            return
        if not self.crowd:
            self.ticks += 1
            if self.ticks > self.max_ticks:
                self._end_here(me, "too-long")
            return
        chosen = self._decide(me)
        if chosen is not me:
            self._pass_to(me, chosen)

    def wait(self, ready, resource, doing, seconds=None):
        """Block the running thread until `ready()`; False if `seconds` (virtual ones) passed first.

        `resource` and `doing` say in a report what it waits for: `doing` is e.g. "waits for lock".
        """
        self.point()
        if ready():
            return True
        if seconds is not None and seconds <= 0:
            return False
        return self._block(ready, resource, doing, seconds)

    def halt(self, ready, resource, doing):
        """Block the running thread until `ready()`, without a point before and after: who chooses it then lets it make
        its next access."""
        self._block(ready, resource, doing, None)
        self.running.through = True

    def _block(self, ready, resource, doing, seconds):
        me = self.running
        me.state, me.ready, me.resource, me.doing = BLOCKED, ready, resource, doing
        me.deadline = None if seconds is None else self.clock + seconds
        me.line = self.note(me, "sync", doing).line
        chosen = self._decide(me)
        if chosen is not me:
            self._pass_to(me, chosen)
        came = ready()
        me.state, me.ready, me.resource, me.deadline = READY, None, None, None
        return came

    def _decide(self, me):
        """Who goes on; None after the run was ended (then `me` must not go on)."""
        self.ticks += 1
        if len(self.out.points) >= self.max_points or self.ticks > self.max_ticks:
            return self._end_here(me, "too-long")
        able = [t for t in self.tasks if t.state is READY or (t.state is BLOCKED and self._can_go(t))]
        late = [t for t in self.tasks if t.state is BLOCKED and t.deadline is not None and t not in able]
        if not able:
            if not late:
                return self._end_here(me, "deadlock")
            able = [min(late, key=lambda t: (t.deadline, t.number))]
            late.remove(able[0])
        forced = me not in able
        turn = not forced and me.streak >= FAIR and not self.policy.every_step
        if turn and len(able) == 1 and late:
            able.append(min(late, key=lambda t: (t.deadline, t.number)))
            late.remove(able[-1])
        default = me if not forced and (not turn or len(able) == 1) else self._after(me, able)
        if turn and default is not me:
            able.remove(me)
            self.policy.tired(me.number)
        if turn and default is not me and self._goes_round(me):
            self.out.spins[me.name] = self.out.spins.get(me.name, 0) + 1
        chosen = default
        if len(able) + len(late) > 1 or self.policy.every_step:
            number = self.policy.choose(
                len(self.out.points), default.number, tuple(t.number for t in able), tuple(t.number for t in late)
            )
            if number is None:
                return self._end_here(me, "refused")
            chosen = self.tasks[number] if any(t.number == number for t in able + late) else default
            point = Decision(
                chosen.number,
                default.number,
                tuple(t.number for t in able),
                tuple(t.number for t in late),
                forced or turn,
            )
            self.out.points.append(point)
        if chosen.deadline is not None and not chosen.ready():
            self.clock = max(self.clock, chosen.deadline)
        me.streak = me.streak + 1 if chosen is me else 0
        if chosen is not me:
            chosen.since = chosen.middle = len(self.out.events)
        elif me.streak == FAIR // 2:
            me.middle = len(self.out.events)
        return chosen

    def _goes_round(self, me):
        """Whether a thread only looked in the second half of its turn, at what it had seen in the first. To take a lock
        and give it back is to look."""
        events = self.out.events
        before = {event.deed for event in events[me.since : me.middle]}
        return not any(e.kind in ("write", "call") or e.deed not in before for e in events[me.middle :])

    def _can_go(self, task):
        return task.ready() or (task.deadline is not None and task.deadline <= self.clock)

    def _after(self, me, able):
        """The next able thread in turn."""
        others = [t for t in able if t is not me]
        return min(others, key=lambda t: (t.number - me.number - 1) % len(self.tasks))

    def _pass_to(self, me, chosen):
        if chosen is not None:
            self.running = chosen
            chosen.go.release()
        me.go.acquire()
        if self.stopping:
            raise Abandoned

    def _finish(self, ending):
        self.out.ending = ending
        for task in self.tasks:
            task.last = task.state
        self.done.release()

    def _end_here(self, me, ending):
        """End the run from within a thread; a thread that is still alive then stops where it stands."""
        self._finish(ending)
        if me.state is not DONE:
            me.go.acquire()
            raise Abandoned
        return None

    # what happened -----------------------------------------------------------------------------------------------

    def note(self, task, kind, text, **more):
        """Record an event of `task` at the line of the program where it stands."""
        file, line = self.tracer.where(task) if self.tracer else ("", 0)
        event = ThreadEvent(task.name, file, line, kind, text, point=len(self.out.points), **more)
        self.out.events.append(event)
        return event

    def label(self, name, several=False):
        """`name`, `name 2` ... or `name[0]`, `name[1]` ...: stand-ins are told apart in reports."""
        count = self.labels[name] = self.labels.get(name, 0) + 1
        if several:
            return f"{name}[{count - 1}]"
        return name if count == 1 else f"{name} {count}"
