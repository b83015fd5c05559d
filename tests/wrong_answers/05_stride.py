"""Answers to 05-stride."""

from answers import MASTER, cut, edit, replace

from dlkernels import cuda


@cuda.jit
def by_hand(x, partial):
    """right"""
    t = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total, i = 0.0, t
    while i < x.size:
        total = total + x[i]
        i += cuda.gridDim.x * cuda.blockDim.x
    partial[t] = total


@cuda.jit
def backwards(x, partial):
    """right"""
    t, threads = cuda.grid(1), partial.size
    total = 0.0
    for k in range((x.size - t + threads - 1) // threads - 1, -1, -1):
        total += x[t + k * threads]
    partial[t] = total


@cuda.jit
def in_memory(x, partial):
    """over budget over-budget: A variable of the thread lies in a register"""
    t = cuda.grid(1)
    partial[t] = 0
    for i in range(t, x.size, cuda.gridsize(1)):
        partial[t] += x[i]


not_begun = edit(in_memory, "wrong adds-to-old: partial holds anything before", cut("partial[t] = 0"))


@cuda.jit
def first_element_alone(x, partial):
    """wrong suspect: the first element of each thread alone"""
    t = cuda.grid(1)
    partial[t] = x[t] if t < x.size else 0


@cuda.jit
def pieces(x, partial):
    """wrong suspect: elements that lie together"""
    t = cuda.grid(1)
    length = (x.size + partial.size - 1) // partial.size
    total = 0.0
    for i in range(t * length, min((t + 1) * length, x.size)):
        total += x[i]
    partial[t] = total


all_of_it = edit(
    MASTER, "wrong suspect: its share is asked for", replace("cuda.grid(1), x.size, cuda.gridsize(1)", "x.size")
)


@cuda.jit
def begins_in_the_block(x, partial):
    """wrong wrong-value: which elements thread 1 of block 1 adds up"""
    total = 0.0
    for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):
        total += x[i]
    partial[cuda.grid(1)] = total


number_in_the_block = edit(
    begins_in_the_block, "wrong one-block: Which thread of the whole grid am I", replace("grid(1)", "threadIdx.x")
)
one_too_far = edit(MASTER, "wrong out-of-bounds: its bound is x.size", replace("x.size", "x.size + 1"))
last_missing = edit(MASTER, "wrong suspect: Where does range end", replace("x.size", "x.size - 1"))
replaced = edit(MASTER, "wrong suspect: the sum was replaced", replace("total += x[i]", "total = x[i]"))


@cuda.jit
def whole_rounds(x, partial):
    """wrong out-of-bounds: The loop must end before the end of x"""
    total = 0.0
    for k in range(x.size // cuda.gridsize(1) + 1):
        total += x[k * cuda.gridsize(1) + cuda.grid(1)]
    partial[cuda.grid(1)] = total


two_dimensions = edit(
    MASTER, "wrong raised-TypeError: are single numbers", replace("cuda.gridsize(1)", "cuda.gridsize(2)")
)


@cuda.jit
def the_loop_of_the_specification(x, partial):
    """wrong race: The threads are that loop"""
    for t in range(partial.size):
        total = 0.0
        for i in range(t, x.size, partial.size):
            total += x[i]
        partial[t] = total


nothing_for_the_idle = edit(
    the_loop_of_the_specification,
    "wrong tail: an empty share: its sum is 0",
    replace("for t in range(partial.size):", "t = cuda.grid(1)\nif t < x.size:"),
    replace("size, partial.size", "size, cuda.gridsize(1)"),
)
