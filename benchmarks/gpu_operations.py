"""Every GPU rung that is no vector operation and no plain product, beside PyTorch (cuDNN, SDPA). Part of ``make
gpu-record``.

TF32 is off on both sides; PyTorch's attention in float32 multiplies on tensor cores all the same, in three steps that
keep nearly all digits. PyTorch is at its best otherwise (`cudnn.benchmark`). Each result is compared with PyTorch's, or
where it has no such function with that of the last rung, before it is timed; the tests compare all of them with
float64.
"""

import time
from dataclasses import dataclass

import numpy as np
from gpu_timing import kernel_times

ROUNDS = 7
SLOW = 0.03  # seconds of one call, above which two rounds are enough
CALLS_SEEN = 8  # by the profiler
ALLOWED = {"float32": 5e-4, "float16": 5e-3, "bfloat16": 3e-2}  # of the norm of the result
UNTIMED = {"conv2d_constant"}  # compiled anew for the weights of each layer


@dataclass(frozen=True)
class Call:
    """One call of an operation: a size of its examples, or ``make(random, *shape)`` where they have no such case.

    flops: of the operation, by definition (a multiply-add is two); 0 where it is bytes that count.
    """

    operation: str
    shape: tuple
    label: str
    flops: float = 0
    dtype: str = "float32"
    make: object = None

    def arguments(self):
        from dlkernels import implementations

        if self.make is None:
            return implementations.OPERATIONS[self.operation].examples.make(self.shape, dtype=self.dtype)
        rng = np.random.default_rng(0)

        def random(*shape):
            return rng.standard_normal(shape, np.float32).astype(self.dtype)

        return self.make(random, *self.shape)


# ---- calls -------------------------------------------------------------------------------------------------


