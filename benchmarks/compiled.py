"""What the compiler makes of every GPU kernel, for three architectures: registers, spills, instruction mix.

    python benchmarks/run.py compiled           recorded in results/compiled.json; takes two minutes, needs no GPU
    python benchmarks/run.py compiled --quick   the matrix product for one architecture, not recorded

No times: these are counts of machine code. Pages show them where the compiler (`make gpu`) is not installed;
tests/measure/test_machine_code.py compares the record with the compiler where it is.
"""

import importlib.metadata

import stale

from cpulab.measure.machine_code import ARCHITECTURES
from dlkernels import implementations
from dlkernels.convolution.gpu_flat import FLAT
from dlkernels.matrix.gpu_local import COUNTS, TILES
from dlkernels.matrix.gpu_signed import SIGNED
from simt.xray import Unavailable, available, compiled
from simt.xray.occupancy import capability

COMPILER = ("numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm")


def rungs():
    """Every GPU rung that names its kernels, and the kernels that the book compares them with."""
    rungs = [rung for rung in implementations.everything() if rung.device == "gpu" and rung.kernels]
    return [*rungs, SIGNED, *TILES.values(), COUNTS, FLAT]


def cases():
    """(rung, number of its kernel, kernel, signature, architecture) of all that is recorded: float32 and narrower."""
    for rung in rungs():
        for number, (kernel, signatures) in enumerate(rung.kernels):
            for arch in ARCHITECTURES:
                if "float64" not in signatures[0] and capability(arch) >= (rung.capability or (0, 0)):
                    yield rung, number, kernel, signatures[0], arch


def versions():
    """The packages that decide what the machine code looks like."""
    there = {}
    for name in COMPILER:
        try:
            there[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            there[name] = None
    return there


def benchmark(quick=False, kept=None):
    if not available():
        raise Unavailable("The compiler for NVIDIA GPUs is not installed here: `make gpu` installs it.")
    views, before = [], {}
    if kept and kept["compiler"] == versions():
        before = stale.known(kept["views"], lambda view: (view["rung"], view["number"], view["arch"]))
    for rung, number, kernel, signature, arch in cases():
        if not quick or (arch == "sm_80" and rung in implementations.of("matmul", "gpu")):
            made = stale.made_of(kernel)
            if kept and (row := stale.again((rung.name, number, arch), made, before)):
                views.append(row)
                continue
            view = compiled(kernel, signature, arch)
            views.append({"rung": rung.name, "number": number, **view.to_dict(), "made_of": made})
            print(
                f"{arch}  {rung.name:<32}{view.registers:>4} registers  {view.main_loop.total:>5} instructions "
                f"in the main loop, {view.main_loop.ffma_share:.0%} FFMA",
                flush=True,
            )
    return {"compiler": versions(), "views": views}
