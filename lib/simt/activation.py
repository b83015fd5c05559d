"""Run code that was written for ``numba.cuda`` on this package: ``simt.activate()``, before that code is imported.

    import simt
    simt.activate()
    from numba import cuda            # the executor's
    import project_with_gpu_kernels

pytest does it with ``--simt`` (pytest_plugin.py), for a project's existing GPU tests. What such code imports besides
``cuda`` is there as far as it means something without a GPU: ``numba.cuda.random``, ``numba.cuda.libdevice``,
``numba.cuda.fp16``, ``numba.cuda.testing``, the types.
"""

import importlib
import sys
import types as python_types

from .settings import wrap
from .source.texts import keep as keep_texts

_REAL = {  # modules of numba.cuda that are numba's own, or ours
    "": ".cuda",
    ".fp16": ".fp16",
    ".libdevice": ".libdevice",
    ".random": ".random",
    ".testing": ".testing",
    ".types": "numba.core.types",
    ".typing": "numba.core.typing",
    ".vectorizers": ".vectorizers",
    ".core.errors": "numba.core.errors",
    ".np.numpy_support": "numba.np.numpy_support",
}
_EMPTY = (".core", ".np")  # packages around them
_before = {}


def activate(strict=False):
    """From now on ``numba.cuda`` is this package's ``cuda``, for every import that follows. `deactivate` ends it.

    strict: a negative index is an error, as it is in this package. Otherwise ``a[-1]`` is the last element: numba
    compiles it so, and projects use it.
    """
    import numba

    wrap(not strict)
    keep_texts()
    if _before:
        return
    loaded = [name for name in sys.modules if name == "numba.cuda" or name.startswith("numba.cuda.")]
    _before.update({name: sys.modules.pop(name) for name in loaded})
    _before["the attribute"] = getattr(numba, "cuda", None)
    for tail in _EMPTY:
        sys.modules["numba.cuda" + tail] = python_types.ModuleType("numba.cuda" + tail)
    for tail, home in _REAL.items():
        sys.modules["numba.cuda" + tail] = importlib.import_module(home, __package__)
    ours = sys.modules["numba.cuda"]
    sys.modules["numba.cuda.compiler"] = compiler = python_types.ModuleType("numba.cuda.compiler")
    for name in ("compile", "compile_ptx", "compile_for_current_device", "compile_ptx_for_current_device"):
        setattr(compiler, name, _not_compiled)  # imported by files of which only some tests look at code
    config = python_types.ModuleType("numba.cuda.config")
    config.ENABLE_CUDASIM = True  # nothing is compiled for a GPU, as in numba's simulator: tests that look at code skip
    config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0
    sys.modules["numba.cuda.config"] = sys.modules["numba.cuda.core.config"] = config
    sys.modules["numba.cuda.core"].config = ours.config = config
    sys.modules["numba.cuda.core"].errors = sys.modules["numba.cuda.core.errors"]
    sys.modules["numba.cuda.np"].numpy_support = sys.modules["numba.cuda.np.numpy_support"]
    numba.cuda = ours


def _not_compiled(*_, **__):
    raise NotImplementedError("nothing is compiled for a GPU here: that needs the gpu extra (numba-cuda)")


def deactivate():
    """``numba.cuda`` is numba's again, for imports that follow."""
    import numba

    wrap(False)
    keep_texts(False)
    if not _before:
        return
    for name in [n for n in sys.modules if n == "numba.cuda" or n.startswith("numba.cuda.")]:
        del sys.modules[name]
    there = _before.pop("the attribute")
    sys.modules.update(_before)
    _before.clear()
    if there is None:
        del numba.cuda
    else:
        numba.cuda = there
