"""Asynchronous training: a parameter server, workers that do not wait for each other, and a bound on how far they part.

    server = ParameterServer(model.parameters(), optimizer, workers=4, bound=2)
    trace = simulate(server, gradient, seconds, updates=200)   # the same in each run: by the order of times
    work(server, worker, gradient)                             # the loop of a worker for real

A worker pulls the weights, computes a gradient, and pushes it; the server steps at once. Meanwhile others have stepped,
so the gradient is of older weights: its **staleness** is the number of steps since its worker pulled.

bound: how many gradients a worker may be ahead of the slowest one when it begins the next (stale synchronous parallel,
Ho and others 2013, "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server"). 0: all wait for
the slowest in each round, and pull the same weights (bulk synchronous); None: nobody waits (Dean and others 2012,
"Large Scale Distributed Deep Networks", Downpour SGD). With n workers staleness is at most (2 bound + 1)(n - 1).
"""

import heapq
import threading
from dataclasses import dataclass, field

import numpy as np


class ParameterServer:
    """The weights, the optimizer that changes them, and a clock for each worker: how many gradients it has pushed.

    parameters: the model's; optimizer: over the same. updates: steps after which all workers are sent home. All of it
    may be called from several threads; `serve` answers other workers of a group, as processes.
    """

    def __init__(self, parameters, optimizer, workers, bound=None, updates=None):
        if workers < 1 or (bound is not None and bound < 0):
            raise ValueError(f"workers is {workers}, bound {bound}; expected 1 or more, and 0 or more or None.")
        self.parameters, self.optimizer, self.bound, self.updates = list(parameters), optimizer, bound, updates
        self.clocks, self.version = [0] * workers, 0
        self.changed = threading.Condition()

    def may_begin(self, worker):
        """Whether it is not too far ahead of the slowest worker."""
        return self.bound is None or self.clocks[worker] - min(self.clocks) <= self.bound

    def finished(self):
        return self.updates is not None and self.version >= self.updates

    def pull(self, worker):
        """(copies of the weights, their version), as soon as this worker may begin; None when training is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.finished() or self.may_begin(worker))
            return None if self.finished() else self.now()

    def now(self):
        return [p.data.copy() for p in self.parameters], self.version

    def push(self, worker, gradients, version):
        """Step by gradients of the weights of this version. Returns their staleness; None when training is over."""
        with self.changed:
            if self.finished():
                return None
            stale = self.version - version
            for p, grad in zip(self.parameters, gradients, strict=True):
                p.grad = np.asarray(grad)
            self.optimizer.step()
            self.version += 1
            self.clocks[worker] += 1
            self.changed.notify_all()
            return stale


@dataclass
class Trace:
    """Of each step: when it was, of which worker, its staleness, the loss that its worker saw. waited: seconds that
    each worker was not allowed to begin."""

    times: list = field(default_factory=list)
    workers: list = field(default_factory=list)
    staleness: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    waited: list = field(default_factory=list)


def simulate(server, gradient, seconds, updates):
    """Train by real gradients at invented times: repeats itself to the last bit. Returns a Trace.

    gradient(weights, worker, k): (loss, gradients) of the worker's k-th batch. seconds(worker, k): how long it takes.
    Of what ends at the same time, the worker of the smaller number is first.
    """
    workers, trace = len(server.clocks), Trace(waited=[0.0] * len(server.clocks))
    running, ready = [], dict.fromkeys(range(workers), 0.0)  # (end, worker, pulled); {who would begin: since when}
    now = 0.0
    while server.version < updates:
        for worker in sorted(ready):
            if server.may_begin(worker):
                trace.waited[worker] += now - ready.pop(worker)
                end = now + seconds(worker, server.clocks[worker])
                heapq.heappush(running, (end, worker, server.version, server.now()[0]))
        now, worker, version, weights = heapq.heappop(running)
        loss, gradients = gradient(weights, worker, server.clocks[worker])
        trace.staleness.append(server.push(worker, gradients, version))
        trace.times.append(now)
        trace.workers.append(worker)
        trace.losses.append(loss)
        ready[worker] = now
    return trace


def work(server, worker, gradient, pause=None):
    """The loop of a real worker, until the server has made its steps. pause(worker, k): called before each gradient,
    as a straggler sleeps. Returns [(staleness, loss)] of its own steps."""
    done = []
    while (pulled := server.pull(worker)) is not None:
        if pause:
            pause(worker, len(done))
        loss, gradients = gradient(pulled[0], worker, len(done))
        stale = server.push(worker, gradients, pulled[1])
        if stale is not None:
            done.append((stale, loss))
    return done


# ---- over a group ----------------------------------------------------------------------------------------------------

PULL, PUSH, LEFT = range(3)


def serve(server, group, after=None):
    """Worker 0's part: answer the others, each of which runs `work(Client(group, parameters), group.rank - 1, ...)`,
    until all have left. The server is for group.size - 1 workers, and has a number of updates. after(): called after
    each of them."""
    waiting, active = [], group.size - 1
    while active:
        source, (kind, version) = group.receive_any()
        if kind == PULL:
            waiting.append(source)
        elif kind == PUSH:
            stale = server.push(source - 1, _cut(group.receive(source), server.parameters), int(version))
            group.send(np.array([-1 if stale is None else stale]), source)
            if after and stale is not None:
                after()
        else:
            active -= 1
        for peer in [w for w in waiting if server.finished() or server.may_begin(w - 1)]:
            waiting.remove(peer)
            group.send(np.array([-1 if server.finished() else server.version]), peer)
            if not server.finished():
                group.send(_flat(p.data for p in server.parameters), peer)


class Client:
    """The ParameterServer of worker 0, as the others see it. parameters: of the same shapes."""

    def __init__(self, group, parameters):
        self.group, self.parameters = group, list(parameters)

    def pull(self, worker):
        self.group.send(np.array([PULL, 0]), 0)
        version = int(self.group.receive(0)[0])
        if version < 0:
            self.group.send(np.array([LEFT, 0]), 0)
            return None
        return _cut(self.group.receive(0), self.parameters), version

    def push(self, worker, gradients, version):
        self.group.send(np.array([PUSH, version]), 0)
        self.group.send(_flat(gradients), 0)
        stale = int(self.group.receive(0)[0])
        return None if stale < 0 else stale


def _flat(arrays):
    return np.concatenate([array.reshape(-1) for array in arrays])


def _cut(flat, like):
    ends = np.cumsum([p.size for p in like])
    return [part.reshape(p.shape) for part, p in zip(np.split(flat, ends[:-1]), like, strict=True)]
