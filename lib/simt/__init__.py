"""Two engines that run ``numba.cuda`` kernels on the CPU. The executor: thread by thread, in an order that is always
the same.

The compiled engine (``compiled``): for real sizes; policy.py says which of them runs a launch.
``cuda`` carries the names of ``numba.cuda``. ``run(kernel, grid, block, args, trace=Trace())`` records every access.
"""

from . import compiled, cuda
from .errors import (
    BudgetExceeded,
    Deadlock,
    KernelError,
    LaunchError,
    NotFollowed,
    NotOnAGpu,
    OutOfBounds,
    SourceNotFound,
    Unsupported,
)
from .intrinsics import stand_in
from .kernel import Kernel, budget, order, run
from .policy import last_launch
from .retarget import retarget
from .trace import Trace

__all__ = [
    "BudgetExceeded",
    "Deadlock",
    "Kernel",
    "KernelError",
    "LaunchError",
    "NotFollowed",
    "NotOnAGpu",
    "OutOfBounds",
    "SourceNotFound",
    "Trace",
    "Unsupported",
    "budget",
    "compiled",
    "cuda",
    "last_launch",
    "order",
    "retarget",
    "run",
    "stand_in",
]
