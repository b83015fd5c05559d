"""Data-parallel steps by processes of this machine, beside what the simulator predicts for them.

    python benchmarks/run.py many_workers            recorded in results/many_workers.json
    python benchmarks/run.py many_workers --quick    few steps, two sizes, not recorded

A network of matrices learns a batch, the same in all; 1 to 8 processes take a part of it each, and sum their gradients by a
ring. What the simulator is given is measured with one and with two workers: seconds for a sample and for a step
without samples (least squares over parts of the batch; with two workers that compute at the same time and send nothing,
since cores share more than memory), alpha and beta of a message (over sums of several sizes). It then predicts the
step of each number of workers, `workers.simulate.local`. Medians; each worker computes with one thread. Where there are
more workers than cores they take turns, and so the prediction has them. Run it where nothing else runs.
"""

import os
import time

import numpy as np

from cpulab.measure import Table
from workers import simulate

BATCH, WIDTH, LAYERS = 480, 512, 4
COUNTS = (1, 2, 3, 4, 6, 8)
SIZES = tuple(1 << k for k in range(14, 24, 2))  # bytes


class Network:
    """ReLU layers of WIDTH, mean squared error; gradients in one flat array. NumPy alone: as fast in all processes."""

    def __init__(self):
        draw = np.random.default_rng(0)
        self.weights = draw.standard_normal((LAYERS, WIDTH, WIDTH), dtype=np.float32) / np.float32(WIDTH**0.5)
        self.gradients = np.zeros_like(self.weights)

    def learn(self, x, y, whole):
        """Gradients of these samples, of a mean over `whole` of them."""
        kept = [x]
        for w in self.weights:
            kept.append(np.maximum(kept[-1] @ w, 0))
        back = (kept[-1] - y) * np.float32(2 / whole)
        for k in reversed(range(LAYERS)):
            back = back * (kept[k + 1] > 0)
            np.matmul(kept[k].T, back, out=self.gradients[k])
            back = back @ self.weights[k].T


def samples(batch):
    draw = np.random.default_rng(1)
    return draw.standard_normal((2, batch, WIDTH), dtype=np.float32)


def steps(group, batch, whole, repeats, send=True):
    """(median seconds of a step of `batch` samples for each worker, the gradients' sum). send: whether they are summed."""
    network, (x, y) = Network(), samples(whole)
    mine = slice(group.rank * batch, (group.rank + 1) * batch) if group.size * batch <= whole else slice(batch)
    seconds = []
    for _ in range(repeats + 2):
        group.barrier()
        begin = time.perf_counter()
        network.learn(x[mine], y[mine], whole)
        total = network.gradients.ravel()
        if send and group.size > 1:
            total = group.all_reduce(total)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds[2:])), np.float64(total[:: WIDTH * 8])


def sums(group, sizes, repeats):
    """Median seconds of a ring for each number of bytes."""
    found = []
    for nbytes in sizes:
        array, seconds = np.ones(nbytes // 4, np.float32), []
        for _ in range(repeats + 2):
            group.barrier()
            begin = time.perf_counter()
            group.all_reduce(array)
            seconds.append(time.perf_counter() - begin)
        found.append(float(np.median(seconds[2:])))
    return found


def of_all(answers):
    """The slowest worker's seconds, which is the step's."""
    return max(seconds for seconds, _ in answers)


def benchmark(quick):
    from workers import processes

    repeats, counts = (5, (1, 2)) if quick else (40, COUNTS)
    nbytes = 4 * LAYERS * WIDTH * WIDTH
    measured, given, reference = {}, {}, None
    for n in counts:
        with processes.Workers(n, threads=1) as workers:
            answers = workers.run(steps, BATCH // n, BATCH, repeats)
            measured[n] = of_all(answers)
            reference = answers[0][1] if n == 1 else reference
            for _, total in answers:  # to rounding, but for a ReLU that rounding puts on the other side of its kink
                assert np.linalg.norm(total - reference) < 1e-2 * np.linalg.norm(reference), f"{n} workers: wrong sums"
            if n <= 2:
                parts = [BATCH // k for k in (1, 2, 3, 4, 6, 8)]
                alone = [of_all(workers.run(steps, part, BATCH, repeats, False)) for part in parts]
                sample, fixed = np.polyfit(parts, alone, 1)
                given[n] = {"sample": float(sample), "fixed": max(float(fixed), 0.0)}
            if n == 2:
                # a ring of two: two steps, each with half of the bytes
                pairs = [max(of) / 2 for of in zip(*workers.run(sums, SIZES, repeats), strict=True)]
                alpha, beta = simulate.fit_link([size / 2 for size in SIZES], pairs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    link = {"alpha": alpha, "beta": beta, "cores": cores}
    rows = []
    for n in counts:
        said = simulate.local(n, BATCH, nbytes=nbytes, **given[min(n, 2)], **link)
        rows.append({"workers": n, "measured": measured[n], "simulated": said, "error": said / measured[n] - 1})
    print(f"alpha {1e6 * alpha:.1f} us, beta {beta / 1e9:.2f} GB/s, {cores} cores; seconds of a sample: {given}")
    print(Table(("workers", "measured, ms", "simulated, ms", "error"),
                [(r["workers"], f"{1e3 * r['measured']:.2f}", f"{1e3 * r['simulated']:.2f}", f"{r['error']:+.0%}")
                 for r in rows]))  # fmt: skip
    return {
        "given": {str(n): one for n, one in given.items()},
        "link": link,
        "bytes": nbytes,
        "batch": BATCH,
        "rows": rows,
    }
