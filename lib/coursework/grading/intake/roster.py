"""The list of a class: who is in it, and what else each is called (e-mail, number, login)."""

import csv
from collections import Counter
from pathlib import Path

from . import people

_NAMES = (("student",), ("full name",), ("name",), ("first name", "last name"), ("first name", "surname"))


class BadSubmissions(ValueError):
    """The folder, archive or roster cannot be used. The message says what was expected."""


def read_roster(path):
    """The rows of a roster: a CSV with a column `student` (or as Canvas and Moodle export it) and any others, or one
    name a line. Names are made different: two called Anna Ant become Anna Ant (a1) and Anna Ant (a2)."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSubmissions(f"The roster {path} cannot be read: {error}") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise BadSubmissions(f"The roster {path} is empty.")
    comma = max(",;\t", key=lines[0].count)
    header = [cell.strip().lower() for cell in next(csv.reader(lines[:1], delimiter=comma))]
    named = next((names for names in _NAMES if set(names) <= set(header)), None)
    if len(header) == 1 and named != ("student",):
        return _told_apart([{"student": line.strip()} for line in lines])
    if named is None:
        raise BadSubmissions(f"The roster {path} has the columns {lines[0]!r}; one of them must be `student`.")
    rows = []
    for cells in csv.reader(lines[1:], delimiter=comma):
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if name}
        student = " ".join(filter(None, (row.get(name, "") for name in named)))
        if student and not student.startswith("Points Possible"):
            rows.append({"student": student} | {k: v for k, v in row.items() if k not in named and v})
    return _told_apart(rows)


def _told_apart(rows):
    """The rows with a name of its own for each, the roster's stays in `called`. Who is listed twice, alike, counts
    once."""
    rows = list({tuple(row.items()): row | {"called": row["student"]} for row in rows}.values())
    often = Counter(row["called"] for row in rows)
    for row in rows:
        if often[row["called"]] == 1:
            continue
        others = [other for other in rows if other["called"] == row["called"] and other is not row]
        distinct = [row[k] for k in _identifying(row) if all(other.get(k) != row[k] for other in others)]
        if not distinct:
            raise BadSubmissions(
                f"The roster has {row['called']} {often[row['called']]} times, and nothing that tells them apart. "
                "Add a column with their e-mail or id."
            )
        row["student"] = f"{row['called']} ({distinct[0]})"
    return rows


def _identifying(row):
    """The columns of a row that tell who somebody is, in its order."""
    titles, found = list(row), people.columns(row)
    return [titles[column] for column in sorted({column for kind in people.IDENTIFYING for column in found[kind]})]


class Class:
    """Finds the one student of a roster whom a name or number means."""

    def __init__(self, rows):
        self.students = [row["student"] for row in rows]
        self._exact, self._ids, self._numbers, self._loose = {}, {}, {}, {}
        for row in rows:
            student = row["student"]
            who = people.described(student, row)
            for name in {student, row.get("called", student), *who.get("name", ())}:
                _put(self._exact, name, student)
                for form in {people.plain(name), *_joined(name)}:
                    _put(self._loose, form, student)
            for kind, text in people.known_of(who):
                _put(self._ids, text, student)
                if kind in people.NUMBERED:
                    _put(self._numbers, text, student)
                if kind == "email":
                    _put(self._loose, text.split("@")[0], student)

    def match(self, name, number=""):
        """(student, "") or (None, why not): by the number of a learning system, else by name, exactly before loosely.

        Another number of the roster may be the same by chance: it decides only between students whose name it could be.
        """
        named, number = self._named(name), people.value(number)
        if len(self._numbers.get(number, ())) == 1:
            (student,) = self._numbers[number]
            if named and student not in named:
                return None, f"its number is {student}'s, its name {' or '.join(sorted(named)[:3])}'s"
            return student, ""
        meant = named & self._ids.get(number, set())
        named = meant if len(meant) == 1 else named
        if len(named) > 1:
            return None, f"fits {len(named)} students of the roster: {', '.join(sorted(named)[:3])}"
        return (next(iter(named)), "") if named else (None, "not in the roster")

    def has_id(self, text):
        """Whether a text is the e-mail, id or login of one student."""
        return len(self._ids.get(people.value(text), ())) == 1

    def _named(self, name):
        """The students whom a name could mean."""
        by_id = self._ids.get(people.value(name), set())
        tables = self._exact.get(name), by_id if len(by_id) == 1 else (), self._loose.get(people.plain(name))
        return next(filter(None, (*tables, self._loose.get(name.casefold()))), set())


def _put(table, key, student):
    table.setdefault(key, set()).add(student)


def _joined(name):
    """As Canvas writes a name, in one word with the family name first: antanna."""
    family, comma, first_name = name.partition(",")
    words = (
        people.words(family) + people.words(first_name) if comma else people.words(name)[-1:] + people.words(name)[:-1]
    )
    return ("".join(words),) if len(words) > 1 else ()
