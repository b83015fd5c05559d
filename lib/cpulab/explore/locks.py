"""Stand-ins for threading's locks: the same behaviour, and each operation is a point at which threads can be switched.

A blocked thread waits for a condition (`scheduler.wait`), so who waits for what is known at any time.
"""

import threading

from . import naming
from .scheduler import READY, active


class Fixed(type):
    """A stand-in's class cannot be changed by the program."""

    def __setattr__(cls, name, value):
        raise TypeError(f"{cls.__name__}.{name} cannot be replaced")

    __delattr__ = lambda cls, name: Fixed.__setattr__(cls, name, None)  # noqa: E731


class StandIn(metaclass=Fixed):
    """What all stand-ins share. Their state hides behind two underscores, which no program of a student may name."""

    is_stand_in = True

    def __init__(self, kind, name=None):
        self.__run = active()
        self.__name = name or self.__run.label(*naming.of_creation(self.__run.tracer, kind))

    @property
    def label(self):
        return self.__name

    def __repr__(self):
        return f"<{type(self).__name__} {self.__name}>"


def _run(stand_in):
    """The scheduler, if `stand_in` belongs to its run."""
    run = active()
    if stand_in._StandIn__run is not run:
        raise RuntimeError(
            f"{stand_in.label} was made in an earlier run: make locks, queues and threads inside the scenario"
        )
    return run


def _note(run, text):
    run.note(run.running, "sync", text)


def _timeout(blocking, timeout):
    if not blocking:
        if timeout not in (None, -1):
            raise ValueError("can't specify a timeout for a non-blocking call")
        return 0
    return None if timeout is None or timeout < 0 else timeout


class Lock(StandIn):
    """threading.Lock."""

    def __init__(self):
        super().__init__("lock")
        self.__owner, self.__line = None, ""
        active().locks.append(self)

    @property
    def held_by(self):
        return self.__owner

    @property
    def held_since(self):
        return self.__line

    def acquire(self, blocking=True, timeout=-1):
        run, seconds = _run(self), _timeout(blocking, timeout)
        got = run.wait(lambda: self.__owner is None, self, f"waits for {self.label}", seconds)
        if got:
            self.__owner, self.__line = (run.running, run.note(run.running, "sync", f"acquires {self.label}").line)
        else:
            _note(run, f"does not get {self.label}")
        return got

    def release(self):
        run = _run(self)
        if run.stopping:
            return
        run.point()
        if self.__owner is None:
            raise RuntimeError("release unlocked lock")
        self.__owner = None
        _note(run, f"releases {self.label}")

    def locked(self):
        _run(self).point()
        return self.__owner is not None

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()

    # what Condition needs
    def _hold(self):
        return self.__owner is not None

    def _give(self):
        owner, self.__owner = self.__owner, None
        return owner

    def _free(self):
        return self.__owner is None

    def _take(self, kept):
        self.__owner = kept


class RLock(StandIn):
    """threading.RLock."""

    def __init__(self, *, _name=None):
        super().__init__("lock", _name)
        self.__owner, self.__count, self.__line = None, 0, ""
        active().locks.append(self)

    @property
    def held_by(self):
        return self.__owner

    @property
    def held_since(self):
        return self.__line

    def acquire(self, blocking=True, timeout=-1):
        run, seconds = _run(self), _timeout(blocking, timeout)
        me = run.running
        if self.__owner is me:
            run.point()
            self.__count += 1
            return True
        got = run.wait(lambda: self.__owner is None, self, f"waits for {self.label}", seconds)
        if got:
            self.__owner, self.__count = me, 1
            self.__line = run.note(me, "sync", f"acquires {self.label}").line
        else:
            _note(run, f"does not get {self.label}")
        return got

    def release(self):
        run = _run(self)
        if run.stopping:
            return
        run.point()
        if self.__owner is not run.running:
            raise RuntimeError("cannot release un-acquired lock")
        self.__count -= 1
        if self.__count == 0:
            self.__owner = None
            _note(run, f"releases {self.label}")

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()

    def _hold(self):
        return self.__owner is active().running

    def _give(self):
        kept = (self.__owner, self.__count)
        self.__owner, self.__count = None, 0
        return kept

    def _free(self):
        return self.__owner is None

    def _take(self, kept):
        self.__owner, self.__count = kept


class Semaphore(StandIn):
    """threading.Semaphore."""

    def __init__(self, value=1):
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        super().__init__("semaphore")
        self.__value = self.__first = value
        self.__takers, self.__given = (
            [],
            0,
        )  # (thread, line) of each acquire that its thread has not released; releases so far

    @property
    def free(self):
        return self.__value

    @property
    def first(self):
        return self.__first

    @property
    def given(self):
        return self.__given

    @property
    def takers(self):
        """(thread, line) of each acquire that is not released; none where others release than acquire: it is a signal
        then."""
        return () if self.__takers is None else tuple(self.__takers)

    def acquire(self, blocking=True, timeout=None):
        run, seconds = _run(self), _timeout(blocking, timeout)
        got = run.wait(lambda: self.__value > 0, self, f"waits for {self.label}", seconds)
        if got:
            self.__value -= 1
            event = run.note(run.running, "sync", f"acquires {self.label} ({self.__value} left)")
            if self.__takers is not None:
                self.__takers.append((run.running, event.line))
        else:
            _note(run, f"does not get {self.label}")
        return got

    def release(self, n=1):
        run = _run(self)
        if run.stopping:
            return
        if n < 1:
            raise ValueError("n must be one or more")
        run.point()
        self._check(n)
        self.__value += n
        self.__given += n
        for _ in range(n):
            self.__give_back(run.running)
        _note(run, f"releases {self.label} ({self.__value} left)")

    def __give_back(self, who):
        taken = [k for k, (taker, _) in enumerate(self.__takers or ()) if taker is who]
        if taken:
            del self.__takers[taken[-1]]
        else:
            self.__takers = None

    def _check(self, n):
        pass

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()


