"""The zoo and the kernels that numba knows: right ones give what the executor gives; wrong ones its errors.

Races inside a block are hidden here: between barriers its threads run one after the other. All but `RACES_SEEN` even
give what the executor gives in forward order; what finds them is the x-ray.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import simt
from simt import compiled

pytestmark = pytest.mark.rotates

for _folder in ("zoo", "simt"):
    sys.path.insert(0, str(Path(__file__).parents[2] / _folder))

from correct_kernels import CASES  # noqa: E402
from zoo_buggy import BUGGY  # noqa: E402
from zoo_correct import CORRECT  # noqa: E402

RIGHT = [(z.name, z.kernel, z.grid, z.block, z.make_arguments, z.shared_bytes) for z in CORRECT] + [
    (*case, 0) for case in CASES
]
#: between these the thread order inside a piece decides: interchange and vectors take another one than the executor
RACES_SEEN = {
    "reduction_without_first_barrier",
    "tiled_matmul_without_second_barrier",
    "flash_loop_without_last_barrier",
}
#: on a GPU undefined, in the executor without a trace tolerated
TOLERATED = {"inactive-lane-read", "uninitialised-shared"}


def same(expected, got):
    for a, b in zip(expected, got, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(b, a, rtol=2e-6, atol=1e-7)


def in_turns():
    """Each right kernel in one order of threads, every other one in reverse; by night each in the other order too."""
    orders = ["forward", "reverse"]
    for place, case in enumerate(RIGHT):
        for order in orders:
            marks = () if order == orders[place % 2] else pytest.mark.slow
            yield pytest.param(case, order, id=f"{case[0]}-{order}", marks=marks)


@pytest.mark.parametrize(("case", "order"), in_turns())
def test_right_kernels(case, order):
    _, kernel, grid, block, make, shared_bytes = case
    expected, got = make(), make()
    simt.run(kernel, grid, block, expected, shared_bytes=shared_bytes)
    compiled.run(kernel, grid, block, got, shared_bytes=shared_bytes, order=order)
    same(expected, got)


def outcome(run, animal):
    """What a wrong kernel leaves: its arguments, or its error."""
    arguments = animal.make_arguments()
    try:
        run(animal.kernel, animal.grid, animal.block, arguments, shared_bytes=animal.shared_bytes)
    except simt.KernelError as error:
        return type(error), str(error)
    return arguments


@pytest.mark.parametrize("animal", BUGGY, ids=lambda z: z.name)
def test_wrong_kernels(animal):
    """The same error, word for word; or, where only a race or an undefined value is wrong, the executor's result."""
    # blocks that race have one result only where they run one after the other
    threads = 1 if animal.expected & {"race", "atomic-against-plain"} else None
    expected, got = outcome(simt.run, animal), outcome(partial(compiled.run, threads=threads), animal)
    if isinstance(expected, tuple):
        assert got == expected
    elif "divergent-barrier" in animal.expected:  # one source line, other calls or turns: left to the executor
        assert got[0] is simt.NotFollowed
    elif animal.name not in RACES_SEEN:
        same(expected, got)
    else:
        assert not isinstance(got, tuple)
        assert "race" in animal.expected
