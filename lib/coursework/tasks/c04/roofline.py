"""04-roofline: A loop of yours under the roofline."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.measured import Card, MeasuredTask

DEGREE, ELEMENTS = 12, 2048


def poly_arguments(n, degree=DEGREE):
    """make(rng) -> x of shape (n,), c of shape (degree + 1,), out of shape (n,)."""
    return lambda rng: (random_values(rng, n), random_values(rng, degree + 1), unwritten(n))


def _poly(x, c):
    return sum(factor * x.astype(np.float64) ** k for k, factor in enumerate(c.astype(np.float64)))


ROOFLINE = MeasuredTask(
    id="04-roofline",
    section=Section("4.2", "04_vectors", "The roof, and points under it"),
    title="A loop of yours under the roofline",
    objective="Count the flops and bytes of a loop of your own, and say which roof is over it",
    points=4,
    minutes=15,
    spec=lambda x, c, out: _poly(x, c),
    atol=1e-5,
    cases=(
        Case("n = 100, degree 12", poly_arguments(100)),
        Case("one element, degree 3", poly_arguments(1, 3)),
        Case("n = 33, degree 0: a constant", poly_arguments(33, 0)),
    ),
    suspects=(
        Suspect(lambda x, c, out: _poly(x, c[::-1]), "The coefficients were taken backwards: c[0] is the constant."),
        Suspect(lambda x, c, out: _poly(x, c[:-1]), "The last coefficient is missing: c has c.size of them."),
        Suspect(lambda x, c, out: _poly(x, c) * x, "One multiplication by x too many: c[0] stands alone."),
        Suspect(
            lambda x, c, out: _poly(x, c[1:]) if c.size > 1 else c[:1] + 0 * x,
            "c[0] is missing: `range(..., 0, -1)` ends before 0, so the inner loop never comes to it.",
        ),
        Suspect(
            lambda x, c, out: _poly(x, np.append(c, c[-1])),
            "The last coefficient went in twice: the sum begins with it, so the loop begins with the one before.",
        ),
    ),
    claimed=Case(f"n = {ELEMENTS}, degree {DEGREE}", poly_arguments(ELEMENTS)),
    measured=Case("n = 4.2 million", poly_arguments(1 << 22)),
    card=Card(peak=100e9, bandwidth=20e9),
    advice={
        "flops": f"Take one element: how often does your loop multiply, how often add? There are {ELEMENTS} elements. "
        "What counts is your own loop, as it stands.",
        "moved": "Each element of x, c and out moves once, and has 4 bytes. The few of c hardly count.",
        "roof": "Left of the ridge memory binds, right of it arithmetic. Where does your intensity lie?",
        **dict.fromkeys(
            ("not-finite", "nothing-written"),
            "out holds NaN at first. Add up in a variable of your own, and store it at the end.",
        ),
    },
    hints=(
        "For one element of x, how many multiplications and additions does Horner's rule need for 13 coefficients?",
        "Begin with the last coefficient. Then, for each one before it: multiply by x[i], add the coefficient. The "
        "flops are those of one element times n; the bytes are those of x and out, and a few of c.",
        "Which coefficient does the inner loop begin with, the last one or the one before it, and with which does it "
        "end? It goes backwards, and has one line that multiplies and adds. Each round is two flops. The ridge is peak "
        "divided by bandwidth.",
    ),
)
