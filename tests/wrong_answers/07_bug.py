"""Answers to 07-bug."""

from answers import edit, replace

from dlkernels import cuda


@cuda.jit
def with_a_conditional(grad, x, out):
    """right"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = grad[i] if x[i] > 0 else 0.0


@cuda.jit
def early_return(grad, x, out):
    """right"""
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    out[i] = 0
    if x[i] > 0:
        out[i] = grad[i]


condition_still_wrong = edit(
    with_a_conditional, "wrong suspect: This is relu(grad)", replace("x[i] > 0", "grad[i] > 0")
)
at_the_corner = edit(with_a_conditional, "wrong suspect: exactly 0", replace("x[i] > 0", "x[i] >= 0"))
forward = edit(
    with_a_conditional, "wrong suspect: the forward pass", replace("grad[i] if x[i] > 0 else 0.0", "max(x[i], 0.0)")
)


@cuda.jit
def no_guard(grad, x, out):
    """wrong out-of-bounds: Guard the access"""
    i = cuda.grid(1)
    out[i] = grad[i] if x[i] > 0 else 0.0


@cuda.jit
def guard_of_the_last_case(grad, x, out):
    """wrong out-of-bounds: Guard the access"""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < 300:
        out[i] = grad[i] if x[i] > 0 else 0
