"""numba's threading layers: who runs the rows of an uneven loop, for several chunk sizes.

    python benchmarks/run.py threading_layers

A process has one layer, so each runs in a process of its own; a layer that numba cannot load here is left out and
named. TBB is a package of its own (``pip install tbb``), whose library the loader must find. The work is that of
chapter 03: row i of a causal loop has i + 1 terms. Counted are the terms that each thread ran, not seconds, so the
result says what a layer does also where other programs use the cores.
"""

import json
import math
import os
import statistics
import subprocess
import sys

import numba
import numpy as np
from numba import njit, prange, set_parallel_chunksize

from cpulab.measure import Table, nanoseconds, new_log, note

LAYERS = ("omp", "tbb", "workqueue")
CHUNKS = (0, 1, 16, 64, 256)  # 0: numba's default, one chunk for each thread
ROWS = 3000


@njit(parallel=True)
def causal(x, y, out, log):
    for i in prange(out.size):
        start = nanoseconds()
        total = 0.0
        for j in range(i + 1):
            total += math.exp(x[i] * y[j])
        out[i] = math.log(total)
        note(log, i, start)


def one_layer(runs):
    """Shares and changes with the layer of this process; printed as JSON for the process that `benchmark` runs in."""
    x, y = np.random.default_rng(0).standard_normal((2, ROWS))
    terms = np.arange(1, ROWS + 1)
    expected = np.log(np.tril(np.exp(np.outer(x, y))).sum(axis=1))
    shares, changes = {}, {}
    for chunk in CHUNKS:
        share, change = [], []
        for _ in range(runs):
            out, log = np.zeros(ROWS), new_log(ROWS)
            before = set_parallel_chunksize(chunk)
            causal(x, y, out, log)
            set_parallel_chunksize(before)
            np.testing.assert_allclose(out, expected)
            owner = log[:, 0]
            share.append(np.bincount(owner, weights=terms).max() / terms.sum())
            change.append(int(np.count_nonzero(np.diff(owner))))
        shares[chunk], changes[chunk] = statistics.median(share), statistics.median(change)
    return {"layer": numba.threading_layer(), "shares": shares, "changes": changes}


def _in_own_process(layer, runs):
    done = subprocess.run(
        [sys.executable, __file__, str(runs)],
        env=os.environ | {"NUMBA_THREADING_LAYER": layer},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["no message"])[-1]
    return json.loads(done.stdout), ""


def benchmark(quick):
    layers, missing = {}, []
    for layer in LAYERS:
        found, reason = _in_own_process(layer, runs=3 if quick else 51)
        if found is None:
            missing.append(layer)
            print(f"{layer}: not here ({reason})")
        else:
            layers[layer] = found
    if not layers:
        raise RuntimeError(f"numba could load none of its threading layers: {', '.join(missing)}")
    rows = [(name, *(f"{found['shares'][str(c)]:.0%}" for c in CHUNKS)) for name, found in layers.items()]
    print(Table(("layer", *(f"chunk {c}" for c in CHUNKS)), rows))
    print("Share of the terms that the busiest thread ran.")
    return {
        "threads": numba.config.NUMBA_NUM_THREADS,
        "rows": ROWS,
        "chunks": list(CHUNKS),
        "layers": layers,
        "missing": missing,
    }


if __name__ == "__main__":
    print(json.dumps(one_layer(int(sys.argv[1]))))
