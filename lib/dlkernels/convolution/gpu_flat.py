"""The first rung of gpu.py with flat arrays and 32-bit indices: no rung, but what shows the cost of 64-bit indices.

A Python integer is a 64-bit number for numba, and signed: `direct_kernel` multiplies four indices by four strides in
64 bits at each access, and asks of each whether it is negative. `FLAT` computes the same sums in the same order. It
counts along flat arrays by unsigned numbers of 32 bits, for arrays of less than 2^32 elements. It has a rung's name
and kernels, and is only compiled, and run in the executor.
"""

import types

import numpy as np

from ..device import cuda
from .gpu import numbers

u32 = np.uint32


@cuda.jit
def flat_kernel(
    x, weight, bias, out,
    stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group,
    planes, outs, high, wide, groups, ins, rows, columns, tall, broad,
):  # fmt: skip
    z = u32(u32(cuda.blockIdx.x) * u32(cuda.blockDim.x) + u32(cuda.threadIdx.x))
    y = u32(u32(cuda.blockIdx.y) * u32(cuda.blockDim.y) + u32(cuda.threadIdx.y))
    plane = u32(cuda.blockIdx.z)
    if y < high and z < wide:
        while plane < planes:
            n, o = u32(plane // outs), u32(plane % outs)
            total = bias[o]
            w = u32(o * ins * tall * broad)
            first = u32((n * groups + o // outs_of_group) * ins * rows * columns)
            for _ in range(ins):
                i = u32(y * stride_y - top)
                for _ in range(tall):
                    j = u32(z * stride_x - left)
                    for _ in range(broad):
                        if i < rows and j < columns:  # below zero has wrapped
                            total += weight[w] * x[u32(first + u32(i * columns + j))]
                        j = u32(j + dilation_x)
                        w = u32(w + u32(1))
                    i = u32(i + dilation_y)
                first = u32(first + u32(rows * columns))
            out[u32(u32(plane * high + y) * wide + z)] = total
            plane = u32(plane + u32(cuda.gridDim.z))


def flat_sizes(x, weight, g, out):
    """The numbers that `flat_kernel` takes, behind its four arrays."""
    count, outs, high, wide = out.shape
    sizes = count * outs, outs, high, wide, g.groups, *weight.shape[1:2], *x.shape[2:], *weight.shape[2:]
    return [u32(n) for n in (*numbers(weight, g), *sizes)]


FLAT = types.SimpleNamespace(
    name="conv2d_one_per_output_flat",
    kernels=((flat_kernel, [f"void({'float32[::1], ' * 4}{', '.join(['uint32'] * 17)})"]),),
    capability=None,
)
