"""How long a student waits for a check: every check of the right answers, in a fresh process, the first call and the
next.

    python tests/check_times.py              all tasks
    python tests/check_times.py 07 08-tiled  those whose names begin so

What a notebook's set-up cell imports is imported before. A time is the shorter of the clock's and the process's own CPU
time: the first counts what others do on a busy machine, the second counts parallel threads twice. The limits hold for
the median of all calls and for the worst of them.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEDIAN, MOST = 1.0, 10.0  # seconds


def of_this_process(task_id):
    """[[part, seconds of the first call, of the next], ...] of a task."""
    import masters
    import numba  # noqa: F401
    import numpy as np

    import coursework.notebook  # noqa: F401
    import dlkernels
    from coursework import checking, definition
    from simt.xray import xray  # noqa: F401

    assert dlkernels.cuda
    np.ones(1).max()  # what NumPy imports for it at the first call; an answer cannot
    task = definition.find(task_id)
    answer, rows = masters.answer(task), []
    for part, function in ((task.part, checking.check), *((("budget", checking.check_budget),) if task.budget else ())):
        seconds = []
        for _ in range(2):
            begun = time.perf_counter(), time.process_time()
            outcome = function(task, answer)
            seconds.append(min(time.perf_counter() - begun[0], time.process_time() - begun[1]))
            assert outcome.status == checking.RIGHT, outcome.failure
        rows.append([part, *seconds])
    return rows


def of(task_id):
    """As `of_this_process`, in a process of its own."""
    command = [sys.executable, __file__, "--one", task_id]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def table(task_ids, tell=print):
    """Times every check; returns [(task, part, first, next), ...]."""
    rows = []
    tell(f"{'task':<14}{'part':<12}{'first':>8}{'next':>8}  seconds")
    for task_id in task_ids:
        for part, first, again in of(task_id):
            rows.append((task_id, part, first, again))
            tell(f"{task_id:<14}{part:<12}{first:>8.2f}{again:>8.2f}")
    return rows


def complaints(rows):
    """What takes too long, in sentences."""
    said = [
        f"{task} {part}: {max(times):.1f} s; at most {MOST:g} s" for task, part, *times in rows if max(times) > MOST
    ]
    for name, place in (("first", 2), ("next", 3)):
        median = statistics.median(row[place] for row in rows)
        if median > MEDIAN:
            said.append(f"the median of the {name} calls is {median:.2f} s; at most {MEDIAN:g} s")
    return said


def main():
    from coursework import definition

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="the beginnings of their names (default: all)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(of_this_process(options.one)))
        return 0
    wanted = tuple(options.tasks) or ("",)
    rows = table([task.id for task in definition.everything() if task.id.startswith(wanted)])
    for name, place in (("first", 2), ("next", 3)):
        print(f"median of the {name} calls: {statistics.median(row[place] for row in rows):.2f} s")
    said = complaints(rows)
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
