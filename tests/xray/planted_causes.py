"""Small kernels with one cause each, of every kind, and with two. A cure is tried by rewriting a line as its sentence
says."""

import inspect
import textwrap
from dataclasses import dataclass

import numpy as np
from numba import float32, int32

from dlkernels import cuda
from dlkernels.async_copy import copy_async, wait_copies  # noqa: F401 (its cure waits)

ONE, TWO = [], []
N = 64


@dataclass(frozen=True)
class Planted:
    """kinds: one for each cause. lines: what each finding must name one of. mends: (old, new) texts that follow the
    cure's words, which ``says`` holds."""

    function: object
    kinds: tuple
    grid: object
    block: object
    arguments: tuple
    says: str
    mends: tuple
    shared_bytes: int

    @property
    def name(self):
        return self.function.__name__

    def fresh(self):
        return [a() if callable(a) else a for a in self.arguments]

    def marked(self):
        source, start = inspect.getsourcelines(self.function)
        first = next(k for k, line in enumerate(source) if line.startswith("def "))
        return {start + k for k, line in enumerate(source) if "# BUG" in line and k > first}

    def mended(self, folder):
        """The kernel with its cure."""
        text = textwrap.dedent(inspect.getsource(self.function))
        text = text[text.index("def ") :]
        for old, new in self.mends:
            assert text.count(old) == 1, f"{self.name}: {old!r}"
            text = text.replace(old, new)
        file = folder / f"{self.name}.py"
        file.write_text(text, encoding="utf-8")
        names = dict(globals())
        exec(compile(text, str(file), "exec"), names)
        return cuda.jit(names[self.name])


def one(kind, block=N, grid=1, says="", mends=(), shared_bytes=0, *, args):
    return _put(ONE, (kind,), grid, block, args, says, mends, shared_bytes)


def two(kinds, block=N, grid=1, *, args):
    return _put(TWO, kinds, grid, block, args, "", (), 0)


def _put(register, kinds, grid, block, args, says, mends, shared_bytes):
    def put(function):
        register.append(Planted(function, kinds, grid, block, args, says, mends, shared_bytes))
        return function

    return put


def x(*shape):
    return lambda: (np.arange(np.prod(shape)) % 13 + 1).reshape(shape).astype(np.float32)


def z(*shape, dtype=np.float32):
    return lambda: np.zeros(shape, dtype)


def unset(n):
    return lambda: cuda.device_array(n, np.float32)


def few(n, count):
    return lambda: (np.arange(n) * 7 % count).astype(np.int32)


SYNC = "cuda.syncthreads()"


# -- a barrier that is missing --------------------------------------------------------------------------------------


@one("race", (8, 8), (2, 2), "between line", (("    for j in range(8):", f"    {SYNC}\n        for j in range(8):"),),
     args=(x(16, 16), x(16, 16), z(16, 16)))  # fmt: skip
def matmul_without_first_barrier(A, B, C):
    a, b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, 16, 8):
        a[ty, tx] = A[row, k + tx]  # BUG
        b[ty, tx] = B[k + ty, col]  # BUG
        for j in range(8):
            acc += a[ty, j] * b[j, tx]  # BUG
        cuda.syncthreads()
    C[row, col] = acc


@one("race", (8, 8), (2, 2), "at the end of the loop body",
     (("* b[j, tx]  # BUG\n", f"* b[j, tx]\n        {SYNC}\n"),), args=(x(16, 16), x(16, 16), z(16, 16)))  # fmt: skip
def matmul_without_last_barrier(A, B, C):
    a, b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, 16, 8):
        a[ty, tx] = A[row, k + tx]  # BUG
        b[ty, tx] = B[k + ty, col]  # BUG
        cuda.syncthreads()
        for j in range(8):
            acc += a[ty, j] * b[j, tx]  # BUG
    C[row, col] = acc


@one("race", says="at the end of the loop body", mends=(("        step //= 2", f"        {SYNC}\n        step //= 2"),),
     args=(x(N), z(1)))  # fmt: skip
