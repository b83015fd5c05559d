"""Convolutions against PyTorch's oneDNN: layers of ResNet-50 and MobileNetV2, forward, and forward with backward.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py convolution           all, recorded in results/convolution.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py convolution --quick   a few layers, not recorded

TORCH_PYTHON names a Python that has PyTorch 2.13.0 (`pip install torch==2.13.0` in an environment of its own); without it, this
Python's own is taken. float32, NCHW, no bias, PyTorch as a user calls it: `torch.nn.functional.conv2d` on plain tensors.

Two libraries in one process disturb each other's threads. So each side is a process of its own that lives through all
layers, and the two are timed in turns: a sample of one, a pause in which its threads come to rest, a sample of the other. A
ratio is formed inside each round; a row holds their median and quartiles, and the ratio of processor times, which says more
where other programs ran. Both sides get the same numbers, and their results are compared.

Two modes. *As a user has it*: nothing is pinned. *Pinned*: each thread has a core of its own, on both sides (OMP_PROC_BIND for
PyTorch). On a machine with AVX-512 all is measured once more with AVX2 on both sides.
"""

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
BATCHES = (1, 8)
#: (network, kind, input channels, output channels, edge of the picture, kernel, stride, groups)
LAYERS = (
    ("ResNet-50", "first layer", 3, 64, 224, 7, 2, 1),
    *(("ResNet-50", "1x1", ins, outs, edge, 1, 1, 1) for ins, outs, edge in (
        (64, 64, 56), (64, 256, 56), (256, 64, 56), (512, 128, 28), (128, 512, 28), (1024, 256, 14), (256, 1024, 14), (512, 2048, 7))),
    *(("ResNet-50", "3x3", n, n, edge, 3, 1, 1) for n, edge in ((64, 56), (128, 28), (256, 14), (512, 7))),
    *(("ResNet-50", "3x3 stride 2", n, n, edge, 3, 2, 1) for n, edge in ((128, 56), (256, 28), (512, 14))),
    *(("ResNet-50", "1x1 stride 2", n, 2 * n, edge, 1, 2, 1) for n, edge in ((256, 56), (512, 28), (1024, 14))),
    ("MobileNetV2", "3x3 stride 2", 3, 32, 224, 3, 2, 1),
    *(("MobileNetV2", "depthwise", n, n, edge, 3, stride, n) for n, edge, stride in (
        (32, 112, 1), (96, 112, 2), (144, 56, 1), (192, 28, 1), (384, 14, 1), (960, 7, 1))),
    *(("MobileNetV2", "1x1", ins, outs, edge, 1, 1, 1) for ins, outs, edge in ((16, 96, 112), (144, 24, 56), (64, 384, 14), (960, 160, 7))),
)  # fmt: skip
QUICK = tuple(
    layer
    for layer in LAYERS
    if layer[2:5] in ((3, 64, 224), (64, 64, 56), (512, 512, 7), (256, 256, 28), (144, 144, 56))
)
AVX2 = {
    "ours": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
    "PyTorch": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},
}
ROUNDS, LEAST_ROUNDS, BUDGET = 9, 3, 0.35  # seconds of samples for a row
SAMPLE, REST = 0.015, 0.006  # seconds of a sample at least; of the pause after it
KEY = ("mode", "instruction_set", "threads", "passes")


def benchmark(quick=False):
    """Rows for every layer, and geometric means over them; see `summary`."""
    import numba

    from dlkernels import simd

    most = min(2, numba.config.NUMBA_NUM_THREADS)
    runs = [(USER, 1), (USER, most), (PINNED, most)] if most > 1 else [(USER, 1)]
    variants = [{}, AVX2] if simd.instruction_set() == "AVX-512" else [{}]
    rows, runners = [], {}
    for settings in variants:
        for mode, threads in runs[: 1 if quick else None]:
            sides = [Side(name, mode, threads, settings.get(name, {})) for name in ("ours", "PyTorch")]
            try:
                runners = {side.name: side.ask("what", layer=None) for side in sides}
                for layer in QUICK if quick else LAYERS:
                    for batch in BATCHES:
                        for passes in ("forward", "forward and backward")[: 1 if mode == PINNED else 2]:
                            rows.append({"mode": mode, "threads": threads, **row(sides, layer, batch, passes)})
                            rows[-1]["instruction_set"] = runners["ours"]["instruction_set"]
                            print(told(rows[-1]), flush=True)
            finally:
                for side in sides:
                    side.close()
    means = summary(rows)
    for line in means:
        print(f"{line['mode']}, {line['instruction_set']}, {line['threads']} threads, {line['passes']}, {line['kind']}: PyTorch / ours = "
              f"{line['mean']:.2f} (geometric mean of {line['layers']}; lowest {line['lowest']:.2f} at {line['lowest_at']})")  # fmt: skip
    return {"rows": rows, "means": means, "peer": runners["PyTorch"]}


