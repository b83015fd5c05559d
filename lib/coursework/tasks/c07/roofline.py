"""07-roofline: A fused loop of yours under the roof."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.measured import Card, MeasuredTask


def swish_arguments(rows, features):
    """make(rng) -> x (rows, features), scale and shift (features,), out (rows, features)."""
    return lambda rng: (
        (5 * random_values(rng, rows, features)).astype(np.float32),
        random_values(rng, features),
        random_values(rng, features),
        unwritten(rows, features),
    )


def hard_swish(x, scale, shift, divisor=6):
    """z * min(max(z + 3, 0), 6) / 6 with z = x * scale + shift, float64."""
    z = x.astype(np.float64) * scale + shift
    return z * np.clip(z + 3, 0, 6) / divisor


def _gated(x, scale, shift, gate):
    z = x.astype(np.float64) * scale + shift
    return z * gate(z) / 6


ROOFLINE = MeasuredTask(
    id="07-roofline",
    section=Section("7.2", "07_fusion", "Under the roof"),
    title="A fused loop of yours under the roof",
    objective="Count the flops and bytes of a fused loop, and say what bounds it",
    points=3,
    minutes=18,
    spec=lambda x, scale, shift, out: hard_swish(x, scale, shift),
    rtol=2e-5,
    atol=1e-5,
    cases=(
        Case("one element: 1 x 1", swish_arguments(1, 1)),
        Case("square: 12 x 12", swish_arguments(12, 12)),
        Case("tall: 40 x 7", swish_arguments(40, 7)),
        Case("wide: 3 x 65", swish_arguments(3, 65)),
    ),
    suspects=(
        Suspect(lambda x, scale, shift, out: hard_swish(x, scale, 0 * shift), "The shift was not added."),
        Suspect(lambda x, scale, shift, out: hard_swish(x, 0 * scale + 1, shift), "x was not multiplied by the scale."),
        Suspect(lambda x, scale, shift, out: hard_swish(x, scale, shift, 1), "The division by 6 is missing."),
        Suspect(
            lambda x, scale, shift, out: _gated(x, scale, shift, lambda z: np.clip(z, 0, 6)),
            "The gate is that of z + 3: it opens at -3 and is open at 3.",
        ),
        Suspect(
            lambda x, scale, shift, out: _gated(x, scale, shift, lambda z: 6),
            "This is z alone, as if the gate were always open. The gate is not below 0 and not above 6: which of the "
            "two is min, which max?",
        ),
        Suspect(
            lambda x, scale, shift, out: np.clip(x.astype(np.float64) * scale + shift + 3, 0, 6) / 6,
            "This is the gate alone: it must be multiplied by z.",
        ),
        Suspect(
            lambda x, scale, shift, out: (
                hard_swish(x, scale[: len(x), None], shift[: len(x), None]) if len(x) <= scale.size else np.zeros(0)
            ),
            "scale and shift were taken by rows; scale[j] belongs to feature (column) j.",
        ),
    ),
    claimed=Case("32 x 64", swish_arguments(32, 64)),
    measured=Case("4096 x 1024", swish_arguments(4096, 1024)),
    card=Card(peak=200e9, bandwidth=25e9),
    advice={
        "flops": "Write down the operations of one element as they stand in your loop: comparisons, min and max are "
        "none. Then multiply by the number of elements.",
        "moved": "Each element of x and out moves once, and has 4 bytes. scale and shift have one element for each "
        "feature, not for each row.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        "raised-IndexError": "An index left its array. scale and shift have one element for each column.",
    },
    hints=(
        "What would you write for one element x[i, j]? How many + - * / stand in it?",
        "z is one number in the inner loop, so that nothing between the operations goes to memory. min and max take "
        "two numbers in numba, and count as nothing here. The bytes are two matrices and two vectors.",
        "z takes a multiplication and an addition; the gate an addition, inside max and min; then one multiplication "
        "and one division. Multiply what you count by 32 * 64, and divide by all bytes.",
    ),
)
