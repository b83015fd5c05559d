"""Other numbers for the predictions of chapter 15."""

from ..tasks.c15.profile import asked
from . import Asked, Variants

VARIANTS = {
    "15-profile": Variants(
        {"steps": 10, "forward": 40, "relu": 10, "compiling": 1450, "scatter": 200, "rows": 256, "row": 300},
        {
            "steps": (5, 10, 20),
            "forward": (30, 40, 60),
            "relu": (10, 20),
            "compiling": (800, 1450, 2200),
            "scatter": (120, 200, 280),
            "rows": (128, 256, 512),
            "row": (300, 420),
        },
        "{steps} steps; own milliseconds: forward {forward}, relu {relu}, compile {compiling}, scatter {scatter}, row "
        "{row}; row is called {rows} times in each step.",
        lambda **numbers: {name: Asked(*fields) for name, fields in asked(**numbers).items()},
    )
}
