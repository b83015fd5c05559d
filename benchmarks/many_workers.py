"""Data-parallel steps by processes of this machine, beside what the simulator predicts for them.

    python benchmarks/run.py many_workers            recorded in results/many_workers_PROCESSOR_CORES.json
    python benchmarks/run.py many_workers --quick    few steps, two sizes, not recorded

A network of matrices learns a batch, the same in all; 1 to 8 processes take a part of it each, and sum their gradients
by a ring. What the simulator is given is measured apart, on workers that do not train together: the seconds that a part
takes while the other core computes, too (without sending), and alpha and beta of a message (sums of several sizes). It
then predicts the step of each number of workers, `workers.simulate.local`.

Where there are more workers than cores, those of a core take turns. Two things are then different from two workers that
have a core each, and each is measured by itself. When a worker's turn comes, the others have used the caches: so the
part is measured on `sets` networks in turns, as many as there will be workers on a core. And a message does not meet a
worker that looks for it: the system has to wake that up and to switch to it, the sooner the smaller the buffers are. So
messages are measured in a ring of at most two workers for each core that does nothing else, with the buffers that so
many workers have, as many arrays in turns, and fewer bytes than a step sends. "own core" is the prediction without
both. Medians of rounds, in each of which all is measured; each worker computes with one thread. Run it where nothing
else runs.
"""

import functools
import os
import time
from unittest import mock

import numpy as np
from twenty import stored_as  # noqa: F401  run.py asks for it

from cpulab.measure import Table
from workers import simulate

BATCH, WIDTH, LAYERS = 480, 512, 4
COUNTS = (1, 2, 3, 4, 6, 8)
SIZES = tuple(1 << k for k in range(14, 22, 2))  # bytes


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


def steps(group, batch, whole, repeats, send=True, sets=1):
    """(median seconds of a step of `batch` samples for each worker, the gradients' sum). send: whether they are summed.
    sets: networks that learn in turns."""
    networks, (x, y) = [Network() for _ in range(sets)], samples(whole)
    mine = slice(group.rank * batch, (group.rank + 1) * batch) if group.size * batch <= whole else slice(batch)
    seconds = []
    for k in range(repeats + 2 * sets):
        network = networks[k % sets]
        group.barrier()
        begin = time.perf_counter()
        network.learn(x[mine], y[mine], whole)
        total = network.gradients.ravel()
        if send and group.size > 1:
            total = group.all_reduce(total)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds[2 * sets :])), np.float64(total[:: WIDTH * 8])


def sums(group, sizes, repeats, sets=1):
    """Median seconds of a ring for each number of bytes. sets: arrays in turns."""
    found = []
    for nbytes in sizes:
        arrays, seconds = [np.ones(nbytes // 4, np.float32) for _ in range(sets)], []
        for k in range(repeats + 2 * sets):
            group.barrier()
            begin = time.perf_counter()
            group.all_reduce(arrays[k % sets])
            seconds.append(time.perf_counter() - begin)
        found.append(float(np.median(seconds[2 * sets :])))
    return found


def link(repeats, n, cores):
    """(alpha, beta) of a message where n workers share the cores; of workers with a core each, where n <= cores."""
    from workers import processes

    ring, sets = (min(n, 2 * cores), -(-n // cores)) if n > cores else (2, 1)
    with (
        mock.patch.object(processes, "BUFFER", processes._Layout(max(2, n)).capacity),
        processes.Workers(ring, threads=1) as workers,
    ):
        found = workers.run(sums, SIZES, repeats, sets)
    turns = max(1, ring / cores)  # as in simulate.local
    each = [max(of) / (2 * (ring - 1) * turns) for of in zip(*found, strict=True)]
    return simulate.fit_link([size / ring for size in SIZES], each)


def of_all(answers):
    """The slowest worker's seconds, which is the step's."""
    return max(seconds for seconds, _ in answers)


def one_round(n, repeats, cores, own):
    """Seconds of a step of n workers; of a part with a core of one's own, and in turns; alpha and beta of a message,
    here and with a core of one's own."""
    from workers import processes

    part = BATCH // n
    with processes.Workers(n, threads=1) as workers:
        answers = workers.run(steps, part, BATCH, repeats)
    for _, total in answers:  # to rounding, but for a ReLU that rounding puts on the other side of its kink
        reference = whole_batch()
        assert np.linalg.norm(total - reference) < 1e-2 * np.linalg.norm(reference), f"{n} workers: wrong sums"
    with processes.Workers(min(n, 2, cores), threads=1) as workers:
        plain, shared = (
            of_all(workers.run(steps, part, BATCH, repeats, False, k)) for k in (1, max(1, -(-n // cores)))
        )
    return of_all(answers), plain, shared, *(link(repeats, n, cores) if n > cores else own), *own


@functools.cache
def whole_batch():
    """The sum of the gradients by one process."""
    network = Network()
    network.learn(*samples(BATCH), BATCH)
    return np.float64(network.gradients.ravel()[:: WIDTH * 8])


def benchmark(quick):
    rounds, repeats, counts = (1, 5, (1, 2, 4)) if quick else (5, 12, COUNTS)
    nbytes = 4 * LAYERS * WIDTH * WIDTH
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = {n: [] for n in counts}
    for _ in range(rounds):
        own = link(repeats, 2, cores)
        for n in counts:
            found[n].append(one_round(n, repeats, cores, own))
    rows = []
    for n in counts:
        measured, plain, shared, alpha, beta, *own = np.median(np.array(found[n]), axis=0).tolist()
        said, without = (
            simulate.local(n, BATCH, nbytes=nbytes, sample=seconds / (BATCH // n), alpha=a, beta=b, cores=cores)
            for seconds, a, b in ((shared, alpha, beta), (plain, *own))
        )
        rows.append({"workers": n, "measured": measured, "simulated": said, "error": said / measured - 1, "own core": without,
                     "given": {"part": shared, "part, own core": plain, "alpha": alpha, "beta": beta}})  # fmt: skip
    print(Table(("workers", "measured, ms", "simulated, ms", "error", "own core", "part", "own core", "alpha, us", "GB/s"),
                [(r["workers"], f"{1e3 * r['measured']:.2f}", f"{1e3 * r['simulated']:.2f}", f"{r['error']:+.0%}",
                  f"{1e3 * r['own core']:.2f}", f"{1e3 * r['given']['part']:.2f}", f"{1e3 * r['given']['part, own core']:.2f}",
                  f"{1e6 * r['given']['alpha']:.0f}", f"{r['given']['beta'] / 1e9:.2f}") for r in rows]))  # fmt: skip
    return {
        "cores": cores,
        "bytes": nbytes,
        "batch": BATCH,
        "link": dict(zip(("alpha", "beta"), own, strict=True)),
        "rows": rows,
    }
