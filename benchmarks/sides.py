"""Ours and PyTorch beside each other, for the benchmarks that compare whole operations: convolution, attention,
recurrent.

Two libraries in one process disturb each other's threads. So each side is a process of its own that lives through all
cases, and the two are timed in turns: a sample of one, a pause in which its threads come to rest, a sample of the
other. A ratio is formed inside each round; a row holds their median and quartiles, and the ratio of processor times,
which says more where other programs ran. Both sides get the same numbers, and their results are compared.

Two modes. *As a user has it*: nothing is pinned. *Pinned*: each thread has a core of its own, on both sides
(OMP_PROC_BIND for PyTorch). On a machine with AVX-512 all is measured once more with AVX2 on both sides.

TORCH_PYTHON names a Python that has PyTorch 2.13.0 and NumPy (`pip install torch==2.13.0 numpy` in an environment of
its own); without it, this Python's own is taken.

A benchmark is a script with its cases, dicts of what a row shall say and what is to be computed: "kind", "passes"
("forward" or "forward and backward") and "work", the operations of it. Each of its two functions ours(case) and
pytorch(case) gives (a function without arguments, what it is called, its results); warm() what our threads are pinned
on.
"""

import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

USER, PINNED = "as a user has it", "pinned"
FORWARD, BOTH = "forward", "forward and backward"
AVX2 = {
    "ours": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
    "PyTorch": {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        # torch.compile's cache has code for AVX-512 by now, and takes it for this: half of its numbers are wrong then.
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
    },
}
ROUNDS, LEAST_ROUNDS, BUDGET = 9, 3, 0.35  # seconds of samples for a row
SAMPLE, REST = 0.015, 0.006  # seconds of a sample at least; of the pause after it
KEY = ("mode", "instruction_set", "threads", "passes")


def compare(script, cases, label, quick=False, tolerance=2e-3, older=AVX2):
    """Rows of all cases, geometric means over each kind, and what PyTorch runs (its "kernels" by our instruction set).

    label(row): its case, in a few words. older: the settings of each side for older instructions; None where a side has
    no such."""
    import numba

    from dlkernels import simd

    most = min(2, numba.config.NUMBA_NUM_THREADS)
    runs = [(USER, 1), (USER, most), (PINNED, most)] if most > 1 else [(USER, 1)]
    variants = [{}, older] if older and simd.instruction_set() == "AVX-512" else [{}]
    rows, peer, kernels = [], {}, {}
    for settings in variants:
        for mode, threads in runs[: 1 if quick else None]:
            with contextlib.ExitStack() as stack:
                sides = [
                    stack.enter_context(Side(script, name, mode, threads, settings.get(name, {})))
                    for name in ("ours", "PyTorch")
                ]
                instructions, peer = (side.ask("what") for side in sides)
                kernels[instructions["instruction_set"]] = peer["kernels"]
                for case in cases:
                    if mode == USER or case["passes"] == FORWARD:
                        row = {"mode": mode, "threads": threads, **duel(sides, case, tolerance), **instructions}
                        print(told(row, label), flush=True)
                        rows.append(row)
    means = summary(rows, label)
    for line in means:
        print(
            f"{line['mode']}, {line['instruction_set']}, {line['threads']} threads, {line['passes']}, {line['kind']}: "
            f"PyTorch / ours = {line['mean']:.2f} (geometric mean of {line['layers']}; lowest {line['lowest']:.2f} at "
            f"{line['lowest_at']})"
        )
    return {"rows": rows, "means": means, "peer": {**peer, "kernels": kernels}}


def stored_as(name):
    """What the record of this machine is called. One of a machine without AVX-512 does not replace one with both
    sets."""
    from dlkernels import simd

    return name if simd.instruction_set() == "AVX-512" else f"{name}_{simd.instruction_set().lower()}"


def duel(sides, case, tolerance):
    """One case: rounds of a sample of each side, in turns."""
    said = [side.ask("prepare", case=case) for side in sides]
    ours, theirs = (np.array(one["checks"]) for one in said)
    if not np.allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max()):
        raise ValueError(f"{case}: the results differ: {ours} and PyTorch's {theirs}")
    rounds, start = [], time.perf_counter()
    while len(rounds) < ROUNDS and (len(rounds) < LEAST_ROUNDS or time.perf_counter() - start < BUDGET):
        order = sides if len(rounds) % 2 == 0 else sides[::-1]
        samples = {side.name: side.ask("sample") for side in order}
        rounds.append([samples["ours"], samples["PyTorch"]])
    ratios = sorted(theirs["wall"] / ours["wall"] for ours, theirs in rounds)
    quarter = len(ratios) // 4
    seconds = [statistics.median(pair[k]["wall"] for pair in rounds) for k in range(2)]
    return {
        **{name: value for name, value in case.items() if name != "work"},
        "way": said[0]["way"],
        "ratio": statistics.median(ratios),
        "low": ratios[quarter],
        "high": ratios[-1 - quarter],
        "cpu_ratio": statistics.median(theirs["cpu"] / ours["cpu"] for ours, theirs in rounds),
        "seconds": seconds[0],
        "peer_seconds": seconds[1],
        "rounds": len(rounds),
        "flops": case["work"] / seconds[0],
    }


