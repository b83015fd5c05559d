"""Run every GPU rung of the table once and save the results: `python run_gpu_rungs.py results.npz`.

Run under different values of DLKERNELS_DEVICE, it shows whether two ways of running CUDA kernels agree.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.kernels import arguments

from dlkernels import implementations


def results(shapes=((300,), (5, 37))):
    for row in implementations.everything():
        if row.device == "gpu" and row.operation in (*arguments.ELEMENTWISE, "matmul"):
            for shape in shapes:
                yield f"{row.name} {shape}", row(*arguments.make(row.operation, shape, "float32"))


if __name__ == "__main__":
    np.savez(sys.argv[1], **dict(results()))
