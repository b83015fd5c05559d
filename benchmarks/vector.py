"""Element-wise operations: every CPU rung against NumPy with ``out=`` (and PyTorch if it is installed).

    python benchmarks/run.py vector           all sizes, recorded in results/vector.json
    python benchmarks/run.py vector --quick   two sizes, not recorded

NumPy's element-wise functions use one thread. PyTorch shares the process and the number of threads with us;
with two threads that favours us somewhat (its workers and ours take turns on the same cores).
"""

import numba
import numpy as np
from ladder import Case, warm
from ladder import benchmark as run_ladder

COLUMNS = 1024  # features of bias_activation


# What a careful user of NumPy would write: no temporary arrays where `out` can serve.


def numpy_axpy(out, alpha, x, y):
    np.multiply(x, alpha, out=out)
    np.add(out, y, out=out)


def numpy_leaky_relu(out, x):
    np.multiply(x, np.float32(0.01), out=out)
    np.maximum(x, out, out=out)


def numpy_elu(out, x):
    np.minimum(x, 0, out=out)
    np.expm1(out, out=out)
    np.copyto(out, x, where=x > 0)


def numpy_sigmoid(out, x):
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.reciprocal(out, out=out)


def numpy_silu(out, x):
    numpy_sigmoid(out, x)
    np.multiply(out, x, out=out)


def numpy_leaky_relu_backward(out, grad, x):
    np.multiply(grad, np.float32(0.01), out=out)
    np.copyto(out, grad, where=x > 0)


def numpy_elu_backward(out, grad, x):
    np.minimum(x, 0, out=out)
    np.exp(out, out=out)
    np.multiply(out, grad, out=out)


def numpy_sigmoid_backward(out, grad, x):
    numpy_sigmoid(out, x)
    np.multiply(out, 1 - out, out=out)
    np.multiply(out, grad, out=out)


def numpy_tanh_backward(out, grad, x):
    np.tanh(x, out=out)
    np.multiply(out, out, out=out)
    np.subtract(1, out, out=out)
    np.multiply(out, grad, out=out)


def numpy_bias_relu(out, x, bias, activation):
    np.add(x, bias, out=out)
    np.maximum(out, 0, out=out)


def torch_bias_relu(torch, out, x, bias, activation):
    torch.add(x, bias, out=out)
    out.relu_()


# torch.ops.aten holds PyTorch's functions with an output argument, which torch.nn.functional does not offer.
CASES = [
    Case("add", lambda out, a, b: np.add(a, b, out=out), lambda torch, out, a, b: torch.add(a, b, out=out)),
    Case("axpy", numpy_axpy, lambda torch, out, alpha, x, y: torch.add(y, x, alpha=alpha, out=out)),
    Case("bias_activation", numpy_bias_relu, torch_bias_relu, COLUMNS),
    Case("relu", lambda out, x: np.maximum(x, 0, out=out), lambda torch, out, x: torch.clamp_min(x, 0, out=out)),
    Case("leaky_relu", numpy_leaky_relu, lambda torch, out, x: torch.ops.aten.leaky_relu.out(x, 0.01, out=out)),
    Case("elu", numpy_elu, lambda torch, out, x: torch.ops.aten.elu.out(x, out=out)),
    Case("sigmoid", numpy_sigmoid, lambda torch, out, x: torch.sigmoid(x, out=out)),
    Case("tanh", lambda out, x: np.tanh(x, out=out), lambda torch, out, x: torch.tanh(x, out=out)),
    Case("silu", numpy_silu, lambda torch, out, x: torch.ops.aten.silu.out(x, out=out)),
    Case("gelu", None, lambda torch, out, x: torch.ops.aten.gelu.out(x, out=out)),
    Case("relu_backward", lambda out, grad, x: np.multiply(grad, x > 0, out=out)),
    Case(
        "leaky_relu_backward",
        numpy_leaky_relu_backward,
        lambda torch, out, grad, x: torch.ops.aten.leaky_relu_backward.grad_input(grad, x, 0.01, False, grad_input=out),
    ),
    Case(
        "elu_backward",
        numpy_elu_backward,
        lambda torch, out, grad, x: torch.ops.aten.elu_backward.grad_input(
            grad, 1.0, 1.0, 1.0, False, x, grad_input=out
        ),
    ),
    Case("sigmoid_backward", numpy_sigmoid_backward),
    Case("tanh_backward", numpy_tanh_backward),
    Case(
        "silu_backward",
        None,
        lambda torch, out, grad, x: torch.ops.aten.silu_backward.grad_input(grad, x, grad_input=out),
    ),
    Case(
        "gelu_backward",
        None,
        lambda torch, out, grad, x: torch.ops.aten.gelu_backward.grad_input(grad, x, grad_input=out),
    ),
]

LADDERS = ("add", "axpy")  # shown in the book over all sizes; the others at a small, a middle and a large one


def benchmark(quick=False):
    """Rows for every operation, size and number of threads; see `ladder.compare`."""
    most = numba.config.NUMBA_NUM_THREADS
    threads = sorted({1, min(2, most)})
    warm(max(threads))

    def sizes(operation):
        if quick:
            return [2**16, 2**24]
        return [2**k for k in (range(10, 27, 2) if operation in LADDERS else (12, 18, 26))]

    return run_ladder(CASES, sizes, threads, budget=0.3 if quick else 2.0)
