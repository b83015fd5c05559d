"""GPU kernels seen from two more sides: numba's own simulator, and the compiler for real architectures."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dlkernels import implementations, layouts
from simt.xray import available, compiled

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


def run_elsewhere(device, path, *others):
    program = Path(__file__).with_name("gpu_results.py")
    done = subprocess.run(
        [sys.executable, program, path, *others],
        env={**os.environ, "DLKERNELS_DEVICE": device, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with np.load(path) as saved:
        return dict(saved)


def test_the_simulator_of_numba_agrees(tmp_path):
    """The same kernels, threads and data: the executor and numba's simulator must give the same arrays."""
    theirs = run_elsewhere("simulator", tmp_path / "simulator.npz")
    ours = run_elsewhere("executor", tmp_path / "executor.npz", tmp_path / "simulator.npz")
    assert ours.keys() == {name for name, result in theirs.items() if result.size}
    compared = {name.split()[0] for name, result in theirs.items() if result.size}
    for operation in {row.operation for row in implementations.everything() if row.device == "gpu"}:
        names = {row.name for row in implementations.of(operation, "gpu")}
        assert names & compared or operation == "matmul_half", f"the simulator ran no rung of {operation}"
    for name, expected in theirs.items():
        if expected.size:
            # the simulator computes math.exp in double precision where a GPU and the executor use single
            np.testing.assert_allclose(ours[name], expected, rtol=1e-6, atol=1e-6, err_msg=name)


def compilations():
    """(row, kernel, signature, architecture). The rungs that users get on all architectures; the others on one, and on
    the rest of them at night. Double precision too where the kernel names it first."""
    for row in implementations.everything():
        for kernel, signatures in row.kernels:
            for signature in signatures:
                for arch in ARCHITECTURES:
                    usual = "float64" not in signature and (row.public or arch == "sm_80")
                    marks = [] if usual else [pytest.mark.slow]
                    yield pytest.param(row, kernel, signature, arch, id=f"{row.name}-{signature}-{arch}", marks=marks)


@pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
@pytest.mark.parametrize(("row", "kernel", "signature", "arch"), list(compilations()))
def test_compiles_for_real_gpus_without_spills(row, kernel, signature, arch):
    if row.capability and arch < "sm_{}{}".format(*row.capability):
        pytest.skip(f"needs compute capability {row.capability}")
    view = compiled(kernel, signature, arch)
    assert view.registers > 0
    assert not view.spills, f"{view.spill_store_bytes} bytes spilled"
    if row.name.endswith("_wide") and row.operation in ("add", "axpy") and "float32" in signature:
        assert view.mix["LDG.128"], "load4 did not become a 16-byte load"
        assert view.mix["STG.128"], "store4 did not become a 16-byte store"


@pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
@pytest.mark.parametrize(("kernel", "signature"), layouts.KERNELS)
def test_copies_compile_for_real_gpus(kernel, signature):
    assert not compiled(kernel, signature, "sm_75").spills
