"""Record what only a GPU can tell: ``make gpu-record``, on a machine that has one. Takes under ten minutes.

    tests      the tests marked `gpu`, and every kernel against its reference, on the GPU
    matmul     every rung of the matrix product, checked, then timed with events against cuBLAS and PyTorch
    times      every element-wise GPU rung, against PyTorch, cuBLAS and a plain copy of memory
    transfers  the copies of a vector add, pageable and pinned, and its kernel, for several lengths
    counters   Nsight Compute's counts of requests and sectors beside those of the x-ray

``--dry-run`` needs no GPU: it runs the sections matmul and transfers in the executor on tiny sizes, and records nothing.

Each section runs in a process of its own with a time limit, and what it has found so far is kept if it crashes or
runs out of time. The result is results/gpu.json. Nothing is downloaded; what is not installed is left out and named.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = {"tests": 200, "matmul": 150, "times": 125, "transfers": 20, "counters": 100}  # name -> seconds it may take
NEEDED = (
    "A GPU is needed: run this on a machine with an NVIDIA GPU and its driver, where `nvidia-smi` works and the "
    "extra is installed (pip install -e '.[gpu]'); numba found none here."
)

with contextlib.suppress(ImportError):
    import dlkernels  # noqa: F401
if "dlkernels" not in sys.modules:  # not installed, as on a borrowed machine: use the working copy
    sys.path.insert(0, str(ROOT / "lib"))


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Record tests, times and counters of a GPU.")
    parser.add_argument("--only", choices=SECTIONS, help="run one section, and record it beside the others")
    parser.add_argument("--dry-run", action="store_true", help="without a GPU: tiny sizes, nothing recorded")
    parser.add_argument("--child", nargs=2, metavar=("SECTION", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        return run_child(*options.child)
    if options.dry_run:
        return dry_run()
    from cpulab.measure import machine_card, record, recorded
    from dlkernels import device

    if device.name != "gpu":
        print(NEEDED, file=sys.stderr)
        return 2
    print(machine_card(), "\n")
    found = {}
    if options.only:
        with contextlib.suppress(FileNotFoundError):
            found = recorded("gpu").data
    for section in [options.only] if options.only else SECTIONS:
        found[section] = run_section(section, SECTIONS[section])
        print(f"{section}: {found[section]['status']}, {len(found[section]['lines'])} results\n", flush=True)
        path = record("gpu", found, command="make gpu-record")
    print(f"Recorded in {path.name}.")
    return 0 if all(found[section]["status"] == "complete" for section in found) else 1


def run_section(section, limit):
    """Run a section in a process of its own; returns its status, seconds and the lines it wrote."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines"
        file.touch()
        command = [sys.executable, __file__, "--child", section, str(file)]
        code, _ = run_limited(command, limit, sys.stderr)
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    status = {0: "complete", None: f"stopped after {limit} s"}.get(code, f"failed (exit code {code})")
    return {"status": status, "seconds": round(time.monotonic() - start, 1), "lines": lines}


