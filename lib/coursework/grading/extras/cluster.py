"""`--grade-dask tcp://host:port`: send submissions to an existing Dask cluster.

Every submission is one task. On the worker it runs `pytest --grade` for a class of one, so its sandbox is the same; the
result comes back as data, and this machine alone writes files. A task whose worker is lost is tried again elsewhere;
what does not come back at all, as from a worker that hangs, is graded here. Workers need the course installed, in the
same version, and bubblewrap.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import uuid
from dataclasses import replace
from pathlib import Path

from ... import own
from .. import confine, exchange, results, waiting
from ..intake import slim
from ..intake.reading import MAX_NOTEBOOK

RETRIES = 3
PATIENCE = 60  # seconds to start and to send, beside what a submission may take


class NoCluster(RuntimeError):
    """The cluster cannot be used. The message says why."""


def grade_remotely(address, state, tell):
    """Grade on the cluster what has no valid result yet; `tell(done, total)` is called as results come in.

    Returns (the submissions whose results came back, how many were sent, the first error of a worker or "").
    """
    try:
        from distributed import Client, wait
        from distributed.client import CancelledError
    except ImportError:
        raise NoCluster("--grade-dask needs Dask: pip install distributed, here and on the workers.") from None
    tasks = _tasks(state)
    if not tasks:
        return [], 0, ""
    came, trouble = [], ""
    try:
        client = Client(address, timeout="20s")
    except (OSError, TimeoutError, ValueError) as error:
        raise NoCluster(f"No Dask scheduler answers at {address}: {error}") from None
    with client:
        run = uuid.uuid4().hex
        futures = {
            client.submit(grade_one, task, key=f"grade-{run}-{i}", retries=RETRIES, pure=False): (submission, key)
            for i, (submission, key, task) in enumerate(tasks)
        }
        left, total = set(futures), len(tasks)
        while left:
            try:
                wait(left, timeout=_longest(state.limits.total_seconds) + PATIENCE, return_when="FIRST_COMPLETED")
            except TimeoutError:  # a worker that hangs keeps what it has; nobody waits for it
                client.cancel(list(left), force=True)
                break
            except CancelledError:
                pass  # seen below: the scheduler has forgotten some of them
            for future in [future for future in left if future.status != "pending"]:
                left.discard(future)
                if future.status == "finished":
                    keep(state, *futures[future], future.result())
                    came.append(futures[future][0])
                else:
                    trouble = trouble or _trouble(future)
            tell(total - len(left), total)
    return came, total, trouble


def _tasks(state):
    """(submission, key of its result, what a worker needs) of all that is to be sent."""
    found = []
    for submission in state.submissions:
        if submission.path is not None and not state.is_done(submission):
            with contextlib.suppress(exchange.BadData):  # costs nothing to refuse, here
                found.append((submission, state.key(submission), _task(state, submission)))
    return found


def keep(state, submission, key, text):
    """Save what a worker said, as if it had been graded here."""
    result = json.loads(text) | {"student": submission.student, "key": key}
    results.save(results.path_of(state.out, submission), result)


def _longest(total_seconds):
    """Seconds after which a worker's grader has ended, whatever it waited for."""
    return waiting.MOST * total_seconds + PATIENCE


def _trouble(future):
    """What went wrong on a worker, in one line."""
    if future.status != "error":
        return f"a task was {future.status}"
    return " ".join(str(future.exception()).split())[:600]


def _task(state, submission):
    """Everything a worker needs, as plain data."""
    return {
        "exercise": submission.exercise,
        "notebook": slim.read(submission.path, MAX_NOTEBOOK),
        "master": Path(state.masters[submission.exercise]).read_bytes(),
        "mode": state.mode,
        "seed": state.seed_text,
        "cell_seconds": state.limits.cell_seconds,
        "total_seconds": state.limits.total_seconds,
        "memory": state.limits.memory / (1 << 30),
        "numbers": _numbers(state.added, submission),
        "code": results.code_key(),
    }


def _numbers(added, submission):
    """What draws the student's own numbers, for a class of one; "" where all have those of the book."""
    return replace(added.numbers, persons=tuple(added.persons(submission))).text() if added.numbers else ""


def grade_one(task):
    """Runs on a worker: grade a class of one and return the text of its result file."""
    if task["code"] != results.code_key():
        raise RuntimeError("a worker has another version of the course than this machine; install the same on both")
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        folder = Path(folder)
        name = f"{task['exercise']}.ipynb"
        for subfolder, data in (("submissions/student", task["notebook"]), ("masters", task["master"])):
            (folder / subfolder).mkdir(parents=True)
            (folder / subfolder / name).write_bytes(data)
        out = folder / "grades"
        out.mkdir()
        (out / "seed.txt").write_text(task["seed"] + "\n", encoding="utf-8")
        if task["numbers"]:
            (out / own.NUMBERS).write_text(task["numbers"], encoding="utf-8")
        # confine.py ties the grader's life to the worker's: a killed worker leaves nothing running
        launcher = [sys.executable, "-I", Path(confine.__file__), json.dumps({"folder": str(folder)})]
        command = [*launcher, sys.executable, "-m", "pytest", "--grade", "submissions", "--grade-out", "grades", "-q"]
        command += ["--grade-masters", "masters", "--grade-sandbox", task["mode"], "-p", "no:cacheprovider"]
        command += ["--grade-cell-seconds", task["cell_seconds"], "--grade-total-seconds", task["total_seconds"]]
        command += ["--grade-memory", task["memory"]]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        said = ""
        try:
            done = subprocess.run(
                [str(part) for part in command],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=_longest(task["total_seconds"]),
            )
            said = (done.stdout + done.stderr)[-1500:]
            return (out / "results" / "student" / f"{task['exercise']}.json").read_text(encoding="utf-8")
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"a worker could not grade: no result within {error.timeout:g} seconds") from None
        except OSError:
            raise RuntimeError(f"a worker could not grade: {said}") from None
