"""07-bug: Repair two bugs in a backward pass."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask


def backward_arguments(n):
    def make(rng):
        x = random_values(rng, n)
        x[:: max(2, n // 10)] = 0  # ReLU has a corner at 0; the course takes the gradient 0 there, as PyTorch does
        return (random_values(rng, n), x, unwritten(n))

    return make


BUG = KernelTask(
    id="07-bug",
    section=Section("7.2", "07_fusion", "Backward"),
    title="Repair two bugs in a backward pass",
    objective="Debug a kernel from what its check reports",
    points=3,
    minutes=18,
    spec=lambda grad, x, out: np.where(x > 0, grad.astype(np.float64), 0.0),
    cases=(
        Case("one block: n = 32 in 1 block of 32", backward_arguments(32), grid=1, block=32),
        Case("exact: n = 256 in 4 blocks of 64", backward_arguments(256), grid=4, block=64),
        Case("ragged: n = 90 in 2 blocks of 64", backward_arguments(90), grid=2, block=64),
        Case("ragged: n = 300 in 5 blocks of 64", backward_arguments(300), grid=5, block=64),
    ),
    suspects=(
        Suspect(
            lambda grad, x, out: np.where(grad > 0, grad, 0),
            "This is relu(grad). Which array decides whether the gradient passes?",
        ),
        Suspect(
            lambda grad, x, out: np.where(x >= 0, grad, 0),
            "Right except where x is exactly 0: there the gradient is taken as 0, as PyTorch does.",
        ),
        Suspect(lambda grad, x, out: np.maximum(x, 0), "This is relu(x), the forward pass. The gradient is asked for."),
        Suspect(
            lambda grad, x, out: np.where((x > 0) & (grad > 0), grad, 0),
            "Where x > 0 a negative gradient passes, too: the sign of grad does not matter.",
        ),
        Suspect(
            lambda grad, x, out: np.where(x < 0, grad, 0),
            "The gradient passes where x < 0: the comparison is turned round.",
        ),
        Suspect(
            lambda grad, x, out: grad * np.maximum(x, 0), "This is multiplied by x. The slope of ReLU is 1 where x > 0."
        ),
        Suspect(lambda grad, x, out: grad, "This is grad itself: nothing was blocked where x <= 0."),
    ),
    advice={
        "tail": (
            "The last elements have no thread, although there are enough threads. Write down i for thread 0 of block "
            "0, 1 and 2: by how much should it grow from block to block?"
        ),
        "some-unwritten": "Where the gradient is blocked, 0 must be stored: out holds anything before.",
        "not-finite": "x is 0 in some places: 0 / 0 is not a number. Compare x with 0 instead of dividing.",
        "wrong-value": "Where x > 0 out is grad, and everywhere else it is 0, exactly.",
    },
    hints=(
        "Run the check on the kernel as it is, and believe the first case that fails. Is it an index or a value?",
        "One bug is in the index: look up what gridDim.x and blockDim.x count. The other is in the condition: ReLU's "
        "gradient is 1 where its input was positive.",
        "From one block to the next, i must grow by the number of threads in a block. And exchange the array in the "
        "condition: which of the two was the input of the forward pass?",
    ),
)
