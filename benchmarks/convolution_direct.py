"""3x3 convolutions of ResNet-50 by direct sums against PyTorch's oneDNN: `conv2d` takes Winograd's algorithm for them.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py convolution_direct     recorded in
                                                                                results/convolution_direct.json

float32, NCHW, stride 1, no bias, forward. sides.py says how it is timed.
"""

import numpy as np
import sides
from convolution import BATCHES, LAYERS, arrays, described, label, pytorch

__all__ = ["arrays", "benchmark", "described", "label", "ours", "pytorch"]


def benchmark(quick=False):
    """Rows for each layer and batch, and their geometric means; see sides.compare."""
    layers = [layer for layer in LAYERS if layer[1] == "3x3"][: 1 if quick else None]
    cases = [described(layer, batch, sides.FORWARD) for layer in layers for batch in BATCHES]
    return sides.compare(__file__, cases, label, quick)


def ours(case):
    from dlkernels import implementations
    from dlkernels.convolution import check_convolution, choose

    x, weight, _, named = arrays(case)
    g, shape = check_convolution(x, weight, None, dilation=1, **named)
    name = choose.direct_way(weight, g, np.empty(shape, x.dtype))  # what `conv2d` would take if there were no Winograd
    rung = next(rung for rung in implementations.of("conv2d", "cpu") if rung.name == name)
    return lambda: rung(x, weight, **named), rung.name, [rung(x, weight, **named)]


def warm():
    layer = next(layer for layer in LAYERS if layer[1] == "3x3")
    return ours(described(layer, 8, sides.FORWARD))[0]


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
