"""Small pieces of Python, each with what numba-cuda's compiler says to it in a kernel: True = compiled, False =
refused.

Used twice: the executor must accept and refuse the same (test_refusals.py), and where numba-cuda is installed, so must
it.
"""

import math

import numpy as np
from numba import float32

from simt import cuda

TILE = 16
TABLE = np.arange(4.0)
SNIPPETS = []
F1, F2, I1 = "float32[:]", "float32[:, :]", "int32[:]"


def snippet(accepted, *signature, words=""):
    """Register a kernel body. ``words`` must stand in the executor's refusal."""

    def register(function):
        SNIPPETS.append((function, signature or (F1,), accepted, words))
        return function

    return register


def undecorated(x):
    return x + 1


@snippet(True)
def slice_view(a):
    b = a[1:3]
    a[0] = b[0]


@snippet(True)
def slice_filled(a):
    a[:] = 0


@snippet(False, words="write a loop")
def slice_copied(a):
    a[0:2] = a[2:4]


@snippet(True, F2)
def row_view(a):
    r = a[1]
    r[0] = 1


@snippet(False, words="work on its elements")
def whole_arrays(a):
    b = a + a
    a[0] = b[0]


@snippet(True)
def array_sum(a):
    a[0] = a.sum()


@snippet(False, words="a list")
def list_literal(a):
    values = [1, 2]
    a[0] = values[0]


@snippet(False, words="list comprehension")
def list_comprehension(a):
    values = [i for i in range(3)]  # noqa: C416
    a[0] = values[0]


@snippet(False, words="a dict")
def dictionary(a):
    d = {1: 2.0}
    a[0] = d[1]


@snippet(False, words="a set")
def set_literal(a):
    s = {1, 2}
    a[0] = len(s)


@snippet(False, words="try / except")
def try_except(a):
    try:
        a[0] = 1
    except ValueError:
        a[1] = 1


@snippet(False, words="with")
def with_block(a):
    with open("x"):
        a[0] = 1


@snippet(True)
def raise_constant(a):
    if a[0] > 100:
        raise ValueError("too large")


@snippet(True)
def raise_class(a):
    if a[0] > 100:
        raise ValueError


@snippet(False, words="constants")
def raise_with_value(a):
    if a[0] > 100:
        raise ValueError(a[0])


@snippet(False, words="constants")
def raise_with_f_string(a):
    if a[0] > 100:
        raise ValueError(f"{a[0]}")


@snippet(True)
def assertion(a):
    assert a[0] > -100, "no"


@snippet(True)
def printing(a):
    print("x", a[0])


@snippet(False, words="f-string")
def printing_f_string(a):
    print(f"x {a[0]}")


@snippet(True)
def compare_strings(a):
    s = "abc"
    if s == "abc":
        a[0] = 1


@snippet(False, words="whole arrays")
def numpy_zeros(a):
    z = np.zeros(3)
    a[0] = z[0]


@snippet(True)
def tuple_constant_index(a):
    z = (1, 2, 3)
    a[0] = z[1]


@snippet(True)
def tuple_index(a):
    z = (1, 2, 3)
    a[0] = z[cuda.threadIdx.x]


@snippet(True)
def lambda_inside(a):
    g = lambda x: x + 1  # noqa: E731
    a[0] = g(a[0])


@snippet(True)
def function_inside(a):
    def g(x):
        return x + 1

    a[0] = g(a[0])


@snippet(True)
def global_array(a):
    a[0] = TABLE[1]


@snippet(False, words="must be a constant")
def shared_arithmetic(a):
    s = cuda.shared.array((TILE, TILE + 1), float32)
    s[0, 0] = 1
    a[0] = s[0, 0]


@snippet(True)
def shared_folded(a):
    s = cuda.shared.array(16 * 2, float32)
    s[0] = 1
    a[0] = s[0]


@snippet(True)
def shared_local_constant(a):
    n = 16
    s = cuda.shared.array(n, float32)
    s[0] = 1
    a[0] = s[0]


@snippet(False, words="must be a constant")
def shared_local_arithmetic(a):
    n = TILE * 2
    s = cuda.shared.array(shape=(n, n), dtype=float32)
    s[0, 0] = 1
    a[0] = s[0, 0]


@snippet(False, F1, "int32", words="must be a constant")
def shared_by_argument(a, n):
    s = cuda.shared.array(n, float32)
    s[0] = 1
    a[0] = s[0]


@snippet(True)
def shared_numpy_dtype(a):
    s = cuda.shared.array(4, np.float32)
    s[0] = 1
    a[0] = s[0]


@snippet(True)
def shared_dtype_of_array(a):
    s = cuda.shared.array(4, a.dtype)
    s[0] = 1
    a[0] = s[0]


