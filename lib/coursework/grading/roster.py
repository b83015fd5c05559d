"""The list of a class: who is in it, and what else each is called (e-mail, number, login)."""

import csv
import re
import unicodedata
from collections import Counter
from pathlib import Path

_ID = re.compile(r"\bid\b|identifier|number|login|mail|user|account")  # columns that name a person
_NAMES = (("student",), ("full name",), ("name",), ("first name", "last name"), ("first name", "surname"))


class BadSubmissions(ValueError):
    """The folder, archive or roster cannot be used. The message says what was expected."""


def read_roster(path):
    """The rows of a roster: a CSV with a column `student` (or as Canvas and Moodle export it) and any others, or one name
    a line. Names are made different: two called Anna Ant become Anna Ant (a1) and Anna Ant (a2)."""
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
    """The rows with a name of its own for each, the roster's stays in `called`. Who is listed twice, alike, counts once."""
    rows = list({tuple(row.items()): row | {"called": row["student"]} for row in rows}.values())
    often = Counter(row["called"] for row in rows)
    for row in rows:
        if often[row["called"]] == 1:
            continue
        others = [other for other in rows if other["called"] == row["called"] and other is not row]
        own = [v for k, v in row.items() if _ID.search(k) and all(other.get(k) != v for other in others)]
        if not own:
            raise BadSubmissions(
                f"The roster has {row['called']} {often[row['called']]} times, and nothing that tells them apart. "
                "Add a column with their e-mail or id."
            )
        row["student"] = f"{row['called']} ({own[0]})"
    return rows


def _words(name):
    text = unicodedata.normalize("NFKD", name).casefold()
    return re.findall(r"[^\W_]+", "".join(c for c in text if not unicodedata.combining(c)))


def plain(name):
    """A name in which case, accents, punctuation and the order of its words do not matter: "Ant, Änna" as "anna ant"."""
    return " ".join(sorted(_words(name)))


class Class:
    """Finds the one student of a roster whom a name or number means."""

    def __init__(self, rows):
        self.students = [row["student"] for row in rows]
        self._exact, self._ids, self._loose = {}, {}, {}
        for row in rows:
            student, called = row["student"], row.get("called", row["student"])
            for name in {student, called}:
                _put(self._exact, name, student)
                for form in {plain(name), *_joined(name)}:
                    _put(self._loose, form, student)
            for key in filter(_ID.search, row):
                value = row[key].casefold()
                _put(self._ids, value.removeprefix("participant "), student)  # as in Moodle's worksheet
                if "@" in value:
                    _put(self._loose, value.split("@")[0], student)

    def match(self, name, number=""):
        """(student, "") or (None, why not): by number or e-mail first, then by name, exactly before loosely."""
        for table, key in (
            (self._ids, number.casefold()),
            (self._exact, name),
            (self._ids, name.casefold()),
            (self._loose, plain(name)),
            (self._loose, name.casefold()),
        ):
            found = table.get(key, set()) if key else set()
            if len(found) == 1:
                return next(iter(found)), ""
            if len(found) > 1 and table is not self._ids:
                return None, f"fits {len(found)} students of the roster: {', '.join(sorted(found)[:3])}"
        return None, "not in the roster"


def _put(table, key, student):
    table.setdefault(key, set()).add(student)


def _joined(name):
    """As Canvas writes a name, in one word with the family name first: antanna."""
    family, comma, first = name.partition(",")
    words = _words(family) + _words(first) if comma else _words(name)[-1:] + _words(name)[:-1]
    return ("".join(words),) if len(words) > 1 else ()
