"""Result files, one for each student and exercise: written at once, named by what was graded, found again later.

The key of a result covers everything that decides it: the submission's bytes, the master, the seed, the limits, the
sandbox and the course's own code. Work that did not change is not graded again, and a run that was killed goes on.
"""

import hashlib
import json
import secrets
from dataclasses import asdict
from functools import cache
from pathlib import Path

from cpulab.files import write_text

from ..checking import SECRET
from . import exchange
from .intake import slim
from .intake.reading import MAX_NOTEBOOK
from .walls import LIBRARY, PACKAGES


@cache
def code_key():
    """Digest of the library's code: all of it, since any of it may decide a grade."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((LIBRARY / package).rglob("*.py")):
            digest.update(path.relative_to(LIBRARY).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def key_of(submission, master_path, mode, limits, seed, more=()):
    """The key of a submission's result. `more`: texts that decide it, too."""
    digest = hashlib.sha256()
    parts = [code_key(), Path(master_path).read_bytes(), mode, json.dumps(asdict(limits)), str(seed), *more]
    if submission.path is not None:
        try:
            parts.append(slim.read(submission.path, MAX_NOTEBOOK))
        except exchange.BadData as error:
            parts.append(str(error))
    for part in parts:
        part = part.encode() if isinstance(part, str) else part
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:32]


def path_of(out, submission):
    """Where a result lies. Names of students are made into safe file names; a digest keeps them apart."""
    return Path(out) / "results" / safe_name(submission.student) / f"{submission.exercise}.json"


def safe_name(student):
    """A file name for a student's name."""
    plain = "".join(c if c.isalnum() or c in "-." else "_" for c in student)[:60].strip(".") or "_"
    return (
        plain if plain == student else f"{plain}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:8]}"
    )


def load(path):
    """A result file, or None if there is none that can be read."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) and "key" in result else None


def any_graded(out, submissions):
    """True if at least one notebook could be graded, whatever its points."""
    found = (load(path_of(out, submission)) for submission in submissions if submission.path)
    return any(result["status"] in ("graded", "no answers") for result in found if result)


def save(path, result):
    """Write a result, unless it stands there already."""
    if load(path) != result:
        write_text(path, json.dumps(result, indent=1, ensure_ascii=False))


def secret_text(out, wish=None):
    """The secret of this class: `wish`, else what stands in a file made at the first run."""
    path = Path(out) / "seed.txt"
    if wish:
        return wish
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secrets.token_hex(16) + "\n", encoding="utf-8")
    return path.read_text(encoding="utf-8").strip() or "empty"


def secret_seed(out, wish=None):
    """The number that seeds the cases of this class."""
    return SECRET + int.from_bytes(hashlib.sha256(secret_text(out, wish).encode()).digest()[:6], "big")


def whole(points):
    """A number of points without a needless fraction."""
    points = round(points, 2)
    return int(points) if points == int(points) else points
