"""The rows of a class: results as they were graded, and what the instructor adds to them.

Results are never changed by what is added: it is read anew each time, so that it survives grading again.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from .. import own
from . import results
from .grade import empty_result
from .intake import people, slim
from .offered import Wishes


@dataclass(frozen=True)
class Added:
    """What the instructor adds: read before anything is graded, so that a mistake in a file is said at once."""

    roster: tuple = ()
    wishes: Wishes = field(default_factory=Wishes)
    numbers: own.Numbers | None = None  # where each student has numbers of their own

    @classmethod
    def read(cls, out, roster=(), overrides_path=None, policy_path=None, times_path=None):
        """From the files named, or those of the usual names in the folder `out`."""
        return cls(
            tuple(roster),
            Wishes.read(out, overrides_path, policy_path, times_path),
            own.Numbers.read(Path(out) / own.NUMBERS),
        )

    def persons(self, submission):
        """The names by which a student may have asked for numbers of their own: the grader's, and those of the
        roster."""
        row = next((r for r in self.roster if r["student"] == submission.student), None)
        who = people.described(submission.student, row)
        identities = [submission.student, *(v for kind in sorted(who) for v in who[kind])]
        return list(self.numbers.persons or dict.fromkeys(map(own.plain, identities)))

    def draws(self, submission):
        """What gives the tasks with the numbers that a student may have; None where all have those of the book.

        draws(task, said): `said` is who the student says they are, if they may.
        """
        if self.numbers is None:
            return None
        persons = self.persons(submission)
        return lambda task, said: self.numbers.tasks(task, sorted(persons, key=lambda p: p != own.plain(said)))

    def decides(self, submission):
        """What decides a grade beside the submission, the master and the code."""
        return [self.numbers.text(), *self.persons(submission)] if self.numbers else []


def rows_of(out, submissions, masters, added):
    """(rows, pairs that look alike, sentences for the instructor) of a class; `late` and `overrides` say what a row
    has."""
    by_student = {row["student"]: row for row in added.roster}
    rows = []
    for submission in submissions:
        result = results.load(results.path_of(out, submission))
        if result is None:
            result = empty_result(submission.student, submission.exercise, "not graded") | {"key": ""}
        who = people.described(submission.student, by_student.get(submission.student), submission.path)
        marked = ["marked LATE by Canvas"] if any("_LATE_" in name for name in who.get("canvas_file", ())) else []
        flags = [*submission.flags, *result["flags"], *marked]
        more = {
            "flags": flags,
            "told": [flag for flag in flags if flag != "not in the roster"],  # what concerns others comes later
            "who": who,
            "submitted": _time_of(submission),
            "digest": _digest(submission.path),
        }
        rows.append(result | more)
    return added.wishes.settle(out, rows, masters)


def what_somebody_handed_in(submissions, masters):
    """(submissions, masters) without the exercises that are not due yet: no row of "missing" for everybody."""
    there = {s.exercise for s in submissions if s.path is not None} or set(masters)
    kept = [s for s in submissions if s.exercise in there or getattr(s, "status", "missing") != "missing"]
    return kept, {name: p for name, p in masters.items() if name in there}


def _time_of(submission):
    """When it was handed in, as far as a learning system or the date of its file says."""
    if submission.path is None:
        return ""
    date = submission.path.stat().st_mtime if submission.date is None else submission.date
    return datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds")


def _digest(path):
    """What tells this file from a later one."""
    if path is None or path.stat().st_size > slim.MAX_FILE:
        return ""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
