"""12-adam: Adam in one pass."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

_NOTHING = np.zeros(0)
_ROWS = (
    "Elements of out were not written. Its three rows are the new parameter, the new average of the gradients and that "
    "of their squares, and each thread with a parameter writes one number in each: out[0, i], out[1, i], out[2, i]. "
    "Its number in the grid, i, is cuda.grid(1)."
)


def adam(p, g, m, v, step, lr, decay, out, b1=0.9, b2=0.999, eps=1e-8, correct="both", coupled=False, root=True,
         order=True, shrink=None, old=False, after=False, mixed=False, keep=False, square=True):  # fmt: skip
    p, g, m, v = (x.astype(np.float64) for x in (p, g, m, v))
    g = g + decay * p if coupled else g
    before, (m, v) = (
        (m, v),
        (
            b1 * m + (1 - b1) * g,
            b2 * v
            + (1 - b2) * {True: g * g, False: g, "mean": (b1 * m + (1 - b1) * g) ** 2, "all": (1 - b2) * g * g}[square],
        ),
    )
    m = 0.1 * before[0] + 0.9 * g if mixed else m
    rise, squares = before if old else (m, v)
    rise = rise / (1 - b1**step) if correct in ("both", "mean", "the same") else rise
    squares = squares / (1 - b2**step) if correct in ("both", "squares") else squares
    squares = squares / (1 - b1**step) if correct == "the same" else squares
    below = np.sqrt(squares) + eps if order else np.sqrt(squares + eps)
    below = below if root else squares + eps
    if after:
        return np.stack([(p - lr * rise / below) * (1 - lr * decay), m, v])
    kept = p if coupled else p - (lr if shrink is None else shrink) * decay * p
    return np.stack([kept - lr * rise / below, *((rise, squares) if keep else (m, v))])


def _but(**mistake):
    return lambda *arguments: adam(*arguments, **mistake)


def adam_case(name, n, step=3, decay=0.0, first_step=False, size=1.0, lr=0.01):
    """Parameters, gradients and both averages, (n,), the step's number, the rate, the decay; out (3, n)."""

    def make(rng):
        p, g, m = (random_values(rng, n) for _ in range(3))
        v = np.abs(random_values(rng, n)) + np.float32(0.1)
        if first_step:
            m, v = 0 * m, 0 * v
        if size != 1:  # beside eps, and some parameters that have never had a gradient
            g, m, v = np.float32(size) * g, np.float32(size) * m, np.float32(size**2) * v
            g[:5], m[:5], v[:5] = 0, 0, 0
        return p, g, m, v, step, lr, decay, unwritten(3, n)

    return Case(f"{name}: {n} parameters, step {step}, decay {decay}", make, grid=-(-n // 128), block=128)


def _of_step(change):
    """adam with another number of the step."""
    return lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, change(step), lr, decay, out)


def _moved_by(rule):
    """adam with another rule for what is taken off the parameter: rule(g, m, v, step), m and v the new averages."""

    def formula(p, g, m, v, step, lr, decay, out):
        found = adam(p, g, m, v, step, lr, decay, out)
        p = p.astype(np.float64)
        with np.errstate(all="ignore"):
            found[0] = p - lr * decay * p - lr * rule(g.astype(np.float64), found[1], found[2], step)
        return found

    return formula


ADAM = KernelTask(
    id="12-adam",
    section=Section("12.2", "12_step", "Adam in one pass"),
    title="Adam in one pass",
    objective="Write an optimiser's step that reads and writes each number once",
    points=2,
    minutes=18,
    spec=lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, step, lr, decay, out),
    rtol=1e-4,
    atol=1e-6,
    writer=lambda index, case: divmod(index[1], 128),
    cases=(
        adam_case("one block, exact, the first step", 128, 1, 0.0, True),
        adam_case("ragged", 200, 3),
        adam_case("with decay", 130, 7, 0.5, lr=0.1),
        adam_case("late", 40, 5000),
        adam_case("tiny gradients, some 0", 96, 2, size=1e-7),
    ),
    suspects=(
        Suspect(
            _but(correct=""),
            "The averages were used as they are. They began with 0, and are too small at first: divide by 1 - "
            "beta**step.",
        ),
        Suspect(
            _but(correct="squares"),
            "The average of the gradients was used as it is. It began with 0, too, and is divided by its own "
            "correction, 1 - 0.9**step.",
        ),
        Suspect(
            _but(correct="mean"),
            "The average of the squares was used as it is. It began with 0, too, and is divided by its own correction, "
            "1 - 0.999**step.",
        ),
        Suspect(
            _but(keep=True),
            "The corrected averages were kept. The next step goes on from the averages without the correction: these "
            "are out[1] and out[2].",
        ),
        Suspect(
            _but(old=True), "The step was made with the averages of before. This step's gradient goes into them first."
        ),
        Suspect(
            lambda *a: adam(*a, shrink=1.0) if a[6] else _NOTHING,
            "The parameter shrank by decay * p, without the rate. It is lr * decay * p.",
        ),
        Suspect(
            lambda *a: adam(*a, after=True) if a[6] else _NOTHING,
            "The decay was taken off the parameter after its step. It is lr * decay * p, with p as it was.",
        ),
        Suspect(
            _but(mixed=True),
            "0.9 and 0.1 changed places: the average keeps 0.9 of itself, and takes in 0.1 of the new gradient.",
        ),
        Suspect(
            lambda *a: adam(*a)[[0, 2, 1]],
            "The two averages changed places: out[1] is that of the gradients, out[2] of the squares.",
        ),
        Suspect(
            _but(correct="the same"), "Each average has its own correction: that of the squares is 1 - 0.999**step."
        ),
        Suspect(
            _but(square="mean"),
            "The second average is of the squares of the gradients, g * g, not of the first average's.",
        ),
        Suspect(_but(square=False), "The second average is of the squares of the gradients: 0.001 * g * g."),
        Suspect(
            _but(coupled=True),
            "The decay went into the gradient, as in Adam. Here, as in AdamW, it shrinks the parameter by itself: p "
            "less lr * decay * p.",
        ),
        Suspect(_but(root=False), "The step was divided by the average of the squares. It is divided by its root."),
        Suspect(_but(order=False), "eps was added under the root. It is added to the root."),
        Suspect(
            _of_step(lambda step: step + 1),
            "The step was counted one too many: the first step has the number 1, and `step` is it.",
        ),
        Suspect(_of_step(lambda step: 1), "The correction is always that of the first step. The exponent is `step`."),
        Suspect(
            lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, step, lr, 0.0, out) if decay else _NOTHING,
            "The decay is missing: the parameter shrinks by lr * decay * p as well.",
        ),
        Suspect(
            _but(b1=0.999, b2=0.9),
            "0.9 and 0.999 changed places: 0.9 belongs to the gradients, 0.999 to their squares.",
        ),
        *(
            Suspect(
                _moved_by(rule),
                "The step has no root below it. The average of the gradients is divided by the root of that of their "
                "squares.",
            )
            for rule in (lambda g, m, v, step: g, lambda g, m, v, step: m, lambda g, m, v, step: m / (1 - 0.9**step))
        ),
        Suspect(
            _moved_by(lambda g, m, v, step: m / (1 - 0.999**step) / (np.sqrt(v / (1 - 0.9**step)) + 1e-8)),
            "The corrections changed places: 1 - 0.9**step belongs to the average of the gradients, 1 - 0.999**step to "
            "that of the squares.",
        ),
        *(
            Suspect(
                _moved_by(rule),
                "The corrections have powers in them: 0.9**step is 0.9 multiplied by itself, not 0.9 * step.",
            )
            for rule in (
                lambda g, m, v, step: m / (1 - 0.9 * step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8),
                lambda g, m, v, step: m / (1 - 0.9 * step) / (np.sqrt(v / (1 - 0.999 * step)) + 1e-8),
            )
        ),
        Suspect(
            _but(square="all"),
            "0.001 was squared as well: the new average is 0.999 of the old one and 0.001 of the squared gradient, "
            "0.001 * g * g.",
        ),
        Suspect(
            lambda p, g, m, v, step, lr, decay, out: adam(p, g, m, v, step, -lr, -decay, out),
            "The parameter moved up the slope: the step is subtracted.",
        ),
    ),
    advice={
        **dict.fromkeys(("some-unwritten", "first-round-only", "tail", "head", "one-block"), _ROWS),
        "wrong-value": "Compute one element by hand: m and v first, then both divided by their correction, then the "
        "new parameter from the new averages.",
        "not-finite": "A division by 0, or the root of a number below 0. eps is added to the root; 1 - 0.9**step is "
        "not 0 from step 1 on; and the average of squares, g * g, is never negative.",
        "out-of-bounds": "The last block has threads beyond the end: guard them with `if i < p.size:`. And the row "
        "comes first: out[0, i].",
    },
    budget=Budget(
        points=1,
        text="four loads and three stores for each parameter: for 256 parameters 32 load and 24 store requests",
        require={"global_load_requests": 32, "global_store_requests": 24},
        over="The result is right, but numbers are read again that the thread has had, or out is read back. Keep them "
        "in variables.",
        case=adam_case("exact", 256, 2, 0.1),
    ),
    hints=(
        "What does a thread need of its parameter, and what does it leave behind? Count the numbers.",
        "Load p, g, m and v into variables. Compute the new m and v in variables, too; from these the new p; then "
        "store the three.",
        "1 - 0.9**step is the same for all threads, and a number: each may compute it. math.sqrt takes one number.",
    ),
)
