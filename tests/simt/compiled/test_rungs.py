"""The GPU rungs of the library at large and ragged sizes, through the compiled engine, against float64."""

import numpy as np
import pytest

from dlkernels import cuda, implementations
from dlkernels.device import name as device_name
from dlkernels.vector import PARAMETERS

pytestmark = pytest.mark.skipif(device_name != "executor", reason="the engines stand in for a GPU")

ROWS = [row for row in implementations.everything() if row.device == "gpu" and "float32" in row.dtypes]
PRODUCTS = [row for row in ROWS if row.operation == "matmul"]
FLAT = [row for row in ROWS if row.operation in {"add", "axpy", "bias_activation"} | {n + e for n in PARAMETERS for e in ("", "_backward")}]  # fmt: skip
#: ragged in every direction; a multiple of every tile and of four; longer than wide; one row
SHAPES = [(257, 301, 190), (256, 304, 192), (40, 1000, 130), (1, 77, 300)]


@pytest.fixture(autouse=True)
def compiled():
    with cuda.engine("compiled"):
        yield


@pytest.mark.parametrize("row", PRODUCTS, ids=lambda row: row.name)
def test_products(row):
    for m, k, n in SHAPES:
        rng = np.random.default_rng(m)
        a, b = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
        got = row(a, b)
        assert cuda.last_launch().engine == "compiled"
        exact = a.astype(float) @ b.astype(float)
        allowed = (k + 2) * np.finfo(np.float32).eps * (np.abs(a).astype(float) @ np.abs(b).astype(float))
        assert (np.abs(got - exact) <= allowed).all()


@pytest.mark.parametrize("row", FLAT, ids=lambda row: row.name)
def test_element_wise(row):
    for count in (300_001, 1 << 18):
        rng = np.random.default_rng(count)
        x, y = rng.standard_normal(count, np.float32), rng.standard_normal(count, np.float32)
        if row.operation == "axpy":
            arguments = (0.7, x, y)
        elif row.operation == "bias_activation":
            arguments = (x[:300_000].reshape(-1, 1000) if count > 300_000 else x.reshape(-1, 512), None, "gelu")
            arguments = (arguments[0], y[: arguments[0].shape[1]], "gelu")
        elif row.operation == "add" or row.operation.endswith("_backward"):
            arguments = (x, y)
        else:
            arguments = (x,)
        got = row(*arguments)
        assert cuda.last_launch().engine == "compiled"
        wide = [a.astype(float) if isinstance(a, np.ndarray) else a for a in arguments]
        exact = implementations.OPERATIONS[row.operation].reference(*wide)
        np.testing.assert_allclose(got, exact, rtol=2e-6, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("row", PRODUCTS, ids=lambda row: row.name)
def test_a_product_of_real_size(row):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((1000, 777), np.float32), rng.standard_normal((777, 1033), np.float32)
    exact = a.astype(float) @ b.astype(float)
    allowed = 779 * np.finfo(np.float32).eps * (np.abs(a).astype(float) @ np.abs(b).astype(float))
    assert (np.abs(row(a, b) - exact) <= allowed).all()
