"""What profilers say of the slow training step of chapter 15 (lib/training/slow.py), for readers who have not installed
them.

    PROFILERS=.../bin python benchmarks/run.py profiles           recorded in results/profiles.json; one minute
    PROFILERS=.../bin python benchmarks/run.py profiles --quick   shorter, not recorded

PROFILERS: the folder of an environment's programs that has this library, line_profiler 5.1 and py-spy 0.4.3 (`pip
install line_profiler py-spy`). Recorded are "steps": the seconds of a step with the first faults mended, measured in
turns; "lines": the share of the time of each line of Step.__call__; "samples": the functions that py-spy saw running,
with all faults and with the first three mended, and with native code; "perf": which events the kernel lets perf count.
Shares are what to look at.
"""

import collections
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MENDED = 3  # faults that are mended where lines and native code are looked at


def benchmark(quick=False):
    from cpulab import measure
    from training.slow import FAULTS, Step

    folder = Path(os.environ.get("PROFILERS", ""))
    if not (folder / "py-spy").exists():
        raise ValueError(
            "PROFILERS names no folder with py-spy; expected the bin of an environment with line_profiler and py-spy."
        )
    steps = [Step(FAULTS[:k]) for k in range(len(FAULTS) + 1)]
    took = measure.times({str(k): step for k, step in enumerate(steps)}, budget=2 if quick else 12)
    found = {
        "faults": list(FAULTS),
        "steps": [took.seconds[str(k)] for k in range(len(steps))],
        "busy": took.busy,
        "lines": lines(folder),
        "samples": {
            "all faults": samples(folder, 0, quick),
            "three mended": samples(folder, MENDED, quick),
            "three mended, native": samples(folder, MENDED, quick, "--native"),
        },
        "perf": perf(),
    }
    for name, value in found.items():
        print(f"{name}: {value}", flush=True)
    return found


def child(mended, seconds):
    """Steps for so many seconds: what the profilers run."""
    from training.slow import FAULTS, Step

    step, end = Step(FAULTS[:mended]), time.perf_counter() + seconds
    step()
    print("ready", flush=True)
    while time.perf_counter() < end:
        step()


def lines(folder):
    """[(source line, share of the time)] of Step.__call__ by line_profiler, the first MENDED faults mended."""
    code = (
        "import io; from line_profiler import LineProfiler; from training.slow import FAULTS, Step\n"
        f"step = Step(FAULTS[:{MENDED}]); step()\n"
        "p = LineProfiler(Step.__call__); p.enable_by_count(); [step() for _ in range(50)]; p.disable_by_count()\n"
        "p.print_stats()\n"
    )
    out = subprocess.run([folder / "python", "-c", code], check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^ +\d+ +\d+ +[\d.e+]+ +[\d.e+]+ +([\d.]+) +(.+)$", out, re.MULTILINE)
    return [[text.strip(), float(share) / 100] for share, text in rows]


def samples(folder, mended, quick, *options):
    """{"count", "top": [(function, share of the samples in which it ran)]}, from steps that run already."""
    seconds = 2 if quick else 8
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "raw"
        run = [folder / "python", Path(__file__).resolve(), str(mended), str(3 * seconds + 30)]
        with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as steps:
            steps.stdout.readline()  # what is imported and compiled at the start is not looked at
            spy = [folder / "py-spy", "record", "--format", "raw", "--rate", "100", "--duration", str(seconds)]
            try:
                subprocess.run([*spy, *options, "-o", file, "--pid", str(steps.pid)], check=True, capture_output=True)
            finally:
                steps.kill()
        counts = collections.Counter()
        for line in file.read_text(encoding="utf-8").splitlines():
            stack, _, count = line.rpartition(" ")
            counts[plain(stack.split(";")[-1])] += int(count)
    total = sum(counts.values())
    return {"count": total, "top": [[name, n / total] for name, n in counts.most_common(8)]}


def plain(frame):
    """A frame without folders: `function (file)`."""
    found = re.match(r"(.*?) \((.*?)(?::\d+)?\)$", frame)
    return f"{found[1]} ({Path(found[2]).name})" if found else frame


def perf():
    """{event: whether `perf stat` counts it}; empty without perf."""
    if not shutil.which("perf"):
        return {}
    events = "cycles", "instructions", "cache-misses", "branch-misses", "task-clock", "page-faults", "context-switches"
    said = subprocess.run(["perf", "stat", "-x", ";", "-e", ",".join(events), "true"], capture_output=True, text=True)
    rows = [line.split(";") for line in io.StringIO(said.stderr)]
    return {row[2].split(":")[0]: row[0].replace(".", "").isdigit() for row in rows if len(row) > 2}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
    child(int(sys.argv[1]), float(sys.argv[2]))
