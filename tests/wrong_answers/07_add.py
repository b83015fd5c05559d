"""Answers to 07-add."""

from answers import cut, edit, replace

from dlkernels import cuda


@cuda.jit
def by_hand(x, y, z):
    """right"""
    i = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    if i >= z.shape[0]:
        return
    left = x[i] if i < x.size else 0
    z[i] = left + (y[i] if i < y.size else 0)


@cuda.jit
def grid_stride(a, b, out):
    """right"""
    i = cuda.grid(1)
    while i < len(out):
        if i >= len(a):
            out[i] = b[i]
        elif i >= len(b):
            out[i] = a[i]
        else:
            out[i] = a[i] + b[i]
        i += cuda.gridsize(1)


@cuda.jit
def three_steps(a, b, out):
    """right"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0
    if i < a.size:
        out[i] += a[i]
    if i < b.size:
        out[i] += b[i]


@cuda.jit
def no_guard(a, b, out):
    """wrong out-of-bounds: a guard"""
    i = cuda.grid(1)
    out[i] = a[i] + b[i]


guard_one_too_far = edit(
    "as_in_the_chapter", "wrong out-of-bounds: a guard", replace("if i < out.size:", "if i <= out.size:")
)
guard_of_both = edit(
    "as_in_the_chapter", "wrong tail: guard or the loop stop too early", replace("out.size", "a.size and i < b.size")
)
guard_of_a = edit(
    "as_in_the_chapter", "wrong out-of-bounds: a and b may be shorter than out", replace("out.size", "a.size")
)


@cuda.jit
def guard_of_a_alone(a, b, out):
    """wrong tail: guard or the loop stop too early"""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + (b[i] if i < b.size else 0)


@cuda.jit
def last_again(a, b, out):
    """wrong suspect: its last element was added again and again"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[min(i, a.size - 1)] + b[min(i, b.size - 1)]


@cuda.jit
def around(a, b, out):
    """wrong suspect: it was begun again from its start"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i % a.size] + b[i % b.size]


one_block_only = edit(
    "as_in_the_chapter", "wrong one-block: not the block's number", replace("i = cuda.grid(1)", "i = cuda.threadIdx.x")
)
guard_too_strict = edit(
    "as_in_the_chapter", "wrong tail: guard or the loop stop too early", replace("out.size", "out.size - 1")
)
a_twice = edit("as_in_the_chapter", "wrong suspect: b is never read", replace("a[i] + b[i]", "a[i] + a[i]"))
adds_to_what_was_there = edit(
    three_steps, "wrong adds-to-old: Begin each sum with 0", cut("if i < out.size:\n    out[i] = 0")
)


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


one_number = edit("as_in_the_chapter", "wrong constant: depend on the thread", replace("a[i] + b[i]", "a[0] + b[0]"))
shifted = edit("as_in_the_chapter", "wrong shifted: one place too far", replace("out[i]", "out[(i + 1) % out.size]"))


def no_decorator(a, b, out):
    """wrong raised-NotCompiled: @cuda.jit"""
    out[:] = a + b


@cuda.jit
def lengths_of_one_case(a, b, out):
    """wrong suspect: This is a alone"""
    i = cuda.grid(1)
    if i < 1000:
        out[i] = (a[i] if i < 300 else 0) + (b[i] if i < 70 else 0)


no_step = edit(
    "as_in_the_chapter",
    "wrong raised-TooManyIterations: Nothing inside the loop changes `i`",
    replace("if i", "while i"),
)
