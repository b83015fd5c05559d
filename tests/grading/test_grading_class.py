"""A class of 60 as Moodle hands it out, honest, odd and hostile side by side: each has the grade that it must have."""

import csv
import functools
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass

import hostile
import nbformat
import pytest
from test_grading_cells import moved, pasted, split

from coursework import build
from coursework.grading import sandbox

NO_BWRAP = sandbox.why_no_bwrap()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(NO_BWRAP), reason=str(NO_BWRAP))]
FILE = "07_vector_add.ipynb"
FIRST = ["Änna", "Ben", "Chloë", "Đan", "Eva", "Frank", "Gül", "Hồng", "Ida", "Jörg"]
LAST = ["Ant", "Bee", "Cicada", "Drone", "Earwig", "Fly"]
PEOPLE = [f"{first} {last}" for last in LAST for first in FIRST]


@dataclass(frozen=True)
class Handed:
    """What somebody handed in, {name: content}, and what it is worth."""

    files: dict
    points: int
    status: str = "graded"
    flag: str = ""


def subset(bits):
    """Some of the tasks solved, the others as they were handed out."""
    tasks = [task for i, task in enumerate(hostile.SOLVED) if bits >> i & 1]
    return Handed({FILE: build.text_of(hostile.solved(tasks))}, sum(hostile.POINTS[task] for task in tasks))


def changed(points, change):
    notebook = hostile.solved()
    change(notebook)
    return Handed({FILE: build.text_of(notebook)}, points)


def put(name, source):
    def change(notebook):
        hostile.cell(notebook, name).source = source

    return change


def wide_output(notebook):
    hostile.cell(notebook, "07-add").outputs = [nbformat.v4.new_output("stream", text="x" * (15 << 20))]


def honest():
    return {
        **{f"solved {bits:05b}": subset(bits) for bits in range(1, 32, 2)},
        "split": changed(hostile.ALL, lambda notebook: split(notebook, "07-launch")),
        "pasted": changed(hostile.ALL, lambda notebook: pasted(notebook, "07-bug")),
        "moved": changed(hostile.ALL, lambda notebook: moved(notebook, "07-axpy", "07-add")),
        "one block too few": changed(
            hostile.ALL - hostile.LAUNCH, put("07-launch", "def launch(n):\n    return n // 256, 256")
        ),
        "guessed": changed(
            hostile.ALL - hostile.SECTORS, lambda n: put("07-sectors", "neighbours = every_eighth = 1")(n)
        ),
        "syntax error": changed(hostile.ALL - hostile.LAUNCH, put("07-launch", "def launch(n)\n    return 1, n")),
    }


def zipped(files, date=(2026, 11, 20, 12, 0, 0)):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in files.items():
            when, content = content if isinstance(content, tuple) else (date, content)
            pack.writestr(zipfile.ZipInfo(name, when), content)
    return out.getvalue()


def tarred(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as pack:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content.encode())
            pack.addfile(info, io.BytesIO(content.encode()))
    return out.getvalue()


def odd():
    whole, less = build.text_of(hostile.solved()), build.text_of(hostile.solved(("07-launch",)))
    return {
        "zip": Handed({"homework.zip": zipped({FILE: whole})}, hostile.ALL),
        "zip in a zip": Handed({"a.zip": zipped({"b/c.zip": zipped({"d/" + FILE: whole})})}, hostile.ALL),
        "tar": Handed({"a.tar.gz": tarred({"ps7/" + FILE: whole})}, hostile.ALL),
        "renamed": Handed({"final, really final.ipynb": whole}, hostile.ALL),
        "two versions": Handed(
            {"a.zip": zipped({"new/" + FILE: whole, "old/" + FILE: ((2026, 11, 1, 1, 1, 1), less)})}, hostile.ALL
        ),
        "two versions, the newer one with less": Handed(
            {"a.zip": zipped({"new/" + FILE: less, "old/" + FILE: ((2026, 11, 1, 1, 1, 1), whole)})}, hostile.LAUNCH
        ),
        "wide output": changed(hostile.ALL, wide_output),
        "rar": Handed({"a.rar": b"Rar!\x1a\x07\x00"}, 0, "missing", "a.rar"),
        "no notebook": Handed({"readme.txt": "I could not do it."}, 0, "missing"),
        "nothing": Handed({}, 0, "missing"),
    }


CONTEXT = {"writes_grades", "reads_the_seed", "phones_home"}  # need to know where the grader is


@functools.cache
def everybody():
    """[(what it is, Handed)] of all sixty."""
    found = list((honest() | odd()).items())
    rows = {n: r for n, r in hostile.ROWS.items() if not r.night and n not in CONTEXT | {"nothing"}}
    for name, row in list(rows.items())[: 60 - len(found)]:
        found.append((name, Handed({FILE: hostile.text(row, name)}, row.points, row.status, row.flag)))
    return found


def person(place):
    """Whose the place-th work is: the kinds are mixed, so that they are graded beside each other."""
    return PEOPLE[place * 7 % 60]


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    lines = [f"{person(i)},Participant {2000 + i},student{i}@uni.example" for i in range(60)]
    (folder / "roster.csv").write_text("\n".join(["full name,identifier,email address", *lines]), encoding="utf-8")
    for i, (_, work) in enumerate(everybody()):
        place = folder / "in" / f"{person(i)}_{2000 + i}_assignsubmission_file_"
        place.mkdir(parents=True)
        for name, content in work.files.items():
            content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
            (place / name).write_bytes(content)
    options = f"--grade={folder / 'in'} --grade-out={folder / 'out'} --grade-exercise 07 -n 2 -q -p no:cacheprovider"
    options += f" --grade-roster {folder / 'roster.csv'} --grade-cell-seconds 30 --grade-total-seconds 600"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split()], cwd=hostile.ROOT, capture_output=True, text=True,
        timeout=1500, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    with open(folder / "out" / "grades.csv", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return rows, json.loads((folder / "out" / "grades.json").read_text(encoding="utf-8"))


def test_the_class_is_there_and_nobody_else(grades):
    assert len(everybody()) == len(PEOPLE) == 60
    assert sorted(grades[0]) == sorted(PEOPLE)


@pytest.mark.parametrize("place", range(60))
def test_everybody_has_the_grade_that_is_theirs(grades, place):
    what, work = everybody()[place]
    row = grades[0][person(place)]
    (result,) = (r for r in grades[1] if r["student"] == person(place))
    told = {f"{t['task']} {t['part']}": (t["points"], t["headline"]) for t in result["tasks"]}
    assert row["status"].startswith(work.status), (what, row)
    assert float(row["points"]) == work.points, (what, told)
    assert work.flag in row["flags"], what
