"""Linear layers of few bytes on the CPU: a codebook, a hash, two thin factors.

The ladder of linear_codebook      what the rung adds
    linear_codebook_numpy      NumPy: the whole weight, looked up, then a product
    linear_codebook_compiled   numba: a number is looked up where it is multiplied
    linear_codebook_vectors    a piece of a row is looked up, then multiplied by vectors; a byte of two codes is one
                               index, of a table of pairs; all cores

The ladder of linear_hashed        what the rung adds
    linear_hashed_numpy        NumPy: the whole weight, then a product
    linear_hashed_vectors      numba: a piece of a row is hashed by vectors, picked, and multiplied; all cores

The ladder of linear_low_rank      what the rung adds
    linear_low_rank_products   two products of matrices: nothing of the size of the full weight
    linear_low_rank_fused      few rows: both in one call, by vectors; all cores
"""

import functools
import math

import numpy as np

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..matrix import linear
from ..matrix.few import TOGETHER, some_columns
from ..simd import lanes, vector_width
from ..simd.cache import cached_njit
from ..simd.dot import dot
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .hashing import GOLDEN, mixed

PIECE = 1024  # numbers of a row of weight that are made at once: they fit the nearest cache
EACH = 16  # outputs of a task
ALONE = 1 << 17  # products below which waking another thread costs more than it gains
FEW = 3  # rows up to which two thin products run as one; a product of more loads a number for several rows
DOTS = 1 << 11  # dots that are shorter than a vector and cost less than a second call

f32, u8, u32, u64 = np.float32, np.uint8, np.uint32, np.uint64
mix = inner_njit(forceinline=True)(mixed)


def on_rows(rung):
    """Let `rung(x (rows, in), *rest, out (rows, out))` take inputs of any shape; add the bias."""

    @functools.wraps(rung)
    def wrapper(bias, input, *rest):
        *rest, out = rest
        if out.size:
            rows = out.size // out.shape[-1]
            if input.size:
                rung(plain(input).reshape(rows, input.shape[-1]), *rest, out.reshape(rows, -1))
            else:
                out[...] = 0
            if bias is not None:
                out += bias
        return out

    return wrapper


