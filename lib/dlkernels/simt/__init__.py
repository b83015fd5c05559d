"""The executor: runs ``numba.cuda`` kernels on the CPU, thread by thread, in an order that is the same every time.

``cuda`` carries the names of ``numba.cuda``. ``run(kernel, grid, block, args, trace=Trace())`` records every access.
"""

from . import compiled, cuda
from .errors import (
    BudgetExceeded,
    Deadlock,
    KernelError,
    LaunchError,
    NotOnAGpu,
    OutOfBounds,
    SourceNotFound,
    Unsupported,
)
from .intrinsics import stand_in
from .launch import Kernel, budget, order, run
from .retarget import retarget
from .trace import Trace

__all__ = [
    "BudgetExceeded",
    "Deadlock",
    "Kernel",
    "KernelError",
    "LaunchError",
    "NotOnAGpu",
    "OutOfBounds",
    "SourceNotFound",
    "Trace",
    "Unsupported",
    "budget",
    "compiled",
    "cuda",
    "order",
    "retarget",
    "run",
    "stand_in",
]
