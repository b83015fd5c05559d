"""15-roofline: A step of the optimizer under the roof."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.measured import Card, MeasuredTask

RATE, MOMENTUM = 0.1, 0.9


def stepped(w, g, v, momentum=MOMENTUM, sign=-1, late=False, scaled=True):
    """New weights and velocity, (2, n), float64."""
    w, g, v = (x.astype(np.float64) for x in (w, g, v))
    new = momentum * v + g
    return np.stack([w + sign * (RATE if scaled else 1) * (v if late else new), new])


def step_arguments(n):
    return lambda rng: (random_values(rng, n), random_values(rng, n), random_values(rng, n), unwritten(2, n))


ROOFLINE = MeasuredTask(
    id="15-roofline",
    section=Section("15.2", "15_tuning", "A model that prunes"),
    title="A step of the optimizer under the roof",
    objective="Count the flops and bytes of a training step's last part, and say which roof binds",
    points=3,
    minutes=15,
    spec=lambda w, g, v, out: stepped(w, g, v),
    atol=1e-5,
    cases=(
        Case("one weight", step_arguments(1)),
        Case("7 weights", step_arguments(7)),
        Case("100 weights", step_arguments(100)),
    ),
    suspects=(
        Suspect(
            lambda w, g, v, out: stepped(w, g, v, sign=1), "The weights moved up the slope: the step is subtracted."
        ),
        Suspect(
            lambda w, g, v, out: stepped(w, g, v, late=True),
            "The weights moved by the old velocity: the new one is meant.",
        ),
        Suspect(lambda w, g, v, out: stepped(w, g, v, scaled=False), "The step was not multiplied by the rate, 0.1."),
        Suspect(lambda w, g, v, out: stepped(w, g, v, momentum=1.0), "The old velocity counts 0.9 times."),
        Suspect(lambda w, g, v, out: stepped(w, g, v, momentum=0.0), "The old velocity is missing."),
        Suspect(
            lambda w, g, v, out: stepped(w, MOMENTUM * g, v, momentum=1.0),
            "0.9 belongs to the old velocity, not to the gradient.",
        ),
        Suspect(
            lambda w, g, v, out: stepped(w, (1 - MOMENTUM) * g, v),
            "This is a running average. Here the gradient counts whole: 0.9 * v + g.",
        ),
        Suspect(lambda w, g, v, out: stepped(w, g, v)[::-1], "out[0] holds the weights, out[1] the velocity."),
    ),
    claimed=Case("1,000 weights", step_arguments(1000)),
    measured=Case("4 million weights", step_arguments(1 << 22)),
    card=Card(peak=200e9, bandwidth=25e9),
    advice={
        "flops": "For one weight: two multiplications, an addition and a subtraction, if the new velocity is worked "
        "out once.",
        "moved": "Three numbers are read for each weight, and two are written. Each has 4 bytes.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        **dict.fromkeys(
            ("not-finite", "some-unwritten"), "Each element of out is written once: out[0, i] and out[1, i]."
        ),
        "raised-TypeError": "Flops are counted of single elements: write a loop over i, with w[i], g[i], v[i], out[0, "
        "i] and out[1, i].",
        "raised-IndexError": "out has two rows: out[0, i] and out[1, i].",
    },
    hints=(
        "How many numbers does one weight's step read, and how many does it write?",
        "Keep the new velocity in a variable: it is stored, and used for the weight. Then count the operations in your "
        "lines.",
        "Four operations for each weight. Five numbers for each weight, with 4 bytes. Intensity: one by the other; "
        "compare it with the ridge, 200 / 25 flops per byte.",
    ),
)
