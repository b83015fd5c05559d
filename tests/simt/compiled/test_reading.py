"""What the page about the engine shows: the pieces of a kernel, and the generated code without its book-keeping."""

import ast

import numpy as np
import pytest
from numba import float32

from simt import compiled, cuda
from simt.compiled import reading

pytestmark = pytest.mark.quick


@cuda.jit
def turn(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    kept = x[t]
    for step in range(2):
        s[t] = kept
        cuda.syncthreads()
        kept += s[31 - t] * step
        cuda.syncthreads()
    y[t] = kept


ARGUMENTS = (np.ones(32, np.float32), np.zeros(32, np.float32))


def test_a_piece_ends_at_every_barrier():
    pieces = reading.pieces(turn, 32, ARGUMENTS)
    found = {text.strip(): set(where) for _, text, where, _ in pieces.rows}
    assert pieces.count == 4
    assert found["s[t] = kept"] == {2}
    assert found["kept += s[31 - t] * step"] == {3}
    assert found["y[t] = kept"] == {4}
    assert found["for step in range(2):"] == set()
    assert [text.strip() for _, text, _, barrier in pieces.rows if barrier] == ["cuda.syncthreads()"] * 2
    drawn = pieces._repr_html_()
    assert drawn.count("<rect") == sum(len(where) for _, _, where, _ in pieces.rows)
    assert "barriers: lines 6, 8" in drawn


def test_generated_code_reads_as_python():
    text = reading.readable(compiled.stages(turn, 32, ARGUMENTS)["generated"])
    assert isinstance(ast.parse(text), ast.Module)
    assert text.count("for tx in range(32):") == 4
    assert "s[t] = kept" in text
    assert "kept_of[t] = kept" in text
    for name in ("_load", "_store", "_mark", "flag", "_peek"):
        assert name not in text


def test_a_short_loop_moves_outside_with_the_long_loop_in_it():
    """Left inside the loop over threads, it would keep the long one there too: flash attention was eight times
    slower."""

    @cuda.jit
    def scores(q, k, out):
        t = cuda.grid(1)
        total = float32(0)
        for j in range(8):
            for d in range(64):
                total += q[d, t] * k[j, d]
        out[t] = total

    arguments = np.ones((64, 64), np.float32), np.ones((8, 64), np.float32), np.zeros(64, np.float32)
    lines = reading.readable(compiled.stages(scores, 64, arguments, checked=False)["generated"]).splitlines()
    heads = [line.strip() for line in lines if line.strip().startswith("for ")]
    assert heads == [
        "for tx in range(64):",
        "for j in range(8):",
        "for d in range(64):",
        "for tx in range(64):",
        "for tx in range(64):",
    ]
    compiled.run(scores, 1, 64, arguments)
    np.testing.assert_array_equal(arguments[2], 512)
