"""Plain data across the wall of the sandbox: JSON files, with arrays in .npy files beside them.

The reading side trusts nothing: only regular files (no links, no pipes), of limited size, with limited depth, and
arrays of numbers whose length agrees with their header. Nothing is ever unpickled.
"""

import json
import os
import stat
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from cpulab.files import write_text

from ..plain import Limits, plain

MARK = "__array__"
MESSAGE = Limits(depth=20, characters=1 << 20, arrays=10_000, array_bytes=64 << 20)  # room for more than a result


class BadData(ValueError):
    """What came out of the sandbox is not plain data of a sensible size."""


def pack(value, folder, stem, arrays):
    """`value` as something json can write; arrays go to `folder/stem-K.npy`, whose paths are added to `arrays`. Raises
    plain.NotPlain, a TypeError, for anything else."""

    def stored(array):
        arrays.append(Path(folder) / f"{stem}-{len(arrays)}.npy")
        with _new(arrays[-1]) as file:
            npy.write_array(file, array, allow_pickle=False)
        return {MARK: arrays[-1].name}

    return plain(value, MESSAGE, stored)


def _new(path):
    """A file to write bytes to, in the place of whatever lies there: no link is followed, no pipe waited for."""
    path.unlink(missing_ok=True)
    return path.open("xb")


def write(value, folder, stem):
    """Write `value` as folder/stem.json (and its arrays), the JSON file last and at once, over whatever lies in wait there;
    the paths of all.

    Raises OSError for what cannot be replaced, such as a folder.
    """
    path, arrays = Path(folder) / f"{stem}.json", []
    text = json.dumps(pack(value, folder, stem, arrays))
    path.unlink(missing_ok=True)  # write_text refuses a pipe: a student's own files are not replaced
    write_text(path, text)
    return [path, *arrays]


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
    """What `write` wrote, read with suspicion: no more arrays than MESSAGE allows, however often a file is named."""
    try:
        value = json.loads(read_bytes(Path(folder) / f"{stem}.json", MESSAGE.characters).decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {type(error).__name__}") from None
    left = MESSAGE.array_bytes

    def unpacked(value, depth):
        nonlocal left
        if depth > MESSAGE.depth:
            raise BadData("nested too deeply")
        if isinstance(value, list):
            return [unpacked(x, depth + 1) for x in value]
        if isinstance(value, dict):
            if set(value) == {MARK}:
                data = _array(value[MARK], folder, left)
                left -= len(data)
                return parse_array(data)
            return {k: unpacked(x, depth + 1) for k, x in value.items()}
        return value

    return unpacked(value, 0)


def _array(name, folder, limit):
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".npy"):
        raise BadData("an array with a strange file name")
    return read_bytes(Path(folder) / name, limit)


def parse_array(data):
    """An array from the bytes of a .npy file, without believing its header."""
    import io

    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = header(file)
    except Exception as error:  # NumPy parses the header with the tokenizer, which raises whatever it likes
        raise BadData(f"not a .npy file: {type(error).__name__}") from None
    body = data[file.tell() :]
    count = 1
    for extent in shape:
        count *= extent
    if dtype.kind not in "biufc" or dtype.hasobject or count < 0 or count * dtype.itemsize != len(body):
        raise BadData("an array whose header does not fit its content")
    array = np.frombuffer(body, dtype)
    return (array.reshape(shape[::-1]).T if fortran else array.reshape(shape)).copy()
