"""Measured peaks: the loops do what they say, and results are kept as promised."""

import importlib
import json
import math
import platform
import re
import time

import numba
import numpy as np
import pytest

from cpulab.measure import Point, roofline, roofline_table, roofs
from dlkernels.simd import instruction_set, vector_width

module = importlib.import_module("cpulab.measure.peak_rates")

EXAMPLE = module.Peaks(
    flops={1: 50e9, 2: 100e9},
    stream={"triad": {"plain": {1: 8e9, 2: 15e9}, "nontemporal": {1: 10e9, 2: 20e9}}},
    elements=1000,
)


@pytest.mark.rotates
@pytest.mark.parametrize("loop", module.STREAM)
@pytest.mark.parametrize("kind", module.STORES)
def test_stream_loops_compute_what_they_name(loop, kind):
    s = np.float32(3)
    for size, shift in [(0, 0), (5, 1), (1000, 0), (1003, 3)]:
        a, b = np.random.default_rng(size).standard_normal((2, size)).astype("float32")
        room = np.full(size + shift + 8, 7, "float32")
        module.stream_kernel(loop, kind)(a, b, room[shift : shift + size], s)
        expected = {"copy": a, "scale": s * a, "add": a + b, "triad": a + s * b}[loop]
        np.testing.assert_allclose(room[shift : shift + size], expected, rtol=1e-5, atol=1e-6)
        assert (room[shift + size :] == 7).all()


def test_chains_compute_their_multiply_adds():
    # Every chain tends to 2 * step; the result is the sum over chains and lanes.
    result = module._multiply_add(2, 200, np.float32(1))
    np.testing.assert_allclose(result, 2.0 * module.CHAINS * vector_width("float32"), rtol=1e-5)


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64") or instruction_set() not in ("AVX2", "AVX-512"),
    reason="names of x86 instructions with fused multiply-add",
)
def test_chains_stay_in_registers():
    module._multiply_add(1, 10, np.float32(1))
    assembly = "\n".join(module._multiply_add.inspect_asm().values())
    multiply_adds = re.findall(r"vfmadd\d+ps\s+(.*)", assembly)
    assert len(multiply_adds) >= module.CHAINS
    assert not any("(" in operands for operands in multiply_adds)


@pytest.mark.rotates
def test_measuring_gives_a_rate_for_every_loop_store_and_thread_count():
    measured = module.measure_peaks(elements=10_000)
    counts = module.thread_counts()
    assert counts[0] == 1
    assert counts[-1] == numba.config.NUMBA_NUM_THREADS
    assert set(measured.flops) == set(counts)
    for by_store in measured.stream.values():
        assert set(by_store) == set(module.STORES)
        for rates in by_store.values():
            assert set(rates) == set(counts)
            assert all(rate > 0 for rate in rates.values())
    assert all(rate > 0 for rate in measured.flops.values())


def test_the_best_run_counts():
    class Script:
        own_is_fine = False
        time = 0.0
        costs = iter([9.0, 2.0, 1.0, 4.0])

        def now(self):
            return self.time

        def sleep(self, seconds):
            self.time += seconds

    clock = Script()

    def run():
        clock.time += next(clock.costs)

    assert module._best(run, 10.0, clock, budget=0.0) == pytest.approx(10.0)


def test_questions_to_peaks():
    assert EXAMPLE.peak_flops() == 100e9
    assert EXAMPLE.peak_flops(1) == 50e9
    assert EXAMPLE.bandwidth() == 20e9  # the better kind of store
    assert EXAMPLE.ridge() == pytest.approx(5.0)
    with pytest.raises(ValueError, match=r"3 threads, only with \[1, 2\]"):
        EXAMPLE.peak_flops(3)
    with pytest.raises(ValueError, match="expected one of triad"):
        EXAMPLE.bandwidth("copy")
    assert "20.0\xa0GB/s" in str(EXAMPLE)
    assert "2 threads" in EXAMPLE._repr_html_()


