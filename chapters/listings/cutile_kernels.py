import cuda.tile as ct

WIDTH = ct.Constant[int]


# add
@ct.kernel
def add(a, b, out, T: WIDTH):
    i = ct.bid(0)
    total = ct.load(a, (i,), (T,)) + ct.load(b, (i,), (T,))
    ct.store(out, (i,), total)  # what lies outside is left out


# softmax
@ct.kernel
def softmax(x, out, T: WIDTH):  # a power of two, at least the columns
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, T), padding_mode=ct.PaddingMode.NEG_INF)
    weights = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(out, (i, 0), weights / ct.sum(weights, axis=1, keepdims=True))


# matmul
@ct.kernel
def matmul(a, b, c, T: WIDTH):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((T, T), 0, ct.float32)
    for k in range(ct.num_tiles(a, 1, (T, T))):
        of_a = ct.load(a, (i, k), (T, T), padding_mode=ct.PaddingMode.ZERO)
        of_b = ct.load(b, (k, j), (T, T), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(of_a, of_b, total)
    ct.store(c, (i, j), total)


# end
