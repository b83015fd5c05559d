"""What the chapters about GPUs count, put to the clock: one experiment for each claim. Part of ``make gpu-record``.

    launches   an empty kernel: queued, and waited for
    latency    one thread follows addresses through arrays of several sizes
    strides    lanes whose numbers stand `step` apart (chapter 6)
    records    arrays of structs and structs of arrays (6)
    banks      lanes that meet in `ways` ways (6.2)
    branches   lanes of a warp, or whole warps, that take different branches (6.4)
    flight     a copy by few and by many warps (5.2)
    waves      a matrix product with more and more tiles (8.5)
    races      kernels without an atomic, or without a barrier: how many of their results are wrong (6.4, 8.2)

Each kernel's result is checked, but for those of `races`, where it is what is measured. Times are the kernels' own
where PyTorch is there to read them, else those of events, which hold Python's queueing.
"""

from dataclasses import dataclass

import numpy as np
from gpu_timing import kernel_times
from numba import float32, int32, uint32

from dlkernels import cuda
from dlkernels.wide import load4

THREADS = 256
#: Places for threads on a multiprocessor, by compute capability, where it has fewer than 2048 (CUDA C++ Programming Guide).
THREADS_AT_ONCE = {(7, 5): 1024, (8, 6): 1536, (8, 7): 1536, (8, 9): 1536, (12, 0): 1536}


@dataclass(frozen=True)
class Sizes:
    """How much of everything; TINY is for the executor."""

    numbers: int = 1 << 24
    hops: int = 1 << 14
    spans: tuple = tuple(1 << k for k in range(13, 31))  # bytes
    repeats: int = 1 << 12
    quarters: int = 32  # of the multiprocessors: as many numbers of tiles
    depth: int = 2048
    processors: int = 1 << 16  # at most
    runs: int = 50
    products: tuple = (32, 64, 128, 256, 512, 1024)
    texts: tuple = (64, 256, 1024, 4096)


TINY = Sizes(512, 8, (256, 1024), 4, 2, 8, 1, 2, (32,), (64,))


def measure(keep, event_times, sizes=None):
    """Run every experiment; each result goes to ``keep`` as a dict with "experiment", at once."""
    sizes = sizes or Sizes()
    for experiment in EXPERIMENTS:
        name = experiment.__name__
        try:
            for row in experiment(sizes, event_times):
                keep({"experiment": name, **row})
        except Exception as error:  # one that does not run must not hide the others
            keep({"experiment": name, "error": f"{type(error).__name__}: {error}"[:500]})


def seconds(found, event_times, rounds=7):
    """Name -> seconds of one call. All by one clock: it is an error if the profiler, where there is one, missed a
    candidate."""
    measured, _ = event_times(found, cuda, rounds=rounds)
    kernels = kernel_times(found, cuda)
    if kernels and set(kernels) != set(found):
        raise RuntimeError(f"the profiler did not see {', '.join(set(found) - set(kernels))}")
    return {name: kernels[name]["seconds"] for name in found} if kernels else measured.seconds


def same(got, expected, what):
    if not np.array_equal(got.copy_to_host(), expected):
        raise ArithmeticError(f"{what}: the result is wrong")


# ---- launches ----------------------------------------------------------------------------------------------


@cuda.jit
def nothing():
    pass


@cuda.jit
def nothing_of(a, b, c):
    pass


def launches(sizes, event_times):
    """An empty kernel, and one with three arrays as arguments: seconds of the host to queue it, and until it has
    ended."""
    there = [cuda.device_array(4, np.float32) for _ in range(3)]

    def waited(run):
        def wait():
            run()
            cuda.synchronize()

        return wait

    calls = {"no arguments": lambda: nothing[1, 1](), "three arrays": lambda: nothing_of[1, 1](*there)}
    for name, run in calls.items():
        measured, host = event_times({"queued": run, "waited": waited(run)}, cuda, rounds=7)
        kernel = kernel_times({"queued": run}, cuda).get("queued", {}).get("seconds")
        yield {
            "name": name,
            "queue_seconds": host["queued"],
            "wait_seconds": host["waited"],
            "each_seconds": measured.seconds["queued"],
            "kernel_seconds": kernel,
        }


# ---- memory ------------------------------------------------------------------------------------------------


@cuda.jit
def follow(following, hops, out):
    at = out[0]  # where the last call stopped
    for _ in range(hops):
        at = following[at]
    out[0] = at


