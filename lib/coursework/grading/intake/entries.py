"""What lies in the folder of submissions: its entries, each with the notebooks in it, archives looked into, and with
what could not be used and why. Links are not followed, pipes and devices not opened."""

import os
import shutil
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import offered
from . import archives, owners
from .archives import BadArchive, shown
from .roster import BadSubmissions, Class

MAX_NESTED = 3  # archives within archives
MAX_NOTEBOOKS = 500  # of one student


@dataclass(frozen=True)
class File:
    """A notebook: where it lies, the names on the way to it from the entry on, when it was changed, and when it came.

    Who makes an archive sets the dates within: they say which of several notebooks is the newest. A notebook came no
    earlier than the archive that it lies in.
    """

    path: Path
    parts: tuple
    date: float
    came: float


@dataclass
class Entry:
    """One name in the folder of submissions. `problems`: what could not be used, each with its reason. `loose`: it is a
    file of a kind that nobody hands in. `handed`: what Gradescope says of it."""

    name: str
    folder: bool
    loose: bool = False
    handed: offered.Handed | None = None
    files: list = field(default_factory=list)
    problems: list = field(default_factory=list)


def gather(source, scratch, exercises, rows=()):
    """All entries of `source`, a folder or an archive, in a fixed order."""
    scratch = _fresh(Path(scratch) / ".unpacked") if scratch else None
    if source.is_file() and archives.is_archive(source.name) and scratch:
        try:
            archives.unpack(source, scratch / "all")
        except BadArchive as error:
            raise BadSubmissions(f"{source} {error}.") from None
        source = scratch / "all"
    if not source.is_dir():
        raise BadSubmissions(
            f"{source} is neither a folder nor a zip (or tar). Give the folder that holds the submissions."
        )
    looker = _Looker(scratch)
    names, around = _root(source, exercises, rows)
    told = {folder: offered.handed_in(folder) for folder in {path.parent for _, path in names}}
    entries = []
    for name, path in names:
        if told[path.parent] and name == offered.HANDED_IN:
            continue
        entry = Entry(name, path.is_dir() and not path.is_symlink(), handed=told[path.parent].get(name))
        looker.look(path, (name,), entry, 0)
        if entry.handed and entry.handed.date:
            entry.files = [replace(file, date=entry.handed.date, came=entry.handed.date) for file in entry.files]
        if not entry.files and not entry.problems:
            entry.problems.append("the folder is empty")
        entries.append(entry)
    return entries + around


def _fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _names(folder):
    """Names of a folder that people gave, in order."""
    return sorted(entry.name for entry in os.scandir(folder) if not archives.is_junk((entry.name,)))


def _is_folder(path):
    return path.is_dir() and not path.is_symlink()


def _root(folder, exercises, rows):
    """[(name, path)] of the entries that stand for students, below folders that only hold them: `submitted` of
    nbgrader, the one folder that an archive was made of, folders called like an exercise. And entries for what lies
    beside those."""
    known = Class(rows)
    while True:
        names = _names(folder)
        if "submitted" in names and _is_folder(folder / "submitted"):
            folder = folder / "submitted"
        elif len(names) == 1 and _is_folder(folder / names[0]) and _only_wraps(folder / names[0], exercises, known):
            folder = folder / names[0]
        else:
            break
    found, around = [], []
    for name in names:
        path = folder / name
        if _is_folder(path) and any(owners.named(e).fullmatch(name) for e in exercises) and not known.match(name)[0]:
            inner = _names(path)
            found += [(inner_name, path / inner_name) for inner_name in inner]
            around += [Entry(name, True, problems=["the folder is empty"])] if not inner else []
        else:
            found.append((name, path))
    return found, around


