"""The recorded views of compiled kernels: there for every GPU rung, and what the compiler still says."""

import importlib
from pathlib import Path

import pytest

from cpulab.measure import machine_code, recorded
from cpulab.measure.machine_code import ARCHITECTURES
from dlkernels import implementations
from dlkernels.matrix.gpu_local import COUNTS, TILES
from dlkernels.matrix.gpu_signed import SIGNED
from simt.xray import Compiled, available

needs_compiler = pytest.mark.skipif(not available(), reason="the gpu extra is not installed")


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    return importlib.import_module("compiled")


@pytest.fixture
def same_compiler(benchmark):
    """The compiler that made the record; another one may rightly say something else."""
    if benchmark.versions() != recorded("compiled").data["compiler"]:
        pytest.skip("recorded with another compiler: python benchmarks/run.py compiled")


@pytest.mark.quick
def test_every_rung_is_recorded(benchmark):
    cases = {(rung.name, number, signature, arch) for rung, number, _, signature, arch in benchmark.cases()}
    kept = {(v["rung"], v["number"], v["signature"], v["arch"]) for v in recorded("compiled").data["views"]}
    assert cases == kept, "record again: python benchmarks/run.py compiled"
    assert {arch for *_, arch in kept} == set(ARCHITECTURES)


@pytest.mark.quick
def test_the_record_says_that_it_is_one():
    rung = implementations.of("matmul", "gpu")[-3]
    view = machine_code(rung, "sm_90", live=False)
    assert isinstance(view, Compiled)
    assert view.arch == "sm_90"
    assert view.origin.startswith("recorded on ")
    assert f"({view.origin})" in str(view)
    assert view.main_loop.ffma_share > 0.5
    assert view.occupancy(256).blocks_per_sm == 2


@pytest.mark.quick
def test_what_was_not_recorded_is_said(monkeypatch):
    rung = implementations.of("add", "gpu")[0]
    with pytest.raises(LookupError, match="kernel 0 of add_one_per_element was not recorded for sm_61"):
        machine_code(rung, "sm_61", live=False)


@pytest.mark.rotates
@needs_compiler
@pytest.mark.parametrize(
    ("rung", "arch"),
    [
        *((rung, "sm_90") for rung in implementations.of("matmul", "gpu")[-3:]),
        (implementations.of("gelu", "gpu")[-1], "sm_90"),
        (SIGNED, "sm_80"),
        *((shown, "sm_80") for shown in (*TILES.values(), COUNTS)),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_record_that_pages_show_is_what_the_compiler_says(rung, arch, same_compiler):
    """What pages show of sm_80 is compared in kernels/test_on_gpus.py, where it is compiled anyway."""
    live, kept = machine_code(rung, arch, live=True), machine_code(rung, arch, live=False)
    assert live.origin == "compiled here"
    assert kept.to_dict() == live.to_dict(), "record again: python benchmarks/run.py compiled"


@needs_compiler
@pytest.mark.slow
def test_all_of_the_record_is_what_the_compiler_says(benchmark, same_compiler):
    different = [
        f"{rung.name} {number} {arch}"
        for rung, number, _, _, arch in benchmark.cases()
        if machine_code(rung, arch, number, live=False).to_dict()
        != machine_code(rung, arch, number, live=True).to_dict()
    ]
    assert not different, "record again: python benchmarks/run.py compiled"


@needs_compiler
def test_a_sign_costs_registers_and_instructions():
    """What chapter 8.5 says of unsigned indices."""
    unsigned = next(r for r in implementations.of("matmul", "gpu") if r.name == "matmul_tile_2d")
    with_sign, without = machine_code(SIGNED, "sm_80", live=True), machine_code(unsigned, "sm_80", live=True)
    assert with_sign.main_loop["FFMA"] == without.main_loop["FFMA"] == 64
    assert with_sign.main_loop.total > 1.15 * without.main_loop.total
    assert with_sign.registers > 128 >= without.registers
