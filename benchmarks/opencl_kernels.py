"""The kernels of lib/opencl beside their counterparts in numba.cuda, both on the CPU, in one run.

    python benchmarks/run.py opencl_kernels           all, recorded in results/opencl_kernels.json
    python benchmarks/run.py opencl_kernels --quick   smaller sizes, not recorded

A counterpart is the rung of dlkernels' GPU ladder that does the same in the same steps (tiles in local or shared
memory, a work-group or block for a row, ...), run by the compiled engine. Both sides have their arrays in device memory
before the clock starts, and are waited for. Every result is compared with the reference. These are times of a CPU: they
say which compiler makes more of a kernel here (PoCL vectorises over work-items, the engine leaves it to LLVM), and
nothing about a GPU.
"""

import numpy as np

import opencl
from cpulab.measure import times
from dlkernels import cuda, implementations
from dlkernels.examples import Draw
from opencl import host, launches
from simt.xray import Unavailable

#: (operation, rung of numba.cuda, kernel of OpenCL, its file, size, smaller size)
PAIRS = (
    ("add", "add_one_per_element", "add", "add.cl", (1 << 22,), (1 << 16,)),
    ("sum", "sum_grid_stride", "sum_parts", "sum.cl", (1 << 22,), (1 << 16,)),
    ("transpose", "transpose_padded", "transpose", "transpose.cl", (2048, 2048), (256, 256)),
    ("matmul", "matmul_coalesced", "matmul_naive", "matmul.cl", (512, 512, 512), (128, 128, 128)),
    ("matmul", "matmul_shared_tile", "matmul_tiled", "matmul.cl", (512, 512, 512), (128, 128, 128)),
    ("matmul", "matmul_tile_2d", "matmul_registers", "matmul.cl", (512, 512, 512), (128, 128, 128)),
    ("linear", "linear_transposed", "linear", "linear.cl", (512, 512, 512), (128, 128, 128)),
    ("conv2d", "conv2d_one_per_output", "conv2d_direct", "convolution.cl", (4, 16, 32, 56, 56, 3), (1, 4, 8, 20, 20, 3)),
    ("conv2d", "conv2d_implicit_gemm", "conv2d_implicit", "convolution.cl", (4, 16, 32, 56, 56, 3), (1, 4, 8, 20, 20, 3)),
    ("softmax", "softmax_block_per_row", "softmax", "rows.cl", (2048, 1024), (128, 256)),
    ("layer_norm", "layer_norm_block_per_row", "layer_norm", "rows.cl", (2048, 1024), (128, 256)),
    ("cross_entropy", "cross_entropy_block_per_row", "cross_entropy", "rows.cl", (2048, 1024), (128, 256)),
    ("scaled_dot_product_attention", "attention_shared_tiles", "attention", "attention.cl", (4, 512, 512, 64), (2, 64, 64, 32)),
    ("lstm", "lstm_fused_inputs", "lstm_step", "lstm.cl", (16, 16, 128, 128), (4, 4, 32, 32)),
    ("lstm", "lstm_batch_parallel", "lstm_sequence", "lstm.cl", (16, 16, 128, 128), (4, 4, 32, 32)),
    ("sgd", "sgd_fused", "sgd", "sgd.cl", (1 << 22,), (1 << 16,)),
)  # fmt: skip


def arguments_of(name, shape):
    """Of one call: plain ones, where the examples would draw strides, masks or several layers."""
    draw = Draw(seed=1)
    if name == "conv2d":
        batch, ins, outs, height, width, kernel = shape
        return (
            draw.array(batch, ins, height, width),
            draw.array(outs, ins, kernel, kernel),
            draw.array(outs),
            1,
            1,
            1,
            1,
        )
    if name == "linear":
        m, n, k = shape
        return draw.array(m, k), draw.array(n, k), draw.array(n), "relu"
    if name == "softmax":
        return (draw.array(*shape),)
    if name == "layer_norm":
        return draw.array(*shape), draw.array(shape[1]), draw.array(shape[1]), 1e-5
    if name == "cross_entropy":
        return draw.array(*shape), draw.indices(shape[0], below=shape[1], dtype=np.int32), -100, "sum", 0.0
    if name == "scaled_dot_product_attention":
        heads, queries, keys, width = shape
        return draw.array(heads, queries, width), draw.array(heads, keys, width), draw.array(heads, keys, width)
    if name == "lstm":
        steps, batch, features, hidden = shape
        weights = draw.array(4 * hidden, features, scale=0.1), draw.array(4 * hidden, hidden, scale=0.1)
        biases = draw.array(4 * hidden), draw.array(4 * hidden)
        return draw.array(steps, batch, features), None, None, *weights, *biases
    if name == "sgd":
        return draw.array(*shape), draw.array(*shape), draw.array(*shape), 0.01, 0.9
    return implementations.OPERATIONS[name].examples.arguments(draw, *shape)


