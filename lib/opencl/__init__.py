"""The book's kernels in OpenCL: the same operations on a GPU of any vendor, or on a CPU with PoCL.

    import opencl
    opencl.available()                      # whether a device compiles and runs a kernel here
    opencl.device()                         # which; where there is none, an error with the command that installs one
    from opencl.operations import matmul    # dlkernels' signatures, NumPy arrays

Its files, in reading order:

host.py         device, context, queue, program, kernel, buffer, image, event: a thin layer over pyopencl
kernels/        the kernels, OpenCL C: add.cl, sum.cl, transpose.cl, matmul.cl, ... (`real` is float or double)
launches.py     the host's part of each kernel, for arrays on the device
operations.py   operations of dlkernels' table, for NumPy arrays
digits.py       networks that learn to read digits, all of it on the device
oclgrind.py     a kernel under Oclgrind, which finds races, wrong indices, and barriers that not all reach
install.py      `make opencl`: what the system's packages have

read/           OpenCL C without an OpenCL: a reader that makes kernels for simt of it
translate/      kernels of numba.cuda as OpenCL C

pyopencl and a device are an extra: `make opencl`. Importing this package needs neither.
"""

__all__ = ["BuildError", "Unavailable", "available", "device", "milliseconds"]


def __getattr__(name):
    if name in __all__:
        from . import host

        return getattr(host, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
