"""Chapter 17's twenty experiments: their claims are those of COVERAGE, exact parts come out as their verdict says, and
what is recorded was asked of these parts."""

import re
import sys
from pathlib import Path

import pytest

from cpulab.measure import recorded
from cpulab.measure.records import results_folder

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import twenty  # noqa: E402
import twenty_claims as claims  # noqa: E402

PARTS = claims.all_parts()
EXACT = [n for n in claims.NUMBERS if all(part.exact for (number, _), part in PARTS.items() if number == n)]
RECORDS = sorted(file.stem for file in results_folder().glob("twenty_*.json"))


@pytest.mark.quick
def test_the_claims_are_those_of_coverage():
    text = (ROOT / "docs/COVERAGE.md").read_text(encoding="utf-8").partition("## Claims to test")[2]
    found = {int(n): says for n, says in re.findall(r"^(\d+)\. (.+)$", text, re.MULTILINE)}
    assert found == {n: claims.one(n).CLAIM for n in claims.NUMBERS}


@pytest.mark.quick
def test_parts_have_a_bound_a_verdict_and_a_page():
    assert len(PARTS) >= 40
    assert len(EXACT) >= 9
    for key, part in PARTS.items():
        assert part.rule, key
        assert part.verdict in (claims.TRUE, claims.FALSE) or part.verdict.startswith("true "), key
        assert (ROOT / f"chapters/{part.page}.md").exists(), key
        assert part.low <= part.high, key
        assert not part.holds(float("nan")), key


@pytest.mark.parametrize("number", EXACT)
def test_what_is_counted_comes_out_as_the_verdict_says(number):
    found = claims.measured(number, quick=True)
    for name, value in found.items():
        assert PARTS[number, name].fits([PARTS[number, name].holds(value)]), (name, value)


@pytest.mark.quick
def test_a_verdict_speaks_of_all_machines():
    part = claims.Part("x", "", "", claims.TRUE, "", low=1)
    assert part.fits([True, True])
    assert not part.fits([True, False])
    assert claims.Part("x", "", "", "true if it rains", "").fits([True, False])
    assert not claims.Part("x", "", "", claims.FALSE, "").fits([True, False])


@pytest.mark.quick
@pytest.mark.parametrize("name", RECORDS)
def test_what_is_recorded_was_asked_of_these_parts(name):
    rows = recorded(name).data
    asked = [(row["number"], row["name"]) for row in rows]
    assert asked == [key for key in PARTS if key in asked]  # in order; an older record lacks parts that came later
    for row in rows:
        part = PARTS[row["number"], row["name"]]
        assert row == {"number": row["number"], "claim": row["claim"], **twenty.described(part), "value": row["value"]}
        assert row["claim"] == claims.one(row["number"]).CLAIM
        if part.exact:
            assert part.fits([part.holds(row["value"])]), row


@pytest.mark.quick
def test_each_part_is_recorded_of_a_machine():
    assert all(any(v is not None for v in values) for values in claims.of_machines(map(recorded, RECORDS)).values())
