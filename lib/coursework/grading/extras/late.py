"""Dates: what a small file says about late work, and when feedback is handed back, `policy.toml`.

grace_minutes = 10      # so long after the due time, nothing is late
free_days = 2           # for each student, over all exercises, taken as they are needed
penalty = 10            # per cent of the points, for each further day begun
of = "earned"           # of the points that were earned, or of the "most" that there are
last_day = 7            # what comes more days late than this gets 0 points
zone = "Europe/Berlin"  # of times that name none; without it, this machine's
regrade_days = 7        # so long after feedback was released, a regrade may be asked for

[due]
07 = 2026-11-20T23:59:00

[feedback]              # nothing of it is handed back before
07 = 2026-11-27T08:00:00

[extensions."Ant, Anna"]   # days, for one student
07 = 3
"""

import csv
import json
import math
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from cpulab.files import write_text

from ...definition import chapter_of, padded
from ..intake import people
from ..intake.roster import BadSubmissions
from ..results import whole

FILE, TIMES = "policy.toml", "submitted.json"
_NUMBERS = {"grace_minutes": 0, "free_days": 0, "penalty": 0, "last_day": math.inf, "regrade_days": math.inf}
_MOODLE_TIME, _FORMS_TIME = "%A, %d %B %Y, %I:%M %p", "%Y/%m/%d %I:%M:%S %p GMT%z"
_ZONE = re.compile(r"GMT(?:([+-])(\d{1,2})(?::(\d\d))?)?$")  # a form of Google's writes GMT+2


@dataclass(frozen=True)
class Policy:
    due: dict = field(default_factory=dict)  # number of an exercise, "07" -> when, aware of its zone
    extensions: dict = field(default_factory=dict)  # student -> {"07": days}
    grace_minutes: float = 0
    free_days: float = 0
    penalty: float = 0
    last_day: float = math.inf
    of: str = "earned"
    feedback: dict = field(default_factory=dict)  # "07" -> when its feedback is released, aware of its zone
    regrade_days: float = math.inf

    def days(self, student, exercise, submitted):
        """The days begun after the due time of an exercise and the student's extension; 0 where there is none."""
        due = self.due_for(student, exercise)
        over = submitted - due - timedelta(minutes=self.grace_minutes) if due else timedelta()
        return max(0, math.ceil(over / timedelta(days=1)))

    def last_request(self, exercise):
        """When the time for regrade requests ends; None where it does not."""
        begins = self.feedback.get(chapter_of(exercise))
        return begins + timedelta(days=self.regrade_days) if begins and self.regrade_days < math.inf else None

    def due_for(self, student, exercise):
        due = self.due.get(chapter_of(exercise))
        return due and due + timedelta(days=self.extensions.get(student, {}).get(chapter_of(exercise), 0))


def read(path):
    """The policy in a file, None if there is none; BadSubmissions for what is not understood."""
    path = Path(path)
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadSubmissions(f"{path} cannot be read: {error}") from None
    known = ("due", "feedback", "extensions", "zone", "of", *_NUMBERS)
    if strange := [name for name in said if name not in known]:
        raise BadSubmissions(f"{path}: {strange[0]!r} is not known; there are {', '.join(known)}.")
    numbers = {name: said.get(name, usual) for name, usual in _NUMBERS.items()}
    for name, value in numbers.items():
        if type(value) not in (int, float) or value < 0 or (name == "penalty" and value > 100):
            raise BadSubmissions(
                f"{path}: {name} is {value!r}; expected a number from 0 "
                f"on{', at most 100' if name == 'penalty' else ''}."
            )
    if said.get("of", "earned") not in ("earned", "most"):
        raise BadSubmissions(f'{path}: of is {said["of"]!r}; expected "earned" or "most".')
    zone = _zone(path, said.get("zone"))
    due, feedback = (
        {
            _number(path, name): _when(f"{path}, [{table}]", name, value, zone)
            for name, value in said.get(table, {}).items()
        }
        for table in ("due", "feedback")
    )
    if "regrade_days" in said and not feedback:
        raise BadSubmissions(f"{path}: regrade_days count from a date in [feedback], and there is none.")
    extensions = {}
    for student, days in said.get("extensions", {}).items():
        if not isinstance(days, dict) or not all(type(d) in (int, float) and d >= 0 for d in days.values()):
            raise BadSubmissions(f"{path}: the extension of {student} should be like 07 = 3, a number of days.")
        extensions[student] = {_number(path, name): value for name, value in days.items()}
    return Policy(due, extensions, of=said.get("of", "earned"), feedback=feedback, **numbers)


def _zone(path, name):
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, LookupError):  # ZoneInfoNotFoundError is a LookupError
        raise BadSubmissions(f"{path}: there is no time zone {name!r}; expected one like Europe/Berlin.") from None


def _number(path, name):
    number = padded(chapter_of(name))
    if not re.fullmatch(r"\d\d[a-z]?", number):
        raise BadSubmissions(f"{path}: {name!r} is no exercise; expected a number like 07.")
    return number


def _when(path, name, value, zone):
    if not isinstance(value, datetime):
        raise BadSubmissions(f"{path}: {name} is {value!r}; expected a date and a time, as 2026-11-20T23:59:00.")
    return value if value.tzinfo else value.replace(tzinfo=zone) if zone else value.astimezone()


