"""Two engines that run ``numba.cuda`` kernels on the CPU. The executor: thread by thread, in an order that is always
the same.

The compiled engine (``simt.compiled``, loaded when it is used): for real sizes; policy.py says which of them runs a
launch. ``cuda`` carries the names of ``numba.cuda``. ``run(kernel, grid, block, args, trace=Trace())`` records every
access.
"""

from . import cuda
from .errors import (
    Deadlock,
    KernelError,
    LaunchError,
    NotFollowed,
    NotOnAGpu,
    OutOfBounds,
    SourceNotFound,
    TooManyIterations,
    Unsupported,
)
from .executor.launch import run
from .intrinsics import stand_in
from .policy import last_launch
from .retarget import retarget
from .settings import budget, order
from .trace import Trace

__all__ = [
    "Deadlock",
    "KernelError",
    "LaunchError",
    "NotFollowed",
    "NotOnAGpu",
    "OutOfBounds",
    "SourceNotFound",
    "TooManyIterations",
    "Trace",
    "Unsupported",
    "budget",
    "cuda",
    "last_launch",
    "order",
    "retarget",
    "run",
    "stand_in",
]
