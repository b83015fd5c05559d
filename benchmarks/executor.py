"""The executor beside numba's own simulator: seconds of CPU time for the same launch, and their ratio.

    python benchmarks/executor.py            # prints a table, writes benchmarks/results/executor.json

Each engine runs in a process of its own (the simulator can only be switched on before numba is imported), in turns,
``ROUNDS`` times; the smallest time counts. The first launch of each kernel, which lowers or prepares it, is not timed.
Times are CPU time of the process, since the simulator's threads wait for one another.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
from numba import float32

if sys.argv[1:] == ["simulator"]:
    from numba import cuda  # a global: the simulator cannot see it elsewhere
else:
    from simt import Trace, cuda, run

ROUNDS = 3
NAMES = ("vector add 2^14", "tiled matmul 64", "reduction 4096")
ENGINES = ("simulator", "executor", "executor, traced")
TILE = 16
THREADS = 256


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        sa[ty, tx] = a[row, start + tx]
        sb[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def reduce_sum(x, out):
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def cases():
    """name -> (kernel, grid, block, arguments, expected result of the last argument)."""
    rng = np.random.default_rng(0)
    x, y = (rng.random(2**14, dtype=np.float32) for _ in range(2))
    a, b = (rng.random((64, 64), dtype=np.float32) for _ in range(2))
    r = x[:4096].copy()
    return {
        NAMES[0]: (add, 64, THREADS, (x, y, np.zeros_like(x)), x + y),
        NAMES[1]: (matmul, (4, 4), (TILE, TILE), (a, b, np.zeros_like(a)), a @ b),
        NAMES[2]: (reduce_sum, 16, THREADS, (r, np.zeros(16, np.float32)), r.reshape(16, -1).sum(1)),
    }


def measure(engine):
    """CPU seconds by kernel, in this process."""
    seconds = {}
    for name, (kernel, grid, block, arguments, expected) in cases().items():

        def launch():
            if engine == "executor, traced":
                run(kernel, grid, block, arguments, trace=Trace())  # noqa: B023
            else:
                kernel[grid, block](*arguments)  # noqa: B023

        if engine != "simulator":  # it prepares nothing
            launch()
        start = time.process_time()
        launch()
        seconds[name] = time.process_time() - start
        np.testing.assert_allclose(arguments[-1], expected, rtol=1e-5)
    return seconds


def in_its_own_process(engine):
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    if engine == "simulator":
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    command = [sys.executable, "-W", "ignore", __file__, engine]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def main():
    from cpulab.measure.records import record

    best = {engine: dict.fromkeys(NAMES, float("inf")) for engine in ENGINES}
    for _ in range(ROUNDS):
        for engine in ENGINES:
            for name, seconds in in_its_own_process(engine).items():
                best[engine][name] = min(best[engine][name], seconds)
    rows = []
    print(f"{'kernel':18} {'simulator':>10} {'executor':>10} {'ratio':>7} {'traced':>10} {'ratio':>7}")
    for name in NAMES:
        simulator, plain, traced = (best[engine][name] for engine in ENGINES)
        rows.append(
            {
                "kernel": name,
                "simulator_s": simulator,
                "executor_s": plain,
                "traced_s": traced,
                "simulator_over_executor": simulator / plain,
                "simulator_over_traced": simulator / traced,
            }
        )
        print(
            f"{name:18} {simulator:9.3f}s {plain:9.3f}s {simulator / plain:6.0f}x {traced:9.3f}s "
            f"{simulator / traced:6.0f}x"
        )
    record("executor", {"unit": "CPU seconds, smallest of rounds", "rounds": ROUNDS, "rows": rows})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
