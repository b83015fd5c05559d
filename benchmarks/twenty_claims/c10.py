"""Activations: bytes counted by the x-ray, time on one thread from memory and from the first level."""

from . import FALSE, Part, gain, random

CLAIM = "ReLU and sigmoid are expensive activations that need much memory access; Leaky ReLU and ELU are cheaper."
PARTS = (
    Part(
        "bytes",
        "ReLU and sigmoid move more bytes",
        "bytes of ReLU and sigmoid / of Leaky ReLU and ELU, on the executor",
        FALSE,
        "07_fusion",
        1.01,
        exact=True,
    ),
    Part(
        "leaky",
        "Leaky ReLU is cheaper than ReLU",
        "seconds, ReLU / Leaky ReLU, 4096 numbers, one thread",
        FALSE,
        "07_fusion",
        1.5,
    ),
    Part(
        "elu",
        "ELU is cheaper than sigmoid",
        "seconds, sigmoid / ELU, 4096 numbers, one thread",
        "true if the two exponentials are not vectorised alike",
        "07_fusion",
        1.5,
    ),
    Part("relu", "ReLU is expensive", "seconds, ReLU / a copy, 16 million numbers, one thread", FALSE, "07_fusion", 2),
)


def measure(quick):
    import numpy as np

    from dlkernels import elu, leaky_relu, relu, sigmoid
    from dlkernels.vector import scalar
    from dlkernels.vector.gpu import map_kernel
    from simt.xray import xray

    functions = scalar.functions(np.float32)
    extra = {"leaky_relu": 0.01, "elu": 1.0}  # their constants

    def moved(*names):
        reports = [
            xray(map_kernel(functions[name]), 16, 256)(
                random(4096), np.float32(extra.get(name, 0)), np.zeros(4096, np.float32)
            )
            for name in names
        ]
        return sum(report.total["bytes_moved"] for report in reports)

    x, large = random(4096), random(1 << (20 if quick else 24))
    out, room = np.empty_like(x), np.empty_like(large)

    def small(f):
        return lambda: f(x, out=out)

    # A copy may write past the caches and so move two numbers for ReLU's three: up to 1.5 is no cost of ReLU.
    return {
        "bytes": moved("relu", "sigmoid") / moved("leaky_relu", "elu"),
        "leaky": gain(small(relu), small(leaky_relu), quick, 1),
        "elu": gain(small(sigmoid), small(elu), quick, 1),
        "relu": gain(lambda: relu(large, out=room), lambda: np.copyto(room, large), quick, 1),
    }
