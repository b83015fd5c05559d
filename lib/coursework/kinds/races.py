"""Two questions about a class whose objects threads share: does the result depend on their order (a race condition), and does
an access stand in no order to another thread's (a data race)?

The judge of a DetectiveTask. Its scenario returns {"result": plain data, "unordered": names}; `Accesses` finds the names, by
the locks that two threads hold: those of Savage et al., Eraser (SOSP 1997), section 2.
"""

import threading
from dataclasses import dataclass, replace

from ..checking import arguments_of
from ..outcome import Failed, Failure
from .thread import ThreadTask


@dataclass(frozen=True, kw_only=True)
class RacesTask(ThreadTask):
    """Its `spec` is not asked: right is a class that shows neither race, whatever its result is."""

    def shows(self):
        return ("race-condition", "data-race", "both-races")

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            results, unordered = [], set()

            def look(_, played, results=results, unordered=unordered):
                results += [played["result"]] if played["result"] not in results else []
                unordered.update(played["unordered"])

            arguments = arguments_of(case, seed, index)
            schedules = replace(self, spec=None, judge=look)._play(answer, case, arguments)["schedules"]
            many = f"the result was {' or '.join(map(str, results))}, by the order" if results[1:] else ""
            names = " and ".join(f"`{name}`" for name in sorted(unordered))
            free = f"no lock orders the accesses to {names}" if unordered else ""
            if many or free:
                said = "; ".join(filter(None, (many, free)))
                kind = "both-races" if many and free else "race-condition" if many else "data-race"
                raise Failed(Failure(kind, said, (("it said", said), ("got", str(results)))))
        return (f"{schedules} orders of the threads: one result, and a lock orders all accesses.",), ""


class Accesses:
    """What threads do to the attributes of an object, and the locks that they hold while they do it.

    The thread that makes this one is not looked at: it is alone before the others begin, and after they have ended.
    """

    def __init__(self):
        self.home, self.held, self.of = threading.get_ident(), {}, {}

    def note(self, name, writes):
        me = threading.get_ident()
        if me != self.home:
            self.of.setdefault(name, set()).add((me, writes, frozenset(self.held.get(me, ()))))

    def unordered(self):
        """The attributes that one thread writes and another one uses, with no lock that both hold."""
        return sorted(
            name
            for name, accesses in self.of.items()
            if any(
                a[0] != b[0] and (a[1] or b[1]) and not a[2] & b[2] for a in accesses for b in accesses
            )
        )  # fmt: skip

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
        self.accesses.held.setdefault(threading.get_ident(), []).append(self.name)

    def __exit__(self, *error):
        self.accesses.held[threading.get_ident()].remove(self.name)
        self.lock.release()
