"""Peers at their best: what slows another library down is taken out of the environment, and what it runs is written
down.

subprocess.run(command, env=peers.environment())    # libraries read their variables when they are loaded
peers.handicaps()                                   # {variable: what it does}, of those that are set here
peers.matmul_seconds(512)                           # NumPy's matrix product, without them
peers.what_runs()                                   # the BLAS that NumPy has loaded, its kernels and threads
"""

import contextlib
import os
import re
import subprocess
import sys

import numpy as np

from .timing import times

#: Variables that make a library choose older kernels, or fewer, than it would by itself.
HANDICAPS = {
    "OPENBLAS_CORETYPE": "OpenBLAS takes the kernels of the processor that is named, whatever this one can do",
    "OPENBLAS_L2_SIZE": "OpenBLAS cuts its blocks for a cache of that size",
    "MKL_ENABLE_INSTRUCTIONS": "MKL uses no newer instructions than these",
    "MKL_DEBUG_CPU_TYPE": "MKL takes the kernels of another processor",
    "ONEDNN_MAX_CPU_ISA": "oneDNN uses no newer instructions than these",
    "DNNL_MAX_CPU_ISA": "oneDNN uses no newer instructions than these",
    "ATEN_CPU_CAPABILITY": "PyTorch uses no newer instructions than these",
    "NPY_DISABLE_CPU_FEATURES": "NumPy's loops do without these instructions",
}


def handicaps():
    """{variable: what it does} of the variables set in this process that slow a peer down."""
    return {name: what for name, what in HANDICAPS.items() if os.environ.get(name)}


def environment(settings=None):
    """The environment for a process in which peers are at their best, with `settings` added."""
    kept = {name: value for name, value in os.environ.items() if name not in HANDICAPS}
    return kept | (settings or {})


def warning():
    """A sentence for a page on which another library is measured, or "" where nothing slows it down."""
    told = _set_here()
    return f"Careful: the peer is slowed down here by {told}. Unset it, and start Python again." if told else ""


def _set_here():
    """The handicaps with their values, in words."""
    return "; ".join(f"{name}={os.environ[name]} ({what})" for name, what in handicaps().items())


def matmul_seconds(n, threads=1, budget=0.3):
    """(least seconds of NumPy's product of two n x n matrices in float32, a sentence): NumPy at its best.

    Where a variable slows it down here, it is timed in a process without it, as it reads them when it is loaded, and
    the sentence says so; elsewhere it is timed here, and the sentence is "". ``budget``: see `times`.
    """
    told = _set_here()
    if told:
        ask = f"from cpulab.measure import peers; print(peers.matmul_seconds({n}, {threads}, {budget})[0])"
        done = subprocess.run(
            [sys.executable, "-c", ask], env=environment(), check=True, stdout=subprocess.PIPE, text=True
        )
        return float(done.stdout), f"NumPy's product was timed in a process of its own, without {told}."
    a, b = np.random.default_rng(0).standard_normal((2, n, n), dtype=np.float32)
    out = np.empty_like(a)
    return times({"": lambda: np.matmul(a, b, out=out)}, budget, threads=threads).best[""], ""


def what_runs():
    """[{library, version, kernels, threads}, ...] of the numerical libraries loaded into this process."""
    found = []
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_info

        for pool in threadpool_info():
            library, kernels = pool["internal_api"], pool.get("architecture")
            found.append(
                {"library": library, "version": pool["version"], "kernels": kernels, "threads": pool["num_threads"]}
            )
    torch = sys.modules.get("torch")
    if torch:
        kernels = torch.backends.cpu.get_cpu_capability()
        threads = torch.get_num_threads()
        found.append({"library": "torch", "version": torch.__version__, "kernels": kernels, "threads": threads})
        found += [{"library": "oneDNN", **said, "threads": threads} for said in [_onednn()] if said]
    return found


_ONEDNN = """
import torch
x = torch.ones(256, 256, dtype=torch.bfloat16)
x @ x
"""


def _onednn():
    """{version, kernels: the instructions oneDNN uses, product: the kernel it takes for one in bfloat16}, as its
    verbose lines say in a process of its own; {} where it says nothing."""
    verbose = environment({"ONEDNN_VERBOSE": "1"})
    done = subprocess.run([sys.executable, "-c", _ONEDNN], env=verbose, capture_output=True, text=True, timeout=120)
    lines = [line.split(",") for line in done.stdout.splitlines() if line.startswith("onednn_verbose")]
    said = {}
    for line in lines:
        text = ",".join(line)
        if match := re.search(r"info,oneDNN v([\d.]+)", text):
            said["version"] = match[1]
        if match := re.search(r"info,cpu,isa:(.*)", text):
            said["kernels"] = match[1]
        if "exec" in line and "matmul" in line:
            said["product"] = line[line.index("matmul") + 1]
    return said
