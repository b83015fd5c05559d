"""Which notebook is whose. Takes a folder, or a zip as an LMS gives it, in any of these layouts:

    anna/07_vector_add.ipynb                                    a folder for each student
    anna_07_vector_add.ipynb                                    flat
    submitted/anna/07_vector_add/07_vector_add.ipynb            nbgrader
    Anna Ant_1234_assignsubmission_file_/07_vector_add.ipynb    Moodle
    antanna_LATE_123_456_07_vector_add-1.ipynb                  Canvas

A student may hand in a zip of their own; it is unpacked with the same care: no path outside the folder, no links,
limited size and number of files.
"""

import csv
import os
import re
import shutil
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

MAX_FILES = 20_000
MAX_TOTAL = 2 << 30
MAX_RATIO = 200
_CANVAS = re.compile(r"^(?P<student>[^_]+?)(?:_LATE)?_\d+_\d+_(?P<file>.+)$")
_MOODLE = re.compile(r"^(?P<student>.+?)_\d+_assignsubmission_file_?(?P<file>.*)$")


class BadSubmissions(ValueError):
    """The folder, zip or roster cannot be used. The message says what was expected."""


@dataclass(frozen=True)
class Submission:
    """One student's notebook for one exercise; `path` is None if nothing was handed in."""

    student: str
    exercise: str
    path: Path | None
    flags: tuple = ()


def unpack(archive, target):
    """Unpack a zip into `target`, without links and without leaving `target`. Returns names that were refused."""
    refused, total = [], 0
    try:
        with zipfile.ZipFile(archive) as pack:
            entries = pack.infolist()
            if len(entries) > MAX_FILES:
                raise BadSubmissions(f"{archive} has {len(entries)} entries; at most {MAX_FILES} are unpacked")
            for entry in entries:
                if entry.is_dir():
                    continue
                path = _inside(target, entry.filename)
                mode = entry.external_attr >> 16
                too_dense = entry.file_size > 1 << 20 and entry.file_size > MAX_RATIO * max(1, entry.compress_size)
                if path is None or stat.S_ISLNK(mode) or too_dense or entry.flag_bits & 1:
                    refused.append(entry.filename)
                    continue
                total += entry.file_size
                if total > MAX_TOTAL:
                    raise BadSubmissions(f"{archive} unpacks to more than {MAX_TOTAL >> 30} GB")
                path.parent.mkdir(parents=True, exist_ok=True)
                with pack.open(entry) as source, open(path, "wb") as out:
                    shutil.copyfileobj(source, out)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, BadSubmissions):
            raise
        raise BadSubmissions(f"{archive} is not a zip that can be read: {error}") from None
    return refused


def _inside(folder, name):
    """The path `name` has inside `folder`, or None if it would lie outside, or has characters no name should have."""
    parts = [part for part in re.split(r"[\\/]", name) if part not in ("", ".")]
    if not parts or ".." in parts or name[:1] in "/\\" or ":" in parts[0] or any(ord(c) < 32 for c in name):
        return None
    if len(parts) > 12 or any(len(part.encode("utf-8", "replace")) > 200 for part in parts):
        return None
    return Path(folder, *parts)


def prepare(source, out):
    """A folder to look for submissions in: `source` itself, or what its zips hold, unpacked below `out`."""
    source = Path(source)
    if source.is_file() and source.suffix == ".zip":
        target = _fresh(Path(out) / ".submissions")
        unpack(source, target)
        source = target
    if not source.is_dir():
        raise BadSubmissions(f"{source} is neither a folder nor a zip. Give the folder that holds the submissions.")
    inner = source / "submitted"
    source = inner if inner.is_dir() else source
    zips = [p for p in _walk(source) if p.suffix == ".zip"]
    if not zips:
        return source
    target = _fresh(Path(out) / ".unpacked")
    for path in _walk(source):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".zip":
            shutil.copyfile(path, place)
            continue
        student = _student_of_flat(path.stem) if path.parent == source else None
        place = target / student if student else place.with_suffix("")
        try:
            unpack(path, place)
        except BadSubmissions:
            place.mkdir(parents=True, exist_ok=True)
    return target


def _fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _walk(folder):
    """Regular files below `folder`, in a fixed order, without following links."""
    for base, folders, files in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(base, name)
            if not path.is_symlink() and path.is_file():
                yield path


def find(folder, exercises, roster=()):
    """A Submission for every student and every exercise (names such as "07_vector_add"), in a fixed order."""
    handed_in, students, strange = {}, set(roster), {}
    for path in _walk(folder):
        relative = path.relative_to(folder)
        if path.suffix != ".ipynb" or ".ipynb_checkpoints" in relative.parts:
            continue
        student, name = _owner(relative, exercises)
        if not student:
            continue
        students.add(student)
        exercise = _exercise(name, exercises) or _exercise(relative.as_posix(), exercises)
        if exercise:
            handed_in.setdefault((student, exercise), []).append(path)
        else:
            strange.setdefault(student, []).append(path)
    students |= {entry.name for entry in os.scandir(folder) if _is_student_folder(entry)} if folder.is_dir() else set()
    submissions = []
    for student in sorted({_clean_student(s) for s in students}):
        for exercise in exercises:
            paths = handed_in.get((student, exercise), [])
            flags = ["not in the roster"] if roster and student not in roster else []
            if not paths and len(exercises) == 1 and len(strange.get(student, ())) == 1:
                paths = strange[student]
                flags.append(f"file is called {paths[0].name}"[:80])
            if len(paths) > 1:
                flags.append(f"{len(paths)} notebooks; graded the newest")
                paths = sorted(paths, key=lambda p: (p.stat().st_mtime_ns, p.name))
            submissions.append(Submission(student, exercise, paths[-1] if paths else None, tuple(flags)))
    return submissions


def _is_student_folder(entry):
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith((".", "__MACOSX"))


def _clean_student(name):
    moodle = _MOODLE.match(name)
    return moodle["student"] if moodle else name


def _owner(relative, exercises):
    """(student, file name) of a notebook, from its path relative to the folder of submissions."""
    first, name = relative.parts[0], relative.name
    if len(relative.parts) > 1:
        return _clean_student(first), name
    return _student_of_flat(Path(name).stem, exercises), name


def _student_of_flat(stem, exercises=()):
    """The student in a flat name: Moodle's, Canvas's, or whatever stands around the name of the exercise."""
    for pattern in (_MOODLE, _CANVAS):
        match = pattern.match(stem)
        if match:
            return match["student"]
    for exercise in exercises:
        if exercise in stem:
            rest = stem.replace(exercise, " ").strip(" _-.") or None
            return re.sub(r"[ _-]+$", "", re.split(r" ", rest)[0]) if rest else None
    return re.split(r"[_\s]\d\d[a-z]?_", stem)[0] if not exercises else None


def _exercise(name, exercises):
    return next((e for e in exercises if e in name), None)


def read_roster(path):
    """The rows of a roster: a CSV with a column `student` and any others, or one name a line."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSubmissions(f"The roster {path} cannot be read: {error}") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise BadSubmissions(f"The roster {path} is empty.")
    if "student" not in [cell.strip() for cell in lines[0].split(",")]:
        if "," in lines[0]:
            raise BadSubmissions(f"The roster {path} has the columns {lines[0]!r}; one of them must be `student`.")
        return [{"student": line.strip()} for line in lines]
    rows = [{k.strip(): (v or "").strip() for k, v in row.items() if k} for row in csv.DictReader(lines)]
    return [row for row in rows if row["student"]]
