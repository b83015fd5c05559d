"""The same reckoning for workers that are processes of one machine, to hold it against real runs.

What goes in is measured on one worker (seconds for a sample) and on two (alpha and beta of a message); what comes out
is the step of n workers.
"""

import numpy as np

from .links import Link, ring_all_reduce, tree_all_reduce


def local(workers, batch, sample, nbytes, alpha, beta, cores=None, fixed=0.0, algorithm="ring"):
    """Seconds of a data-parallel step of `workers` processes on one machine.

    batch: samples in a step, of all workers; sample: seconds that one takes; fixed: seconds that a worker needs
    besides, however many samples it has; nbytes: of all gradients; alpha, beta: of a message between two workers;
    cores: None for enough. More workers than cores take turns, and so do their messages. algorithm: "ring" or "tree".
    ValueError where the batch does not divide.
    """
    if workers < 1 or batch % workers:
        raise ValueError(f"a batch of {batch} for {workers} workers; expected one that they divide.")
    if algorithm not in ("ring", "tree"):
        raise ValueError(f'algorithm {algorithm!r}; expected "ring" or "tree".')
    turns = max(1.0, workers / (cores or workers))
    reduce = {"ring": ring_all_reduce, "tree": tree_all_reduce}[algorithm]
    return turns * (fixed + batch // workers * sample + reduce(workers, nbytes, Link("memory", alpha, beta)))


def fit_link(sizes, seconds):
    """(alpha, beta) of messages: least squares of seconds = alpha + size / beta, relative to the seconds.

    sizes: bytes; seconds: measured. ValueError for less than two different sizes.
    """
    sizes, seconds = np.asarray(sizes, float), np.asarray(seconds, float)
    if len(set(sizes)) < 2:
        raise ValueError(f"{len(set(sizes))} different sizes; expected two or more.")
    columns = np.stack([1 / seconds, sizes / seconds], 1)
    alpha, slope = np.linalg.lstsq(columns, np.ones(len(sizes)), rcond=None)[0]
    return max(float(alpha), 0.0), 1 / float(slope)
