"""Work that is coarse, by Dask: tasks that compute for seconds, on the processes of one machine or of many.

    with cluster(2) as client:                      # or distributed.Client("tcp://host:8786"), a cluster that is there
        sweep(client, [{"lr": 0.1}, {"lr": 0.3}])   # each setting is a task

A task costs Dask some milliseconds, so a gradient step of a small network is no task, and a collective none either
(`processes` is for these). A training is one, and so is an epoch. What Dask does for it: workers on other machines,
more of them while it runs, and a task whose worker is lost runs again on another one. That is why `train` gives the
same bits wherever it runs. Dask is an extra: `pip install distributed`, on all machines. M. Rocklin, "Dask: Parallel
Computation with Blocked algorithms and Task Scheduling" (SciPy 2015); for actors, Dask's documentation.
"""

import contextlib

import numpy as np

from training import SGD, data
from training import functional as F
from training.modules import Parameter

from .examples import DigitsMLP, digits_gradient
from .staleness import ParameterServer, work


@contextlib.contextmanager
def cluster(workers):
    """A Dask client of so many new processes of this machine, each with one thread. ImportError where Dask is not."""
    from distributed import Client, LocalCluster

    env = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "env": env}
    with LocalCluster(n_workers=workers, **options) as local, Client(local) as client:
        yield client


def train(lr, width=32, epochs=1, part=(0, 1), weights=None, seed=0):
    """Trains `DigitsMLP` on the k-th of n parts of the digits, `part` = (k, n), by SGD. The same bits on each worker.

    weights: to begin with, a list of arrays; None for those it is made with. Returns {"weights", "loss": on the images
    to test with}.
    """
    (images, labels), tests = data.digits()
    images, labels = images[part[0] :: part[1]], labels[part[0] :: part[1]]
    model = DigitsMLP(width)
    for p, w in zip(model.parameters(), weights or [], strict=weights is not None):
        p.data[...] = w
    optimizer, rng = SGD(model.parameters(), lr=lr), np.random.default_rng([seed, *part])
    for _ in range(epochs):
        order = rng.permutation(len(labels))
        for chosen in np.split(order, range(32, len(order), 32)):
            optimizer.zero_grad()
            F.cross_entropy(model(images[chosen]), labels[chosen]).backward()
            optimizer.step()
    loss = F.cross_entropy(model(tests[0]), tests[1]).item()
    return {"weights": [p.data for p in model.parameters()], "loss": loss}


def sweep(client, settings, after=None):
    """`train(**setting)` of each setting, a dict: the list of the losses.
    after(number): called when so many are there."""
    from distributed import as_completed

    futures = client.map(_train, settings, pure=False)
    for number, future in enumerate(as_completed(futures), 1):
        future.result()
        if after:
            after(number)
    return [found["loss"] for found in client.gather(futures)]


def _train(setting):
    return train(**setting)


def local_epochs(client, rounds, parts, lr, epochs=1):
    """Local SGD (local_sgd.py) with a task for each part of the data: in each round all begin with the same weights,
    and the mean of what they end with is where the next round begins. Returns {"weights", "losses": by round}."""
    weights, losses = [p.data for p in DigitsMLP().parameters()], []
    for seed in range(rounds):
        begin = client.scatter(weights, broadcast=True)
        tasks = [
            client.submit(train, lr, epochs=epochs, part=(k, parts), weights=begin, seed=seed, pure=False)
            for k in range(parts)
        ]
        found = [result["weights"] for result in client.gather(tasks)]
        weights = [np.mean(arrays, axis=0) for arrays in zip(*found, strict=True)]
        losses.append(train(lr, epochs=0, weights=weights)["loss"])
    return {"weights": weights, "losses": losses}


class Server(ParameterServer):
    """A parameter server (staleness.py) that lives in one Dask worker as an actor. Nobody waits at it: an actor does
    one call at a time, so one that waits for another would wait for ever. If its worker dies, its weights are lost."""

    def __init__(self, weights, lr, workers, updates):
        parameters = [Parameter(w.copy()) for w in weights]
        super().__init__(parameters, SGD(parameters, lr=lr), workers, None, updates)

    def loss(self):
        return train(0, epochs=0, weights=[p.data for p in self.parameters])["loss"]


class _Remote:
    """The actor as `staleness.work` wants a server."""

    def __init__(self, actor):
        self.actor = actor

    def pull(self, worker):
        return self.actor.pull(worker).result()

    def push(self, worker, gradients, version):
        return self.actor.push(worker, gradients, version).result()


def _works(actor, worker):
    return work(_Remote(actor), worker, digits_gradient())


def asynchronous(client, workers, updates, lr):
    """Asynchronous SGD with an actor for a server. Returns {"loss", "staleness": of each update}."""
    actor = client.submit(Server, [p.data for p in DigitsMLP().parameters()], lr, workers, updates, actor=True).result()
    there = list(client.nthreads())  # each of its own worker, else Dask sends them all to the actor's
    done = client.gather(
        [
            client.submit(_works, actor, k, workers=there[k % len(there)], allow_other_workers=True, pure=False)
            for k in range(workers)
        ]
    )
    return {"loss": actor.loss().result(), "staleness": [stale for result in done for stale, _ in result]}
