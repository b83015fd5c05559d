"""Exhaustive search of a product's sizes, so that strategies can be replayed on it without a clock.

    python benchmarks/run.py tuning           recorded in results/tuning.json, four minutes; the machine should be quiet
    python benchmarks/run.py tuning --quick   a few configurations, not recorded

Every configuration of cpulab.tune.product is compiled (its seconds count), checked against float64, and timed on one
thread: SHAPE in ROUNDS rounds, the other shapes in two, each round in another random order, so that what disturbs the
machine for a while falls on all configurations alike. It is the time that the thread had a core, in nanoseconds.
"""

import random
import time

import numpy as np

from cpulab.measure import limit_threads
from cpulab.tune import product

SHAPE = 256, 320, 384  # m, n, k
OTHERS = (24, 1024, 512), (1024, 24, 512), (96, 96, 2048), (1000, 160, 96)
ROUNDS, FEW = 8, 2
CALLS = 2  # of a sample: the first brings the data into the cache, the second is timed


def operands(m, n, k):
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
    return a, b, np.empty((m, n), np.float32), a.astype(np.float64) @ b


def compile_all(space, numbers):
    """Seconds to compile each variant, {sizes compiled in: seconds}; AssertionError where a product is wrong."""
    seconds, (a, b, out, right) = {}, operands(37, 53, 29)
    for number in numbers:
        sizes = space[number]
        variant = tuple(sizes[name] for name in product.COMPILED)
        begun = time.perf_counter()
        product.multiply(a, b, out, **sizes)
        seconds.setdefault(variant, time.perf_counter() - begun)
        assert np.abs(out - right).max() < 1e-4, sizes
    return seconds


def samples(space, numbers, shape, rounds):
    """[nanoseconds of each round] for each configuration."""
    a, b, out, right = operands(*shape)
    taken = {number: [] for number in numbers}
    for turn in range(rounds):
        order = list(numbers)
        random.Random(turn).shuffle(order)
        for number in order:
            sizes = space[number]
            for _ in range(CALLS):
                begun = time.thread_time_ns()
                product.multiply(a, b, out, **sizes)
                ended = time.thread_time_ns()
            taken[number].append(ended - begun)
            if not turn:
                assert np.abs(out - right).max() < 1e-5 * shape[2], sizes
    return [taken[number] for number in numbers]


def benchmark(quick=False):
    space = product.space()
    numbers = range(0, len(space), len(space) // 12) if quick else range(len(space))
    with limit_threads(1):
        compiled = compile_all(space, numbers)
        print(
            f"{len(numbers)} of {len(space)} configurations; compiled {len(compiled)} in {sum(compiled.values()):.0f} s"
        )
        shapes = {
            shape: samples(space, numbers, shape, rounds)
            for shape, rounds in ((SHAPE, ROUNDS), *((other, FEW) for other in OTHERS))
        }
    least = np.min(shapes[SHAPE], axis=1)
    for number in np.argsort(least)[:5]:
        print(f"{least[number] / 1e6:.3f} ms", space[numbers[int(number)]])
    return {
        "parameters": {name: list(values) for name, values in space.parameters.items()},
        "configurations": [" ".join(map(str, space[number].values())) for number in numbers],
        "compile": {" ".join(map(str, variant)): round(seconds, 3) for variant, seconds in compiled.items()},
        "shapes": [
            {"shape": list(shape), "nanoseconds": [" ".join(map(str, one)) for one in taken]}
            for shape, taken in shapes.items()
        ],
    }
