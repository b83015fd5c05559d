"""Every GPU kernel of the library and of the course in OpenCL C: which translate, build, and compute the same.

    python benchmarks/run.py translated          recorded in results/translated.json

The launches of each rung are caught (gallery.py's calls), and those of a task's right answer are its cases. Each runs
twice from the same memory, translated in OpenCL and on an engine of `simt`; afterwards all arrays must agree, whole
numbers to the bit, floats to a few roundings. A rung has one outcome: that of its worst launch. "refused": what the
translator says, with line. A device that crashes or hangs takes a process with it, not the record.
"""

import functools
import hashlib
import multiprocessing
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

OUTCOMES = ("agrees", "differs", "not built", "stopped", "refused")  # the later, the worse
LIMIT = 240  # seconds for all launches of a rung
RELATIVE, ABSOLUTE = 2e-4, 2e-5
ROOT = Path(__file__).resolve().parents[1]


def benchmark(quick=False, kept=None):
    import stale

    from simt.xray import Unavailable

    if not device_there():
        raise Unavailable("no OpenCL device: install pyopencl and, for a CPU, the package pocl-opencl-icd")
    asked = [*names(), *tasks()][:: 40 if quick else 1]
    before, rows = stale.known(kept["rows"], lambda row: row["name"]) if kept else {}, []
    with Workers() as workers:
        for name, made in asked:
            rows.append((kept and stale.again(name, made, before)) or workers.look(name) | {"made_of": made})
            print(f"{name:<42}{rows[-1]['outcome']:<10}{rows[-1].get('why', '')[:90]}", flush=True)
        device = workers.device or kept["device"]
    return result(device, rows, asked) | {"race": race()}


def device_there():
    try:
        import pyopencl

        return any(platform.get_devices() for platform in pyopencl.get_platforms())
    except Exception:  # no pyopencl, or no platform
        return False


def result(device, rows, asked):
    """The record: its rows, and how many rungs, answers and kernels have which outcome. asked: [(name, made of)]."""
    kernels = [kernel for row in rows for kernel in row["kernels"]]
    of = {
        "rungs": [r for r in rows if not r["name"].startswith(TASK)],
        "answers": [r for r in rows if r["name"].startswith(TASK)],
        "kernels": kernels,
    }
    counts = {what: dict(Counter(row["outcome"] for row in some).most_common()) for what, some in of.items()}
    reasons = Counter(row["reason"] for row in rows if row["outcome"] != "agrees")
    there = Counter("answers" if name.startswith(TASK) else "rungs" for name, _ in asked)
    return {"device": device, "rows": rows, "of": dict(there), "counts": counts, "reasons": dict(reasons.most_common())}


TASK = "task "  # before the id of a task, in a row's name


def names():
    """[(name of a GPU rung, what it is made of)]."""
    import gallery
    import stale

    return [
        (rung.name, stale.made_of(rung.function, *(kernel for kernel, _ in rung.kernels))) for rung in gallery.rungs()
    ]


def tasks():
    """[(TASK + id of a task whose answer is a kernel, a digest of its master notebook)]."""
    from coursework import build, definition
    from coursework.kinds.kernel import KernelTask
    from coursework.kinds.opencl import OpenCLTask

    of = {path.name.split("_")[0]: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in build.masters(ROOT)}
    kernels = [
        task
        for task in definition.everything()
        if isinstance(task, KernelTask) and not isinstance(task, OpenCLTask)  # these are OpenCL C already
    ]
    return [(TASK + task.id, of[task.chapter]) for task in kernels]


# ---- a race, translated, under Oclgrind -----------------------------------------------------------------------------


