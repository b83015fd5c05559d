"""Random kernels on a real GPU and in the executor: do they compute the same, to the bit?

    python benchmarks/gpu_differential.py --seconds 140                       on a machine with an NVIDIA GPU: the
                                                                              record
    python benchmarks/gpu_differential.py --file build/d.json                 elsewhere, with all that was found
    python benchmarks/gpu_differential.py --file /tmp/d.json --device executor  no GPU: the executor in reverse instead

The kernels are those of tests/simt/compiled/generator.py: free of races by construction, with one result whatever the
order of threads. Every fourth also runs with the barriers of the grid in the place of the block's, but not where a
block may pass another number of barriers than the others: on a branch that asks which block it is, after a return of a
whole block. numba.cuda compiles the same source that the executor runs; the arrays afterwards must be equal, integers
and floats. What goes through exp, sin and the like has the tolerance that the tests give it.

The executor rounds each operation by itself. Where there are floats the compiler is therefore told not to fuse products
and sums: NVVM by ``fma=0``, and the linker, which would decide again, by giving it no LTO. ``about["fma"]`` says what a
kernel that shows the difference made of it: on 26 November 2026 the linker had the last word (``@cuda.jit(lto=False)``
forgets its argument in numba-cuda 0.30.4), and 9 of 1829 kernels differed. Kernels without floats are compiled as a
user compiles them.

An outcome is one of

    equal           the same arrays
    differs         not the same: the first place, the source, and what a second run, the GPU without optimisation and
                    our compiled engine say, and whether the x-ray finds the kernel valid
    not supported   numba-cuda does not compile it
    crashed         the launch failed, or its process died or took too long
    invalid         the executor refuses it: a fault of the generator or of the executor
    left out        blocks pass different numbers of barriers: no kernel for barriers of the grid

Worker processes take one kernel after another; one that a kernel takes down is replaced. What is known so far is
written every few seconds.
"""

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for _folder in ("lib", "tests/simt/compiled"):
    sys.path.insert(0, str(ROOT / _folder))
NAME = "gpu_differential"
#: statements, about; None: as many as the seed draws
SIZES = (3, 4, 6, 9, None)
#: for a worker: one thread each, and nothing about small grids
ENVIRONMENT = {
    "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0", "PYTHONWARNINGS": "ignore",
}  # fmt: skip
STARTING = 90  # seconds that a worker may take for its imports and its context
SAVED_EVERY = 5


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--file", type=Path, help="where the results go, as JSON; without, they become the record")
    parser.add_argument("--seconds", type=float, default=140, help="time for all")
    parser.add_argument("--limit", type=float, default=20, help="seconds for one step of one kernel")
    parser.add_argument("--workers", type=int, default=max(1, min(14, (os.cpu_count() or 2) - 2)))
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, help="how many seeds; without, as many as there is time for")
    parser.add_argument("--device", choices=("gpu", "executor"), default="gpu")
    options = parser.parse_args(arguments)
    run = Run(options)
    run.all()
    print(run.summary())
    if options.file is None:
        from cpulab.measure import record

        print(record(NAME, compact(run.result())))
    return 0 if run.counts["equal"] and not run.counts["differs"] else 1


def compact(result):
    """What the record keeps: the kernels that are not equal in full, of the others how many, with what in them."""
    equal, features = Counter(), Counter()
    for row in result["rows"]:
        if row["outcome"] == "equal":
            equal[row["barriers"]] += 1
            features.update(row["features"].split(", "))
    kept = ("about", "device", "seconds", "workers", "first", "counts")
    return {
        **{name: result[name] for name in kept},
        "last": max((row.get("seed", -1) for row in result["rows"]), default=-1),
        "equal": dict(equal),  # by whose barriers
        "features": dict(sorted(features.items())),  # of equal kernels
        "others": [row for row in result["rows"] if row["outcome"] != "equal"],
    }


def tasks(first, count):
    """(seed, which barriers), without end if there is no count."""
    for seed in itertools.count(first) if count is None else range(first, first + count):
        yield seed, "block"
        if seed % 4 == 0:
            yield seed, "grid"


