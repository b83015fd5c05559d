"""The API reference: docstrings are read as they were written, all operations are there, what the pages show runs."""

import re
import sys

import pytest
from built import ROOT

import dlkernels
from dlkernels import implementations

sys.path.insert(0, str(ROOT / "_ext"))
import api

pytestmark = pytest.mark.quick
PAGES = [
    (ROOT / "chapters" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("api", "api_networks", "api_training", "api_tools")
]
DOCSTRING = """The product, of each pair.

a: (..., m, k), b: (..., k, n), float32 or float64 (on a GPU: float32), same dtype; leading dimensions are
broadcast.
out: where to write.
None for a new array. Not with `a`.

    matmul(a, b)
"""


def test_a_docstring_keeps_its_lines_about_arguments():
    parts = api.content(DOCSTRING, api.names_in("a, b, out=None"))
    said = [part.astext() for part in parts]
    assert said == [
        "The product, of each pair.",
        "a: (..., m, k), b: (..., k, n), float32 or float64 (on a GPU: float32), same dtype; leading dimensions are "
        "broadcast.",
        "out: where to write.",
        "None for a new array. Not with a.",
        "matmul(a, b)",
    ]
    assert [one.astext() for one in parts[1].findall(api.nodes.strong)] == ["a", "b"]
    assert [part.tagname for part in parts] == ["paragraph"] * 4 + ["literal_block"]


def test_code_in_a_docstring_stays_whole():
    (part,) = api.content("where: a function: ``where=lambda x, n: n == 1``. n: a number.", {"where", "n"})
    assert [one.astext() for one in part.findall(api.nodes.literal)] == ["where", "where=lambda x, n: n == 1", "n"]


def test_signatures_come_from_the_source():
    assert api.parameters(api.definition("cpulab.watch", "watch")).startswith("function, threads=2, schedule='static'")
    assert api.definition("cpulab.measure", "ratio") is api.definition("cpulab.measure.timing", "ratio")
    assert api.of_class(api.definition("coursework.definition", "Case")) == "name, make, grid=1, block=1"
    assert api.definition("cpulab.measure", "no_such_name") is None


def test_all_names_are_there():
    for module, names in re.findall(r"^```\{api\} ([\w.]+)\n(.*?)```$", "\n".join(PAGES), re.DOTALL | re.MULTILINE):
        named = names.split() or api.own_names(module)
        missing = [name for name in named if api.definition(module, name) is None]
        assert named, module
        assert not missing, f"{module}: {missing}"


def test_all_folders_of_operations_are_there():
    assert sorted(re.findall(r"^```\{operations\} (\w+)$", "\n".join(PAGES), re.MULTILINE)) == sorted(dlkernels.FOLDERS)


def test_each_operation_takes_the_example_that_is_shown():
    """That all examples are computed rightly is what test_operations.py sees."""
    for operation in implementations.OPERATIONS.values():
        arguments = api.example(operation)
        operation.prepare(*arguments)
        said = api.call_of(operation).astext()
        assert any(callable(one) for one in arguments) or said.endswith(
            f"gives {api.results_of(operation, arguments)}."
        )


def test_the_code_of_the_pages_runs():
    import numpy as np

    for page in PAGES:
        names = {"a": np.ones((2, 3), np.float32), "b": np.ones((3, 2), np.float32)}
        for code in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            exec(code, names)
