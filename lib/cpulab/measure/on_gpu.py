"""What `make gpu-record` found on a GPU, for pages: experiments, and ladders beside the libraries."""

import functools
import itertools

from .records import recorded
from .table import Table, with_unit

LADDERS = ("memory", "convolution", "attention", "recurrent")  # sections of the record


@functools.cache
def _record(folder=None):
    return recorded("gpu", folder)


def experiment(name, /, *, folder=None, **choice):
    """The rows of one experiment, as dicts, in the order in which they ran; choice: only rows with these values."""
    lines = _record(folder).data["experiments"]["lines"]
    rows = [line for line in lines if line["experiment"] == name and "error" not in line]
    chosen = [row for row in rows if all(row.get(key) == value for key, value in choice.items())]
    if not chosen:
        raise LookupError(f"no experiment {name!r} with {choice} is recorded")
    return chosen


def ladder(operation, label=None, folder=None):
    """{name: row} of one recorded call of an operation: its library first, then the rungs in the order they are taught.

    label: which call, where several sizes are recorded ("1024 x 1024 x 1024"); default the only one, or the last.
    Each row has "time", the seconds of its kernels on the GPU, "flops", floating-point operations in each of them, and
    "share", the library's time over its own, or None where there is no library.
    """
    data = _record(folder).data
    if operation.startswith("matmul"):
        rows = [dict(line, **_of_product(line)) for line in data["matmul"]["lines"] if "error" not in line]
        rows = [row for row in rows if row["operation"] == operation and row["name"] != "PyTorch"]
    else:
        lines = [line for section in LADDERS for line in data[section]["lines"]]
        rows = [dict(line, peer="PyTorch") for line in lines if line["operation"] == operation and "error" not in line]
    labels = [row["label"] for row in rows]
    label = labels[-1] if label is None and labels else label
    found = {row["name"]: row for row in rows if row["label"] == label}
    if not found:
        there = ", ".join(dict.fromkeys(labels)) or "none"
        raise LookupError(f"no {operation} {label!r} is recorded; recorded are: {there}")
    for row in found.values():
        if "kernel_seconds" not in row:
            raise LookupError(
                f"{row['name']} was recorded without its kernels' durations: that takes PyTorch with CUDA"
            )
        peer = found.get(row["peer"])
        row["time"] = row["kernel_seconds"]
        row["flops"] = row.get("kernel_flops", row["flops"] / row["time"])
        row["share"] = peer["kernel_seconds"] / row["time"] if peer else None
    return dict(
        sorted(found.items(), key=lambda item: item[1].get("rung", 0))
    )  # a library has no number; products stand in order


def _of_product(line):
    sides = f"{line['m']} x {line['k']} by {line['k']} x {line['n']}"
    label = f"{line['count']} of {sides}" if line["count"] > 1 else sides
    if line["dtype"] == "float32":
        return {"operation": "matmul", "label": label, "peer": "cuBLAS"}
    return {"operation": "matmul_half", "label": f"{label}, {line['dtype']}", "peer": "cuBLAS"}


def ladder_table(operation, label=None, flops=False, folder=None):
    """The `ladder` as a table: rung, time of its kernels, share of the library's speed; flops: their rate, too."""
    rows = ladder(operation, label, folder)
    peer = next(iter(rows.values()))["peer"]
    shared = any(row["share"] is not None for row in rows.values())
    headings = ["on an " + _gpu(folder), "kernels"]
    headings += ["FLOP/s"] * flops + [f"share of {peer}"] * shared
    short = _shared_words([name for name in rows if name != peer])
    lines = []
    for name, row in rows.items():
        line = [name[short:] if name != peer else name, with_unit(row["time"], "s")]
        line += [with_unit(row["flops"], "FLOP/s")] * flops
        line += [_share(row["share"]) if row["share"] else ""] * shared
        lines.append(line)
    caption = next(iter(rows.values()))["label"]
    return Table(headings, lines, f"{operation}: {caption}")