def run_limited(command, limit, error=subprocess.STDOUT, **environment):
    """Run a command at most ``limit`` seconds: (exit code or None if stopped, its output, also shown)."""
    paths = [str(ROOT / "lib"), str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        # A session of its own, so that its children can be stopped with it.
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=error, start_new_session=True
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        output.seek(0)
        return code, output.read()


def run_child(section, file):
    """The process of one section: each result is one line of JSON, written at once."""
    with open(file, "a", encoding="utf-8") as lines:

        def keep(result):
            print(json.dumps(result), file=lines, flush=True)

        return {
            "tests": tests,
            "matmul": measure_products,
            "times": measure_times,
            "transfers": measure_transfers,
            "counters": counters,
            "launch": launch_all,
            "expect": expect,
        }[section](keep)


# ---- tests ------------------------------------------------------------------------------------------------


def tests(keep):
    """The tests that need a GPU, then all kernels against their references with the GPU as device."""
    limit = SECTIONS["tests"] / 2 - 5
    for what in (["-m", "gpu", "tests"], ["-m", "not gpu and not book", "tests/kernels"]):
        command = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", *what]
        code, output = run_limited(command, limit, DLKERNELS_DEVICE="gpu")
        outcomes = re.findall(r"^(tests\S*::.*?) (PASSED|FAILED|ERROR|SKIPPED)", output, flags=re.M)
        counts = {name: sum(one == name for _, one in outcomes) for name in ("PASSED", "FAILED", "ERROR", "SKIPPED")}
        failed = [test for test, outcome in outcomes if outcome in ("FAILED", "ERROR")]
        result = {"pytest": " ".join(what), "exit_code": code, **counts, "failed": failed[:50]}
        if code not in (0, 5):  # 5: no test is selected
            result["output"] = output[-4000:].replace(str(ROOT), "")
        keep(result)
        print(f"pytest {' '.join(what)}: {counts}", file=sys.stderr)
    return 0


# ---- matrix products ---------------------------------------------------------------------------------------


def measure_products(keep):
    import gpu_matmul

    def keep_and_show(row):
        keep(row)
        size = f"{row['count']} x ({row['m']} x {row['n']} x {row['k']}) {row['dtype']}"
        said = row.get("error") or (
            f"{row['flops'] / 1e12:7.2f} Tflop/s" + f"  {row.get('ratio_to_cuBLAS', float('nan')):5.2f} of cuBLAS"
        )
        print(f"{size:<36} {row.get('name', ''):<26} {said}", file=sys.stderr)

    gpu_matmul.measure(keep_and_show, event_times)
    return 0


def dry_run():
    """Every candidate of tiny products and transfers, in the executor: 0 if all are right. Its times mean nothing."""
    import gpu_matmul
    import gpu_transfers

    lines = []

    def times_once(found, cuda, rounds):
        return event_times(found, cuda, rounds=1, sample=0, first=1)

    gpu_matmul.measure(lines.append, times_once, gpu_matmul.TINY)
    gpu_transfers.measure(lines.append, times_once, gpu_transfers.TINY)
    for line in lines:
        print(json.dumps(line))
    return 1 if any("error" in line for line in lines) else 0


# ---- times ------------------------------------------------------------------------------------------------


SIZES = (2**20, 2**26)  # one that fits the L2 cache of a large GPU, one that does not


def measure_times(keep):
    from cpulab.measure import with_unit
    from dlkernels import cuda, implementations

    for case in cases():
        for n in SIZES:
            try:
                arguments, out, found = gpu_candidates(case, n, cuda, implementations)
                measured, host = event_times(found, cuda)
            except Exception as error:  # one operation that does not run must not hide the others
                keep({"operation": case.operation, "size": n, "error": f"{type(error).__name__}: {error}"[:500]})
                continue
            for name in found:
                row = {"operation": case.operation, "size": n, "name": name, "launch_seconds": host[name]}
                row |= measured.ratio("copy", name).to_dict()
                row["bandwidth"] = (2 * 4 * n if name == "copy" else case.traffic(n)) / row["seconds"]
                for peer in ("PyTorch", "cuBLAS"):
                    if peer in found:
                        row[f"ratio_to_{peer}"] = measured.ratio(peer, name).ratio
                keep(row)
                shown = f"{with_unit(row['seconds'], 's'):>9} {with_unit(row['bandwidth'], 'B/s'):>10}"
                print(f"{case.operation:>18} 2^{n.bit_length() - 1} {name:<28} {shown}", file=sys.stderr)
            del arguments, out, found
    return 0


def cases():
    """The cases of all benchmark modules that list them as CASES."""
    import importlib

    modules = [file.stem for file in sorted((ROOT / "benchmarks").glob("*.py"))]
    text = {name: (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8") for name in modules}
    for name in modules:
        if "\nCASES = " in text[name]:
            yield from importlib.import_module(name).CASES


def gpu_candidates(case, n, cuda, implementations):
    """Name -> function that queues the work on the GPU and does not wait; all work on the same device arrays."""
    import numpy as np

    arguments, out = case.prepare(n)
    there = [cuda.to_device(x) if isinstance(x, np.ndarray) else x for x in arguments]
    result = cuda.to_device(out)
    prepared = implementations.OPERATIONS[case.operation].prepare(*there, out=result)
    source, target = cuda.device_array(n, np.float32), cuda.device_array(n, np.float32)
    found = {"copy": lambda: target.copy_to_device(source)}
    with contextlib.suppress(Exception):  # PyTorch is missing, without CUDA, or does not see the arrays
        found["PyTorch"] = torch_on_gpu(case, there, result, cuda)
    if case.operation == "axpy":
        with contextlib.suppress(OSError, RuntimeError):
            import cublas

            found["cuBLAS"] = cublas.axpy(*there)
    for rung in implementations.of(case.operation, device="gpu"):
        if "float32" in rung.dtypes and (rung.largest is None or n <= rung.largest):
            found[rung.name] = lambda rung=rung: rung.function(*prepared)
    return there, result, found


def torch_on_gpu(case, there, result, cuda):
    import torch

    if not torch.cuda.is_available() or case.torch is None:
        raise RuntimeError("no peer in PyTorch")
    tensors = [torch.as_tensor(x, device="cuda") if hasattr(x, "copy_to_host") else x for x in there]
    target = torch.as_tensor(result, device="cuda")
    stream = torch.cuda.ExternalStream(0)  # numba's default stream, the one that the events are recorded on

    def run():
        with torch.cuda.stream(stream):
            case.torch(torch, target, *tensors)

    run()
    cuda.synchronize()
    return run


def event_times(found, cuda, rounds=15, sample=0.01, first=3):
    """`Times` by CUDA events, candidates interleaved; and the host's seconds to queue one call of each.

    Where queueing takes longer than the work, the time is that of the queueing: compare ``launch_seconds``.
    """
    from cpulab.measure import Times

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


# ---- transfers --------------------------------------------------------------------------------------------


def measure_transfers(keep):
    import gpu_transfers

    from cpulab.measure import with_unit

    def keep_and_show(row):
        keep(row)
        said = row.get("error") or with_unit(row["seconds"], "s")
        print(f"{row['size']:>10} {row.get('name', ''):<10} {said}", file=sys.stderr)

    gpu_transfers.measure(keep_and_show, event_times)
    return 0


# ---- counters ---------------------------------------------------------------------------------------------

SMALL = 4099  # elements: ragged, and small enough for the x-ray
COMPARED = ("global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors")


def rungs():
    """(case, rung) of every GPU rung that takes float32, in a fixed order."""
    from dlkernels import implementations

    for case in cases():
        for rung in implementations.of(case.operation, device="gpu"):
            if "float32" in rung.dtypes:
                yield case, rung


def launch(case, rung):
    """Run a rung once, on arrays of its device."""
    arguments, out = case.prepare(SMALL // 1024 * 1024 if case.operation == "bias_activation" else SMALL)
    rung(*arguments, out=out)


def launch_all(keep):
    """What runs under Nsight Compute: each rung once, one kernel each."""
    for case, rung in rungs():
        keep({"name": rung.name})
        launch(case, rung)
    return 0


def expect(keep):
    """What runs with the executor as device: the x-ray's counts for each rung."""
    for case, rung in rungs():
        try:
            keep({"name": rung.name, "counts": counted(case, rung)})
        except Exception as error:
            keep({"name": rung.name, "error": f"{type(error).__name__}: {error}"[:500]})
    return 0


def counted(case, rung):
    """Sums over the launches that the rung makes, each run under the x-ray instead."""
    from unittest import mock

    from simt.xray import xray

    total = dict.fromkeys(COMPARED, 0)

    def bind(kernel, configuration):
        grid, block, _stream, shared = (*configuration, 0, 0)[:4] if len(configuration) < 4 else configuration

        def run(*arguments):
            report = xray(kernel, grid, block, shared_bytes=shared)(*arguments)
            for name in COMPARED:
                total[name] += report.total[name]

        return run

    with mock.patch.object(type(rung.kernels[0][0]), "__getitem__", bind):
        launch(case, rung)
    return total


def counters(keep):
    from simt.xray.metrics import NSIGHT

    metrics = {NSIGHT[name]: name for name in COMPARED}
    expected = {one["name"]: one for one in child_lines("expect", 60, DLKERNELS_DEVICE="executor")}
    # The clocks are left alone: counts do not depend on them.
    ncu = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(metrics)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines"
        file.touch()
        try:
            _, output = run_limited([*ncu, sys.executable, __file__, "--child", "launch", str(file)], 100)
        except FileNotFoundError:
            keep({"error": "Nsight Compute (ncu) is not installed or not on the PATH"})
            return 0
        launched = [json.loads(line)["name"] for line in file.read_text(encoding="utf-8").splitlines()]
    measured = parse_ncu(output, metrics)
    if "ERR_NVGPUCTRPERM" in output:
        keep({"error": "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)"})
        return 0
    if not measured or len(measured) != len(launched):  # which kernel belongs to which rung is not known
        keep({"error": f"ncu saw {len(measured)} kernels of {len(launched)}", "output": output[-1000:]})
        return 1
    for name, (kernel, counts) in zip(launched, measured, strict=True):
        ours = expected.get(name, {"error": "the executor did not run"})
        result = {"name": name, "kernel": kernel, "nsight": counts, "xray": ours.get("counts")}
        result |= {"agrees": ours.get("counts") == counts} if "counts" in ours else {"error": ours["error"]}
        keep(result)
        print(f"{name:<28} {result.get('agrees', result.get('error'))} {counts}", file=sys.stderr)
    return 0


def child_lines(section, limit, **environment):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines"
        file.touch()
        run_limited([sys.executable, __file__, "--child", section, str(file)], limit, sys.stderr, **environment)
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def parse_ncu(output, metrics):
    """[(kernel name, {our name: count})] in launch order, from the CSV that follows ncu's own messages."""
    import csv

    lines = output.splitlines()
    first = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    kernels = {}
    for row in csv.DictReader(line for line in lines[first:] if line.startswith('"')):
        if row["Metric Name"] in metrics:
            value = float(row["Metric Value"].replace(",", ""))
            _, counts = kernels.setdefault(int(row["ID"]), (row["Kernel Name"], {}))
            counts[metrics[row["Metric Name"]]] = int(value)
    return [kernels[k] for k in sorted(kernels)]


if __name__ == "__main__":
    sys.exit(main())
