"""The explorer finds every bug of the zoo, and nothing in programs that are right."""

import buggy_programs
import pytest
import right_programs

from cpulab.explore import explore, replay


def name(scenario):
    return scenario.__name__


@pytest.mark.quick
@pytest.mark.parametrize("scenario", buggy_programs.EXPECT, ids=name)
def test_bug_is_found_and_explained(scenario):
    kinds, words = buggy_programs.EXPECT[scenario]
    report = explore(scenario, expected=buggy_programs.RESULT.get(scenario))
    assert not report.ok, report
    assert report.finding.kind in kinds, report
    assert words in str(report.finding), report
    assert report.finding.kind != "deadlock" or ("same order" in report.finding.cause) == ("same order" in words), (
        report
    )
    assert len(report.table) > 0
    again = replay(scenario, report.schedule, expected=buggy_programs.RESULT.get(scenario))
    assert [f.kind for f in again.findings] == [f.kind for f in report.findings]
    assert str(again.table) == str(report.table)


@pytest.mark.parametrize("scenario", right_programs.RESULT, ids=name)
def test_right_program_passes(scenario):
    report = explore(scenario, expected=right_programs.RESULT[scenario], schedules=250)
    assert report.ok, report
    assert report.schedules > 3
