"""NVIDIA's compute-sanitizer beside our x-ray, on kernels whose fault is known and on right ones: the zoo of tests/zoo.

    python benchmarks/gpu_sanitizer.py --seconds 140                            on a machine with an NVIDIA GPU: the
                                                                                record
    python benchmarks/gpu_sanitizer.py --file build/s.json                      elsewhere, with all that was found
    python benchmarks/gpu_sanitizer.py --file /tmp/s.json --device executor     no GPU: no tool runs, the rest does

Each kernel runs once under each tool (memcheck, racecheck, initcheck, synccheck) and, in a process of its own on the
CPU, under the x-ray. A row is a kernel: its fault (none if it is right), the kinds that the x-ray finds and in which
memory, and for each tool the number of errors with the first message, "clean", or "failed: ..." where it did not run to
its end. Kernels that wait for ever by design are left out.

A fault may kill CUDA's context: kernels that write where they may not, or whose barriers not all threads reach, have a
process of their own; others share one, and what is left when it dies goes to another. ``at_line`` says whether a line
is named that is marked as the fault's.
"""

import argparse
import contextlib
import faulthandler
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for _folder in ("lib", "tests/zoo"):
    sys.path.insert(0, str(ROOT / _folder))
MODULES = (
    "zoo_buggy", "zoo_kinds", "zoo_unset", "zoo_masks", "zoo_chapters", "zoo_protocols", "zoo_turns", "zoo_handshakes",
    "zoo_correct",
)  # fmt: skip
NAME = "gpu_sanitizer"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
LEFT_OUT = "waits-for-ever"
#: faults with which a kernel may kill its context, or never end: each in a process of its own
ALONE = {
    "out-of-bounds", "negative-index", "divergent-barrier", "barrier-after-exit", "divergent-warp-operation",
    "lane-not-in-mask", "inactive-lane-read",
}  # fmt: skip
WRONG_TOGETHER, RIGHT_TOGETHER = 10, 20
STARTING = 45  # seconds that a process may take before its first kernel, and for its end
NO_RECORD = (
    "COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "Error: process didn't",
    "Target application", "Program hit",
)  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--file", type=Path, help="where the results go, as JSON; without, they become the record")
    parser.add_argument("--seconds", type=float, default=140, help="time for all")
    parser.add_argument("--limit", type=int, default=20, help="seconds for one kernel under one tool")
    parser.add_argument("--workers", type=int, default=max(1, min(15, (os.cpu_count() or 2) - 1)))
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--only", choices=("wrong", "right"), help="these kernels only")
    parser.add_argument("--most", type=int, help="at most so many kernels of each fault")
    parser.add_argument("--device", choices=("gpu", "executor"), default="gpu")
    parser.add_argument("--sanitizer", default="compute-sanitizer", help="the program")
    parser.add_argument("--no-lines", action="store_true", help="compile without line numbers")
    parser.add_argument("--child", nargs=2, metavar=("WHAT", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--kernels", nargs="+", default=(), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        return child(*options.child, options)
    os.environ["DLKERNELS_DEVICE"] = "executor"  # the parent only reads the zoo
    run = Run(options)
    run.all()
    print(run.summary())
    if options.file is None:
        from cpulab.measure import record

        print(record(NAME, compact(run.result())))
    return 0


def compact(result):
    """What the record keeps of each kernel: no names that the compiler made, no messages but those of failures."""
    return {**{name: result[name] for name in ("about", "seconds", "processes")}, "rows": [*map(short, result["rows"])]}


def short(row):
    """A row of the record. A tool's answer is "clean", "failed: ...", or a dict with its errors and the kind of the
    first."""
    tools = {}
    for tool, answer in row["tools"].items():
        if isinstance(answer, dict):
            first = answer["first"].partition(" at ")[0]  # behind it stands the kernel's name, as compiled
            answer = {"errors": answer["errors"], "first": first[:80], "at_line": answer.get("at_line", False)}
        elif answer != "clean":
            answer = re.sub(r"\x1b\[\d*m", "", answer)[:160]
        tools[tool] = answer
    xray = {name: row["xray"][name] for name in ("kinds", "spaces", "at_line", "error") if name in row["xray"]}
    return {"kernel": row["kernel"], "fault": row["fault"], "tools": tools, "xray": xray}


def zoo():
    """Name ("module.kernel") -> animal."""
    found = {}
    for module in MODULES:
        zoo_module = import_module(module)
        for animal in (*getattr(zoo_module, "BUGGY", ()), *getattr(zoo_module, "CORRECT", ())):
            if LEFT_OUT not in animal.expected:
                found[f"{module}.{animal.name}"] = animal
    return found


def chosen(options):
    """The animals that the options ask for."""
    seen, found = Counter(), {}
    for name, animal in zoo().items():
        seen[animal.expected] += 1
        if options.only and bool(animal.expected) != (options.only == "wrong"):
            continue
        if options.most is None or seen[animal.expected] <= options.most:
            found[name] = animal
    return found


# -- the parent --------------------------------------------------------------------------------------------------------


class Run:
    """The queue of (tool, kernels), threads that take from it, and the table."""

    def __init__(self, options):
        self.options, self.start, self.lock = options, time.monotonic(), threading.Lock()
        self.animals = chosen(options)
        self.rows = {
            name: {"kernel": name, "fault": sorted(animal.expected), "lines": sorted(animal.lines), "tools": {}}
            for name, animal in self.animals.items()
        }
        self.unattributed, self.problems, self.processes, self.busy = [], [], 0, 0
        self.more = threading.Condition(self.lock)
        self.about = {"sanitizer": self.version(), "device": options.device}
        self.queue = deque(self.parts())

    def left(self):
        return self.options.seconds - (time.monotonic() - self.start)

    def version(self):
        """The program's own words; also whether its initcheck knows shared memory."""
        self.extra = {}
        if self.options.device == "executor" and self.options.sanitizer == "compute-sanitizer":
            return "not used"
        try:
            ask = [self.options.sanitizer, "--help"]
            text = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=False).stdout
            self.known = set(re.findall(r"(--[a-z][a-z-]+)", text))
            if "--initcheck-address-space" in self.known:
                self.extra["initcheck"] = ["--initcheck-address-space", "all"]
            ask[1] = "--version"
            text = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=False).stdout
            return " ".join(line for line in text.splitlines() if "ersion" in line)[:200]
        except (OSError, subprocess.SubprocessError) as error:
            return f"{type(error).__name__}: {error}"

    def parts(self):
        """Kernels that go together, for each tool: what may kill its context alone, then the wrong ones, then the
        right."""
        wrong = [name for name, animal in self.animals.items() if animal.expected and not animal.expected & ALONE]
        alone = [name for name, animal in self.animals.items() if animal.expected & ALONE]
        right = [name for name, animal in self.animals.items() if not animal.expected]
        for size, names in ((1, alone), (WRONG_TOGETHER, wrong), (RIGHT_TOGETHER, right)):
            for start in range(0, len(names), size):
                for tool in self.options.tools:
                    yield tool, names[start : start + size]

    def all(self):
        xray = threading.Thread(target=self.look)
        threads = [threading.Thread(target=self.take, args=(slot,)) for slot in range(self.options.workers)]
        for thread in (xray, *threads):
            thread.start()
        for thread in (xray, *threads):
            thread.join()
        self.save()

    def take(self, slot):
        """A thread: one part after another, until none is left and none can come back."""
        while True:
            with self.more:
                while not self.queue and self.busy and self.left() > 0:
                    self.more.wait(1)
                if not self.queue or self.left() <= 0:
                    return
                tool, names = self.queue.popleft()
                self.busy += 1
            again = []
            try:
                again = self.under(tool, names, slot)
            except Exception as error:  # ours: what the children do is in their files
                self.problems.append(f"{tool} {names[0]} ...: {type(error).__name__}: {error}"[:500])
            with self.more:
                self.busy -= 1
                if again:
                    self.queue.append((tool, again))
                self.save()
                self.more.notify_all()

    def under(self, tool, names, slot):
        """Run kernels under a tool; returns those that did not have their turn."""
        with tempfile.TemporaryDirectory() as folder:
            log, progress = Path(folder) / "log", Path(folder) / "progress"
            command = self.child_command("launch", progress, names)
            if self.about["sanitizer"] != "not used":
                command = [*self.tool_command(tool, log, slot), *command]
            limit = min(STARTING + self.options.limit + 3 * len(names), self.left())
            code, output = run_limited(command, limit, self.options.device)
            steps = read_lines(progress)
            text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else output
        records = parse(text)
        ended = "the time is over" if code is None else f"exit code {code}: {' '.join((text + output)[-300:].split())}"
        if "Timeout (" in output:
            ended = f"not at its end after {self.options.limit} s"
        begun, done = [], {}
        for step in steps:
            if "begin" in step:
                begun.append(step["begin"])
            else:
                done[step["end"]] = step["error"]
        found = {name: [] for name in names}
        for record in records:
            owner = next((n for n in names if re.search(rf"\b{n.rpartition('.')[2]}\b", record["text"])), None)
            if owner is None and len(names) == 1 and begun:
                owner = names[0]
            if owner is None:
                self.unattributed.append({"tool": tool, "text": record["text"][:400], "among": names[:3]})
            else:
                found[owner].append(record)
        tried = begun or names[:1]  # so that what never starts does not go round for ever
        with self.lock:
            self.processes += 1
            for name in tried:
                self.rows[name]["tools"][tool] = self.verdict(name, found[name], done.get(name, ended))
        return [name for name in names if name not in tried]

    def verdict(self, name, records, error):
        if not records:
            return f"failed: {error}"[:400] if error else "clean"
        lines = {int(k) for record in records for k in re.findall(r"zoo_\w+\.py:(\d+)", record["text"])}
        result = {"errors": len(records), "first": records[0]["head"]}
        if lines:
            result |= {"lines": sorted(lines), "at_line": bool(lines & self.animals[name].lines)}
        return result | ({"then": error[:200]} if error else {})

    def child_command(self, what, file, names):
        lines = ["--no-lines"] if self.options.no_lines else []
        limit = str(self.options.limit)
        command = [sys.executable, "-W", "ignore", __file__, "--limit", limit, *lines, "--child", what, str(file)]
        return [*command, "--kernels", *names]

    def tool_command(self, tool, log, slot):
        """compute-sanitizer with its options; each slot has ports of its own, as many run side by side."""
        wanted = {
            "--log-file": str(log), "--print-limit": "2000", "--report-api-errors": "no", "--show-backtrace": "device",
            "--target-processes": "all", "--launch-timeout": "60", "--port": str(49152 + 40 * slot),
            "--max-connections": "20", "--check-exit-code": "no", "--require-cuda-init": "no",
        }  # fmt: skip
        flat = [text for name, value in wanted.items() if name in self.known for text in (name, value)]
        return [self.options.sanitizer, "--tool", tool, *flat, *self.extra.get(tool, ())]

    def look(self):
        """The x-ray, in one process on the CPU."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "xray"
            code, output = run_limited(self.child_command("xray", file, list(self.rows)), self.left(), "executor")
            steps = read_lines(file)
        with self.lock:
            for step in steps:
                self.rows[step.pop("kernel")]["xray"] = step
            if code != 0:
                self.problems.append(f"x-ray: exit code {code}: {output[-500:]}")

    def result(self):
        return {
            "about": self.about,
            "seconds": round(time.monotonic() - self.start, 1),
            "processes": self.processes,
            "summary": self.table(),
            "problems": self.problems,
            "unattributed": self.unattributed[:50],
            "rows": list(self.rows.values()),
        }

    def save(self):
        if self.options.file is not None:
            from cpulab.files import write_text

            write_text(self.options.file, json.dumps(self.result(), indent=1))

    def table(self):
        """For each fault (none: the right kernels) how many kernels, and in how many each finds something."""
        table = {}
        for row in self.rows.values():
            counts = table.setdefault(" or ".join(row["fault"]) or "none", Counter())
            counts["kernels"] += 1
            counts["xray"] += bool(row.get("xray", {}).get("kinds"))
            found = [tool for tool in TOOLS if isinstance(row["tools"].get(tool), dict)]
            counts.update(found)
            counts["any tool"] += bool(found)
            for tool in TOOLS:
                answer = row["tools"].get(tool)
                counts[f"{tool} failed"] += isinstance(answer, str) and answer != "clean"
                counts["not run"] += answer is None and tool in self.options.tools
        return {fault: dict(counts) for fault, counts in sorted(table.items())}

    def summary(self):
        columns = ("kernels", "xray", *TOOLS, "any tool", "not run")
        text = [f"{self.about}, {self.processes} processes, {time.monotonic() - self.start:.0f} s"]
        text.append(f"{'fault':40}" + "".join(f"{column:>11}" for column in columns) + "     failed, by tool")
        for fault, counts in self.table().items():
            failed = "/".join(str(counts[f"{tool} failed"]) for tool in TOOLS)
            text.append(f"{fault:40}" + "".join(f"{counts.get(c, 0):11}" for c in columns) + f"     {failed}")
        for tool in TOOLS:
            answers = [(name, row["tools"].get(tool)) for name, row in self.rows.items()]
            failed = Counter(a[:130] for _, a in answers if isinstance(a, str) and a != "clean")
            text += [f"{tool}, {count} times {message}" for message, count in failed.most_common(4)]
            named = [
                a["at_line"]
                for name, a in answers
                if isinstance(a, dict) and "at_line" in a and self.rows[name]["fault"]
            ]
            if named:
                text.append(f"{tool}: of {len(named)} findings in wrong kernels {sum(named)} name a marked line")
            alarms = [
                (name, a["first"][:90]) for name, a in answers if isinstance(a, dict) and not self.rows[name]["fault"]
            ]
            text += [f"{tool}, in a right kernel: {name}: {first}" for name, first in alarms[:8]]
        wrong = [row for row in self.rows.values() if row["fault"] and not row.get("xray", {}).get("kinds")]
        alarms = [row["kernel"] for row in self.rows.values() if not row["fault"] and row.get("xray", {}).get("kinds")]
        text.append(f"x-ray: silent on {[row['kernel'] for row in wrong][:8]}, false alarms {alarms[:8]}")
        text += [f"problem: {problem}" for problem in self.problems[:5]]
        text += (
            [f"{len(self.unattributed)} records of no known kernel: {self.unattributed[:2]}"]
            if self.unattributed
            else []
        )
        return "\n".join(text)


def parse(log):
    """Records of compute-sanitizer: a line that is not indented, and the indented ones that follow."""
    records, current = [], None
    for line in log.splitlines():
        if not line.startswith("========="):
            continue
        text = line[9:]
        if not text.strip():
            current = None
        elif text.startswith("     "):
            if current:
                current["text"] += "\n" + text.strip()
        elif text.strip().startswith(NO_RECORD):
            current = None
        else:
            current = {"head": text.strip()[:300], "text": text.strip()}
            records.append(current)
    return records


def read_lines(file):
    """The lines of JSON in a file, but for one that was being written when its process died."""
    steps = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with contextlib.suppress(ValueError):
            steps.append(json.loads(line))
    return steps


def run_limited(command, limit, device):
    """Run a command at most ``limit`` seconds: (exit code or None if stopped, its output)."""
    environment = {
        **os.environ, "DLKERNELS_DEVICE": device, "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", "NUMBA_NUM_THREADS": "1",
        "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(max(1, limit))
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it has started
        process.wait()
        output.seek(0)
        return code, output.read()


# -- the children ------------------------------------------------------------------------------------------------------


def child(what, file, options):
    with open(file, "a", encoding="utf-8") as lines:

        def keep(**result):
            print(json.dumps(result), file=lines, flush=True)

        {"launch": launch, "xray": look}[what](options, keep)


def launch(options, keep):
    """Run each kernel once on the device. What the process ends with is the parent's to see."""
    from dlkernels import cuda, device

    if device.name == "gpu":
        cuda.current_context()
        if not options.no_lines:
            jit = cuda.jit
            cuda.jit = lambda function=None, **given: jit(function, **{"lineinfo": True, **given})
    animals = zoo()
    for name in options.kernels:
        animal, error = animals[name], ""
        keep(begin=name)
        faulthandler.dump_traceback_later(options.limit, exit=True)  # from a thread that needs no lock of Python's
        try:
            arguments = animal.make_arguments()
            animal.kernel[animal.grid, animal.block, 0, animal.shared_bytes](*arguments)
            cuda.synchronize()
        except Exception as problem:
            error = f"{type(problem).__name__}: {' | '.join(str(problem).split(chr(10))[:3])}"
        faulthandler.cancel_dump_traceback_later()
        keep(end=name, error=error)
        if "Cuda" in error or "CUDA" in error:
            return  # the context may be dead


def look(options, keep):
    """The x-ray's findings in each kernel."""
    from simt.xray import xray

    animals = zoo()
    for name in options.kernels:
        animal = animals[name]
        try:
            report = xray(animal.kernel, animal.grid, animal.block, animal.shared_bytes)(*animal.make_arguments())
        except Exception as error:
            keep(kernel=name, kinds=[], error=f"{type(error).__name__}: {error}"[:300])
            continue
        lines = {line for finding in report.findings for line in finding.lines}
        spaces = {e.space for finding in report.findings for e in report.expressions if e.array == finding.array}
        kinds = sorted({finding.kind for finding in report.findings})
        first = report.findings[0].message[:300] if report.findings else ""
        keep(kernel=name, kinds=kinds, spaces=sorted(spaces), first=first, at_line=bool(lines & animal.lines))


if __name__ == "__main__":
    sys.exit(main())
