"""Which notebook is whose. Takes a folder, or an archive as an LMS gives it, in any of these layouts:

    anna/07_vector_add.ipynb                                    a folder for each student
    anna_07_vector_add.ipynb                                    flat
    submitted/anna/07_vector_add/07_vector_add.ipynb            nbgrader
    Anna Ant_1234_assignsubmission_file_/07_vector_add.ipynb    Moodle
    antanna_LATE_123_456_07_vector_add-1.ipynb                  Canvas
    submission_123/07_vector_add.ipynb                          Gradescope, with submission_metadata.yml beside it
    week7-anna/07_vector_add.ipynb                              repositories, by the logins of the roster

Every entry of the folder gets a row, with a reason where there is nothing to grade. Whose it is follows from the
entry's own name (owners.py); which exercise, from the ids of its cells, else from the file's name.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from ... import definition
from . import archives, owners, reading
from .entries import gather
from .roster import BadSubmissions, Class, read_roster

__all__ = ["BadSubmissions", "Submission", "find", "from_plain", "read_roster"]
NO_EXERCISE = "no exercise"


@dataclass(frozen=True)
class Submission:
    """One student's notebook for one exercise; `path` is None if there is nothing to grade, and `status` says why.
    `date`: when it was handed in, in seconds since 1970."""

    student: str
    exercise: str
    path: Path | None
    flags: tuple = ()
    status: str = "missing"
    date: float | None = None

    def as_plain(self):
        """What JSON can hold, for another process."""
        return [self.student, self.exercise, str(self.path or ""), list(self.flags), self.status, self.date]


def from_plain(plain):
    """The submission that `as_plain` made data of."""
    student, exercise, path, flags, status, date = plain
    return Submission(student, exercise, Path(path) if path else None, tuple(flags), status, date)


@dataclass
class _Work:
    """What one student handed in: notebooks by exercise, and what is to be said of the rest."""

    notebooks: dict = field(default_factory=lambda: defaultdict(list))
    strange: list = field(default_factory=list)
    notes: list = field(default_factory=list)


def find(source, exercises, rows=(), scratch=None, ids=None):
    """A Submission for every student and every exercise (names such as "07_vector_add"), in a fixed order; entries of
    the folder that fit nobody come last.

    `rows`: of the roster. `scratch`: where archives may be unpacked. `ids`: exercise -> ids of its cells.
    """
    exercises, ids = list(exercises), ids or {}
    entries = gather(Path(source), scratch, exercises, rows)
    whose, guesses, known = {}, {}, Class(rows)
    for entry in entries:
        found = (
            owners.of_submitters(entry.handed.people, known)
            if entry.handed
            else owners.of_entry(entry.name, entry.folder, exercises)
        )
        whose[entry.name], guesses[entry.name] = found
    for name, login in owners.without_assignment([e.name for e in entries if e.folder], known).items():
        whose[name] = owners.Owner(login)
    students, flags = owners.students_of({o for o in whose.values() if o}, rows)
    works, unmatched = defaultdict(_Work), []
    certain = {row["student"] for row in rows}
    certain |= {students[whose[e.name]][0] for e in entries if whose[e.name] and not e.loose} - {None}
    for student in certain:
        works[student]  # has a row, whatever was handed in
    for entry in entries:
        student, why = (
            students[whose[entry.name]] if whose[entry.name] else (None, guesses[entry.name] or "names no student")
        )
        if entry.loose and student not in certain:
            student, why = None, "; ".join(entry.problems)
        if student is None:
            unmatched.append(_unmatched(entry, why, exercises, ids))
            continue
        work = works[student]
        guess = guesses[entry.name] if not rows else ""
        work.notes += [note for note in (flags.get(whose[entry.name]), guess, *entry.problems) if note]
        for file in entry.files:
            exercise, note = _exercise(file, exercises, ids)
            if exercise is None and _of_another_chapter(file):
                continue
            (work.notebooks[exercise] if exercise else work.strange).append((file, note))
    found = [s for student in sorted(works) for s in _rows(student, works[student], exercises)]
    return found + unmatched


def _unmatched(entry, why, exercises, ids):
    exercise = next((e for file in entry.files if (e := _exercise(file, exercises, ids)[0])), NO_EXERCISE)
    what = (
        "put it into a folder with the student's name, as in the roster, and grade again"
        if entry.files
        else "look at it"
    )
    return Submission(entry.name, exercise, None, (), f"unmatched: {why}; {what}")


def _exercise(file, exercises, ids):
    """(the exercise of a notebook or None, a note): whose cells it has, else whose name stands in its path."""
    inside = reading.ids(file.path) if ids else set()
    shared = {e: len(inside & ids[e]) for e in exercises if e in ids and inside & ids[e]}
    called, shown = file.parts[-1], f"file is called {archives.shown(file.parts[-1])}"
    name = next((e for e in exercises if owners.named(e).search(called)), None)
    if max(shared.values(), default=0) > shared.get(name, 0):
        exercise = max(shared, key=shared.get)
        return exercise, f"{shown}, and has the cells of {exercise}"
    if name:
        return name, "" if name in called else shown
    return next((e for e in exercises for part in file.parts if owners.named(e).search(part)), None), shown


def _of_another_chapter(file):
    """Whether it is called as the notebook of a chapter that is not graded now."""
    found = re.match(r"(\d\d[a-z]?)_\w", file.parts[-1])
    return bool(found) and found[1] in definition.chapters()


def _rows(student, work, exercises):
    """The rows of one student."""
    if not work.notebooks and len(exercises) == 1 and len(work.strange) == 1:
        work.notebooks[exercises[0]] = work.strange
    elif work.strange:
        names = ", ".join(archives.shown(file.parts[-1]) for file, _ in work.strange[:3])
        work.notes.append(f"neither name nor cells of an exercise: {names}")
    missing = [e for e in exercises if not work.notebooks.get(e)]
    for exercise in exercises:
        files = sorted(work.notebooks.get(exercise, ()), key=lambda item: (item[0].date, item[0].parts))
        # what is wrong with an archive may be why any of the others is missing
        flags = list(work.notes) if exercise in (missing or exercises[:1]) else []
        file, note = files[-1] if files else (None, "")
        flags += [note] * bool(note)
        flags += [f"{len(files)} notebooks; graded the newest"] * (len(files) > 1)
        yield Submission(
            student, exercise, file and file.path, tuple(dict.fromkeys(flags)), date=file.came if file else None
        )
