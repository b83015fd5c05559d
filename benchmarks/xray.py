"""What the x-ray costs: accesses a second, recorded by the executor and counted by the compiled engine, and bytes of
memory.

    python benchmarks/run.py xray           recorded in results/xray.json; takes a minute
    python benchmarks/run.py xray --quick   smaller, not recorded

The kernel is a tiled matrix product, n x n x n. Times are CPU time of one thread, the smallest of some rounds; the
compiled engine has compiled the kernel before. An access is a load or store of one thread. Bytes are those that Python
and NumPy hold at once at most (tracemalloc), the report included.
"""

import time
import tracemalloc

import numpy as np
from engine import TILE, matmul

import simt
from simt.xray import xray

RECORDED, COUNTED, ROUNDS = 64, 512, 5


def launch(n):
    """(grid, block, arguments) of a product of two n x n matrices."""
    rng = np.random.default_rng(n)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    return (n // TILE, n // TILE), (TILE, TILE), (a, b, np.zeros_like(a))


def accesses_of(n):
    """Each thread brings two elements to a tile and takes 2 x TILE from there, n / TILE times, and stores one."""
    return n * n * ((n // TILE) * (4 + 2 * TILE) + 1)


def smallest(function, rounds):
    """(CPU seconds, result): the quickest of some calls."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def recorded(n, rounds):
    grid, block, arguments = launch(n)
    seconds, report = smallest(lambda: xray(matmul, grid, block)(*arguments), rounds)
    assert report.ok
    assert len(report.trace) == accesses_of(n)
    return row("recorded", n, seconds)


def counted(n, rounds):
    grid, block, arguments = launch(n)
    simt.count(matmul, *launch(TILE), threads=1)  # compiles
    seconds, counts = smallest(lambda: simt.count(matmul, grid, block, arguments, threads=1), rounds)
    assert int(counts.sums["lanes"].sum()) == accesses_of(n)
    np.testing.assert_allclose(arguments[2], arguments[0] @ arguments[1], rtol=1e-4)
    return row("counted", n, seconds)


def row(how, n, seconds):
    print(f"{how:9} {n}^3: {seconds:6.2f} s, {accesses_of(n) / seconds:13,.0f} accesses a second", flush=True)
    return {"n": n, "seconds": seconds, "accesses": accesses_of(n), "accesses_per_second": accesses_of(n) / seconds}


def bytes_per_access(n):
    """At the peak of recording and of working out the report."""
    grid, block, arguments = launch(n)
    xray(matmul, grid, block)(*arguments)
    tracemalloc.start()
    try:
        report = xray(matmul, grid, block)(*arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak / len(report.trace)


def benchmark(quick=False):
    small, large, rounds = (32, 128, 1) if quick else (RECORDED, COUNTED, ROUNDS)
    found = {"recorded": recorded(small, rounds), "counted": counted(large, rounds)}
    found["bytes_per_access"] = bytes_per_access(small)
    print(f"memory at the peak: {found['bytes_per_access']:.0f} bytes an access")
    return {
        "kernel": "tiled matrix product",
        "unit": "CPU seconds of one thread, smallest of rounds",
        "rounds": rounds,
        **found,
    }
