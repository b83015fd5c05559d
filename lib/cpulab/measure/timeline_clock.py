"""The clock of `time.perf_counter_ns`, readable in compiled loops that hold no GIL.

``nanoseconds()`` asks the operating system the way Python does: ``clock_gettime`` on Linux, the uptime clock on
macOS, the performance counter on Windows. So times taken in Python threads and in ``prange`` loops have one origin
and need no calibration against each other. A processor's cycle counter would cost less to read, but its rate must be
measured, and on ARM a program may not read it.
"""

import time

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

LOG_COLUMNS = 3  # thread, start, end
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_MACOS_UPTIME_RAW = 8  # CLOCK_UPTIME_RAW of <time.h>: what Python's perf_counter reads


def _call(builder, name, result, arguments):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _read_posix(builder):
    pair = cgutils.alloca_once(builder, ir.ArrayType(_INT64, 2))  # struct timespec: seconds, nanoseconds
    _call(builder, "clock_gettime", _INT32, [ir.Constant(_INT32, int(time.CLOCK_MONOTONIC)), pair])
    seconds, rest = (builder.load(cgutils.gep_inbounds(builder, pair, 0, k)) for k in (0, 1))
    return builder.add(builder.mul(seconds, ir.Constant(_INT64, 10**9)), rest)


def _read_macos(builder):
    return _call(builder, "clock_gettime_nsec_np", _INT64, [ir.Constant(_INT32, _MACOS_UPTIME_RAW)])


def _read_windows(builder):
    import ctypes

    frequency = ctypes.c_int64()
    ctypes.windll.kernel32.QueryPerformanceFrequency(ctypes.byref(frequency))
    ticks = cgutils.alloca_once(builder, _INT64)
    _call(builder, "QueryPerformanceCounter", _INT32, [ticks])
    if 10**9 % frequency.value == 0:  # 10 MHz since Windows 10
        return builder.mul(builder.load(ticks), ir.Constant(_INT64, 10**9 // frequency.value))
    scale = ir.Constant(ir.DoubleType(), 1e9 / frequency.value)
    return builder.fptosi(builder.fmul(builder.sitofp(builder.load(ticks), scale.type), scale), _INT64)


_CLOCK = time.get_clock_info("perf_counter").implementation
_READ = {"clock_gettime(CLOCK_MONOTONIC)": _read_posix, "mach_absolute_time()": _read_macos}.get(_CLOCK, _read_windows)


@intrinsic
def _read_clock(typingctx):
    return types.int64(), lambda context, builder, signature, arguments: _READ(builder)


def nanoseconds():
    """Nanoseconds as `time.perf_counter_ns` counts them, in Python and in ``@njit`` functions (with or without GIL).

    The compiler keeps the order of this call and of stores into arrays. Arithmetic whose result is not stored before
    the call may move behind it.
    """
    return time.perf_counter_ns()


@overload(nanoseconds)
def _nanoseconds_compiled():
    return lambda: _read_clock()


def new_log(pieces):
    """An empty log for ``pieces`` pieces of work: int64 of shape (pieces, 3), one row each: thread, start, end."""
    if not isinstance(pieces, int | np.integer) or pieces < 1:
        raise ValueError(f"pieces is {pieces!r}; expected how many pieces of work there are, at least 1")
    return np.full((pieces, LOG_COLUMNS), -1, np.int64)


@register_jitable
def note(log, piece, start):
    """Write into row ``piece`` of a `new_log` that the calling thread worked from ``start`` until now.

    For the body of a ``prange`` loop: ``start = nanoseconds()``, the work, ``note(log, i, start)``. The thread is
    ``numba.get_thread_id()``. Costs two readings of the clock, about 0.1 microseconds: note pieces that are longer.
    """
    log[piece, 0] = numba.get_thread_id()
    log[piece, 1] = start
    log[piece, 2] = nanoseconds()
