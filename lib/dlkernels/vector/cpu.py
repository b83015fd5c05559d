"""Element-wise kernels on the CPU.

The ladder of add and axpy                         what the rung adds
    *_python       a loop in the interpreter
    *_numpy        NumPy: the loop runs in compiled code
    *_compiled     numba: the same loop, compiled from Python
    *_parallel     prange: a contiguous part of the array for every thread
    *_streaming    non-temporal stores: results go to memory without being read into the cache first
    *_team         tasks that wait for no late thread (team.py)

The ladder of each activation (forward and backward) and of bias_activation
    *_numpy        NumPy: one pass over memory, and one temporary array, per arithmetic operation
    *_compiled     numba: one fused pass, no temporary
    *_parallel     prange
    *_vectorised   exp as a polynomial, so that the loop becomes vector instructions (float32)
    *_team         tasks that wait for no late thread (team.py), and what comes next is fetched meanwhile
"""

import functools

import numpy as np
from numba import get_num_threads, njit, prange

from .. import simd, team
from ..implementations import call, implementation
from ..simd import AHEAD, fetch_ahead, full_vectors
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from . import fast, scalar
from .flat import flat

PARALLEL_FROM = 1 << 15  # elements; below, waking the threads costs more than the work
STREAM_FROM = 1 << 22  # elements; below, the output fits the last-level cache, where the next reader wants it
TEAM_FROM = (
    1 << 17
)  # elements of add and axpy; below, they lie in one core's L2 cache, and another would fetch them from there
LONG_ROW = 128  # elements from which on a row fills vectors of all lanes
LEAST_CHUNK = 1 << 12  # elements of a task: less is not worth the hand-over
SLOW = "one interpreter step per element: for small arrays"

LATE = "threads take tasks from a heap: a late one costs nothing"
LATE_AND_AHEAD = f"{LATE}; the next 1 KiB is fetched while this is worked on"


