"""Time the rungs of a ladder against each other and against the library a user would pick instead."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cpulab.measure import Table, limit_threads, times, with_unit
from cpulab.measure.machine import last_level_cache
from cpulab.measure.peak_rates import stream_kernel
from dlkernels import implementations
from dlkernels.examples import Draw

USER, PINNED = "as a user has it", "pinned"  # the modes in which a time is measured
TORCH = importlib.util.find_spec("torch") is not None


@dataclass(frozen=True)
class Case:
    """One operation and its peers; what it is called with comes from its examples in the table.

    ``numpy(out, *arguments)`` and ``torch(torch, out, *arguments)`` do the same with the peer, into ``out``; None where
    it has no such function. ``columns``: of a matrix with n elements, for operations that take no line of them.
    """

    operation: str
    numpy: Callable | None = None
    torch: Callable | None = None
    columns: int | None = None

    def prepare(self, n):
        """Arguments for a result of n elements, with a fixed seed, and a zeroed output for it."""
        return prepare(self.operation, self.shape(n))

    def traffic(self, n):
        """Bytes that must be read and written."""
        return traffic(self.operation, self.shape(n))

    def shape(self, n):
        """The size of an example with n elements."""
        return (n,) if self.columns is None else (-(-n // self.columns), min(n, self.columns))


def prepare(operation, shape, dtype=None):
    """Arguments of that size and a zeroed output (None if several, or if an argument is); dtype: default the first of
    the operation's examples."""
    table = implementations.OPERATIONS[operation]
    arguments = table.examples.make(shape, dtype=dtype or table.examples.dtypes[0])
    prepared = table.prepare(*arguments)
    takes_out = isinstance(prepared[-1], np.ndarray) and not any(prepared[-1] is x for x in arguments)
    return arguments, np.zeros(prepared[-1].shape, prepared[-1].dtype) if takes_out else None


class Sizes(Draw):
    """Draws arrays that take no memory, to count their bytes."""

    def fill(self, shape):
        dtype = "uint16" if self.dtype == "bfloat16" else self.dtype
        return np.broadcast_to(np.zeros((), dtype), shape)


def traffic(operation, shape, dtype=None):
    """Bytes of all arguments and of the output."""
    table = implementations.OPERATIONS[operation]
    dtype = dtype or table.examples.dtypes[0]
    arguments = table.examples.arguments(Sizes(dtype), *shape)
    arrays = list(arrays_among((*arguments, table.prepare(*arguments)[-1])))
    return sum(x.nbytes for k, x in enumerate(arrays) if not any(x is y for y in arrays[:k]))


def arrays_among(arguments):
    """The arrays among arguments, and in tuples of them."""
    for x in arguments:
        if isinstance(x, tuple):
            yield from arrays_among(x)
        elif isinstance(x, np.ndarray):
            yield x


def candidates(case, n):
    """Name -> function without arguments: the peers, the rungs that are meant for this size, STREAM's triad."""
    arguments, out = case.prepare(n)
    found = {}
    if case.numpy:
        found["NumPy"] = lambda: case.numpy(out, *arguments)
    if case.torch and TORCH:
        import torch

        tensors = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in arguments]
        result = torch.from_numpy(out)
        found["PyTorch"] = lambda: case.torch(torch, result, *tensors)
    for rung in implementations.of(case.operation, device="cpu"):
        if "float32" in rung.dtypes and (rung.largest is None or n <= rung.largest):
            found[rung.name] = lambda rung=rung: rung(*arguments, out=out)
    if case.traffic(n) >= 4 * last_level_cache():
        lines = [np.full(n, 1, np.float32) for _ in range(3)]  # not zeros: untouched pages share one in memory
        triad = stream_kernel("triad", "nontemporal")
        found["triad"] = lambda: triad(*lines, np.float32(3))
    return found


def compare(case, n, threads, budget, mode=USER):
    """Rows (dicts) of one size: ratio to the peer, and share of the bandwidth of the triad in the same rounds."""
    found = candidates(case, n)
    measured = times(found, budget=budget, threads=threads, pin=mode == PINNED)
    peer = next(iter(found))  # NumPy, else PyTorch, else the first rung
    rows = []
    for name in found:
        if name == "triad":
            continue
        row = {"operation": case.operation, "size": n, "mode": mode, "threads": threads, "name": name, "peer": peer}
        row |= measured.ratio(peer, name).to_dict()
        row["bandwidth"] = case.traffic(n) / row["seconds"]
        if "triad" in found:
            triad = measured.ratio("triad", name)  # triad moves 12 bytes per element
            scale = case.traffic(n) / (12 * n)
            row["share_of_triad"] = triad.ratio * scale
            row["share_of_triad_quartiles"] = [triad.low * scale, triad.high * scale]
        if "PyTorch" in found:
            row["ratio_to_torch"] = measured.ratio("PyTorch", name).ratio
        rows.append(row)
    return rows


def benchmark(cases, sizes, threads, budget):
    """Run all cases, printing a table after each; returns the rows. ``sizes(operation)`` lists its sizes.

    Several threads are measured as a user has them and once more with a core for each.
    """
    rows = []
    runs = [(count, mode) for count in threads for mode in ((USER, PINNED) if count > 1 else (USER,))]
    for case in cases:
        new = [
            row for n in sizes(case.operation) for count, mode in runs for row in compare(case, n, count, budget, mode)
        ]
        print(table(new), "\n", flush=True)
        rows += new
    return rows


def table(rows):
    """The rows of one operation for people."""
    operation, peer = rows[0]["operation"], rows[0]["peer"]
    lines = []
    for row in rows:
        share = row.get("share_of_triad")
        lines.append(
            (
                f"2^{row['size'].bit_length() - 1}",
                str(row["threads"]) + (" pinned" if row["mode"] == PINNED else ""),
                row["name"],
                with_unit(row["seconds"], "s"),
                f"{row['ratio']:.2f}",
                f"{row['low']:.2f} to {row['high']:.2f}" + (" busy" if row["busy"] else ""),
                with_unit(row["bandwidth"], "B/s"),
                "" if share is None else f"{share:.2f}",
                f"{row['ratio_to_torch']:.2f}" if "ratio_to_torch" in row else "",
            )
        )
    headings = ("size", "threads", "", "time", f"{peer} / this", "quartiles", "bandwidth", "of triad", "PyTorch / this")
    return Table(headings, lines, operation)


def warm(threads):
    """Start the threads once, so that the machine card names their layer."""
    with limit_threads(threads):
        stream_kernel("triad", "nontemporal")(*np.zeros((3, 64), np.float32), np.float32(0))