class Run:
    """The parent: a thread for each worker process, and what they found."""

    def __init__(self, options):
        self.options, self.rows, self.counts, self.about = options, [], Counter(), {}
        self.start = self.saved = time.monotonic()
        self.lock, self.tasks = threading.Lock(), tasks(options.first, options.count)

    def left(self):
        return self.options.seconds - (time.monotonic() - self.start)

    def all(self):
        os.environ.update(ENVIRONMENT)
        threads = [threading.Thread(target=self.look_after_a_worker) for _ in range(self.options.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.save()

    def next(self):
        with self.lock:
            return next(self.tasks, None) if self.left() > 0 else None

    def look_after_a_worker(self):
        worker, failed = None, 0
        while failed < 3 and (task := self.next()):
            if worker is None:
                worker = Worker(self.options.device)
                started = worker.answer(min(STARTING, self.left()))
                if "ready" not in started:
                    failed += 1
                    worker = worker.stop()
                    if self.left() > 0:
                        self.keep({"outcome": "no worker", "message": str(started)[:500]})
                    continue
                failed, self.about = 0, started["ready"]
            row = worker.does(task, lambda: min(self.options.limit, self.left()))
            if row["outcome"] == "crashed" or "stopped" in row:
                worker = worker.stop()
                if self.left() <= 0 and row["outcome"] == "crashed":
                    break  # it was stopped because the time is over
            self.keep(row)
        if worker is not None:
            worker.stop()

    def keep(self, row):
        if row["outcome"] == "no barriers":
            return
        with self.lock:
            self.rows.append(row)
            self.counts[row["outcome"]] += 1
            if time.monotonic() - self.saved > SAVED_EVERY:
                self.saved = time.monotonic()
                self.save()

    def result(self):
        return {
            "about": self.about,
            "device": self.options.device,
            "seconds": round(time.monotonic() - self.start, 1),
            "workers": self.options.workers,
            "first": self.options.first,
            "counts": dict(self.counts),
            "rows": sorted(self.rows, key=lambda row: (row.get("seed", -1), row.get("barriers", ""))),
        }

    def save(self):
        if self.options.file is not None:
            from cpulab.files import write_text

            write_text(self.options.file, json.dumps(self.result(), indent=1))

    def summary(self):
        """A few lines: how many of each outcome, and of each that is not "equal" the first ones and their messages."""
        text = [
            f"{self.about}",
            f"{len(self.rows)} kernels in {time.monotonic() - self.start:.0f} s: {dict(self.counts)}",
        ]
        grid = Counter(row["outcome"] for row in self.rows if row.get("barriers") == "grid")
        text.append(f"of them with barriers of the grid: {dict(grid)}")
        for outcome in ("no worker", "not supported", "crashed", "invalid", "left out"):
            found = Counter(row.get("message", "")[:110] for row in self.rows if row["outcome"] == outcome)
            text += [f"{outcome}, {count} times: {message}" for message, count in found.most_common(6)]
        crashed = [row.get("seed") for row in self.rows if row["outcome"] == "crashed"]
        text += [f"crashed: seeds {crashed[:30]}"] if crashed else []
        for row in [row for row in self.rows if row["outcome"] == "differs"][:12]:
            more = {
                k: v
                for k, v in row.items()
                if k not in ("source", "outcome", "seconds", "features", "seed", "barriers")
            }
            text.append(f"differs: seed {row['seed']} ({row['barriers']}): {more}")
        return "\n".join(text)


class Worker:
    """A process that runs kernels, seen from the parent."""

    def __init__(self, device):
        context = multiprocessing.get_context("spawn")
        self.here, there = context.Pipe()
        handle, name = tempfile.mkstemp(prefix="differential", suffix=".err")
        os.close(handle)
        self.errors = Path(name)
        self.process = context.Process(target=work, args=(there, device, name), daemon=True)
        self.process.start()
        there.close()  # so that a worker that dies is seen at once

    def answer(self, seconds):
        """The next message, or {"message": why there is none}."""
        try:
            if self.here.poll(max(0, seconds)):
                return self.here.recv()
            return {"message": f"no answer in {seconds:.0f} s"}
        except (EOFError, OSError):
            self.process.join(5)
            return {"message": f"the process died, exit code {self.process.exitcode}: {self.last_words()}"}

    def last_words(self):
        return " ".join(self.errors.read_text(encoding="utf-8", errors="replace")[-400:].split())

    def does(self, task, limit):
        """The row of a task. ``limit()``: seconds that its next step may take."""
        seed, barriers = task
        phase, start, known = "sending", time.monotonic(), {}
        try:
            self.here.send(task)
            while True:
                answer = self.answer(limit())
                if "known" in answer:
                    known = answer["known"]
                elif "phase" in answer:
                    phase = answer["phase"]
                else:
                    break
        except OSError as error:
            answer = {"message": str(error)}
        if "outcome" not in answer:
            problem = f"{phase}: {answer['message']}"
            answer = {**known, "stopped": problem} if known else {"outcome": "crashed", "message": problem}
        return {"seed": seed, "barriers": barriers, "seconds": round(time.monotonic() - start, 2), **answer}

    def stop(self):
        """End the process, whatever it does; returns None."""
        self.process.kill()
        self.process.join(10)
        self.here.close()
        with contextlib.suppress(OSError):
            self.errors.unlink()


# -- in a worker -------------------------------------------------------------------------------------------------------


def work(there, device, errors):
    """The process of a worker: gets (seed, barriers), sends phases and then a row, until the parent ends it."""
    file = os.open(errors, os.O_WRONLY)
    os.dup2(file, 2)
    os.dup2(file, 1)
    other = Gpu() if device == "gpu" else Reverse()
    there.send({"ready": other.about})
    while True:
        try:
            task = there.recv()
        except EOFError:
            return
        row = outcome(*task, other, there.send)
        there.send(row)
        if row["outcome"] == "crashed":
            return  # the context of CUDA may be dead


def made(seed, barriers):
    """The kernel of a seed."""
    import generator

    case = generator.kernel(seed, size=SIZES[seed % len(SIZES)])
    if barriers == "grid":
        case = case.with_source(case.source.replace("cuda.syncthreads()", "cuda.cg.this_grid().sync()"))
    return case


def barriers_passed(case):
    """How many barriers of its own each block passes, as the executor's trace has it."""
    import math

    import simt

    trace = simt.Trace()
    case.run(lambda kernel, *launch: simt.run(kernel, *launch, trace=trace, budget=10_000))
    passed = Counter(barrier.block for barrier in trace.barriers)
    return [passed[block] for block in range(math.prod(case.grid))]


def outcome(seed, barriers, other, tell):
    """The row of one kernel; only what the driver does to the process can end it."""
    from generator_case import differences
    from generator_shrink import in_executor

    try:
        tell({"phase": "executor"})
        case = made(seed, barriers)
        about = {"features": ", ".join(sorted(case.features))}
        if barriers == "grid":
            if "this_grid" not in case.source:
                return {"outcome": "no barriers"}
            passed = sorted(barriers_passed(made(seed, "block")))
            if passed[0] != passed[-1]:
                return {"outcome": "left out", "message": f"blocks pass {passed[0]} to {passed[-1]} barriers", **about}
        expected = in_executor(case)
    except Exception as error:
        return {"outcome": "invalid", "message": first_line(error)}
    try:
        tell({"phase": other.name})
        got = other.arrays(case)
    except Exception as error:
        crashed = other.is_crash(error)
        return {"outcome": "crashed" if crashed else "not supported", "message": first_line(error), **about}
    found = differences(expected, got, case.rough)
    if not found:
        return {"outcome": "equal", **about}
    row = {"outcome": "differs", "arrays": found, **place(found[0], expected, got, case.rough), **about}
    row["source"] = str(case)
    tell({"known": row})  # what is asked next may end the process
    return {**row, **second_opinions(case, expected, got, other, tell)}


def place(name, expected, got, rough):
    """Where two runs differ first, and how often."""
    import numpy as np

    a, b = expected[name], got[name]
    if name in rough:
        same = np.isclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True)
    else:
        same = (a == b) | ((a != a) & (b != b))
    index = tuple(int(k) for k in np.argwhere(~same)[0])
    values = {"executor": repr(a[index]), "other": repr(b[index])}
    return {"index": index, "values": values, "different": int((~same).sum()), "of": int(same.size)}


def second_opinions(case, expected, got, other, tell):
    """Who agrees with whom: each is a list of arrays that differ, or the error."""
    from generator_case import differences
    from generator_shrink import is_valid

    def asked(name, question):
        try:
            tell({"phase": name})
            return question()
        except Exception as error:
            return first_line(error)

    return {
        "valid": asked("validity", lambda: is_valid(case)),
        "compiled engine and executor": asked(
            "compiled engine", lambda: differences(expected, CompiledEngine().arrays(case), case.rough)
        ),
        "second run and first": asked("second run", lambda: differences(got, other.arrays(case), case.rough)),
        "not optimised and executor": asked(
            "not optimised", lambda: differences(expected, other.arrays(case, opt=False), case.rough)
        ),
    }


def first_line(error):
    """Type and message in one line; numba's first line alone says only where it was."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(lines[:3])}"[:400]


class Gpu:
    """numba.cuda on the GPU."""

    name = "gpu"

    def __init__(self):
        import numba
        from numba import cuda

        self.cuda = cuda
        gpu = cuda.get_current_device()
        label = gpu.name.decode() if isinstance(gpu.name, bytes) else str(gpu.name)
        self.about = {"gpu": label, "numba": numba.__version__}
        with contextlib.suppress(Exception):
            from importlib.metadata import version

            self.about["numba-cuda"] = version("numba-cuda")
        cuda.current_context()
        self.tell_nvvm()
        self.about["fma"] = self.fused()

    @staticmethod
    def tell_nvvm():
        """NVVM shall not fuse products and sums."""
        from numba.cuda.cudadrv import nvvm

        compile_ir = nvvm.compile_ir
        nvvm.compile_ir = lambda ir, **options: compile_ir(ir, **{"fma": False, **options})

    def fused(self):
        """ "on" or "off": what a product and a sum became, compiled as kernels with floats are."""
        import numpy as np

        x = np.array([PRODUCT[2]])
        unfused(self.cuda.jit(product_and_sum))[1, 1](x, *PRODUCT[:2])
        return {PRODUCT[3]: "off", PRODUCT[4]: "on"}.get(float(x[0]), f"neither: {x[0]!r}")

    def compiled(self, case, opt=True):
        """The kernel, as it is to be compiled."""
        from generator_case import HEADER

        kernel = case.function(HEADER.replace("from simt import cuda", "from numba import cuda"))
        if not opt:
            kernel = self.cuda.jit(kernel.py_func, opt=False)
        return unfused(kernel) if "float" in case.source[len(HEADER) :] else kernel

    def arrays(self, case, opt=True):
        """The arrays after a run."""
        kernel = self.compiled(case, opt)

        def launch(_, grid, block, arguments, shared_bytes):
            kernel[grid, block, 0, shared_bytes](*arguments)
            self.cuda.synchronize()

        return case.run(launch)

    @staticmethod
    def is_crash(error):
        """Whether it came from the driver, after which the context may be dead; not from the compiler."""
        names = {kind.__name__ for kind in type(error).__mro__}
        return bool(names & {"CudaAPIError", "CudaDriverError", "CUDAError"}) or "CUDA_ERROR" in str(error)


def unfused(kernel):
    """A kernel of numba-cuda that is compiled without LTO, whose linker would fuse what NVVM did not.

    ``@cuda.jit(lto=False)`` would not do: what jit returns when it is called without a function forgets ``lto``.
    """
    kernel.targetoptions["lto"] = False
    return kernel


#: two factors and a term: their sum with both operations rounded, and with one rounding
PRODUCT = (0.7, 0.388671875, float.fromhex("0x1.333334p-2"), 0.5720703244209289, 0.572070324420929)


def product_and_sum(x, a, b):
    x[0] += a * b


class CompiledEngine:
    """Our compiled engine: a witness where the GPU and the executor disagree."""

    @staticmethod
    def arrays(case):
        from simt import compiled

        return case.run(lambda kernel, *launch: compiled.run(kernel, *launch, checked=True))


class Reverse:
    """The executor with its threads in reverse, in the place of the GPU where there is none."""

    name = "executor in reverse"
    about = "no GPU: the executor in reverse in its place"

    @staticmethod
    def arrays(case, opt=True):
        from generator_shrink import in_executor

        return in_executor(case, "reverse")

    @staticmethod
    def is_crash(error):
        return False


if __name__ == "__main__":
    sys.exit(main())
