"""The mean squared error on the CPU, forward and backward.

The ladder of mse_loss             what the rung adds
    mse_numpy          NumPy: the differences, and their squares, as arrays of their own
    mse_compiled       numba: one pass, no temporary array
    mse_team           parts of PART numbers for all cores, a vector at a time

Squares of a part are added in float32, the parts in their order in float64: the parts follow from the size alone, so
the result is the same on any number of threads.
"""

import functools

import numpy as np

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd import broadcast, fma, lanes, load, reduce_add, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .cpu_cross_entropy import reduced

PART = 4096  # numbers that are added in float32
ALONE = 1 << 15  # numbers below which waking another thread costs more than it gains


def on_lines(rung):
    """Let `rung(x, target) -> the sum of squares` take arrays of any shape, and reduce."""

    @functools.wraps(rung)
    def whole(reduction, input, target):
        x, wanted = plain(input).reshape(-1), plain(target).reshape(-1)
        if reduction == "none":
            out = new(input.shape, input.dtype)
            _squares(x, wanted, out.reshape(-1))
            return out
        return reduced(np.array([rung(x, wanted)]), reduction, x.size, ()).astype(x.dtype)

    return whole


@cached_njit()
def _squares(x, target, out):
    for i in range(out.size):
        out[i] = (x[i] - target[i]) * (x[i] - target[i])


@implementation("mse_loss", device="cpu", adds="NumPy: the differences, and their squares, as arrays of their own")
@on_lines
def mse_numpy(x, target):
    with np.errstate(invalid="ignore"):
        return np.square(x - target).sum(dtype=np.float64)


@cached_njit()
def _sum(x, target):
    result = 0.0
    for i in range(x.size):
        difference = np.float64(x[i] - target[i])
        result += difference * difference
    return result


@implementation("mse_loss", device="cpu", adds="numba: one pass over both, no temporary array")
@on_lines
def mse_compiled(x, target):
    return _sum(x, target)


@inner_njit()
def _part(arguments, task, who):
    x, target, sums = arguments
    i, end = task * PART, min((task + 1) * PART, x.size)
    width, zero = lanes(x), x.dtype.type(0)
    even_sum, odd_sum = broadcast(zero), broadcast(zero)
    while i + 2 * width <= end:
        even, odd = load(x, i) - load(target, i), load(x, i + width) - load(target, i + width)
        even_sum, odd_sum = fma(even, even, even_sum), fma(odd, odd, odd_sum)
        i += 2 * width
    result = reduce_add(even_sum + odd_sum)
    while i < end:
        result += (x[i] - target[i]) * (x[i] - target[i])
        i += 1
    sums[task] = result


@cached_njit()
def _by_team(x, target, sums, threads, least, team):
    share(_part, (x, target, sums), sums.size, threads, least, team)
    result = 0.0
    for i in range(sums.size):
        result += sums[i]
    return result


@cached_njit()
def _alone(x, target):
    """The sum of one part: as `_by_team`, without what that needs for threads."""
    sums = np.empty(1)
    _part((x, target, sums), 0, 0)
    return sums[0]


@implementation(
    "mse_loss",
    device="cpu",
    adds="parts for all cores, a vector at a time; parts are added in their order",
    public=True,
)
@on_lines
def mse_team(x, target):
    if x.size <= PART:
        return _alone(x, target)
    sums = np.empty(-(-x.size // PART))
    threads = 1 if x.size < ALONE else team.size()
    return _by_team(x, target, sums, threads, x.size // 8, team.members())


# ---- gradients -------------------------------------------------------------------------------------------------------


def on_gradients(rung):
    """Let `rung(grad, factor, x, target, of_x, of_target)` take any shapes. grad: one number, or one for each."""

    @functools.wraps(rung)
    def whole(reduction, grad, input, target):
        both = new(input.shape, input.dtype), new(input.shape, input.dtype)
        factor = input.dtype.type(2 / max(input.size, 1) if reduction == "mean" else 2)
        if not input.size:
            return both
        rung(
            *(plain(grad).reshape(-1), factor, plain(input).reshape(-1), plain(target).reshape(-1)),
            *(gradient.reshape(-1) for gradient in both),
        )
        return both

    return whole


@implementation("mse_loss_backward", device="cpu", adds="NumPy: a pass for each operator")
@on_gradients
def mse_backward_numpy(grad, factor, x, target, of_x, of_target):
    np.subtract(x, target, out=of_x)
    of_x *= factor * grad
    np.negative(of_x, out=of_target)


@inner_njit()
def _gradient_part(arguments, task, who):
    grad, factor, x, target, of_x, of_target = arguments
    i, end = task * PART, min((task + 1) * PART, x.size)
    width, alone = lanes(x), grad.size == 1
    g = broadcast(grad[0] * factor)
    while i + width <= end:
        if not alone:
            g = factor * load(grad, i)
        gradient = g * (load(x, i) - load(target, i))
        store(of_x, i, gradient)
        store(of_target, i, -gradient)
        i += width
    while i < end:
        of_x[i] = factor * grad[0 if alone else i] * (x[i] - target[i])
        of_target[i] = -of_x[i]
        i += 1


@cached_njit()
def _gradients_by_team(arguments, tasks, threads, least, team):
    share(_gradient_part, arguments, tasks, threads, least, team)


@implementation("mse_loss_backward", device="cpu", adds="numba: both gradients in one pass, on all cores", public=True)
@on_gradients
def mse_backward_team(grad, factor, x, target, of_x, of_target):
    threads = 1 if x.size < ALONE else team.size()
    arguments = grad, factor, x, target, of_x, of_target
    _gradients_by_team(arguments, -(-x.size // PART), threads, x.size // 4, team.members())
