"""How long a class takes to be graded: so many submissions of chapter 07 by `make grade` on two cores.

    python benchmarks/run.py grading            two classes of 200, recorded in results/grading.json
    python benchmarks/grading.py --count 6      a first look; records nothing

In the class *answered* every task is answered, and right: the most work that there is. *varied* is as a class may be:
half of it is so, others have some tasks, wrong answers, an empty folder, half a file, crashes, loops without an end,
all memory. The kinds are rows of tests/grading/hostile.py, which says what each must earn; a run in which a row of
grades.csv has other points, or another state, fails. In each submission the answers have the student's number beside
them, so that no two are equal.

Recorded are seconds of the clock, and for each tenth of the run the most memory of the grader's own processes
(sandboxes come and go) and of these and the sandboxes together (pages that several share counted for each).
"""

import argparse
import csv
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil

from coursework import build

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "grading"))
import hostile  # noqa: E402

EXERCISE = "07_vector_add"
SIZE, PROCESSES = 200, 3  # as `make grade` on two cores: one more, for each waits now and then
SLICES = 10
STEP = 47  # from one student's kind to the next one's, among the fifty: few are enough for many kinds
#: class -> {a row of hostile.py: how many of fifty are so}
CLASSES = {
    "answered": {"right": 50},
    "varied": {
        "right": 25, "all_but_one": 5, "half": 5, "as_shipped": 3, "hard_coded": 2, "extra_cells": 2,
        "nothing": 1, "truncated": 1, "os_exit": 1, "segfault": 1, "memory_hog": 1,
        "kernel_that_never_ends": 1, "loop_in_answer": 1, "loop_at_top": 1,
    },
}  # fmt: skip


def benchmark(quick):
    return {name: graded(kinds, 8 if quick else SIZE) for name, kinds in CLASSES.items()}


def graded(kinds, size):
    """What is recorded of a class of such kinds; RuntimeError where somebody has not what is theirs."""
    who = members(kinds, size)
    with tempfile.TemporaryDirectory() as folder:
        hand_in(Path(folder, "in"), who)
        seconds, seen = grade(Path(folder))
        with open(Path(folder, "out", "grades.csv"), encoding="utf-8") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
    if wrong := faults(who, rows):
        raise RuntimeError(f"{len(wrong)} of {size} have not what is theirs: {'; '.join(wrong[:5])}")
    own, all_ = ([max(sizes, default=0) for sizes in tenths(seen, seconds, place)] for place in (1, 2))
    print(f"{size} submissions of {EXERCISE} on {PROCESSES} processes: {seconds:.0f} s, {seconds / size:.2f} s each")
    print("MB of the grader's processes, most in each tenth of the run:", *(f"{most / 1e6:.0f}" for most in own))
    print("... with what runs in its sandboxes:", *(f"{most / 1e6:.0f}" for most in all_))
    return {
        "exercise": EXERCISE, "submissions": size, "processes": PROCESSES, "seconds": round(seconds, 1),
        "grader_bytes": own, "all_bytes": all_, "kinds": by_kind(who, rows),
    }  # fmt: skip


def members(kinds, size):
    """{student: kind}: any fifty that follow each other have the shares that they should, mixed."""
    fifty = list(Counter(kinds).elements())
    return {f"student{k:03d}": fifty[k * STEP % len(fifty)] for k in range(size)}


def hand_in(folder, who):
    shipped = {cell.id: cell.source for cell in build.read(hostile.EXERCISE).cells}
    for student, kind in who.items():
        path = folder / student / f"{EXERCISE}.ipynb"
        path.parent.mkdir(parents=True)
        notebook = hostile.solved()
        text = hostile.ROWS[kind].make(notebook)
        if text is hostile.NOTHING:
            continue
        for cell in notebook.cells:
            if build.is_answer(cell) and cell.source != shipped[cell.id]:
                cell.source += f"\n# {student}"
        path.write_text(text or build.text_of(notebook), encoding="utf-8")


def grade(folder):
    """(seconds, [(when, bytes of the grader's own processes, bytes of these and all below them), ...])"""
    command = [sys.executable, "-m", "pytest", f"--grade={folder / 'in'}", f"--grade-out={folder / 'out'}", "-q"]
    began, seen = time.perf_counter(), []
    with open(folder / "log", "w+", encoding="utf-8") as log:
        grader = psutil.Popen(
            [*command, "-n", str(PROCESSES), "-p", "no:cacheprovider"], cwd=ROOT, stdout=log, stderr=log
        )
        while grader.poll() is None:
            seen.append((time.perf_counter() - began, *resident(grader)))
            time.sleep(1)
        seconds = time.perf_counter() - began
        log.seek(0)
        if grader.returncode:
            raise RuntimeError(f"the grader ended with {grader.returncode}: {log.read()[-2000:]}")
    return seconds, seen


def resident(grader):
    """Bytes of the grader and its workers (its children, which run Python themselves), and with all that they
    started."""
    own = below = 0
    for process in [grader, *grader.children(recursive=True)]:
        with suppress(psutil.Error):
            size = process.memory_info().rss
            below += size
            own += size if grader.pid in (process.pid, process.ppid()) else 0
    return own, below


def tenths(seen, seconds, place):
    """The measured sizes of each tenth of a run."""
    return [[row[place] for row in seen if part <= SLICES * row[0] / seconds < part + 1] for part in range(SLICES)]


def faults(who, rows):
    """Who has not the points, the state and the flag that their kind must have, one sentence each."""
    found = [f"{student} is a stranger" for student in rows.keys() - who.keys()]
    for student, kind in who.items():
        row, due = rows.get(student), hostile.ROWS[kind]
        if row is None:
            found.append(f"{student} has no row")
        elif float(row["points"]) != due.points or not row["status"].startswith(due.status):
            found.append(f"{student} ({kind}) has {row['points']}, {row['status']}; due are {due.points}, {due.status}")
        elif due.flag not in row["flags"]:
            found.append(f"{student} ({kind}) has no flag {due.flag}")
    return found


def by_kind(who, rows):
    """{kind: how many, the points of each, and the seconds that the one in the middle took}"""
    times = {kind: [float(rows[s]["seconds"]) for s in who if who[s] == kind] for kind in dict.fromkeys(who.values())}
    return {
        kind: {"submissions": len(took), "points": hostile.ROWS[kind].points, "seconds": statistics.median(took)}
        for kind, took in sorted(times.items())
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--class", dest="name", choices=CLASSES, help="only this one")
    parser.add_argument("--count", type=int, default=8, help="submissions in a class")
    options = parser.parse_args(arguments)
    for name in [options.name] if options.name else CLASSES:
        print(f"{name}:")
        for kind, found in graded(CLASSES[name], options.count)["kinds"].items():
            print(f"  {found['submissions']} {kind}: {found['points']} points, {found['seconds']:.1f} s")


if __name__ == "__main__":
    main()
