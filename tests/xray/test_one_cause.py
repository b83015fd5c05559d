"""One finding for one cause, two for two, in every order of threads; and the cure that it names ends it."""

import pytest
from planted_causes import ONE, TWO

from simt import cuda
from simt.xray import xray

pytestmark = pytest.mark.quick

ORDERS = ["forward", "reverse", "shuffled:1", "shuffled:2"]


def look(planted, kernel, order="forward"):
    return xray(kernel, planted.grid, planted.block, planted.shared_bytes, order)(*planted.fresh())


def said(report):
    return "\n".join(map(str, report.findings))


def name(planted):
    return planted.name


def test_there_are_enough_of_every_kind():
    assert len(ONE) >= 25
    assert len(TWO) >= 10
    assert sum(bool(p.mends) for p in ONE) >= 12


@pytest.mark.parametrize("planted", ONE, ids=name)
def test_one_cause_is_one_finding(planted):
    kernel = cuda.jit(planted.function)
    for order in ORDERS:
        report = look(planted, kernel, order)
        assert [f.kind for f in report.findings] == list(planted.kinds), f"{order}:\n{said(report)}"
        (found,) = report.findings
        assert found.line in planted.marked()
        assert planted.marked() <= {*found.lines, *(line for f in found.therefore for line in f.lines)}, said(report)


@pytest.mark.parametrize("planted", TWO, ids=name)
def test_two_causes_are_two_findings(planted):
    kernel = cuda.jit(planted.function)
    for order in ORDERS:
        report = look(planted, kernel, order)
        assert sorted(f.kind for f in report.findings) == sorted(planted.kinds), f"{order}:\n{said(report)}"
        assert all(f.line in planted.marked() for f in report.findings), said(report)


@pytest.mark.parametrize("planted", [p for p in ONE if p.mends], ids=name)
def test_the_cure_ends_it(planted, tmp_path):
    report = look(planted, cuda.jit(planted.function))
    assert planted.says in report.findings[0].cure
    mended = look(planted, planted.mended(tmp_path))
    assert mended.ok, said(mended)