def layer(random, count, ins, outs, edge, kernel, stride, groups):
    """Of a network: padding that keeps the picture, no bias."""
    weight = random(outs, ins // groups, kernel, kernel) / np.float32(kernel * (ins / groups) ** 0.5)
    return random(count, ins, edge, edge), weight.astype(np.float32), None, stride, kernel // 2, 1, groups


def half_layer(random, *sizes):
    x, weight, *rest = layer(random, *sizes)
    return x, weight.astype(x.dtype), *rest


def layer_backward(random, *sizes):
    x, weight, *rest = layer(random, *sizes)
    (count, outs, edge, stride) = (sizes[k] for k in (0, 2, 3, 5))
    return random(count, outs, -(-edge // stride), -(-edge // stride)), x, weight, *rest


def convolution(kind, count, ins, outs, edge, kernel, stride=1, groups=1, operation="conv2d", **more):
    flops = 2 * count * outs * (-(-edge // stride)) ** 2 * ins // groups * kernel**2
    shape = count, ins, outs, edge, kernel, stride, groups
    make = {"conv2d": layer, "conv2d_half": half_layer, "conv2d_backward": layer_backward}[operation]
    label = f"{kind}: {count} x {ins} to {outs}, {edge} x {edge}"
    return Call(operation, shape, label, flops * (2 if make is layer_backward else 1), make=make, **more)


def attend(random, batch, heads, length, width, causal):
    return *(random(batch, heads, length, width) for _ in range(3)), None, causal, None, False


def attend_backward(random, *shape):
    return random(*shape[:4]), *attend(random, *shape)


def attention(batch, heads, length, width, causal=False, operation="scaled_dot_product_attention", **more):
    flops = 4 * batch * heads * length**2 * width * (0.5 if causal else 1)
    backward = operation.endswith("backward")
    label = f"{'causal, ' if causal else ''}{batch} x {heads} heads, {length} x {width}"
    make = attend_backward if backward else attend
    shape = batch, heads, length, width, causal
    return Call(operation, shape, label, flops * (2.5 if backward else 1), make=make, **more)


def network(operation, gates, steps, batch, hidden):
    flops = 2 * steps * batch * gates * hidden * 2 * hidden
    return Call(operation, (steps, batch, hidden, hidden), f"{steps} steps, batch {batch}, {hidden} units", flops)


def network_backward(operation, *sizes):
    forward = network(operation.removesuffix("_backward"), *sizes)
    return Call(operation, forward.shape, forward.label, 2 * forward.flops)


def rows(operation, *shape):
    return Call(operation, shape, " x ".join(map(str, shape)))


LAYERS = (
    ("first, 7 x 7 / 2", 32, 3, 64, 224, 7, 2),
    ("3 x 3", 32, 64, 64, 56, 3),
    ("3 x 3", 32, 256, 256, 14, 3),
    ("1 x 1", 32, 256, 64, 56, 1),
    ("depthwise 3 x 3", 32, 144, 144, 56, 3, 1, 144),
)
NETWORKS = {"lstm": 4, "gru": 3, "rnn": 1}  # gates
HEADS = ((4, 16, 1024, 64), (1, 16, 4096, 64), (1, 16, 4096, 128))
CALLS = {
    "memory": [
        rows("transpose", 8192, 8192),
        rows("sum", 1 << 26),
        rows("cumsum", 1 << 24),
        rows("cumsum", 4096, 4096),
        rows("histogram", 1 << 26),
    ],
    "convolution": [
        *(convolution(*one) for one in LAYERS),
        *(convolution(*one, operation="conv2d_half", dtype="float16") for one in LAYERS[1:4]),
        *(convolution(*one, operation="conv2d_backward") for one in LAYERS[1:2]),
        *(rows(name, 32, 64, 112, 112) for name in ("max_pool2d", "avg_pool2d")),
    ],
    "attention": [
        *(rows(name, 16384, 1024) for name in ("softmax", "log_softmax", "layer_norm", "rms_norm")),
        *(rows(f"{name}_backward", 16384, 1024) for name in ("softmax", "layer_norm")),
        *(attention(*one, causal) for one in HEADS for causal in (False, True)),
        *(
            attention(*one, causal, operation="attention_half", dtype="float16")
            for one in HEADS
            for causal in (False, True)
        ),
        attention(*HEADS[0], operation="scaled_dot_product_attention_backward"),
        rows("decode_attention", 1, 32, 1, 16384, 128),
        rows("decode_attention", 32, 32, 1, 2048, 128),
        rows("rotary_embedding", 256, 1024, 64),
    ],
    "recurrent": [
        *(network("lstm", 4, *one) for one in ((512, 1, 256), (128, 64, 256), (128, 64, 1024))),
        network("gru", 3, 128, 64, 256),
        network("rnn", 1, 128, 64, 256),
        *(network_backward(f"{kind}_backward", gates, 128, 64, 256) for kind, gates in NETWORKS.items()),
        rows("scan", 65536),
        rows("scan", 4096, 4096),
        rows("selective_scan", 4, 1024, 2048, 16),
        rows("min_gru", 512, 32, 256, 256),
    ],
}
TINY = {  # dry run
    "memory": [rows("sum", 70), rows("transpose", 5, 3)],
    "convolution": [
        convolution("3 x 3", 1, 2, 3, 5, 3),
        convolution("3 x 3", 1, 2, 2, 5, 3, operation="conv2d_backward"),
    ],
    "attention": [rows("softmax", 3, 5), attention(1, 1, 5, 4, True)],
    "recurrent": [
        network("gru", 3, 2, 1, 3),
        *(network_backward(f"{kind}_backward", gates, 2, 1, 3) for kind, gates in NETWORKS.items()),
        rows("scan", 9),
    ],
}


# ---- measuring ---------------------------------------------------------------------------------------------


def measure(chapter, keep, event_times, calls=None, rounds=ROUNDS):
    """Check and time every candidate of every call; each result goes to ``keep`` as a dict, at once."""
    for call in calls or CALLS[chapter]:
        try:
            lines(call, keep, event_times, rounds)
        except Exception as error:  # one call that does not run must not hide the others
            keep({**described(call), "error": f"{type(error).__name__}: {error}"[:500]})


def described(call):
    return {"operation": call.operation, "shape": list(call.shape), "label": call.label, "dtype": call.dtype}


def lines(call, keep, event_times, rounds):
    from dlkernels import cuda, implementations

    arguments = call.arguments()
    there = [on_device(x) for x in arguments]
    found = candidates(call, there)
    right, slow, errors, expected, moved = {}, {}, {}, None, 0
    for name, run in found.items():
        try:
            got = results(run(), call.operation.endswith("backward"))
            if expected is None:
                expected = got
                moved = sum(x.nbytes for x in flat((arguments, got)) if isinstance(x, np.ndarray))
            errors[name] = max(difference(one, other) for one, other in zip(got, expected, strict=True))
            if not errors[name] <= ALLOWED[call.dtype]:
                raise ArithmeticError(f"differs by {errors[name]:.3g} of its norm from {next(iter(found))}")
            start = time.perf_counter()
            run()
            cuda.synchronize()
        except Exception as error:
            keep({**described(call), "name": name, "error": f"{type(error).__name__}: {error}"[:500]})
            continue
        (slow if time.perf_counter() - start > SLOW else right)[name] = run
    seconds, host, kernels = {}, {}, {}
    for some, times, calls in ((right, rounds, CALLS_SEEN), (slow, 2, 3)):
        if some:
            measured, queued = event_times(some, cuda, rounds=times, first=1 if some is slow else 3)
            seconds, host = seconds | measured.seconds, host | queued
            kernels |= kernel_times(some, cuda, calls)
    numbers = {rung.name: rung.rung for rung in implementations.of(call.operation, "gpu")}
    for name in seconds:
        row = {**described(call), "name": name, "seconds": seconds[name], "launch_seconds": host[name], "bytes": moved}
        row |= {"flops": call.flops, "difference": errors[name]}
        if name in numbers:
            row["rung"] = numbers[name]
        if name in kernels:
            row |= {"kernel_seconds": kernels[name]["seconds"], "kernels": kernels[name]["kernels"]}
            row |= {"longest_kernel": kernels[name]["longest"]}
        if "PyTorch" in seconds:
            row["ratio_to_PyTorch"] = seconds["PyTorch"] / seconds[name]
            if name in kernels and "PyTorch" in kernels:
                row["kernel_ratio_to_PyTorch"] = kernels["PyTorch"]["seconds"] / kernels[name]["seconds"]
        keep(row)


def candidates(call, there):
    """Name -> function that queues the work and returns its result: PyTorch first, then the rungs, the last one
    first."""
    from dlkernels import implementations

    found, operation = {}, implementations.OPERATIONS[call.operation]
    peer = peer_of(call, operation, there)
    if peer:
        found["PyTorch"] = peer
    largest = max(x.size for x in there if hasattr(x, "size"))
    for rung in reversed(implementations.of(call.operation, device="gpu")):
        if rung.name not in UNTIMED and (rung.largest is None or largest <= rung.largest):
            prepared = operation.prepare(*there)  # for each rung, as some add to a result that is prepared as zero
            found[rung.name] = lambda rung=rung, prepared=prepared: rung.function(*prepared)
    return found


def peer_of(call, operation, there):
    """PyTorch's function for the operation, on the GPU; for a gradient, its backward without the forward."""
    import operations

    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    peers = {"attention_half": operations.torch_attention, **{k: v.get("PyTorch") for k, v in operations.PEERS.items()}}
    if operation.backward_of in NETWORKS:
        kind = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN"}[operation.backward_of]
        return operations.torch_network_backward(kind, *there)
    if operation.backward_of is None:
        peer = peers.get(call.operation)
        if peer is None:
            return None
        run = peer(*there)

        def forward():
            with torch.no_grad():
                return run()

        return forward
    peer = peers.get(operation.backward_of)
    if peer is None:
        return None
    grad, *given = operations.tensors(*there)
    leaves = [x.requires_grad_() for x in given if isinstance(x, torch.Tensor)]
    result = peer(*given)()
    return lambda: torch.autograd.grad(result, leaves, grad, retain_graph=True)


def results(returned, all_of_them):
    """The arrays that a candidate returned, on the host: of several results the first, of gradients all."""
    there = [x for x in flat(returned) if x is not None]
    return [on_host(x) for x in (there if all_of_them else there[:1])]


def flat(x):
    """What is in a tuple or list, and in those in it."""
    return [one for part in x for one in flat(part)] if isinstance(x, tuple | list) else [x]


def on_device(x):
    from dlkernels import cuda

    if isinstance(x, tuple):
        return tuple(map(on_device, x))
    return cuda.to_device(x) if isinstance(x, np.ndarray) else x


def on_host(x):
    if hasattr(x, "copy_to_host"):
        return x.copy_to_host()
    x = x.detach().cpu()
    return x.float().numpy() if x.dtype.is_floating_point else x.numpy()


def difference(got, expected):
    """The norm of the difference as a share of the norm of what is expected; inf where it is not a number."""
    got, expected = (np.asarray(x, np.float64).reshape(-1) for x in (got, expected))
    if got.size != expected.size:
        return np.inf
    share = np.linalg.norm(got - expected) / max(np.linalg.norm(expected), 1e-30)
    return float(share) if np.isfinite(share) else np.inf
