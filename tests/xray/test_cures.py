"""What a finding advises: the atomic that does what an update does, and what a lock of plain loads and stores lacks."""

import linecache
import sys
from pathlib import Path

import numpy as np
import pytest

from simt import cuda
from simt.executor.atomics import OPERATIONS
from simt.xray import updates, xray

sys.path.insert(0, str(Path(__file__).parents[1] / "zoo"))
import zoo_rounds

pytestmark = pytest.mark.quick
UPDATES = {
    "x[i] += v": "use cuda.atomic.add.",
    "x[i] = v + x[i]": "use cuda.atomic.add.",
    "x[i] -= v": "use cuda.atomic.sub.",
    "x[i] &= v": "use cuda.atomic.and_.",
    "x[i] |= v": "use cuda.atomic.or_.",
    "x[i] ^= v": "use cuda.atomic.xor.",
    "x[i] = max(x[i], v)": "use cuda.atomic.max.",
    "x[i] = min(v, x[i])": "use cuda.atomic.min.",
    "x[i] = v if v > x[i] else x[i]": "use cuda.atomic.max.",
    "x[i] = x[i] if v > x[i] else v": "use cuda.atomic.min.",
    "if x[i] < v: x[i] = v": "use cuda.atomic.max.",
    "if x[i] == 1: x[i] = v": "use cuda.atomic.cas.",
    "x[i] = 0 if x[i] >= v else x[i] + 1": "use cuda.atomic.inc.",
    "x[i] *= v": "no atomic does this one",
    "x[i] <<= v": "no atomic does this one",
    "x[i] = v - x[i]": "no atomic does this one",
}


def cure_of(statement, dtype="uint32"):
    file = f"<cure of {statement}>"
    text = f"def kernel(x, y):\n    v, i = y[cuda.grid(1)], cuda.threadIdx.x % 2\n    {statement}\n"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    namespace = {"cuda": cuda}
    exec(compile(text, file, "exec"), namespace)
    given = np.ones(2, dtype), np.arange(1, 17).astype(dtype)
    (found,) = xray(cuda.jit(namespace["kernel"]), 2, 8)(*given).findings
    return found.cure


@pytest.mark.parametrize("statement", UPDATES)
def test_an_update_is_told_the_atomic_that_does_the_same(statement):
    assert UPDATES[statement] in cure_of(statement)


@pytest.mark.parametrize(
    ("statement", "dtype"), [("x[i] |= v", "uint8"), ("x[i] += v", "int16"), ("x[i] += v", "float16")]
)
def test_a_type_that_has_no_such_atomic_is_named(statement, dtype):
    assert f"it has none for {dtype}" in cure_of(statement, dtype)


def test_the_types_of_atomics_are_those_of_the_executor():
    assert {name: types for name, (types, _) in OPERATIONS.items()} == {
        name: updates.takes(name) for name in OPERATIONS
    }


def found_in(name):
    (animal,) = [a for a in zoo_rounds.BUGGY if a.name == name]
    (found,) = xray(animal.kernel, animal.grid, animal.block)(*animal.make_arguments()).findings
    return found


def test_a_lock_of_plain_flags_is_one_finding_that_names_what_must_be_atomic():
    cure = found_in("lock_of_plain_flags").cure
    assert "must read atomically" in cure
    assert all(f"`{part}` on line" in cure for part in ("flag[me]", "flag[1 - me]", "turn[0]"))
    assert "total" not in cure


def test_a_lock_of_two_atomic_flags_is_said_not_to_be_followed():
    @cuda.jit
    def kernel(flag, turn, total):
        me = cuda.blockIdx.x
        cuda.atomic.exch(flag, me, 1)
        cuda.threadfence()
        cuda.atomic.exch(turn, 0, 1 - me)
        cuda.threadfence()
        while cuda.atomic.add(flag, 1 - me, 0) == 1 and cuda.atomic.add(turn, 0, 0) == 1 - me:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(flag, me, 0)

    (found,) = xray(kernel, 2, 1)(np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(1)).findings
    assert "nothing that is followed orders" in found.message
    assert "Peterson's" in found.cure


@pytest.mark.parametrize(
    ("name", "asks", "tells"),
    [
        ("the_last_of_a_turn_that_nobody_waits_for", "inc(count, 0, n - 1)", "inc(count, 0, n - 1)"),
        ("dec_is_asked_for_one", "dec(left, 0, 3)", "dec(left, 0, 3)"),
        ("look_back_that_takes_any_state", "add(state, k, 0)", "exch(state, b, 2)"),
    ],
)
def test_a_value_that_proves_nothing_is_named(name, asks, tells):
    cure = found_in(name).cure
    assert f"What `cuda.atomic.{asks}` on line" in cure
    assert f"may be there before `cuda.atomic.{tells}` on line" in cure
