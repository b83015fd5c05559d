"""How long work on a GPU takes: by events, as a user waits for it, and by its kernels alone.

`event_times` queues calls one after another, as a program does. A short kernel ends before Python has queued the next
one; then what is measured is the queueing. `kernel_times` is what the profiler of PyTorch (CUPTI) has seen on the GPU:
the kernels' own durations, whoever launched them, with those of copies and fills between them.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from cpulab.measure import Times

CALLS = 12  # that are profiled, of each candidate


def event_times(found, cuda, rounds=15, sample=0.01, first=3):
    """`Times` by CUDA events, candidates interleaved; and the host's seconds to queue one call of each.

    Where queueing takes longer than the work, the time is that of the queueing: compare ``launch_seconds``.
    """
    begin, end = cuda.event(timing=True), cuda.event(timing=True)

    def once(function, calls):
        begin.record()
        start = time.perf_counter()
        for _ in range(calls):
            function()
        queued = time.perf_counter() - start
        end.record()
        end.synchronize()
        return cuda.event_elapsed_time(begin, end) / 1000 / calls, queued / calls

    calls, host, samples = {}, {}, {name: [] for name in found}
    for name, function in found.items():
        function()  # compiles
        cuda.synchronize()
        seconds, host[name] = once(function, first)
        calls[name] = max(1, min(500, round(sample / max(seconds, 1e-6))))
    names = list(found)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            once(found[name], 1)
            seconds, queued = once(found[name], calls[name])
            samples[name].append(seconds)
            host[name] = min(host[name], queued)
    return Times(samples), host


def kernel_times(found, cuda, calls=CALLS):
    """Name -> {"seconds": of all kernels of one call, "kernels": their number, "longest": name of the longest}.

    Empty where PyTorch is missing or has no GPU: nothing else here reads CUPTI.
    """
    try:
        import torch
        from torch.profiler import ProfilerActivity, profile, record_function
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            for name, function in found.items():
                with record_function(f"candidate {name}"):
                    for _ in range(calls):
                        function()
                    cuda.synchronize()
        file = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(file))
        return read_trace(file.read_text(encoding="utf-8"), calls)


def read_trace(text, calls):
    """What `kernel_times` returns, from the profiler's trace. A candidate whose kernels can't be told apart is left
    out."""
    events = [e for e in json.loads(text)["traceEvents"] if e.get("ph") == "X"]
    kernels = sorted(
        (e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")), key=lambda e: e["ts"]
    )
    found = {}
    for span in events:
        if span.get("cat") != "user_annotation" or not span["name"].startswith("candidate "):
            continue
        inside = [e for e in kernels if span["ts"] <= e["ts"] <= span["ts"] + span["dur"]]
        each = len(inside) // calls
        if not inside or len(inside) % calls:
            continue
        sums = [sum(e["dur"] for e in inside[k * each : (k + 1) * each]) / 1e6 for k in range(calls)]
        longest = max(inside, key=lambda e: e["dur"])["name"]
        found[span["name"].removeprefix("candidate ")] = {
            "seconds": statistics.median(sums),
            "kernels": each,
            "longest": longest[:120],
        }
    return found
