"""12-adam: Adam in one pass."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

_NOTHING = np.zeros(0)


def adam(p, g, m, v, step, lr, decay, out, b1=0.9, b2=0.999, eps=1e-8, correct=True, coupled=False, root=True, order=True):
    p, g, m, v = (x.astype(np.float64) for x in (p, g, m, v))
    g = g + decay * p if coupled else g
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    rise, squares = (m / (1 - b1**step), v / (1 - b2**step)) if correct else (m, v)
    below = np.sqrt(squares) + eps if order else np.sqrt(squares + eps)
    below = below if root else squares + eps
    kept = p if coupled else p - lr * decay * p
    return np.stack([kept - lr * rise / below, m, v])


def _but(**mistake):
    return lambda *arguments: adam(*arguments, **mistake)


def adam_case(name, n, step=3, decay=0.0, first=False):
    """Parameters, gradients and both averages, (n,), the step's number, the rate, the decay; out (3, n)."""

    def make(rng):
        p, g, m = (random_values(rng, n) for _ in range(3))
        v = np.abs(random_values(rng, n)) + np.float32(0.1)
        if first:
            m, v = 0 * m, 0 * v
        return p, g, m, v, step, 0.01, decay, unwritten(3, n)

    return Case(f"{name}: {n} parameters, step {step}, decay {decay}", make, grid=-(-n // 128), block=128)


def _of_step(change):
    """adam with another number of the step."""
    return lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, change(step), lr, decay, out)


ADAM = KernelTask(
    id="12-adam",
    section=Section("12.2", "12_step", "Adam in one pass"),
    title="Adam in one pass",
    objective="Write an optimiser's step that reads and writes each number once",
    points=2,
    minutes=18,
    spec=lambda *arguments: adam(*arguments),
    rtol=1e-4,
    atol=1e-6,
    writer=lambda index, case: divmod(index[1], 128),
    cases=(
        adam_case("the first step", 128, 1, 0.0, True),
        adam_case("ragged", 200, 3),
        adam_case("with decay", 130, 7, 0.1),
        adam_case("late", 40, 5000),
    ),
    suspects=(
        Suspect(
            _but(correct=False),
            "The averages were used as they are. They began with 0, and are too small at first: divide by 1 - beta**step.",
        ),
        Suspect(
            _but(coupled=True),
            "The decay went into the gradient, as in Adam. Here, as in AdamW, it shrinks the parameter by itself: p less lr * decay * p.",
        ),
        Suspect(_but(root=False), "The step was divided by the average of the squares. It is divided by its root."),
        Suspect(_but(order=False), "eps was added under the root. It is added to the root."),
        Suspect(_of_step(lambda step: step + 1), "The step was counted one too many: the first step has the number 1, and `step` is it."),
        Suspect(_of_step(lambda step: 1), "The correction is always that of the first step. The exponent is `step`."),
        Suspect(
            lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, step, lr, 0.0, out) if decay else _NOTHING,
            "The decay is missing: the parameter shrinks by lr * decay * p as well.",
        ),
        Suspect(_but(b1=0.999, b2=0.9), "0.9 and 0.999 changed places: 0.9 belongs to the gradients, 0.999 to their squares."),
        Suspect(
            lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, step, -lr, -decay, out),
            "The parameter moved up the slope: the step is subtracted.",
        ),
    ),
    advice={
        "some-unwritten": "Three rows of out have to be written: the new parameter, the new average of the gradients, that of their squares.",
        "wrong-value": "Compute one element by hand: m and v first, then both divided by their correction, then the new parameter from the "
        "*new* averages.",
        "not-finite": "A division by 0: eps is added to the root, and 1 - 0.9**step is not 0 from step 1 on.",
        "out-of-bounds": "The last block has threads beyond the end: guard them with `if i < p.size:`.",
    },
    budget=Budget(
        points=1,
        text="four loads and three stores for each parameter: for 256 parameters 32 load and 24 store requests",
        require={"global_load_requests": 32, "global_store_requests": 24},
        over="The result is right, but numbers are read again that the thread has had, or out is read back. Keep them in variables.",
        case=adam_case("exact", 256, 2, 0.1),
    ),
    hints=(
        "What does a thread need of its parameter, and what does it leave behind? Count the numbers.",
        "Load p, g, m and v into variables. Compute the new m and v in variables, too; from these the new p; then store the three.",
        "1 - 0.9**step is the same for all threads, and a number: each may compute it. math.sqrt takes one number.",
    ),
)