def launched(name, kernel, arguments):
    """A function that launches the OpenCL kernel on arrays that are there, and returns its (first) result."""
    there = [host.device().array(x) if isinstance(x, np.ndarray) else x for x in arguments]
    prepare = implementations.OPERATIONS[name].prepare
    if name == "sum":
        return lambda: launches.sum_rows(there[0].reshape(1, -1))
    if name == "transpose":
        return lambda: launches.transpose(there[0].reshape(1, *there[0].shape))
    if name == "matmul":
        stacks = [x.reshape(1, *x.shape) for x in there[:2]]
        return lambda: launches.matmul(*stacks, kernel=kernel)
    if name == "conv2d":
        *_, g, out = prepare(*arguments)
        return lambda: launches.conv2d(*there[:3], g, out.shape[-2:], kernel)
    if name == "cross_entropy":
        return lambda: launches.sum_rows(launches.cross_entropy(*there[:2]).reshape(1, -1))
    if name == "scaled_dot_product_attention":
        _, _, g, *_ = prepare(*arguments)
        return lambda: launches.attention(*there, None, g)
    if name == "lstm":
        steps, batch, features, hidden = *there[0].shape, arguments[4].shape[1]
        lengths = host.device().array(np.full(batch, steps, np.int32))
        rows, zeros = there[0].reshape(-1, features), np.zeros((batch, hidden), np.float32)
        state, cell = host.device().array(zeros), host.device().array(zeros)

        def run():
            state.fill(0)
            cell.fill(0)
            of_x = launches.linear(rows, there[3], there[5]).reshape(steps, batch, -1)
            return launches.lstm(of_x, there[4], there[6], lengths, state, cell, sequence=kernel == "lstm_sequence")[0]

        return run
    if name == "sgd":
        buffer = host.device().array(arguments[2])
        p = host.device().array(arguments[0])

        def run():
            launches.sgd(p, there[1], buffer, 0.01, 0.9)
            return p

        return run
    given = {"add": there[:2], "linear": there, "softmax": there[:1], "layer_norm": there}[name]
    return lambda: getattr(launches, name)(*given)


def counterpart(name, rung, arguments):
    """A function that launches the rung on device arrays of the compiled engine, and returns its (first) result."""
    operation = implementations.OPERATIONS[name]
    found = next(one for one in implementations.of(name, "gpu") if one.name == rung)
    there = [cuda.to_device(x) if isinstance(x, np.ndarray) else x for x in arguments]

    def run():
        result = implementations.run(found, operation.prepare(*there))
        return result[0] if isinstance(result, tuple) else result

    return run


def waited(run, finish):
    def call():
        run()
        finish()

    return call


def benchmark(quick=False):
    """Rows of seconds and of the ratio, the engine's time over OpenCL's: above 1, OpenCL is faster here."""
    try:
        device = opencl.device()
    except opencl.Unavailable as missing:
        raise Unavailable(str(missing)) from None
    rows = []
    with cuda.engine("compiled"):
        for name, rung, kernel, file, size, small in PAIRS:
            shape = small if quick else size
            arguments = arguments_of(name, shape)
            ours, theirs = launched(name, kernel, arguments), counterpart(name, rung, arguments)
            expected = implementations.OPERATIONS[name].reference(*arguments)
            expected = expected[0] if isinstance(expected, tuple) else expected
            for label, came in (("OpenCL", ours().get()), ("numba.cuda", theirs().copy_to_host())):
                scale = np.abs(expected).max()
                np.testing.assert_allclose(
                    came.reshape(expected.shape), expected, rtol=2e-3, atol=2e-4 * scale, err_msg=f"{kernel}, {label}"
                )
            measured = times(
                {"numba.cuda": waited(theirs, cuda.synchronize), "OpenCL": waited(ours, device.default.finish)},
                budget=0.3 if quick else 2,
            )
            ratio = measured.ratio("numba.cuda", "OpenCL")
            rows.append(
                {"operation": name, "kernel": kernel, "file": file, "rung": rung, "shape": list(shape)}
                | ratio.to_dict()
            )
            print(f"{kernel:18}{rung:28}{'x'.join(map(str, shape)):22}{ratio}", flush=True)
    return {"device": device.name, "version": device.version, "engine": "compiled", "rows": rows}
