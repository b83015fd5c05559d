"""Answers to 05-stride."""

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


@cuda.jit
def not_begun(x, partial):
    """wrong adds-to-old: partial holds anything before"""
    t = cuda.grid(1)
    for i in range(t, x.size, cuda.gridsize(1)):
        partial[t] += x[i]


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


@cuda.jit
def all_of_it(x, partial):
    """wrong suspect: its share is asked for"""
    total = 0.0
    for i in range(x.size):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def step_of_a_block(x, partial):
    """wrong suspect: The step is 64, whatever the grid"""
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.blockDim.x):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def number_in_the_block(x, partial):
    """wrong one-block: Which thread of the whole grid am I"""
    total = 0.0
    for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):
        total += x[i]
    partial[cuda.threadIdx.x] = total


@cuda.jit
def begins_in_the_block(x, partial):
    """wrong wrong-value: which elements thread 1 of block 1 adds up"""
    total = 0.0
    for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def one_too_far(x, partial):
    """wrong out-of-bounds: its bound is x.size"""
    total = 0.0
    for i in range(cuda.grid(1), x.size + 1, cuda.gridsize(1)):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def last_missing(x, partial):
    """wrong suspect: Where does range end"""
    total = 0.0
    for i in range(cuda.grid(1), x.size - 1, cuda.gridsize(1)):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def replaced(x, partial):
    """wrong suspect: the sum was replaced"""
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total = x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def whole_rounds(x, partial):
    """wrong out-of-bounds: The loop must end before the end of x"""
    total = 0.0
    for k in range(x.size // cuda.gridsize(1) + 1):
        total += x[k * cuda.gridsize(1) + cuda.grid(1)]
    partial[cuda.grid(1)] = total


@cuda.jit
def nothing_for_the_idle(x, partial):
    """wrong tail: an empty share: its sum is 0"""
    t = cuda.grid(1)
    if t < x.size:
        total = 0.0
        for i in range(t, x.size, cuda.gridsize(1)):
            total += x[i]
        partial[t] = total


@cuda.jit
def two_dimensions(x, partial):
    """wrong raised-TypeError: are single numbers"""
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(2)):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def step_of_blocks(x, partial):
    """wrong suspect: cuda.gridDim.x counts blocks"""
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridDim.x):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def as_far_as_partial(x, partial):
    """wrong suspect: to the end of x, not of partial"""
    total = 0.0
    for i in range(cuda.grid(1), partial.size, cuda.gridsize(1)):
        total += x[i]
    partial[cuda.grid(1)] = total


@cuda.jit
def the_loop_of_the_specification(x, partial):
    """wrong race: The threads are that loop"""
    for t in range(partial.size):
        total = 0.0
        for i in range(t, x.size, partial.size):
            total += x[i]
        partial[t] = total
