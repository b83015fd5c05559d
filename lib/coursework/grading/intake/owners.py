"""Whose an entry of the submissions folder is, from its name alone: what a student puts inside counts for that
student."""

import re
from collections import Counter
from dataclasses import dataclass

from .archives import is_notebook
from .roster import Class

_CANVAS = re.compile(r"^(?P<name>[^_]+?)(?:_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)$")
_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)$")
_ENDING = re.compile(r"(\.(ipynb|txt|json|zip|tar|tgz|tbz2|txz|gz|bz2|xz|rar|7z|zst|lz4|pdf|py))+$", re.IGNORECASE)
_COPY = re.compile(r"(\s*\(\d+\)|[\s_-]+\d{1,2}|[\s_-]*(copy|kopie)\s*\d*)+$", re.IGNORECASE)


@dataclass(frozen=True)
class Owner:
    """What an entry's name says of a student: a name, and the number that a learning system gives each person."""

    name: str
    number: str = ""


def of_entry(name, folder, exercises):
    """(Owner or None, note) of an entry at the top; `folder`: it is one. The note says where a guess was made."""
    stem = name if folder else _ENDING.sub("", name)
    for pattern in (_MOODLE, _CANVAS):
        match = pattern.match(name if pattern is _MOODLE else stem)
        if match:
            return Owner(match["name"], match["number"]), ""
    if folder:
        return Owner(name), ""
    for exercise in exercises:
        match = named(exercise).search(stem)
        if match:
            before, after = (part.strip(" _-.") for part in (stem[: match.start()], stem[match.end() :]))
            name = before or _COPY.sub("", " " + after).strip(" _-.")
            return (Owner(name) if name and not name.isdigit() else None), ""
    guess = "the name of the student is that of the file" if is_notebook(name) else ""
    return (Owner(stem) if stem else None), guess


def of_submitters(people, known):
    """(Owner or None, note) of what Gradescope says who handed in: by e-mail or number if the roster has them, else by
    name."""
    if len(people) != 1:
        names = ", ".join(person.name or person.email for person in people)
        return None, f"was handed in by {len(people)} students together: {names}" if people else "names no student"
    (person,) = people
    for sure in (person.email, person.number):
        if sure and known.match(sure)[0]:
            return Owner(sure), ""
    name = person.name or person.email or person.number
    return (Owner(name, person.number) if name else None), ""


def without_assignment(names, known):
    """{name: what follows the assignment's} of folders called after both (week7-anna, as GitHub names repositories):
    where that is an id of the roster, and the assignment stands before several."""
    parts = [(name, name[:dash], name[dash + 1 :]) for name in names for dash, sign in enumerate(name) if sign == "-"]
    parts = [part for part in parts if known.has_id(part[2]) and not known.match(part[0])[0]]
    often = Counter(before for _, before, _ in parts)
    return {name: login for name, before, login in reversed(parts) if often[before] > 1}


def named(exercise):
    """Finds the name of an exercise in a file's name, however it is written: 07_vector_add, 7 Vector-Add."""
    words = r"[\s_-]*".join(re.escape(word.lstrip("0")) for word in exercise.split("_"))
    return re.compile(rf"(?<![0-9])0?{words}", re.IGNORECASE)


def students_of(owners, rows):
    """({owner: (student or None, why not)}, flags of an owner) for all `owners` of the folder.

    Two entries never become one student by their name alone: each keeps a row, told apart by number, or neither is
    graded.
    """
    known, students, flags = Class(rows), {}, {}
    for owner in owners:
        student, why = known.match(owner.name, owner.number) if rows else (owner.name, "")
        if student is None and why == "not in the roster":
            student, flags[owner] = owner.name, why
        students[owner] = (student, why)
    for student in {student for student, _ in students.values() if student}:
        same = sorted((o for o in owners if students[o][0] == student), key=lambda o: (o.name, o.number))
        if len(same) < 2:
            continue
        exact = [o for o in same if o.name == student and not o.number]
        for owner in same:
            others = ", ".join(o.name + f" ({o.number})" * bool(o.number) for o in same if o is not owner)
            if [owner] == exact:
                continue
            if owner.number and student not in known.students:
                students[owner] = (f"{owner.name} ({owner.number})", "")
                flags[owner] = f"{len(same)} students are called {student}"
            else:
                students[owner] = (None, f"is not the only entry that means {student}: there is {others}, too")
    return students, flags
