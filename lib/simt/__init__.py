"""Two engines that run ``numba.cuda`` kernels on the CPU. The executor: thread by thread, in an order that is always
the same.

The compiled engine (``simt.compiled``, loaded when it is used): for real sizes; policy.py says which of them runs a
launch. ``cuda`` carries the names of ``numba.cuda``. ``run(kernel, grid, block, args, trace=Trace())`` records every
access.

The files beside the folders, which lib/README.md names, in reading order:

a launch       cuda.py (the names), dispatcher.py (what jit returns), kernel.py, settings.py (order, budget), work.py
               (how much), policy.py (which engine), limits.py (a real GPU's), progress.py, interrupts.py (Ctrl-C)
the device     hostarrays.py, streams.py, trace.py and recording.py (what a launch does), numbers.py (arithmetic)
for kernels    intrinsics.py (stand-ins), libdevice.py, fp16.py, random.py, vectors.py
other code     activation.py, pytest_plugin.py, testing.py, vectorizers.py, retargeting.py (to the compiler, or the
               simulator)
words          errors.py, show.py
"""

import importlib

# Name -> where it is defined. Loaded when it is asked for: who wants one small part does not wait for numba.
_HOMES = {
    "activate": "activation",
    "deactivate": "activation",
    "cuda": "cuda",
    "count": "compiled.census",
    "prove": "proof",
    "run": "executor.launch",
    "stand_in": "intrinsics",
    "warp_stand_in": "intrinsics",
    "last_launch": "policy",
    "retarget": "retargeting",
    "budget": "settings",
    "order": "settings",
    "Trace": "trace",
} | dict.fromkeys(
    (
        "Deadlock", "KernelError", "LaunchError", "NotFollowed", "NotOnAGpu", "OutOfBounds", "SourceNotFound",
        "TooManyIterations", "Unsupported",
    ),
    "errors",
)  # fmt: skip

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{_HOMES[name]}", __name__)
    value = module if name == _HOMES[name] == "cuda" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
