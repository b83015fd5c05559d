"""The rows of a class: results as they were graded, and what the instructor adds to them.

Results are never changed by what is added: it is read anew each time, so that it survives grading again.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .. import definition, own
from . import late, overrides, people, results, slim
from .flags import look_alikes
from .grade import empty_result


@dataclass(frozen=True)
class Added:
    """What the instructor adds: read before anything is graded, so that a mistake in a file is said at once."""

    roster: tuple = ()
    overrides: tuple = ()
    policy: late.Policy | None = None
    times: tuple = ()  # late.read_times
    numbers: own.Numbers | None = None  # where each student has numbers of their own

    @classmethod
    def read(cls, out, roster=(), overrides_path=None, policy_path=None, times_path=None):
        """From the files named, or those of the usual names in the folder `out`."""
        return cls(
            tuple(roster),
            overrides.read(overrides_path or Path(out) / overrides.FILE),
            late.read(policy_path or Path(out) / late.FILE),
            tuple(late.read_times(times_path)) if times_path else (),
            own.Numbers.read(Path(out) / own.NUMBERS),
        )

    def persons(self, submission):
        """The names by which a student may have asked for numbers of their own: the grader's, and those of the roster."""
        row = next((r for r in self.roster if r["student"] == submission.student), None)
        who = people.described(submission.student, row)
        mine = [submission.student, *(v for kind in sorted(who) for v in who[kind])]
        return list(self.numbers.persons or dict.fromkeys(map(own.plain, mine)))

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
    """(rows, pairs that look alike, sentences for the instructor) of a class; `late` and `overrides` say what a row has."""
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
    said = _set_times(rows, added.times)
    alike, pairs = look_alikes(rows, masters)
    for row in rows:
        row["flags"] = [*row["flags"], *alike.get((row["student"], row["exercise"]), ())]
    rows, lost = overrides.apply(rows, added.overrides)
    said += [f"{overrides.FILE}: {sentence}" for sentence in lost]
    times = late.remember(out, rows)
    return late.charge(added.policy, rows, times), pairs, said


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


def _set_times(rows, times):
    """Put the times that the instructor knows in the place of the files' dates; sentences about those of nobody."""
    if not times:
        return []
    persons = {row["student"]: people.person(row["student"], row["who"]) for row in rows}
    lines = [people.line_of(cells) for cells, _, _ in times]
    found, doubts = {}, []
    for place, line in enumerate(lines):  # one by one: a student has a line for each exercise
        one, doubt = people.match(list(persons.values()), [line])
        if one:
            found[place] = one[0]
        doubts += doubt or ([] if one else [f"{line.label} is nobody of this class"])
    by_student = defaultdict(list)
    for place, student in found.items():
        by_student[student].append(times[place][1:])
    for row in rows:
        for exercise, when in by_student[row["student"]]:
            if row["submitted"] and (
                not exercise
                or definition.padded(definition.chapter_of(exercise)) == definition.chapter_of(row["exercise"])
            ):
                row["submitted"] = when.isoformat()
    return [f"times: {sentence}" for sentence in dict.fromkeys(doubts)]
