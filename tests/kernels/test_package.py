"""What `import dlkernels` brings at once, what it brings when it is asked, and that the table is whole whoever came
first."""

import json
import subprocess
import sys

import pytest

import dlkernels
from dlkernels import implementations

pytestmark = pytest.mark.quick
FOLDERS = [f"dlkernels.{package}" for package in dlkernels.FOLDERS]
LOADED = f"[m for m in {FOLDERS} if m in sys.modules]"


def fresh(code):
    """What a new process prints as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_package_alone_brings_no_operation():
    assert fresh(f"import json, sys, dlkernels; print(json.dumps({LOADED}))") == []


def test_a_name_brings_its_folder():
    assert fresh(f"import json, sys; from dlkernels import add; print(json.dumps({LOADED}))") == ["dlkernels.vector"]


@pytest.mark.parametrize("first", ["softmax", "lstm", "add", "implementations"])
def test_the_table_is_whole_and_in_order_whatever_was_imported_first(first):
    code = f"import json; from dlkernels import {first}; from dlkernels import implementations as table; "
    code += "print(json.dumps([list(table.OPERATIONS), [[r.operation, r.name] for r in table.everything()]]))"
    operations, rungs = fresh(code)
    assert operations == list(implementations.OPERATIONS)
    assert rungs == [[rung.operation, rung.name] for rung in implementations.everything()]
    folders = [operation.prepare.__module__.split(".")[1] for operation in implementations.OPERATIONS.values()]
    assert list(dict.fromkeys(folders)) == list(dlkernels.FOLDERS)


def test_a_ladder_is_found_when_another_folder_was_asked_for():
    code = (
        "import json; from dlkernels import add, implementations; print(json.dumps([r.name for r in "
        "implementations.of('lstm')]))"
    )
    assert fresh(code) == [rung.name for rung in implementations.of("lstm")]


def test_public_names_are_those_of_their_folders():
    for name in set(dlkernels.__all__) - {"cuda", "implementations"}:
        assert getattr(dlkernels, name).__module__.startswith("dlkernels."), name
    assert set(dlkernels.__all__) <= set(dir(dlkernels))
    assert "sum" not in dlkernels.__all__  # a star import must not hide Python's
    assert callable(dlkernels.sum)


def test_an_unknown_name_is_an_error_as_of_any_module():
    with pytest.raises(AttributeError, match="module 'dlkernels' has no attribute 'addd'"):
        _ = dlkernels.addd
    with pytest.raises(ImportError, match="addd"):
        from dlkernels import addd  # noqa: F401