def latency(sizes, event_times):
    """One thread reads an address, goes there, reads the next: nothing hides its waiting. Lines of 128 bytes, at
    random."""
    for span in sizes.spans:
        lines = max(2, span // 128)
        order = np.random.default_rng(0).permutation(lines)
        following = np.zeros(lines * 32, np.int32)
        following[order * 32] = np.roll(order, -1) * 32
        hops = max(sizes.hops, min(lines, 1 << 17))
        there, out = cuda.to_device(following), cuda.to_device(np.zeros(1, np.int32))
        follow[1, 1](there, hops, out)
        at = order[(np.flatnonzero(order == 0)[0] + hops) % lines] * 32
        same(out, np.array([at], np.int32), f"latency of {span} bytes")
        times = seconds({"all": lambda: follow[1, 1](there, hops, out)}, event_times, rounds=3)  # noqa: B023
        yield {"bytes": span, "hops": hops, "seconds": times["all"] / hops}


@cuda.jit
def spread(a, step, shift, out):
    """Four loads for each store, so that loads are what takes time."""
    i, quarter = cuda.grid(1), out.size
    if i < quarter:
        p = a[i * step + shift]
        q = a[(i + quarter) * step + shift]
        r = a[(i + 2 * quarter) * step + shift]
        s = a[(i + 3 * quarter) * step + shift]
        out[i] = p + q + r + s


def strides(sizes, event_times):
    """The numbers a[k * step + shift]: as many bytes are used, but not as many sectors are asked for."""
    n = sizes.numbers
    there = cuda.to_device(np.resize(np.arange(1024, dtype=np.float32), 32 * n + 1))  # of a GPU's memory 2 GiB
    out = cuda.device_array(n // 4, np.float32)
    grid = -(-(n // 4) // THREADS)
    for step, shift in ((1, 0), (1, 1), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (0, 0)):

        def run(step=step, shift=shift):
            spread[grid, THREADS](there, step, shift, out)

        took = seconds({"it": run}, event_times)["it"]
        wanted = ((np.arange(n) * step + shift) % 1024).reshape(4, -1).sum(0)
        same(out, wanted.astype(np.float32), f"step {step}")
        lanes = np.arange(32) * step + shift
        yield {"step": step, "shift": shift, "numbers": n, "sectors": len(np.unique(4 * lanes // 32)), "seconds": took}


@cuda.jit
def one_of_records(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p[i, 0]


@cuda.jit
def one_of_arrays(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p[0, i]


@cuda.jit
def all_of_records(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p[i, 3] * (p[i, 0] * p[i, 0] + p[i, 1] * p[i, 1] + p[i, 2] * p[i, 2])


@cuda.jit
def wide_records(p, out):
    i = cuda.grid(1)
    if i < out.size:
        x, y, z, m = load4(p, (i, 0))
        out[i] = m * (x * x + y * y + z * z)


@cuda.jit
def all_of_arrays(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p[3, i] * (p[0, i] * p[0, i] + p[1, i] * p[1, i] + p[2, i] * p[2, i])


def records(sizes, event_times):
    """Four numbers for each particle: one of them needed, or all."""
    n = sizes.numbers
    points = np.random.default_rng(0).integers(-8, 9, (n, 4)).astype(np.float32)  # so that all is exact
    records, arrays = cuda.to_device(points), cuda.to_device(np.ascontiguousarray(points.T))
    out, grid = cuda.device_array(n, np.float32), -(-n // THREADS)
    x, y, z, m = points.T
    cases = {
        ("one", "AoS"): (one_of_records, records, x),
        ("one", "SoA"): (one_of_arrays, arrays, x),
        ("all", "AoS, number by number"): (all_of_records, records, m * (x * x + y * y + z * z)),
        ("all", "AoS, 16 bytes at a time"): (wide_records, records, m * (x * x + y * y + z * z)),
        ("all", "SoA"): (all_of_arrays, arrays, m * (x * x + y * y + z * z)),
    }
    for (needed, layout), (kernel, p, expected) in cases.items():
        took = seconds({"it": lambda k=kernel, p=p: k[grid, THREADS](p, out)}, event_times)["it"]
        same(out, expected, layout)
        yield {"needed": needed, "layout": layout, "numbers": n, "seconds": took}


# ---- one multiprocessor ------------------------------------------------------------------------------------


@cuda.jit
def to_and_fro(step, repeats, out):
    """Each lane reads where to read next; what it finds is where it was. Lanes stand `step` words apart."""
    words = cuda.shared.array(1024, uint32)
    for k in range(cuda.threadIdx.x, 1024, cuda.blockDim.x):
        words[k] = k
    cuda.syncthreads()
    at = uint32(cuda.threadIdx.x % 32 * step)  # unsigned: no question whether it is negative
    for _ in range(repeats // 8):
        at = words[words[words[words[words[words[words[words[at]]]]]]]]
    out[cuda.grid(1)] = at


@cuda.jit
def to_and_fro_busy(step, repeats, out):
    """The same with a signed index, one at a time: before each read it is asked whether it is negative, and widened."""
    words = cuda.shared.array(1024, int32)
    for k in range(cuda.threadIdx.x, 1024, cuda.blockDim.x):
        words[k] = k
    cuda.syncthreads()
    at = cuda.threadIdx.x % 32 * step
    for _ in range(repeats):
        at = words[at]
    out[cuda.grid(1)] = at


def processors(sizes):
    """Multiprocessors of the GPU."""
    return min(cuda.get_current_device().MULTIPROCESSOR_COUNT, sizes.processors)


def banks(sizes, event_times):
    """Two blocks of 1024 threads on each multiprocessor read shared memory, with lanes `ways` words apart."""
    count = processors(sizes)
    for kernel, busy in ((to_and_fro, False), (to_and_fro_busy, True)):
        out = cuda.device_array(2048 * count, np.uint32)
        for ways in (1, 2, 4, 8, 16, 32):

            def run(kernel=kernel, ways=ways, out=out):
                kernel[2 * count, 1024](ways, sizes.repeats, out)

            took = seconds({"it": run}, event_times)["it"]
            same(out, np.tile(np.arange(32, dtype=np.uint32) * ways, 64 * count), f"{ways} ways")
            yield {"ways": ways, "busy": busy, "requests": 64 * sizes.repeats, "processors": count, "seconds": took}


@cuda.jit
def branch(ways, width, repeats, out):
    """Each thread takes one of `ways` branches, all of the same length: `width` neighbours take the same."""
    mine = cuda.threadIdx.x // width % ways
    total = float32(0)
    for way in range(ways):
        if mine == way:
            for _ in range(repeats):
                total = total * float32(0.5) + float32(1)
    out[cuda.grid(1)] = total


def branches(sizes, event_times):
    """Lanes of each warp disagree, or whole warps do."""
    count = processors(sizes)
    out = cuda.device_array(1024 * count, np.float32)
    expected = np.float32(0)
    for _ in range(sizes.repeats):
        expected = expected * np.float32(0.5) + np.float32(1)
    for ways in (1, 2, 4, 8, 16, 32):
        for who, width in (("lanes", 1), ("warps", 32)):
            run = {"it": lambda w=ways, d=width: branch[count, 1024](w, d, sizes.repeats, out)}
            took = seconds(run, event_times)["it"]
            same(out, np.full(out.size, expected), f"{ways} ways")
            yield {"ways": ways, "who": who, "seconds": took}


@cuda.jit
def copy_strided(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i]


@cuda.jit
def copy_four(a, out):
    """Four numbers on the way at a time."""
    step = cuda.gridsize(1)
    i = cuda.grid(1)
    while i + 3 * step < a.size:
        p, q, r, s = a[i], a[i + step], a[i + 2 * step], a[i + 3 * step]
        out[i] = p
        out[i + step] = q
        out[i + 2 * step] = r
        out[i + 3 * step] = s
        i += 4 * step
    while i < a.size:
        out[i] = a[i]
        i += step


def flight(sizes, event_times):
    """A copy with one block on each multiprocessor and more: how many bytes have to be on the way?"""
    count, n = processors(sizes), 8 * sizes.numbers
    a = np.arange(n, dtype=np.float32)
    there, out = cuda.to_device(a), cuda.device_array(n, np.float32)
    for at_once, kernel in ((1, copy_strided), (4, copy_four)):
        for warps in (1, 2, 4, 8, 16, 32, 64):
            if 32 * warps > THREADS_AT_ONCE.get(cuda.get_current_device().compute_capability, 2048):
                continue  # they would take turns
            threads = min(32 * warps, 1024)
            grid = count * (32 * warps // threads)
            took = seconds({"it": lambda k=kernel, g=grid, t=threads: k[g, t](there, out)}, event_times, rounds=3)["it"]
            same(out, a, f"{warps} warps")
            yield {"at_once": at_once, "warps": warps, "processors": count, "bytes": 8 * n, "seconds": took}


# ---- products ----------------------------------------------------------------------------------------------


def waves(sizes, event_times):
    """A row of 128 x 128 tiles, one block each: more and more of them, all equally long."""
    from dlkernels import implementations

    rung = next(r for r in implementations.of("matmul", "gpu") if r.name == "matmul_double_buffered")
    quarter = max(1, processors(sizes) // 4)
    for tiles in range(quarter, quarter * sizes.quarters + 1, quarter):
        a, b = (
            cuda.to_device(np.ones(shape, np.float32)) for shape in ((128, sizes.depth), (sizes.depth, 128 * tiles))
        )
        out = cuda.device_array((128, 128 * tiles), np.float32)
        prepared = implementations.OPERATIONS["matmul"].prepare(a, b, out)
        took = seconds({"it": lambda p=prepared: rung.function(*p)}, event_times, rounds=3)["it"]
        same(out, np.full(out.shape, np.float32(sizes.depth)), f"{tiles} tiles")
        yield {"tiles": tiles, "processors": processors(sizes), "depth": sizes.depth, "seconds": took}


# ---- races -------------------------------------------------------------------------------------------------


@cuda.jit
def lossy(bins, values):
    i = cuda.grid(1)
    if i < values.size:
        bins[values[i]] = bins[values[i]] + 1


def hasty(barrier):
    """The tiled product of chapter 8.2, with its second barrier or without."""

    @cuda.jit
    def product(a, b, c):
        a_tile = cuda.shared.array((16, 16), float32)
        b_tile = cuda.shared.array((16, 16), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.grid(2)
        total = float32(0)
        for start in range(0, a.shape[1], 16):
            a_tile[y, x] = a[i, start + x]
            b_tile[y, x] = b[start + y, j]
            cuda.syncthreads()
            for p in range(16):
                total += a_tile[y, p] * b_tile[p, x]
            if barrier:
                cuda.syncthreads()
        c[i, j] = total

    return product


def races(sizes, event_times):
    """Of so many runs, how many gave a wrong result, and how many of its numbers were wrong in all."""
    for n in (4096, sizes.numbers):
        bins, values, counted = cuda.device_array(32, np.int32), cuda.to_device(np.full(n, 7, np.int32)), []
        for _ in range(min(sizes.runs, 20)):
            bins.copy_to_device(np.zeros(32, np.int32))
            lossy[-(-n // THREADS), THREADS](bins, values)
            counted.append(int(bins.copy_to_host()[7]))
        yield {"name": "lost updates", "threads": n, "counted": counted}
    rng = np.random.default_rng(0)
    for n in sizes.products:
        a, b = rng.integers(-4, 5, (2, n, n)).astype(np.float32)  # so that every order of sums gives the same
        out, there = cuda.device_array((n, n), np.float32), [cuda.to_device(x) for x in (a, b)]
        for barrier in (True, False):
            kernel = hasty(barrier)

            def run(kernel=kernel, n=n, there=there, out=out):
                kernel[(n // 16, n // 16), (16, 16)](*there, out)

            row = {"name": "product", "n": n, "barrier": barrier, **wrong(run, out, a @ b, 0, sizes.runs)}
            yield row
    for n in sizes.texts:
        q, k, v = (rng.standard_normal((8, n, 64), np.float32) for _ in range(3))
        for barrier in (True, False):
            run, out, expected = flash(q, k, v, barrier)
            yield {"name": "attention", "n": n, "barrier": barrier, **wrong(run, out, expected, 1e-4, sizes.runs)}


def flash(q, k, v, barrier):
    """Attention by tiles in shared memory, with the last barrier of its loop or without; see chapter 11.3."""
    from dlkernels.attention import gpu, reference
    from dlkernels.attention.geometry import geometry

    _, g = geometry(q, k, v, None, False, None, False)
    out = cuda.device_array(q.shape, np.float32)
    kernel, lines = gpu.tiles_kernel(*gpu.SHAPES[0], barrier), [cuda.to_device(x.reshape(-1)) for x in (q, k, v)]
    no_mask, offsets = (
        cuda.to_device(np.zeros(1, np.float32)),
        [cuda.to_device(x) for x in (g.of_q, g.of_k, g.of_v, g.of_mask)],
    )
    grid = q.shape[0] * -(-q.shape[1] // (gpu.SHAPES[0][0] * gpu.SIDE))

    def run():
        kernel[grid, (gpu.SIDE, gpu.SIDE)](*lines, no_mask, *offsets, out.reshape(-1), *gpu.numbers(g))

    return run, out, reference.scaled_dot_product_attention(q, k, v)


def wrong(run, out, expected, allowed, runs):
    """Counts over so many runs: those with a wrong number, and all wrong numbers."""
    bad = []
    for _ in range(runs):
        out.copy_to_device(np.full(out.shape, np.nan, np.float32))
        run()
        bad.append(int((~(np.abs(out.copy_to_host() - expected) <= allowed)).sum()))
    return {"runs": runs, "wrong_runs": sum(n > 0 for n in bad), "wrong_numbers": sum(bad), "numbers": expected.size}


EXPERIMENTS = (launches, latency, strides, records, banks, branches, flight, waves, races)
