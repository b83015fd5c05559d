"""How long a class takes to be graded: so many submissions of chapter 07, every task answered, by `make grade` on two cores.

    python benchmarks/run.py grading           200 submissions, recorded in results/grading.json
    python benchmarks/run.py grading --quick   8 submissions, not recorded

Every answer is the master's with the student's number beside it, so no two submissions are equal, and each earns all points:
an unfinished one takes less. Recorded are seconds of the clock, and the memory of the grader's own processes in each quarter
of the run (sandboxes come and go).
"""

import csv
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import nbformat
import psutil

from coursework import build

ROOT = Path(__file__).resolve().parents[1]
EXERCISE = "07_vector_add"
SIZE, PROCESSES = 200, 3  # as `make grade` on two cores: one more, for each waits now and then


def benchmark(quick):
    size = 8 if quick else SIZE
    with tempfile.TemporaryDirectory() as folder:
        hand_in(Path(folder, "in"), size)
        seconds, resident = grade(Path(folder))
        with open(Path(folder, "out", "grades.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    full = sum(0 < float(row["points"]) == float(row["max_points"]) for row in rows)
    if not len(rows) == full == size:
        raise RuntimeError(f"{full} of {len(rows)} submissions have all points; expected {size} of {size}")
    print(f"{size} submissions of {EXERCISE} on {PROCESSES} processes: {seconds:.0f} s, {seconds / size:.2f} s each")
    print("MB of the grader's processes, most in each quarter of the run:", *(f"{most / 1e6:.0f}" for most in resident))
    return {
        "exercise": EXERCISE, "submissions": size, "processes": PROCESSES, "seconds": round(seconds, 1),
        "resident_bytes_by_quarter": resident,
    }  # fmt: skip


def hand_in(folder, size):
    master, exercise = (build.read(ROOT / kind / f"{EXERCISE}.ipynb") for kind in ("solutions", "exercises"))
    answers = [
        place
        for place, (full, empty) in enumerate(zip(master.cells, exercise.cells, strict=True))
        if full.cell_type == "code" and full.source != empty.source
    ]
    for student in range(size):
        notebook = nbformat.from_dict(exercise)
        for place in answers:
            notebook.cells[place].source = f"{master.cells[place].source}\n# {student}"
        path = folder / f"student{student:03d}" / f"{EXERCISE}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(build.text_of(notebook), encoding="utf-8")


def grade(folder):
    """(seconds, [most bytes of the grader's processes together, in each quarter of the run])"""
    command = [sys.executable, "-m", "pytest", f"--grade={folder / 'in'}", f"--grade-out={folder / 'out'}", "-q"]
    began, seen = time.perf_counter(), []
    with open(folder / "log", "w+", encoding="utf-8") as log:
        grader = psutil.Popen(
            [*command, "-n", str(PROCESSES), "-p", "no:cacheprovider"], cwd=ROOT, stdout=log, stderr=log
        )
        while grader.poll() is None:
            seen.append((time.perf_counter() - began, resident(grader)))
            time.sleep(1)
        seconds = time.perf_counter() - began
        log.seek(0)
        if grader.returncode:
            raise RuntimeError(f"the grader ended with {grader.returncode}: {log.read()[-2000:]}")
    quarters = [[size for at, size in seen if quarter <= 4 * at / seconds < quarter + 1] for quarter in range(4)]
    return seconds, [max(sizes, default=0) for sizes in quarters]


def resident(grader):
    """Bytes of the grader and its workers: its children that run Python themselves, not what runs in a sandbox."""
    total = 0
    for process in [grader, *grader.children()]:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total
