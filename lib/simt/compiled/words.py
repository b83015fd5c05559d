"""The two LLVM types that generated code is full of."""

from llvmlite import ir
from numba.core import types

INDEX = ir.IntType(64)
FLAG = types.CPointer(types.int64)