def row(sides, layer, batch, passes):
    """One layer: rounds of a sample of each side, in turns."""
    network, kind, ins, outs, edge, kernel, stride, groups = layer
    asked = {"layer": [batch, *layer[2:]], "passes": passes}
    told_by = [side.ask("prepare", **asked) for side in sides]
    ours, theirs = (np.array(one["checks"]) for one in told_by)
    if not np.allclose(ours, theirs, rtol=2e-3, atol=2e-3 * np.abs(theirs).max()):
        raise ValueError(f"{layer}: the results differ: {ours} and PyTorch's {theirs}")
    rounds, start = [], time.perf_counter()
    while len(rounds) < ROUNDS and (len(rounds) < LEAST_ROUNDS or time.perf_counter() - start < BUDGET):
        order = sides if len(rounds) % 2 == 0 else sides[::-1]
        samples = {side.name: side.ask("sample", **asked) for side in order}
        rounds.append([samples["ours"], samples["PyTorch"]])
    ratios = sorted(theirs["wall"] / ours["wall"] for ours, theirs in rounds)
    quarter = len(ratios) // 4
    seconds = [statistics.median(pair[k]["wall"] for pair in rounds) for k in range(2)]
    pixels = (edge + 2 * (kernel // 2) - kernel) // stride + 1
    multiplies = batch * outs * pixels**2 * (ins // groups) * kernel**2
    return {
        "network": network,
        "kind": kind,
        "batch": batch,
        "in_channels": ins,
        "out_channels": outs,
        "edge": edge,
        "kernel": kernel,
        "stride": stride,
        "groups": groups,
        "passes": passes,
        "way": told_by[0]["way"],
        "ratio": statistics.median(ratios),
        "low": ratios[quarter],
        "high": ratios[-1 - quarter],
        "cpu_ratio": statistics.median(theirs["cpu"] / ours["cpu"] for ours, theirs in rounds),
        "seconds": seconds[0],
        "peer_seconds": seconds[1],
        "rounds": len(rounds),
        "flops": 2 * multiplies * (1 if passes == "forward" else 3) / seconds[0],
    }


def told(row):
    shape = f"{row['batch']} x {row['in_channels']}->{row['out_channels']} {row['edge']}x{row['edge']} {row['kernel']}x{row['kernel']}"
    shape += f"/{row['stride']}" + (f" groups {row['groups']}" if row["groups"] > 1 else "")
    return (
        f"{row['instruction_set']:<8}{row['threads']} thr {row['mode'][:6]:<7}{row['passes']:<21}{shape:<34}{row['way']:<21}"
        f"{row['flops'] / 1e9:7.1f} Gflop/s  PyTorch / ours {row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f}), "
        f"processor time {row['cpu_ratio']:.2f}"
    )


def summary(rows):
    """The geometric means of PyTorch's time / ours over all layers, and over each kind of them."""
    means = []
    for key in dict.fromkeys(tuple(row[name] for name in KEY) for row in rows):
        here = [row for row in rows if tuple(row[name] for name in KEY) == key]
        for kind in ("all", *dict.fromkeys(row["kind"] for row in here)):
            chosen = [row for row in here if kind in ("all", row["kind"])]
            lowest = min(chosen, key=lambda row: row["ratio"])
            line = dict(zip(KEY, key, strict=True)) | {"kind": kind, "layers": len(chosen)}
            line["mean"] = math.exp(statistics.fmean(math.log(row["ratio"]) for row in chosen))
            line["lowest"] = lowest["ratio"]
            line["lowest_at"] = f"{lowest['batch']} x {lowest['in_channels']}->{lowest['out_channels']} {lowest['edge']}x{lowest['edge']} {lowest['kernel']}x{lowest['kernel']}/{lowest['stride']}"  # fmt: skip
            means.append(line)
    return means


class Side:
    """A library in a process of its own, which answers a line for each line."""

    def __init__(self, name, mode, threads, settings):
        from cpulab.measure import peers

        self.name = name
        python = os.environ.get("TORCH_PYTHON", sys.executable) if name == "PyTorch" else sys.executable
        settings = {**settings, "OMP_NUM_THREADS": str(threads)}
        if mode == PINNED and name == "PyTorch":
            cores = sorted(os.sched_getaffinity(0))[:threads]
            settings |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{core}}}" for core in cores)}
        command = [python, str(Path(__file__).resolve()), name, str(threads), mode]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=peers.environment(settings), **pipes)

    def ask(self, what, **arguments):
        self.process.stdin.write(json.dumps({"what": what, **arguments}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process of {self.name} ended with {self.process.wait()}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


# ---- inside a process --------------------------------------------------------------------------------------------------


def answer(side, threads, mode):
    """Answer lines until there are no more."""
    work = {"ours": Ours, "PyTorch": PyTorch}[side](threads, mode)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["what"] == "what":
            said = work.what()
        elif asked["what"] == "prepare":
            run, way, results = work.prepare(*arrays(*asked["layer"]), asked["passes"])
            said = {"way": way, "checks": [number for result in results for number in checks(result)]}
        else:
            said = sample(run)
            time.sleep(REST)
        print(json.dumps(said), flush=True)


def arrays(batch, ins, outs, edge, kernel, stride, groups):
    random = np.random.default_rng(0)
    x = random.standard_normal((batch, ins, edge, edge), np.float32)
    weight = random.standard_normal((outs, ins // groups, kernel, kernel), np.float32)
    pixels = (edge + 2 * (kernel // 2) - kernel) // stride + 1
    grad = random.standard_normal((batch, outs, pixels, pixels), np.float32)
    return x, weight, grad, {"stride": stride, "padding": kernel // 2, "groups": groups}


def checks(result):
    """Two numbers by which results of two processes are compared: their size, and a sum with signs."""
    flat = np.asarray(result, np.float64).reshape(-1)
    return [float(np.sqrt(np.mean(flat**2))), float(np.mean(flat[:: 1 + flat.size // 1000]))]


def sample(run):
    """Seconds of the clock and of the processor for one call, of as many as take SAMPLE seconds; one call before them."""
    run()
    calls, start, spent = 0, time.perf_counter(), time.process_time()
    while calls == 0 or time.perf_counter() - start < SAMPLE:
        run()
        calls += 1
    return {"wall": (time.perf_counter() - start) / calls, "cpu": (time.process_time() - spent) / calls}


class Ours:
    def __init__(self, threads, mode):
        import contextlib

        from cpulab.measure import cores, timing
        from dlkernels import conv2d

        self.stack = contextlib.ExitStack()
        self.stack.enter_context(timing.limit_threads(threads))
        if mode == PINNED:
            x, weight, _, named = arrays(8, 64, 64, 56, 3, 1, 1)
            conv2d(x, weight, **named)
            self.stack.enter_context(cores.one_core_each([lambda: conv2d(x, weight, **named)], timing.Clock()))

    def what(self):
        from dlkernels import simd

        return {"instruction_set": simd.instruction_set()}

    def prepare(self, x, weight, grad, named, passes):
        from dlkernels import conv2d, conv2d_backward

        y, choice = conv2d(x, weight, **named, explain=True)
        if passes == "forward":
            return lambda: conv2d(x, weight, **named), choice.rung, [y]

        def both():
            return conv2d(x, weight, **named), *conv2d_backward(grad, x, weight, **named)

        return both, choice.rung, both()


class PyTorch:
    def __init__(self, threads, mode):
        import torch

        torch.set_num_threads(threads)

    def what(self):
        import torch

        return {
            "version": torch.__version__,
            "kernels": torch.backends.cpu.get_cpu_capability(),
            "oneDNN": torch.backends.mkldnn.is_available(),
        }

    def prepare(self, x, weight, grad, named, passes):
        import torch

        x, weight, grad = (torch.from_numpy(one) for one in (x, weight, grad))
        convolve = torch.nn.functional.conv2d
        if passes == "forward":

            def forward():
                with torch.inference_mode():
                    return convolve(x, weight, **named)

            return forward, "oneDNN", [forward().numpy()]
        x.requires_grad_(), weight.requires_grad_()

        def both():
            y = convolve(x, weight, **named)
            return y, *torch.autograd.grad(y, (x, weight), grad)

        return both, "oneDNN", [one.detach().numpy() for one in both()]


if __name__ == "__main__":
    answer(sys.argv[1], int(sys.argv[2]), sys.argv[3])