@snippet(False, words="must be a constant")
def shared_list_shape(a):
    s = cuda.shared.array([4, 4], float32)
    s[0, 0] = 1
    a[0] = s[0, 0]


@snippet(True)
def enumerate_and_zip(a):
    for i, (x, y) in enumerate(zip(range(3), range(4))):  # noqa: B905
        a[i] = x + y


@snippet(True)
def for_in_array(a):
    total = 0.0
    for x in a:
        total += x
    a[0] = total


@snippet(True)
def while_else(a):
    i = 0
    while i < 3:
        i += 1
    else:
        a[0] = 1


@snippet(True)
def for_else(a):
    for i in range(3):
        if a[i] > 100:
            break
    else:
        a[0] = 1


@snippet(False, words="void return type")
def returns_value(a):
    return a[0]


@snippet(True)
def returns_none(a):
    return None


@snippet(True, F2)
def negative_shape_index(a):
    a[0, 0] = a.shape[-1]


@snippet(True, F2)
def array_attributes(a):
    a[0, 0] = len(a) + a.size + a.ndim + a.nbytes + a.strides[0] + a.itemsize


@snippet(True, F2)
def transposed(a):
    b = a.T
    a[0, 0] = b[0, 1]


@snippet(False, words="whole number")
def float_index(a):
    a[a[0]] = 1


@snippet(False, words="whole number")
def bool_index(a):
    a[a[0] > 1] = 1


@snippet(True)
def is_none(a):
    x = None
    if x is None:
        a[0] = 1


@snippet(True)
def chained_comparison(a):
    a[0] = 1 if 0 < a[1] < 3 else 2


@snippet(False, words="star")
def starred(a):
    x, *_ = (1, 2, 3)
    a[0] = x


@snippet(False, words="global")
def global_statement(a):
    global TILE
    TILE = 3


@snippet(False, words="del")
def delete(a):
    x = 1
    del x
    a[0] = 1


@snippet(True)
def match_constants(a):
    match int(a[0]):
        case 1:
            a[0] = 1
        case _:
            a[0] = 2


@snippet(True)
def numpy_maximum(a):
    a[0] = np.maximum(a[1], a[0])


@snippet(True)
def numpy_cast(a):
    a[0] = np.float32(a[1])


@snippet(True)
def builtin_functions(a):
    q, r = divmod(int(a[0]), 3)
    a[0] = round(a[0]) + pow(a[0], 2) + q + r + min(a[0], a[1], a[2]) + abs(complex(a[0], a[1]))


@snippet(True)
def in_tuple(a):
    if int(a[0]) not in (1, 2, 3):
        a[0] = +a[1]


@snippet(False, words="device=True")
def plain_function(a):
    a[0] = undecorated(a[0])


@snippet(False, F2, words="@")
def matrix_product(a):
    b = a @ a
    a[0, 0] = b[0, 0]


@snippet(True)
def alias_of_type(a):
    f = float32
    a[0] = f(1)


@snippet(True)
def alias_of_function(a):
    sync = cuda.syncthreads
    sync()
    a[0] = 1


@snippet(True)
def alias_of_thread_index(a):
    t = cuda.threadIdx
    a[t.x] = 1


@snippet(False, words="yield")
def yields(a):
    yield 1


@snippet(False, words="import")
def imports(a):
    import math as m

    a[0] = m.sqrt(a[1])


@snippet(True, I1)
def float_into_integers(a):
    a[0] = 1.5


@snippet(False, words="cannot store a complex")
def complex_into_floats(a):
    a[0] = 1j


@snippet(True, F2)
def two_subscripts(a):
    a[0][1] = 2


@snippet(True, F2)
def ellipsis(a):
    a[..., 0][0] = 2


@snippet(False, words="'a' has 1 axis, but 2 indices")
def too_many_indices(a):
    a[0, 1] = 2


@snippet(False, words="bit_length")
def method_of_number(a):
    a[0] = (3).bit_length()


@snippet(True)
def module_constants(a):
    a[0] = np.pi + math.pi + np.inf


@snippet(True)
def array_fill(a):
    a.fill(1)


@snippet(False, words="reversed")
def reversed_range(a):
    for i in reversed(range(4)):
        a[i] = i


@snippet(False, words="*args")
def star_arguments(*a):
    a[0][0] = 1


@snippet(False, words="ndim")
def grid_of_nothing(a):
    a[cuda.grid()] = 1


@snippet(False, words="must be the constant 1, 2 or 3")
def grid_of_a_truth(a):
    a[cuda.grid(True)] = 1


@snippet(False, words="must be the constant 1, 2 or 3")
def grid_of_four_axes(a):
    a[cuda.gridsize(4)] = 1
