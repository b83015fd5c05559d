"""What a call of an operation on device arrays costs on the host, measured without a GPU.

    python benchmarks/run.py gpu_host

A driver that does nothing (idle_driver.c) stands in for NVIDIA's; numba-cuda, cuda.core and cuda.bindings run as they
do on a GPU, and compile the kernels for one. So a call takes what Python takes: checks, results, views, launches. What
a real driver takes for a launch, for memory and for copies comes on top: these are counted.

kept      as dlkernels does it with DLKERNELS_LAUNCH=kept (lib/dlkernels/launches.py)
numba     the same calls with numba-cuda's own launches and arrays, as by default

Both have to pass the same to their kernels.

`seconds` are those of the fastest of many short rounds, in which both take turns: other programs only add to them.
`parts` says where the time goes by cProfile, which makes short functions longer than they are: fractions of the time.
"""

import cProfile
import ctypes
import json
import os
import pstats
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
ROUNDS, SAMPLE = 150, 4  # calls of a round
COUNTS = ("launches", "allocations", "allocations from the pool", "copies to the device", "copies to the host")
#: Functions of which one is never called by another: (end of the file's name, function) -> part.
PARTS = {
    ("launches.py", "launch"): "launches",
    ("launches.py", "device_array"): "new arrays",
    ("launches.py", "view"): "views",
    ("launches.py", "sent"): "constants",
    ("implementations.py", "_key"): "what was checked before",
    ("driver.py", "get_current_context"): "look-ups",
    ("api.py", "to_device"): "copies to the device",
    ("dispatcher.py", "__call__"): "launches by numba-cuda",
    ("api.py", "device_array"): "new arrays by numba-cuda",
}


def calls():
    """Name -> the call, on device arrays that are small, as only the host's time counts."""
    import numpy as np

    import dlkernels as dl
    from dlkernels import cuda

    def new(*shape, dtype=np.float32):
        return cuda.to_device(np.zeros(shape, dtype))

    x, y, weight, square = new(64, 256), new(64, 256), new(256), new(256, 256)
    pictures, kernels, q = new(2, 16, 14, 14), new(32, 16, 3, 3), new(2, 4, 128, 64)
    halves = new(128, 128, dtype=np.float16)
    return {
        "add": lambda: dl.add(x, y),
        "relu": lambda: dl.relu(x),
        "bias_activation": lambda: dl.bias_activation(x, weight, "gelu"),
        "sum": lambda: dl.sum(x),
        "softmax": lambda: dl.softmax(x),
        "layer_norm": lambda: dl.layer_norm(x, weight, weight),
        "matmul": lambda: dl.matmul(x, square),
        "matmul_half": lambda: dl.matmul_half(halves, halves),
        "linear": lambda: dl.linear(x, square, weight, "relu"),
        "conv2d": lambda: dl.conv2d(pictures, kernels, padding=1),
        "scaled_dot_product_attention": lambda: dl.scaled_dot_product_attention(q, q, q, is_causal=True),
    }


def benchmark(quick):
    from simt.xray import Unavailable

    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not sys.platform.startswith("linux") or compiler is None or find_spec("numba_cuda") is None:
        raise Unavailable("It needs Linux, a C compiler and the extra: pip install -e '.[gpu]'.")
    with tempfile.TemporaryDirectory() as folder:
        environment = with_idle_driver(folder, compiler)
        command = [sys.executable, __file__, *(["--quick"] if quick else [])]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    for name, ways in found["calls"].items():
        print(f"{name:30}", *(f"{way} {ways[way]['seconds'] * 1e6:7.1f} us" for way in ways), ways["kept"]["counts"])
    return found


def with_idle_driver(folder, compiler="cc"):
    """The environment of a process that takes the driver that does nothing, compiled into `folder`, for NVIDIA's."""
    library = Path(folder) / "libcuda.so.1"
    command = [compiler, "-O2", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", library]
    subprocess.run([*command, HERE / "idle_driver.c"], check=True)
    paths = [str(HERE.parent / "lib"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (folder, os.environ.get("LD_LIBRARY_PATH")))),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "DLKERNELS_DEVICE": "gpu",
        "DLKERNELS_LAUNCH": "kept",
    }


def counted(call):
    """What a call asks of the driver."""
    driver = ctypes.CDLL("libcuda.so.1")
    before = [driver.count(kind) for kind in range(len(COUNTS))]
    call()
    return {name: driver.count(kind) - before[kind] for kind, name in enumerate(COUNTS)}


def passed(call):
    """What each launch of a call passes to the driver: grid, block, shared memory and arguments, without addresses."""
    import numba.cuda.dispatcher as dispatcher

    from dlkernels import launches

    seen = []

    def value(x):
        number = getattr(x, "value", x)
        return type(x).__name__, "address" if type(x) is int and number > 1 << 30 else number

    def noting(start):
        def noted(stream, configuration, kernel, *arguments):
            seen.append((configuration.grid, configuration.block, configuration.shmem_size, *map(value, arguments)))
            return start(stream, configuration, kernel, *arguments)

        return noted

    ours = patch.object(launches, "start", noting(launches.start))
    with ours, patch.object(dispatcher, "launch", noting(dispatcher.launch)):
        call()
    return seen


def seconds_of(call):
    start = time.perf_counter()
    for _ in range(SAMPLE):
        call()
    return (time.perf_counter() - start) / SAMPLE


def parts_of(call):
    """Part -> its fraction of the time."""
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(100 * SAMPLE):
        call()
    profile.disable()
    stats, found = pstats.Stats(profile), {}
    for (file, _, function), (_, _, _, together, _) in stats.stats.items():
        part = PARTS.get((Path(file).name, function))
        if part is not None:
            found[part] = found.get(part, 0) + together / stats.total_tt
    for inner, outer in (("launches by numba-cuda", "launches"), ("new arrays by numba-cuda", "new arrays")):
        if inner in found and outer in found:
            found[outer] = max(0, found[outer] - found[inner])
    return found | {"all else": 1 - sum(found.values())}


def measure(quick):
    """The process with the driver that does nothing: one object of JSON."""
    from dlkernels import launches

    warnings.simplefilter("ignore")  # of small grids
    found, rounds = {}, 20 if quick else ROUNDS
    for name, call in calls().items():
        ways, samples, arguments = {}, {"kept": [], "numba": []}, []
        for way in samples:
            launches.QUICK = way == "kept"
            call()  # compiles
            call()  # keeps
            ways[way] = {"counts": counted(call)}
            arguments.append(passed(call))
        if arguments[0] != arguments[1]:
            raise AssertionError(f"{name} passes {arguments[0]} to its kernels; numba-cuda passes {arguments[1]}")
        for turn in range(rounds):
            for way in sorted(samples, reverse=turn % 2):
                launches.QUICK = way == "kept"
                samples[way].append(seconds_of(call))
        for way in samples:
            launches.QUICK = way == "kept"
            ways[way] |= {"seconds": min(samples[way]), "parts": parts_of(call)}
        found[name] = ways
    print(json.dumps({"calls": found}))


if __name__ == "__main__":
    measure("--quick" in sys.argv)
