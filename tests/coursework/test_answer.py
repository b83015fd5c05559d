"""What a check makes of an answer, and for how long it keeps that."""

import numpy as np
import pytest

from coursework.answer import Local
from dlkernels import cuda
from simt import kernel as kernels

FACTOR = 2.0


def scaling():
    @cuda.jit
    def scale(x, out):
        i = cuda.threadIdx.x
        out[i] = FACTOR * x[i]

    return scale


@pytest.mark.parametrize(("admitted", "made"), [(True, 1), (False, 2)])
def test_an_admitted_kernel_is_lowered_once_and_a_notebook_s_as_it_is_now(monkeypatch, admitted, made):
    """An admitted answer stands by itself; a notebook's may use a name that another cell changes."""
    lowered, program, kernel = [], kernels.Program, scaling()
    monkeypatch.setattr(kernels, "Program", lambda *how: lowered.append(how) or program(*how))
    results = []
    for factor in (2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        (_, out), _ = Local(kernel, admitted=admitted).xray(1, 4, (np.ones(4, np.float32), np.zeros(4, np.float32)))
        results.append(out[0])
    assert len(lowered) == made
    assert admitted or results == [2, 3]
