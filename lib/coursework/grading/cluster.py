"""`--grade-dask tcp://host:port`: send submissions to an existing Dask cluster.

Every submission is one task. On the worker it runs `pytest --grade` for a class of one, so its sandbox is the same; the
result comes back as data, and this machine alone writes files. A task whose worker is lost is tried again elsewhere;
what does not come back at all, as from a worker that hangs, is graded here. Workers need the course installed, and bubblewrap.
"""

import json
import os
import subprocess
import sys
import tempfile
import uuid
from dataclasses import replace
from pathlib import Path

from .. import own
from . import exchange, results, slim
from .reading import MAX_NOTEBOOK

RETRIES = 3
PATIENCE = 60  # seconds in which some result must come, beside what a submission may take


class NoCluster(RuntimeError):
    """The cluster cannot be used. The message says why."""


def grade_remotely(address, state, tell):
    """Grade on the cluster what has no valid result yet; `tell(done, total)` is called as results come in.

    Returns how many results came back, of how many that were sent.
    """
    try:
        from distributed import Client, wait
    except ImportError:
        raise NoCluster("--grade-dask needs Dask: pip install distributed, here and on the workers.") from None
    pending = [s for s in state.submissions if s.path is not None and not state.is_done(s)]
    if not pending:
        return 0, 0
    came = 0
    try:
        client = Client(address, timeout="20s")
    except (OSError, TimeoutError, ValueError) as error:
        raise NoCluster(f"No Dask scheduler answers at {address}: {error}") from None
    with client:
        run = uuid.uuid4().hex
        futures = {
            client.submit(grade_one, _task(state, s), key=f"grade-{run}-{i}", retries=RETRIES, pure=False): s
            for i, s in enumerate(pending)
        }
        waiting, patience = set(futures), PATIENCE + 2 * state.limits.total_seconds
        while waiting:
            try:
                done, waiting = wait(waiting, timeout=patience, return_when="FIRST_COMPLETED")
            except TimeoutError:  # a worker that hangs keeps what it has; nobody waits for it
                client.cancel(list(waiting), force=True)
                break
            for future in done:
                if future.status == "finished":
                    submission, result = futures[future], json.loads(future.result())
                    results.save(results.path_of(state.out, submission), result | {"student": submission.student})
                    came += 1
            tell(len(futures) - len(waiting), len(pending))
    return came, len(pending)


def _task(state, submission):
    """Everything a worker needs, as plain data."""
    master = state.masters[submission.exercise]
    try:
        data = slim.read(submission.path, MAX_NOTEBOOK)
    except exchange.BadData:
        data = b""
    return {
        "exercise": submission.exercise,
        "notebook": data,
        "master": Path(master).read_bytes(),
        "mode": state.mode,
        "seed": state.seed_text,
        "cell_seconds": state.limits.cell_seconds,
        "total_seconds": state.limits.total_seconds,
        "memory": state.limits.memory / (1 << 30),
        "numbers": _numbers(state.added, submission),
    }


def _numbers(added, submission):
    """What draws the student's own numbers, for a class of one; "" where all have those of the book."""
    return replace(added.numbers, persons=tuple(added.persons(submission))).text() if added.numbers else ""


def grade_one(task):
    """Runs on a worker: grade a class of one and return the text of its result file."""
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        folder = Path(folder)
        name = f"{task['exercise']}.ipynb"
        for place, data in (("submissions/student", task["notebook"]), ("masters", task["master"])):
            (folder / place).mkdir(parents=True)
            (folder / place / name).write_bytes(data)
        out = folder / "grades"
        out.mkdir()
        (out / "seed.txt").write_text(task["seed"] + "\n", encoding="utf-8")
        if task["numbers"]:
            (out / own.NUMBERS).write_text(task["numbers"], encoding="utf-8")
        # confine.py ties the grader's life to the worker's: a killed worker leaves nothing running
        launcher = [sys.executable, "-I", Path(__file__).with_name("confine.py"), json.dumps({"folder": str(folder)})]
        command = [*launcher, sys.executable, "-m", "pytest", "--grade", "submissions", "--grade-out", "grades", "-q"]
        command += ["--grade-masters", "masters", "--grade-sandbox", task["mode"], "-p", "no:cacheprovider"]
        command += ["--grade-cell-seconds", task["cell_seconds"], "--grade-total-seconds", task["total_seconds"]]
        command += ["--grade-memory", task["memory"]]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        done = subprocess.run(
            [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        try:
            return (out / "results" / "student" / f"{task['exercise']}.json").read_text(encoding="utf-8")
        except OSError:
            raise RuntimeError(f"a worker could not grade: {(done.stdout + done.stderr)[-1500:]}") from None
