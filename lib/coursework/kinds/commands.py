"""Commands in an out-of-order queue: the student says for which events each of them waits.

    EVENTS = CommandsTask(
        id="16-events", ...
        commands=(
            Command("write", (), ("x",), "copies an image to the device"),
            Command("blur", ("x",), ("y",), "the kernel"),
            Command("read", ("y",), (), "copies the result back"),
        ),
    )

The answer is a dict {command: [commands for whose events it waits]}. Two commands must be ordered where both use a
buffer and one of them writes it. The check looks for an order in which the queue may run the commands, and in which
such a pair is exchanged; it also says which command waits for one that does not concern it: the two could run at the
same time.
"""

from dataclasses import dataclass

from ..outcome import Failed, Failure
from .data import DataTask, Refused, brief


@dataclass(frozen=True)
class Command:
    """reads, writes: names of buffers on the device."""

    name: str
    reads: tuple
    writes: tuple
    words: str = ""


@dataclass(frozen=True)
class Names:
    """A list of some names, each once; read as a tuple."""

    names: tuple
    later: tuple

    @property
    def words(self):
        return "a list of names of commands, each in quotes"

    def read(self, value):
        if type(value) not in (list, tuple) or not all(type(name) is str for name in value):
            raise Refused(brief(value))
        for name in value:
            if name in self.later:
                raise Refused(f"{name!r}, which is enqueued later: there is no event of it yet")
            if name not in self.names:
                raise Refused(f"{brief(name)}, which is no command of this program")
        return tuple(dict.fromkeys(value))


@dataclass(frozen=True, kw_only=True)
class CommandsTask(DataTask):
    """`commands`: in the order in which the host enqueues them."""

    commands: tuple

    def failures(self):
        return (*super().failures(), "too-early", "old-value", "overwritten", "needless")

    def examine(self, answer, cases, seed):
        names = [c.name for c in self.commands]
        fields = {name: Names(tuple(names[:i]), tuple(names[i:])) for i, name in enumerate(names)}
        waits = self.read(self.given(answer), fields) or {}
        missing = [name for name in names if waits.get(name) is None]
        if missing:
            self.unanswered(missing)
        before = _before(names, waits)
        for i, later in enumerate(self.commands):
            for earlier in self.commands[:i]:
                kind, buffer = _conflict(earlier, later)
                if kind and earlier.name not in before[later.name]:
                    raise Failed(self._exchanged(earlier, later, kind, buffer, before))
        needed = _before(names, self._least())
        for name in names:
            for other in names:
                if other in before[name] and other not in needed[name]:
                    raise Failed(self._waits(name, other))
        events = sum(len(w) for w in waits.values())
        orders = _orders(names, before)
        return (
            f"{events} events; in each of the {orders} orders in which the queue may run them, each command finds what "
            "it needs.",
        ), ""

    def _least(self):
        """{command: those that it must wait for}."""
        return {
            later.name: tuple(e.name for e in self.commands[:i] if _conflict(e, later)[0])
            for i, later in enumerate(self.commands)
        }

    def _exchanged(self, earlier, later, kind, buffer, before):
        """The failure of a pair that nothing orders, with an order that shows it."""
        prefix = [c.name for c in self.commands if c.name in before[later.name]]
        order = [*prefix, later.name, *(c.name for c in self.commands if c.name not in (*prefix, later.name))]
        happens, cause = _TOLD[kind]
        facts = (
            ("an order", f"the queue may run: {', '.join(order)}"),
            ("then", happens.format(earlier=earlier.name, later=later.name, buffer=buffer)),
        )
        return Failure(kind, "An order that the queue may take goes wrong", facts, self.advice.get(kind, cause))

    def _waits(self, name, other):
        facts = (("waits", f"{name!r} waits until {other!r} has ended"),)
        cause = (
            "None of the two writes what the other one uses, so they could run at the same time. Through which event "
            "do they wait?"
        )
        return Failure(
            "needless", "Every order is right, but one waits for nothing", facts, self.advice.get("needless", cause)
        )


_TOLD = {
    "too-early": (
        "{later!r} reads {buffer} before {earlier!r} has written it",
        "A command finds what another one wrote only when it waits for its event. Who writes what it reads?",
    ),
    "old-value": (
        "{later!r} writes {buffer} while {earlier!r} still has to read what was in it",
        "A buffer may be written anew when all that read it have ended. Who reads it last?",
    ),
    "overwritten": (
        "{earlier!r} writes {buffer} after {later!r}, whose result is lost",
        "Two commands write one buffer. The second must wait for the first.",
    ),
}


def _conflict(earlier, later):
    """(kind, buffer) of what two commands have in common, ("", "") for nothing."""
    for kind, ones, others in (
        ("too-early", earlier.writes, later.reads),
        ("old-value", earlier.reads, later.writes),
        ("overwritten", earlier.writes, later.writes),
    ):
        both = [b for b in ones if b in others]
        if both:
            return kind, both[0]
    return "", ""


def _before(names, waits):
    """{command: all that have ended when it begins}."""
    found = {}
    for name in names:
        found[name] = set(waits[name]).union(*(found[w] for w in waits[name]))
    return found


def _orders(names, before):
    """In how many orders the commands may run."""
    ways = {frozenset(): 1}
    for _ in names:
        further = {}
        for done, count in ways.items():
            for name in names:
                if name not in done and before[name] <= done:
                    key = done | {name}
                    further[key] = further.get(key, 0) + count
        ways = further
    return sum(ways.values())
