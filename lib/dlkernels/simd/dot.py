"""The product of two lines of memory, two vectors of sums at a time."""

from .inner import inner_njit
from .memory import lanes, load
from .vector import broadcast, fma, reduce_add


@inner_njit()
def dot(a, a_start, b, b_start, n):
    """The sum of n products, of a from `a_start` on and b from `b_start` on."""
    width, i = lanes(a), 0
    sum0 = sum1 = broadcast(a.dtype.type(0))
    while i + 2 * width <= n:
        sum0 = fma(load(a, a_start + i), load(b, b_start + i), sum0)
        sum1 = fma(load(a, a_start + i + width), load(b, b_start + i + width), sum1)
        i += 2 * width
    if i + width <= n:
        sum0 = fma(load(a, a_start + i), load(b, b_start + i), sum0)
        i += width
    total = reduce_add(sum0 + sum1)
    while i < n:
        total += a[a_start + i] * b[b_start + i]
        i += 1
    return total
