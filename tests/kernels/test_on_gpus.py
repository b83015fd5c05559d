"""GPU kernels seen from two more sides: numba's own simulator, and the compiler for real architectures."""

import functools
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cpulab.measure import machine_code, recorded
from dlkernels import implementations, layouts
from simt.xray import available, compiled

pytestmark = pytest.mark.rotates

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
#: Rungs with operations of a whole warp, or of the grid, which the simulator does not have.
BY_WARPS = {
    "attention_backward_register_tiles", "attention_backward_threads", "attention_half_tensor_cores",
    "attention_register_tiles", "attention_shared_tiles", "attention_three_kernels", "conv2d_backward_implicit_gemm",
    "conv2d_half_tensor_cores", "cumsum_look_back", "decode_split_gpu", "decode_warps",
    "layer_norm_backward_block_per_row", "layer_norm_backward_warp_per_row", "layer_norm_block_per_row",
    "layer_norm_warp_per_row", "log_softmax_backward_block_per_row", "log_softmax_backward_warp_per_row",
    "log_softmax_block_per_row", "log_softmax_warp_per_row", "lstm_batch_parallel", "lstm_persistent",
    "matmul_half_ldmatrix", "matmul_half_pipelined", "matmul_half_tensor_cores", "rms_norm_backward_block_per_row",
    "rms_norm_backward_warp_per_row", "rms_norm_block_per_row", "rms_norm_warp_per_row",
    "softmax_backward_block_per_row", "softmax_backward_warp_per_row", "softmax_block_per_row",
    "softmax_warp_per_row", "sum_grid_stride", "sum_last_block", "sum_shuffle",
}  # fmt: skip


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


@pytest.mark.slow
def test_the_simulator_of_numba_agrees(tmp_path):
    """The same kernels, threads and data: the executor and numba's simulator must give the same arrays."""
    theirs = run_elsewhere("simulator", tmp_path / "simulator.npz")
    ours = run_elsewhere("executor", tmp_path / "executor.npz", tmp_path / "simulator.npz")
    assert ours.keys() == {name for name, result in theirs.items() if result.size}
    assert {name.split()[0] for name, result in theirs.items() if not result.size} == BY_WARPS
    for name, expected in theirs.items():
        if expected.size:
            # the simulator computes math.exp in double precision where a GPU and the executor use single
            np.testing.assert_allclose(ours[name], expected, rtol=1e-6, atol=1e-6, err_msg=name)


def compilations():
    """(row, number of its kernel, signature, architecture). All for the architecture that pages show; further
    signatures of the rungs that users get for one in turn; all the rest at night."""
    for row in implementations.everything():
        for number, (_, signatures) in enumerate(row.kernels):
            for turn, signature in enumerate(signatures):
                for arch in ARCHITECTURES:
                    further = row.public and turn > 0
                    usual = arch == (ARCHITECTURES[turn % len(ARCHITECTURES)] if further else "sm_80")
                    marks = [] if usual and "float64" not in signature else [pytest.mark.slow]
                    yield pytest.param(row, number, signature, arch, id=f"{row.name}-{signature}-{arch}", marks=marks)


#: Kernels of the pages that use local memory, which is what they are there to show.
SHOWN_WITH_LOCAL = {"register_tile_12": "spills", "register_tile_16": "an array too large for registers", "local_counts": "an index at run time"}  # fmt: skip


@pytest.mark.quick
def test_no_recorded_kernel_but_those_that_show_it_uses_local_memory():
    views = recorded("compiled").data["views"]
    assert {view["rung"] for view in views if view["stack_bytes"] or view["spill_store_bytes"]} == set(SHOWN_WITH_LOCAL)


def with_atomics():
    """The rungs whose machine code has atomics, and those that say so."""
    views = recorded("compiled").data["views"]
    found = {view["rung"] for view in views if any(kind.startswith("ATOM") for kind in view["mix"]["counts"])}
    return [row for row in implementations.everything() if row.device == "gpu" and (row.flushes or row.name in found)]


@pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in with_atomics()])
def test_a_rung_that_adds_floats_by_atomics_says_what_they_lose(row):
    """The instruction has it in its name: what it flushes to zero (FTZ), a GPU loses, and a test must allow for."""
    listings = [compiled(kernel, signatures[0], "sm_80").sass for kernel, signatures in row.kernels]
    assert any(".ADD.F32.FTZ" in listing for listing in listings) == row.flushes
    assert not row.flushes or implementations.OPERATIONS[row.operation].examples.terms, (
        "how many, the examples must say"
    )


@functools.cache
def same_compiler():
    """Whether the compiler here is the one that made the record of compiled views."""
    benchmarks = str(Path(__file__).resolve().parents[2] / "benchmarks")
    sys.path.insert(0, benchmarks)
    try:
        return importlib.import_module("compiled").versions() == recorded("compiled").data["compiler"]
    finally:
        sys.path.remove(benchmarks)


def but_integers(instructions):
    """Counts without those of integers: numba orders sets by addresses in memory, and the compiler then writes an index
    in one of two ways now and then (MOV, IADD3 for SHF)."""
    whole = ("IADD", "IMAD", "IMNMX", "ISETP", "LEA", "LOP3", "MOV", "PLOP3", "PRMT", "SEL", "SHF")
    return {kind: n for kind, n in instructions["counts"].items() if not kind.removeprefix("U").startswith(whole)}


def alike(kept, now):
    """Whether a recorded view is of the code that is compiled now."""
    kept, now = (view.to_dict() for view in (kept, now))
    for part in ("mix", "main_loop"):
        old, new = kept.pop(part), now.pop(part)
        if but_integers(old) != but_integers(new) or abs(old["total"] - new["total"]) > 0.01 * old["total"]:
            return False
    return kept == now


@pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
@pytest.mark.parametrize(("row", "number", "signature", "arch"), list(compilations()))
def test_compiles_for_real_gpus_without_spills(row, number, signature, arch):
    if row.capability and arch < "sm_{}{}".format(*row.capability):
        pytest.skip(f"needs compute capability {row.capability}")
    kernel, signatures = row.kernels[number]
    view = compiled(kernel, signature, arch)
    assert view.registers > 0
    if signature == signatures[0] and "float64" not in signature and same_compiler():
        kept = machine_code(row, arch, number, live=False)
        again = "record again: python benchmarks/run.py compiled"
        assert kept.registers == view.registers, again
        if arch == "sm_80":  # what pages show; their instructions take longer to read than to compile
            assert alike(kept, view), (again, kept.to_dict(), view.to_dict())
    assert not view.spills, f"{view.spill_store_bytes} bytes spilled"
    assert not view.stack_bytes, f"{view.stack_bytes} bytes of local memory: an array did not fit into registers"
    if row.name.endswith("_wide") and row.operation in ("add", "axpy") and "float32" in signature:
        assert view.mix["LDG.128"], "load4 did not become a 16-byte load"
        assert view.mix["STG.128"], "store4 did not become a 16-byte store"


@pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
@pytest.mark.parametrize(("kernel", "signature"), layouts.KERNELS)
def test_copies_compile_for_real_gpus(kernel, signature):
    assert not compiled(kernel, signature, "sm_75").spills
