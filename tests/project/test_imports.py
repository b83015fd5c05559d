"""What an import loads: no engine before a launch uses it, no plots, nothing of the packages above."""

import os
import subprocess
import sys

import pytest

UNUSED = (
    "numba.cuda",
    "simt.compiled",
    "simt.xray",
    "simt.proof",
    "z3",
    "coursework",
    "cpulab",
    "training",
    "matplotlib",
    "psutil",
    "IPython",
)
LAUNCH = """
import numpy as np
from simt import cuda

@cuda.jit
def fill(x):
    x[cuda.grid(1)] = 1

x = np.zeros({blocks} * 64)
fill[{blocks}, 64](x)
assert x.all()
"""


def loaded_by(code, tmp_path):
    """The modules that a fresh process has loaded when it has run ``code``."""
    script = tmp_path / "script.py"  # a kernel's source is read from its file
    script.write_text(f"{code}\nimport sys\nprint(*sys.modules)")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DLKERNELS_")}
    environment["DLKERNELS_DEVICE"] = "executor"  # also where there is a GPU
    process = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=environment)
    return set(process.stdout.split())


@pytest.mark.rotates
@pytest.mark.parametrize(
    "code",
    ["import dlkernels", "from simt import cuda", LAUNCH.format(blocks=2)],
    ids=["dlkernels", "simt", "a small launch"],
)
def test_nothing_is_loaded_that_is_not_used(code, tmp_path):
    modules = loaded_by(code, tmp_path)
    assert "simt.executor.launch" in modules
    assert not modules & set(UNUSED)


def test_the_xray_needs_the_executor_only(tmp_path):
    assert not loaded_by("from simt.xray import xray", tmp_path) & set(UNUSED) - {"simt.xray"}


def test_no_grammar_is_made_on_the_way_to_notebooks(tmp_path):
    """It would take two seconds of each run of pytest here, and of each `make check`."""
    modules = loaded_by("import coursework.build", tmp_path)
    assert "nbformat" in modules
    assert not modules & {"lark", "rfc3987_syntax"}


def test_a_large_launch_loads_the_compiled_engine(tmp_path):
    assert "simt.compiled" in loaded_by(LAUNCH.format(blocks=40_000), tmp_path)


def test_a_ladder_is_asked_for_without_the_other_folders(tmp_path):
    """A measurement asks for one, in the middle of somebody's work (convolution/choose.py)."""
    asked = "import dlkernels.sparse\nassert dlkernels.implementations.of('spmv', 'cpu')"
    modules = loaded_by(asked, tmp_path)
    assert "dlkernels.sparse" in modules
    assert "dlkernels.attention" not in modules


def test_numba_cuda_is_asked_only_where_there_is_a_driver(monkeypatch):
    """On a machine with the gpu extra and without a GPU it would take a third of a second of each start."""
    from dlkernels import device

    asked = []
    monkeypatch.setattr(device.importlib, "import_module", lambda name: asked.append(name))
    monkeypatch.delenv("NUMBA_CUDA_DRIVER", raising=False)

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(device.ctypes, "CDLL", missing)
    assert not device._gpu_found()
    assert not asked
    monkeypatch.setattr(device.ctypes, "CDLL", lambda name: object())
    device._gpu_found()
    monkeypatch.setattr(device.ctypes, "CDLL", missing)
    monkeypatch.setenv("NUMBA_CUDA_DRIVER", "/somewhere/libcuda.so")
    device._gpu_found()
    assert asked == ["numba.cuda"] * 2
