"""Every bug is found at its line, and nothing is found in a correct kernel, whatever the order of threads."""

import re
from inspect import signature

import numpy as np
import pytest
from zoo_buggy import BUGGY
from zoo_chapters import BUGGY as WRONG_CHAPTERS
from zoo_chapters import CORRECT as CHAPTERS
from zoo_correct import CORRECT
from zoo_handshakes import BUGGY as WRONG_HANDSHAKES
from zoo_handshakes import CORRECT as HANDSHAKES
from zoo_kinds import BUGGY as OTHER_KINDS
from zoo_kinds import CORRECT as THEIR_LIKES
from zoo_masks import BUGGY as WRONG_MASKS
from zoo_masks import CORRECT as MASKS
from zoo_packed import BUGGY as WRONG_PACKED
from zoo_packed import CORRECT as PACKED
from zoo_protocols import BUGGY as WRONG_PROTOCOLS
from zoo_protocols import CORRECT as PROTOCOLS
from zoo_rounds import BUGGY as WRONG_ROUNDS
from zoo_rounds import CORRECT as ROUNDS
from zoo_turns import BUGGY as WRONG_TURNS
from zoo_turns import CORRECT as TURNS
from zoo_unset import BUGGY as READ_UNSET
from zoo_unset import CORRECT as STORED_FIRST

from simt.xray import Finding, xray

pytestmark = pytest.mark.quick

ORDERS = ["forward", "reverse", "shuffled:1", "shuffled:2"]
WRONG = (
    BUGGY
    + WRONG_PROTOCOLS
    + WRONG_HANDSHAKES
    + WRONG_MASKS
    + READ_UNSET
    + OTHER_KINDS
    + WRONG_CHAPTERS
    + WRONG_ROUNDS
    + WRONG_TURNS
    + WRONG_PACKED
)


def look(animal, order):
    arguments = animal.make_arguments()
    report = xray(animal.kernel, animal.grid, animal.block, animal.shared_bytes, order)(*arguments)
    return report, arguments


def name(animal):
    return animal.name


def test_the_zoo_is_large_enough():
    assert len(BUGGY) >= 30
    assert len(CORRECT) >= 30
    assert len({a.name for a in BUGGY + CORRECT}) == len(BUGGY) + len(CORRECT)
    assert all(a.lines for a in WRONG)


def test_the_zoo_has_every_kind_of_finding():
    table = re.findall(r"^    kind: (.*?)\n    message:", Finding.__doc__, re.S | re.M)[0]
    assert set(re.findall(r'"([a-z-]+)"', table)) == {kind for a in WRONG for kind in a.expected}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("animal", WRONG, ids=name)
def test_bug_is_found(animal, order):
    report, _ = look(animal, order)
    kinds = {f.kind for f in report.findings}
    assert kinds, f"expected {set(animal.expected)}, found nothing"
    assert kinds <= animal.expected
    for f in report.findings:
        assert animal.lines & set(f.lines), f"marked {sorted(animal.lines)}, found {f.lines}"
        assert len(report.findings) == 1, f"one fault, {len(report.findings)} findings"
        assert f.message
        assert f.cure
        assert f.threads
        if f.kind in ("race", "atomic-against-plain"):
            assert len(f.threads) == 2
            assert f.threads[0] != f.threads[1]
            assert f.index


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "animal",
    CORRECT + PROTOCOLS + HANDSHAKES + MASKS + STORED_FIRST + THEIR_LIKES + CHAPTERS + ROUNDS + TURNS + PACKED,
    ids=name,
)
def test_nothing_is_found_in_a_correct_kernel(animal, order):
    report, _ = look(animal, order)
    assert not report.findings, str(report.findings[0])


@pytest.mark.parametrize("animal", CORRECT, ids=name)
def test_order_changes_neither_results_nor_counts(animal):
    report, results = look(animal, "forward")
    expected = report.to_dict()
    for order in ORDERS[1:]:
        other, others = look(animal, order)
        found = other.to_dict()
        del found["order"]
        assert found == {k: v for k, v in expected.items() if k != "order"}
        for a, b in zip(results, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)  # float atomics add in another order


@pytest.mark.parametrize("animal", [a for a in BUGGY if a.expected & {"race", "atomic-against-plain"}], ids=name)
def test_races_are_the_same_in_every_order(animal):
    """The whole finding, with its example. Where a counter decides who goes on, at least kind and lines."""
    drawn_by_lot = "counter" in signature(animal.kernel.py_func).parameters

    def races(order):
        found = [f.to_dict() for f in look(animal, order)[0].races]
        return [(f["kind"], f["lines"]) for f in found] if drawn_by_lot else found

    for order in ORDERS[1:]:
        assert races(order) == races("forward")
