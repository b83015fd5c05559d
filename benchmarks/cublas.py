"""cuBLAS itself, called through ctypes: the vendor's kernels as a peer, without another package.

Interface: cublas_v2.h of the CUDA toolkit (cublasCreate_v2, cublasSaxpy_v2).
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
        status = _library().cublasSaxpy_v2(*arguments)
        if status:
            raise RuntimeError(f"cublasSaxpy failed with status {status}")

    run()
    return run