def read_times(path):
    """[(cells of the line, exercise or "", when), ...] from a CSV with the times at which work was handed in.

    Columns: `submitted` (2026-11-20T22:10) and `student`, with an `exercise` where there are several; or Moodle's
    grading worksheet.
    """
    try:
        lines = list(csv.DictReader(Path(path).read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise BadSubmissions(f"{path} cannot be read: {error}") from None
    column = next((c for c in ("submitted", "Last modified (submission)") if lines and c in lines[0]), None)
    if column is None:
        raise BadSubmissions(f"{path} has no column `submitted`, and is no grading worksheet of Moodle.")
    return [
        (line, (line.get("exercise") or "").strip(), moment(path, line[column].strip()))
        for line in lines
        if (line[column] or "").strip() not in ("", "-")
    ]


def moment(path, text):
    """The time that a text of the file `path` names; BadSubmissions if it names none."""
    text = _ZONE.sub(lambda m: f"GMT{m[1] or '+'}{int(m[2] or 0):02d}{m[3] or '00'}", text)
    for form in (None, _MOODLE_TIME, _FORMS_TIME):
        try:
            when = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            continue
        return when if when.tzinfo else when.astimezone()
    raise BadSubmissions(f"{path}: {text!r} is no time that is understood; expected one like 2026-11-20T22:10.")


def set_times(rows, times):
    """Put the times that the instructor knows in the place of the files' dates; sentences about those of nobody."""
    if not times:
        return []
    persons = {row["student"]: people.person(row["student"], row["who"]) for row in rows}
    lines = [people.line_of(cells) for cells, _, _ in times]
    found, doubts = {}, []
    for index, line in enumerate(lines):  # one by one: a student has a line for each exercise
        matched, doubt = people.match(list(persons.values()), [line])
        if matched:
            found[index] = matched[0]
        doubts += doubt or ([] if matched else [f"{line.label} is nobody of this class"])
    by_student = defaultdict(list)
    for index, student in found.items():
        by_student[student].append(times[index][1:])
    for row in rows:
        for exercise, when in by_student[row["student"]]:
            if row["submitted"] and (not exercise or padded(chapter_of(exercise)) == chapter_of(row["exercise"])):
                row["submitted"] = when.isoformat()
    return [f"times: {sentence}" for sentence in dict.fromkeys(doubts)]


def remember(out, rows):
    """The times of all exercises that were ever graded into `out`, {student: {exercise: when}}, with those of
    `rows`."""
    path = Path(out) / TIMES
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    for row in rows:
        if row.get("submitted"):
            known.setdefault(row["student"], {})[row["exercise"]] = row["submitted"]
    if known:
        write_text(path, json.dumps(known, indent=1, ensure_ascii=False))
    return {s: {e: datetime.fromisoformat(when) for e, when in times.items()} for s, times in known.items()}


def charge(policy, rows, times):
    """Rows with "late" ({} or what it is and costs) and "final", the points that count.

    `times`: as `remember` gives them. Free days are taken in the order of the due dates, whatever was graded when.
    """
    days = defaultdict(dict)
    for student, submitted in times.items() if policy else ():
        free = policy.free_days
        for exercise in sorted(
            submitted, key=lambda e: (policy.due.get(chapter_of(e)) or datetime.max.replace(tzinfo=UTC), e)
        ):
            late = policy.days(student, exercise, submitted[exercise])
            taken = min(late, math.floor(free)) if late <= policy.last_day else 0
            free -= taken
            days[student][exercise] = (late, taken)
    return [
        row | _charged(policy, row, *days[row["student"]].get(row["exercise"], (0, 0))) | _released(policy, row)
        for row in rows
    ]


def _released(policy, row):
    when = policy and policy.feedback.get(chapter_of(row["exercise"]))
    return {"feedback": when.isoformat()} if when else {}


def _charged(policy, row, late, taken):
    """What lateness adds to a row; the points by hand are the last word."""
    by_hand = row.get("by_hand")
    if not late or not row.get("submitted"):
        return {"late": {}, "final": row["points"] if by_hand is None else by_hand}
    lost = _lost(policy, row, late, taken)
    due = policy.due_for(row["student"], row["exercise"]).isoformat()
    final = whole(max(0, row["points"] - lost)) if by_hand is None else by_hand
    return {"late": {"days": late, "free": taken, "lost": whole(lost), "due": due}, "final": final}


def _lost(policy, row, late, taken):
    if late > policy.last_day:
        return row["points"]
    base = row["points"] if policy.of == "earned" else row["max_points"]
    return min(row["points"], base * min(100, policy.penalty * (late - taken)) / 100)


def shown(when):
    """A time as a person reads it."""
    return when.isoformat(" ", "minutes")


def told(policy, rows):
    """Sentences about feedback that is not handed back before a date, without asking whether the date has come."""
    dates = {row["exercise"]: policy.feedback.get(chapter_of(row["exercise"])) for row in rows if policy}
    return [
        f"Feedback of {e} is released {shown(when)}: `make feedback` hands back nothing of it before."
        for e, when in sorted(dates.items())
        if when
    ]


def held(out, rows, now):
    """{exercise: when its feedback is released} of those rows' exercises for which that is after `now`.

    The policy in the folder `out` counts as it stands now; without one, what the policy said when `rows` were made.
    """
    policy, found = read(Path(out) / FILE), {}
    for row in rows:
        said = row.get("feedback", "")
        when = policy.feedback.get(chapter_of(row["exercise"])) if policy else said and datetime.fromisoformat(said)
        if when and when > now:
            found[row["exercise"]] = when
    return found
