"""Run every GPU rung of the table and save the results: `python gpu_results.py results.npz [other.npz]`.

With `other.npz`, the results of another way, only the rungs that have one there are run. Run under different values of
DLKERNELS_DEVICE, it shows whether two ways of running CUDA kernels agree. numba's simulator has no warp operations and
no intrinsics: a rung that needs one is saved as an empty array there.
"""

import re
import sys
import threading

import numpy as np

from dlkernels import device, implementations

#: What numba says of a kernel that asks for something which its simulator does not have.
NOT_THERE = re.compile(
    r"not usable in pure-python"
    r"|\b(shfl_\w+|ballot_sync|any_sync|all_sync|match_\w+|syncwarp|activemask|laneid|cg)\b"
)
SMALL = 1000  # the product of a shape: the simulator has a thread of the system for each of a kernel's
#: operation -> [(shape, seed)]: several blocks, steps of a loop, tiles that are not full, where the examples are one-sided.
CALLS = {
    "matmul": [((17, 19, 41), 1)],
    "matmul_backward": [((17, 9, 19), 1)],
    "conv2d": [((1, 4, 3, 9, 9, 3), 0), ((1, 3, 1, 9, 9, 3), 4)],
    "conv2d_backward": [((1, 2, 3, 7, 7, 3), 0)],
    "scaled_dot_product_attention": [((1, 2, 20, 9, 6, 5), 1)],
    "rnn": [((2, 2, 5, 7), 0)],
    "lstm": [((2, 2, 5, 7), 0)],
    "gru": [((2, 2, 5, 7), 0)],
    "min_gru_backward": [((2, 3, 7, 1), 0)],
    "min_lstm_backward": [((2, 3, 7, 1), 0)],
    "scan": [((300,), 0)],
    "scan_backward": [((300,), 0)],
    "sum": [((300, 2), 2)],
    "cumsum": [((300,), 0)],
    "transpose": [((40, 70), 0)],
    "histogram": [((3000,), 2)],
}


def calls(operation):
    """[(shape, seed)] of an operation: the largest of its small examples, or what is named above."""
    shapes = implementations.OPERATIONS[operation].examples.shapes
    fit = [shape for shape in shapes if 0 < np.prod(shape) <= SMALL]
    return CALLS.get(operation) or [(max(fit, key=np.prod), 1)]


def end_threads():
    """Wait for the threads of a kernel that failed: numba's simulator does not, and a module whose device function one
    of them is in has a false `cuda` as long."""
    for thread in threading.enumerate():
        if type(thread).__name__ == "BlockThread":
            thread.join(60)


def flat(result):
    """The arrays of a result; networks have a tuple for the layers in it."""
    return [one for part in result for one in flat(part)] if isinstance(result, tuple) else [result]


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
            end_threads()
        for number, part in enumerate(flat(result)):
            yield f"{row.name} {shape} {number}", part


if __name__ == "__main__":
    path, *others = sys.argv[1:]
    wanted = {name for other in others for name, result in np.load(other).items() if result.size} if others else None
    np.savez(path, **dict(results(wanted)))
