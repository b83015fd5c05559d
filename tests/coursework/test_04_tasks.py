"""Chapter 04: what the statements say of the given code and of the examples is true, and the model cache is exact."""

import ast
import inspect
import re

import masters
import numpy as np
import pytest

from coursework import checking, definition
from coursework.answer import Local
from coursework.checking import arguments_of
from coursework.grading import servant
from coursework.tasks import c04 as tasks

pytestmark = pytest.mark.quick

MASTER = masters.cells("04")


def given(task_id):
    """The code in a statement: the listing that begins with a decorator."""
    (source,) = re.findall(r"```python\n(@njit.*?)\n```", MASTER[f"{task_id}-task"], re.DOTALL)
    ast.parse(source)
    return source


def outcome(source, part=checking.check, **options):
    return part(definition.find("04-bug"), Local(servant.define([source])["square_all"]), **options)


def test_the_given_loop_loses_elements_first():
    failure = outcome(given("04-bug")).failure
    assert failure.kind == "some-unwritten"
    assert "3 of 203" in dict(failure.facts)["first wrong"]


def test_the_given_loop_needs_both_repairs():
    source = given("04-bug")
    rounded = source.replace("x.size // 4", "(x.size + 3) // 4").replace(
        "(t + 1) * part)", "min((t + 1) * part, x.size))"
    )
    assert rounded.count("min(") == 1
    assert outcome(rounded, hidden=True).status == checking.RIGHT
    assert outcome(rounded, checking.check_budget).failure.kind == "over-budget"
    lines = rounded.replace("(x.size + 3) // 4", "(x.size + 63) // 64 * 16")
    assert lines != rounded
    assert outcome(lines, hidden=True).status == checking.RIGHT
    assert outcome(lines, checking.check_budget).status == checking.RIGHT


def test_the_examples_of_the_padding_are_right():
    examples = re.findall(r"padded\((\d+), (\d+)\)\s+# (\d+)", MASTER["04-pad-task"])
    assert len(examples) == 2
    for rows, columns, length in examples:
        assert tasks.pad.right_length(int(rows), int(columns)) == int(length)
    assert tasks.pad.most_in_one_set(64, 1024) == 64  # "all 64 lines would fall into one set"


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 512])
@pytest.mark.parametrize("length", [500, 1000, 1024, 1040])
def test_sets_are_counted_line_by_line(rows, length):
    crowd = {}
    for line in {4 * r * length // 64 for r in range(rows)}:
        crowd[line % 64] = crowd.get(line % 64, 0) + 1
    assert tasks.pad.most_in_one_set(rows, length) == max(crowd.values())


def test_a_solution_exists_for_as_many_rows_as_the_statement_allows():
    assert "`rows` is at most 512" in MASTER["04-pad-task"]
    for columns in (1, 16, 512, 1024, 4096):
        assert tasks.pad.right_length(512, columns) <= columns + 16


def test_the_prefetcher_follows_a_loop_or_it_does_not():
    """No verdict of 04-ahead hangs on how many pages or lines the model of the hardware knows."""
    task = definition.find("04-ahead")
    (case,) = task.judge.cases
    for name, program in task.programs.items():
        things, asked = arguments_of(case, 5, 0)
        program(**{name: things[name] for name in inspect.signature(program).parameters})
        lines, waits = zip(*asked, strict=True)
        for pages, ahead in ((1, 1), (16, 4), (32, 20)):
            share = tasks.ahead.followed(lines, pages, ahead)
            assert share > 0.8 if name in "DF" else share < 0.05
        assert max(waits) == (1023 if name in "BF" else name in "AD")


def test_row_by_row_takes_as_many_fetches_as_the_statement_says():
    said = float(re.search(r"a 64 x 64 matrix takes ([\d.]+)\.", MASTER["04-order-task"])[1])
    lines, fetched = tasks.order.transposed_fetches(np.argwhere(np.ones((64, 64))), 64, 64)
    assert fetched / lines == said


def test_tiles_of_a_line_fetch_each_line_once():
    source = MASTER["04-order"]
    order = servant_function(source, "order")
    for n, m in ((64, 64), (72, 100), (33, 65)):
        lines, fetched = tasks.order.transposed_fetches(order(n, m), n, m)
        assert fetched == lines


def servant_function(source, name):
    scope = {}
    exec(source, scope)
    return scope[name]


def test_predictions_are_counted_for_lines_of_64_bytes_everywhere():
    assert {q.name: q.truth() for q in tasks.LINES.questions} == {
        "row": 63,
        "column": 100,
        "every_eighth": 63,
        "one_field_aos": 375,
        "one_field_soa": 63,
        "small_cache": 200,
        "larger_cache": 100,
        "room": 600,
    }


def test_alignment_is_counted_alike_by_the_line_map_of_the_page():
    from cpulab.measure import empty_aligned, line_map

    for offset in (0, 4, 16, 20, 32):
        for vector in (16, 32, 64):
            x = empty_aligned(100, np.dtype(f"V{vector}"), offset, line=64)
            assert tasks.split.in_two_lines(offset, vector, 100) == line_map(x, line=64).split
    x = empty_aligned(64 * 112, line=64).reshape(64, 112)
    begins = [row.ctypes.data for row in x]
    assert sum(address % 64 == 0 for address in begins) == tasks.split.rows_at_lines(112) == 64
    shifted = empty_aligned(40, np.float32, tasks.split.BEHIND, line=64)
    assert shifted[tasks.split.before_aligned(tasks.split.BEHIND) :].ctypes.data % tasks.split.VECTOR == 0
