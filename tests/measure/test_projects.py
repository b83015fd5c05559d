"""The record of other projects' tests: its counts agree with one another and with the causes that the script knows."""

import importlib
from collections import Counter
from pathlib import Path

import pytest

from cpulab.measure import recorded

REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.quick

#: kernels of numba's tests that the x-ray finds fault with, and why it is right: read one by one
RIGHTLY = {
    "test_exception.py TestException.case_raise_causing_warp_diverge.problematic": "all threads change every element",
    "test_exception.py TestException.case_raise_causing_warp_diverge.oracle": "all threads change every element",
    "test_freevar.py TestFreeVar.test_freevar.foo": "nobody stores to its shared array",
    "test_sm.py TestSharedMemoryIssue.test_issue_2393.costs_func": "all blocks store one element, from unset memory",
    "test_sm_creation.py udt_global_build_tuple": "nobody stores to its shared array",
    "test_sm_creation.py udt_global_constant_tuple": "nobody stores to its shared array",
    "test_sm_creation.py udt_global_constants": "nobody stores to its shared array",
    "test_warp_ops.py useful_syncwarp": "thread 0 stores once more what the others read",
}


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY / "benchmarks"))
        yield importlib.import_module("projects")


@pytest.fixture(scope="module")
def rows():
    return {row["name"]: row for row in recorded("projects").data["rows"]}


def test_both_projects_are_there(script, rows):
    assert list(rows) == list(script.PROJECTS)
    for name, row in rows.items():
        assert row["left_out"] == script.PROJECTS[name]["left_out"]
        assert len(row["commit"]["hash"]) == 40
        assert not any(f"test_{file}.py" in row["by_file"] for files in row["left_out"].values() for file in files)


def test_counts_by_file_and_by_cause_are_those_of_all(script, rows):
    for row in rows.values():
        by_file = sum((Counter(counts) for counts in row["by_file"].values()), Counter())
        assert by_file == Counter(row["outcomes"])
        causes = row["causes"].values()
        assert sum(of["tests"] for of in causes) == row["outcomes"].get("failed", 0)
        assert sum(of["files"] for of in causes) == row["outcomes"].get("not collected", 0)
        assert sum(row["skips"].values()) == row["outcomes"].get("skipped", 0)
        found = Counter(map(script.cause, row["failed"].values()))
        assert found == {cause: of["tests"] + of["files"] for cause, of in row["causes"].items()}


def test_no_finding_accuses_a_right_kernel(rows):
    """The page says so. Whoever records anew reads the kernels that are new here."""
    assert not rows["stumpy"]["findings"]
    assert {f["kernel"] for f in rows["numba-cuda"]["findings"]} <= set(RIGHTLY)


def test_no_machine_is_named(rows):
    """Folders of the machine that recorded are nobody's business."""
    assert "/tmp" not in str(rows)
    assert "/home" not in str(rows)


def test_counts_are_made_of_what_the_tests_told(script):
    told = {
        "tests": {
            "test_a.py::test_one": ["passed", ""],
            "test_a.py::test_two": ["skipped", "Skipped: no"],
            "test_a.py::test_three": ["failed", "TookTooLong: more than 60 s"],
            "test_b.py" + script.WHOLE: ["failed", "ModuleNotFoundError: No module named 'numba.cuda.kernels'"],
        },
        "kernels": {"a.py k": ["race: ..."], "a.py l": []},
    }
    found = script.summary(told)
    assert found["outcomes"] == {"passed": 1, "skipped": 1, "failed": 1, "not collected": 1}
    assert found["by_file"]["test_b.py"] == {"not collected": 1}
    assert found["causes"] == {
        "took longer than a minute": {"tests": 1, "files": 0},
        "modules and names inside numba": {"tests": 0, "files": 1},
    }
    assert found["skips"] == {"no": 1}
    assert found["findings"] == [{"kernel": "a.py k", "finding": "race: ..."}]
