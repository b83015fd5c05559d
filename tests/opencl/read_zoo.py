"""A small zoo of kernels in OpenCL C: one fault each, and the same kernels without it.

name -> (text, global size, local size, arguments by `make`, the fault's kind and line; None where it is right)
"""

import numpy as np

N, LOCAL = 128, 64


def arrays(*sizes):
    return tuple(np.arange(n, dtype=np.float32) if n > 1 else np.zeros(1, np.float32) for n in sizes)


TURNED = """\
__kernel void turned(__global const float *a, __global float *b)
{
    __local float t[64];
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = t[63 - l];
}
"""
SHIFTED = """\
__kernel void shifted(__global const float *a, __global float *b)
{
    int i = get_global_id(0);
    if (i + 1 < 128)
        b[i] = a[i + 1];
}
"""
TWICE = """\
__kernel void twice(__global float *a)
{
    __local float t[64];
    int l = get_local_id(0);
    if (l < 32)
        t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = t[l % 32];
}
"""
TOTAL = """\
__kernel void total(__global const int *a, __global int *sum)
{
    atomic_add(&sum[0], a[get_global_id(0)]);
}
"""
ZOO = {
    "right: turned": (TURNED, (N, N), None),
    "no barrier": (TURNED.replace("    barrier(CLK_LOCAL_MEM_FENCE);\n", ""), (N, N), ("race", 6)),
    "right: shifted": (SHIFTED, (N, N), None),
    "beyond the end": (SHIFTED.replace("i + 1 < 128", "i < 128"), (N, N), ("out-of-bounds", 5)),
    "right: twice": (TWICE, (N,), None),
    "barrier under if": (
        TWICE.replace("    if (l < 32)\n        t", "    if (l < 32) {\n        t").replace(
            "FENCE);", "FENCE);\n    }"
        ),
        (N,),
        ("barrier", 7),
    ),
    "right: total": (TOTAL, "whole", None),
    "race on global memory": (
        TOTAL.replace("atomic_add(&sum[0], a[get_global_id(0)])", "sum[0] += a[get_global_id(0)]"),
        "whole",
        ("race", 3),
    ),
}


def make(sizes):
    """The arguments of a kernel of the zoo."""
    if sizes == "whole":
        return np.ones(N, np.int32), np.zeros(1, np.int32)
    return arrays(*sizes)


def on_the_device():
    """Run all of it; called in a process under Oclgrind, which writes what it finds behind each name."""
    import sys

    from opencl.read import Program
    from opencl.read.device import on_device

    for name, (text, sizes, _) in ZOO.items():
        print(f"== {name}", file=sys.stderr, flush=True)
        on_device(text, Program(text).kernels[0], N, LOCAL)(*make(sizes))


if __name__ == "__main__":
    on_the_device()
