"""The answers of each master notebook, handed in by a student, earn all points in the sandbox."""

import csv
import os
import shutil
import subprocess
import sys

import hostile
import pytest
import rotation

from coursework.grading import sandbox

MASTERS = sorted((hostile.ROOT / "solutions").glob("*.ipynb"))
MODE = "rlimit" if sandbox.why_no_bwrap() else "bwrap"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS")


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory):
    """{exercise: its row of grades.csv} and the feedback, for one student who handed in the masters of this run."""
    folder = tmp_path_factory.mktemp("masters")
    handed_in = folder / "in" / "anna"
    handed_in.mkdir(parents=True)
    for master in rotation.of_today(request, "master"):
        shutil.copy(master, handed_in)
    options = f"--grade={folder / 'in'} --grade-out={folder / 'out'} --grade-sandbox {MODE}"
    command = [sys.executable, "-m", "pytest", *options.split(), *hostile.PATIENTLY, "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=hostile.ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout
    with open(folder / "out" / "grades.csv", encoding="utf-8") as file:
        rows = {row["exercise"]: row for row in csv.DictReader(file)}
    return rows, (folder / "out" / "feedback" / "anna.md").read_text(encoding="utf-8")


@pytest.mark.rotates
@pytest.mark.parametrize("master", MASTERS, ids=lambda path: path.stem)
def test_the_masters_answers_earn_all_points(master, graded):
    rows, feedback = graded
    row = rows[master.stem]
    assert float(row["points"]) == float(row["max_points"]) > 0, f"{row['flags']}\n{feedback}"


def test_there_is_a_master_for_each_chapter_with_tasks():
    from coursework.definition import chapter_of, chapters

    assert [chapter_of(path.name) for path in MASTERS] == chapters()
