import triton
import triton.language as tl


# add
@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(a + i, inside) + tl.load(b + i, inside), inside)


# softmax
@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)  # a power of two, at least columns
    at = tl.program_id(0) * columns + j
    row = tl.load(x + at, j < columns, other=-float("inf"))
    weights = tl.exp(row - tl.max(row, 0))
    tl.store(out + at, weights / tl.sum(weights, 0), j < columns)


# matmul
@triton.jit
def matmul(a, b, c, m, n, k, T: tl.constexpr):
    rows = (tl.program_id(0) * T + tl.arange(0, T))[:, None]
    columns = (tl.program_id(1) * T + tl.arange(0, T))[None, :]
    total = tl.zeros((T, T), tl.float32)
    for begin in range(0, k, T):
        i = begin + tl.arange(0, T)[None, :]
        j = begin + tl.arange(0, T)[:, None]
        of_a = tl.load(a + rows * k + i, (rows < m) & (i < k), other=0)
        of_b = tl.load(b + j * n + columns, (j < k) & (columns < n), other=0)
        total = tl.dot(of_a, of_b, total, input_precision="ieee")
    tl.store(c + rows * n + columns, total, (rows < m) & (columns < n))


# end
