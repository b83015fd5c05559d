"""A statement that a clock decides: told as it came out, kept, and never an error."""

import json
import math

import numpy as np
import pytest

from cpulab.measure import claims, timing
from cpulab.measure.claims import Claim, claim


def ratio(value, busy=False):
    return timing.Ratio(value, value, value, 1.0, value, 5, 0, busy)


@pytest.mark.parametrize(
    ("value", "low", "high", "outcome"),
    [
        (1.2, 1, 1.5, "held"),
        (1, 1, 1.5, "held"),
        (1.5, 1, 1.5, "held"),
        (1.51, 1, 1.5, "otherwise"),
        (0.99, 1, math.inf, "otherwise"),
        (math.nan, 1, 2, "otherwise"),
        (math.inf, -math.inf, 2, "otherwise"),
        (ratio(2), 1.5, math.inf, "held"),
        (ratio(1, busy=True), 1.5, math.inf, "disturbed"),
        (np.float32(2), 1.5, 3, "held"),
    ],
)
def test_what_came_out(value, low, high, outcome):
    assert Claim("a is so", value, low, high).outcome == outcome


@pytest.mark.parametrize(("value", "told"), [(0.9999, "0.9999"), (0.5, "0.50"), (-1234.5, "-1230"), (math.inf, "inf")])
def test_a_note_never_shows_the_bound_that_was_missed(value, told):
    note = str(Claim("a is so", value, 1, 1e9))
    assert f": {told}; the book expects 1.00 to" in note or value == math.inf


def test_an_array_of_one_condition_is_one():
    assert Claim("a is so", np.array(True)).outcome == "held"


def test_other_programs_do_not_spoil_what_held():
    assert Claim("a is so", ratio(2, busy=True), 1.5).outcome == "held"
    assert Claim("a is so", 1, 1.5, busy=True).outcome == "disturbed"


@pytest.mark.parametrize("yes", [True, np.bool_(True)])
def test_conditions(yes):
    assert Claim("a is so", yes).outcome == "held"
    assert Claim("a is so", type(yes)(False)).outcome == "otherwise"
    with pytest.raises(ValueError, match="a condition none"):
        Claim("a is so", yes, low=1)


@pytest.mark.parametrize("bounds", [(), (2, 1), (math.nan, 1)])
def test_a_claim_that_cannot_fail_or_hold_is_refused(bounds):
    with pytest.raises(ValueError, match="a is so"):
        Claim("a is so", 1.0, *bounds)


def test_nothing_stops_whatever_comes_out(capsys):
    assert claim("a is so", 1.2, high=1.5) is None  # as the last line of a cell it shows nothing more
    claim("a is so", 1.7, high=1.5)
    said = capsys.readouterr().out
    assert "1.70" in said
    assert "at most 1.50" in said


def test_the_note_says_what_was_expected_why_and_where_it_held(monkeypatch):
    recorded = [{"a < b": "held"}, {"a < b": "otherwise"}, {"a < b": "held"}, {}]
    monkeypatch.setattr(claims, "recorded_claims", lambda: recorded)
    note = Claim("a < b", 3.1, 1.05, 1.7, why="a smaller cache")
    assert str(note) == (
        "The book says: a < b. It came out otherwise on this machine: 3.10; the book expects 1.05 to 1.70. "
        "A known cause: a smaller cache. It held on 2 of 3 recorded machines."
    )
    assert "a &lt; b" in note._repr_html_()


def test_records_are_read(tmp_path):
    kept = {"claims": [Claim("a", 1, high=2).to_dict(), Claim("b", 3, high=2).to_dict()]}
    (tmp_path / "one.json").write_text(json.dumps(kept))
    assert claims.recorded_claims(tmp_path) == [{"a": "held", "b": "otherwise"}]


def test_what_is_kept_is_json():
    kept = json.loads(json.dumps(Claim("a", math.nan, low=2).to_dict(), allow_nan=False))
    assert kept == {"says": "a", "outcome": "otherwise", "value": None, "low": 2.0, "high": None}
