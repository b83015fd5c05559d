"""Mutants of answers and of escapes: nothing that is admitted does what it may not. fuzz.py says how; `make fuzz` makes
100,000."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import fuzz
import pytest

SEED = 1


def run(count):
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), str(here.parents[1] / "lib")])
    command = [sys.executable, "-W", "ignore", str(here / "fuzz.py"), str(count), "--seed", str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, cwd=here)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("count", [500, pytest.param(100_000, marks=pytest.mark.slow)])
def test_no_mutant_gets_out(count):
    said = run(count)
    assert "refused" in said
    for key in fuzz.KEYS:  # what is refused to the last one tells nothing
        assert f"admitted, {key}" in said


@pytest.mark.quick
def test_the_page_says_what_the_kept_run_found():
    root = Path(__file__).parents[2]
    kept = json.loads((root / "benchmarks" / "results" / "fuzz.json").read_text(encoding="utf-8"))
    made, refused, admitted = kept["mutants"], kept["refused"], kept["admitted"]
    assert (kept["escaped"], made) == (0, refused + sum(admitted.values()))
    assert set(admitted) == set(fuzz.KEYS)
    assert min(admitted.values()) > 0
    page = " ".join((root / "chapters" / "instructors.md").read_text(encoding="utf-8").split())
    said = f"of {made:,} mutants of right answers and of escapes (seed {kept['seed']}), {refused:,} were refused"
    assert f"{said} and {made - refused:,} admitted and tried as plain Python, and none got out" in page
    assert f"{kept['launched']:,} of the admitted" in page
    assert f"{kept['came to its end']:,} came to their end" in page


@pytest.mark.quick
def test_a_run_is_kept_as_what_became_of_its_mutants():
    outcomes = collections.Counter(
        {"refused": 7, "admitted, plain": 2, "admitted, kernel": 1, "launched": 1, "fails with NameError": 1}
    )
    kept = fuzz.summary(10, 3, outcomes)
    assert (kept["mutants"], kept["seed"], kept["refused"], kept["escaped"]) == (10, 3, 7, 0)
    assert kept["admitted"] == {"kernel": 1, "compiled": 0, "counted": 0, "plain": 2}
    assert (kept["launched"], kept["came to its end"]) == (1, 0)
    assert kept["failed when defined"] == {"NameError": 1}


BREACHES = {
    "kernel": [
        "@cuda.jit\ndef f(x=open('/dev/null')):\n    pass",
        "@cuda.jit\ndef f(x: print, /):\n    pass",
        "@cuda.jit\ndef f(x):\n    x.ctypes",
    ],
    "compiled": [
        "@njit\ndef f(x):\n    import os",
        "@njit\ndef f(x):\n    return np.ctypeslib",
        "@njit\ndef f(x):\n    x.shape = 3",
    ],
    "plain": ["def f():\n    return ().__class__", "def f():\n    return open", "def f():\n    return '\u2028'"],
}


@pytest.mark.quick
@pytest.mark.parametrize(("key", "text"), [(key, text) for key, texts in BREACHES.items() for text in texts])
def test_a_hole_in_the_wall_would_be_seen(key, text):
    assert fuzz.look_at([text], key)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("run", "event"),
    [("open('/dev/null')", "open"), ("['a function to launch']", "os.system")],
    ids=["as Python", "when launched"],
)
def test_the_bell_rings(run, event):
    """As if something had been admitted that opens a file, or starts a process when it is launched."""
    code = (
        "import fuzz, os\n"
        "fuzz._send = lambda texts, key: ['def f(x):\\n    return print']\n"
        f"fuzz.run = lambda texts, key: {run}\n"
        "fuzz.launch = lambda function, task: os.system('true')\n"
        "fuzz.fuzz(50, 1)"
    )
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), str(here.parents[1] / "lib")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, cwd=here
    )
    assert done.returncode == 3, done.stderr
    assert f"ESCAPED: {event}" in done.stdout
