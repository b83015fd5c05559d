"""Every operation in OpenCL once, on small ragged sizes: what test_oclgrind.py runs under Oclgrind."""

import sys
from pathlib import Path

import numpy as np

from dlkernels import implementations
from opencl import digits, launches, operations

#: operation -> sizes of its examples, and ways to compute it
CALLS = {
    "add": [((70,), {})], "sum": [((3, 70), {}), ((5000,), {})], "relu": [((70,), {})], "relu_backward": [((70,), {})],
    "transpose": [((17, 5), {})], "matmul": [((17, 5, 19), {"kernel": name}) for name in launches.MATMUL],
    "linear": [((17, 19, 5), {})], "conv2d": [((2, 2, 3, 4, 6, 3), {"kernel": name}) for name in launches.CONV2D],
    "softmax": [((3, 70), {})], "layer_norm": [((3, 70), {})], "cross_entropy": [((3, 70), {})],
    "cross_entropy_backward": [((3, 70), {})], "scaled_dot_product_attention": [((2, 19, 18, 5, 3), {})],
    "lstm": [((3, 2, 4, 5), {"sequence": True}), ((3, 2, 4, 5), {"sequence": False})], "sgd": [((70,), {})],
}  # fmt: skip


def main():
    for name, calls in CALLS.items():
        operation = implementations.OPERATIONS[name]
        for shape, way in calls:
            arguments = operation.examples.make(shape, seed=1)
            found = getattr(operations, name)(*arguments, **way)
            expected = operation.reference(*arguments)
            found, expected = (one[0] if isinstance(one, tuple) else one for one in (found, expected))
            for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=name)
    random = np.random.default_rng(1)
    for network, inputs in ((digits.Network([5, 7, 3]), 5), (digits.Convolutional(3, side=6, classes=3), 36)):
        network.fit(random.standard_normal((9, inputs)), random.integers(0, 3, 9), epochs=1, batch=6)
    kernels = {kernel for program in launches.device().programs.values() for kernel in program.kernels}
    Path(sys.argv[1]).write_text(" ".join(sorted(kernels)))


if __name__ == "__main__":
    main()
