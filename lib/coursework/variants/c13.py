"""Other numbers for the predictions of chapter 13."""

from ..tasks.c13.bytes import asked
from . import Asked, Variants

VARIANTS = {
    "13-bytes": Variants(
        {"outs": 1024, "ins": 4096, "group": 64, "percent": 10},
        {
            "outs": (512, 768, 1024, 3072),
            "ins": (1024, 2048, 4096, 8192),
            "group": (32, 64, 128),
            "percent": (5, 10, 20),
        },
        "the weight is {outs} x {ins}, groups have {group} weights, and {percent} % are left in CSR.",
        lambda **numbers: {name: Asked(*fields) for name, fields in asked(**numbers).items()},
    )
}
