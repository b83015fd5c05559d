"""Kernels that the compiled engine does not take; the line it must name is marked ``# HERE``."""

import numpy as np
from numba import float32
from numba.types import float16

from simt import cuda

UNSUPPORTED = []
MODE = "fast"
LONG = np.zeros(4, np.dtype([("a", np.float32), ("b", np.int32)]))


def refused(construct, *arguments):
    """Register a kernel: ``construct`` must stand in the message."""

    def register(function):
        UNSUPPORTED.append((function.__name__, function, construct, arguments))
        return function

    return register


@refused("activemask", np.zeros(32))
def active_mask(x):
    x[cuda.threadIdx.x] = cuda.activemask()  # HERE


@refused("print()", np.zeros(32))
def printing(x):
    print(x[0])  # HERE


@refused("function defined inside", np.zeros(32))
def inner_function(x):
    def twice(a):  # HERE
        return 2 * a

    x[0] = twice(x[1])


@refused("match", np.zeros(32))
def matching(x):
    match int(x[0]):  # HERE
        case 1:
            x[0] = 1
        case _:
            x[0] = 2


@refused("a slice", np.zeros(32))
def filled_slice(x):
    x[2:4] = 1  # HERE


@refused("method .sum()", np.zeros(32))
def sum_of_an_array(x):
    x[0] = x.sum()  # HERE


@refused("text", np.zeros(32))
def text(x):
    if "a" == "b":  # HERE
        x[0] = 1


@cuda.jit(device=True)
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)  # HERE


@refused("calls itself", np.zeros(32))
def recursion(x):
    x[0] = factorial(5)


@refused("both sides of a barrier", np.zeros((32, 4)))
def row_across_a_barrier(x):
    row = x[1]  # HERE
    cuda.syncthreads()
    x[0, 0] = row[2]


@refused("a range or a tuple written out", np.zeros(32))
def barrier_in_a_loop_over_an_array(x):
    for v in x:  # HERE
        cuda.syncthreads()
        x[0] += v


@refused("break and an else", np.zeros(32))
def barrier_in_a_loop_with_else(x):
    for k in range(3):  # HERE
        cuda.syncthreads()
        if k == x[0]:
            break
    else:
        x[0] = 1


@refused("text", LONG)
def records(x):
    x[0]["a"] = x[1]["a"]  # HERE


@refused("a lambda", np.zeros(32))
def lambda_inside(x):
    g = lambda v: v + 1  # noqa: E731 # HERE
    x[0] = g(x[0])


@refused("an array of this type", np.zeros(32))
def dtype_as_a_value(x):
    y = x
    s = cuda.shared.array(4, y.dtype)  # HERE
    s[0] = 1
    x[0] = s[0]


@refused("argument of type float16", np.zeros(32, np.float16))
def half_precision(x):  # HERE
    x[0] = x[1]


@refused("conversion to float16", np.zeros(32))
def half_precision_inside(x):
    x[0] = float16(x[1])  # HERE


@refused("min() of one argument", np.zeros(32))
def least_of_a_tuple(x):
    x[0] = min((x[1],))  # HERE


@refused("cuda.blockDim as a value", np.zeros(32))
def extents_in_a_variable(x):
    extents = cuda.blockDim, cuda.gridDim  # HERE
    x[0] = extents[0].x


@refused("a str from outside", np.zeros(32))
def text_from_outside(x):
    x[0] = 1 if MODE == "fast" else 2  # HERE


@refused("a slice before an index", np.zeros((8, 4)))
def column(x):
    c = x[1:3, 0]  # HERE
    x[0, 0] = c[1]


@refused("tuple written out", np.zeros(32))
def member_of_a_variable(x):
    wanted = (1, 2, 3)
    x[0] = 1 if x[1] in wanted else 2  # HERE


@refused("a range or a tuple written out", np.zeros(32))
def barrier_in_a_loop_over_pairs(x):
    for k, v in enumerate((1, 2, 3)):  # HERE
        cuda.syncthreads()
        x[0] += k * v


@refused("while ... else with a barrier", np.zeros(32))
def barrier_in_a_condition_with_else(x):
    k = 0
    while cuda.syncthreads_or(1 if k < 3 else 0):  # HERE
        k += 1
    else:
        x[0] = k


@cuda.jit(device=True)
def positive(v):
    if v < 0:
        raise ValueError("negative")  # HERE
    return v


@refused("`raise` in a device function", np.zeros(32))
def raise_in_a_device_function(x):
    x[0] = positive(x[1])


@refused("method .reshape()", np.zeros(32))
def reshaped(x):
    x[0] = x.reshape((8, 4))[1, 1]  # HERE


@refused("method .view()", np.zeros(32))
def other_type(x):
    x[0] = x.view(np.int64)[0]  # HERE


@refused("break in the else of a loop", np.zeros(32))
def break_in_an_else(x):
    for a in range(4):
        for _ in range(3):  # HERE
            if x[0] == 5:
                break
        else:
            if a == 2:
                break
        x[0] += a


@refused("return in the else of a loop", np.zeros(32))
def return_in_an_else(x):
    while x[0] < 3:  # HERE
        x[0] += 1
    else:
        return
    x[1] = 1


@refused("the strides of a local array", np.zeros(32))
def strides_of_a_local_array(x):
    own = cuda.local.array(4, float32)
    x[0] = own.strides[0]  # HERE


@refused("that becomes complex", np.zeros(32))
def real_then_complex(x):
    z = x[cuda.threadIdx.x] * 1.0  # HERE
    cuda.syncthreads()
    w = z + 1
    z = z * 1j
    cuda.syncthreads()
    x[cuda.threadIdx.x] = (z + w).real
