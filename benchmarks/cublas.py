"""cuBLAS itself, called through ctypes: the vendor's kernels as a peer, without another package.

Interface: cublas_v2.h of the CUDA toolkit (cublasCreate_v2, cublasSaxpy_v2, cublasGemmStridedBatchedEx, ...).
"""

import ctypes
import ctypes.util
import functools
import sysconfig
from pathlib import Path


@functools.cache
def _library():
    """The library of the toolkit, or of the package nvidia-cublas. OSError where there is neither."""
    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    names = [*map(str, packages.glob("*/lib/libcublas.so.*")), ctypes.util.find_library("cublas")]
    for name in filter(None, names):
        return ctypes.CDLL(name)
    raise OSError("libcublas is not installed")


@functools.cache
def _handle():
    handle = ctypes.c_void_p()
    status = _library().cublasCreate_v2(ctypes.byref(handle))
    if status:
        raise RuntimeError(f"cublasCreate failed with status {status}")
    return handle


def _pointer(array):
    return ctypes.c_void_p(array.__cuda_array_interface__["data"][0])


def axpy(alpha, x, y):
    """A function that queues y = alpha * x + y for contiguous float32 device arrays, on the default stream."""
    handle, factor = _handle(), ctypes.c_float(alpha)
    arguments = (handle, ctypes.c_int(x.size), ctypes.byref(factor), _pointer(x), 1, _pointer(y), 1)

    def run():
        _succeeds("cublasSaxpy_v2", *arguments)

    run()
    return run


# Numbers of the enumerations in library_types.h and cublas_api.h.
TYPES = {"float32": 0, "float16": 2, "bfloat16": 14}  # CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF
COMPUTE_32F, DEFAULT_MATH, DEFAULT_ALGORITHM, AS_IT_IS = 68, 0, -1, 0


def product(a, b, out, dtype="float32"):
    """A function that queues out = a b for contiguous device arrays, on the default stream; sums in float32.

    a: (..., m, k), b: (..., k, n) of ``dtype``, with equal leading dimensions; out: (..., m, n) float32. cuBLAS stores
    matrices by columns, where ours look transposed: it is asked for out^T = b^T a^T.
    """
    (m, k), n = tuple(a.shape)[-2:], tuple(b.shape)[-1]
    handle, one, zero = _handle(), ctypes.c_float(1), ctypes.c_float(0)
    _succeeds("cublasSetMathMode", handle, DEFAULT_MATH)  # no TF32, which has to be asked for
    kind, long = TYPES[dtype], ctypes.c_longlong
    arguments = (
        handle, AS_IT_IS, AS_IT_IS, n, m, k, ctypes.byref(one),
        _pointer(b), kind, n, long(k * n), _pointer(a), kind, k, long(m * k),
        ctypes.byref(zero), _pointer(out), TYPES["float32"], n, long(m * n),
        out.size // (m * n), COMPUTE_32F, DEFAULT_ALGORITHM,
    )  # fmt: skip

    def run():
        _succeeds("cublasGemmStridedBatchedEx", *arguments)

    run()
    return run


def _succeeds(name, *arguments):
    status = getattr(_library(), name)(*arguments)
    if status:
        raise RuntimeError(f"{name} failed with status {status}")
