"""Do parallel operations keep their speed in a process that others use too? Nothing is pinned.

    python benchmarks/run.py beside_numpy

A round: NumPy multiplies two matrices with its own threads; a pause; three calls of ours. Rounds with all threads and
with one take turns, so that both find the same machine: caches, pages and a clock that a pause left cold slow down the
first call of either. Reported are the medians over the rounds of the 1st, 2nd and 3rd call, and the largest ratio of
"all threads" to "one thread". `warm` is the median of calls one after the other, without NumPy, in rounds that take
turns, too.

Everything runs once with the library's team of threads and once with each of numba's threading layers that can be
loaded, each in a process of its own, without the variables that slow NumPy down (cpulab.measure.peers).
"""

import json
import subprocess
import sys
import time
from functools import partial

import numba
import numpy as np
from numba import njit

import dlkernels
from cpulab.measure import Table, nanoseconds, new_log, peers
from dlkernels import team

WAYS = ("team", "omp", "workqueue", "tbb")
PAUSES = (0, 0.005, 0.05, 0.5)  # seconds
ROUNDS, WARM, WARM_ROUNDS = 7, 30, 9


PIECES = 16  # of the job whose timeline is kept


@njit
def one_piece(arguments, piece, who):
    x, out, log = arguments
    start = nanoseconds()
    total = 0.0
    for i in range(x.size):
        total += np.sqrt(x[i] + piece)
    out[piece] = total
    log[piece, 0], log[piece, 1], log[piece, 2] = who, start, nanoseconds()


@njit
def sixteen_pieces(x, out, log, threads, members):
    team.share(one_piece, (x, out, log), PIECES, threads, x.size * PIECES // 4, members)


def timeline(threads, rounds):
    """Of several rounds after NumPy, one of the slow ones (nine of ten returned earlier): rows (thread, start, end) in
    ns, and when it returned; for all rounds, in order, how many times as long as the pieces one after the other."""
    x, out = np.arange(100_000.0), np.zeros(PIECES)
    a, b = np.random.default_rng(1).standard_normal((2, 256, 256), dtype=np.float32)
    found = []
    for _ in range(rounds):
        log = new_log(PIECES)
        a @ b
        time.sleep(PAUSES[1])
        begun = time.perf_counter_ns()
        sixteen_pieces(x, out, log, threads, team.members())
        returned = time.perf_counter_ns() - begun
        log[:, 1:] -= begun
        found.append((returned, returned / (PIECES * np.median(log[:, 2] - log[:, 1])), log.tolist()))
    found.sort()
    returned, _, log = found[int(0.9 * rounds)]
    return {"returned": returned, "log": log, "spent": [spent for _, spent, _ in found]}


def operations(quick):
    """{name: a call without arguments}"""
    rng = np.random.default_rng(0)

    def floats(*shape):
        return rng.standard_normal(shape, dtype=np.float32)

    calls = {}
    for n in (256,) if quick else (128, 256, 512, 1024):
        calls[f"matmul {n}"] = partial(dlkernels.matmul, floats(n, n), floats(n, n))
    for n in (10**6,) if quick else (10**5, 10**6, 10**7):
        calls[f"add {n}"] = partial(dlkernels.add, floats(n), floats(n), np.empty(n, np.float32))
    if quick:
        return calls
    for n in (10**5, 10**6):
        x, grad, out = floats(n), floats(n), np.empty(n, np.float32)
        calls[f"gelu {n}"] = partial(dlkernels.gelu, x, out)
        calls[f"gelu_backward {n}"] = partial(dlkernels.gelu_backward, grad, x, out)
    layer = floats(256, 512), floats(384, 512), floats(384), "gelu"
    calls["linear 256 x 512 x 384"] = partial(dlkernels.linear, *layer)
    calls["linear_backward 256 x 512 x 384"] = partial(dlkernels.linear_backward, floats(256, 384), *layer)
    integers = rng.integers(-128, 128, (2, 512, 512)).astype(np.int8)
    calls["matmul_int8 512"] = partial(dlkernels.matmul_int8, *integers)
    calls["matmul_half 256"] = partial(dlkernels.matmul_half, *floats(2, 256, 256).astype(np.float16))
    return calls


def three(call):
    """Milliseconds of three calls, one after the other."""
    t = [time.perf_counter()]
    for _ in range(3):
        call()
        t.append(time.perf_counter())
    return np.diff(t) * 1e3


def measure(quick):
    """Rows of one way, printed as JSON for the process that `benchmark` runs in."""
    a, b = np.random.default_rng(1).standard_normal((2, 256, 256), dtype=np.float32)
    threads = numba.get_num_threads()
    rows = []
    for name, call in operations(quick).items():
        row, warm = {"name": name, "pauses": {}}, {threads: [], 1: []}
        for _ in range(WARM_ROUNDS):  # in turns: a disturbance of some milliseconds meets both, and one round only
            for count, samples in warm.items():
                numba.set_num_threads(count)
                call()
                samples += [three(call) for _ in range(WARM // 3)]
        row["warm"], row["warm, one thread"] = (float(np.median(samples)) for samples in warm.values())
        for pause in PAUSES[-1:] if quick else PAUSES:
            found = {threads: [], 1: []}
            for _ in range(3 if quick else ROUNDS):
                for count, samples in found.items():
                    a @ b
                    time.sleep(pause)
                    numba.set_num_threads(count)
                    samples.append(three(call))
            many, one = np.median(found[threads], 0), np.median(found[1], 0)
            row["pauses"][pause] = {"all": many.tolist(), "one": one.tolist(), "ratio": float((many / one).max())}
        rows.append(row)
    numba.set_num_threads(threads)
    way = "team" if not team.why_not() else numba.threading_layer()
    kept = timeline(threads, 5 if quick else 31)
    return {"way": way, "threads": threads, "peers": peers.what_runs(), "rows": rows, "timeline": kept}


def benchmark(quick):
    ways, missing = {}, {}
    for way in WAYS[:2] if quick else WAYS:
        settings = {} if way == "team" else {"NUMBA_THREADING_LAYER": way}
        done = subprocess.run(
            [sys.executable, __file__, str(int(quick))], env=peers.environment(settings), capture_output=True, text=True
        )
        if done.returncode:
            missing[way] = (done.stderr.strip().splitlines() or ["no message"])[-1]
            print(f"{way}: not here ({missing[way]})")
            continue
        ways[way] = json.loads(done.stdout.splitlines()[-1])
        show(way, ways[way]["rows"])
    return {"pauses": list(PAUSES), "ways": ways, "missing": missing}


def show(way, rows):
    table = []
    for row in rows:
        ratios = [f"{found['ratio']:.2f}" for found in row["pauses"].values()]
        table.append((row["name"], f"{row['warm, one thread']:.3f}", f"{row['warm']:.3f}", *ratios))
    columns = (f"{way}", "one thread ms", "warm ms", *(f"after {p} s" for p in rows[0]["pauses"]))
    print(Table(columns, table))


if __name__ == "__main__":
    print(json.dumps(measure(bool(int(sys.argv[1])))))
