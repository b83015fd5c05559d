"""GPU kernels on a CPU: the compiled engine beside PoCL, numba's simulator and loops that njit compiles as they stand.

    python benchmarks/run.py engine           all, recorded in results/engine.json
    python benchmarks/run.py engine --quick   smaller sizes, not recorded

Four kernels as they are written for a GPU: tiled matrix product (tiles of 16), flash attention, 3 x 3 convolution,
vector add. *Checked* stops at an index outside its array, *unchecked* does not look. PoCL runs the same kernel written
in OpenCL C (see engine_opencl.py; it needs `make opencl` and is left out, with a sentence, where that
is missing). numba's simulator takes minutes where the others take milliseconds, so it runs a small size, in a process
of its own, and its time is scaled up by the work. These are times of a CPU: they say nothing about how fast a kernel is
on a GPU.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time

import numpy as np
from numba import float32, njit, prange

if sys.argv[1:] == ["simulator"]:
    from numba import cuda  # a global: the simulator cannot see it elsewhere
else:
    from cpulab.measure.timing import Clock, settle
    from simt import cuda

TILE, HEAD, ROWS = 16, 64, 32
PEERS = ("njit, one thread", "njit, prange", "PoCL", "compiled, checked", "compiled, unchecked")


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
def attention(q, k, v, out):
    """One query a thread; keys and values come in tiles; the softmax is kept up to date (online)."""
    keys = cuda.shared.array((ROWS, HEAD), float32)
    values = cuda.shared.array((ROWS, HEAD), float32)
    query = cuda.local.array(HEAD, float32)
    mixed = cuda.local.array(HEAD, float32)
    t, row = cuda.threadIdx.x, cuda.grid(1)
    scale = float32(1) / math.sqrt(float32(HEAD))
    for d in range(HEAD):
        query[d] = q[row, d] * scale
        mixed[d] = float32(0)
    largest, total = float32(-1e30), float32(0)
    for start in range(0, k.shape[0], ROWS):
        for d in range(HEAD):
            keys[t, d] = k[start + t, d]
            values[t, d] = v[start + t, d]
        cuda.syncthreads()
        for j in range(ROWS):
            score = float32(0)
            for d in range(HEAD):
                score += query[d] * keys[j, d]
            highest = max(largest, score)
            old, new = math.exp(largest - highest), math.exp(score - highest)
            total = total * old + new
            for d in range(HEAD):
                mixed[d] = mixed[d] * old + new * values[j, d]
            largest = highest
        cuda.syncthreads()
    for d in range(HEAD):
        out[row, d] = mixed[d] / total


@cuda.jit
def convolution(x, w, y):
    j, i = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        total = float32(0)
        for p in range(3):
            for q in range(3):
                total += x[i + p, j + q] * w[p, q]
        y[i, j] = total


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


# -- the same, as anyone would write it for a CPU ----------------------------------------------------------------------


def loops_matmul(a, b, c):
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            total = float32(0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def loops_attention(q, k, v, out):
    scale = float32(1) / math.sqrt(float32(q.shape[1]))
    for i in prange(q.shape[0]):
        scores = np.empty(k.shape[0], np.float32)
        for j in range(k.shape[0]):
            score = float32(0)
            for d in range(q.shape[1]):
                score += q[i, d] * k[j, d]
            scores[j] = score * scale
        largest, total = scores.max(), float32(0)
        for j in range(k.shape[0]):
            scores[j] = math.exp(scores[j] - largest)
            total += scores[j]
        for d in range(q.shape[1]):
            mixed = float32(0)
            for j in range(k.shape[0]):
                mixed += scores[j] * v[j, d]
            out[i, d] = mixed / total


def loops_convolution(x, w, y):
    for i in prange(y.shape[0]):
        for j in range(y.shape[1]):
            total = float32(0)
            for p in range(3):
                for q in range(3):
                    total += x[i + p, j + q] * w[p, q]
            y[i, j] = total


def loops_add(x, y, out):
    for i in prange(out.size):
        out[i] = x[i] + y[i]


def cases(quick=False, small=False):
    """[(name, kernel, loops, grid, block, arguments, expected, work, OpenCL name)] at real size, or as small as a
    simulator can."""
    rng = np.random.default_rng(0)

    def random(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    n = 32 if small else 256 if quick else 1024
    a, b = random(n, n), random(n, n)
    q, k, v = (random(n, HEAD) for _ in range(3))
    scores = (q.astype(np.float64) @ k.T.astype(np.float64)) / math.sqrt(HEAD)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    x, w = random(n + 2, n + 2), random(3, 3)
    filtered = sum(float(w[p, r]) * x[p : p + n, r : r + n].astype(np.float64) for p in range(3) for r in range(3))
    long = 1 << (10 if small else 20 if quick else 24)
    left, right = random(long), random(long)
    tiles = n // TILE
    made = [
        (f"tiled matmul {n}", matmul, loops_matmul, (tiles, tiles), (TILE, TILE), (a, b), a.astype(np.float64) @ b, n**3),
        (f"flash attention {n} x {HEAD}", attention, loops_attention, n // ROWS, ROWS, (q, k, v),
         weights @ v / weights.sum(1, keepdims=True), n * n * HEAD),
        (f"3 x 3 convolution {n} x {n}", convolution, loops_convolution, (tiles, tiles), (TILE, TILE), (x, w), filtered, n * n),
        (f"vector add 2^{long.bit_length() - 1}", add, loops_add, long // 256, 256, (left, right), left + right, long),
    ]  # fmt: skip
    return made


def candidates(case, opencl):
    """({name: function that computes the case}, compile seconds of the engine); every result is checked here."""
    from simt import compiled

    name, kernel, loops, grid, block, arguments, expected, _ = case
    found, seconds = {}, {}
    out = np.zeros(expected.shape, np.float32)
    device = [cuda.to_device(argument) for argument in arguments]
    result = cuda.device_array(out.shape, np.float32)

    def launch(checked):
        return lambda: compiled.run(kernel, grid, block, (*device, result), checked=checked)

    one, both = njit(loops, error_model="numpy"), njit(loops, parallel=True, error_model="numpy")
    found["njit, one thread"] = lambda: one(*arguments, out)
    found["njit, prange"] = lambda: both(*arguments, out)
    if opencl is not None:
        found["PoCL"] = opencl.launcher(kernel.py_func.__name__, grid, block, arguments, out)
    for label, checked in (("compiled, checked", True), ("compiled, unchecked", False)):
        start = time.perf_counter()
        launch(checked)()
        seconds[label] = time.perf_counter() - start
        found[label] = launch(checked)
    for label, function in found.items():
        out[:] = 0
        result.copy_to_device(out)
        function()
        came = result.copy_to_host() if label.startswith("compiled") else out
        np.testing.assert_allclose(came, expected, rtol=1e-3, atol=1e-3, err_msg=f"{name}, {label}")
    return found, seconds


def simulator():
    """Seconds of numba's simulator for the small cases, in this process."""
    seconds = {}
    for _, kernel, _, grid, block, arguments, expected, work in cases(small=True):
        out = np.zeros(expected.shape, np.float32)
        start = time.perf_counter()
        kernel[grid, block](*arguments, out)
        seconds[kernel.__name__] = time.perf_counter() - start, work
        np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
    return seconds


