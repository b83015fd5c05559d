"""Other numbers for the predictions of chapter 14."""

from ..tasks.c14 import bytes as sent
from ..tasks.c14 import zero
from . import Asked, Variants


def _asked(of, **numbers):
    return {name: Asked(*fields) for name, fields in of(**numbers).items()}


VARIANTS = {
    "14-bytes": Variants(
        {"workers": 8, "millions": 3},
        {"workers": (4, 8, 16, 32), "millions": (2, 3, 5, 6)},
        "there are {workers} workers, with {millions} Mi numbers each.",
        lambda **numbers: _asked(sent.asked, **numbers),
    ),
    "14-zero": Variants(
        {"billions": 8, "workers": 64},
        {"billions": (3, 5, 8, 13, 20), "workers": (16, 32, 64, 128)},
        "the network has {billions} billion parameters, and there are {workers} workers.",
        lambda **numbers: _asked(zero.asked, **numbers),
    ),
}
