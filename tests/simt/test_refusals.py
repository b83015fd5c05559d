"""The executor accepts and refuses what numba-cuda's compiler accepts and refuses, and names the line when it
refuses."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from snippets import SNIPPETS

from simt import KernelError, cuda, run

pytestmark = pytest.mark.quick

NAMES = [function.__name__ for function, *_ in SNIPPETS]
ARGUMENTS = {
    "float32[:]": lambda: np.array([2, 1.5, 0.5, 1], np.float32),
    "float32[:, :]": lambda: np.ones((2, 2), np.float32),
    "int32[:]": lambda: np.zeros(4, np.int32),
    "int32": lambda: np.int32(4),
}


@pytest.mark.parametrize(("function", "signature", "accepted", "words"), SNIPPETS, ids=NAMES)
def test_accepts_and_refuses(function, signature, accepted, words, capsys):
    arguments = [ARGUMENTS[s]() for s in signature]
    if accepted:
        run(cuda.jit(function), 1, 1, arguments)
        return
    with pytest.raises(KernelError) as caught:
        run(cuda.jit(function), 1, 1, arguments)
    message = str(caught.value)
    assert words in message
    lines, first = inspect.getsourcelines(function)
    assert caught.value.line in range(first, first + len(lines))
    assert f"snippets.py:{caught.value.line}" in message


_COMPILE = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from numba import cuda
import simt.cuda
# The snippets say `from simt import cuda`: give them numba's.
import simt
simt.cuda = cuda
import numba, snippets
from simt.xray.compiler import lto_ir
for function, signature, accepted, words in snippets.SNIPPETS:
    types = tuple(eval(s, {**vars(numba)}) for s in signature)
    try:
        lto_ir(function, types, (8, 0))
        print(function.__name__, "True")
    except Exception as error:
        print(function.__name__, "False")
"""


@pytest.mark.slow
def test_numba_cuda_says_the_same():
    """Compiles every snippet with numba-cuda for compute capability 8.0; no GPU is needed."""
    pytest.importorskip("cuda.bindings.nvrtc")
    here = str(Path(__file__).parent)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "-c", _COMPILE, here], capture_output=True, text=True, env=environment, timeout=300
    )
    said = dict(line.split() for line in done.stdout.splitlines())
    if not said:
        pytest.skip(f"numba-cuda cannot compile here: {done.stderr[-300:]}")
    expected = {function.__name__: str(accepted) for function, _, accepted, _ in SNIPPETS}
    assert said == expected