def sum_without_barrier_in_its_loop(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # BUG
        step //= 2
    if t == 0:
        out[0] = s[0]


@one("race", says="Load into a variable first",
     mends=(("        s[t] = s[t - 1] + s[t + 1]  # BUG", "        v = s[t - 1] + s[t + 1]\n    cuda.syncthreads()\n"
             "    if 0 < t < 63:\n        s[t] = v"), ("    t = cuda.threadIdx.x", "    v = float32(0)\n    t = "
                                                                                   "cuda.threadIdx.x")),
     args=(x(N), z(N)))  # fmt: skip
def stencil_in_its_own_tile(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if 0 < t < 63:
        s[t] = s[t - 1] + s[t + 1]  # BUG
    cuda.syncthreads()
    y[t] = s[t]


@one("race", says="between line", mends=(("    right = float32(0)", f"    {SYNC}\n    right = float32(0)"),),
     args=(x(N), z(N)))  # fmt: skip
def halo_without_barrier(x, y):
    s, edge = cuda.shared.array(64, float32), cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    if t < 2:
        edge[t] = 2 * x[t]  # BUG
    right = float32(0)
    left = s[t - 1] if t > 0 else edge[0]  # BUG
    right = s[t + 1] if t < 63 else edge[1]  # BUG
    y[t] = left + right


@one("race", 32, says="(or cuda.syncwarp())", mends=(("  # BUG behind", "\n    cuda.syncwarp()"),), args=(x(32), z(32)))
def warp_without_syncwarp(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG behind
    y[t] = s[31 - t]  # BUG


@one("race", 32, 4, "cuda.cg.this_grid().sync()",
     (("# BUG behind", "\n    cuda.cg.this_grid().sync()"),), args=(x(128), z(128), z(128)))  # fmt: skip
def grid_barrier_missing_in_the_middle(x, part, y):
    i = cuda.grid(1)
    part[i] = x[i]  # BUG behind
    y[i] = part[127 - i]  # BUG
    cuda.cg.this_grid().sync()
    x[i] = y[127 - i]


@one("atomic-against-plain", says="between the plain access and the atomic one",
     mends=(("    cuda.atomic.add", "    cuda.syncthreads()\n    cuda.atomic.add"),), args=(few(N, 8), z(8, dtype=np.int32)))  # fmt: skip
def bins_counted_before_they_are_cleared(x, h):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0  # BUG
    cuda.atomic.add(s, x[t], 1)  # BUG
    cuda.syncthreads()
    if t < 8:
        h[t] = s[t]


# -- several threads at one element ---------------------------------------------------------------------------------


@one("race", says="cuda.atomic.add", mends=(("h[x[t]] += 1", "cuda.atomic.add(h, x[t], 1)"),),
     args=(few(N, 8), z(8, dtype=np.int32)))  # fmt: skip
def bins_without_atomics(x, h):
    t = cuda.threadIdx.x
    h[x[t]] += 1  # BUG


@one(
    "race",
    says="cuda.atomic.add",
    mends=(("    count = h[x[t]]  # BUG\n", ""), ("h[x[t]] = count + 1  # BUG", "cuda.atomic.add(h, x[t], 1)")),
    args=(few(N, 8), z(8, dtype=np.int32)),
)
def bins_in_two_steps(x, h):
    t = cuda.threadIdx.x
    count = h[x[t]]  # BUG
    h[x[t]] = count + 1  # BUG


@one("race", says="cuda.atomic.add",
     mends=(("y[r] += t  # BUG behind", "cuda.atomic.add(y, r, t)"), ("y[r] += t  # BUG last", "cuda.atomic.add(y, r, "
                                                                                               "t)")),
     args=(lambda: np.arange(448, dtype=np.int32) // 10, x(448), z(45)))  # fmt: skip
def rows_cut_between_threads(rows, values, y):
    first = 7 * cuda.threadIdx.x
    r, t = rows[first], float32(0)
    for k in range(first, first + 7):
        if rows[k] != r:
            y[r] += t  # BUG behind
            r, t = rows[k], float32(0)
        t += values[k]
    y[r] += t  # BUG last


@one("race", says="cuda.atomic.add",
     mends=(("    h[x[t]] += 1  # BUG", "    cuda.atomic.add(h, x[t], 1)"),), args=(few(N, 8), z(8, dtype=np.int32)))  # fmt: skip
def bins_half_of_them_atomic(x, h):
    t = cuda.threadIdx.x
    if t < 32:
        cuda.atomic.add(h, x[t], 1)
        return
    h[x[t]] += 1  # BUG


@one("race", (8, 8), says="an element of its own", mends=(("tile[ty, ty]", "tile[ty, tx]"),), args=(x(8, 8), z(8, 8)))
def wrong_column_of_a_tile(x, y):
    tile = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, ty] = x[ty, tx]  # BUG
    cuda.syncthreads()
    y[ty, tx] = tile[tx, ty]


@one(
    "race",
    32,
    4,
    "an element of its own",
    (("y[t] = ", "y[i] = "), ("z[t] = ", "z[i] = ")),
    args=(x(128), z(128), z(128)),
)
def block_forgotten_in_the_index(x, y, z):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    y[t] = x[i]  # BUG
    z[t] = 2 * x[i]  # BUG


@one("race", says="let one thread store", mends=(("    last[0] = x[t]", "    if t == 63:\n        last[0] = x[t]"),),
     args=(x(N), z(N)))  # fmt: skip
def everybody_stores_the_last(x, y):
    last = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    last[0] = x[t]  # BUG
    cuda.syncthreads()
    y[t] = last[0]


@one("race", 32, 4, "must read atomically",
     (("while flag[0] == 0", "while cuda.atomic.add(flag, 0, 0) == 0"), ("flag[0] = 1", "cuda.atomic.exch(flag, 0, 1)")),
     args=(x(4), z(2), z(1, dtype=np.int32), z(2)))  # fmt: skip
def flag_that_is_plain(x, part, flag, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            part[0] = x[0]  # BUG
            part[1] = x[1]  # BUG
            cuda.threadfence()
            flag[0] = 1  # BUG
        elif cuda.blockIdx.x == 1:
            while flag[0] == 0:  # BUG
                pass
            cuda.threadfence()
            out[0] = part[0]  # BUG
            out[1] = part[1]  # BUG


@one("race", 32, 4, args=(x(4), z(1), z(1), z(1, dtype=np.int32)))
def lock_given_back_without_a_fence(x, total, most, lock):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += x[cuda.blockIdx.x]  # BUG
        most[0] += 2 * x[cuda.blockIdx.x]  # BUG
        cuda.atomic.exch(lock, 0, 0)


# -- indices --------------------------------------------------------------------------------------------------------


@one("out-of-bounds", 32, 2, "Guard the access", (("    v = x[i]", "    if i >= x.shape[0]:\n        return\n    v = "
                                                                   "x[i]"),),
     args=(x(50), z(50), z(50)))  # fmt: skip
def guard_forgotten(x, y, z):
    i = cuda.grid(1)
    v = x[i]  # BUG
    y[i] = v  # BUG
    z[i] = 2 * v  # BUG


@one("out-of-bounds", says="Guard the access", mends=(("s[t + 1] = ", "s[t] = "),), args=(x(N), z(N)))
def tile_filled_from_one_on(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]  # BUG
    cuda.syncthreads()
    y[t] = s[t]


@one("negative-index", 32, says="shift the index", mends=(("x[t - 1]", "x[max(t - 1, 0)]"),), args=(x(32), z(32)))
def left_of_the_first(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t - 1]  # BUG


@one("out-of-bounds", 32, says="ask for more", mends=(("cuda.shared.array(0, float32)", "cuda.shared.array(32, "
                                                                                        "float32)"),),
     shared_bytes=64, args=(x(32), z(32)))  # fmt: skip
def too_little_dynamic_memory(x, y):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    cuda.syncthreads()
    y[t] = s[31 - t]  # BUG


@one("uninitialised-shared", 32, says="Store to every element",
     mends=(("    k = place[t]", "    place[t] = t\n    cuda.syncthreads()\n    k = place[t]"),), args=(x(32), z(32)))  # fmt: skip
def place_taken_from_nowhere(x, y):
    """The places are never stored, so the indices are nonsense."""
    place = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    k = place[t]  # BUG
    y[t] = x[k]


# -- memory that nobody has written ---------------------------------------------------------------------------------


@one(
    "uninitialised-shared",
    says="Store to every element",
    mends=(("    cuda.atomic.add", "    if t < 8:\n        s[t] = 0\n    cuda.syncthreads()\n    cuda.atomic.add"),),
    args=(few(N, 8), z(8, dtype=np.int32)),
)
def bins_never_cleared(x, h):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(s, x[t], 1)  # BUG
    cuda.syncthreads()
    if t < 8:
        h[t] = s[t]  # BUG


@one("uninitialised-local", 32, says="store to every element", mends=(("    for k in range(32):", "    for k in "
                                                                                                  "range(4):\n        "
                                                                                                  "sums[k] = 0\n"
     "    for k in range(32):"),), args=(x(32), z(32)))  # fmt: skip
def sums_begun_with_garbage(x, y):
    t = cuda.threadIdx.x
    sums = cuda.local.array(4, float32)
    for k in range(32):
        sums[k % 4] += x[k]  # BUG
    y[t] = sums[0] + sums[1] + sums[t % 4]


@one("uninitialised-global", 32, says="store to every element", mends=(("    y[t] += 1", "    y[t] = 0\n    y[t] += 1"),),
     args=(unset(32), z(32)))  # fmt: skip
def result_added_to_garbage(y, out):
    t = cuda.threadIdx.x
    y[t] += 1  # BUG
    out[t] = y[31 - t] if t == 100 else y[t]


@one("unfinished-copy", 32, says="Wait for copies", mends=(("    cuda.syncthreads()", "    wait_copies()\n    "
                                                                                      "cuda.syncthreads()"),),
     args=(x(128), z(32)))  # fmt: skip
def copy_not_waited_for(x, y):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    copy_async(tile, (t, 0), x, 4 * t, True)
    cuda.syncthreads()
    y[t] = tile[31 - t, 0] + tile[31 - t, 1]  # BUG


# -- threads that go different ways ---------------------------------------------------------------------------------


@one("divergent-barrier", says="Move cuda.syncthreads() out of the branch",
     mends=(("    if t < 32:\n        cuda.syncthreads()", "    cuda.syncthreads()"),), args=(x(N), z(N)))  # fmt: skip
def barrier_in_a_branch(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 32:
        cuda.syncthreads()  # BUG
    y[t] = s[63 - t]
    cuda.syncthreads()  # BUG
    s[t] = y[t]


@one("barrier-after-exit", 32, 2, "put the thread's work under `if`",
     (("    if i >= x.shape[0]:\n        return\n    s[t] = x[i]", "    s[t] = x[i] if i < x.shape[0] else float32(0)"),
      ("    y[i] =", "    if i < x.shape[0]:\n        y[i] =")), args=(x(50), z(50)))  # fmt: skip
def return_before_the_barrier(x, y):
    s = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= x.shape[0]:
        return
    s[t] = x[i]
    cuda.syncthreads()  # BUG
    y[i] = s[31 - t]


@one(
    "race",
    says="between the two",
    mends=(("    if limit[0] < t:", "    cuda.syncthreads()\n    if limit[0] < t:"),),
    args=(x(N), z(N)),
)
def limit_read_before_it_is_there(x, y):
    """The race decides who returns before the barrier."""
    limit = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        limit[0] = 64  # BUG
    if limit[0] < t:  # BUG
        return
    cuda.syncthreads()
    y[t] = x[t]


@one("inactive-lane-read", 32, says="Have every lane call", mends=(("    if t >= 20:\n        return\n", ""),),
     args=(x(32), z(32)))  # fmt: skip
def sum_after_lanes_left(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    if t >= 20:
        return
    v += cuda.shfl_down_sync(0xFFFFFFFF, v, 16)  # BUG
    v += cuda.shfl_down_sync(0xFFFFFFFF, v, 8)  # BUG
    v += cuda.shfl_down_sync(0xFFFFFFFF, v, 4)  # BUG
    y[t] = v


@one("lane-not-in-mask", 32, says="0xffffffff names all 32", mends=(("0x0000FFFF", "0xFFFFFFFF"),), args=(x(32), z(32)))
def mask_of_the_lower_half(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 1)  # BUG


@one("divergent-warp-operation", 32, says="Move the warp operation out of the branch",
     mends=(("    if t < 16:\n", "    w = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)\n    v = "
                                 "cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)\n    if t < 16:\n"),
            ("y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)  # BUG", "y[t] = v"),
            ("y[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)  # BUG", "y[t] = w")), args=(x(32), z(32)))  # fmt: skip
def a_shuffle_for_each_half(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)  # BUG
    else:
        y[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)  # BUG


@one("waits-for-ever", 32, 2, "who should set it", (("cuda.blockIdx.x == 2", "cuda.blockIdx.x == 0"),),
     args=(x(4), z(1, dtype=np.int32), z(1)))  # fmt: skip
def flag_of_a_block_that_is_not_there(x, flag, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 2:
            cuda.atomic.exch(flag, 0, 1)
        if cuda.blockIdx.x == 1:
            while cuda.atomic.add(flag, 0, 0) == 0:  # BUG
                pass
            out[0] = x[0]


# -- two causes -----------------------------------------------------------------------------------------------------


@two(("race", "race"), (8, 8), args=(x(8, 16), z(8, 8)))
def no_barrier_in_the_loop(x, y):
    s = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k in range(0, 16, 8):
        s[ty, tx] = x[ty, k + tx]  # BUG
        for j in range(8):
            acc += s[j, tx]  # BUG
    y[ty, tx] = acc


@two(("race", "race"), args=(few(N, 8), z(8, dtype=np.int32), z(N)))
def bins_and_a_barrier(x, h, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    h[x[t]] += 1  # BUG
    s[t] = x[t]  # BUG
    y[t] = s[63 - t]  # BUG


@two(("out-of-bounds", "race"), args=(x(N), z(N)))
def neighbour_and_a_barrier(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t + 1]  # BUG
    y[t] = s[63 - t]  # BUG


@two(("uninitialised-shared", "race"), args=(x(N), z(N)))
def halo_and_a_barrier(x, y):
    s, edge = cuda.shared.array(64, float32), cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    y[t] = s[t - 1] if t > 0 else edge[0]  # BUG


@two(("divergent-barrier", "race"), args=(x(N), z(N)))
def barrier_in_a_branch_and_a_race_before(x, y):
    s, r = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    r[t] = x[t]  # BUG
    s[t] = r[63 - t]  # BUG
    if t < 32:
        cuda.syncthreads()  # BUG
    y[t] = s[t]
    cuda.syncthreads()  # BUG


@two(("race", "race"), args=(x(N), z(N), z(N)))
def two_barriers(x, y, z):
    s, r = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    y[t] = s[63 - t]  # BUG
    cuda.syncthreads()
    r[t] = 2 * x[t]  # BUG
    z[t] = r[63 - t]  # BUG


@two(("race", "race"), args=(few(N, 8), z(8, dtype=np.int32), z(1)))
def two_updates(x, h, total):
    t = cuda.threadIdx.x
    h[x[t]] += 1  # BUG
    total[0] += x[t]  # BUG


@two(("race", "race"), args=(few(N, 8), z(8)))
def updates_in_two_branches(x, h):
    t = cuda.threadIdx.x
    if t % 2:
        h[x[t]] += 1  # BUG
    else:
        h[x[t]] -= 1  # BUG


@two(("race", "race"), args=(few(N, 8), z(8), z(N)))
def update_of_what_is_not_cleared_yet(x, h, y):
    t = cuda.threadIdx.x
    if t < 8:
        h[t] = 0
    h[x[t]] += 1  # BUG


@two(("race", "race"), args=(few(N, 8), z(8), z(N)))
def update_and_its_sum_read_early(x, h, y):
    t = cuda.threadIdx.x
    h[x[t]] += 1  # BUG
    y[t] = h[x[t]]  # BUG


@two(("out-of-bounds", "negative-index"), 32, args=(x(32), z(32)))
def both_neighbours(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t - 1]  # BUG
    y[t] += x[t + 1]  # BUG


@two(("uninitialised-shared", "uninitialised-local"), 32, args=(x(32), z(32)))
def two_arrays_of_garbage(x, y):
    s, sums = cuda.shared.array(32, float32), cuda.local.array(2, float32)
    t = cuda.threadIdx.x
    y[t] = s[t]  # BUG
    y[t] += sums[0]  # BUG


@two(("inactive-lane-read", "race"), 32, args=(x(32), z(32), z(1)))
def lanes_left_and_a_sum(x, y, total):
    t = cuda.threadIdx.x
    total[0] += x[t]  # BUG
    if t < 20:
        y[t] = cuda.shfl_down_sync(0x000FFFFF, x[t], 1)  # BUG


@two(("barrier-after-exit", "out-of-bounds"), 32, 2, args=(x(50), z(50)))
def return_and_a_wrong_index(x, y):
    s = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= x.shape[0]:
        return
    y[i] = x[i + 1]  # BUG
    cuda.syncthreads()  # BUG
    s[t] = x[i]
