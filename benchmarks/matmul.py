"""Matrix products against NumPy's OpenBLAS (and PyTorch, if it is installed): sizes, threads, dtypes, and the ladder.

    python benchmarks/run.py matmul           all, recorded in results/matmul.json
    python benchmarks/run.py matmul --quick   a few sizes, not recorded

Two modes. *As a user has it*: nothing is pinned, both libraries share the process and its cores. *Pinned*: each thread
has a core of its own, for both sides. Each mode and number of threads is measured in a process of its own, without the
variables that slow a peer down (cpulab.measure.peers), since OpenBLAS reads its own only when it starts; the record
says which kernels it then ran. Both sides make a new array for the result. How long two threads need to meet differs
from one second to the next on a shared machine, and for a small product that is most of the time: with more than one
thread, small sizes are measured `AGAIN` times, some time apart, and the row holds the median. On a machine with
AVX-512 all is measured once more with AVX2 on both sides: our kernels compiled for Haswell, and OpenBLAS's for it.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from ladder import PINNED, USER

CUBES = (16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096)
RAGGED = (
    (37, 37, 37),
    (100, 100, 100),
    (1000, 777, 333),
    (333, 1000, 777),
    (61, 2000, 500),
    (2000, 61, 500),
    (1023, 1025, 1031),
)
QUICK = ((16, 16, 16), (64, 64, 64), (256, 256, 256), (1000, 777, 333))
KEY = ("mode", "instruction_set", "blas", "threads", "dtype")

LADDER = (128, 512, 1024, 2048)
SMALL, AGAIN = 512, 3
AVX2 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma",
}


def benchmark(quick=False):
    """Rows for every size, and geometric means over them; see `summary`."""
    import numba

    from dlkernels import simd

    most = min(2, numba.config.NUMBA_NUM_THREADS)
    runs = [(USER, 1), (USER, most), (PINNED, most)] if most > 1 else [(USER, 1)]
    variants = [{}, AVX2] if simd.instruction_set() == "AVX-512" else [{}]
    rows = []
    for settings in variants:
        for mode, threads in runs:
            rows += in_process(mode, threads, quick, settings)
    means = summary(rows)
    for line in means:
        print(
            f"{line['mode']}, {line['instruction_set']} against {line['blas']}, {line['threads']} threads, "
            f"{line['dtype']}: NumPy / ours = {line['mean']:.2f} (geometric mean of {line['sizes']} sizes; lowest "
            f"{line['lowest']:.2f} at {line['lowest_at']})"
        )
    return {"rows": rows, "means": means}


def in_process(mode, threads, quick, settings):
    """Measure in a process that starts with the given number of threads; returns its rows."""
    from cpulab.measure import peers

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, __file__, mode, str(threads), str(int(quick)), str(file)]
        environment = peers.environment({**settings, "OPENBLAS_NUM_THREADS": str(threads)})
        subprocess.run(command, env=environment, check=True)
        return json.loads(file.read_text(encoding="utf-8"))


def summary(rows):
    """The geometric mean of NumPy's time / matmul's time over all sizes, and the lowest ratio."""
    means = []
    for key in sorted({tuple(r[name] for name in KEY) for r in rows}):
        chosen = [
            r for r in rows if tuple(r[name] for name in KEY) == key and r["kind"] == "sizes" and r["name"] == "matmul"
        ]
        lowest = min(chosen, key=lambda row: row["ratio"])
        mean = math.exp(sum(math.log(row["ratio"]) for row in chosen) / len(chosen))
        line = dict(zip(KEY, key, strict=True))
        line |= {"sizes": len(chosen), "mean": mean, "lowest": lowest["ratio"]}
        means.append(line | {"lowest_at": f"{lowest['m']} x {lowest['n']} x {lowest['k']}"})
    return means


# ---- inside the process ------------------------------------------------------------------------------------


def measure(mode, threads, quick):
    import dlkernels
    from cpulab.measure import times
    from cpulab.measure.machine import blas_kernels
    from dlkernels import implementations, simd

    def rows_of(kind, dtype, size, candidates):
        m, n, k = size
        budget = 0.3 if quick else 0.4
        measured = times(candidates, budget=budget, threads=threads, pin=mode == PINNED)
        for name in list(candidates)[1:]:
            row = {"kind": kind, "dtype": dtype, "m": m, "n": n, "k": k, "threads": threads, "name": name}
            row |= {
                "mode": mode,
                "instruction_set": simd.instruction_set(),
                "blas": blas_kernels() or "unknown",
                **measured.ratio("NumPy", name).to_dict(),
            }
            row["flops"] = 2 * m * n * k / row["seconds"]
            print(
                f"{simd.instruction_set():<8}{threads} thr  {dtype}  {m}x{n}x{k:<6} "
                f"{name:<22}{row['flops'] / 1e9:8.1f} Gflop/s  NumPy / this {row['ratio']:.2f} ({row['low']:.2f} to "
                f"{row['high']:.2f})" + ("  busy" if row["busy"] else ""),
                flush=True,
            )
            yield row

    def candidates(size, dtype):
        m, n, k = size
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
        return a, b, {"NumPy": lambda: np.matmul(a, b), "matmul": lambda: dlkernels.matmul(a, b)}

    rows = []
    cubes = () if quick else tuple((n, n, n) for n in CUBES)
    for dtype in ("float32",) if quick else ("float32", "float64"):
        for repeat in range(AGAIN if threads > 1 and not quick else 1):
            for size in QUICK if quick else cubes + RAGGED:
                if (dtype == "float32" or max(size) <= 2048) and (repeat == 0 or max(size) <= SMALL):
                    a, b, found = candidates(size, dtype)
                    if dtype == "float32" and torch_here():
                        found["PyTorch"] = torch_product(a, b)
                    rows += rows_of("sizes", dtype, size, found)
    rows = medians(rows)
    for n in () if quick or mode == PINNED or "OPENBLAS_CORETYPE" in os.environ else LADDER:
        a, b, found = candidates((n, n, n), "float32")
        out = np.empty((n, n), "float32")
        for rung in implementations.of("matmul", "cpu") + implementations.of("matmul_strassen", "cpu"):
            if rung.largest is None or n * n <= rung.largest:
                found[rung.name] = lambda rung=rung, a=a, b=b, out=out: rung(a, b, out=out)
        rows += rows_of("ladder", "float32", (n, n, n), found)
    return rows


def medians(rows):
    """One row for each thing measured: of several, the one with the median ratio, and all their ratios in order."""
    groups = {}
    for row in rows:
        groups.setdefault((row["dtype"], row["m"], row["n"], row["k"], row["name"]), []).append(row)
    kept = []
    for group in groups.values():
        group.sort(key=lambda row: row["ratio"])
        kept.append({**group[len(group) // 2], "ratios": [row["ratio"] for row in group]})
    return kept


def torch_here():
    import importlib.util

    return importlib.util.find_spec("torch") is not None


def torch_product(a, b):
    import torch

    x, y = torch.from_numpy(a), torch.from_numpy(b)
    return lambda: torch.matmul(x, y)


if __name__ == "__main__":
    mode, threads, quick, file = sys.argv[1:]
    Path(file).write_text(json.dumps(measure(mode, int(threads), bool(int(quick)))), encoding="utf-8")