def told(row, label):
    return (
        f"{row['instruction_set']:<8}{row['threads']} thr "
        f"{row['mode'][:6]:<7}{row['passes']:<21}{label(row):<34}{row['way']:<21}{row['flops'] / 1e9:7.1f} Gflop/s  "
        f"PyTorch / ours {row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f}), processor time "
        f"{row['cpu_ratio']:.2f}"
    )


def summary(rows, label):
    """The geometric means of PyTorch's time / ours over all cases, and over each kind of them."""
    means = []
    for key in dict.fromkeys(tuple(row[name] for name in KEY) for row in rows):
        here = [row for row in rows if tuple(row[name] for name in KEY) == key]
        for kind in ("all", *dict.fromkeys(row["kind"] for row in here)):
            chosen = [row for row in here if kind in ("all", row["kind"])]
            lowest = min(chosen, key=lambda row: row["ratio"])
            line = dict(zip(KEY, key, strict=True)) | {"kind": kind, "layers": len(chosen)}
            line["mean"] = math.exp(statistics.fmean(math.log(row["ratio"]) for row in chosen))
            line["lowest"], line["lowest_at"] = lowest["ratio"], label(lowest)
            means.append(line)
    return means


class Side:
    """A library in a process of its own, which answers a line for each line."""

    def __init__(self, script, name, mode, threads, settings):
        from cpulab.measure import peers

        self.name = name
        python = os.environ.get("TORCH_PYTHON", sys.executable) if name == "PyTorch" else sys.executable
        settings = {**settings, "OMP_NUM_THREADS": str(threads)}
        if mode == PINNED and name == "PyTorch":
            cores = sorted(os.sched_getaffinity(0))[:threads]
            settings |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{core}}}" for core in cores)}
        self.python, command = python, [python, str(Path(script).resolve()), name, str(threads), mode]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=peers.environment(settings), **pipes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            self.process.stdin.close()
        self.process.wait(60)

    def ask(self, what, **arguments):
        answer = ""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"what": what, **arguments}) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(
                f"the process of {self.name}, {self.python}, ended with {self.process.wait()}; expected an answer. "
                "What it said of the reason stands above. PyTorch's Python, which TORCH_PYTHON names, needs NumPy, "
                "too."
            )
        return json.loads(answer)


# ---- inside a process ------------------------------------------------------------------------------------------------


def serve(ours, pytorch, warm):
    """Answer lines until there are no more."""
    name, threads, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with contextlib.ExitStack() as stack:
        if name == "ours":
            what = begin_ours(stack, threads, mode, warm)
        else:
            what = begin_pytorch(threads)
        for line in sys.stdin:
            asked = json.loads(line)
            if asked["what"] == "what":
                said = what
            elif asked["what"] == "prepare":
                run, way, results = (ours if name == "ours" else pytorch)(asked["case"])
                said = {"way": way, "checks": [number for result in results for number in checks(result)]}
            else:
                said = sample(run)
                time.sleep(REST)
            print(json.dumps(said), flush=True)


def begin_ours(stack, threads, mode, warm):
    from cpulab.measure import cores, timing
    from dlkernels import simd

    stack.enter_context(timing.limit_threads(threads))
    if mode == PINNED:
        call = warm()
        call()
        stack.enter_context(cores.one_core_each([call], timing.Clock()))
    return {"instruction_set": simd.instruction_set()}


def begin_pytorch(threads):
    import torch

    torch.set_num_threads(threads)
    kernels, onednn = torch.backends.cpu.get_cpu_capability(), torch.backends.mkldnn.is_available()
    return {"version": torch.__version__, "kernels": kernels, "oneDNN": onednn}


def checks(result):
    """Two numbers by which results of two processes are compared: their size, and a sum with signs."""
    flat = np.asarray(result, np.float64).reshape(-1)
    return [float(np.sqrt(np.mean(flat**2))), float(np.mean(flat[:: 1 + flat.size // 1000]))]


def sample(run):
    """Seconds of the clock and of the processor for one call, of as many as take SAMPLE seconds; one call before
    them."""
    run()
    calls, start, spent = 0, time.perf_counter(), time.process_time()
    while calls == 0 or time.perf_counter() - start < SAMPLE:
        run()
        calls += 1
    return {"wall": (time.perf_counter() - start) / calls, "cpu": (time.process_time() - spent) / calls}
