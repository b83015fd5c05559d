"""Two ways to run a random kernel that owe nothing to the executor: numba's simulator, and numba's compiler thread by
thread."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import generator
import numpy as np
from generator_case import HEADER

#: Features of kernels whose threads do not meet: each thread can be run alone.
FLAT = frozenset(
    ("loops", "while", "leave", "return", "tuples", "floats", "changing types", "device functions", "local arrays")
)
#: What numba's simulator knows.
PLAIN = frozenset(("barriers", "atomics", "idioms", "loops", "while", "leave", "return", "tuples", "floats", "device functions", "local arrays", "3-D"))  # fmt: skip


def one_thread(case):
    """The kernel as a Python function of a thread's place, its ``cuda`` names replaced: (source, name); None if some is
    left."""
    text = HEADER.replace("from simt import cuda\n", "from numba import njit\n") + case.source[len(HEADER) :]
    sizes = dict(zip("xyz", zip(case.block, case.grid, strict=True), strict=True))
    for axis, (threads, blocks) in sizes.items():
        text = text.replace(f"cuda.threadIdx.{axis}", f"_t{axis}").replace(f"cuda.blockIdx.{axis}", f"_b{axis}")
        text = text.replace(f"cuda.blockDim.{axis}", f"int32({threads})").replace(
            f"cuda.gridDim.{axis}", f"int32({blocks})"
        )
    text = text.replace("cuda.grid(1)", f"(_bx * {case.block[0]} + _tx)")
    text = text.replace("cuda.gridsize(1)", f"int64({case.block[0] * case.grid[0]})")
    text = re.sub(r"cuda.local.array\((\d+), (\w+)\)", r"np.empty(\1, np.\2)", text)
    text = re.sub(r"cuda.const.array_like\((\w+)\)", r"\1", text)
    text = re.sub(r"@cuda.jit(\(device=True\))?", "@njit(error_model='numpy')", text)
    text = text.replace("def kernel(", "def kernel(_tx, _ty, _tz, _bx, _by, _bz, ")
    functions = text.partition("def kernel")[0]
    return None if "cuda." in text or re.search(r"_[tb][xyz]", functions) else text


def compiled_alone(case):
    """The arrays after every thread has run by itself, compiled by numba. None where the kernel asks for more."""
    text = one_thread(case)
    if text is None:
        return None
    namespace = {"__name__": "random_kernel"}
    exec(compile(text, "<random kernel, one thread>", "exec"), namespace)
    arguments = case.fresh()
    for block in np.ndindex(case.grid[::-1]):
        for thread in np.ndindex(case.block[::-1]):
            place = [np.int32(k) for k in (*thread[::-1], *block[::-1])]
            namespace["kernel"](*place, *arguments)
    return {n: a for n, a in zip(case.names, arguments, strict=True) if isinstance(a, np.ndarray)}


def simulated(seeds):
    """[arrays after the launch] of plain kernels in numba's own simulator, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        command = [sys.executable, "-W", "ignore", __file__, folder, json.dumps(list(seeds))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        results = []
        for seed in seeds:
            with np.load(Path(folder) / f"{seed}.npz") as file:
                results.append(dict(file))
        return results


def simulate(folder, seeds):
    """In the process of the simulator."""
    header = HEADER.replace("from simt import cuda", "from numba import cuda")
    header = header.replace(
        "from numba import float32, float64, int32, int64, uint32\n", "from numpy import float64, int64\n"
    )
    for seed in seeds:
        case = generator.kernel(seed, PLAIN, plain=True)
        case = case.with_source(re.sub(r"array\(0, (\w+)\)", r"array(0, np.dtype('\1'))", case.source))
        arguments = case.fresh()
        case.function(header)[case.grid, case.block, 0, case.shared_bytes](*arguments)
        arrays = {n: a for n, a in zip(case.names, arguments, strict=True) if isinstance(a, np.ndarray)}
        np.savez(Path(folder) / f"{seed}.npz", **arrays)


if __name__ == "__main__":
    simulate(sys.argv[1], json.loads(sys.argv[2]))
