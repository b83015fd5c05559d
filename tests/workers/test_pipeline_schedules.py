"""Pipeline schedules: whole, free of deadlock, with the bubble and the activations of the papers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import schedules
from workers.schedules import Action, peak_activations, timeline

pytestmark = pytest.mark.quick

SIZES = st.integers(1, 6), st.integers(1, 14)


def passes(orders):
    return sorted(one for order in orders for one in order)


@given(*SIZES)
def test_all_passes_come_once_and_wait_for_what_they_need(p, m):
    several = {
        "FB": [schedules.gpipe(p, m), schedules.one_f_one_b(p, m)],
        "FBW": [schedules.zero_bubble(p, m), schedules.zero_bubble(p, m, ahead=2)],
    }
    for kinds, made in several.items():
        whole = sorted(Action(kind, s, i) for kind in kinds for s in range(p) for i in range(m))
        for orders in made:
            assert passes(orders) == whole
            rows = timeline(orders, latency=0.5).rows
            ends = {one: end for row in rows for one, _, end in row}
            for row in rows:
                assert [begin for _, begin, _ in row] == sorted(begin for _, begin, _ in row)
                for one, begin, _ in row:
                    for other in schedules.needs(one, p):
                        assert ends[other] + 0.5 * (other.stage != one.stage) <= begin


@given(*SIZES)
def test_the_bubble_of_gpipe_and_1f1b(p, m):
    expected = (p - 1) / (m + p - 1)
    for orders in (schedules.gpipe(p, m), schedules.one_f_one_b(p, m)):
        assert timeline(orders).bubble == pytest.approx(expected, abs=1e-12)
        assert timeline(orders, {"F": 3, "B": 4}).bubble == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_chunks_divide_the_bubble(p, groups, v):
    m = p * groups
    orders = schedules.interleaved(p, m, v)
    assert passes(orders) == sorted(Action(kind, s, i) for kind in "FB" for s in range(p * v) for i in range(m))
    assert timeline(orders).bubble == pytest.approx((p - 1) / (v * m + p - 1), abs=1e-12)
    if v == 1:
        assert timeline(orders).length == timeline(schedules.one_f_one_b(p, m)).length


@given(st.integers(1, 6), st.integers(0, 10))
def test_zero_bubble(p, more):
    """Qi and others, table 1: with F, B and W of one length the bubble is a third of that of 1F1B."""
    m = 2 * p - 1 + more
    first, second = timeline(schedules.zero_bubble(p, m)), timeline(schedules.zero_bubble(p, m, ahead=2))
    assert first.length == 3 * m + p - 1
    assert max(peak_activations(schedules.zero_bubble(p, m))) == p
    for row in second.rows:
        assert row[-1][2] - row[0][1] == 3 * m  # no gap between its first and last pass
    assert max(peak_activations(schedules.zero_bubble(p, m, ahead=2))) == 2 * p - 1


@given(*SIZES)
def test_activations(p, m):
    assert peak_activations(schedules.gpipe(p, m)) == [m] * p
    assert peak_activations(schedules.one_f_one_b(p, m)) == [min(p - s, m) for s in range(p)]


def test_a_schedule_that_never_ends_says_who_waits():
    orders = [[Action("B", 0, 0), Action("F", 0, 0)], [Action("F", 1, 0), Action("B", 1, 0)]]
    with pytest.raises(ValueError, match="worker 0 waits with B0 of stage 0 for F0 of stage 0; worker 1 waits"):
        timeline(orders)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: schedules.gpipe(0, 3), "workers is 0"),
        (lambda: schedules.one_f_one_b(2, 0), "microbatches is 0"),
        (lambda: schedules.interleaved(4, 6, 2), "6 microbatches for 4 workers"),
        (lambda: schedules.zero_bubble(2, 3, ahead=3), "ahead is 3"),
        (lambda: timeline([[Action("F", 0, 0)], [Action("F", 0, 1)]]), "stage 0 is run by workers 0 and 1"),
        (lambda: timeline([[Action("F", 1, 0)]]), r"the stages are \[1\]"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
