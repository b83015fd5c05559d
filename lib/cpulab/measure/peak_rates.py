"""What the machine can do at most, measured: the two roofs under which every kernel lives.

*Arithmetic*: fused multiply-adds on registers only, in so many independent chains that their latency is
hidden (a multiply-add takes about 4 cycles and two or more can begin in each).

*Memory*: the four loops of STREAM (McCalpin, Memory Bandwidth and Machine Balance in Current High
Performance Computers, 1995) on arrays of at least four times the largest cache. Bytes are counted as STREAM
does: what the loop names. A usual store really moves more, since the line is read before it is overwritten;
a store past the cache (non-temporal) does not.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import platform
import time
from pathlib import Path

import numba
import numpy as np
import psutil
from llvmlite import ir
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic

from dlkernels.simd import (
    VectorType,
    fence,
    instruction_set,
    lanes,
    load,
    reduce_add,
    store,
    store_nontemporal,
    until_aligned,
    vector_width,
)

from ..files import read_text, write_text
from . import machine
from .cores import settle
from .table import Table, with_unit
from .timing import FOREIGN_CORES, TICK, Clock, limit_threads
from .turns import HURRY, alone

STREAM = {"copy": 2, "scale": 2, "add": 3, "triad": 3}  # arrays that the loop names
STORES = {"plain": "usual stores", "nontemporal": "stores past the cache"}
PASSES = 1 if HURRY else 4
FRESH_FOR = 7 * 24 * 3600  # seconds that a measured peak is kept on disk
BUSY_FRESH_FOR = 3600  # ... if other programs ran: so long that the pages of one build share it
# All but a few registers hold a chain: AVX and SSE have 16 registers, AVX-512 and NEON 32.
CHAINS = 24 if instruction_set() in ("AVX-512", "NEON") else 12


@dataclasses.dataclass(frozen=True)
class Peaks:
    """``flops[threads]`` in FLOP/s for float32, ``stream[loop][store][threads]`` in byte/s."""

    flops: dict
    stream: dict
    elements: int  # float32 in each array of the STREAM loops
    busy: bool = False  # other programs ran: the machine can do more than this

    def peak_flops(self, threads=None):
        """Float32 FLOP/s with ``threads`` threads (default: all)."""
        return self.flops[_known(threads, self.flops)]

    def bandwidth(self, loop="triad", threads=None):
        """Byte/s of a STREAM loop, with the better of the two kinds of store."""
        if loop not in self.stream:
            raise ValueError(f"loop is {loop!r}; expected one of {', '.join(self.stream)}")
        return max(by_threads[_known(threads, by_threads)] for by_threads in self.stream[loop].values())

    def ridge(self, threads=None):
        """FLOP per byte above which arithmetic, and no longer memory, is the bound."""
        return self.peak_flops(threads) / self.bandwidth(threads=threads)

    def table(self):
        """All measured peaks, one column for each number of threads."""
        counts = sorted(self.flops)
        rows = [("multiply-add on registers", *(with_unit(self.flops[n], "FLOP/s") for n in counts))]
        for loop, by_store in self.stream.items():
            for kind, by_threads in by_store.items():
                rows.append((f"{loop}, {STORES[kind]}", *(with_unit(by_threads[n], "B/s") for n in counts)))
        headings = ("", *(f"{n} thread{'s' if n > 1 else ''}" for n in counts))
        note = " (other programs were running)" if self.busy else ""
        return Table(headings, rows, f"Measured peaks, float32{note}")

    def __str__(self):
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return self.table()._repr_html_()

    def to_dict(self):
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, stored):
        """The inverse of `to_dict`, also after JSON, which turns numbers of threads into text."""
        stream = {
            loop: {kind: _integer_keys(rates) for kind, rates in by_store.items()}
            for loop, by_store in stored["stream"].items()
        }
        return cls(_integer_keys(stored["flops"]), stream, int(stored["elements"]), bool(stored["busy"]))


def _integer_keys(rates):
    return {int(threads): float(rate) for threads, rate in rates.items()}


def _known(threads, by_threads):
    threads = max(by_threads) if threads is None else threads
    if threads not in by_threads:
        raise ValueError(f"nothing was measured with {threads} threads, only with {sorted(by_threads)}")
    return threads


@alone()
def peaks(refresh=False, loops=("triad",), beaten=None):
    """The `Peaks` of this machine. Measured once (seconds), then kept for a week in the user's cache folder.

    ``loops``: which of STREAM's loops; ``peaks(loops=STREAM)`` measures all. ``refresh=True`` measures again; so does a
    ``beaten(peaks)`` that says that something was faster than they allow, unless this process measured them: kept ones
    may be those of a slower hour. Peaks measured while other programs ran say so, and are kept for an hour.
    """
    loops = tuple(loops)
    unknown = set(loops) - set(STREAM)
    if unknown:
        raise ValueError(f"loops has {', '.join(sorted(unknown))}; expected some of {', '.join(STREAM)}")
    if not refresh and loops not in _remembered and (kept := _from_disk(loops)):
        _remembered[loops] = kept, False
    known, fresh = _remembered.get(loops, (None, False))
    if refresh or known is None or (not fresh and beaten is not None and beaten(known)):
        measured = measure_peaks(loops)
        known = measured if refresh or known is None else _higher(known, measured)
        _to_disk(loops, known)
        _remembered[loops] = known, True
    return known


_remembered = {}  # loops: (peaks, whether this process measured them)


def _higher(a, b):
    """Of two `Peaks` of the same loops, the higher one of each rate: a peak is what nothing disturbed."""
    if isinstance(a, dict):
        return {name: _higher(a[name], b[name]) for name in b}
    if isinstance(a, Peaks):
        return Peaks(_higher(a.flops, b.flops), _higher(a.stream, b.stream), b.elements, a.busy and b.busy)
    return max(a, b)


def thread_counts():
    """1, 2, 4, ... and all threads that numba may use."""
    most = numba.config.NUMBA_NUM_THREADS
    return sorted({min(2**k, most) for k in range(most.bit_length() + 1)})


def measure_peaks(loops=tuple(STREAM), elements=None, clock=None):
    """Measure now, without any cache. ``elements``: float32 in each array (default: fits the machine)."""
    clock = clock or Clock()
    elements = elements or stream_elements()
    start, own_before, all_before = clock.now(), clock.own(), clock.everyone()
    arrays = [np.full(elements, value, np.float32) for value in (1, 2, 0)]
    counts = thread_counts()
    flops = dict.fromkeys(counts, 0.0)
    stream = {loop: {kind: dict.fromkeys(counts, 0.0) for kind in STORES} for loop in loops}
    for _ in range(PASSES):  # apart in time, so that one disturbance does not spoil all runs of a loop
        for threads in counts:
            flops[threads] = max(flops[threads], _best_flops(threads, clock))
            for loop in loops:
                for kind, rates in stream[loop].items():
                    rates[threads] = max(rates[threads], _best_bandwidth(loop, kind, threads, arrays, clock))
    foreign = (clock.everyone() - all_before) - (clock.own() - own_before) - 2 * TICK
    return Peaks(flops, stream, elements, busy=foreign / (clock.now() - start) > FOREIGN_CORES)


def stream_elements():
    """Elements of each array: four times the largest cache, at most an eighth of the memory."""
    wanted = max(4 * machine.last_level_cache(), 2**26)
    allowed = psutil.virtual_memory().total // 8
    return min(wanted, allowed) // 4


def _best(run, amount, clock, budget=0.08, least=3):
    """The best rate of several runs: a peak is what the machine can do when nothing disturbs it."""
    settle(clock)
    run()
    best, runs, deadline = 0.0, 0, clock.now() + budget
    while runs < least or clock.now() < deadline:
        start = clock.now()
        run()
        best = max(best, amount / (clock.now() - start))
        runs += 1
    return best


def _best_flops(threads, clock, steps=200_000):
    amount = 2 * vector_width(np.float32) * CHAINS * steps * threads
    with limit_threads(threads):
        return _best(lambda: _multiply_add(threads, steps, np.float32(1)), amount, clock)


def _best_bandwidth(loop, kind, threads, arrays, clock):
    kernel = stream_kernel(loop, kind)
    amount = STREAM[loop] * arrays[0].nbytes
    with limit_threads(threads):
        return _best(lambda: kernel(*arrays, np.float32(3)), amount, clock)


@intrinsic
def _chains(typingctx, steps, x):
    """CHAINS independent chains of ``steps`` multiply-adds each, kept in registers; the sum of their ends."""
    vector_type = VectorType(x)

    def emit(context, builder, signature, arguments):
        count, scalar = arguments
        llvm_type = context.get_value_type(vector_type)
        name = f"llvm.fmuladd.v{vector_type.lanes}f{x.bitwidth}"
        multiply_add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(llvm_type, [llvm_type] * 3), name)
        # end = end / 2 + step tends to 2 * step: no infinities, and no subnormal numbers, which are slow.
        # Each chain starts from another value, or the compiler would see that all are the same.
        half = ir.Constant(llvm_type, [0.5] * vector_type.lanes)
        ends = []
        for k in range(1, CHAINS + 1):
            start = ir.Constant(llvm_type, [float(k)] * vector_type.lanes)
            ends.append(cgutils.alloca_once_value(builder, start))
        zero = ir.Constant(llvm_type, ir.Undefined)
        step = builder.insert_element(zero, scalar, ir.Constant(ir.IntType(32), 0))
        step = builder.shuffle_vector(step, zero, ir.Constant(ir.VectorType(ir.IntType(32), vector_type.lanes), None))
        with cgutils.for_range(builder, count):
            for end in ends:
                builder.store(builder.call(multiply_add, [builder.load(end), half, step]), end)
        total = builder.load(ends[0])
        for end in ends[1:]:
            total = builder.fadd(total, builder.load(end))
        return total

    return vector_type(types.intp, x), emit


@njit(parallel=True)
def _multiply_add(threads, steps, x):
    result = np.zeros(threads, np.float32)
    for t in prange(threads):
        result[t] = reduce_add(_chains(steps, x))
    return result


@functools.cache
def stream_kernel(loop, kind):
    """``kernel(a, b, out, s)``: STREAM's ``loop`` with all of numba's threads, and a ``kind`` of store."""
    combine = {
        "copy": njit(lambda x, y, s: x),
        "scale": njit(lambda x, y, s: s * x),
        "add": njit(lambda x, y, s: x + y),
        "triad": njit(lambda x, y, s: x + s * y),
    }[loop]
    put = {"plain": store, "nontemporal": store_nontemporal}[kind]

    @njit(parallel=True)
    def kernel(a, b, out, s):
        threads = numba.get_num_threads()
        head = min(out.size, until_aligned(out))
        vectors = (out.size - head) // lanes(out)
        for i in range(head):
            out[i] = combine(a[i], b[i], s)
        for t in prange(threads):
            for k in range(t * vectors // threads, (t + 1) * vectors // threads):
                i = head + k * lanes(out)
                put(out, i, combine(load(a, i), load(b, i), s))
            fence()
        for i in range(head + vectors * lanes(out), out.size):
            out[i] = combine(a[i], b[i], s)

    return kernel


def cache_folder():
    """Where measured peaks are kept: DLKERNELS_CACHE, or the folder for caches of the operating system."""
    if os.environ.get("DLKERNELS_CACHE"):
        return Path(os.environ["DLKERNELS_CACHE"])
    home = Path.home()
    by_system = {
        "Darwin": home / "Library" / "Caches",
        "Windows": Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"),
    }
    usual = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return by_system.get(platform.system(), usual) / "dlkernels"


def _file(loops):
    card = machine.machine_card()
    parts = [card[fact] for fact in ("CPU", "cores", "vectors", "caches", "memory", "system")]
    parts += [str(numba.config.NUMBA_NUM_THREADS), numba.__version__, *loops]
    return cache_folder() / f"peaks-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:16]}.json"


def _from_disk(loops):
    """Fresh peaks of this machine, or None: also where the file is missing, damaged or of another version, or this user
    has no home."""
    try:
        stored = json.loads(read_text(_file(loops)))
        kept = Peaks.from_dict(stored["peaks"])
        fresh = 0 <= time.time() - stored["measured"] < (BUSY_FRESH_FOR if kept.busy else FRESH_FOR)
        return kept if fresh else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RuntimeError):
        return None


def _to_disk(loops, measured):
    """Keep peaks for `_from_disk`; a full or closed disk is no error, nor is no home. Those measured in a hurry are of
    no use to others."""
    if HURRY:
        return
    with contextlib.suppress(OSError, RuntimeError):
        write_text(_file(loops), json.dumps({"measured": time.time(), "peaks": measured.to_dict()}))
