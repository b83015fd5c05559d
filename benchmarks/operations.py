"""Every operation of the table that no other benchmark looks at: its rungs against each other, and against its peers.

    python benchmarks/run.py operations           recorded in results/operations.json
    python benchmarks/run.py operations --quick   the smallest size of each, not recorded

Sizes and arguments come from the operation's examples: a new operation is timed without a line here. A peer, where
there is one, stands in PEERS.
"""

import importlib
from functools import partial

import numba
import numpy as np
from ladder import TORCH, prepare, traffic, warm

from cpulab.measure import Table, peers, times, with_unit
from dlkernels import conv2d, dequantize, implementations, linear, matmul
from dlkernels.matrix.reference import unbroadcast

OTHERS = ("vector", "matmul")  # benchmarks with sizes and peers of their own


# What a user of another library would write, as `peer(*arguments) -> function without arguments`; None where there is
# none.


def numpy_matmul_backward(grad, a, b):
    return lambda: (
        unbroadcast(grad @ np.swapaxes(b, -1, -2), a.shape),
        unbroadcast(np.swapaxes(a, -1, -2) @ grad, b.shape),
    )


def numpy_half(a, b):
    return lambda: widened(a) @ widened(b)


def numpy_int8(a, b):
    return lambda: a.astype(np.int32) @ b.astype(np.int32)


def numpy_linear(x, weight, bias, activation):
    return lambda: x @ weight.T + (0 if bias is None else bias)


def numpy_transpose(x):
    return lambda: np.ascontiguousarray(np.swapaxes(x, -1, -2))


def torch_transpose(x):
    (x,) = tensors(x)
    return lambda: x.transpose(-1, -2).contiguous()


def numpy_sum(x, dim, keepdim):
    return lambda: np.sum(x, axis=dim, keepdims=keepdim)


def torch_sum(x, dim, keepdim):
    (x,) = tensors(x)
    return lambda: x.sum(dim, keepdim)


def numpy_cumsum(x, dim):
    return lambda: np.cumsum(x, axis=dim)


def torch_cumsum(x, dim):
    (x,) = tensors(x)
    return lambda: x.cumsum(dim)


def numpy_histogram(x, bins, low, high):
    return lambda: np.histogram(x, bins, (low, high))


def torch_histogram(x, bins, low, high):
    import torch

    (x,) = tensors(x)
    return lambda: torch.histc(x, bins, low, high)


def in_float32(a, b):
    """Our own product of the same numbers: what narrow types gain."""
    x, y = widened(a), widened(b)
    return lambda: matmul(x, y)


def widened(x):
    """float16, bfloat16 (its bits as uint16) or int8 as float32."""
    return (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == np.uint16 else x.astype(np.float32)


def conv2d_in_float32(x, weight, *rest):
    """Our own convolution of the same numbers."""
    x, weight = widened(x), widened(weight)
    return lambda: conv2d(x, weight, *rest)


def tensors(*arguments):
    """Arrays as tensors that share their memory, of the host or of a GPU; what is no array as it is."""
    import torch

    def tensor(x):
        if isinstance(x, np.ndarray):
            return torch.from_numpy(x)
        return torch.as_tensor(x, device="cuda") if hasattr(x, "copy_to_host") else x

    made = map(tensor, arguments)
    return [x.view(torch.bfloat16) if getattr(x, "dtype", None) == torch.uint16 else x for x in made]


def torch_half(a, b):
    x, y = tensors(a, b)
    return lambda: x @ y  # the result in the narrow type; ours is float32


def torch_conv2d_half(x, weight, bias, *rest):
    import torch

    x, weight, bias = tensors(x, weight, bias)
    bias = None if bias is None else bias.to(x.dtype)
    return lambda: torch.nn.functional.conv2d(x, weight, bias, *rest)  # the result in the narrow type


def torch_int8(a, b):
    import torch

    x, y = tensors(a, b)
    return lambda: torch._int_mm(x, y)


def torch_linear(x, weight, bias, activation):
    import torch

    x, weight, bias, activation = tensors(x, weight, bias, activation)
    act = (lambda y: y) if activation is None else getattr(torch, activation)
    return lambda: act(torch.nn.functional.linear(x, weight, bias))


def torch_function(name):
    """PyTorch's function of that name, which takes the same arguments as ours."""

    def peer(*arguments):
        import torch

        given = tensors(*arguments)
        return lambda: getattr(torch.nn.functional, name)(*given)

    return peer


def torch_layer_norm(x, weight, bias, eps):
    import torch

    x, weight, bias = tensors(x, weight, bias)
    return lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


def torch_rms_norm(x, weight, eps):
    import torch

    x, weight = tensors(x, weight)
    return lambda: torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)


