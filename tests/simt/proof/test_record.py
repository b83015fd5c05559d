"""The record that the page shows: it has every GPU kernel of the library, none fails, and what is cheap is proved
again."""

import importlib
from pathlib import Path

import pytest

from cpulab.measure import recorded
from simt import prove

pytest.importorskip("z3", reason="pip install z3-solver")
REPOSITORY = Path(__file__).resolve().parents[3]
CHEAP = ("vector/gpu.py", "reduce/gpu_sum.py", "matrix/gpu_transpose.py")
DEAR = ("attention", "attention without its last barrier")


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY / "benchmarks"))
        yield importlib.import_module("proofs")


@pytest.fixture(scope="module")
def rows():
    return {row["place"]: row for row in recorded("proofs").data["rows"]}


@pytest.mark.quick
def test_every_kernel_of_the_library_is_there_and_none_fails(script, rows):
    assert sorted(rows) == sorted(script.kernels_of_the_library()), "python benchmarks/run.py proofs"
    assert not [place for place, row in rows.items() if row["verdict"] == "fails"]
    assert all(row["reason"] for row in rows.values() if row["verdict"] == "not provable")


@pytest.mark.quick
def test_examples_have_the_verdicts_that_the_page_tells(script):
    kept = recorded("proofs").data["examples"]
    assert list(kept) == list(script.EXAMPLES)
    for name in script.EXAMPLES:
        if name not in DEAR:
            verdict = script.example(name)
            assert verdict.kind == kept[name]["verdict"], name
            if verdict.fails:
                assert verdict.finding.kind == kept[name]["kind"] == "race"
    assert kept["product without its second barrier"]["array"] in ("sa", "sb")


@pytest.mark.slow
@pytest.mark.parametrize("name", DEAR)
def test_the_loop_over_tiles_is_proved_again(script, name):
    assert script.example(name).kind == recorded("proofs").data["examples"][name]["verdict"]


@pytest.mark.rotates
def test_kernels_are_proved_again(script, rows):
    again = {place: asked for place, asked in script.kernels_of_the_library().items() if place.split()[0] in CHEAP}
    assert len(again) > 15
    for place, (kernel, signature, blocks) in again.items():
        if rows[place]["verdict"] == "free":
            assert all(prove(kernel, signature, block=block).free for block in blocks), place


@pytest.mark.quick
def test_what_is_meant_becomes_an_assumption(script):
    place = "attention/encodings.py turn_kernel"
    kernel, signature, _ = script.kernels_of_the_library()[place]
    assert not prove(kernel, signature, block=128).free  # pairs may lie anywhere
    verdict = prove(kernel, signature, block=128, where=script.MEANT[place][1])
    assert verdict.free
    assert "the launch has apart" in str(verdict)
