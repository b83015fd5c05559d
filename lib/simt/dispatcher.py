"""What ``@cuda.jit`` returns: a kernel to launch with ``kernel[grid, block](...)``, on the engine of policy.py."""

from .kernel import Kernel
from .limits import dimensions, most_resident_blocks
from .policy import start


class Dispatcher(Kernel):
    """A kernel to launch with ``kernel[grid, block](*arguments)``: NumPy arrays are copied to the device and back,
    device arrays stay. A device function is called from kernels, or from Python as the function that it is.
    """

    def __repr__(self):
        return f"<{'device function' if self.device else 'kernel'} {self.py_func.__name__} of the executor>"

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("must specify at least the griddim and blockdim")
        return self.configure(*configuration)

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """``kernel[griddim, blockdim, stream, sharedmem]``: the kernel, ready to be called with its arguments."""
        self._refuse_device()
        return Configured(self, dimensions(griddim, "griddim"), dimensions(blockdim, "blockdim"), int(sharedmem))

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """A launch with at least one thread for each of ``ntasks`` tasks, in one dimension."""
        self._refuse_device()
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        threads = tpb or 128
        if not ntasks:
            return lambda *arguments: None
        return self.configure((ntasks + threads - 1) // threads, threads, stream, sharedmem)

    def specialize(self, *arguments):
        """The kernel: it is lowered for the types of each launch anyway."""
        return self

    def __call__(self, *arguments, **keywords):
        if self.device:
            return self.py_func(*arguments, **keywords)
        raise ValueError(
            "Kernel launch configuration was not specified. Use the syntax: "
            f"{self.py_func.__name__}[blockspergrid, threadsperblock](arg0, arg1, ..., argn)"
        )

    @property
    def overloads(self):
        """Only for ``overloads[signature].max_cooperative_grid_blocks(blockdim)``, whatever the signature."""
        return _Overloads()

    def _refuse_device(self):
        if self.device:
            raise RuntimeError(f"{self.py_func.__name__} is a device function: only a kernel can be launched")


class _Overloads:
    def __getitem__(self, signature):
        return self

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """Most blocks that a kernel with a grid barrier may have."""
        return most_resident_blocks(dimensions(blockdim, "blockdim"))


class Configured:
    """A kernel with its launch configuration."""

    def __init__(self, kernel, grid, block, shared_bytes):
        self.kernel, self.griddim, self.blockdim, self.sharedmem = kernel, grid, block, shared_bytes

    def __call__(self, *arguments):
        start(self.kernel, self.griddim, self.blockdim, arguments, self.sharedmem)
