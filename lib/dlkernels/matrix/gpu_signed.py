"""The register tile of gpu.py with signed indices: no rung, but what shows the cost of a sign.

numba gives a negative index Python's meaning, the other end of the array, so a signed index costs a comparison and a
selection at each access. `SIGNED` is `tile_2d_kernel`, line by line the same, with 64-bit signed numbers (Python's
integers, as numba reads them) in place of unsigned ones. It has a rung's name and kernels, and is only compiled.
"""

import types

import numpy as np

from .gpu import LINES, tile_2d_kernel


def _with_signed_indices(kernel):
    function = kernel.py_func
    names = {**function.__globals__, "u32": np.int64}
    return types.FunctionType(function.__code__, names, "tile_2d_signed_kernel")


SIGNED = types.SimpleNamespace(
    name="tile_2d_signed",
    kernels=((_with_signed_indices(tile_2d_kernel), [LINES[0].replace("uint32", "int64")]),),
    capability=None,
)
