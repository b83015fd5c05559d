"""14-reshard: A checkpoint of eight workers, read by three."""

import operator

import numpy as np

from ...checking import short
from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import STEPS


def reads(length, old, new, rank):
    """[(file, first, last), ...] that a worker of `new` reads, where `old` workers wrote `length` numbers."""
    old_length, new_length = -(-length // old), -(-length // new)
    begin, end = min(rank * new_length, length), min((rank + 1) * new_length, length)
    found = []
    while begin < end:
        file = begin // old_length
        last = min(end, (file + 1) * old_length)
        found.append((file, begin - file * old_length, last - file * old_length))
        begin = last
    return found


def judge_reads(arguments, result):
    length, old, new, rank = arguments
    old_length, new_length = -(-length // old), -(-length // new)
    begin, end = min(rank * new_length, length), min((rank + 1) * new_length, length)
    right = reads(*arguments)
    expected = f"numbers {begin} to {end - 1}, as {short(right)}" if begin < end else "nothing to read: []"
    if not isinstance(result, list | tuple | np.ndarray):
        return Slip("type", expected, "Return a list of (file, first, last).")
    position = begin
    for entry in result:
        try:
            file, first, last = map(operator.index, entry)
        except (TypeError, ValueError):
            return Slip("type", expected, "Each entry is three whole numbers: (file, first, last).", short(entry))
        got = f"{(file, first, last)}"
        if begin == end and first < last:
            cause = (
                f"Worker {rank} would begin with number {rank * new_length}, and the last one is number {length - 1}."
            )
            return Slip("nothing", expected, cause, got)
        if not 0 <= file < old and first < last:
            return Slip(
                "file", f"a file from 0 to {old - 1}", f"{old} workers wrote: which file has number {position}?", got
            )
        if not 0 <= first < last:
            cause = (
                "An entry reads at least one number: leave out what is empty. `first` and `last` count within the file."
            )
            return Slip("empty", expected, cause, got)
        if last > old_length:
            cause = (
                f"A file has {old_length} numbers. Do `first` and `last` count within the file, and does an entry end "
                "where its file does?"
            )
            return Slip("outside", f"first and last from 0 to {old_length}", cause, got)
        if file * old_length + last > length:
            cause = (
                f"Number {length - 1} is the last one. What is behind it in the last file is padding, and is not read."
            )
            return Slip("padding", expected, cause, got)
        if file * old_length + first != position:
            cause = _of_begin(
                arguments, file * old_length + first, file * (length // old) + first, position, position > begin
            )
            return Slip("begin", expected, cause, got)
        position = file * old_length + last
        if position > end:
            cause = f"This worker ends before number {end}: from there on the numbers are the next worker's."
            return Slip("end", expected, cause, got)
    if position < end:
        cause = f"Numbers {position} to {end - 1} are missing. A worker's part may lie in several files."
        return Slip("missing", expected, cause)
    if len(result) > len(right):
        return Slip("pieces", expected, "One entry for each file: neighbours in one file are read at once.")
    return None


def _of_begin(arguments, begins, cut_off, position, later):
    """Why an entry begins with another number than `position`. `cut_off`: where it would begin if files were rounded
    down."""
    length, old, new, rank = arguments
    new_length = -(-length // new)
    if cut_off == position:
        return f"A file has length / old numbers, rounded up: {-(-length // old)}."
    where = f"This entry begins with number {begins}; number {position} is next."
    if later:
        return where + (" `last` itself is not read, as in a slice." if begins == position + 1 else "")
    if begins == rank * (length // new):
        return f"{where} A worker has length / new numbers, rounded up: {new_length}."
    return f"{where} Worker {rank} of {new} begins with it: each has {new_length}, the last one what is left."


def asked(length, old, new, rank):
    return Case(f"{length:,} numbers, {old} files, worker {rank} of {new}", lambda rng: (length, old, new, rank))


RESHARD = FunctionTask(
    id="14-reshard",
    section=Section("14", STEPS, "A worker that dies"),
    title="A checkpoint for another number of workers",
    objective="Work out which parts of which files a worker reads, when a checkpoint was written by more or fewer "
    "workers",
    points=2,
    minutes=15,
    judge=judge_reads,
    cases=(
        asked(12, 4, 2, 0),
        asked(12, 4, 2, 1),
        asked(12, 2, 4, 2),
        asked(100, 8, 3, 1),
        asked(10, 4, 3, 2),
        asked(9, 4, 1, 0),
        asked(5, 2, 4, 3),
        asked(70_000_000_123, 512, 448, 447),
    ),
    advice={"raised-ZeroDivisionError": "How many numbers are in a file: length / old, rounded up."},
    hints=(
        "Number i of the whole array: in which file does it lie, and where in that file?",
        "A file has ceil(length / old) numbers, a new worker ceil(length / new), from rank times that on, but none "
        "behind length.",
        "Walk from the first number to the end: the file is begin // here, and the entry ends with the file or with "
        "your part, whichever comes first. There begins the next entry.",
    ),
)
