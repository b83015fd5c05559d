"""Where a token stands, as numbers: sinusoidal encodings, which are added, and rotary ones, which turn queries and
keys.

A position p turns pair i of a width n by the angle p * base^(-2 i / n): the first pairs turn fast, the last ones
slowly. A sinusoidal encoding is the sines and cosines of these angles (Vaswani and others 2017). A rotary one turns
each pair of numbers of a query or key by its angle (Su and others 2021), so that the score of a query and a key depends
on how far apart they stand, and not on where.

Angles are computed in float64: in float32 a position of 10 000 would be wrong by a thousandth of a turn.
"""

import functools
import math

import numpy as np

from .. import team
from ..device import cuda, is_device_array
from ..host import plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .gpu_rows import MOST_BLOCKS, f32
from .rows import part_of, shared

THREADS = 128
KEPT = 1 << 18  # numbers of a table that is kept


def angles(positions, width, base):
    """The angle of each position and pair, in float64."""
    return np.multiply.outer(np.asarray(positions, np.float64), float(base) ** (-np.arange(0, width, 2) / width))


# ---- sinusoidal --------------------------------------------------------------------------------------------------


@implementation("sinusoidal_encoding", device="cpu", adds="sines and cosines of all angles, by NumPy", public=True)
def sinusoidal_encoding_numpy(width, base, positions):
    turned = angles(positions, width, base)
    out = np.empty((*positions.shape, width), positions.dtype)
    out[..., 0::2], out[..., 1::2] = np.sin(turned), np.cos(turned)[..., : width // 2]
    return out


# ---- rotary ------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _table(positions, dtype, width, base, sign, of_results):
    """`table` of positions that are bytes."""
    turned = angles(np.frombuffer(positions, dtype), width, base)
    return np.cos(turned).astype(of_results), (sign * np.sin(turned)).astype(of_results)


def table(positions, width, base, sign, of_results):
    """(cosines, sign * sines) of the angles, to be read only: all layers and heads of a model ask for the same ones,
    which take ten times as long as to turn by them."""
    make = _table if positions.size * width <= KEPT else _table.__wrapped__
    return make(positions.tobytes(), positions.dtype.str, width, float(base), sign, of_results)


def with_table(rung):
    """Let `rung(x, cosines, sines, interleaved, out)`, written for contiguous x (matrices, positions, width), take all
    x."""

    @functools.wraps(rung)
    def wrapper(positions, base, interleaved, sign, x):
        out = np.empty(x.shape, x.dtype)
        if out.size:
            length, width = x.shape[-2:]
            turned = table(positions, width, base, sign, x.dtype)
            rung(plain(x).reshape(-1, length, width), *turned, interleaved, out.reshape(-1, length, width))
        return out

    return wrapper


def halves(x, interleaved):
    """The first and the second numbers of all pairs, as views."""
    half = x.shape[-1] // 2
    return (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])


def rotary_numpy(x, cosines, sines, interleaved, out):
    (a, b), (first, second) = halves(x, interleaved), halves(out, interleaved)
    first[...] = a * cosines - b * sines
    second[...] = b * cosines + a * sines


@inner_njit(fastmath={"contract"})
def _turn_halves(a, b, c, s, first, second):
    for i in range(c.size):
        first[i] = a[i] * c[i] - b[i] * s[i]
        second[i] = b[i] * c[i] + a[i] * s[i]


@inner_njit(fastmath={"contract"})
def _turn_part(arguments, task, who):
    x, cosines, sines, apart, step, out, tasks = arguments
    length, half = cosines.shape
    first, last = part_of(task, tasks, x.shape[0] * length)
    for r in range(first, last):
        source, target, c, s = (
            x[r // length, r % length],
            out[r // length, r % length],
            cosines[r % length],
            sines[r % length],
        )
        if step == 1:
            _turn_halves(source[:half], source[half:], c, s, target[:half], target[half:])
            continue
        for i in range(half):
            a, b = source[i * step], source[i * step + apart]
            target[i * step] = a * c[i] - b * s[i]
            target[i * step + apart] = b * c[i] + a * s[i]


@cached_njit()
def _turn_shared(x, cosines, sines, apart, step, out, tasks, threads, least, team):
    share(_turn_part, (x, cosines, sines, apart, step, out, tasks), tasks, threads, least, team)


def rotary_shared(x, cosines, sines, interleaved, out):
    tasks, threads, least = shared(x.shape[0] * x.shape[1], x.shape[2])
    apart, step = (1, 2) if interleaved else (x.shape[2] // 2, 1)
    _turn_shared(x, cosines, sines, apart, step, out, tasks, threads, least, team.members())


@implementation("rotary_embedding", device="cpu", adds="the formula, by NumPy: four products and two sums, each a pass")
@with_table
def rotary_embedding_numpy(x, cosines, sines, interleaved, out):
    rotary_numpy(x, cosines, sines, interleaved, out)


@implementation(
    "rotary_embedding", device="cpu", adds="one pass: a pair is read once and written once; all cores", public=True
)
@with_table
def rotary_embedding_pass(x, cosines, sines, interleaved, out):
    rotary_shared(x, cosines, sines, interleaved, out)


@implementation(
    "rotary_embedding_backward", device="cpu", adds="the same turn in the other direction, in one pass", public=True
)
@with_table
def rotary_embedding_backward_pass(x, cosines, sines, interleaved, out):
    rotary_shared(x, cosines, sines, interleaved, out)


# ---- on a GPU ----------------------------------------------------------------------------------------------------


@cuda.jit
def turn_kernel(x, cosines, sines, apart, step, out):
    """One thread for each pair."""
    length, half = cosines.shape
    for e in range(cuda.grid(1), x.size // 2, cuda.gridsize(1)):
        row, i = e // half, e % half
        element, c, s = row * 2 * half + i * step, cosines[row % length, i], sines[row % length, i]
        a, b = x[element], x[element + apart]
        out[element] = a * c - b * s
        out[element + apart] = b * c + a * s


TURN = [(turn_kernel, ["void(float32[::1], float32[:, ::1], float32[:, ::1], int64, int64, float32[::1])"])]


def turned_there(positions, base, interleaved, sign, x):
    out = cuda.device_array(tuple(x.shape), f32)
    if x.size:
        where = positions.copy_to_host() if is_device_array(positions) else positions
        turned = [cuda.to_device(part) for part in table(where, tuple(x.shape)[-1], base, sign, np.dtype(f32))]
        apart, step = (1, 2) if interleaved else (tuple(x.shape)[-1] // 2, 1)
        blocks = min(math.ceil(x.size / 2 / THREADS), MOST_BLOCKS)
        turn_kernel[blocks, THREADS](x.reshape(x.size), *turned, apart, step, out.reshape(x.size))
    return out


PAIRS = "one thread for each pair; sines and cosines come from the host"


@implementation("rotary_embedding", "gpu", adds=PAIRS, dtypes=("float32",), kernels=TURN, public=True)
def rotary_embedding_pairs(positions, base, interleaved, sign, x):
    return turned_there(positions, base, interleaved, sign, x)


@implementation("rotary_embedding_backward", "gpu", adds=PAIRS, dtypes=("float32",), kernels=TURN, public=True)
def rotary_embedding_backward_pairs(positions, base, interleaved, sign, x):
    return turned_there(positions, base, interleaved, sign, x)
