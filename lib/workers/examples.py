"""What the pages' workers run. A process imports its function from a file, so those that a page calls stand here.

The network is `training.smaller.networks.digits`, two convolutions and two linear layers, without batch norm and
dropout, so that many workers compute what one computes.
"""

import contextlib
import functools
import threading
import time
from pathlib import Path

import numpy as np

from training import SGD, Adam, Tensor, data, modules
from training import functional as F
from training.smaller import networks
from training.tensor import record

from .checkpoints import INDEX, load_optimizer, save_optimizer
from .data import DataParallel
from .elastic import tree_gradients
from .staleness import Client, ParameterServer, serve, work


def batch_of(examples, step=0):
    """(images, labels) of `examples` digits of the training part, others for each step."""
    (images, labels), _ = data.digits()
    chosen = np.arange(step * examples, (step + 1) * examples) % len(labels)
    return images[chosen], labels[chosen]


def greet(group):
    """Each worker tells the next one its rank, and returns what it was told."""
    right, left = (group.rank + 1) % group.size, (group.rank - 1) % group.size
    told = group.exchange(np.array([group.rank]), right, left)
    return f"worker {group.rank} of {group.size} was told {told[0]}"


def gradients(group, examples, width=32, **options):
    """One forward and backward pass on this worker's part of a batch of `examples`.
    Returns the averaged gradients and the bytes that this worker sent for them."""
    model = DataParallel(networks.digits(width=width), group, **options)
    images, labels = batch_of(examples)
    part = group.part(examples)
    before = group.bytes_sent  # the weights were sent when the model was made
    F.cross_entropy(model(Tensor(images[part])), labels[part]).backward()
    model.synchronize()
    return [p.grad for p in model.module.parameters()], group.bytes_sent - before


def train(group, examples, steps, width=32, lr=0.05, die=None, **options):
    """Data-parallel training by SGD with momentum. Returns {"losses": of each step, the mean over the workers,
    "weights", "seconds": of each step, "waited": from the end of each backward pass to that of the step, "busy":
    processor seconds of a second of training, the first steps left out}.

    die=(rank, step): that worker ends itself then, as the system does where memory has run out.
    """
    model = DataParallel(networks.digits(width=width), group, **options)
    optimizer = SGD(model.module.parameters(), lr=lr, momentum=0.9)
    found = {"losses": [], "seconds": [], "waited": []}
    part = group.part(examples)
    batches = [[array[part] for array in batch_of(examples, step)] for step in range(steps)]
    for step, (images, labels) in enumerate(batches):
        if die == (group.rank, step):
            _end_this_process()
        if step == min(3, steps - 1):  # what is compiled has been
            group.barrier()
            busy, since = time.process_time(), time.perf_counter()
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(Tensor(images)), labels)
        loss.backward()
        waits = time.perf_counter()
        model.synchronize()
        optimizer.step()
        end = time.perf_counter()
        found["losses"].append(loss.item())
        found["seconds"].append(end - begin)
        found["waited"].append(end - waits)
    found["busy"] = (time.process_time() - busy) / (time.perf_counter() - since)
    found["losses"] = group.all_reduce(np.array(found["losses"]), "mean", "direct").tolist()
    return found | {"weights": model.module.state_dict()}


def _end_this_process():
    import os
    import signal

    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def resumable(group, folder, steps, every, attempt=0, die=(), parts=4):
    """A `DigitsMLP` that learns by Adam, saves every `every` steps, and begins at
    the last checkpoint in `folder`. Its weights are the same bits on 1, 2 and 4
    workers, however often it began again.

    die: for each attempt (rank, when), a worker that ends itself: before a step,
    where `when` is an integer, or so many seconds after the beginning. Returns
    {"began": the first step, "losses": by step, "weights"}.
    """
    model, began, losses = DigitsMLP(), 0, {}
    optimizer = Adam(model.parameters(), lr=0.01)
    if (Path(folder) / INDEX).exists():
        values = load_optimizer(folder, group, optimizer, common=True)
        began = values["step"]
    weights, loss_of = model.parameters(), _loss_by_step(model, parts)
    with _dies(group.rank, *die[attempt : attempt + 1]) as dies:
        for step in range(began, steps):
            dies(step)
            of_part = functools.partial(loss_of, step)
            losses[step] = tree_gradients(group, weights, of_part, parts)
            optimizer.step()
            if (step + 1) % every == 0:
                save_optimizer(folder, group, optimizer, common=True, step=step + 1)
    return {"began": began, "losses": losses, "weights": model.state_dict()}


def _loss_by_step(model, parts, examples=32):
    """loss_of(step, part): of which examples, follows from these two numbers."""
    (images, labels), _ = data.digits()

    def loss_of(step, part):
        chosen = (np.arange(examples) + (step * parts + part) * examples) % len(labels)
        return F.cross_entropy(model(images[chosen]), labels[chosen])

    loss_of(0, 0).backward()  # what is to be compiled is, before somebody looks at a clock
    return loss_of


@contextlib.contextmanager
def _dies(rank, when=None):
    """Ends this process, if its rank is meant, when the time or the step has come."""
    moment = when[1] if when and when[0] == rank else None
    timer = threading.Timer(moment, _end_this_process) if isinstance(moment, float) else None
    if timer:
        timer.start()
    yield lambda step: _end_this_process() if step == moment and not timer else None
    if timer:
        timer.cancel()