class BoundedSemaphore(Semaphore):
    """threading.BoundedSemaphore."""

    def __init__(self, value=1):
        super().__init__(value)
        self.__most = value

    def _check(self, n):
        if self.free + n > self.__most:
            raise ValueError("Semaphore released too many times")


class Condition(StandIn):
    """threading.Condition. Waiting threads are woken in the order in which they came, and may be late for the lock."""

    def __init__(self, lock=None):
        super().__init__("condition")
        self.__lock = lock if lock is not None else RLock(_name=f"the lock of {self.label}")
        self.__waiting = []
        self.acquire, self.release = self.__lock.acquire, self.__lock.release

    def __enter__(self):
        return self.__lock.acquire()

    def __exit__(self, *error):
        self.__lock.release()

    def wait(self, timeout=None):
        run, lock = _run(self), self.__lock
        if not lock._hold():
            raise RuntimeError("cannot wait on un-acquired lock")
        run.point()
        ticket = [False]
        self.__waiting.append(ticket)
        kept = lock._give()
        try:
            came = self.__sleep(run, ticket, timeout)
        finally:
            if ticket in self.__waiting:
                self.__waiting.remove(ticket)
        if not run.stopping:
            run.wait(lock._free, lock, f"waits for {lock.label} again")
            lock._take(kept)
        _note(run, f"goes on after {self.label}")
        return came

    def __sleep(self, run, ticket, timeout):
        if timeout is not None and timeout <= 0:
            return ticket[0]
        return run.wait(lambda: ticket[0], self, f"waits for {self.label} to be notified", timeout)

    def wait_for(self, predicate, timeout=None):
        result, end = predicate(), None
        while not result:
            left = None
            if timeout is not None:
                end = active().clock + timeout if end is None else end
                left = end - active().clock
                if left <= 0:
                    break
            self.wait(left)
            result = predicate()
        return result

    def notify(self, n=1):
        run = _run(self)
        if not self.__lock._hold():
            raise RuntimeError("cannot notify on un-acquired lock")
        run.point()
        woken, self.__waiting[:n] = self.__waiting[:n], []
        for ticket in woken:
            ticket[0] = True
        _note(run, f"notifies {self.label}" + ("" if woken else " (nobody waits)"))

    def notify_all(self):
        self.notify(len(self.__waiting) or 1)


class Event(StandIn):
    """threading.Event."""

    def __init__(self):
        super().__init__("event")
        self.__flag = False

    def is_set(self):
        run = _run(self)
        run.point()
        return self.__flag

    def set(self):
        run = _run(self)
        if run.stopping:
            return
        run.point()
        self.__flag = True
        _note(run, f"sets {self.label}")

    def clear(self):
        run = _run(self)
        run.point()
        self.__flag = False
        _note(run, f"clears {self.label}")

    def wait(self, timeout=None):
        return _run(self).wait(lambda: self.__flag, self, f"waits for {self.label} to be set", timeout)


class Barrier(StandIn):
    """threading.Barrier."""

    def __init__(self, parties, action=None, timeout=None):
        if parties < 1:
            raise ValueError("parties must be > 0")
        super().__init__("barrier")
        self.__parties, self.__action, self.__timeout = parties, action, timeout
        self.__round = {"came": 0, "open": False, "broken": False}

    parties = property(lambda self: self.__parties)
    n_waiting = property(lambda self: self.__round["came"])
    broken = property(lambda self: self.__round["broken"])

    def wait(self, timeout=None):
        run = _run(self)
        run.point()
        now = self.__round
        if now["broken"]:
            raise threading.BrokenBarrierError
        index = now["came"]
        now["came"] += 1
        if now["came"] == self.__parties:
            if self.__action:
                self.__action()
            now["open"] = True
            self.__round = {"came": 0, "open": False, "broken": False}
            _note(run, f"opens {self.label}")
            return index
        seconds = self.__timeout if timeout is None else timeout
        run.wait(lambda: now["open"] or now["broken"], self, f"waits at {self.label}", seconds)
        if not now["open"]:
            now["broken"] = True
            raise threading.BrokenBarrierError
        return index

    def reset(self):
        if self.__round["came"]:
            self.__round["broken"] = True
        self.__round = {"came": 0, "open": False, "broken": False}

    def abort(self):
        self.__round["broken"] = True


class SyncThreads(StandIn):
    """syncthreads() of a block of `parties` threads. To come is a step. To go on is none: who is chosen when all have
    come makes its next access."""

    def __init__(self, parties):
        super().__init__("barrier", "the barrier")
        self.__parties, self.__came = parties, []

    def __call__(self):
        run, now = _run(self), self.__came
        run.point()
        now.append(run.running)
        _note(run, f"comes to the barrier ({len(now)} of {self.__parties})")
        if len(now) == self.__parties:
            self.__came = []
        else:
            run.halt(lambda: now is not self.__came, self, "waits at the barrier")


def sleep(seconds):
    """time.sleep without waiting. Others may run any time meanwhile: a sleep makes nothing safe."""
    run = active()
    run.wait(lambda: False, None, f"sleeps {seconds:g} s", max(float(seconds), 1e-9))


def now():
    """Virtual seconds; each look takes a microsecond."""
    run = active()
    run.clock += 1e-6
    return run.clock


def is_under_way(task):
    """Whether the thread of `task` has started and not ended."""
    return task.state is READY or task.state == "blocked"