def test_arrays_are_larger_than_the_cache_and_fit_the_memory(monkeypatch):
    monkeypatch.setattr(module.machine, "last_level_cache", lambda: 2**40)
    few = module.stream_elements()
    assert 3 * 4 * few < module.psutil.virtual_memory().total / 2
    monkeypatch.setattr(module.machine, "last_level_cache", lambda: 2**25)
    assert 4 * module.stream_elements() >= min(4 * 2**25, module.psutil.virtual_memory().total // 8 - 4)


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Count measurements, keep them in a temporary folder, and forget what the process remembers."""
    monkeypatch.setenv("DLKERNELS_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "_remembered", {})
    made = []

    def measure(loops):
        made.append(loops)
        return EXAMPLE

    monkeypatch.setattr(module, "measure_peaks", measure)
    return made


def kept_files(tmp_path):
    return list(tmp_path.glob("peaks-*.json"))


def test_peaks_are_measured_once_then_remembered_then_read_from_disk(counted, monkeypatch, tmp_path):
    assert module.peaks() is module.peaks()
    monkeypatch.setattr(module, "_remembered", {})  # as a new process
    assert module.peaks() == EXAMPLE
    assert len(counted) == 1
    assert len(kept_files(tmp_path)) == 1
    module.peaks(refresh=True)
    assert len(counted) == 2


def faster(peaks, times):
    """The same peaks, but for memory, which is so many times as fast."""
    stream = {
        loop: {kind: {n: times * rate for n, rate in rates.items()} for kind, rates in by_store.items()}
        for loop, by_store in peaks.stream.items()
    }
    return module.dataclasses.replace(peaks, stream=stream)


def test_kept_peaks_that_a_kernel_beats_are_measured_again_once(counted, monkeypatch):
    point = Point("copy", 1e9, 22.1e9, 1.0)  # EXAMPLE's memory gives 20 GB/s
    under = Point("copy", 1e9, 21.9e9, 1.0)
    module._to_disk(("triad",), EXAMPLE)
    assert roofs(points=[under])[0].bandwidth == 20e9
    assert counted == []
    quiet = module.measure_peaks
    monkeypatch.setattr(module, "measure_peaks", lambda loops: faster(quiet(loops), 1.2))
    assert roofs(points=[under, point])[0].bandwidth == 24e9
    assert len(counted) == 1
    assert roofs(points=[Point("in a cache", 1e9, 90e9, 1.0)])[0].bandwidth == 24e9  # now it is the machine
    assert len(counted) == 1
    monkeypatch.setattr(module, "_remembered", {})  # another process finds the new ones
    assert roofs(points=[point])[0].bandwidth == 24e9
    assert len(counted) == 1


def test_a_second_measurement_in_a_slower_hour_lowers_no_peak(counted, monkeypatch):
    busy = module.dataclasses.replace(faster(EXAMPLE, 0.5), flops={1: 60e9, 2: 90e9}, busy=True)
    module._to_disk(("triad",), EXAMPLE)
    monkeypatch.setattr(module, "measure_peaks", lambda loops: busy)
    again = module.peaks(beaten=lambda known: True)
    assert again == module.dataclasses.replace(EXAMPLE, flops={1: 60e9, 2: 100e9})


def test_peaks_measured_here_or_given_are_not_measured_again(counted):
    fast = Point("copy", 1e9, 90e9, 1.0)
    assert roofs(points=[fast])[0].bandwidth == 20e9
    assert len(counted) == 1
    assert roofs(EXAMPLE, points=[fast])[0].bandwidth == 20e9
    assert roofs(threads=[1], points=[fast])[0].bandwidth == 10e9
    assert len(counted) == 1


def test_the_figure_has_the_roof_that_was_measured_again(counted, monkeypatch):
    module._to_disk(("triad",), EXAMPLE)
    quiet = module.measure_peaks
    monkeypatch.setattr(module, "measure_peaks", lambda loops: faster(quiet(loops), 2))
    points = [("copy", 1e9, 40e9, 1.0)]
    assert "100% of the bound set by memory" in roofline(points).alt_text
    assert roofline_table(points).rows[0][-1] == "100%"
    assert len(counted) == 1


@pytest.mark.parametrize("damage", ["old", "future", "half", "other", "list", "lists", "infinite"])
def test_stale_or_damaged_files_are_measured_anew(counted, monkeypatch, tmp_path, damage):
    module.peaks()
    (file,) = kept_files(tmp_path)
    stored = json.loads(file.read_text())
    if damage in ("old", "future"):
        stored["measured"] = time.time() + (86_400 if damage == "future" else -module.FRESH_FOR - 1)
    if damage == "infinite":
        stored["peaks"]["elements"] = math.inf
    text = json.dumps({"other": {"a": 1}, "list": [1]}.get(damage, stored))
    file.write_text({"half": text[: len(text) // 2], "lists": "[" * 100_000}.get(damage, text))
    monkeypatch.setattr(module, "_remembered", {})
    assert module.peaks() == EXAMPLE
    assert len(counted) == 2


def test_without_a_home_peaks_are_measured_and_not_kept(counted, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(module, "cache_folder", no_home)
    assert module.peaks() == EXAMPLE
    assert len(counted) == 1


def test_peaks_of_a_busy_machine_are_kept_for_an_hour(counted, monkeypatch, tmp_path):
    busy, quiet = module.dataclasses.replace(EXAMPLE, busy=True), module.measure_peaks
    monkeypatch.setattr(module, "measure_peaks", lambda loops: busy)
    assert "other programs were running" in str(module.peaks())
    monkeypatch.setattr(module, "measure_peaks", quiet)
    monkeypatch.setattr(module, "_remembered", {})
    assert module.peaks().busy
    assert counted == []
    (file,) = kept_files(tmp_path)
    stored = json.loads(file.read_text())
    file.write_text(json.dumps(stored | {"measured": time.time() - module.BUSY_FRESH_FOR - 1}))
    monkeypatch.setattr(module, "_remembered", {})
    assert not module.peaks().busy
    assert len(counted) == 1


def test_a_folder_that_cannot_be_written_is_no_error(counted, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DLKERNELS_CACHE", str(tmp_path / "file" / "folder"))
    assert module.peaks() == EXAMPLE


def test_an_unknown_loop_is_said():
    with pytest.raises(ValueError, match="loops has dot; expected some of copy"):
        module.peaks(loops=["dot"])