def by_outputs(part, arguments, x, outputs):
    """Run the tasks of `part`, a compiled function, each with some of the outputs."""
    work = x.size * outputs
    part(arguments, -(-outputs // EACH), 1 if work < ALONE else team.size(), work // 8, team.members())


# ---- a codebook ------------------------------------------------------------------------------------------------------


def table_of(codebook, packed):
    """All levels that a code may name; NaN where the codebook ends."""
    table = np.full(16 if packed else 256, np.nan, f32)
    table[: codebook.size] = codebook
    return table


@implementation(
    "linear_codebook", device="cpu", adds="NumPy: the whole weight, looked up, then a product", dtypes=("float32",)
)
@on_rows
def linear_codebook_numpy(x, weight, codebook, packed, scale, group, out):
    if packed:
        weight = np.stack([weight & u8(15), weight >> u8(4)], axis=-1).reshape(len(weight), -1)[:, : x.shape[1]]
    numbers = table_of(codebook, packed)[weight]
    if scale is not None:
        numbers *= np.repeat(scale, group, axis=1)[:, : x.shape[1]]
    np.matmul(x, numbers.T, out=out)


@cached_njit()
def _looked_up(x, weight, table, packed, scale, group, out):
    for row in range(x.shape[0]):
        for o in range(weight.shape[0]):
            total = f32(0)
            for g in range(scale.shape[1]):
                part = f32(0)
                for k in range(g * group, min((g + 1) * group, x.shape[1])):
                    code = weight[o, k // 2] >> u8(4 * (k % 2)) & u8(15) if packed else weight[o, k]
                    part += x[row, k] * table[code]
                total += part * scale[o, g]
            out[row, o] = total


def scales_of(scale, weight):
    """Scales as rungs take them: where there are none, each row has a 1."""
    return np.ones((len(weight), 1), f32) if scale is None else plain(scale)


@implementation(
    "linear_codebook", device="cpu", adds="numba: a number is looked up where it is multiplied", dtypes=("float32",)
)
@on_rows
def linear_codebook_compiled(x, weight, codebook, packed, scale, group, out):
    _looked_up(x, plain(weight), table_of(codebook, packed), packed, scales_of(scale, weight), group, out)


@inner_njit()
def look_up(codes, table, numbers):
    for j in range(codes.size):
        numbers[j] = table[codes[j]]


@inner_njit()
def _codebook_task(arguments, task, who):
    x, weight, table, packed, scale, group, out = arguments
    rows, length = x.shape
    outputs, width = weight.shape
    shared = np.empty(PIECE // 2, np.float64)
    inputs, codes, levels, single = memory(x), memory(weight), memory(table), table.view(f32)
    for o in range(task * EACH, min((task + 1) * EACH, outputs)):
        for row in range(rows):
            out[row, o] = f32(0)
        for start in range(0, length, PIECE):
            stop, pairs = min(start + PIECE, length), memory(shared)
            numbers = memory(shared.view(f32))
            if packed:
                look_up(codes[o * width + start // 2 : o * width + (stop + 1) // 2], levels, pairs)
            else:
                look_up(codes[o * width + start : o * width + stop], single, numbers)
            begin = start
            while begin < stop:
                g = begin // group
                end, factor = min(stop, (g + 1) * group), scale[o, g]
                for row in range(rows):
                    part = dot(inputs, row * length + begin, numbers, begin - start, end - begin)
                    out[row, o] += part * factor
                begin = end


@cached_njit()
def _codebook_by_team(arguments, tasks, threads, least, team):
    share(_codebook_task, arguments, tasks, threads, least, team)


def pairs_of(table):
    """For each byte the two levels that it names, as one float64: bits that are moved, never a number."""
    both = np.empty((256, 2), f32)
    both[:, 0], both[:, 1] = np.tile(table, 16), np.repeat(table, 16)
    return both.view(np.float64).reshape(256)


@implementation(
    "linear_codebook",
    device="cpu",
    adds="a piece of a row is looked up, by bytes of two codes, then multiplied by vectors; all cores",
    dtypes=("float32",),
    public=True,
)
@on_rows
def linear_codebook_vectors(x, weight, codebook, packed, scale, group, out):
    table = table_of(codebook, packed)
    table = pairs_of(table) if packed else table.view(np.float64)
    arguments = x, plain(weight), table, packed, scales_of(scale, weight), group, out
    by_outputs(_codebook_by_team, arguments, x, len(weight))


# ---- a hash ----------------------------------------------------------------------------------------------------------


def hashed(weight, seed, outputs, inputs):
    """(the index of the shared weight at each place, its sign): (outputs, inputs), in NumPy."""
    of_row = mixed(np.arange(outputs, dtype=u32) * GOLDEN + u32(seed))
    words = mixed(of_row[:, None] + np.arange(inputs, dtype=u32) * GOLDEN)
    return (words.astype(u64) * u64(weight.size) >> u64(32)).astype(np.int64), 1 - 2 * (words & u32(1)).astype(np.int8)


@implementation("linear_hashed", device="cpu", adds="NumPy: the whole weight, then a product")
@on_rows
def linear_hashed_numpy(x, weight, seed, out):
    index, sign = hashed(weight, seed, out.shape[1], x.shape[1])
    np.matmul(x, (weight[index] * sign).T, out=out)


@inner_njit()
def pick(weight, of_row, start, places, numbers):
    """The weights at columns `start` and behind it. places: room for the hashes; as many as numbers."""
    count = u64(weight.size)
    for j in range(numbers.size):
        places[j] = mix(u32(of_row + u32(u32(start + j) * GOLDEN)))
    for j in range(numbers.size):
        number = weight[u64(places[j]) * count >> u64(32)]
        numbers[j] = -number if places[j] & u32(1) else number


@inner_njit()
def _hashed_task(arguments, task, who):
    x, weight, seed, out = arguments
    rows, length = x.shape
    inputs, places, room = memory(x), np.empty(PIECE, u32), np.empty(PIECE, x.dtype)
    for o in range(task * EACH, min((task + 1) * EACH, out.shape[1])):
        of_row = mix(u32(u32(u32(o) * GOLDEN) + seed))
        for row in range(rows):
            out[row, o] = x.dtype.type(0)
        for start in range(0, length, PIECE):
            size = min(PIECE, length - start)
            numbers = memory(room)[:size]
            pick(weight, of_row, start, memory(places), numbers)
            for row in range(rows):
                out[row, o] += dot(inputs, row * length + start, numbers, 0, size)


@cached_njit()
def _hashed_by_team(arguments, tasks, threads, least, team):
    share(_hashed_task, arguments, tasks, threads, least, team)


@implementation(
    "linear_hashed",
    device="cpu",
    adds="numba: a piece of a row is hashed by vectors, picked, and multiplied; all cores",
    public=True,
)
@on_rows
def linear_hashed_vectors(x, weight, seed, out):
    by_outputs(_hashed_by_team, (x, plain(weight), u32(seed), out), x, out.shape[1])


@implementation("linear_hashed_backward", device="cpu", adds="NumPy: the whole weight and its gradient")
def linear_hashed_backward_numpy(seed, bias, grad, input, weight):
    rows = math.prod(input.shape[:-1])
    lines, arrived = input.reshape(rows, input.shape[-1]), grad.reshape(rows, grad.shape[-1])
    index, sign = hashed(weight, seed, arrived.shape[1], lines.shape[1])
    of_input = (arrived @ (weight[index] * sign)).reshape(input.shape).astype(weight.dtype)
    of_weight = np.bincount(index.reshape(-1), ((arrived.T @ lines) * sign).reshape(-1), weight.size).astype(
        weight.dtype
    )
    return (of_input, of_weight) if bias is None else (of_input, of_weight, arrived.sum(axis=0))


@cached_njit()
def _hashed_gradients(grad, x, weight, seed, of_x, of_weight):
    rows, length = x.shape
    places, room, of_row = np.empty(PIECE, u32), np.empty(PIECE, x.dtype), np.empty(PIECE, x.dtype)
    count = u64(weight.size)
    for o in range(grad.shape[1]):
        begin = mix(u32(u32(u32(o) * GOLDEN) + seed))
        for start in range(0, length, PIECE):
            size = min(PIECE, length - start)
            numbers, sums = room[:size], of_row[:size]
            pick(weight, begin, start, places, numbers)
            for j in range(size):
                sums[j] = 0
            for row in range(rows):
                g, line, target = grad[row, o], x[row, start : start + size], of_x[row, start : start + size]
                for j in range(size):
                    sums[j] += g * line[j]
                    target[j] += g * numbers[j]
            for j in range(size):
                of_weight[u64(places[j]) * count >> u64(32)] += -sums[j] if places[j] & u32(1) else sums[j]


@implementation(
    "linear_hashed_backward",
    device="cpu",
    adds="numba: a piece of a row's gradient is summed, then added where its weights are; places are hashed again",
    limits="one thread: two rows share weights",
    public=True,
)
def linear_hashed_backward_pieces(seed, bias, grad, input, weight):
    rows = math.prod(input.shape[:-1])
    arrived = plain(grad).reshape(rows, grad.shape[-1])
    of_input, of_weight = np.zeros((*input.shape,), weight.dtype), np.zeros(weight.shape, weight.dtype)
    if grad.size and input.size:
        lines = plain(input).reshape(rows, input.shape[-1])
        _hashed_gradients(arrived, lines, plain(weight), u32(seed), of_input.reshape(lines.shape), of_weight)
    return (of_input, of_weight) if bias is None else (of_input, of_weight, arrived.sum(axis=0))


# ---- two thin factors ------------------------------------------------------------------------------------------------


@implementation(
    "linear_low_rank", device="cpu", adds="two products of matrices: nothing of the size of the full weight"
)
def linear_low_rank_products(bias, input, u, v, out):
    return linear(linear(input, v), u, bias, None, out)


@inner_njit()
def _lines_task(arguments, task, who):
    x, weight, out = arguments
    rows, length = x.shape
    inputs, lines = memory(x), memory(weight)
    for o in range(task * EACH, min((task + 1) * EACH, weight.shape[0])):
        line = lines[o * length : (o + 1) * length]
        for row in range(rows):
            out[row, o] = dot(inputs, row * length, line, 0, length)


@inner_njit()
def _product(x, weight, out, threads, least, team):
    """out = x weight^T."""
    if weight.shape[1] >= lanes(x):
        columns = TOGETHER * max(1, len(weight) // (4 * threads * TOGETHER))
        share(some_columns, (x, weight, out, columns), -(-len(weight) // columns), threads, least, team)
    else:
        share(_lines_task, (x, weight, out), -(-len(weight) // EACH), threads, least, team)


@cached_njit()
def _fused(x, u, v, hidden, out, threads, least, team):
    _product(x, v, hidden, threads, least, team)
    _product(hidden, u, out, threads, least, team)


@implementation(
    "linear_low_rank",
    device="cpu",
    adds="few rows: both products in one call, by vectors; all cores",
    limits="more than 3 rows, and many outputs of a rank below a vector's width, take the first rung",
    public=True,
)
def linear_low_rank_fused(bias, input, u, v, out):
    rows = out.size // max(out.shape[-1], 1)
    if rows > FEW or (out.size > DOTS and len(v) < vector_width(u.dtype)) or not input.size or not u.size:
        return linear_low_rank_products(bias, input, u, v, out)
    work = rows * (u.size + v.size)
    hidden = new((rows, len(v)), u.dtype)
    x, result = plain(input).reshape(rows, input.shape[-1]), out.reshape(rows, -1)
    threads = 1 if work < ALONE else team.size()
    _fused(x, plain(u), plain(v), hidden, result, threads, work // 16, team.members())
    if bias is not None:
        out += bias
    return out
