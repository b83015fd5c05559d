"""The recorded matrix products of a GPU, here in the executor: its times mean nothing, its rows and checks do."""

import ctypes
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from dlkernels import implementations

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def script(name):
    return importlib.import_module(name)


def once(found, cuda, rounds):
    return script("gpu_record").event_times(found, cuda, rounds=1, sample=0, first=1)


@pytest.mark.rotates
def test_every_rung_is_checked_and_timed():
    gpu_matmul, lines = script("gpu_matmul"), []
    gpu_matmul.measure(lines.append, once, [gpu_matmul.Product(4, 4, 8)])
    names = {rung.name for rung in implementations.of("matmul", device="gpu")}
    assert names <= {line["name"] for line in lines}
    for line in lines:
        assert line["seconds"] > 0
        assert line["launch_seconds"] > 0
        assert line["flops"] == pytest.approx(2 * 4 * 4 * 8 / line["seconds"])
        assert line["error_of_allowed"] <= 1
    json.dumps(lines, allow_nan=False)


@pytest.mark.slow
def test_the_dry_run_takes_stacks_ragged_sizes_and_tensor_cores(capsys):
    assert script("gpu_record").main(["--dry-run"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["name"] for line in lines if "size" in line} == {"pageable", "pinned", "kernel"}
    lines = [line for line in lines if "count" in line]  # the products
    assert {(line["count"], line["dtype"]) for line in lines} == {(1, "float32"), (2, "float32"), (1, "float16")}
    assert "matmul_half_tensor_cores" in {line["name"] for line in lines}


def test_the_products_recorded_have_every_shape_and_type():
    products = script("gpu_matmul").PRODUCTS
    assert {p.m for p in products if p.m == p.n == p.k and p.dtype == "float32"} >= {256, 512, 1024, 2048, 4096}
    assert any(p.n % 4 for p in products)
    assert any(p.count > 1 for p in products)
    assert {p.dtype for p in products} == {"float32", "float16", "bfloat16"}
    from dlkernels.matrix.gpu import tiles
    from dlkernels.matrix.gpu_stacks import splits_for

    def parts(p):
        across, down = tiles(np.broadcast_to(np.float32(0), (p.m, p.n)), 128)
        return splits_for(across * down * p.count, p.k)

    assert any(parts(p) > 1 for p in products)


def test_a_wrong_candidate_is_named_and_not_timed(monkeypatch):
    gpu_matmul, lines = script("gpu_matmul"), []
    real = gpu_matmul.candidates

    def candidates(product, a, b, out):
        coalesced = real(product, a, b, out)["matmul_coalesced"]

        def broken():
            raise RuntimeError("an illegal access")

        def last_row_missing():
            coalesced()
            whole = out.copy_to_host()
            whole[-1] = 0
            out.copy_to_device(whole)

        return {"right": coalesced, "raises": broken, "wrong": last_row_missing, "idle": lambda: None}

    monkeypatch.setattr(gpu_matmul, "candidates", candidates)
    gpu_matmul.measure(lines.append, once, [gpu_matmul.Product(40, 9, 7)])
    errors = {line["name"]: line.get("error") for line in lines}
    assert errors["right"] is None
    assert errors["raises"] == "RuntimeError: an illegal access"
    assert "times the error allowed" in errors["wrong"]
    assert "inf times the error allowed" in errors["idle"]  # what nobody writes is not a number


def test_a_product_that_fails_does_not_hide_the_others():
    gpu_matmul, lines = script("gpu_matmul"), []
    broken = gpu_matmul.Product(4, 4, 4, dtype="float8")
    gpu_matmul.measure(lines.append, lambda found, cuda, rounds: 1 / 0, [broken, gpu_matmul.Product(3, 3, 3)])
    assert [line["error"].split(":")[0] for line in lines] == ["TypeError", "ZeroDivisionError"]


# ---- cuBLAS, played by NumPy -------------------------------------------------------------------------------


class OnHost:
    """A host array that says where it is as a device array does."""

    def __init__(self, x):
        self.x, self.shape, self.size = x, x.shape, x.size
        self.__cuda_array_interface__ = x.__array_interface__


class Played:
    """The two functions of cuBLAS, with its meaning: matrices stand by columns, `ld` is from column to column."""

    def cublasSetMathMode(self, handle, mode):
        self.mode = mode
        return 0

    def cublasGemmStridedBatchedEx(self, handle, turn_a, turn_b, m, n, k, alpha, a, a_type, lda, a_step, b, b_type,
                                   ldb, b_step, beta, c, c_type, ldc, c_step, count, compute, algorithm):  # fmt: skip
        assert (turn_a, turn_b, compute, algorithm, c_type) == (0, 0, 68, -1, 0)
        kinds = {0: np.float32, 2: np.float16}

        def columns(pointer, kind, rows, wide, ld, step, number):
            kind = np.dtype(kinds[kind])
            room = (ctypes.c_char * (kind.itemsize * ld * wide)).from_address(
                pointer.value + number * step.value * kind.itemsize
            )
            return np.frombuffer(room, kind).reshape(wide, ld)[:, :rows].T

        for number in range(count):
            x = columns(a, a_type, m, k, lda, a_step, number).astype(np.float32)
            y = columns(b, b_type, k, n, ldb, b_step, number).astype(np.float32)
            columns(c, c_type, m, n, ldc, c_step, number)[:] = x @ y
        return 0


@pytest.mark.parametrize("stack", [(), (3,)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_cublas_is_asked_for_the_product_by_rows(monkeypatch, stack, dtype):
    cublas, played = script("cublas"), Played()
    monkeypatch.setattr(cublas, "_library", lambda: played)
    monkeypatch.setattr(cublas, "_handle", lambda: None)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((*stack, *shape)).astype(dtype) for shape in ((5, 7), (7, 4)))
    out = np.zeros((*stack, 5, 4), np.float32)
    cublas.product(OnHost(a), OnHost(b), OnHost(out), dtype)
    np.testing.assert_allclose(out, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-4)
    assert played.mode == 0  # TF32 would be 3


def test_what_cublas_refuses_is_said(monkeypatch):
    cublas = script("cublas")
    refusing = type("Refusing", (), {"cublasSetMathMode": lambda self, *_: 13})()
    monkeypatch.setattr(cublas, "_library", lambda: refusing)
    monkeypatch.setattr(cublas, "_handle", lambda: None)
    x = OnHost(np.zeros((2, 2), np.float32))
    with pytest.raises(RuntimeError, match="cublasSetMathMode failed with status 13"):
        cublas.product(x, x, x)


def test_the_gpu_section_reports_and_keeps(monkeypatch, capsys):
    gpu_matmul, gpu_record, lines = script("gpu_matmul"), script("gpu_record"), []
    row = {"m": 4, "n": 4, "k": 4, "count": 1, "dtype": "float32", "name": "rung", "flops": 2e12}
    monkeypatch.setattr(
        gpu_matmul, "measure", lambda keep, times: [keep(row), keep({**row, "error": "wrong: 3 times"})]
    )
    assert gpu_record.measure_products(lines.append) == 0
    assert lines == [row, {**row, "error": "wrong: 3 times"}]
    said = capsys.readouterr().err
    assert "2.00 Tflop/s" in said
    assert "wrong: 3 times" in said
    assert "gpu_matmul" in sys.modules
