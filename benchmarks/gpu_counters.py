"""Nsight Compute's counts beside those of the x-ray, for every GPU rung of the table. Part of ``make gpu-record``.

Each rung runs once on one size, under the profiler on the GPU and under the x-ray here. A row is one rung: the sums
over its kernels of each count, from both. Where they differ it is because the compiler merged, removed or moved memory
operations, which the x-ray does not see, or because the model of the x-ray is not the hardware's: the row keeps both.
"""

import csv
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPARED = (
    "global_load_requests",
    "global_store_requests",
    "global_load_sectors",
    "global_store_sectors",
    "shared_load_requests",
    "shared_store_requests",
    "shared_wavefronts",
    "bank_conflicts",
)
#: Counts of ours that are sums of theirs: of loads and of stores, each by itself.
SUMS = {
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
}
#: Sizes where that of the examples is long to look at; others: the second smallest that is timed.
SMALLER = {
    **dict.fromkeys(("rnn", "lstm", "gru"), (3, 3, 64, 64)),
    **dict.fromkeys(("min_gru", "min_lstm", "min_gru_backward", "min_lstm_backward"), (20, 3, 64, 64)),
    **dict.fromkeys(("selective_scan", "selective_scan_backward"), (1, 16, 256, 16)),
    **dict.fromkeys(("linear", "linear_backward"), (100, 60, 130)),
    **dict.fromkeys(("scan", "scan_backward", "cumsum"), (9, 5000)),
    **dict.fromkeys(("decode_attention",), (1, 8, 1, 1000, 64)),
    **dict.fromkeys(("sum", "histogram"), (70000,)),
    "transpose": (130, 70),
    **dict.fromkeys(
        ("scaled_dot_product_attention", "scaled_dot_product_attention_backward", "attention_half"),
        (1, 1, 128, 128, 64, 64),
    ),
    "matmul_half": (128, 128, 128),
}
SLICES = 8  # processes at a time: most of their time is the compiler's


def rungs():
    """Every GPU rung that takes float32, or halves, in a fixed order."""
    from dlkernels import implementations

    return [rung for name in implementations.OPERATIONS for rung in implementations.of(name, "gpu")]


def launch(rung):
    """Run a rung once, on arrays of its device."""
    from dlkernels import implementations

    examples = implementations.OPERATIONS[rung.operation].examples
    shape = SMALLER.get(rung.operation, examples.timed[0])
    rung(*examples.make(shape, dtype=examples.dtypes[0]))


def share(part):
    number, of = (int(x) for x in part.split("/"))
    return rungs()[number::of]


def launch_share(part, keep):
    """What runs under Nsight Compute."""
    for rung in share(part):
        try:
            launch(rung)
            keep({"name": rung.name})
        except Exception as error:
            keep({"name": rung.name, "error": f"{type(error).__name__}: {error}"[:300]})
    return 0


def expect_share(part, keep):
    """What runs with the executor as device: the x-ray's counts for each launch of each rung."""
    from caught import launches

    for rung in share(part):
        try:
            with launches(engine="auto") as reports:
                launch(rung)
            counts = [{"kernel": r.kernel, **{name: r.total[name] for name in COMPARED}} for r in reports]
            keep({"name": rung.name, "launches": counts})
        except Exception as error:
            keep({"name": rung.name, "error": f"{type(error).__name__}: {error}"[:300]})
    return 0


def measure(keep, child, profiled):
    """child(section, **environment) -> the lines of a child process; profiled(command) -> the output of ncu, or
    None."""
    from simt.xray.metrics import NSIGHT

    metrics = {NSIGHT[name]: name for name in COMPARED if name not in SUMS}
    metrics |= {pattern.format(which): name for name, pattern in SUMS.items() for which in ("ld", "st")}
    parts = [f"{k}/{SLICES}" for k in range(SLICES)]
    with ThreadPoolExecutor(2 * SLICES) as pool:
        expecting = [pool.submit(child, f"expect:{part}", DLKERNELS_DEVICE="executor") for part in parts]
        running = [pool.submit(under_ncu, part, metrics, profiled) for part in parts]
        expected = {line["name"]: line for one in expecting for line in one.result()}
        status = 0
        for one in running:
            launched, measured, problem = one.result()
            if problem:
                keep({"error": problem})
                status = 1
                continue
            for row in matched(launched, measured, expected):
                keep(row)
                said = row.get("error") or ", ".join(row["differs"]) or "agrees"
                print(f"{row['name']:<36} {said}", file=sys.stderr)
    return status


def under_ncu(part, metrics, profiled):
    """(lines of the child, [(kernel, counts)] in the order of launches, what went wrong or None)"""
    # The clocks are left alone: counts do not depend on them.
    ncu = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(metrics)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines"
        file.touch()
        script = str(Path(__file__).with_name("gpu_record.py"))
        try:
            output = profiled([*ncu, sys.executable, script, "--child", f"launch:{part}", str(file)])
        except FileNotFoundError:
            return [], [], "Nsight Compute (ncu) is not installed or not on the PATH"
        launched = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if "ERR_NVGPUCTRPERM" in output:
        return [], [], "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)"
    measured = parse_ncu(output, metrics)
    return launched, measured, None if measured else f"ncu saw no kernel: {output[-500:]}"


def matched(launched, measured, expected):
    """Rows: each rung with the counts of both sides. Kernels go to rungs by their order, checked by their names."""
    at = 0
    for line in launched:
        name, ours = line["name"], expected.get(line["name"], {"error": "the x-ray did not run"})
        problem = line.get("error") or ours.get("error")
        if problem:
            yield {"name": name, "error": problem}
            continue
        wanted = [one["kernel"] for one in ours["launches"]]
        first = next((k for k in range(at, len(measured)) if is_called(measured[k:], wanted)), None)
        if first is None:
            seen = [kernel for kernel, _ in measured[at : at + len(wanted)]]
            yield {"name": name, "error": f"ncu saw other kernels: {seen[:5]} for {wanted[:5]}"}
            continue
        at = first + len(wanted)
        theirs = [counts for _, counts in measured[first:at]]
        sums = {
            side: {metric: sum(one[metric] for one in counts) for metric in COMPARED}
            for side, counts in (("nsight", theirs), ("xray", ours["launches"]))
        }
        differs = [metric for metric in COMPARED if sums["nsight"][metric] != sums["xray"][metric]]
        yield {"name": name, "kernels": len(wanted), **sums, "differs": differs}


def is_called(measured, wanted):
    """Whether the next kernels are those: a compiled kernel's name holds its function's."""
    names = [kernel for kernel, _ in measured[: len(wanted)]]
    return len(names) == len(wanted) and all(ours in theirs for ours, theirs in zip(wanted, names, strict=True))


def parse_ncu(output, metrics):
    """[(kernel name, {our name: count})] in launch order, from the CSV that follows ncu's own messages."""
    lines = output.splitlines()
    first = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    kernels = {}
    for row in csv.DictReader(line for line in lines[first:] if line.startswith('"')):
        if row["Metric Name"] in metrics:
            value = float(row["Metric Value"].replace(",", ""))
            _, counts = kernels.setdefault(int(row["ID"]), (row["Kernel Name"], {}))
            name = metrics[row["Metric Name"]]
            counts[name] = counts.get(name, 0) + int(value)
    return [kernels[k] for k in sorted(kernels)]
