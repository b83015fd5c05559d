"""The record of translations: it is of rungs and answers that there are, and its counts are those of its rows."""

import sys
from collections import Counter

import pytest

from coursework import definition
from coursework.kinds.kernel import KernelTask
from coursework.kinds.opencl import OpenCLTask
from cpulab import measure
from dlkernels import implementations


@pytest.fixture(scope="module")
def record():
    return measure.recorded("translated").data


def test_it_is_of_rungs_and_answers_that_there_are(record):
    rungs = {rung.name for rung in implementations.everything() if rung.device == "gpu"}
    kernels = [task for task in definition.everything() if isinstance(task, KernelTask)]
    answers = {f"task {task.id}" for task in kernels if not isinstance(task, OpenCLTask)}  # those are OpenCL C already
    names = {row["name"] for row in record["rows"]}
    assert names <= rungs | answers
    assert len(names) == len(record["rows"])
    assert record["of"] == {"rungs": len(rungs), "answers": len(answers)}


def test_counts_are_those_of_the_rows(record):
    for what, is_answer in (("rungs", False), ("answers", True)):
        rows = [row for row in record["rows"] if row["name"].startswith("task ") == is_answer]
        assert Counter(row["outcome"] for row in rows) == record["counts"][what]


def test_what_does_not_agree_has_a_reason(record):
    others = [row for row in record["rows"] if row["outcome"] != "agrees"]
    assert all(row["why"] and row["reason"] for row in others)
    assert sum(record["reasons"].values()) == len(others)


def test_the_race_is_that_of_the_kernel(record, monkeypatch):
    monkeypatch.syspath_prepend(str(measure.__file__.partition("lib/cpulab")[0] + "benchmarks"))
    import raced

    from opencl.translate import translate

    race = record["race"]
    source = translate(raced.turned, raced.BLOCK, raced.arguments()).source
    assert source == race["source"], "translated.json is of another translator: python benchmarks/run.py translated"
    assert len(race["oclgrind"]["lines"]) == len(race["xray"]["lines"]) == 2
    sys.modules.pop("raced")
