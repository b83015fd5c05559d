"""Every name of the one list is implemented by each engine, or refused by it under its name."""

import ast
import builtins

import numpy as np
import pytest
from numba import typeof

from simt import Unsupported, cuda
from simt.compiled import device_names as compiled_names
from simt.compiled.core import HIDDEN, Sync, statements
from simt.compiled.unit import Unit
from simt.compiled.warp import STUBS
from simt.errors import NotOnAGpu
from simt.executor import device_names as executor_names
from simt.source.names import DEVICE, NAMES
from simt.source.refused import UNSUPPORTED

GIVEN = {
    "ndim": "1", "mask": "0xFFFFFFFF", "value": "1", "predicate": "1", "src_lane": "0", "lane_mask": "1",
    "delta": "1", "ns": "1", "a": "1.0", "b": "2.0", "c": "3.0", "x": "uint32(4)", "test": "True", "if_true": "1",
    "if_false": "2", "shape": "4", "dtype": "int32", "ary": "out", "idx": "0", "val": "1", "old": "0",
}  # fmt: skip
UNSIGNED = ("atomic.inc", "atomic.dec")
CALLED = [path for path, name in NAMES.items() if name.kind not in ("place", "value")]


def kernel_with(path, tmp_path):
    """A kernel in a file of its own that uses one name of cuda once."""
    name = NAMES[path]
    given = {**GIVEN, "ary": "VALUES" if name.kind == "constant array" else "out"}
    if name.kind == "place":
        use = f"cuda.{path}.x"
    elif name.kind == "value":
        use = f"cuda.{path}"
    else:
        use = f"cuda.{path}({', '.join(given[p] for p in name.parameters if p not in name.optional)})"
    file = tmp_path / "kernel_of_one_name.py"
    file.write_text(
        "import numpy as np\nfrom numba import int32, uint32\nfrom simt import cuda\nVALUES = np.zeros(4, np.int32)\n\n"
        f"@cuda.jit\ndef kernel(out):\n    held = {use}\n"
    )
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    dtype = np.uint32 if path in UNSIGNED else np.int32
    return namespace["kernel"], np.zeros(4, dtype)


@pytest.mark.parametrize("path", NAMES)
def test_the_executor_runs_it(path, tmp_path):
    kernel, out = kernel_with(path, tmp_path)
    with cuda.engine("executor"):
        kernel[1, 32](out)


@pytest.mark.parametrize("path", NAMES)
def test_the_compiled_engine_lowers_it_or_says_its_name(path, tmp_path):
    kernel, out = kernel_with(path, tmp_path)
    unit = Unit(kernel, (typeof(out),), (32, 1, 1), True, "forward", 0)
    if path in UNSUPPORTED:
        with pytest.raises(Unsupported) as caught:
            unit.lowered()
        assert path in str(caught.value)
        assert caught.value.construct == UNSUPPORTED[path]
        return
    lowered = list(statements(unit.lowered()))
    used = {n.id for s in lowered for n in ast.walk(s) if isinstance(n, ast.Name)}
    known = unit.namespace.objects.keys() | unit.memory.holders.keys() | set(HIDDEN) | set(dir(builtins))
    assert all(n in ("held", "out") or n.startswith("_k") for n in used - known)
    for statement in lowered:
        if isinstance(statement, Sync) and statement.target:
            assert statement.kind in STUBS


def test_each_engine_says_what_becomes_of_every_call():
    """A name that is only in the list makes this fail."""
    assert set(executor_names.CALLS) == set(CALLED)
    refused = {path for path in UNSUPPORTED if isinstance(path, str)}
    assert set(compiled_names.CALLS) | refused == set(CALLED)
    assert not set(compiled_names.CALLS) & refused


def test_the_list_is_what_cuda_offers():
    for path, name in NAMES.items():
        value = cuda
        for part in path.split("."):
            value = getattr(value, part)
        assert value is name
        assert set(name.optional) <= set(name.parameters)
    assert {path.partition(".")[0] for path in NAMES} == set(DEVICE)


@pytest.mark.parametrize("path", [path for path in NAMES if path not in CALLED])
def test_what_is_no_function_cannot_be_called(path, tmp_path):
    file = tmp_path / "kernel_of_one_call.py"
    file.write_text(f"from simt import cuda\n\n@cuda.jit\ndef kernel(out):\n    out[0] = cuda.{path}()\n")
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    with pytest.raises(NotOnAGpu, match=f"cuda.{path} cannot be called"):
        namespace["kernel"][1, 1](np.zeros(1))
