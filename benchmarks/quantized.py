"""Layers of 8-bit codes against PyTorch's quantised operators, and against our own layers in float32.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py quantized           all, recorded in results/quantized.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py quantized --quick   a few, not recorded

uint8 inputs, int8 weights with a scale for each output channel, a bias, uint8 results; both sides pack their weight
once. PyTorch as a user calls it: `torch.ops.quantized.linear` and `conv2d` with the engine that it chooses itself (x86:
FBGEMM for linear layers, oneDNN for most convolutions). Its convolutions work on channels last; a picture that comes as
NCHW is turned in each call, as ours is, and each convolution is measured with both. sides.py says how it is timed.
FBGEMM takes no setting for older instructions: so there are rows for those that the machine has, and no others.
"""

import numpy as np
import sides

from cpulab.measure import times

LINEAR = ((64, 1024, 1024), (1, 4096, 4096), (512, 1024, 1024), (1, 1024, 1024))  # rows, in, out
#: (kind, batch, input channels, output channels, edge of the picture, kernel, stride, groups)
CONV2D = (
    ("3x3", 8, 64, 64, 28, 3, 1, 1),
    ("3x3", 1, 256, 256, 14, 3, 1, 1),
    ("3x3 stride 2", 8, 64, 128, 56, 3, 2, 1),
    ("1x1", 8, 256, 64, 28, 1, 1, 1),
    ("depthwise", 8, 144, 144, 28, 3, 1, 144),
)
SCALE, ZERO, OUT_ZERO = 0.03, 100, 128


def benchmark(quick=False):
    """Rows for every layer, geometric means over them, and how much faster than in float32; see sides.compare."""
    cases = [linear(*size) for size in (LINEAR[:2] if quick else LINEAR)]
    cases += [conv2d(*size, last) for size in (CONV2D[:1] if quick else CONV2D) for last in (False, True)]
    found = sides.compare(__file__, cases, label, quick, older=None)
    return found | {"float32": [in_float32(case, threads) for case in unique(cases) for threads in (1, 2)]}


def linear(rows, ins, outs):
    size = {"rows": rows, "in": ins, "out": outs}
    return {"kind": "linear", "layout": "rows", **size, "passes": sides.FORWARD, "work": 2 * rows * ins * outs}


def conv2d(kind, batch, ins, outs, edge, kernel, stride, groups, last):
    pixels = (edge + 2 * (kernel // 2) - kernel) // stride + 1
    return {
        "kind": kind,
        "layout": "channels last" if last else "NCHW",  # of PyTorch's input; ours is NCHW
        "batch": batch,
        "in": ins,
        "out": outs,
        "edge": edge,
        "kernel": kernel,
        "stride": stride,
        "groups": groups,
        "passes": sides.FORWARD,
        "work": 2 * batch * outs * pixels**2 * (ins // groups) * kernel**2,
    }


def unique(cases):
    """Each layer once, whatever PyTorch's layout."""
    return [case for case in cases if case["layout"] != "channels last"]


def label(row):
    if row["kind"] == "linear":
        return f"linear {row['rows']} x {row['in']} -> {row['out']}"
    return f"{row['kind']} {row['batch']} x {row['in']}->{row['out']} {row['edge']}x{row['edge']}, {row['layout']}"


def arrays(case):
    """(codes of the input, weight, bias, scale of each output channel, scale of the result)."""
    random = np.random.default_rng(0)
    outs, ins = case["out"], case["in"] // case.get("groups", 1)
    shape = (outs, ins) if case["kind"] == "linear" else (outs, ins, case["kernel"], case["kernel"])
    given = (case["rows"], ins) if case["kind"] == "linear" else (case["batch"], case["in"], case["edge"], case["edge"])
    x = random.integers(0, 256, given, np.uint8)
    weight = random.integers(-127, 128, shape).astype(np.int8)
    spread = SCALE * 0.006 * 73.9**2 * weight[0].size ** 0.5
    bias = (random.standard_normal(outs) * spread).astype(np.float32)
    return x, weight, bias, random.uniform(0.002, 0.01, outs).astype(np.float32), float(spread / 50)


def place(case):
    return (case["stride"], case["kernel"] // 2, 1, case["groups"]) if case["kind"] != "linear" else ()


def warm():
    return ours(linear(512, 1024, 1024))[0]


def ours(case):
    import dlkernels
    from dlkernels.integer.words import DOT4

    x, weight, bias, scale, out_scale = arrays(case)
    name = "linear_int8" if case["kind"] == "linear" else "conv2d_int8"
    layer, function = dlkernels.PackedWeight(weight, case.get("groups", 1)), getattr(dlkernels, name)

    def run():
        return function(x, layer, bias, *place(case), SCALE, ZERO, scale, 0, out_scale, OUT_ZERO)

    return run, f"{name}_{'dot4' if DOT4 else 'pairs'}", [run()]


def in_float32(case, threads):
    """How much faster than our layer of the same size in float32, timed in turns."""
    import dlkernels

    x, weight, bias, *_ = (one.astype(np.float32) for one in arrays(case)[:3])
    function = dlkernels.linear if case["kind"] == "linear" else dlkernels.conv2d
    candidates = {"float32": lambda: function(x, weight, bias, *place(case)), "int8": ours(case)[0]}
    row = {"layer": label(case), "threads": threads}
    row |= times(candidates, budget=1.0, threads=threads).ratio("float32", "int8").to_dict()
    print(f"{row['layer']}, {threads} threads: float32 / int8 = {row['ratio']:.2f}", flush=True)
    return row


def pytorch(case):
    import torch

    x, weight, bias, scale, out_scale = arrays(case)
    quantized, zeros = torch.ops.quantized, torch.zeros(len(scale), dtype=torch.long)
    x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(x), SCALE, ZERO)
    if case["layout"] == "channels last":
        x = x.contiguous(memory_format=torch.channels_last)
    scales = torch.from_numpy(scale.astype(np.float64))
    weight = torch._make_per_channel_quantized_tensor(torch.from_numpy(weight), scales, zeros, 0)
    if case["kind"] == "linear":
        packed, function = quantized.linear_prepack(weight, torch.from_numpy(bias)), quantized.linear
    else:
        stride, padding, dilation, groups = place(case)
        pairs = [stride] * 2, [padding] * 2, [dilation] * 2
        packed, function = quantized.conv2d_prepack(weight, torch.from_numpy(bias), *pairs, groups), quantized.conv2d

    def run():
        with torch.inference_mode():
            return function(x, packed, out_scale, OUT_ZERO)

    return run, torch.backends.quantized.engine, [run().int_repr().contiguous().numpy()]


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
