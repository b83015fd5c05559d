"""Notebooks out of an archive (zip, tar, tar.gz, tar.bz2, tar.xz), without links and without leaving the target folder.

Only notebooks and archives are taken out: nothing else of a submission is graded. Everything has a limit: entries,
bytes, the density of a zip's entry, the bytes that a tar grows to while it is read. What was left out is told, with its
reason.
"""

import bz2
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from pathlib import Path

MAX_FILES = 20_000
MAX_TOTAL = 2 << 30  # of what is taken out
MAX_TAR = 1 << 30  # of all a tar holds: it must be read to its end
MAX_RATIO = 200
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz")
FOREIGN = (".rar", ".7z", ".gz", ".bz2", ".xz", ".zst", ".lz4")
_DIRECTORY = 400 * MAX_FILES  # bytes of a zip's list of entries
_JUNK = ("__MACOSX", ".ipynb_checkpoints", "__pycache__", "Thumbs.db", "desktop.ini")
_UTC = 0x5455  # extended timestamp, an extra field of a zip's entry
_OPEN = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_READING = (
    zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, struct.error, NotImplementedError, EOFError,
    OSError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip


class BadArchive(ValueError):
    """The archive cannot be used. The message says why, in words that follow its name."""


def is_archive(name):
    return name.lower().endswith(ARCHIVES)


def is_foreign(name):
    """True for an archive of a kind that is not read."""
    return not is_archive(name) and name.lower().endswith(FOREIGN)


def is_notebook(name):
    """True for what may be a notebook: .ipynb in any case, also where a browser put .txt or .json behind it, or in its
    place after a name that begins as those of exercises do."""
    return bool(
        re.search(r"\.ipynb(\.txt|\.json)?$|(^|[/_-])\d\d[a-z]?_\w+( ?\(\d+\)|-\d+)?\.json$", name, re.IGNORECASE)
    )


def is_junk(parts):
    """True for what systems leave beside the files of people: macOS's halves, checkpoints, hidden files."""
    return any(part in _JUNK or part.startswith(".") for part in parts)


def unpack(archive, target):
    """Unpack notebooks and archives into `target`, with their dates. Returns (reasons for what was refused, other
    names)."""
    refused, others, total = [], [], 0
    target.mkdir(parents=True, exist_ok=True)
    try:
        with open(archive, "rb") as file:
            kind = _zipped if archive.name.lower().endswith(".zip") else _tarred
            for count, (name, why, date, chunks) in enumerate(kind(file)):
                if count >= MAX_FILES:
                    raise BadArchive(f"has more than {MAX_FILES} entries")
                path = _inside(target, name)
                if path is None or why:
                    refused.append(f"{shown(name)} in it {why or 'has a path that leads outside'}")
                    continue
                if is_junk(path.relative_to(target).parts):
                    continue
                if not (is_notebook(name) or is_archive(name)):
                    others.append(name)
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "wb") as out:
                    for chunk in chunks():
                        total += len(chunk)
                        if total > MAX_TOTAL:
                            raise BadArchive(f"unpacks to more than {MAX_TOTAL >> 30} GB")
                        out.write(chunk)
                os.utime(path, (date, date))
    except BadArchive:
        raise
    except _READING as error:
        raise BadArchive(
            f"is damaged, or no archive of this kind ({shown(str(error) or type(error).__name__)})"
        ) from None
    return refused, others


def shown(text):
    """A name or a message as one short line."""
    return "".join(c if c.isprintable() else "?" for c in str(text))[:80]


def _inside(folder, name):
    """The path `name` has inside `folder`, or None if it would lie outside, or has characters no name should have."""
    parts = [part for part in re.split(r"[\\/]", name) if part not in ("", ".")]
    if not parts or ".." in parts or name[:1] in "/\\" or ":" in parts[0] or any(ord(c) < 32 for c in name):
        return None
    if len(parts) > 12 or any(len(part.encode("utf-8", "replace")) > 200 for part in parts):
        return None
    try:
        return Path(folder, *(part.encode("utf-8").decode() for part in parts))
    except UnicodeEncodeError:
        return None


def _chunks(source):
    while chunk := source.read(1 << 20):
        yield chunk


def _zipped(file):
    """(name, why it is refused or "", date, what yields its bytes) for each file of a zip."""
    _look_at_directory(file)
    with zipfile.ZipFile(file) as pack:
        for entry in pack.infolist():
            if entry.is_dir():
                continue
            why = ""
            if stat.S_ISLNK(entry.external_attr >> 16):
                why = "is a link"
            elif entry.flag_bits & 1:
                why = "is encrypted; ask for an archive without a password"
            elif entry.file_size > 1 << 20 and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
                why = f"grows to more than {MAX_RATIO} times its size"
            yield entry.filename, why, _date(entry), lambda entry=entry: _of_entry(pack, entry)


def _of_entry(pack, entry):
    with pack.open(entry) as source:
        yield from _chunks(source)


def _date(entry):
    """Seconds of a zip's date: that in UTC which most programs add, else the other, which is of some local time:
    ours."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == _UTC and 5 <= size <= len(extra) - 4 and extra[4] & 1:
            return max(0, struct.unpack_from("<l", extra, 5)[0])
        extra = extra[4 + size :]
    try:
        return max(0, int(time.mktime((*entry.date_time, 0, 0, -1))))
    except (ValueError, OverflowError):
        return 0


def _look_at_directory(file):
    """Refuse a list of entries that would fill the memory; zipfile reads all of it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (1 << 17)))
    tail = file.read()
    end, wide = tail.rfind(b"PK\x05\x06"), tail.rfind(b"PK\x06\x06")
    if end < 0 or len(tail) < end + 16:
        raise BadArchive("is damaged, or no archive of this kind (no list of entries)")
    (listed,) = struct.unpack_from("<L", tail, end + 12)
    if listed == 0xFFFFFFFF and 0 <= wide <= len(tail) - 48:
        (listed,) = struct.unpack_from("<Q", tail, wide + 40)
    if listed > _DIRECTORY:
        raise BadArchive(f"has more than {MAX_FILES} entries")
    file.seek(0)


class _Counted:
    """What a tar reads from: no more than MAX_TAR bytes in all."""

    def __init__(self, file):
        self.file, self.left = file, MAX_TAR

    def read(self, size):
        data = self.file.read(min(size, 1 << 20))
        self.left -= len(data)
        if self.left < 0:
            raise BadArchive(f"unpacks to more than {MAX_TAR >> 30} GB")
        return data


def _tarred(file):
    """The same for a tar, compressed or not."""
    magic = file.read(5)
    file.seek(0)
    opened = next((function for start, function in _OPEN.items() if magic.startswith(start)), None)
    source = opened(file) if opened else file
    with tarfile.open(fileobj=_Counted(source), mode="r|") as pack:
        for entry in pack:
            pack.members = []  # tarfile would keep them all
            if entry.isdir():
                continue
            why = "" if entry.isreg() else "is a link" if entry.issym() or entry.islnk() else "is no regular file"
            date = int(min(max(0, entry.mtime), 1 << 40))
            yield entry.name, why, date, lambda entry=entry: _chunks(pack.extractfile(entry))
