from std.math import exp
from max.gpu import barrier, block_idx, global_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.memory import AddressSpace
from max.gpu.primitives import warp
from layout import TileTensor, row_major
from layout.tile_tensor import stack_allocation

comptime f32 = DType.float32
comptime Vector = TileTensor[f32, type_of(row_major(1)), MutAnyOrigin]
comptime Matrix = TileTensor[f32, type_of(row_major(1, 1)), MutAnyOrigin]

# add
def add(a: Vector, b: Vector, result: Vector):
    var i = global_idx.x
    if i < Int(result.dim[0]()):
        result[i] = a[i] + b[i]

# softmax
def softmax(x: Matrix, result: Matrix):
    var row, columns = block_idx.x, Int(x.dim[1]())    # a warp, a row
    var largest = Float32.MIN
    for j in range(thread_idx.x, columns, 32):
        largest = max(largest, x[row, j])
    largest = warp.max(largest)
    var total = Float32(0)
    for j in range(thread_idx.x, columns, 32):
        total += exp(x[row, j] - largest)
    total = warp.sum(total)
    for j in range(thread_idx.x, columns, 32):
        result[row, j] = exp(x[row, j] - largest) / total

# matmul
comptime T = 16

def matmul(a: Matrix, b: Matrix, c: Matrix):
    var m, n, k = Int(c.dim[0]()), Int(c.dim[1]()), Int(a.dim[1]())
    comptime shared = stack_allocation[f32, address_space=AddressSpace.SHARED]
    var of_a = shared(row_major[T, T]())
    var of_b = shared(row_major[T, T]())
    var x, y = thread_idx.x, thread_idx.y
    var row, column = block_idx.y * T + y, block_idx.x * T + x
    var total = Float32(0)
    for begin in range(0, k, T):
        var i, j = begin + x, begin + y
        of_a[y, x] = a[row, i] if row < m and i < k else 0
        of_b[y, x] = b[j, column] if j < k and column < n else 0
        barrier()
        for e in range(T):
            total += of_a[y, e] * of_b[e, x]
        barrier()
    if row < m and column < n:
        c[row, column] = total

# end
def main() raises:
    var ctx = DeviceContext()
    var a = ctx.enqueue_create_buffer[f32](100)
    var b = ctx.enqueue_create_buffer[f32](100)
    var c = ctx.enqueue_create_buffer[f32](100)
    var line, table = row_major(100), row_major(10, 10)
    ctx.enqueue_function[add](
        TileTensor(a, line),
        TileTensor(b, line),
        TileTensor(c, line),
        grid_dim=1,
        block_dim=128,
    )
    ctx.enqueue_function[softmax](
        TileTensor(a, table), TileTensor(b, table), grid_dim=10, block_dim=32
    )
    ctx.enqueue_function[matmul](
        TileTensor(a, table),
        TileTensor(b, table),
        TileTensor(c, table),
        grid_dim=1,
        block_dim=(T, T),
    )
    ctx.synchronize()
