"""The notebooks work in nbgrader as they are: the same cells are released, and the same points come out.

nbgrader is kept out of the course's environment (it slows every start). To run this test, make one of its own:

    python -m venv build/nbgrader
    build/nbgrader/bin/pip install nbgrader==0.9.6 numba "numpy<2.5" matplotlib greenlet psutil nbval pytest
    DLKERNELS_NBGRADER=build/nbgrader pytest tests/grading/test_grading_nbgrader.py
"""

import csv
import os
import subprocess
from pathlib import Path

import hostile
import pytest

from coursework import build

HOME = Path(os.environ.get("DLKERNELS_NBGRADER", hostile.ROOT / "build" / "nbgrader")).absolute()
PROGRAM = HOME / "bin" / "nbgrader"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason="no environment with nbgrader 0.9.6 (see the head of this file)"),
]
NAME = "07_vector_add"
CLASS = {
    "right": tuple(hostile.TASKS),
    "all_but_one": hostile.SOLVED,
    "half": ("07-launch", "07-axpy"),
    "as_shipped": (),
}


def nbgrader(course, *arguments):
    environment = {
        **os.environ,
        "PYTHONPATH": str(hostile.ROOT / "lib"),
        "PATH": f"{HOME / 'bin'}:{os.environ['PATH']}",
        "JUPYTER_PATH": "",
        "JUPYTER_CONFIG_DIR": str(course / "config"),
        "JUPYTER_DATA_DIR": str(course / "data"),
        "DLKERNELS_PROGRESS": "off",
    }
    done = subprocess.run(
        [PROGRAM, *arguments], cwd=course, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'test'\n")
    (course / "source" / "ps07").mkdir(parents=True)
    (course / "source" / "ps07" / f"{NAME}.ipynb").write_bytes(hostile.MASTER.read_bytes())
    nbgrader(course, "generate_assignment", "ps07")
    for student, solved in CLASS.items():
        folder = course / "submitted" / student / "ps07"
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(build.text_of(hostile.solved(solved)), encoding="utf-8")
    nbgrader(course, "autograde", "ps07")
    nbgrader(course, "export")
    return course


def test_nbgrader_releases_what_we_build(course):
    released = build.read(course / "release" / "ps07" / f"{NAME}.ipynb")
    ours = build.read(hostile.EXERCISE)
    assert [c.id for c in released.cells] == [c.id for c in ours.cells]
    for theirs, mine in zip(released.cells, ours.cells, strict=True):
        if build.is_answer(mine):
            assert "raise NotImplementedError" in theirs.source
        else:
            assert theirs.source.strip() == mine.source.strip()
        for key in ("grade_id", "grade", "solution", "locked", "points", "schema_version"):
            assert theirs.metadata.get("nbgrader", {}).get(key) == mine.metadata.get("nbgrader", {}).get(key)


def test_nbgrader_gives_the_same_points(course):
    from test_grading_run import run, table

    with open(course / "grades.csv", encoding="utf-8") as file:
        theirs = {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}
    done = run(course / "submitted", course / "ours")
    assert done.returncode == 0, done.stdout
    ours = {row["student"]: float(row["points"]) for row in table(course / "ours")}
    assert ours == theirs
    assert ours["right"] == hostile.MOST
    assert ours["half"] == 7
