"""Answers to 07-add."""

from dlkernels import cuda


@cuda.jit
def by_hand(x, y, z):
    """right"""
    n = z.shape[0]
    i = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    if i >= n:
        return
    z[i] = y[i] + x[i]


@cuda.jit
def grid_stride(a, b, out):
    """right"""
    i = cuda.grid(1)
    while i < len(out):
        out[i] = a[i] + b[i]
        i += cuda.gridsize(1)


@cuda.jit
def no_guard(a, b, out):
    """wrong out-of-bounds: a guard"""
    i = cuda.grid(1)
    out[i] = a[i] + b[i]


@cuda.jit
def guard_one_too_far(a, b, out):
    """wrong out-of-bounds: a guard"""
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def one_block_only(a, b, out):
    """wrong one-block: not the block's number"""
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def guard_too_strict(a, b, out):
    """wrong tail: Does the guard or the loop stop too early"""
    i = cuda.grid(1)
    if i < out.size - 1:
        out[i] = a[i] + b[i]


@cuda.jit
def a_twice(a, b, out):
    """wrong suspect: b is never read"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + a[i]


@cuda.jit
def keeps_it_to_itself(a, b, out):
    """wrong nothing-written: stored in the output array"""
    i = cuda.grid(1)
    if i < out.size:
        total = a[i] + b[i]
        total += 0


@cuda.jit
def through_an_input(a, b, out):
    """wrong input-changed: may only be read"""
    i = cuda.grid(1)
    if i < out.size:
        a[i] += b[i]
        out[i] = a[i]


@cuda.jit
def with_python(a, b, out):
    """wrong raised-NotAdmitted: a list comprehension"""
    i = cuda.grid(1)
    if i < out.size:
        both = [x[i] for x in (a, b)]
        out[i] = both[0] + both[1]


@cuda.jit
def one_number(a, b, out):
    """wrong constant: depend on the thread"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[0] + b[0]


@cuda.jit
def shifted(a, b, out):
    """wrong shifted: one place too far"""
    i = cuda.grid(1)
    if i < out.size:
        out[(i + 1) % out.size] = a[i] + b[i]


def no_decorator(a, b, out):
    """wrong raised-NotCompiled: @cuda.jit"""
    out[:] = a + b


@cuda.jit
def guard_of_the_last_case(a, b, out):
    """wrong out-of-bounds: a guard"""
    i = cuda.grid(1)
    if i < 1000:
        out[i] = a[i] + b[i]


@cuda.jit
def no_step(a, b, out):
    """wrong raised-TooManyIterations: Nothing inside the loop changes `i`"""
    i = cuda.grid(1)
    while i < out.size:
        out[i] = a[i] + b[i]
