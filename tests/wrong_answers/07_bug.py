"""Answers to 07-bug."""

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


@cuda.jit
def as_given(grad, x, out):
    """wrong suspect: Which array decides"""
    i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
    if i < out.size:
        if grad[i] > 0:
            out[i] = grad[i]
        else:
            out[i] = 0


@cuda.jit
def index_still_wrong(grad, x, out):
    """wrong tail: from block to block"""
    i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
    if i < out.size:
        if x[i] > 0:
            out[i] = grad[i]
        else:
            out[i] = 0


@cuda.jit
def condition_still_wrong(grad, x, out):
    """wrong suspect: This is relu(grad)"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = grad[i] if grad[i] > 0 else 0.0


@cuda.jit
def at_the_corner(grad, x, out):
    """wrong suspect: exactly 0"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = grad[i] if x[i] >= 0 else 0.0


@cuda.jit
def forward(grad, x, out):
    """wrong suspect: the forward pass"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(x[i], 0.0)


@cuda.jit
def no_zeros(grad, x, out):
    """wrong some-unwritten: nobody wrote it"""
    i = cuda.grid(1)
    if i < out.size:
        if x[i] > 0:
            out[i] = grad[i]


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
