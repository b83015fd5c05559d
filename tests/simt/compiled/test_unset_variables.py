"""Variables that only some ways set: no engine goes on with one that has no value."""

import numpy as np
import pytest

from simt import KernelError, compiled, cuda
from simt.xray import xray

pytestmark = pytest.mark.quick


@cuda.jit
def for_some_threads(x, n):
    i = cuda.grid(1)
    if i < n:
        v = x[i] * 2
    x[i] = v


@cuda.jit
def where_it_is_set(x, n):
    i = cuda.grid(1)
    if i < n:
        v = x[i] * 2
    cuda.syncthreads()
    if i < n:
        x[i] = v


@cuda.jit
def by_a_loop(x, n):
    i = cuda.grid(1)
    for k in range(n):
        v = x[i] + k
    x[i] = v


@cuda.jit
def by_a_break(x, n):
    i = cuda.grid(1)
    k = 0
    while True:
        v = x[i]
        k += 1
        if k > n:
            break
    for _ in range(4):
        w = v
    if n > 5:
        u = w
    else:
        u = v
    x[i] = u + w


def run_compiled(kernel, n):
    x = np.ones(64)
    compiled.run(kernel, 1, 64, (x, n))
    return x


@pytest.mark.parametrize(("kernel", "n"), [(for_some_threads, 40), (by_a_loop, 0)])
def test_who_reads_what_is_not_set_is_told(kernel, n):
    with pytest.raises(KernelError, match="`v` is read before it is set"):
        run_compiled(kernel, n)
    with pytest.raises(KernelError, match="`v` is read before it is set"), cuda.engine("executor"):
        kernel[1, 64](np.ones(64), n)
    (found,) = xray(kernel, 1, 64)(np.ones(64), n).findings
    assert found.kind == "uninitialised-variable"


@pytest.mark.parametrize(
    ("kernel", "n"), [(for_some_threads, 64), (where_it_is_set, 40), (by_a_loop, 3), (by_a_break, 4)]
)
def test_what_is_set_is_read(kernel, n):
    x = np.ones(64)
    with cuda.engine("executor"):
        kernel[1, 64](x, n)
    np.testing.assert_array_equal(run_compiled(kernel, n), x)
    assert xray(kernel, 1, 64, engine="compiled")(np.ones(64), n).total["requests"]
