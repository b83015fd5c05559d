"""Other numbers for the predictions of chapter 12."""

from ..tasks.c12.memory import asked
from . import Asked, Variants

VARIANTS = {
    "12-memory": Variants(
        {"inputs": 64, "hidden": 256, "classes": 10, "batch": 128, "layers": 16},
        {
            "inputs": (64, 144, 256, 784),
            "hidden": (128, 192, 256, 320),
            "classes": (5, 10, 20),
            "batch": (32, 64, 128),
            "layers": (9, 16, 25, 36),
        },
        "the network goes from {inputs} numbers to {hidden} and to {classes}, in batches of {batch}; the other one has "
        "{layers} layers.",
        lambda **numbers: {name: Asked(*fields) for name, fields in asked(**numbers).items()},
    )
}
