"""Kernels write into the workspace that they asked for, and no further: beside it, another thread's begins.

Each workspace has exactly the size that was asked for, NaN in it, and a guard on both sides. What a kernel writes
beyond it would otherwise be noticed only where the system happens to object.
"""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import dlkernels
from dlkernels import host, implementations
from dlkernels.matrix import blocks, choose
from dlkernels.simd import vector_registers, vector_width

pytestmark = pytest.mark.rotates

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = implementations.OPERATIONS  # all packages are imported, before a test puts a guard into what they import
GUARD, MARK = 1 << 16, -7.0  # elements on each side, and what is in them


class Guarded:
    """Takes the place of both functions that give workspaces."""

    def __init__(self):
        self.given = []

    def line(self, dtype, elements):
        whole = np.full(elements + 2 * GUARD, MARK, dtype)
        whole[GUARD : GUARD + elements] = np.nan
        self.given.append(whole)
        return whole[GUARD : GUARD + elements]

    def of_host(self, dtype, elements):
        return self.line(dtype, elements)

    def of_products(self, dtype, threads=1):
        return self.line(dtype, threads * blocks.room(dtype))

    def check(self, what):
        """Nobody wrote beside a workspace since the last time; how many there were."""
        for whole in self.given:
            sides = whole[:GUARD], whole[-GUARD:]
            assert all((side == MARK).all() for side in sides), f"{what} wrote beside a workspace"
        count = len(self.given)
        self.given.clear()
        return count


@pytest.fixture
def guarded(monkeypatch):
    guard, places = Guarded(), {host.workspace: "of_host", choose.workspace: "of_products"}
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("dlkernels.") and getattr(module, "workspace", None) in places:
            monkeypatch.setattr(module, "workspace", getattr(guard, places[module.workspace]))
    return guard


# ---- products --------------------------------------------------------------------------------------------------------


def sizes(lanes):
    """(m, n, k): the largest right matrix that is packed as it is, and the last sizes before a block is cut in two."""
    tall, wide, deep = blocks.HEIGHT, blocks.WIDTH + blocks.SPARE, blocks.DEPTH + blocks.SPARE
    panel = blocks.VECTORS * lanes
    for m in range(max(1, blocks.SMALL_ROWS - 2), blocks.SMALL_ROWS + 3):
        for n in (lanes, 170, 512):
            yield m, n, blocks.SMALL // (m * n)
            yield 2 * m + 1, 2 * n, blocks.SMALL // (m * n)  # as much for each of four parts
    yield from (
        (tall, wide, deep),
        (tall + 1, wide, deep),
        (blocks.ROWS, wide + panel, deep + 1),
        (tall + 1, wide - 1, deep + 1),
    )
    for n, k in (
        (blocks.SKINNY * lanes, blocks.SKINNY_B // (blocks.SKINNY * lanes)),
        (lanes, blocks.SKINNY_B // lanes),
    ):
        yield 3 * tall + 1, n, k


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_at_the_edges_of_their_workspace(guarded, threads, dtype, monkeypatch):
    monkeypatch.setattr(choose.team, "size", lambda: threads)
    random, taken = np.random.default_rng(threads), 0
    for m, n, k in sizes(vector_width(np.dtype(dtype))):
        a, b = random.standard_normal((m, k)).astype(dtype), random.standard_normal((n, k)).astype(dtype)
        for right in (b.T, np.ascontiguousarray(b.T), np.flip(b.T, axis=0)):
            found, exact = dlkernels.matmul(a, right), a.astype("d") @ right.astype("d")
            taken += guarded.check((m, n, k))
            np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4 * k**0.5, err_msg=str((m, n, k)))
    assert taken > 50


@pytest.mark.parametrize("threads", [1, 2])
def test_one_matrix_beside_many(guarded, threads, monkeypatch):
    monkeypatch.setattr(choose.team, "size", lambda: threads)
    random = np.random.default_rng(3)
    for m, n, k, many in ((40, 49, 300, 25), (130, 196, 512, 6), (64, 1024, 64, 3), (9, 17, 545, 70)):
        a, b = random.standard_normal((m, k)).astype("f"), random.standard_normal((many, k, n)).astype("f")
        found = dlkernels.matmul(a, b)
        guarded.check((m, n, k, many))
        np.testing.assert_allclose(found, a.astype("d") @ b.astype("d"), rtol=0, atol=1e-4 * k**0.5)


AS_AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"}
HALF = {
    "products": ("test_guarded.py", "products_at or beside"),
    "convolution": ("test_operations.py", "cpu-conv2d_implicit"),
}


@pytest.mark.skipif(vector_registers() == 16, reason="here all tests are of such vectors")
@pytest.mark.parametrize(("file", "tests"), HALF.values(), ids=HALF)
def test_with_half_as_many_registers(file, tests):
    """On a processor with AVX2 blocks and tiles have other sizes: this one can do as if it were one."""
    information = Path("/proc/cpuinfo")
    if not information.exists() or "avx2" not in information.read_text(encoding="utf-8"):
        pytest.skip("no AVX2 here")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/kernels/{file}", "-k", tests]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | AS_AVX2, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout, done.stdout[-500:]


# ---- all that take a workspace ---------------------------------------------------------------------------------------

USERS = [
    *("scaled_dot_product_attention", "attention_with_sums", "attention_backward_from_sums", "linear_attention"),
    *("gated_delta_rule", "decode_attention", "conv2d", "conv2d_backward", "conv2d_winograd", "conv2d_separable"),
    *(
        "max_pool2d",
        "avg_pool2d",
        "matmul",
        "matmul_backward",
        "matmul_half",
        "matmul_int8",
        "linear",
        "linear_backward",
    ),
    *("lstm", "lstm_with_gates", "lstm_backward_from_gates", "gru", "rnn"),
]


@pytest.mark.parametrize("name", USERS)
def test_the_examples_of_an_operation(name, guarded):
    operation, function, taken = OPERATIONS[name], getattr(dlkernels, name), 0
    examples = operation.examples
    for shape, seed in product((*examples.shapes, *examples.large), range(examples.seeds)):
        for dtype in examples.dtypes:
            function(*examples.make(shape, seed, dtype=dtype))
            taken += guarded.check((shape, seed))
    assert taken, "it takes no workspace: the test says nothing"


def test_a_kernel_with_more_places_than_a_block_has_rows(guarded):
    """The gradient of the pixels: its lines stand in more than one block, and are wanted again for each."""
    side = 13 if blocks.HEIGHT == 128 else 17
    random = np.random.default_rng(1)
    x, weight = random.standard_normal((1, 3, 40, 40)), random.standard_normal((20, 3, side, side))
    out = (40 - side) // 2 + 1
    grad = random.standard_normal((1, 20, out, out))
    exact = OPERATIONS["conv2d_backward"].reference(grad, x, weight, None, 2)
    found = dlkernels.conv2d_backward(grad, x, weight, None, 2)
    guarded.check("conv2d_backward")
    assert side * side > blocks.HEIGHT
    for one, right in zip(found, exact, strict=False):
        np.testing.assert_allclose(one, right, rtol=1e-9, atol=1e-9)