class DigitsMLP(modules.Module):
    """Two layers that tell digits apart, with always the same weights. The ReLU between them is NumPy's: that is one
    kernel less to compile for each new process."""

    def __init__(self, width=32):
        rng = np.random.default_rng(0)
        self.first, self.second = modules.Linear(64, width, generator=rng), modules.Linear(width, 10, generator=rng)

    def forward(self, images):
        x = self.first(Tensor(images.reshape(-1, 64)))
        hidden = record("relu", np.maximum(x.data, 0), [x], lambda grad, kept: [grad * (kept > 0)], x.data)
        return self.second(hidden)


def digits_gradient(examples=32):
    """gradient(weights, worker, k) for `staleness`: loss and gradients of `DigitsMLP` on the worker's k-th batch."""
    (images, labels), model = data.digits()[0], DigitsMLP()

    def gradient(weights, worker, k):
        for p, w in zip(model.parameters(), weights, strict=True):
            p.data[...], p.grad = w, None
        chosen = np.random.default_rng([worker, k]).integers(len(labels), size=examples)
        loss = F.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        return loss.item(), [p.grad for p in model.parameters()]

    return gradient


def asynchronous(group, bound, pauses, updates=400, lr=0.1, momentum=0.0, every=10):
    """Worker 0 is a parameter server by SGD with this `bound` (staleness.py), the others learn digits. A worker's
    gradient takes its seconds of `pauses` more: it sleeps, as one that waits for its GPU. So cores are not what is
    scarce, and a slow worker is slow by the clock.

    Returns of worker 0 {"seconds", "losses" on the test images: every so many updates}, of others {"staleness": of each
    of its gradients}. All workers are there and have compiled when the clock begins.
    """
    model, tests = DigitsMLP(), data.digits()[1]
    gradient = digits_gradient()
    gradient([p.data for p in model.parameters()], 0, 0)
    group.barrier()
    begin = time.perf_counter()
    if group.rank:
        client, pause = Client(group, model.parameters()), pauses[group.rank - 1]
        done = work(client, group.rank - 1, gradient, lambda worker, k: time.sleep(pause))
        return {"staleness": [stale for stale, _ in done]}
    server = ParameterServer(model.parameters(), SGD(model.parameters(), lr, momentum), group.size - 1, bound, updates)
    noted = []

    def note():
        if server.version % every == 0:
            noted.append((time.perf_counter() - begin, server.now()[0]))

    serve(server, group, note)
    losses = []
    for _, weights in noted:
        for p, w in zip(model.parameters(), weights, strict=True):
            p.data[...] = w
        losses.append(F.cross_entropy(model(tests[0]), tests[1]).item())
    return {"seconds": [seconds for seconds, _ in noted], "losses": losses}


def timeline(group, examples, width=32, tries=20, **options):
    """When things happen in one step: {"forward", "backward": (begin, end), "sums": [(begin, end) of each bucket's
    all-reduce]}, seconds since all workers began, of the median of some tries by length."""
    noted = _Noted(group)
    model = DataParallel(networks.digits(width=width), noted, **options)
    part = group.part(examples)
    images, labels = (array[part] for array in batch_of(examples))
    found = []
    for _ in range(tries):
        for p in model.module.parameters():
            p.grad = None
        noted.sums = []
        group.barrier()
        begin = time.perf_counter()
        loss = F.cross_entropy(model(Tensor(images)), labels)
        middle = time.perf_counter()
        loss.backward()
        end = time.perf_counter()
        model.synchronize()
        done = time.perf_counter()
        sums = [(a - begin, b - begin) for a, b in sorted(noted.sums)]
        found.append(
            {
                "forward": (0, middle - begin),
                "backward": (middle - begin, end - begin),
                "sums": sums,
                "done": done - begin,
            }
        )
    length = group.all_reduce(np.array([run["done"] for run in found]), "max")
    return found[int(np.argsort(length)[len(length) // 2])]


class _Noted:
    """A group that notes when its all-reduces begin and end."""

    def __init__(self, group):
        self._group, self.sums = group, []

    def __getattr__(self, name):
        return getattr(self._group, name)

    def start_all_reduce(self, *arguments):
        begin = time.perf_counter()
        handle, sums = self._group.start_all_reduce(*arguments), self.sums
        handle.then(lambda: sums.append((begin, time.perf_counter())))
        return handle


def all_reduces(group, lengths, algorithm, reps):
    """Seconds of all-reduces of float32 arrays: for each length `reps` of them, each that of the slowest worker."""
    found = []
    for length in lengths:
        array = np.ones(length, np.float32)
        times = np.empty(reps)
        for k in range(reps):
            group.barrier()
            begin = time.perf_counter()
            group.all_reduce(array, "max", algorithm, out=array)
            times[k] = time.perf_counter() - begin
        found.append(group.all_reduce(times, "max").tolist())
    return found


def sent(group, algorithm, length=840):
    """How many times an array's bytes this worker sends for one all-reduce."""
    before = group.bytes_sent
    group.all_reduce(np.zeros(length, np.float32), algorithm=algorithm)
    return (group.bytes_sent - before) / (4 * length)