def chunk_for(size, threads):
    """Elements of a task: four tasks for a thread, whole cache lines."""
    return max(LEAST_CHUNK, -(-size // (4 * threads * 64)) * 64)


# ---- add -----------------------------------------------------------------------------------------------


@implementation("add", device="cpu", adds="the loop anyone would write", limits=SLOW, largest=1 << 16)
@flat
def add_python(a, b, out):
    for i in range(out.size):
        out[i] = a[i] + b[i]


@implementation("add", device="cpu", adds="the loop runs in compiled code that ships with NumPy")
def add_numpy(a, b, out):
    return np.add(a, b, out=out)


@cached_njit()
def _add_compiled(a, b, out):
    for i in range(out.size):
        out[i] = a[i] + b[i]


@implementation("add", device="cpu", adds="the Python loop, compiled: LLVM makes it 4 to 16 elements at a time")
@flat
def add_compiled(a, b, out):
    _add_compiled(a, b, out)


@cached_njit(parallel=True)
def _add_parallel(a, b, out):
    for i in prange(out.size):
        out[i] = a[i] + b[i]


@implementation("add", device="cpu", adds="every thread adds a contiguous part of the arrays")
@flat
def add_parallel(a, b, out):
    _add_parallel(a, b, out)


@njit
def _add_streaming_part(a, b, out, start, stop):
    width = simd.lanes(out)
    i = min(start + simd.until_aligned(out[start:]), stop)
    for first in range(start, i):
        out[first] = a[first] + b[first]
    while i + width <= stop:
        simd.store_nontemporal(out, i, simd.load(a, i) + simd.load(b, i))
        i += width
    for rest in range(i, stop):
        out[rest] = a[rest] + b[rest]
    simd.fence()


@njit(parallel=True)
def _add_streaming(a, b, out):
    parts = get_num_threads()
    for part in prange(parts):
        _add_streaming_part(a, b, out, part * out.size // parts, (part + 1) * out.size // parts)


@implementation("add", device="cpu", adds="large results bypass the cache: 12 bytes of traffic per element, not 16")
@flat
def add_streaming(a, b, out):
    if out.size < PARALLEL_FROM:
        _add_compiled(a, b, out)
    elif out.size < STREAM_FROM:
        _add_parallel(a, b, out)
    else:
        _add_streaming(a, b, out)


@njit
def _add_ahead(a, b, out):
    one, other, target = memory(a), memory(b), memory(out)
    for start in range(0, out.size, AHEAD):
        stop = min(start + AHEAD, out.size)
        fetch_ahead(one, stop, AHEAD)
        fetch_ahead(other, stop, AHEAD)
        fetch_ahead(target, stop, AHEAD)
        _add_compiled(one[start:stop], other[start:stop], target[start:stop])


@njit
def _add_chunk(arguments, task, who):
    a, b, out, chunk, stream = arguments
    start, stop = task * chunk, min((task + 1) * chunk, out.size)
    if stream:
        _add_streaming_part(a, b, out, start, stop)
    else:
        _add_ahead(a[start:stop], b[start:stop], out[start:stop])


@cached_njit()
def _add_by_team(a, b, out, chunk, stream, threads, team):
    tasks = (out.size + chunk - 1) // chunk
    share(_add_chunk, (a, b, out, chunk, stream), tasks, threads, out.size // 16, team)


def add_lines(a, b, out, new=False):
    """out = a + b for contiguous lines that are not empty. new: `out` was just made.

    The pages of a large new array are cleared as they are first touched, and lie in the cache then: a store past the
    cache would throw them out of it.
    """
    size, stream = out.size, out.size >= STREAM_FROM and not new
    threads = 1 if size < TEAM_FROM else team.size()
    if threads == 1 and size < STREAM_FROM:
        _add_compiled(a, b, out)
    else:
        _add_by_team(a, b, out, chunk_for(size, threads), stream, threads, team.members())


@implementation("add", device="cpu", adds=LATE, public=True)
@flat
def add_team(a, b, out):
    add_lines(a, b, out)


# ---- axpy ----------------------------------------------------------------------------------------------


@implementation("axpy", device="cpu", adds="the loop anyone would write", limits=SLOW, largest=1 << 16)
@flat
def axpy_python(alpha, x, y, out):
    for i in range(out.size):
        out[i] = alpha * x[i] + y[i]


@implementation("axpy", device="cpu", adds="two passes of compiled code, with a temporary array between them")
def axpy_numpy(alpha, x, y, out):
    return np.add(alpha * x, y, out=out)


@cached_njit()
def _axpy_compiled(alpha, x, y, out):
    for i in range(out.size):
        out[i] = alpha * x[i] + y[i]


@implementation("axpy", device="cpu", adds="one pass: the product never goes to memory")
@flat
def axpy_compiled(alpha, x, y, out):
    _axpy_compiled(alpha, x, y, out)


@cached_njit(parallel=True)
def _axpy_parallel(alpha, x, y, out):
    for i in prange(out.size):
        out[i] = alpha * x[i] + y[i]


@implementation("axpy", device="cpu", adds="every thread takes a contiguous part of the arrays")
@flat
def axpy_parallel(alpha, x, y, out):
    _axpy_parallel(alpha, x, y, out)


@njit
def _axpy_streaming_part(alpha, x, y, out, start, stop):
    width = simd.lanes(out)
    scale = simd.broadcast(alpha)
    i = min(start + simd.until_aligned(out[start:]), stop)
    for first in range(start, i):
        out[first] = alpha * x[first] + y[first]
    while i + width <= stop:
        simd.store_nontemporal(out, i, scale * simd.load(x, i) + simd.load(y, i))
        i += width
    for rest in range(i, stop):
        out[rest] = alpha * x[rest] + y[rest]
    simd.fence()


@njit(parallel=True)
def _axpy_streaming(alpha, x, y, out):
    parts = get_num_threads()
    for part in prange(parts):
        _axpy_streaming_part(alpha, x, y, out, part * out.size // parts, (part + 1) * out.size // parts)


@implementation("axpy", device="cpu", adds="large results bypass the cache")
@flat
def axpy_streaming(alpha, x, y, out):
    if out.size < PARALLEL_FROM:
        _axpy_compiled(alpha, x, y, out)
    elif out.size < STREAM_FROM:
        _axpy_parallel(alpha, x, y, out)
    else:
        _axpy_streaming(alpha, x, y, out)


@njit
def _axpy_ahead(alpha, x, y, out):
    one, other, target = memory(x), memory(y), memory(out)
    for start in range(0, out.size, AHEAD):
        stop = min(start + AHEAD, out.size)
        fetch_ahead(one, stop, AHEAD)
        fetch_ahead(other, stop, AHEAD)
        fetch_ahead(target, stop, AHEAD)
        _axpy_compiled(alpha, one[start:stop], other[start:stop], target[start:stop])


@njit
def _axpy_chunk(arguments, task, who):
    alpha, x, y, out, chunk, stream = arguments
    start, stop = task * chunk, min((task + 1) * chunk, out.size)
    if stream:
        _axpy_streaming_part(alpha, x, y, out, start, stop)
    else:
        _axpy_ahead(alpha, x[start:stop], y[start:stop], out[start:stop])


@cached_njit()
def _axpy_by_team(alpha, x, y, out, chunk, stream, threads, team):
    tasks = (out.size + chunk - 1) // chunk
    share(_axpy_chunk, (alpha, x, y, out, chunk, stream), tasks, threads, out.size // 16, team)


def axpy_lines(alpha, x, y, out, new=False):
    """out = alpha * x + y for contiguous lines that are not empty. new: as of `add_lines`."""
    size, stream = out.size, out.size >= STREAM_FROM and not new
    threads = 1 if size < TEAM_FROM else team.size()
    if threads == 1 and size < STREAM_FROM:
        _axpy_compiled(alpha, x, y, out)
    else:
        _axpy_by_team(alpha, x, y, out, chunk_for(size, threads), stream, threads, team.members())


@implementation("axpy", device="cpu", adds=LATE, public=True)
@flat
def axpy_team(alpha, x, y, out):
    axpy_lines(alpha, x, y, out)


# ---- activations: one loop for all, the function of one element is its argument --------------------------


@njit(error_model="numpy")
def map_compiled(function, x, parameter, out):
    full_vectors()
    for i in range(out.size):
        out[i] = function(x[i], parameter)


@njit(parallel=True, error_model="numpy")
def map_parallel(function, x, parameter, out):
    for i in prange(out.size):
        out[i] = function(x[i], parameter)


@njit(error_model="numpy")
def map_backward_compiled(function, grad, x, parameter, out):
    full_vectors()
    for i in range(out.size):
        out[i] = function(grad[i], x[i], parameter)


@njit(parallel=True, error_model="numpy")
def map_backward_parallel(function, grad, x, parameter, out):
    for i in prange(out.size):
        out[i] = function(grad[i], x[i], parameter)


@njit(error_model="numpy", forceinline=True)
def map_ahead(function, x, parameter, out):
    """As `map_compiled`; what comes next is fetched meanwhile."""
    source, target = memory(x), memory(out)
    for start in range(0, out.size, AHEAD):
        stop = min(start + AHEAD, out.size)
        fetch_ahead(source, stop, AHEAD)
        fetch_ahead(target, stop, AHEAD)
        map_compiled(function, source[start:stop], parameter, target[start:stop])


@njit(error_model="numpy", forceinline=True)
def map_backward_ahead(function, grad, x, parameter, out):
    """As `map_backward_compiled`; what comes next is fetched meanwhile."""
    slopes, source, target = memory(grad), memory(x), memory(out)
    for start in range(0, out.size, AHEAD):
        stop = min(start + AHEAD, out.size)
        fetch_ahead(slopes, stop, AHEAD)
        fetch_ahead(source, stop, AHEAD)
        fetch_ahead(target, stop, AHEAD)
        map_backward_compiled(function, slopes[start:stop], source[start:stop], parameter, target[start:stop])


def _compiled_with(function, loop, **options):
    """The decorator of a loop with a function of one element inside: one of the library is kept on disk where it can.

    (The function for the other dtype has the same name, and arguments of other types.)
    """
    body = function.py_func
    if not body.__module__.startswith("dlkernels."):  # its text may change, and the cache looks at the library's alone
        return njit(**options)
    return cached_njit(holds=f"{loop}: {body.__module__}.{body.__qualname__}", **options)


@functools.cache
def bound(loop, function):
    """`loop` with its function inside: numba looks at a function among the arguments anew in each call, for 5 us.

    What is called with the function must be `forceinline`: else its address is left, and the loop is not kept on disk.
    """

    @_compiled_with(function, loop.__name__, error_model="numpy")
    def one_array(x, parameter, out):
        loop(function, x, parameter, out)

    @_compiled_with(function, loop.__name__, error_model="numpy")
    def two_arrays(x, other, parameter, out):
        loop(function, x, other, parameter, out)

    return one_array if loop is map_ahead else two_arrays


# A team's part with the function of one element inside: as an argument among others it would be called by its address,
# and not become vector instructions.


@functools.cache
def map_by_team(function):
    """As `map_parallel`, for one function."""

    @inner_njit(error_model="numpy")
    def part(arguments, task, who):
        x, parameter, out, chunk = arguments
        span = slice(task * chunk, (task + 1) * chunk)
        map_ahead(function, x[span], parameter, out[span])

    @_compiled_with(function, "by team")
    def loop(x, parameter, out, chunk, threads, team):
        share(part, (x, parameter, out, chunk), (out.size + chunk - 1) // chunk, threads, out.size // 16, team)

    return loop


@functools.cache
def map_backward_by_team(function):
    """As `map_backward_parallel`, for one function."""

    @inner_njit(error_model="numpy")
    def part(arguments, task, who):
        grad, x, parameter, out, chunk = arguments
        span = slice(task * chunk, (task + 1) * chunk)
        map_backward_ahead(function, grad[span], x[span], parameter, out[span])

    @_compiled_with(function, "by team")
    def loop(grad, x, parameter, out, chunk, threads, team):
        share(part, (grad, x, parameter, out, chunk), (out.size + chunk - 1) // chunk, threads, out.size // 16, team)

    return loop


def _sigmoid(x):
    with np.errstate(over="ignore"):  # exp(-x) = inf gives the right answer, 0
        return 1 / (1 + np.exp(-x))


#: NumPy expressions as one would write them; gelu and the backward passes have no NumPy rung
NUMPY = {
    "relu": lambda x, parameter: np.maximum(x, 0),
    "leaky_relu": lambda x, parameter: np.where(x > 0, x, parameter * x),
    "elu": lambda x, parameter: np.where(x > 0, x, parameter * np.expm1(np.minimum(x, 0))),
    "sigmoid": lambda x, parameter: _sigmoid(x),
    "tanh": lambda x, parameter: np.tanh(x),
    "silu": lambda x, parameter: x * _sigmoid(x),
}


def _numpy_rung(name):
    def rung(x, parameter, out):
        with np.errstate(invalid="ignore"):
            out[...] = NUMPY[name](x, parameter)
        return out

    return rung


def _loop_rung(loop, name):
    @flat
    def rung(*arguments):
        loop(scalar.functions(arguments[-1].dtype.type)[name], *arguments)

    return rung


def _vectorised_rung(compiled, parallel, name):
    @flat
    def rung(*arguments):
        loop = compiled if arguments[-1].size < PARALLEL_FROM else parallel
        loop(fast.FUNCTIONS[name], *arguments)

    return rung


@functools.cache
def fastest_functions(dtype):
    """The functions of one element for arrays of `dtype`: without a call in the loop where there are such."""
    return fast.FUNCTIONS if dtype == np.float32 else scalar.functions(dtype.type)


def _team_rung(ahead, by_team, name):
    @flat
    def rung(*arguments):
        out = arguments[-1]
        function = fastest_functions(out.dtype)[name]
        threads = 1 if out.size < PARALLEL_FROM else team.size()
        if threads == 1:
            bound(ahead, function)(*arguments)
        else:
            by_team(function)(*arguments, chunk_for(out.size, threads), threads, team.members())

    return rung


def _put(name, suffix, rung, **description):
    rung.__name__ = f"{name}_{suffix}"
    implementation(name, device="cpu", **description)(rung)


for _name in scalar.PARAMETERS:
    if _name in NUMPY:
        _put(_name, "numpy", _numpy_rung(_name), adds="NumPy: a pass over memory for every operation")
    for _operation, _compiled, _parallel, _ahead, _by_team in (
        (_name, map_compiled, map_parallel, map_ahead, map_by_team),
        (f"{_name}_backward", map_backward_compiled, map_backward_parallel, map_backward_ahead, map_backward_by_team),
    ):
        _put(_operation, "compiled", _loop_rung(_compiled, _operation), adds="one fused pass, no temporary array")
        _put(_operation, "parallel", _loop_rung(_parallel, _operation), adds="every thread takes a part")
        _put(
            _operation,
            "vectorised",
            _vectorised_rung(_compiled, _parallel, _operation),
            adds="no call in the loop: 4 to 16 elements per instruction",
            dtypes=("float32",),
        )
        _put(_operation, "team", _team_rung(_ahead, _by_team, _operation), adds=LATE_AND_AHEAD, public=True)


# ---- bias and activation, fused --------------------------------------------------------------------------


@njit(error_model="numpy")
def bias_map_compiled(function, x, bias, parameter, out):
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            out[row, column] = function(x[row, column] + bias[column], parameter)


@njit(parallel=True, error_model="numpy")
def bias_map_parallel(function, x, bias, parameter, out):
    for row in prange(x.shape[0]):
        for column in range(x.shape[1]):
            out[row, column] = function(x[row, column] + bias[column], parameter)


@njit(error_model="numpy", forceinline=True)
def _long_rows_ahead(function, x, bias, parameter, out):
    full_vectors()
    columns = x.shape[1]
    source, target, biases = memory(x), memory(out), memory(bias)
    for row in range(x.shape[0]):
        for left in range(0, columns, AHEAD):
            count, start = min(AHEAD, columns - left), row * columns + left
            fetch_ahead(x, start + AHEAD, count)
            fetch_ahead(out, start + AHEAD, count)
            line, to, added = source[start : start + count], target[start : start + count], biases[left : left + count]
            for i in range(count):
                to[i] = function(line[i] + added[i], parameter)


@njit(error_model="numpy", forceinline=True)
def bias_map_ahead(function, x, bias, parameter, out):
    """As `bias_map_compiled`; what comes next is fetched meanwhile."""
    rows, columns = x.shape
    if columns >= LONG_ROW:
        _long_rows_ahead(function, x, bias, parameter, out)
        return
    together = AHEAD // columns
    for start in range(0, rows, together):
        stop = min(start + together, rows)
        fetch_ahead(x, stop * columns, together * columns)
        fetch_ahead(out, stop * columns, together * columns)
        bias_map_compiled(function, x[start:stop], bias, parameter, out[start:stop])


@functools.cache
def bias_map_by_team(function):
    """As `bias_map_parallel`, for one function."""

    @inner_njit(error_model="numpy")
    def part(arguments, task, who):
        x, bias, parameter, out, rows = arguments
        span = slice(task * rows, (task + 1) * rows)
        bias_map_ahead(function, x[span], bias, parameter, out[span])

    @_compiled_with(function, "by team")
    def loop(x, bias, parameter, out, rows, threads, team):
        share(part, (x, bias, parameter, out, rows), (out.shape[0] + rows - 1) // rows, threads, out.size // 16, team)

    return loop


def _rows(loop, x, bias, parameter, out, *how):
    """Run `loop` on x as a matrix with one row per sample."""
    if out.size:
        matrix = np.ascontiguousarray(x).reshape(-1, bias.size)
        result = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        loop(matrix, np.ascontiguousarray(bias), parameter, result.reshape(matrix.shape), *how)
        if result is not out:
            out[...] = result
    return out


@implementation("bias_activation", device="cpu", adds="two passes over memory, a temporary array between them")
def bias_activation_numpy(x, bias, name, parameter, out):
    if name not in NUMPY:
        return bias_activation_compiled(x, bias, name, parameter, out)
    with np.errstate(invalid="ignore"):
        out[...] = NUMPY[name](x + bias, parameter)
    return out


@implementation("bias_activation", device="cpu", adds="fused: the sum never goes to memory")
def bias_activation_compiled(x, bias, name, parameter, out):
    function = scalar.functions(out.dtype.type)[name]
    return _rows(functools.partial(bias_map_compiled, function), x, bias, parameter, out)


@implementation("bias_activation", device="cpu", adds="every thread takes a part of the rows")
def bias_activation_parallel(x, bias, name, parameter, out):
    function = scalar.functions(out.dtype.type)[name]
    return _rows(functools.partial(bias_map_parallel, function), x, bias, parameter, out)


@implementation("bias_activation", device="cpu", adds="no call in the loop: vector instructions", dtypes=("float32",))
def bias_activation_vectorised(x, bias, name, parameter, out):
    loop = bias_map_compiled if out.size < PARALLEL_FROM else bias_map_parallel
    return _rows(functools.partial(loop, fast.FUNCTIONS[name]), x, bias, parameter, out)


@implementation("bias_activation", device="cpu", adds=LATE_AND_AHEAD, public=True)
def bias_activation_team(x, bias, name, parameter, out):
    function = fastest_functions(out.dtype)[name]
    threads = 1 if out.size < PARALLEL_FROM else team.size()
    if threads == 1:
        return _rows(bound(bias_map_ahead, function), x, bias, parameter, out)
    rows = -(-chunk_for(out.size, threads) // bias.size)
    return _rows(bias_map_by_team(function), x, bias, parameter, out, rows, threads, team.members())


@implementation(
    "bias_activation_backward",
    device="cpu",
    adds="the sum is computed again, not kept; then the activation's gradient, and its sum over the rows",
    public=True,
)
def bias_activation_backward_passes(grad, x, bias, name, parameter, of_x):
    with np.errstate(over="ignore", invalid="ignore"):
        call(f"{name}_backward", grad, x + bias, parameter, of_x)
        over_rows = of_x.sum(axis=tuple(range(x.ndim - 1)), dtype=np.float64)  # NumPy adds row by row
        return of_x, over_rows.astype(x.dtype)
