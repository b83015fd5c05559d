"""How far what a user calls is from the best rung: each operation that has a choice, at the sizes that are timed, and
layers of networks.

    python benchmarks/run.py choice           recorded in results/choice_PROCESSOR.json, one for each kind of processor
    python benchmarks/run.py choice --quick   one size of each, not recorded

`loss` is the time of the operation's function over that of the fastest rung, both in the same rounds: 1 where it chose
the best (or is faster than each of them), 1.1 where another rung takes a tenth less. Rungs that one call shows to be
much slower are left out. `wrong`: another rung takes a tenth less, and at least 5 us (what is less is the price of a
call), and no other program took a core meanwhile (`busy`). The best of several that are alike is faster by chance: a
row that seems wrong is measured once more, four times as long, which counts (`first`: what it was before).

Answers that the library keeps (dlkernels/measured.py) are those of this machine, if there are any: a record starts
without.
"""

import functools
import time
import traceback

import convolution
import llvmlite.binding as llvm
import numba
from ladder import prepare, warm

from cpulab.measure import Table, limit_threads, times, with_unit
from dlkernels import implementations

TOLERATED, OF_A_CALL = 1.1, 5e-6
SLOW = 2.0  # a rung whose fastest call takes so many times the public function's is no candidate
CALLS = 3
BUDGET = {True: 0.1, False: 0.5}  # seconds of a row, by `quick`
#: First layers and others with few channels: (batch, in, out, edge, kernel, stride)
FIRST = (
    *((batch, 3, outs, edge, kernel, stride) for batch in (1, 8) for outs, edge, kernel, stride in (
        (64, 112, 3, 2), (32, 224, 3, 2), (64, 224, 3, 1), (64, 224, 7, 2))),
    (1, 1, 32, 28, 3, 1), (64, 1, 16, 28, 5, 1), (1, 8, 16, 56, 3, 1), (1, 16, 16, 56, 3, 1), (1, 4, 64, 32, 3, 2),
)  # fmt: skip


def stored_as(name):
    """A file for each kind of processor, by the name that the compiler has for it."""
    return f"{name}_{numba.config.CPU_NAME or llvm.get_host_cpu_name()}".replace("-", "_")


def cases(quick):
    """(operation, what it is called with in words, a function that makes its arguments)"""
    for name, operation in implementations.OPERATIONS.items():
        rungs = implementations.of(name, "cpu")
        if len(rungs) < 2 or not any(rung.public for rung in rungs):
            continue
        for shape in operation.examples.timed[: 1 if quick else None]:
            yield name, " x ".join(map(str, shape)), lambda name=name, shape=shape: prepare(name, shape)[0]
    layers = [convolution.described(layer, batch, "forward") for layer in convolution.LAYERS for batch in (1, 8)]
    layers += [
        convolution.described(("", "", ins, outs, edge, kernel, stride, 1), batch, "forward")
        for batch, ins, outs, edge, kernel, stride in FIRST
    ]
    for layer in layers[:: 8 if quick else 1]:
        yield "conv2d", convolution.label(layer), lambda layer=layer: convolved(layer)


def convolved(layer):
    x, weight, _, named = convolution.arrays(layer)
    return x, weight, None, named["stride"], named["padding"], 1, named["groups"]


def candidates(operation, arguments):
    """{name: function without arguments} of what the user calls and of the other rungs that may be as fast."""
    called = functools.partial(implementations.OPERATIONS[operation].function, *arguments)
    results = implementations.OPERATIONS[operation].prepare(*arguments)[-1]
    public = implementations.public_rung(operation, "cpu", results.dtype)
    called()
    found = {"public": called}
    limit = SLOW * min(timed(called) for _ in range(CALLS))
    for rung in implementations.of(operation, "cpu"):
        run = functools.partial(rung, *arguments)
        if rung.name == public.name or str(results.dtype) not in rung.dtypes:
            continue
        run()
        if min(timed(run) for _ in range(CALLS)) <= limit:
            found[rung.name] = run
    return found


def timed(run):
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def compare(operation, what, make, threads, budget):
    """A row (dict), or None where nothing else comes near the public rung."""
    with limit_threads(threads):
        found = candidates(operation, make())
        row = {
            "operation": operation,
            "what": what,
            "threads": threads,
            "loss": 1.0,
            "best": "public",
            "wrong": False,
            "busy": False,
        }
        if len(found) < 2:
            return row
        measured = times(found, budget=budget, threads=threads)
    ratios = {name: measured.ratio("public", name) for name in found if name != "public"}
    best = max(ratios, key=lambda name: ratios[name].ratio)
    loss = max(1.0, ratios[best].ratio)
    saved = measured.seconds["public"] * (1 - 1 / loss)
    return row | {
        "loss": loss,
        "wrong": loss > TOLERATED and saved > OF_A_CALL and not measured.busy,
        "best": best if loss > 1 else "public",
        "busy": measured.busy,
        "seconds": measured.seconds,
        "quartiles": [ratios[best].low, ratios[best].high],
    }


def benchmark(quick=False):
    """Rows for every case and number of threads, the worst for each operation."""
    counts = sorted({1, min(2, numba.config.NUMBA_NUM_THREADS)})
    warm(max(counts))
    rows, failed = [], []
    for operation, what, make in cases(quick):
        for threads in counts:
            try:
                row = compare(operation, what, make, threads, BUDGET[quick])
                if row["wrong"]:
                    row = compare(operation, what, make, threads, 4 * BUDGET[quick]) | {"first": row["loss"]}
            except Exception:  # what was measured before, and comes after, is worth minutes
                failed.append(f"{operation} {what}, {threads} threads: {traceback.format_exc()}")
                print(failed[-1], flush=True)
                continue
            rows.append(row)
            if row["wrong"]:
                print(named(row), flush=True)
    worst = {}
    for row in rows:
        key = row["operation"], row["threads"]
        worst[key] = max(worst.get(key, row), row, key=lambda one: one["loss"])
    print(table(worst.values()))
    wrong = [row for row in rows if row["wrong"]]
    print(f"{len(wrong)} of {len(rows)} choices are wrong by more than a tenth and 5 us:", *map(named, wrong), sep="\n")
    print(f"{len(failed)} failed:", *failed, sep="\n")
    return {"processor": stored_as("")[1:], "rows": rows, "failed": failed}


def named(row):
    return f"{row['operation']} {row['what']}, {row['threads']} threads: {row['loss']:.2f} {row['best']}"


def table(rows):
    """The worst choices for people, the worst first."""
    lines = [
        (row["operation"], str(row["threads"]), row["what"], f"{row['loss']:.2f}", row["best"], seconds(row))
        for row in sorted(rows, key=lambda one: -one["loss"])
    ]
    return Table(("", "threads", "worst at", "public / best", "best", "public"), lines)


def seconds(row):
    return with_unit(row["seconds"]["public"], "s") if "seconds" in row else ""
