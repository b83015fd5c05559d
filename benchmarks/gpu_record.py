"""Record what only a GPU can tell: ``make gpu-record``, on a machine that has one. Takes about ten minutes. The command
then runs three scripts with records of their own: gpu_banks.py, gpu_differential.py and gpu_sanitizer.py, which take
five more.

    tests        every kernel against its reference, on the GPU
    matmul       every rung of the matrix product, checked, then timed with events against cuBLAS and PyTorch
    times        every element-wise GPU rung, against PyTorch, cuBLAS and a plain copy of memory
    memory       sums, scans, transposes and histograms; convolution, attention, recurrent: the ladders of chapters 9 to
                 11
    transfers    the copies of a vector add, pageable and pinned, and its kernel, for several lengths
    experiments  what the chapters count, put to the clock: strides, banks, branches, waves, races
    counters     Nsight Compute's counts of requests, sectors and wavefronts beside those of the x-ray

``--dry-run`` needs no GPU: it runs the sections that time on tiny sizes in the executor, and records nothing.

Each section runs in a process of its own with a time limit, and what it has found so far is kept if it crashes or
runs out of time. The result is results/gpu.json. Nothing is downloaded; what is not installed is left out and named.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = {  # name -> seconds it may take
    "tests": 200,
    "matmul": 150,
    "times": 125,
    "memory": 100,
    "convolution": 100,
    "attention": 150,
    "recurrent": 100,
    "transfers": 30,
    "experiments": 150,
    "counters": 280,
}
NEEDED = (
    "A GPU is needed: run this on a machine with an NVIDIA GPU and its driver, where `nvidia-smi` works and the "
    "extra is installed (pip install -e '.[gpu]'); numba found none here."
)

with contextlib.suppress(ImportError):
    import dlkernels  # noqa: F401
if "dlkernels" not in sys.modules:  # not installed, as on a borrowed machine: use the working copy
    sys.path.insert(0, str(ROOT / "lib"))

import gpu_counters  # noqa: E402
import gpu_operations  # noqa: E402
import gpu_timing  # noqa: E402
from gpu_timing import event_times  # noqa: E402


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Record tests, times and counters of a GPU.")
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, help="run some sections, and record them beside the others"
    )
    parser.add_argument("--dry-run", action="store_true", help="without a GPU: tiny sizes, nothing recorded")
    parser.add_argument("--child", nargs=2, metavar=("SECTION", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        return run_child(*options.child)
    if options.dry_run:
        return dry_run()
    from cpulab.measure import machine_card, provenance, record, recorded
    from dlkernels import device

    if device.name != "gpu":
        print(NEEDED, file=sys.stderr)
        return 2
    print(machine_card(), "\n")
    found = {}
    if options.only:
        with contextlib.suppress(FileNotFoundError):
            before = recorded("gpu")
            if before.machine["GPU"] == machine_card()["GPU"]:  # what another one did does not stand beside this
                found = before.data
    for section in options.only or SECTIONS:
        now = provenance()
        found[section] = run_section(section, SECTIONS[section]) | {key: now[key] for key in ("date", "revision")}
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

        section, _, part = section.partition(":")
        if section in ("launch", "expect"):
            return getattr(gpu_counters, f"{section}_share")(part, keep)
        if section in gpu_operations.CALLS:
            return measure_operations(section, keep)
        return {
            "tests": tests,
            "matmul": measure_products,
            "times": measure_times,
            "transfers": measure_transfers,
            "experiments": measure_experiments,
            "counters": counters,
        }[section](keep)


# ---- tests ------------------------------------------------------------------------------------------------


#: Tests of kernels that run on whatever device there is; those about the stand-ins for a GPU skip themselves.
ON_GPU = "gpu or test_recurrent or test_reduce or test_persistent or test_decoding or test_transpose or test_vector"


def tests(keep):
    """Every kernel against its reference, with the GPU as device."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "tests/kernels"]
    command += ["-k", ON_GPU, "--ignore", "tests/kernels/test_on_gpus.py"]
    if importlib.util.find_spec("xdist"):
        command += ["-n", str(max(1, (os.cpu_count() or 1) - 2)), "--dist", "worksteal"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tests.xml"
        code, output = run_limited([*command, f"--junitxml={file}"], SECTIONS["tests"] - 10, DLKERNELS_DEVICE="gpu")
        cases = ElementTree.parse(file).iter("testcase") if file.exists() else []
        outcomes = [(one.get("name"), {part.tag for part in one}) for one in cases]
    failed = [name for name, tags in outcomes if tags & {"failure", "error"}]
    skipped = sum("skipped" in tags for _, tags in outcomes)
    result = {"exit_code": code, "passed": len(outcomes) - len(failed) - skipped, "skipped": skipped}
    result |= {"failed": failed[:50]}
    if code:
        result["output"] = output[-4000:].replace(str(ROOT), "")
    keep(result)
    print(f"tests: {result['passed']} passed, {len(failed)} failed, {skipped} skipped", file=sys.stderr)
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
    import gpu_experiments
    import gpu_matmul
    import gpu_transfers

    lines = []

    def times_once(found, cuda, rounds=1, first=1):
        return event_times(found, cuda, rounds=1, sample=0, first=1)

    gpu_matmul.measure(lines.append, times_once, gpu_matmul.TINY)
    for chapter, calls in gpu_operations.TINY.items():
        gpu_operations.measure(chapter, lines.append, times_once, calls)
    gpu_transfers.measure(lines.append, times_once, gpu_transfers.TINY)
    gpu_experiments.measure(lines.append, times_once, gpu_experiments.TINY)
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
                measured, host = event_times(found, cuda, rounds=9)
                kernels = gpu_timing.kernel_times(found, cuda)
            except Exception as error:  # one operation that does not run must not hide the others
                keep({"operation": case.operation, "size": n, "error": f"{type(error).__name__}: {error}"[:500]})
                continue
            for name in found:
                row = {"operation": case.operation, "size": n, "name": name, "launch_seconds": host[name]}
                row |= measured.ratio("copy", name).to_dict()
                row["bandwidth"] = (2 * 4 * n if name == "copy" else case.traffic(n)) / row["seconds"]
                if name in kernels:
                    row["kernel_seconds"] = kernels[name]["seconds"]
                    row["kernel_bandwidth"] = row["bandwidth"] * row["seconds"] / row["kernel_seconds"]
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

    def run():
        case.torch(torch, target, *tensors)  # on its default stream, which is numba's, too

    run()
    cuda.synchronize()
    return run


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


# ---- operations and experiments ----------------------------------------------------------------------------


def measure_operations(chapter, keep):
    from cpulab.measure import with_unit

    def keep_and_show(row):
        keep(row)
        said = row.get("error") or (
            f"{with_unit(row['seconds'], 's'):>9}, kernels {with_unit(row.get('kernel_seconds', float('nan')), 's'):>9}"
            f"  {row.get('kernel_ratio_to_PyTorch', float('nan')):6.2f} of PyTorch"
        )
        print(f"{row['operation']} ({row['label']}) {row.get('name', '')}: {said}", file=sys.stderr)

    gpu_operations.measure(chapter, keep_and_show, event_times)
    return 0


def measure_experiments(keep):
    import gpu_experiments

    def keep_and_show(row):
        keep(row)
        print(row, file=sys.stderr)

    gpu_experiments.measure(keep_and_show, event_times)
    return 0


# ---- counters ----------------------------------------------------------------------------------------------


def counters(keep):
    limit = SECTIONS["counters"] - 20

    def profiled(command):
        return run_limited(command, limit)[1]

    return gpu_counters.measure(
        keep, lambda section, **environment: child_lines(section, limit, **environment), profiled
    )


def child_lines(section, limit, **environment):
    """The lines that a child process has written."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines"
        file.touch()
        run_limited([sys.executable, __file__, "--child", section, str(file)], limit, sys.stderr, **environment)
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
