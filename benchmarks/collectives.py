"""All-reduces of our workers beside PyTorch's (torch.distributed over gloo), on the cores of this machine.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py collectives           recorded in results/collectives.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py collectives --quick   two workers, few lengths, not recorded

Groups of 2, 4 and 8 processes, each with one thread; float32 arrays of 4 bytes to 16 MiB, combined by max in place. A
time is that of the slowest worker of one all-reduce that began behind a barrier. Each side runs in turns, two rounds
of each (of 8 workers one); a row has the median and the lowest of all. Where there are more workers than cores, it is
the system's scheduling that is measured beside the algorithm, for both sides alike.

TORCH_PYTHON names a Python with PyTorch, as in sides.py; without it (and without PyTorch here), there are no rows of
gloo.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

from workers import collectives, examples, processes

LENGTHS = (1, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22)
ROUNDS, REPS, LONG = 2, 24, 1 << 20  # of lengths from LONG on a third


def benchmark(quick=False):
    """Rows {"workers", "bytes", "name", "seconds": median, "best", "sent": bytes that the busiest worker sends}."""
    rows, peer = [], None
    for size in (2,) if quick else (2, 4, 8):
        lengths = LENGTHS[::3] if quick else LENGTHS
        times = {}
        with processes.Workers(size, threads=1) as workers:
            for _ in range(1 if quick or size > 4 else ROUNDS):
                for name in collectives.ALL_REDUCE:
                    for length in lengths:
                        found = workers.run(examples.all_reduces, (length,), name, reps(length), timeout=300)[0][0]
                        times.setdefault((name, length), []).extend(found)
                peer, found = gloo(size, lengths)
                for length, seconds in found.items():
                    times.setdefault(("gloo", int(length)), []).extend(seconds)
            sent = {name: max(workers.run(examples.sent, name)) for name in collectives.ALL_REDUCE}
        for (name, length), seconds in times.items():
            rows.append(
                {"workers": size, "bytes": 4 * length, "name": name, "seconds": statistics.median(seconds),
                 "best": min(seconds), "sent": sent.get(name)}
            )  # fmt: skip
        for length in lengths:
            said = [f"{name} {1e3 * statistics.median(times[name, length]):.3f}" for name, n in times if n == length]
            print(f"{size} workers, {4 * length:>9,} bytes, ms: {', '.join(said)}", flush=True)
    return {"rows": rows, "peer": peer, "cores": os.cpu_count()}


def reps(length):
    return REPS if length < LONG else REPS // 3


GLOO = """
import json, os, sys, time
import torch, torch.distributed as dist, torch.multiprocessing as mp

def work(rank, size, lengths, reps, file):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=size)
    found = {}
    for length, count in zip(lengths, reps):
        array, times = torch.ones(length), torch.empty(count, dtype=torch.float64)
        for k in range(count + 3):
            dist.barrier()
            begin = time.perf_counter()
            dist.all_reduce(array, op=dist.ReduceOp.MAX)
            if k >= 3:
                times[k - 3] = time.perf_counter() - begin
        dist.all_reduce(times, op=dist.ReduceOp.MAX)
        found[length] = times.tolist()
    if rank == 0:
        print(json.dumps([torch.__version__, found]))
    dist.destroy_process_group()

if __name__ == "__main__":
    size, lengths, reps, file = json.loads(sys.argv[1])
    mp.spawn(work, (size, lengths, reps, file), size)
"""


def gloo(size, lengths):
    """(what the peer is, {length: seconds}) of PyTorch's all-reduce."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "gloo.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(GLOO)
        argument = json.dumps([size, lengths, [reps(length) for length in lengths], os.path.join(folder, "meet")])
        command = [os.environ.get("TORCH_PYTHON", sys.executable), script, argument]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named 'torch'" in done.stderr:
        return None, {}
    if done.returncode:
        raise RuntimeError(f"PyTorch's side ended with {done.returncode}:\n{done.stderr}")
    version, found = json.loads(done.stdout)
    return f"torch.distributed over gloo, PyTorch {version}", found
