"""Data parallel: each worker has the whole network and a part of the batch, and gradients are averaged.

    model = DataParallel(model, group)
    loss = F.cross_entropy(model(Tensor(x)), labels)          # x: this worker's part of the batch
    loss.backward()                                           # buckets of gradients are on their way meanwhile
    model.synchronize()
    optimizer.step()                                          # the same step on each worker

A backward pass makes the gradients of the last layers first. As soon as a bucket of them is complete, their all-reduce
begins, while the layers before are still computed (Li and others 2020, "PyTorch
Distributed", sections 3.2.2 and 3.2.3).

Which bits: with `algorithm` "direct" or "naive" (and with two workers: any) the gradients are, bit for bit, those of
one worker who runs the parts one after the other, adds up their gradients in this order, and divides by their number.
With "ring" sums begin at another rank for each part, so it is that to rounding. In one pass over the whole batch the
kernels sum over examples in yet another order: again to rounding. The workers' gradients are the same bits always, so
their weights stay the same.

Batch norm is the exception: it looks at the examples of its worker only, so the network is another one. With
`SyncBatchNorm2d` in its place it is not.
"""

from contextlib import contextmanager

import numpy as np

import dlkernels
from training.arrays import write
from training.memory import running_again
from training.modules import BatchNorm2d, Module
from training.tensor import record


class DataParallel(Module):
    """A module whose gradients are averaged over the workers of a group. Call it as the module itself.

    When made, all weights and buffers become those of worker 0. All workers' batches count the same, so they should be
    equally long. bucket: bytes of gradients that make one all-reduce (0: each parameter has one of its own). overlap:
    whether an all-reduce begins while backward runs; the results are the same bits.
    """

    def __init__(self, module, group, bucket=1 << 20, overlap=True, algorithm="direct"):
        self.module, self.group, self.overlap, self.algorithm = module, group, overlap, algorithm
        for _, x in module.named_tensors():
            write(x.data, group.broadcast(x.data))
            x.version += 1
        self.buckets = buckets(module.parameters(), bucket)
        self._bucket_of = {p: k for k, bucket in enumerate(self.buckets) for p in bucket}
        self._paused = False
        self._begin()
        for p in module.parameters():
            p.when_ready = self._ready

    def forward(self, *arguments, **named):
        return self.module(*arguments, **named)

    def _begin(self):
        self._missing = [set(bucket) for bucket in self.buckets]
        self._running = []  # of each bucket that was begun, in order: the handle of its all-reduce

    def _ready(self, p):
        if not self._paused:
            self._missing[self._bucket_of[p]].discard(p)
            while self.overlap and len(self._running) < len(self.buckets) and not self._missing[len(self._running)]:
                self._start()

    def _start(self):
        """Begin the next bucket. Their order is the same on all workers, whatever is ready first."""
        flat = _flat(self.buckets[len(self._running)])
        self._running.append(self.group.start_all_reduce(flat, "mean", self.algorithm))

    def synchronize(self):
        """Wait for all buckets; `.grad` of each parameter then is the mean of all workers' gradients.

        A parameter that no worker has a gradient of gets zeros.
        """
        while len(self._running) < len(self.buckets):
            self._start()
        for bucket, handle in zip(self.buckets, self._running, strict=True):
            _spread(handle.wait(), bucket)
        self._begin()

    @contextmanager
    def no_sync(self):
        """Inside, backward only adds up gradients on this worker: for accumulation, around all batches but the last."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False


def buckets(parameters, size):
    """Parameters, last one first, in lists of at most `size` bytes (or one parameter that is larger) and one dtype."""
    found, used = [], 0
    for p in reversed(parameters):
        if not found or used + p.data.nbytes > size or p.dtype != found[-1][0].dtype:
            found.append([])
            used = 0
        found[-1].append(p)
        used += p.data.nbytes
    return found


def _flat(bucket):
    parts = [np.zeros(p.size, p.dtype) if p.grad is None else p.grad.reshape(-1) for p in bucket]
    return np.concatenate(parts)


def _spread(flat, bucket):
    offset = 0
    for p in bucket:
        p.grad = flat[offset : offset + p.size].reshape(p.shape)
        offset += p.size


# ---- batch norm ------------------------------------------------------------------------------------------------------


class SyncBatchNorm2d(BatchNorm2d):
    """Batch norm by the mean and variance of all workers' examples, as torch.nn.SyncBatchNorm.

    Each worker sends its count, mean and variance of each channel forward, and two sums backward.
    """

    def __init__(self, channels, group, eps=1e-5, momentum=0.1):
        super().__init__(channels, eps, momentum)
        self.group = group

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        axes = (0, *range(2, len(x.shape)))
        wide = x.data.astype(np.float64)  # sums of squares: twice the digits
        count = x.size // x.shape[1]
        sums = np.stack([wide.sum(axes), np.square(wide).sum(axes), np.full(x.shape[1], count)])
        total, squares, n = self.group.all_reduce(sums, algorithm="direct")
        mean = total / n
        var = np.maximum(squares / n - mean * mean, 0)
        mean32, var32 = mean.astype(x.dtype), var.astype(x.dtype)
        if not running_again():
            from dlkernels.normalization import running_statistics

            old = self.running_mean.data, self.running_var.data
            new = running_statistics(*old, mean32, var32, int(n[0]), self.momentum)
            self.running_mean.data, self.running_var.data = new
        weight, bias = self.weight, self.bias
        result = dlkernels.batch_norm(x.data, mean32, var32, weight.data, bias.data, eps=self.eps)
        shape = (1, -1) + (1,) * (len(x.shape) - 2)
        inverse = 1 / np.sqrt(var + self.eps)

        def backward(grad, kept):
            normal = (kept.astype(np.float64) - mean.reshape(shape)) * inverse.reshape(shape)
            local_sums = np.stack([grad.sum(axes, dtype=np.float64), (grad * normal).sum(axes)])
            mean_sums = self.group.all_reduce(local_sums, algorithm="direct") / n
            inner = grad - mean_sums[0].reshape(shape) - normal * mean_sums[1].reshape(shape)
            of_x = inner * (weight.data * inverse).reshape(shape)
            return [of_x.astype(x.dtype), local_sums[1].astype(x.dtype), local_sums[0].astype(x.dtype)]

        return record("sync_batch_norm", result, [x, weight, bias], backward, x.data)


def synchronized(module, group):
    """The module with a SyncBatchNorm2d, of the same weights, in the place of each BatchNorm2d."""
    for _, part in list(module.named_modules()):
        for name, child in list(vars(part).items()):
            if type(child) is BatchNorm2d:
                synced = SyncBatchNorm2d(child.weight.size, group, child.eps, child.momentum)
                synced.load_state_dict(child.state_dict())
                setattr(part, name, synced)
    return module