def race():
    """What the x-ray says of a kernel without its barrier, and Oclgrind of its translation."""
    import raced

    from opencl.translate import translate
    from simt.xray import xray

    arguments = raced.arguments()
    (found,) = xray(raced.turned, raced.GRID, raced.BLOCK)(*arguments).findings
    source = translate(raced.turned, raced.BLOCK, arguments).source
    row = {"source": source, "xray": {"message": found.message, "lines": sorted(map(int, found.lines))}}
    if not shutil.which("oclgrind"):
        return row
    command = ["oclgrind", "--data-races", sys.executable, str(Path(raced.__file__))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    return row | {"oclgrind": told(done.stdout + done.stderr)}


def told(text):
    """Of Oclgrind's report: how many races, the first as it stands, the lines of the source that it names."""
    parts = re.split(r"(?=^Read-write data race|^Write-write data race)", text, flags=re.MULTILINE)
    races = [part.strip().replace("\t", "    ") for part in parts if "data race" in part]
    lines = sorted({int(line) for line in re.findall(r"At line (\d+)", "\n".join(races))})
    return {"races": len(races), "first": races[0] if races else "", "lines": lines}


# ---- a process of its own --------------------------------------------------------------------------------------------


class Workers:
    """A process at a time, replaced when it dies or takes too long."""

    def __init__(self):
        self.process, self.device = None, ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def look(self, name):
        if self.process is None:
            self._start()
        started = time.monotonic()
        self.here.send(name)
        done = []
        while True:
            left = LIMIT - (time.monotonic() - started)
            try:
                if left <= 0 or not self.here.poll(left):
                    why = f"no end within {LIMIT} s"
                    break
                answer = self.here.recv()
            except (EOFError, OSError):
                self.process.join(5)
                why = f"the process died (exit code {self.process.exitcode})"
                break
            if answer is None:
                return row_of(name, done)
            if "kernel" in answer:
                done.append(answer)
        self._stop()
        kernel = {"kernel": "?", "outcome": "stopped", "why": why, "reason": why}
        return row_of(name, [*(k for k in done if k["outcome"] != "under way"), kernel | _under_way(done)])

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.here, there = context.Pipe()
        self.process = context.Process(target=work, args=(there,), daemon=True)
        self.process.start()
        there.close()
        self.device = self.here.recv()

    def _stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join(10)
            self.here.close()
            self.process = None


def _under_way(done):
    return {"kernel": done[-1]["kernel"]} if done and done[-1]["outcome"] == "under way" else {}


def row_of(name, kernels):
    """The row of a rung: its kernels, each with its worst launch."""
    by_name = {}
    for one in kernels:
        if one["outcome"] == "under way":
            continue
        known = by_name.get(one["kernel"])
        if known is None or OUTCOMES.index(one["outcome"]) > OUTCOMES.index(known["outcome"]):
            by_name[one["kernel"]] = one
    kernels = list(by_name.values())
    worst = max(kernels, key=lambda k: OUTCOMES.index(k["outcome"]), default={"outcome": "agrees"})
    more = {key: worst[key] for key in ("why", "reason") if key in worst}
    return {"name": name, "outcome": worst["outcome"], **more, "kernels": kernels}


def work(there):
    import gallery

    from opencl.translate.launch import _device

    device = _device()[1].devices[0]
    there.send(f"{device.platform.version.strip()}; {device.name}")
    rungs = {rung.name: rung for rung in gallery.rungs()}
    while True:
        name = there.recv()
        with np.errstate(all="ignore"):
            if name.startswith(TASK):
                look_at_task(name.removeprefix(TASK), there.send)
            else:
                look_at_rung(rungs[name], there.send)
        there.send(None)


def look_at_rung(rung, tell):
    """Its launches also run translated; a row of each is told."""
    import gallery

    import simt.dispatcher

    start = simt.dispatcher.start
    simt.dispatcher.start = functools.partial(beside, start, tell)
    try:
        for shape, seed in gallery.calls(rung):
            rung(*gallery.arguments(rung, shape, seed))
    finally:
        simt.dispatcher.start = start


def look_at_task(name, tell):
    """The right answer of a task on its cases."""
    sys.path.insert(0, str(ROOT / "tests"))
    import masters

    import simt
    from coursework import definition
    from coursework.checking import arguments_of
    from simt.kernel import kernel_of

    task = definition.find(name)
    kernel = kernel_of(masters.answer(task).function)
    for index, case in enumerate(task.cases):
        arguments = arguments_of(case, task.seed, index)
        beside(simt.run, tell, kernel, case.grid, case.block, arguments, 0)


def beside(run, tell, kernel, grid, block, arguments, shared_bytes):
    """A launch, by ``run`` and translated."""
    tell({"kernel": kernel.py_func.__name__, "outcome": "under way"})
    seen = {}
    copies = tuple(copied(argument, seen) for argument in arguments)
    found = outcome(kernel, grid, block, copies, shared_bytes)
    run(kernel, grid, block, arguments, shared_bytes)
    if found["outcome"] == "agrees":
        found |= agreement(arguments, copies)
    tell({"kernel": kernel.py_func.__name__, **found})


def copied(argument, seen):
    """An argument of its own memory; one array that is two arguments stays one. seen: the copies made before."""
    from simt import cuda

    if isinstance(argument, tuple):
        return tuple(copied(part, seen) for part in argument)
    if not (hasattr(argument, "copy_to_host") or isinstance(argument, np.ndarray)):
        return argument
    data = getattr(argument, "_data", argument)
    key = data.__array_interface__["data"][0], data.shape, data.strides
    if key not in seen:
        seen[key] = argument.copy() if data is argument else cuda.to_device(argument.copy_to_host())
    return seen[key]


def on_host(array):
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def outcome(kernel, grid, block, copies, shared_bytes):
    """The outcome of one launch in OpenCL, as far as it does not depend on its results."""
    from opencl.translate import Refused, translate
    from opencl.translate.launch import run

    try:
        lines = len(translate(kernel, block, copies).source.splitlines())
    except Refused as refused:
        what = refused.what.split(":")[0].split(", which")[0]
        return {"outcome": "refused", "why": f"line {refused.line}: {refused.what}", "reason": reason_of(what)}
    try:
        run(kernel, grid, block, copies, shared_bytes)
    except Exception as error:
        said = [line.strip() for line in str(error).splitlines() if "error" in line] or [str(error)[:200]]
        why = re.sub(r"^error: \S+?:(\d+):\d+(?: <[^>]*>)?: ", r"line \1: ", said[0])  # without a driver's paths
        return {"outcome": "not built", "why": why[:200], "reason": "PoCL does not build it"}
    return {"outcome": "agrees", "lines": lines}


def reason_of(what):
    """What a refusal is about, without names and numbers."""
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "...", what)


def agreement(arguments, copies):
    """Whether the arrays of two runs agree, and where they do not."""
    for k, (argument, copy) in enumerate(zip(arguments, copies, strict=True)):
        if isinstance(argument, tuple):
            found = agreement(argument, copy)
            if found:
                return found
        elif hasattr(argument, "copy_to_host") or isinstance(argument, np.ndarray):
            expected, got = on_host(argument), on_host(copy)
            if not close(expected, got):
                place = np.argwhere(~_same(expected, got))[0].tolist()
                wrong = f"argument {k} at {place}: {expected[tuple(place)]} expected, {got[tuple(place)]} came"
                return {"outcome": "differs", "why": wrong, "reason": "differs"}
    return {}


def close(expected, got):
    return bool(_same(expected, got).all())


def _same(expected, got):
    if expected.dtype.kind not in "fc":
        return np.asarray(expected == got)
    expected, got = expected.astype(np.float64), got.astype(np.float64)
    finite = np.abs(expected[np.isfinite(expected)])
    size = finite.max() if finite.size else 0
    return np.isclose(expected, got, RELATIVE, ABSOLUTE * min(size, 1e30), equal_nan=True)
