"""Convolutions against PyTorch's oneDNN: layers of ResNet-50 and MobileNetV2, forward, and forward with backward.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py convolution           all, recorded in results/convolution.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py convolution --quick   a few layers, not recorded

float32, NCHW, no bias, PyTorch as a user calls it: `torch.nn.functional.conv2d` on plain tensors. sides.py says how it
is timed.
"""

import numpy as np
import sides

BATCHES = (1, 8)
#: (network, kind, input channels, output channels, edge of the picture, kernel, stride, groups)
LAYERS = (
    ("ResNet-50", "first layer", 3, 64, 224, 7, 2, 1),
    *(("ResNet-50", "1x1", ins, outs, edge, 1, 1, 1) for ins, outs, edge in (
        (64, 64, 56), (64, 256, 56), (256, 64, 56), (512, 128, 28), (128, 512, 28), (1024, 256, 14), (256, 1024, 14), (512, 2048, 7))),
    *(("ResNet-50", "3x3", n, n, edge, 3, 1, 1) for n, edge in ((64, 56), (128, 28), (256, 14), (512, 7))),
    *(("ResNet-50", "3x3 stride 2", n, n, edge, 3, 2, 1) for n, edge in ((128, 56), (256, 28), (512, 14))),
    *(("ResNet-50", "1x1 stride 2", n, 2 * n, edge, 1, 2, 1) for n, edge in ((256, 56), (512, 28), (1024, 14))),
    ("MobileNetV2", "3x3 stride 2", 3, 32, 224, 3, 2, 1),
    *(("MobileNetV2", "depthwise", n, n, edge, 3, stride, n) for n, edge, stride in (
        (32, 112, 1), (96, 112, 2), (144, 56, 1), (192, 28, 1), (384, 14, 1), (960, 7, 1))),
    *(("MobileNetV2", "1x1", ins, outs, edge, 1, 1, 1) for ins, outs, edge in ((16, 96, 112), (144, 24, 56), (64, 384, 14), (960, 160, 7))),
)  # fmt: skip
QUICK = tuple(
    layer
    for layer in LAYERS
    if layer[2:5] in ((3, 64, 224), (64, 64, 56), (512, 512, 7), (256, 256, 28), (144, 144, 56))
)

stored_as = sides.stored_as


def benchmark(quick=False):
    """Rows for every layer, and geometric means over them; see sides.compare."""
    cases = [
        described(layer, batch, passes)
        for layer in (QUICK if quick else LAYERS)
        for batch in BATCHES
        for passes in (sides.FORWARD, sides.BOTH)
    ]
    return sides.compare(__file__, cases, label, quick)


def described(layer, batch, passes):
    network, kind, ins, outs, edge, kernel, stride, groups = layer
    pixels = (edge + 2 * (kernel // 2) - kernel) // stride + 1
    multiplies = batch * outs * pixels**2 * (ins // groups) * kernel**2
    return {
        "network": network,
        "kind": kind,
        "batch": batch,
        "in_channels": ins,
        "out_channels": outs,
        "edge": edge,
        "kernel": kernel,
        "stride": stride,
        "groups": groups,
        "passes": passes,
        "work": 2 * multiplies * (1 if passes == sides.FORWARD else 3),
    }


def label(row):
    shape = (
        f"{row['batch']} x {row['in_channels']}->{row['out_channels']} {row['edge']}x{row['edge']} "
        f"{row['kernel']}x{row['kernel']}"
    )
    return shape + f"/{row['stride']}" + (f" groups {row['groups']}" if row["groups"] > 1 else "")


def arrays(case):
    random = np.random.default_rng(0)
    batch, ins, outs, edge, kernel = (case[k] for k in ("batch", "in_channels", "out_channels", "edge", "kernel"))
    x = random.standard_normal((batch, ins, edge, edge), np.float32)
    weight = random.standard_normal((outs, ins // case["groups"], kernel, kernel), np.float32)
    pixels = (edge + 2 * (kernel // 2) - kernel) // case["stride"] + 1
    grad = random.standard_normal((batch, outs, pixels, pixels), np.float32)
    return x, weight, grad, {"stride": case["stride"], "padding": kernel // 2, "groups": case["groups"]}


def warm():
    return ours(described(LAYERS[9], 8, sides.FORWARD))[0]


def ours(case):
    from dlkernels import conv2d, conv2d_backward

    x, weight, grad, named = arrays(case)
    y, choice = conv2d(x, weight, **named, explain=True)
    if case["passes"] == sides.FORWARD:
        return lambda: conv2d(x, weight, **named), choice.rung, [y]

    def both():
        return conv2d(x, weight, **named), *conv2d_backward(grad, x, weight, **named)

    return both, choice.rung, both()


def pytorch(case):
    import torch

    *given, named = arrays(case)
    x, weight, grad = (torch.from_numpy(one) for one in given)
    convolve = torch.nn.functional.conv2d
    if case["passes"] == sides.FORWARD:

        def forward():
            with torch.inference_mode():
                return convolve(x, weight, **named)

        return forward, "oneDNN", [forward().numpy()]
    x.requires_grad_(), weight.requires_grad_()

    def both():
        y = convolve(x, weight, **named)
        return y, *torch.autograd.grad(y, (x, weight), grad)

    return both, "oneDNN", [one.detach().numpy() for one in both()]


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
