"""Every operation of the table that no other benchmark looks at: its rungs against each other, and against its peers.

    python benchmarks/run.py operations           recorded in results/operations.json
    python benchmarks/run.py operations --quick   the smallest size of each, not recorded

Sizes and arguments come from the operation's examples: a new operation is timed without a line here. A peer, where there
is one, stands in PEERS.
"""

import importlib
from functools import partial

import numba
import numpy as np
from ladder import TORCH, prepare, traffic, warm

from cpulab.measure import Table, times, with_unit
from dlkernels import implementations
from dlkernels.matrix.reference import unbroadcast

OTHERS = ("vector", "matmul")  # benchmarks with sizes and peers of their own


def numpy_matmul_backward(grad, a, b):
    return (unbroadcast(grad @ np.swapaxes(b, -1, -2), a.shape), unbroadcast(np.swapaxes(a, -1, -2) @ grad, b.shape))


def torch_linear(torch, x, weight, bias, activation):
    y = torch.nn.functional.linear(x, weight, bias)
    return y if activation is None else getattr(torch, activation)(y)


#: operation -> {name of the peer: what does the same as the public function}
PEERS = {
    "matmul_backward": {"NumPy": numpy_matmul_backward},
    "matmul_half": {"NumPy": lambda a, b: a.astype(np.float32) @ b.astype(np.float32)},
    "matmul_int8": {"NumPy": lambda a, b: a.astype(np.int32) @ b.astype(np.int32)},
    "linear": {
        "NumPy": lambda x, weight, bias, activation: x @ weight.T + (0 if bias is None else bias),
        "PyTorch": torch_linear,
    },
}


def elsewhere():
    """The operations that the other benchmarks time."""
    return {"matmul", "matmul_strassen"} | {case.operation for case in importlib.import_module("vector").CASES}


def operations():
    """Names of the operations that are timed here."""
    return [name for name in implementations.OPERATIONS if name not in elsewhere()]


def candidates(name, arguments):
    """What is timed, by name: peers first, then the rungs."""
    chosen, peers = {}, PEERS.get(name, {})
    if "NumPy" in peers:
        chosen["NumPy"] = partial(peers["NumPy"], *arguments)
    if "PyTorch" in peers and TORCH:
        import torch

        tensors = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in arguments]
        chosen["PyTorch"] = partial(peers["PyTorch"], torch, *tensors)
    for rung in implementations.of(name, "cpu"):
        chosen[rung.name] = partial(rung, *arguments)
    return chosen


def compare(name, shape, threads, budget):
    """Rows (dicts) of one size: seconds, and the ratio to the first peer or else to the first rung."""
    chosen = candidates(name, prepare(name, shape)[0])
    measured, first = times(chosen, budget=budget, threads=threads), next(iter(chosen))
    for label in chosen:
        row = {"operation": name, "shape": list(shape), "threads": threads, "name": label, "peer": first}
        row |= measured.ratio(first, label).to_dict()
        yield row | {"bandwidth": traffic(name, shape) / row["seconds"]}


def benchmark(quick=False):
    """Rows for every operation, size and number of threads; see `compare`."""
    counts = sorted({1, min(2, numba.config.NUMBA_NUM_THREADS)})
    warm(max(counts))
    rows = []
    for name in operations():
        timed = implementations.OPERATIONS[name].examples.timed
        new = [
            row
            for shape in timed[: 1 if quick else None]
            for threads in counts
            for row in compare(name, shape, threads, 0.2 if quick else 2.0)
        ]
        print(table(new), "\n", flush=True)
        rows += new
    return rows


def table(rows):
    """The rows of one operation for people."""
    lines = [
        (
            " x ".join(map(str, row["shape"])),
            str(row["threads"]),
            row["name"],
            with_unit(row["seconds"], "s"),
            f"{row['ratio']:.2f}",
            with_unit(row["bandwidth"], "B/s"),
        )
        for row in rows
    ]
    headings = ("size", "threads", "", "time", f"{rows[0]['peer']} / this", "bandwidth")
    return Table(headings, tuple(lines), right=(1, 3, 4, 5), caption=rows[0]["operation"])
