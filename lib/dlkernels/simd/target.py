"""Which vectors the machine has, as numba compiles for it (``NUMBA_CPU_NAME`` is honoured)."""

import functools
import platform

import numpy as np
from numba.core.registry import cpu_target

# Widest first: the name readers know, LLVM's name of the feature, bytes in one register.
_SETS = (("AVX-512", "avx512f", 64), ("AVX2", "avx2", 32), ("AVX", "avx", 32), ("NEON", "neon", 16))


@functools.cache
def _features():
    """What numba's compiler may use, by LLVM's names; NUMBA_CPU_FEATURES is honoured."""
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return frozenset(feature[1:] for feature in features if feature.startswith("+"))


def has(feature):
    """Whether the machine has the instructions that LLVM calls ``feature``, such as "avx512vnni"."""
    return feature in _features()


@functools.cache
def _found():
    """(name, bytes) of the widest vectors that numba's compiler may use."""
    for name, feature, size in _SETS:
        if has(feature):
            return name, size
    # Every 64-bit x86 has SSE2 and every 64-bit Arm has NEON, whether listed or not.
    return ("NEON" if platform.machine().lower() in ("arm64", "aarch64") else "SSE2"), 16


def instruction_set():
    """Name of the widest vector instruction set in use: AVX-512, AVX2, AVX, NEON or SSE2."""
    return _found()[0]


def vector_bytes():
    """Bytes in one vector register: 64, 32 or 16."""
    return _found()[1]


def vector_width(dtype=np.float32):
    """Elements of ``dtype`` in one vector register: for float32 16 (AVX-512), 8 (AVX2) or 4 (NEON, SSE2)."""
    return vector_bytes() // np.dtype(dtype).itemsize


def vector_registers():
    """How many vector registers there are: 32 (AVX-512, NEON) or 16."""
    return 32 if instruction_set() in ("AVX-512", "NEON") else 16