def in_turns(functions, rounds):
    """{name: seconds of one call, by round}: every candidate in every round, in changing order."""
    clock, seconds = Clock(), {name: [] for name in functions}
    calls = {}
    for name, function in functions.items():
        start = clock.now()
        function()
        calls[name] = max(1, min(50, int(0.05 / (clock.now() - start))))
    for turn in range(rounds):
        names = list(functions)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            settle(clock)
            start = clock.now()
            for _ in range(calls[name]):
                functions[name]()
            seconds[name].append((clock.now() - start) / calls[name])
    return seconds


def benchmark(quick=False):
    """Rows of seconds and ratios to the unchecked engine: medians over rounds, the ratios formed inside each round."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-W", "ignore", __file__, "simulator"]
    simulated = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    try:
        import engine_opencl as opencl
    except ImportError as error:
        opencl = None
        print(f"PoCL is left out: {error}. It comes with `make opencl`.")
    rows = []
    for case in cases(quick):
        name, kernel, work = case[0], case[1], case[-1]
        functions, compile_seconds = candidates(case, opencl)
        # The plain loops of the product take seconds at real size.
        measured = in_turns(functions, 3 if quick or kernel is matmul else 9)
        for label, samples in measured.items():
            ratios = [one / other for one, other in zip(samples, measured["compiled, unchecked"], strict=True)]
            row = {"kernel": name, "name": label, "seconds": statistics.median(samples), "rounds": len(samples)}
            row |= {"over_unchecked": statistics.median(ratios), "low": min(ratios), "high": max(ratios)}
            row["compile_seconds"] = compile_seconds.get(label)
            rows.append(row)
            note = f", first call {row['compile_seconds']:.2f} s" if label in compile_seconds else ""
            print(
                f"{name:28}{label:22}{row['seconds'] * 1e3:10.2f} ms   time / unchecked {row['over_unchecked']:7.2f}"
                f" ({row['low']:.2f} to {row['high']:.2f}){note}",
                flush=True,
            )
        took, small = simulated[kernel.py_func.__name__]
        scaled = took * work / small
        unchecked = statistics.median(measured["compiled, unchecked"])
        rows.append({"kernel": name, "name": "numba's simulator, scaled up", "seconds": scaled, "over_unchecked": scaled / unchecked,
                     "measured_seconds": took, "measured_share_of_work": small / work})  # fmt: skip
        print(
            f"{name:28}numba's simulator     {scaled:10.0f} s, scaled up from 1/{work // small} of the work: "
            f"{scaled / unchecked:,.0f} times"
        )
    note = os.environ.get("POCL_NOTE", "") if opencl else "PoCL was not there."  # what to know about the PoCL at hand
    return {"tile": TILE, "threads": os.cpu_count(), "pocl": opencl and opencl.version, "note": note, "rows": rows}


if __name__ == "__main__":
    if sys.argv[1:] == ["simulator"]:
        print(json.dumps(simulator()))
