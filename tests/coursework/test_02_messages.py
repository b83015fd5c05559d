"""What a wrong answer to a task of chapter 02 is told: the steps that matter, one value that is wrong, what was
seen."""

import re

import answers
import pytest

from coursework import checking, definition, feedback, progress
from coursework.answer import Local
from cpulab.explore.report import FEW, Interleaving


def outcome_of(task_id, name):
    return checking.check(definition.find(task_id), Local(answers.answer(task_id, name)))


def told(outcome):
    return dict(outcome.failure.facts)


def happened(outcome):
    return [(row[1], row[4]) for row in outcome.failure.picture["table"]]


@pytest.fixture(scope="module")
def half_added():
    return outcome_of("02-mean", "CountsWhatItRefuses")


def test_the_step_of_the_only_thread_and_what_it_raises_are_shown(half_added):
    steps = happened(half_added)
    assert ("main", "reads self.count: 0; writes self.count: 1") in steps
    assert ("main", "reads self.total: 0; raises TypeError") in steps


def test_a_lock_is_called_as_the_answer_calls_it(half_added):
    assert happened(half_added)[0] == ("main", "acquires lock")


def test_one_wrong_value_is_told_and_not_the_notes_of_the_check(half_added):
    assert told(half_added)["got"].startswith("(count, total) = (3, ")
    assert told(outcome_of("02-map", "as_they_end"))["got"].startswith("[")


def test_the_table_stops_where_too_many_are_in():
    outcome = outcome_of("02-places", "If")
    assert happened(outcome)[-1][1].startswith("counts 3 taken")
    assert all(row[2] or row[3] == "(check)" for row in outcome.failure.picture["table"])


@pytest.mark.rotates
@pytest.mark.parametrize(("task", "answer"), [("02-places", "WakesOne"), ("02-places", "SemaphoreAndTurn")])
def test_what_is_only_often_the_reason_is_not_said_to_have_happened(task, answer):
    assert "what happened" not in told(outcome_of(task, answer))


def test_what_was_seen_of_the_locks_is_said():
    outcome = outcome_of("02-mean", "LocksItselfOut")
    assert "A Lock cannot be taken twice" in outcome.failure.cause


@pytest.mark.parametrize(("rows", "folded"), [(20, 0), (20 + FEW - 1, 0), (20 + FEW, FEW), (48, 28)])
def test_the_last_steps_stay_and_those_before_can_be_unfolded(rows, folded):
    table = Interleaving([(i + 1, "A", 7, "x += 1", f"does {i + 1}") for i in range(rows)], 20)
    assert f"does {rows}" in str(table)
    assert ("does 1\n" in str(table)) == (not folded)
    html = table._repr_html_()
    assert len(re.findall("does ", html)) == rows
    assert (f"<summary>{folded} steps before</summary>" in html) == bool(folded)


def test_a_setting_that_does_not_hang_is_told_in_words_of_the_task():
    fails = {"places": {"places": 6, "A": 3, "B": 3, "C": 2}}
    outcome = checking.check(definition.find("02-fails"), Local(fails))
    assert "all three jobs end, in every schedule tried" in outcome.failure.headline
    assert set(told(outcome)) == {"a lead"}


def test_a_prediction_says_how_the_others_stand_and_where_to_read(monkeypatch):
    task = definition.find("02-predict")
    truth = {question.name: question.truth() for question in task.questions}
    outcome = checking.check(task, truth | {"in_memory": 3})
    assert told(outcome)["the others"] == "right"
    monkeypatch.setattr(progress, "read", lambda: {"02-predict prediction": {"status": "wrong", "wrong": 2}})
    assert progress.to_read(outcome).number == "2.3"
    both = checking.check(task, truth | {"least": 3, "in_memory": 3})
    assert told(both)["the others"] == "not right: in_memory"
    assert progress.to_read(both).number == "2"


def test_the_message_has_the_steps_as_text_and_as_html(half_added):
    assert "raises TypeError" in feedback.as_text(half_added)
    assert "raises TypeError" in feedback.as_html(half_added)


@pytest.mark.rotates
def test_of_a_program_that_the_course_brings_the_lines_are_shown():
    verdicts = {"A": "right", "B": "sleeps on", "C": "overfull", "D": "crashes"}
    outcome = checking.check(definition.find("02-buffers"), Local(verdicts))
    code = [row[3] for row in outcome.failure.picture["table"]]
    assert "self.changed.wait()" in code
    assert "(check)" in code
    assert not any(row[2] for row in outcome.failure.picture["table"])  # the reader's lines have other numbers


def test_the_picture_of_two_deadlocks_is_the_one_with_a_ring():
    payments = {"source_1": 1, "target_1": 2, "source_2": 2, "target_2": 4}
    fails = {"places": {"places": 6, "A": 3, "B": 3, "C": 3}, "payments": payments}
    outcome = checking.check(definition.find("02-fails"), Local(fails))
    assert outcome.status == checking.RIGHT
    assert "That is a ring" in outcome.picture["alt"]


def test_boxes_that_stand_in_no_relation_are_not_drawn():
    assert "svg" not in outcome_of("02-places", "WakesOne").failure.picture


def test_a_table_of_nothing_but_the_check_is_not_shown():
    assert "table" not in outcome_of("02-prefetch", "in_the_consumer").failure.picture
