"""07-fused: Bias and SiLU in one pass on all cores."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import silu


def fused_arguments(rows, features, scale=1.0):
    def make(rng):
        x, bias = random_values(rng, rows, features), random_values(rng, features)
        return (np.float32(scale) * x, bias, unwritten(rows, features))

    return make


FUSED = ParallelTask(
    id="07-fused",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="Bias and SiLU in one pass on all cores",
    objective="Fuse two element-wise operations so that no temporary array is made",
    points=3,
    minutes=22,
    spec=lambda x, bias, out: silu(x.astype(np.float64) + bias),
    rtol=2e-5,
    cases=(
        Case("one row: 1 x 8", fused_arguments(1, 8)),
        Case("square: 16 x 16", fused_arguments(16, 16)),
        Case("tall: 130 x 7", fused_arguments(130, 7)),
        Case("large numbers, up to 1000: 20 x 33", fused_arguments(20, 33, scale=1000)),
    ),
    suspects=(
        Suspect(lambda x, bias, out: silu(x), "This is silu(x): the bias was not added."),
        Suspect(lambda x, bias, out: 1 / (1 + np.exp(-(x + bias))), "This is sigmoid(z). SiLU is z * sigmoid(z)."),
        Suspect(
            lambda x, bias, out: x * silu(x + bias) / (x + bias), "This is x * sigmoid(z): the factor must be z too."
        ),
        Suspect(lambda x, bias, out: np.maximum(x + bias, 0), "This is ReLU of x + bias."),
        Suspect(
            lambda x, bias, out: silu(x + bias[: len(x), None]) if len(x) <= bias.size else np.zeros(0),
            "The bias was added along the rows; bias[j] belongs to feature (column) j.",
        ),
    ),
    advice={
        "not-finite": (
            "exp of a large number is infinite in floating point, and inf / inf is not a number. "
            "1 / (1 + exp(-z)) never divides infinity by infinity."
        ),
        "wrong-value": (
            "z is x[i, j] + bias[j] as it is, not clipped, and the result z / (1 + exp(-z)): mind the sign of the "
            "exponent."
        ),
        "raised-IndexError": "An index left its array. bias has one element for each column, not for each row.",
    },
    watch=Watch(case=Case("5 x 16, two threads", fused_arguments(5, 16))),
    budget=Budget(
        points=2,
        text="no array allocated inside the function",
        require={"arrays": 0, "numpy_bytes": 4096},
        over=(
            "The result is right, but a whole array is made on the way: memory is written and read once more. "
            "Work on one number at a time: z = x[i, j] + bias[j]."
        ),
        case=Case("256 x 64", fused_arguments(256, 64)),
    ),
    hints=(
        "x + bias on whole arrays makes an array. What would you write for one element x[i, j]?",
        "Two loops: `for i in prange(...)` over the rows, so that threads share the rows, and a plain `range` over the "
        "columns. Inside, z is one number.",
        "z * sigmoid(z) is one division: put 1 / (1 + exp(-z)) in the place of sigmoid(z). z is a variable of the "
        "inner loop, and math.exp takes one number.",
    ),
)
