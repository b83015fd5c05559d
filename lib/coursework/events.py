"""Counting what an answer does: for scenarios that hand the student's code something to call.

events = Events()
read = events.counted("reads", source.read)      # a function that counts its calls
events.enter("in_flight"); events.leave("in_flight")
return Played(result, events.counts())           # {"reads": 12, "in_flight": 2}: the most at once
"""

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
