"""What Gradescope exports: a folder `submission_123` for each submission, and beside them a file that says whose each
is."""

from dataclasses import dataclass
from datetime import UTC, datetime

from ..intake.roster import BadSubmissions

FILE = "submission_metadata.yml"


@dataclass(frozen=True)
class Person:
    """Who handed something in. Any of these may be empty."""

    name: str
    email: str
    number: str


@dataclass(frozen=True)
class Handed:
    """A submission: who handed it in (several, where a group did), and when, in seconds since 1970, or None."""

    people: tuple
    date: float | None


def read(folder):
    """{name of a folder: Handed}, of the file in `folder`; {} where there is none."""
    path = folder / FILE
    if path.is_symlink() or not path.is_file():
        return {}
    import yaml

    try:
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadSubmissions(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(told, dict):
        raise BadSubmissions(f"{path} holds no submissions; expected the file that Gradescope's export has.")
    return {str(name): _handed(entry) for name, entry in told.items() if isinstance(entry, dict)}


def _handed(entry):
    listed = entry.get(":submitters")
    found = [submitter for submitter in (listed if isinstance(listed, list) else ()) if isinstance(submitter, dict)]
    people = (
        Person(*(str(submitter.get(f":{key}") or "").strip() for key in ("name", "email", "sid")))
        for submitter in found
    )
    when = entry.get(":created_at")
    if isinstance(when, datetime):
        when = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return Handed(tuple(people), when if isinstance(when, float) else None)
