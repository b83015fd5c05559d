"""Code with threads: played under every schedule that matters, then some times with real threads."""

from dataclasses import dataclass, replace
from typing import ClassVar

from ..checking import arguments_of, attempt, names_of
from ..outcome import Failed, Failure
from .scenario import ScenarioTask


@dataclass(frozen=True, kw_only=True)
class ThreadTask(ScenarioTask):
    """A ScenarioTask whose scenario runs threads: explored (cpulab.explore), then `stress` real runs."""

    threaded: ClassVar[bool] = True

    preemptions: int = 2
    schedules: int = 300
    seconds: float = 10.0  # of CPU time, for a case: a limit that right answers do not reach
    stress: int = 20
    allow_busy_waiting: bool = False

    def exploration(self):
        return {"preemptions": self.preemptions, "schedules": self.schedules, "seconds": self.seconds}

    def examine(self, answer, cases, seed):
        runs = 0
        for index, case in enumerate(cases):
            runs += self._play(answer, case, arguments_of(case, seed, index))["schedules"]
        for index, case in enumerate(cases if self.stress else ()):
            self._no_hitch(answer, case, arguments_of(case, seed, index))
        checked = (
            names_of(self, cases),
            f"{runs} schedules of the threads, each with few interruptions (at most {self.preemptions}) or at random: "
            "no wrong result, no deadlock, no endless loop, every lock released.",
            *((f"{self.stress} runs of each case with real threads.",) if self.stress else ()),
        )
        return checked, "Schedules with more interruptions than that, and speed, were not looked at."

    def _no_hitch(self, answer, case, arguments):
        """Runs with real threads."""
        done = attempt(self, case, lambda: answer.stress(self, arguments))
        where = f"Case {case.name!r}, with real threads:"
        if done["hung"]:
            raise Failed(Failure("deadlock", f"{where} it never ended", (), self.advice.get("deadlock", "")))
        if done["error"]:
            name = str(done["error"]).split(":")[0]
            facts, cause = (("it said", str(done["error"])),), self.advice.get(f"raised-{name}", "")
            raise Failed(Failure(f"raised-{name}", f"{where} it stopped with {name}", facts, cause))
        for result in done["results"]:
            self._right(where, arguments, result)


@dataclass(frozen=True, kw_only=True)
class RacesTask(ThreadTask):
    """A class whose objects threads share: does its result depend on their order (a race condition), and do two threads
    make conflicting accesses under no lock in common (a data race)? The judge of a DetectiveTask.

    `scenario` returns {"result": plain data, "unordered": names of attributes, of events.Accesses}. Its `spec` is not
    asked: right is a class that shows neither race, whatever its result is.
    """

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
            free = f"no lock keeps the accesses to {names} apart" if unordered else ""
            if many or free:
                said = "; ".join(filter(None, (many, free)))
                kind = "both-races" if many and free else "race-condition" if many else "data-race"
                raise Failed(Failure(kind, said, (("it said", said), ("got", str(results)))))
        return (f"{schedules} orders of the threads: one result, and a lock keeps all accesses apart.",), ""
