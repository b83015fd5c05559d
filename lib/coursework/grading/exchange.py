"""Plain data across the wall of the sandbox: a message is one file, a line of JSON and behind it the bytes of its
arrays.

In the JSON an array is {MARK: [dtype, shape, "C" or "F", where its bytes begin]}. One file, since a check sends
hundreds of messages, and to make a file takes longer than to fill it.

The reading side trusts nothing: only regular files (no links, no pipes), of limited size, with limited depth, and
arrays of numbers whose bytes are there. Nothing is ever unpickled.
"""

import contextlib
import json
import math
import os
import re
import stat
from pathlib import Path

import numpy as np

from ..plain import Limits, plain

MARK = "__array__"
MESSAGE = Limits(depth=20, characters=1 << 20, arrays=10_000, array_bytes=64 << 20)  # room for more than a result
MOST_DIMENSIONS, MOST = 64, 1 << 48  # NumPy's; more bytes than any message has
_NUMBERS = re.compile(r"[<>|=]?[biufc][0-9]{1,2}")


class BadData(ValueError):
    """What came out of the sandbox is not plain data of a sensible size."""


def encodable(value):
    """Plain data whose text can be written: half of a surrogate pair becomes a question mark, which nothing else
    does."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [encodable(x) for x in value]
    if isinstance(value, dict):
        return {encodable(k): encodable(x) for k, x in value.items()}
    return value


def place(folder, stem):
    """The file of a message."""
    return Path(folder) / f"{stem}.message"


def packed(value):
    """(`value` as something json can write, the bytes of its arrays as a list). Raises plain.NotPlain, a TypeError, for
    anything else."""
    parts, begin = [], 0

    def stored(array):
        nonlocal begin
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        entry = [array.dtype.str, list(array.shape), order, begin]
        parts.append(array.tobytes(order))
        begin += len(parts[-1])
        return {MARK: entry}

    return plain(value, MESSAGE, stored), parts


def write(value, folder, stem):
    """Write `value` as a message, in the place of whatever lies there: no link is followed, no pipe waited for; its
    path.

    Raises OSError for what cannot be replaced, such as a folder.
    """
    said, parts = packed(value)
    path = place(folder, stem)
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(json.dumps(said).encode() + b"\n")
        file.writelines(parts)
    return path


def forget(folder, *stems):
    """Delete messages that were read: who counts the files of the folder need not look at them."""
    for stem in stems:
        with contextlib.suppress(OSError):
            place(folder, stem).unlink(missing_ok=True)


def opened(path, limit):
    """A regular file that is no link, open for reading; BadData for anything else, or if it is longer than `limit`."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise BadData(f"no readable file: {getattr(error, 'strerror', error)}") from None
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
        os.close(handle)
        what = (
            "not a regular file"
            if not stat.S_ISREG(info.st_mode)
            else f"{info.st_size} bytes; at most {limit} are read"
        )
        raise BadData(what)
    return os.fdopen(handle, "rb")


def read_bytes(path, limit):
    """The content of a regular file that is no link; BadData for anything else, or if it is longer than `limit`."""
    with opened(path, limit) as file:
        return file.read(limit + 1)[:limit]


def read(folder, stem):
    """What `write` wrote, read with suspicion: no more arrays than MESSAGE allows, however often their bytes are
    named."""
    data = read_bytes(place(folder, stem), MESSAGE.characters + MESSAGE.array_bytes)
    text, _, body = data.partition(b"\n")
    if len(text) > MESSAGE.characters:
        raise BadData(f"more than {MESSAGE.characters} bytes of JSON")
    try:
        value = json.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {type(error).__name__}") from None
    arrays, left = MESSAGE.arrays, MESSAGE.array_bytes

    def unpacked(value, depth):
        nonlocal arrays, left
        if depth > MESSAGE.depth:
            raise BadData("nested too deeply")
        if isinstance(value, list):
            return [unpacked(x, depth + 1) for x in value]
        if isinstance(value, dict):
            if set(value) == {MARK}:
                arrays -= 1
                if arrays < 0:
                    raise BadData(f"more than {MESSAGE.arrays} arrays")
                array = numbers(value[MARK], body, left)
                left -= array.nbytes
                return array
            return {encodable(k): unpacked(x, depth + 1) for k, x in value.items()}
        return encodable(value)

    return unpacked(value, 0)


def numbers(entry, body, limit):
    """The array that an entry of the JSON speaks of, from the bytes of a message; BadData where they are not there, or
    more than `limit`."""
    if not isinstance(entry, list) or len(entry) != 4:
        raise BadData("an array that is not described")
    kind, shape, order, begin = entry
    if not isinstance(kind, str) or not _NUMBERS.fullmatch(kind) or order not in ("C", "F"):
        raise BadData("an array of a strange kind")
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise BadData("an array of a strange shape")
    if not all(
        type(extent) is int and 0 <= extent < MOST for extent in (*shape, begin)
    ):  # a product of more takes seconds
        raise BadData("an array of a strange shape")
    try:
        dtype, count = np.dtype(kind), math.prod(shape)
        if count * dtype.itemsize > limit:
            raise BadData(f"arrays of more than {MESSAGE.array_bytes} bytes; at most these are read")
        if begin + count * dtype.itemsize > len(body):
            raise BadData("an array whose description does not fit its bytes")
        flat = np.frombuffer(body, dtype, count, begin) if count else np.empty(0, dtype)
        return flat.reshape(shape, order=order).copy(order="K")
    except (TypeError, ValueError, OverflowError) as error:  # a dtype or a shape that NumPy does not know
        raise error if isinstance(error, BadData) else BadData("an array that cannot be made") from None
