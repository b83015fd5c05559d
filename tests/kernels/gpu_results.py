"""Run every GPU rung of the table and save the results: `python gpu_results.py results.npz [other.npz]`.

With `other.npz`, the results of another way, only the rungs that have one there are run. Run under different values of DLKERNELS_DEVICE, it shows whether two ways of running CUDA kernels agree. numba's
simulator has no warp operations and no intrinsics: a rung that needs one is saved as an empty array there.
"""

import sys

import numpy as np

from dlkernels import device, implementations

WARP_OPERATIONS = (
    "not usable in pure-python",
    "shfl_",
    "ballot_sync",
    "any_sync",
    "all_sync",
    "match_",
    "syncwarp",
    "activemask",
    "laneid",
    "cg",
)


def results(wanted):
    for row in implementations.everything():
        examples = implementations.OPERATIONS[row.operation].examples
        for shape in [s for s in examples.shapes if 0 < np.prod(s) <= 300][-1:] if row.device == "gpu" else ():
            if wanted is not None and f"{row.name} {shape} 0" not in wanted:
                continue
            arguments = examples.make(shape, 1, dtype=examples.dtypes[0])
            try:
                result = row(*arguments)
            except Exception as error:
                if device.name != "simulator" or not any(name in str(error) for name in WARP_OPERATIONS):
                    raise
                result = np.empty(0)
            for number, part in enumerate(result if isinstance(result, tuple) else (result,)):
                yield f"{row.name} {shape} {number}", part


if __name__ == "__main__":
    path, *others = sys.argv[1:]
    wanted = {name for other in others for name, result in np.load(other).items() if result.size} if others else None
    np.savez(path, **dict(results(wanted)))
