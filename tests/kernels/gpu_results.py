"""Run every GPU rung of the table and save the results: `python gpu_results.py results.npz [other.npz]`.

With `other.npz`, the results of another way, only the rungs that have one there are run. Run under different values of DLKERNELS_DEVICE, it shows whether two ways of running CUDA kernels agree. numba's
simulator has no warp operations and no intrinsics: a rung that needs one is saved as an empty array there.
"""

import re
import sys

import numpy as np

from dlkernels import device, implementations

#: What numba says of a kernel that asks for something which its simulator does not have.
NOT_THERE = re.compile(
    r"not usable in pure-python"
    r"|\b(shfl_\w+|ballot_sync|any_sync|all_sync|match_\w+|syncwarp|activemask|laneid|cg)\b"
)
SMALL = 300  # elements: the simulator has a thread of the system for each of a kernel's
#: operation -> (shape, seed) of further calls: several blocks, steps of a loop, tiles that are not full.
MORE = {
    "sum": [((600,), 0), ((64, 40), 2)],
    "cumsum": [((2, 300), 1)],
    "transpose": [((40, 70), 0)],
    "histogram": [((3000,), 2)],
}


def calls(operation):
    """[(shape, seed)] of an operation: the last of its small examples, and more of those named above."""
    shapes = implementations.OPERATIONS[operation].examples.shapes
    return [(shape, 1) for shape in shapes if 0 < np.prod(shape) <= SMALL][-1:] + MORE.get(operation, [])


def results(wanted):
    rungs = [row for row in implementations.everything() if row.device == "gpu"]
    for row, shape, seed in ((rung, *call) for rung in rungs for call in calls(rung.operation)):
        if wanted is not None and f"{row.name} {shape} 0" not in wanted:
            continue
        examples = implementations.OPERATIONS[row.operation].examples
        try:
            result = row(*examples.make(shape, seed, dtype=examples.dtypes[0]))
        except Exception as error:
            if device.name != "simulator" or not NOT_THERE.search(str(error)):
                raise
            result = np.empty(0)
        for number, part in enumerate(result if isinstance(result, tuple) else (result,)):
            yield f"{row.name} {shape} {number}", part


if __name__ == "__main__":
    path, *others = sys.argv[1:]
    wanted = {name for other in others for name, result in np.load(other).items() if result.size} if others else None
    np.savez(path, **dict(results(wanted)))
