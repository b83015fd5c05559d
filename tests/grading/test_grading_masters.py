"""The answers of each master notebook, handed in by a student, earn all points in the sandbox."""

import csv
import os
import shutil
import subprocess
import sys

import hostile
import pytest

from coursework.grading import sandbox

MASTERS = sorted((hostile.ROOT / "solutions").glob("*.ipynb"))
MODE = "rlimit" if sandbox.why_no_bwrap() else "bwrap"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS")


@pytest.mark.parametrize("master", MASTERS, ids=lambda path: path.stem)
def test_the_masters_answers_earn_all_points(master, tmp_path):
    handed_in = tmp_path / "in" / "anna" / master.name
    handed_in.parent.mkdir(parents=True)
    shutil.copy(master, handed_in)
    number = master.name[:2]
    options = (
        f"--grade={tmp_path / 'in'} --grade-out={tmp_path / 'out'} --grade-sandbox {MODE} --grade-exercise {number}"
    )
    command = [sys.executable, "-m", "pytest", *options.split(), "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=hostile.ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    with open(tmp_path / "out" / "grades.csv", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    feedback = "\n".join(p.read_text(encoding="utf-8") for p in (tmp_path / "out").rglob("*.md"))
    assert float(row["points"]) == float(row["max_points"]) > 0, feedback


def test_there_is_a_master_for_each_chapter_with_tasks():
    from coursework.definition import chapters

    assert [path.name[:2] for path in MASTERS] == chapters()
