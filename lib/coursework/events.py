"""Counting what an answer does: for scenarios that hand the student's code something to call.

events = Events()
read = events.counted("reads", source.read)      # a function that counts its calls
events.enter("in_flight"); events.leave("in_flight")
return Played(result, events.counts())           # {"reads": 12, "in_flight": 2}: the most at once
"""

import threading
from dataclasses import dataclass, field

from cpulab.explore import pause, tell


@dataclass(frozen=True)
class Played:
    """What a scenario returns when counts matter: `result` for the task's spec or judge, `counts` for its budget."""

    result: object
    counts: dict = field(default_factory=dict)


def told(name, n):
    """The step of a run at which `n` of `name` were under way."""
    return f"counts {n} {name.replace('_', ' ')}"


class Events:
    """Counts by name. What the student's code gets are plain functions: it cannot reach the counts.

    While a scenario is explored, a thread can be interrupted just before each count.
    """

    def __init__(self):
        counts, now = {}, {}

        def add(name, n=1):
            pause()
            counts[name] = counts.get(name, 0) + n

        def enter(name, n=1):
            pause()
            now[name] = now.get(name, 0) + n
            counts[name] = max(counts.get(name, 0), now[name])
            tell(told(name, now[name]))

        def leave(name, n=1):
            pause()
            now[name] = now.get(name, 0) - n

        self.add, self.enter, self.leave, self.counts = add, enter, leave, lambda: dict(counts)
        for name in ("add", "enter", "leave"):
            getattr(self, name).__doc__ = getattr(Events, f"_{name}").__doc__

    def _add(self):
        """Count `n` more of `name`."""

    def _enter(self):
        """`n` more are under way; the count is the most there were at once."""

    def _leave(self):
        """`n` fewer are under way."""

    def counted(self, name, function):
        """`function`, with its calls counted under `name`."""
        add = self.add

        def call(*args, **kwargs):
            add(name)
            return function(*args, **kwargs)

        return call


class Accesses:
    """What threads do to the attributes of an object, and the locks that they hold while they do it: lock sets, after
    Savage et al., Eraser (SOSP 1997), section 2. Theirs asks for one lock that all accesses hold; here each two of them
    need one.

    The thread that makes this one is not looked at: it is alone before the others begin, and after they have ended.
    """

    def __init__(self):
        self.of, self.own = {}, threading.local()  # attribute -> accesses; an identity may be another thread's later
        self.home = self.me()

    def me(self):
        """What stands for the calling thread: the names of the locks that it holds, in a list of its own."""
        if not hasattr(self.own, "held"):
            self.own.held = []
        return self.own.held

    def note(self, name, writes):
        me = self.me()
        if me is not self.home:
            self.of.setdefault(name, []).append((me, writes, frozenset(me)))

    def unordered(self):
        """The attributes that one thread writes and another one uses, with no lock that both hold."""
        return sorted(
            name
            for name, accesses in self.of.items()
            if any(a[0] is not b[0] and (a[1] or b[1]) and not a[2] & b[2] for a in accesses for b in accesses)
        )

    def watched(self, program):
        """`program`, a class whose locks are attributes, with its accesses noted."""

        class Watched(program):
            def __getattribute__(this, name):
                value = object.__getattribute__(this, name)
                if hasattr(value, "acquire"):
                    return _Held(value, name, self)
                if not callable(value) and not name.startswith("__"):
                    self.note(name, writes=False)
                return value

            def __setattr__(this, name, value):
                self.note(name, writes=True)
                object.__setattr__(this, name, value)

        return Watched


class _Held:
    """A lock that says who has it, for `with`."""

    def __init__(self, lock, name, accesses):
        self.lock, self.name, self.accesses = lock, name, accesses

    def __enter__(self):
        self.lock.acquire()
        self.accesses.me().append(self.name)

    def __exit__(self, *error):
        self.accesses.me().remove(self.name)
        self.lock.release()
