"""Decide once where CUDA kernels run, and offer the answer as ``cuda``.

``from dlkernels import cuda`` is

* ``numba.cuda`` itself where an NVIDIA GPU is found (install the ``gpu`` extra),
* otherwise ``simt.cuda``, the executor: same names, every thread run on the CPU.

Set ``DLKERNELS_DEVICE`` before the first import to force a choice: ``gpu``, ``executor``, or
``simulator`` (numba's own simulator; slower and less strict, kept as an independent check).
"""

import ctypes
import importlib
import os
import sys

import numpy as np

CHOICES = ("gpu", "executor", "simulator")


def _driver_found():
    """Whether NVIDIA's driver can be loaded: a fraction of a millisecond, where numba.cuda takes a third of a
    second."""
    if os.environ.get("NUMBA_CUDA_DRIVER"):
        return True  # somewhere else: numba.cuda knows what to do with it
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def _gpu_found():
    """True where numba sees a GPU. A broken driver counts as none: the course must still open."""
    if not _driver_found():
        return False
    try:
        return bool(importlib.import_module("numba.cuda").is_available())
    except Exception:
        return False


def _choose():
    wish = os.environ.get("DLKERNELS_DEVICE", "").strip().lower()
    if wish and wish not in CHOICES:
        raise ValueError(f"DLKERNELS_DEVICE is {wish!r}; expected one of {', '.join(CHOICES)}, or leave it unset.")
    if wish == "gpu" and not _gpu_found():
        raise RuntimeError(
            "DLKERNELS_DEVICE asks for a GPU, but numba.cuda finds none. "
            "Install the extra with `pip install dlkernels[gpu]`, check `nvidia-smi`, or unset the variable."
        )
    return wish or ("gpu" if _gpu_found() else "executor")


def _load(choice):
    if choice == "simulator":
        import numba

        numba.config.ENABLE_CUDASIM = 1  # only works before numba.cuda is imported
    return importlib.import_module("simt.cuda" if choice == "executor" else "numba.cuda")


name = _choose()
cuda = _load(name)


def describe():
    """One sentence for the first cell of a notebook: which device runs the kernels, and what that means."""
    if name == "gpu":
        gpu = cuda.get_current_device()
        label = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
        return f"CUDA kernels are compiled and run on your GPU ({label})."
    if name == "simulator":
        return "CUDA kernels run in numba's simulator on the CPU."
    return "No GPU found: small launches of CUDA kernels run on the CPU thread by thread, large ones compiled."


def last_launch():
    """One sentence: where the last kernel ran, and why there."""
    if name != "executor":
        return "It ran on your GPU." if name == "gpu" else "It ran in numba's simulator on the CPU."
    return str(cuda.last_launch() or "No kernel has run yet.")


def compute_capability():
    """(major, minor) of the GPU that runs kernels; None where the executor or the simulator stands in for one."""
    return tuple(cuda.get_current_device().compute_capability) if name == "gpu" else None


def is_device_array(x):
    """True for an array in device memory (of a GPU, or of the executor that stands in for one)."""
    return not isinstance(x, np.ndarray) and hasattr(x, "copy_to_host")
