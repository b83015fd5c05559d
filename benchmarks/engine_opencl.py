"""The kernels of engine.py in OpenCL C, run by PoCL on the CPU (`make opencl`)."""

import numpy as np
import pyopencl as cl

SOURCE = """
#define TILE 16
#define HEAD 64
#define ROWS 32

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(__global const float *a, __global const float *b, __global float *c, int m, int inner, int n) {
    __local float sa[TILE][TILE], sb[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float total = 0;
    for (int start = 0; start < inner; start += TILE) {
        sa[ty][tx] = a[row * inner + start + tx];
        sb[ty][tx] = b[(start + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) total += sa[ty][k] * sb[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = total;
}

__kernel __attribute__((reqd_work_group_size(ROWS, 1, 1)))
void attention(__global const float *q, __global const float *k, __global const float *v, __global float *out, int length) {
    __local float keys[ROWS][HEAD], values[ROWS][HEAD];
    float query[HEAD], mixed[HEAD], largest = -1e30f, total = 0, scale = 1 / sqrt((float)HEAD);
    int t = get_local_id(0), row = get_global_id(0);
    for (int d = 0; d < HEAD; d++) { query[d] = q[row * HEAD + d] * scale; mixed[d] = 0; }
    for (int start = 0; start < length; start += ROWS) {
        for (int d = 0; d < HEAD; d++) {
            keys[t][d] = k[(start + t) * HEAD + d];
            values[t][d] = v[(start + t) * HEAD + d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < ROWS; j++) {
            float score = 0;
            for (int d = 0; d < HEAD; d++) score += query[d] * keys[j][d];
            float highest = fmax(largest, score), old = exp(largest - highest), fresh = exp(score - highest);
            total = total * old + fresh;
            for (int d = 0; d < HEAD; d++) mixed[d] = mixed[d] * old + fresh * values[j][d];
            largest = highest;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int d = 0; d < HEAD; d++) out[row * HEAD + d] = mixed[d] / total;
}

__kernel void convolution(__global const float *x, __global const float *w, __global float *y, int rows, int columns) {
    int j = get_global_id(0), i = get_global_id(1);
    if (i < rows && j < columns) {
        float total = 0;
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) total += x[(i + p) * (columns + 2) + j + q] * w[p * 3 + q];
        y[i * columns + j] = total;
    }
}

__kernel void add(__global const float *x, __global const float *y, __global float *out, int size) {
    int i = get_global_id(0);
    if (i < size) out[i] = x[i] + y[i];
}
"""


def _context():
    for platform in cl.get_platforms():
        if "Portable Computing Language" in platform.name:
            return cl.Context(platform.get_devices())
    raise ImportError("pyopencl is here, PoCL is not")


_here = _context()
_queue = cl.CommandQueue(_here)
try:
    _program = cl.Program(_here, SOURCE).build()
except cl.RuntimeError as error:  # PoCL 3.0 brings LLVM 14, which does not know processors from 2022 on
    reason = next((line for line in str(error).splitlines() if line.startswith("error")), "its compiler failed")
    raise ImportError(f"PoCL cannot compile for this processor ({reason})") from None
version = _here.devices[0].platform.version


def launcher(name, grid, block, arguments, out):
    """A function that runs the kernel on host memory (PoCL's device is the CPU: nothing is copied) and waits."""
    grid, block = (k if isinstance(k, tuple) else (k,) for k in (grid, block))
    size = tuple(g * b for g, b in zip(grid, block, strict=True))
    use = cl.mem_flags.USE_HOST_PTR
    buffers = [cl.Buffer(_here, use | cl.mem_flags.READ_ONLY, hostbuf=a) for a in arguments]
    buffers.append(cl.Buffer(_here, use | cl.mem_flags.READ_WRITE, hostbuf=out))
    first = arguments[0].shape
    if name == "matmul":
        sizes = (out.shape[0], first[1], out.shape[1])
    elif name == "attention":
        sizes = (arguments[1].shape[0],)
    else:
        sizes = out.shape
    kernel = cl.Kernel(_program, name)
    kernel.set_args(*buffers, *map(np.int32, sizes))

    def run():
        cl.enqueue_nd_range_kernel(_queue, kernel, size, block)
        mapped, _ = cl.enqueue_map_buffer(
            _queue, buffers[-1], cl.map_flags.READ, 0, out.shape, out.dtype, is_blocking=True
        )
        mapped.base.release(_queue)
        _queue.finish()

    return run
