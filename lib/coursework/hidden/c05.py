"""Hidden cases of chapter 05: sizes that no visible case has."""

from ..definition import Case
from ..tasks.c05.flip import picture_case
from ..tasks.c05.layer import layer_case
from ..tasks.c05.shift import shift_arguments
from ..tasks.c05.stride import share_arguments


def about(rng, *numbers):
    """The numbers, each up to a tenth larger or smaller."""
    return tuple(v * float(rng.uniform(0.9, 1.1)) for v in numbers)


CASES = {
    "05-shift": (
        Case("k = 0: n = 65 in 2 blocks of 64", shift_arguments(65, 0), grid=2, block=64),
        Case("k = n: n = 64 in 2 blocks of 32", shift_arguments(64, 64), grid=2, block=32),
        Case("one element: k = 1 in 1 block of 1", shift_arguments(1, 1), grid=1, block=1),
        Case("n = 97, k = 31 in 5 blocks of 20", shift_arguments(97, 31), grid=5, block=20),
    ),
    "05-flip": (picture_case("one element", 1, 1), picture_case("one column", 41, 1), picture_case("one row", 1, 33)),
    "05-stride": (
        Case("one thread for everything: n = 77", share_arguments(77, 1), grid=1, block=1),
        Case("another grid: n = 300 in 5 blocks of 24", share_arguments(300, 120), grid=5, block=24),
        Case("one element: n = 1 in 2 blocks of 32", share_arguments(1, 64), grid=2, block=32),
    ),
    "05-place": tuple(
        Case(f"element {i}", lambda rng, i=i, shape=shape: (i, *shape))
        for i, shape in ((0, (1, 1, 1)), (1, (1, 1, 1)), (41, (7, 1, 6)), (59, (3, 20, 1)), (10**9, (1000, 1000, 1001)))
    ),
    "05-crossing": (
        Case("another job", lambda rng: about(rng, 30.0, 3e11, 2e13, 5e10, 2e-5)),
        Case("a job that never pays", lambda rng: about(rng, 1.0, 3e11, 2e13, 1e10, 2e-5)),
        Case("both cost the same", lambda rng: (1.0, 1.0, 2.0, 2.0, 1e-5)),
    ),
    "05-layer": (
        layer_case("one input", 5, 1, 20),
        layer_case("one output", 9, 8, 1),
        layer_case("one more each way", 5, 6, 17),
    ),
}