def beside_the_clock(operation, counted, headings, label=None, copy=None, folder=None):
    """What was counted of each rung as a table, and beside it the recorded time of its kernels.

    counted: {rung: its values}, rungs without the operation's name; headings: what the values are. The last column is
    the share of the library's speed; with copy, a number of float32, it is how many copies of so many numbers fit
    into the time. A rung that was not recorded has "-" there.
    """
    rows = ladder(operation, label, folder)
    (peer, library), *_ = rows.items()
    beside = recorded_copy(copy, folder) if copy else None
    lines = []
    for name, values in counted.items():
        row = rows.get(f"{operation}_{name}")
        clock = ("-", "-")
        if row:
            clock = with_unit(row["time"], "s"), f"{row['time'] / beside:.1f}" if copy else _share(row["share"])
        lines.append((name, *values, *clock))
    if not copy:
        lines.append((peer, *["" for _ in headings], with_unit(library["time"], "s"), _share(1)))
    last = "in copies" if copy else f"share of {peer}"
    return Table(("rung", *headings, "on an " + _gpu(folder), last), lines, f"time: recorded, {library['label']}")


def recorded_copy(numbers, folder=None):
    """The seconds in which the recorded GPU copies so many float32, or LookupError."""
    for line in _record(folder).data["times"]["lines"]:
        if line["name"] == "copy" and line["size"] == numbers:
            return line["kernel_seconds"]
    raise LookupError(f"no copy of {numbers} numbers is recorded")


def overview(*sections, peaks, bandwidth, folder=None):
    """Every recorded call of these sections of the record, the lost ones too: a list of dicts, in the record's order.

    sections: "matmul", "times" (of vectors), "memory", "convolution", "attention", "recurrent". Each dict has
    "operation", "label"; "rung", our fastest by its kernels; "kernels" and "call", the library's time over that of
    our fastest, by kernels and as calls (None where the library has no such function); "limit", the fraction of the
    machine's limit that the rung reaches, and "bound", what the limit is: "flop" or "bytes", whichever takes longer
    for the operation by itself, all arguments and results moved once. peaks: FLOP/s for each dtype; bandwidth: bytes
    per second of a copy.
    """
    calls = {}
    for section in sections:
        for line in _record(folder).data[section]["lines"]:
            if "error" not in line and "kernel_seconds" in line:
                line = _described(section, line)
                calls.setdefault((line["operation"], line["label"]), []).append(line)
    return [_best(call, peaks, bandwidth) for call in calls.values()]


def _described(section, line):
    """A line of any section with its operation, label, peer, and flop and bytes of the operation by itself."""
    if section == "times":
        moved = line["kernel_bandwidth"] * line["kernel_seconds"]
        return dict(line, label=f"{line['size']}", peer="PyTorch", dtype="float32", flops=0, bytes=moved)
    if section == "matmul":
        m, n, k, count = (line[name] for name in ("m", "n", "k", "count"))
        size = 4 if line["dtype"] == "float32" else 2
        moved = count * (size * (m * k + k * n) + 4 * m * n)
        return dict(line, **_of_product(line), flops=2 * count * m * n * k, bytes=moved)
    return dict(line, peer="PyTorch")


def _best(lines, peaks, bandwidth):
    (peer,) = {line["peer"] for line in lines}
    theirs = next((line for line in lines if line["name"] == peer), None)
    ours = [line for line in lines if line["name"] not in ("copy", "PyTorch", "cuBLAS")]
    best = min(ours, key=lambda line: line["kernel_seconds"])
    call = min(line["seconds"] for line in ours)
    least = {"flop": best["flops"] / peaks[best["dtype"]], "bytes": best["bytes"] / bandwidth}
    bound = max(least, key=least.get)
    return {
        "operation": best["operation"],
        "label": best["label"],
        "rung": best["name"],
        "kernels": theirs and theirs["kernel_seconds"] / best["kernel_seconds"],
        "call": theirs and theirs["seconds"] / call,
        "bound": bound,
        "limit": least[bound] / best["kernel_seconds"],
    }


def _share(share):
    """A share with two digits behind the point; a small one with the first that says something."""
    return f"{share:.2f}" if share >= 0.01 else f"{share:.1g}"


def _shared_words(names):
    """How many letters the names begin with that are whole words of all of them: 7 for matmul_naive, matmul_wide."""
    if len(names) < 2:
        return 0
    words = [name.split("_")[:-1] for name in names]
    same = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))
    return sum(len(column[0]) + 1 for column in same)


def _gpu(folder=None):
    """The name of the GPU, in short."""
    return _record(folder).machine["GPU"].split(",")[0].removeprefix("NVIDIA ")
