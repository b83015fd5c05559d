"""A kernel under Oclgrind, a simulator that watches each access: races, wrong indices, barriers that not all reach.

    found = findings("race.cl", "shift", 32, 8, x, out, Local(8))
    [f"{one.kind} in line {one.line}" for one in found]

Oclgrind (Price and McIntosh-Smith, Oclgrind: An Extensible OpenCL Device Simulator, IWOCL 2015) stands in for the
OpenCL of a whole process. So a kernel runs in a process of its own, which is ended after a while. It is slow: small
sizes.
"""

import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from .host import INSTALL, Unavailable, device, named

KINDS = {
    r"(Read-write|Write-write) data race": "data race",
    r"Invalid (read|write)": "out of bounds",
    r"Work-group divergence": "divergent barrier",
    r"Uninitialized": "unset memory",
}
PLACE = re.compile(r"At line (\d+) \(column \d+\) of (.+?):")


@dataclass(frozen=True)
class Local:
    """Local memory as an argument: so many elements."""

    count: int
    dtype: str = "float32"


@dataclass(frozen=True)
class Finding:
    """What Oclgrind says of a kernel. kind: one of KINDS' values, or its own words; line: of the source; other: that of
    the second access of a race, or None; file: of both; message: Oclgrind's, as it came first."""

    kind: str
    kernel: str
    line: int
    other: int | None
    file: str
    message: str = field(compare=False)


def installed():
    """Whether Oclgrind is there."""
    return shutil.which("oclgrind") is not None


def findings(source, kernel, work_items, group, *arguments, limit=120, **macros):
    """Run a kernel once under Oclgrind: a list of `Finding`, one for each kind and line.

    source: as for `Device.program`, one or a tuple. work_items, group: as for `Kernel`. arguments: NumPy arrays, which
    are copied, numbers, `Local`. limit: seconds. Raises `Unavailable`, RuntimeError with what the process said where
    the kernel did not run, TimeoutError.
    """
    sources = source if isinstance(source, tuple) else (source,)
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job"
        job.write_bytes(pickle.dumps((sources, macros, kernel, work_items, group, arguments)))
        found = watched([sys.executable, "-m", "opencl.oclgrind", str(job)], limit)
    if len(sources) > 1:
        return found
    return [replace(finding, file=named(sources[0])[0]) for finding in found]  # Oclgrind calls it input.cl


def watched(command, limit=120):
    """Run a command under Oclgrind, such as a Python script that uses `opencl`: its findings. Raises as `findings`."""
    if not installed():
        raise Unavailable(f"Oclgrind is not installed. To install it: {INSTALL}")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYOPENCL_NO_CACHE": "1",  # a program that was kept has no lines
            "PYTHONWARNINGS": "ignore",
        }
        environment.pop("DLKERNELS_OPENCL", None)
        try:
            done = subprocess.run(
                ["oclgrind", "--data-races", "--log", str(log), *command],
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"Under Oclgrind it took longer than {limit} seconds. Take a smaller size.") from None
        if done.returncode:
            raise RuntimeError(f"Under Oclgrind the program failed:\n{done.stderr.strip() or done.stdout.strip()}")
        return parsed(log.read_text(errors="replace") if log.is_file() else "")


def parsed(log):
    """The findings of a log of Oclgrind: the first of each kind, kernel and line."""
    found = {}
    for message in re.split(r"\n(?=\S)", f"\n{log.strip()}"):
        kernel = re.search(r"\n\s+Kernel:\s+(\w+)", message)
        places = PLACE.findall(message)
        if not kernel or not places:
            continue
        head = message.strip().splitlines()[0]
        kind = next((kind for words, kind in KINDS.items() if re.match(words, head)), head)
        line, *rest = [int(number) for number, _ in places]
        finding = Finding(kind, kernel[1], line, rest[0] if rest else None, places[0][1], message.strip())
        both = kind, kernel[1], *sorted((line, finding.other or line))  # the order of two accesses is chance
        found.setdefault(both, finding)
    return list(found.values())


def _run(path):
    """In the process that Oclgrind watches: the kernel, once."""
    sources, macros, kernel, work_items, group, arguments = pickle.loads(Path(path).read_bytes())
    opencl = device()
    passed = [
        opencl.array(x)
        if isinstance(x, np.ndarray)
        else opencl.local(x.count, x.dtype)
        if type(x).__name__ == "Local"
        else x
        for x in arguments
    ]
    getattr(opencl.program(*sources, **macros), kernel)(work_items, group, *passed).wait()


if __name__ == "__main__":
    try:
        _run(sys.argv[1])
    except Exception as error:  # a kernel that does not compile, or arguments that do not fit
        sys.exit(f"{type(error).__name__}: {error}")
