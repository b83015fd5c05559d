"""Strassen's product: seven products of quarters where the definition has eight.

Volker Strassen, Gaussian Elimination is not Optimal (Numerische Mathematik 13, 1969), in Winograd's form with 15
additions of quarters::

    [a11 a12] [b11 b12]      s1 = a21 + a22    t1 = b12 - b11    p1 = a11 b11    p5 = s1 t1
    [a21 a22] [b21 b22]      s2 = s1 - a11     t2 = b22 - t1     p2 = a12 b21    p6 = s2 t2
                             s3 = a11 - a21    t3 = b22 - b12    p3 = s4 b22     p7 = s3 t3
                             s4 = a12 - s2     t4 = t2 - b21     p4 = a22 t4

    c11 = p1 + p2      c12 = p1 + p6 + p5 + p3      c21 = p1 + p6 + p7 - p4      c22 = p1 + p6 + p7 + p5

Each level saves an eighth of the multiplications. It pays where a product of quarters takes far longer than adding
them, which are passes over memory, and it costs accuracy: the error grows with the size of the whole matrix, not
of each row and column, and an Inf or NaN spreads to elements that the definition keeps clear of it.
"""

import numpy as np

from ..implementations import implementation
from .batch import batched
from .cpu import matmul_parallel

LEAST = 1024  # smallest side of a quarter that is worth seven instead of eight products


@implementation(
    "matmul_strassen",
    device="cpu",
    adds="seven products of quarters instead of eight, on top of the fastest product",
    limits=(
        "less accurate for elements of very different size; Inf and NaN spread; sides under 2048 are multiplied as "
        "usual"
    ),
    public=True,
)
@batched
def strassen(a, b, out):
    (m, k), n = a.shape, b.shape[1]
    if min(m, k, n) < 2 * LEAST:
        return matmul_parallel(a, b, out)
    m2, k2, n2 = m // 2, k // 2, n // 2
    a11, a12, a21, a22 = a[:m2, :k2], a[:m2, k2 : 2 * k2], a[m2 : 2 * m2, :k2], a[m2 : 2 * m2, k2 : 2 * k2]
    b11, b12, b21, b22 = b[:k2, :n2], b[:k2, n2 : 2 * n2], b[k2 : 2 * k2, :n2], b[k2 : 2 * k2, n2 : 2 * n2]
    c11, c12, c21, c22 = (out[:m2, :n2], out[:m2, n2 : 2 * n2], out[m2 : 2 * m2, :n2], out[m2 : 2 * m2, n2 : 2 * n2])
    s, t, p = np.empty((m2, k2), a.dtype), np.empty((k2, n2), a.dtype), np.empty((m2, n2), a.dtype)

    def multiply(x, y, into):
        strassen.__wrapped__(x, y, into)

    # In this order one place for s, one for t and one for a product suffice.
    multiply(np.subtract(a11, a21, out=s), np.subtract(b22, b12, out=t), c21)  # p7
    multiply(np.add(a21, a22, out=s), np.subtract(b12, b11, out=t), c22)  # s1, t1: p5
    np.subtract(s, a11, out=s)  # s2
    np.subtract(b22, t, out=t)  # t2
    multiply(s, t, c12)  # p6
    multiply(a11, b11, p)  # p1
    c12 += p  # p1 + p6
    c21 += c12  # p1 + p6 + p7
    np.subtract(a12, s, out=s)  # s4
    np.subtract(t, b21, out=t)  # t4
    c12 += c22  # p1 + p6 + p5
    c22 += c21  # p1 + p6 + p7 + p5
    multiply(a22, t, c11)  # p4
    c21 -= c11
    multiply(s, b22, c11)  # p3
    c12 += c11
    multiply(a12, b21, c11)  # p2
    c11 += p
    # An odd row, column or inner index is left over.
    if k % 2:
        out[: 2 * m2, : 2 * n2] += a[: 2 * m2, -1:] * b[-1:, : 2 * n2]
    if n % 2:
        matmul_parallel(a, b[:, -1:], out[:, -1:])
    if m % 2:
        matmul_parallel(a[-1:], b, out[-1:])
    return out