def torch_loss(name, *options):
    """A loss, whose options have other places there."""

    def peer(input, target, *given):
        import torch

        input, target = tensors(input, target)
        loss = getattr(torch.nn.functional, name)
        return lambda: loss(input, target, **dict(zip(options, given, strict=True)))

    return peer


def torch_dropout(input, p, training, seed, offset):
    """With random numbers of its own."""
    import torch

    (input,) = tensors(input)
    return lambda: torch.nn.functional.dropout(input, p, training)


def numpy_quantize(input, scale, zero_point, dtype, axis, group_size):
    """Of the first of our examples: int8, one scale for all."""
    scale = np.float32(scale)
    return lambda: np.clip(np.rint(input / scale), -128, 127).astype(np.int8)


def torch_quantize(input, scale, zero_point, dtype, axis, group_size):
    import torch

    (input,) = tensors(input)
    return lambda: torch.quantize_per_tensor(input, scale, 0, torch.qint8).int_repr()


def torch_fake_quantize(input, scale, zero_point, quant_min, quant_max, axis, group_size):
    import torch

    (input,) = tensors(input)
    return lambda: torch.fake_quantize_per_tensor_affine(input, scale, 0, quant_min, quant_max)


def dequantized(input, weight, scale, zero_point, bias, group_size):
    """(input, weight, bias) of the linear layer that linear_int4 stands for."""
    length = input.shape[-1]
    group = group_size or length + length % 2
    return input, dequantize(weight, scale, zero_point, "int4", None, group, length), bias


def int4_in_float32(*arguments):
    """Our own layer of the same numbers: what four bits gain."""
    return partial(linear, *dequantized(*arguments))


def torch_int4_in_float32(*arguments):
    import torch

    return partial(torch.nn.functional.linear, *tensors(*dequantized(*arguments)))


def torch_attention(q, k, v, mask, is_causal, scale, enable_gqa):
    import torch

    q, k, v, mask = tensors(q, k, v, mask)
    attend, options = torch.nn.functional.scaled_dot_product_attention, {"scale": scale, "enable_gqa": enable_gqa}
    return lambda: attend(q, k, v, mask, 0.0, is_causal, **options)


def torch_decode(q, k, v, lengths, block_table, k_scale, v_scale, scale, return_lse):
    """What PyTorch's users call for one new token. It has no lengths, pages or bytes: the sizes that are timed have
    none."""
    import torch

    assert all(one is None for one in (lengths, block_table, k_scale, v_scale)), "no peer for lengths, pages and bytes"
    assert not return_lse
    q, k, v = tensors(q, k, v)
    attend, options = torch.nn.functional.scaled_dot_product_attention, {"scale": scale, "enable_gqa": True}
    return lambda: attend(q, k, v, **options)


def network_of(kind, x, *rest):
    """torch.nn.RNN, LSTM or GRU with one layer in one direction: (network, x, a list of the states before)."""
    import torch

    count = 2 if kind == "LSTM" else 1
    (x,), states, weights = tensors(x), tensors(*rest[:count]), tensors(*rest[count : count + 4])
    network = getattr(torch.nn, kind)(x.shape[2], weights[1].shape[1])
    for name, weight in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), weights, strict=True):
        getattr(network, f"{name}_l0").data = weight
    network.flatten_parameters()  # cuDNN wants them side by side; nothing to do on a CPU
    return network, x, states


def torch_network(kind):
    """The same, without gradients."""

    def peer(*arguments):
        import torch

        network, x, states = network_of(kind, *arguments)

        def run():
            with torch.no_grad():
                return network(x, tuple(states) if len(states) == 2 else states[0])

        return run

    return peer


def torch_network_backward(kind, grads, *arguments):
    """Its backward without the forward: the gradients of x, the states, W, U and the biases, in our order."""
    import torch

    network, x, states = network_of(kind, *arguments)
    leaves = [one.requires_grad_() for one in (x, *states)]
    output, after = network(x, tuple(states) if len(states) == 2 else states[0])
    results = (output, *after) if len(states) == 2 else (output, after)
    grads, leaves = tensors(*grads), [*leaves, *network.parameters()]
    return lambda: torch.autograd.grad(results, leaves, grads, retain_graph=True)


