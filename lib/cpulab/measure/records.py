"""Results kept for later, with what is needed to judge and repeat them.

``record`` writes ``benchmarks/results/NAME.json``; ``recorded`` reads it for a page of the book, with a caption.
"""

import datetime
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ..files import write_text
from .machine import MachineCard, machine_card

FOLDER = Path("benchmarks") / "results"


def results_folder():
    """``benchmarks/results`` of the working copy: above the current folder, or above the library."""
    for start in (Path.cwd(), Path(__file__).resolve()):
        for folder in (start, *start.parents):
            if (folder / FOLDER).is_dir():
                return folder / FOLDER
    raise FileNotFoundError(f"no folder {FOLDER.as_posix()} here or above; run this in a copy of the book's repository")


def provenance(command=None):
    """Where numbers come from: date (UTC), command, revision of the working copy and `MachineCard`."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command or _this_command(),
        "revision": _revision(),
        "machine": machine_card(),
    }


def _this_command():
    """How this process was started, without the folders of this machine."""
    script, *arguments = sys.argv or ["python"]
    return shlex.join(["python", "/".join(Path(script).parts[-2:]), *arguments])


def _revision():
    """Short commit, with ``+`` if files were changed since; None outside a git working copy."""
    folder = Path(__file__).parent

    def git(*arguments):
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/lib", ":/benchmarks/*.py")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


@dataclass(frozen=True)
class Recorded:
    """A recorded result: ``data`` as it was given, and its ``provenance``."""

    name: str
    data: object = field(repr=False)
    provenance: dict = field(repr=False)

    @property
    def machine(self):
        return MachineCard(self.provenance["machine"])

    @property
    def caption(self):
        """One line to stand under a table or figure."""
        when = datetime.datetime.fromisoformat(self.provenance["date"])
        machine = self.machine
        versions = ["Python " + machine["Python"].split()[0]]
        versions += [f"{name} {version}" for name, version in machine["packages"].items() if name in _SHOWN]
        on = machine.in_short()
        if machine["GPU"] not in ("none found", "unknown"):
            on = f"{machine['GPU'].split(',')[0]}, {on}"
        date = f"{when.day} {when:%B %Y}"
        return f"Recorded on {date} on {on} ({self.provenance['command']}; {', '.join(versions)})."


_SHOWN = ("numba", "numpy", "torch", "numba-cuda")


def record(name, data, command=None, folder=None):
    """Write ``data`` (what JSON can hold) as NAME.json with its provenance; returns the path.

    The file is replaced in one step, so that an interrupted benchmark leaves the old one whole.
    """
    path = _path(name, folder)
    content = {"provenance": provenance(command), "data": data}
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return path


def recorded(name, folder=None):
    """The `Recorded` result NAME; FileNotFoundError says which command makes it where it is missing."""
    path = _path(name, folder)
    if not path.is_file():
        there = ", ".join(sorted(file.stem for file in path.parent.glob("*.json"))) or "none"
        raise FileNotFoundError(
            f"no recorded result is called {name!r}; recorded are: {there}. "
            "`make bench` records the CPU's, `make gpu-record` the GPU's."
        )
    content = json.loads(path.read_text(encoding="utf-8"))
    return Recorded(name, content["data"], content["provenance"])


def _path(name, folder):
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise ValueError(f"name is {name!r}; expected small letters, digits, '-' and '_'")
    return Path(folder or results_folder()) / f"{name}.json"
