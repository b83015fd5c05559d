"""Tables of other systems: read and written as they came, and what may be put into a cell of them.

A cell that holds something is somebody's grade, and stays, unless it is what we wrote there the last time:
`exported.json` remembers that. Who handed in nothing is left as they were.
"""

import csv
import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

from cpulab.files import write_text

from ..reports import open_grade
from ..results import whole

LEDGER = "exported.json"
EMPTY = ("", "-")


class ExportError(ValueError):
    """An export cannot be made. The message says what was missing."""


@dataclass
class Table:
    """A CSV with the signs that it came with: a spreadsheet of another country has `;` between its cells."""

    rows: list
    delimiter: str = ","
    mark: str = ""  # a byte order mark, where there was one

    @classmethod
    def read(cls, path):
        try:
            text = Path(path).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ExportError(f"{path} cannot be read: {error}") from None
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        text = text.removeprefix(mark)
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        if not rows:
            raise ExportError(f"{path} is empty.")
        width = len(rows[0])  # a spreadsheet leaves out the empty cells at the end of a row
        return cls([[*row, *[""] * (width - len(row))] if row else row for row in rows], delimiter, mark)

    def text(self):
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator="\n").writerows(self.rows)
        return self.mark + out.getvalue()

    def cells(self, row):
        """A row as a dict; of columns of one name, the first."""
        return dict(reversed(list(zip(self.rows[0], row, strict=False))))


@dataclass
class Merge:
    """Puts grades where they may stand, and knows what to tell of it."""

    system: str
    ledger: dict  # student -> {exercise: what we wrote the last time}
    zero: bool = False  # nothing handed in counts 0
    scale: bool = False
    whole_numbers: bool = False
    filled: int = 0
    same: int = 0
    kept: list = field(default_factory=list)
    without: list = field(default_factory=list)

    def grade(self, row, most=None):
        """What to write for a row, as text; None where there is no grade. `most`: the points that the other system
        gives."""
        if open_grade(row):
            nothing_came = row["status"].startswith(("missing", "unreadable"))
            if not (self.zero and nothing_came):
                self.without.append(
                    f"{row['student']}, {row['exercise']}: {row['status'].partition(':')[0]}, no grade written"
                )
                return None
        points = row["final"] if not open_grade(row) else 0
        if most not in (None, row["max_points"]):
            if not self.scale:
                raise ExportError(
                    f"{row['exercise']} has {row['max_points']} points, and the file gives {most:g}. "
                    f"Change that in {self.system}, or add --scale to convert."
                )
            points = whole(points * most / row["max_points"])
        return f"{math.floor(points + 0.5) if self.whole_numbers else points:g}"

    def put(self, row, held, most=None):
        """What a cell that holds `held` should hold."""
        new, student, exercise = self.grade(row, most), row["student"], row["exercise"]
        if new is None:
            return held
        old = self.ledger.get(student, {}).get(exercise)
        if _equal(held, new):
            self.same += 1
            if old is None:
                return held  # somebody else's, by chance the same: not ours to change later
        elif held.strip() in EMPTY or _equal(held, old):
            self.filled += 1
        else:
            self.kept.append(f"{student}, {exercise}: {held.strip()} stays, entered there; graded here {new}")
            return held
        self.ledger.setdefault(student, {})[exercise] = new
        return held if _equal(held, new) else new

    def is_ours(self, row, held):
        """Whether a cell holds what we wrote there, now or the last time."""
        old = self.ledger.get(row["student"], {}).get(row["exercise"])
        return _equal(held, old) and not open_grade(row)

    def told(self):
        """Lines for the terminal."""
        lines = [f"{self.filled} grades written, {self.same} there already."]
        lines += (
            [f"{len(self.kept)} left as they were entered in {self.system}:", *_listed(self.kept)] if self.kept else []
        )
        lines += [f"{len(self.without)} without a grade:", *_listed(self.without)] if self.without else []
        return lines


def _listed(lines):
    return [f"  {line}" for line in lines]


def number(text):
    """The number that a cell holds, with a comma or a point; nan for anything else."""
    try:
        return float(str(text).strip().replace(",", "."))
    except ValueError:
        return math.nan


def _equal(cell, value):
    return value is not None and (number(cell) == number(value) or cell.strip() == str(value))


def load(out):
    """The rows of grades.json in the folder `out`, without entries that are of no exercise."""
    try:
        return [r for r in json.loads((Path(out) / "grades.json").read_text(encoding="utf-8")) if r["max_points"]]
    except (OSError, ValueError) as error:
        raise ExportError(f"{out} has no grades.json that can be read ({error}). Grade first.") from None


def ledger_of(out, system):
    try:
        return json.loads((Path(out) / LEDGER).read_text(encoding="utf-8")).get(system, {})
    except (OSError, ValueError):
        return {}


def remember(out, system, ledger):
    path = Path(out) / LEDGER
    known = {}
    if path.exists():
        known = json.loads(path.read_text(encoding="utf-8"))
    write_text(path, json.dumps(known | {system: ledger}, indent=1, ensure_ascii=False))