#: operation -> {name of the peer: what does the same as the public function}
PEERS = {
    "matmul_backward": {"NumPy": numpy_matmul_backward},
    "matmul_half": {"NumPy": numpy_half, "ours in float32": in_float32, "PyTorch": torch_half},
    "matmul_int8": {"NumPy": numpy_int8, "ours in float32": in_float32, "PyTorch": torch_int8},
    "linear": {"NumPy": numpy_linear, "PyTorch": torch_linear},
    "transpose": {"NumPy": numpy_transpose, "PyTorch": torch_transpose},
    "sum": {"NumPy": numpy_sum, "PyTorch": torch_sum},
    "cumsum": {"NumPy": numpy_cumsum, "PyTorch": torch_cumsum},
    "histogram": {"NumPy": numpy_histogram, "PyTorch": torch_histogram},
    "conv2d_half": {"ours in float32": conv2d_in_float32, "PyTorch": torch_conv2d_half},
    "conv2d_winograd": {"PyTorch": torch_function("conv2d")},
    **{
        name: {"PyTorch": torch_function(name)}
        for name in (
            "conv2d",
            "max_pool2d",
            "avg_pool2d",
            "adaptive_max_pool2d",
            "adaptive_avg_pool2d",
            "softmax",
            "log_softmax",
            "embedding",
        )
    },
    "cross_entropy": {"PyTorch": torch_loss("cross_entropy", "ignore_index", "reduction", "label_smoothing")},
    "mse_loss": {"PyTorch": torch_loss("mse_loss", "reduction")},
    "dropout": {"PyTorch": torch_dropout},
    "quantize": {"NumPy": numpy_quantize, "PyTorch": torch_quantize},
    "fake_quantize": {"PyTorch": torch_fake_quantize},
    "linear_int4": {"ours in float32": int4_in_float32, "PyTorch in float32": torch_int4_in_float32},
    "layer_norm": {"PyTorch": torch_layer_norm},
    "rms_norm": {"PyTorch": torch_rms_norm},
    "scaled_dot_product_attention": {"PyTorch": torch_attention},
    "decode_attention": {"PyTorch": torch_decode},
    **{name.lower(): {"PyTorch": torch_network(name)} for name in ("RNN", "LSTM", "GRU")},
}


def elsewhere():
    """The operations that the other benchmarks time."""
    return {"matmul", "matmul_strassen"} | {case.operation for case in importlib.import_module("vector").CASES}


def operations():
    """Names of the operations that are timed here."""
    return [name for name in implementations.OPERATIONS if name not in elsewhere()]


def candidates(name, arguments):
    """What is timed, by name: peers first, then the rungs."""
    peers = {label: peer for label, peer in PEERS.get(name, {}).items() if not label.startswith("PyTorch") or TORCH}
    chosen = {label: peer(*arguments) for label, peer in peers.items()}
    for rung in implementations.of(name, "cpu"):
        chosen[rung.name] = partial(rung, *arguments)
    return chosen


def compare(name, shape, dtype, threads, budget):
    """Rows (dicts) of one size: seconds, and the ratio to the first peer or else to the first rung."""
    chosen = candidates(name, prepare(name, shape, dtype)[0])
    measured, first = times(chosen, budget=budget, threads=threads), next(iter(chosen))
    for label in chosen:
        row = {
            "operation": name,
            "shape": list(shape),
            "dtype": dtype,
            "threads": threads,
            "name": label,
            "peer": first,
        }
        row |= measured.ratio(first, label).to_dict()
        yield row | {"bandwidth": traffic(name, shape, dtype) / row["seconds"]}


def benchmark(quick=False):
    """Rows for every operation, size and number of threads; see `compare`."""
    counts = sorted({1, min(2, numba.config.NUMBA_NUM_THREADS)})
    warm(max(counts))
    rows = []
    for name in operations():
        examples = implementations.OPERATIONS[name].examples
        new = [
            row
            for dtype in examples.dtypes
            for shape in examples.timed[: 1 if quick else None]
            for threads in counts
            for row in compare(name, shape, dtype, threads, 0.2 if quick else 2.0)
        ]
        print(table(new), "\n", flush=True)
        rows += new
    return {"runs": peers.what_runs(), "rows": rows}


def table(rows):
    """The rows of one operation for people."""
    lines = [
        (
            " x ".join(map(str, row["shape"])),
            row["dtype"],
            str(row["threads"]),
            row["name"],
            with_unit(row["seconds"], "s"),
            f"{row['ratio']:.2f}",
            with_unit(row["bandwidth"], "B/s"),
        )
        for row in rows
    ]
    headings = ("size", "type", "threads", "", "time", f"{rows[0]['peer']} / this", "bandwidth")
    return Table(headings, lines, rows[0]["operation"])
