"""A GPU kernel's sizes on the compiled engine: what the x-ray counts of them, and what they take there.

    python benchmarks/run.py tuning_engine           recorded in results/tuning_engine.json; a quiet machine
    python benchmarks/run.py tuning_engine --quick   a few configurations, not recorded

Configurations of cpulab.tune.tiled, drawn with a fixed seed. The seconds are those of a CPU and say nothing about a
GPU: the question is whether counts, made once on a small launch, say which are fast where they run.
"""

import time

import numpy as np

from cpulab.measure import limit_threads
from cpulab.tune import tiled
from dlkernels import cuda

SHAPE, COUNTED_ON = (256, 256, 128), (64, 64, 16)
DRAWN, ROUNDS = 60, 6


def benchmark(quick=False):
    space = tiled.space()
    drawn = np.random.default_rng(0).permutation(len(space))[: 4 if quick else DRAWN]
    m, n, k = SHAPE
    rng = np.random.default_rng(1)
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float32), rng.integers(-4, 5, (k, n)).astype(np.float32)
    rows, ready = [], []
    with limit_threads(1), cuda.engine("compiled"):
        for number in map(int, drawn):
            sizes, out = space[number], np.zeros((m, n), np.float32)
            kernel, (grid, block) = tiled.kernel(**sizes), tiled.launch(sizes, m, n)
            begun = time.perf_counter()
            kernel[grid, block](a, b, out)
            compiled = time.perf_counter() - begun
            assert np.array_equal(out, a @ b), sizes
            ready.append((kernel, grid, block))
            rows.append({"sizes": list(sizes.values()), "compile": round(compiled, 3), "seconds": []})
        for _ in range(ROUNDS):
            for row, (kernel, grid, block) in zip(rows, ready, strict=True):
                begun = time.perf_counter()
                kernel[grid, block](a, b, out)
                row["seconds"].append(round(time.perf_counter() - begun, 7))
    for row, number in zip(rows, map(int, drawn), strict=True):
        row["counts"] = tiled.counts(space[number], *COUNTED_ON).tolist()
    fastest = min(rows, key=lambda row: min(row["seconds"]))
    print(f"{len(rows)} of {len(space)}; the fastest {fastest}")
    return {"shape": SHAPE, "counted_on": COUNTED_ON, "counted": tiled.COUNTED, "rows": rows}