def _only_wraps(folder, exercises, known):
    """True if a folder that lies alone holds the students, and is none: the roster knows those in it, or their names
    carry a learning system's numbers, or several of them have the same exercise."""
    name, inner = folder.name, _names(folder)
    if known.match(name)[0] or owners.of_entry(name, True, ())[0].number:
        return False
    if offered.HANDED_IN in inner:
        return True
    whose = [owners.of_entry(n, _is_folder(folder / n), exercises)[0] for n in inner]
    if any(owner and (owner.number or known.match(owner.name)[0]) for owner in whose):
        return True
    if len(inner) == 1 and _is_folder(folder / inner[0]) and _only_wraps(folder / inner[0], exercises, known):
        return True
    if known.students:
        return False
    flat = {owner.name for n, owner in zip(inner, whose, strict=True) if owner and not _is_folder(folder / n)}
    named = {o for n, o in zip(inner, whose, strict=True) if o and any(owners.named(e).search(n) for e in exercises)}
    if len(flat & {o.name for o in named}) > 1:
        return True
    below = [set(_exercises_in(folder / n, exercises)) for n in inner if _is_folder(folder / n)]
    return any(a & b for i, a in enumerate(below) for b in below[i + 1 :])


def _exercises_in(folder, exercises):
    for _, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if not archives.is_junk((f,))]
        yield from (e for f in files if archives.is_notebook(f) for e in exercises if owners.named(e).search(f))


class _Looker:
    """Walks through entries; archives are unpacked into numbered folders of `scratch`."""

    def __init__(self, scratch):
        self.scratch, self.count = scratch, 0

    def look(self, path, parts, entry, nested, since=0):
        """Put the notebooks at or below `path` into `entry`, and what is wrong into its problems."""
        name = shown("/".join(parts[1:]) or parts[0])
        try:
            mode = path.lstat()
            if stat.S_ISLNK(mode.st_mode):
                entry.problems.append(f"{name} is a link, and links are not followed")
            elif stat.S_ISDIR(mode.st_mode):
                self._folder(path, parts, entry, nested, since)
            elif not stat.S_ISREG(mode.st_mode):
                entry.problems.append(f"{name} is a pipe, a socket or a device")
            elif archives.is_notebook(path.name):
                if len(entry.files) < MAX_NOTEBOOKS:
                    entry.files.append(File(path, parts, mode.st_mtime, max(since, mode.st_mtime)))
                elif len(entry.files) == MAX_NOTEBOOKS:
                    entry.problems.append(f"more than {MAX_NOTEBOOKS} notebooks; the others are left out")
            elif archives.is_archive(path.name) and self.scratch:
                self._archive(path, parts, entry, nested, max(since, mode.st_mtime))
            elif archives.is_foreign(path.name):
                entry.problems.append(f"{name} is of a kind that is not unpacked; ask for a zip")
            elif len(parts) == 1:
                entry.loose = True
                entry.problems.append(f"{name} is no notebook")
        except OSError as error:
            entry.problems.append(f"{name} cannot be read ({error.strerror})")

    def _folder(self, path, parts, entry, nested, since):
        before, names = len(entry.files) + len(entry.problems), _names(path)
        if len(parts) > 30:
            entry.problems.append("folders in folders, more than 30 of them; the others are left out")
            return
        for name in names:
            self.look(path / name, (*parts, name), entry, nested, since)
        if len(parts) == 1 and names and before == len(entry.files) + len(entry.problems):
            entry.problems.append(f"no notebook in the folder; there is {', '.join(map(shown, names[:3]))}")

    def _archive(self, path, parts, entry, nested, since):
        name = shown(parts[-1])
        if nested >= MAX_NESTED:
            entry.problems.append(f"{name} lies in {MAX_NESTED} archives within each other, and is not unpacked")
            return
        self.count += 1
        target = self.scratch / str(self.count) / parts[0]  # the name that says whose it is, for exports
        before = len(entry.files) + len(entry.problems)
        try:
            refused, others = archives.unpack(path, target)
        except BadArchive as error:
            entry.problems.append(f"{name} {error}")
            shutil.rmtree(target, ignore_errors=True)
            return
        entry.problems += [f"{name}: {why}" for why in refused[:3]]
        for inner in _names(target):
            self.look(target / inner, (*parts, inner), entry, nested + 1, since)
        if before == len(entry.files) + len(entry.problems):
            there = f"; there is {', '.join(map(shown, others[:3]))}" if others else ""
            entry.problems.append(f"no notebook in {name}{there}")
