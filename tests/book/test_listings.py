"""The listings of the page "Which tool when": compiled where that can be done here, and as they were when they were
run."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from cpulab.measure import recorded

pytestmark = pytest.mark.quick

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = recorded("listings").data["rows"]


@pytest.fixture(scope="module")
def listings():
    spec = importlib.util.spec_from_file_location("listings", REPOSITORY / "benchmarks" / "listings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_run_is_what_the_page_shows(listings):
    """The record names the files by their hashes: a listing that was changed must be run again."""
    files = recorded("listings").data["files"]
    assert files == {name: listings.digest(name) for name in listings.FILES.values()}
    assert {file.name for file in listings.FOLDER.iterdir() if file.is_file()} == set(files)


def test_the_tabs_are_the_tools_of_the_record():
    """What was run of each, and what compiled only, a table of the page says."""
    page = (REPOSITORY / "chapters" / "tools.md").read_text(encoding="utf-8")
    tools = {row["tool"] for row in ROWS} - {"CUDA C"} | {"CUDA C++"}
    tabs = re.findall(r"^`+\{tab-item\} (.*)$", page, flags=re.M)
    assert sorted(tabs) == sorted(3 * [*tools])  # add, softmax, matmul


def test_each_listing_has_each_kernel(listings):
    for name in listings.FILES.values():
        lines = (listings.FOLDER / name).read_text().splitlines()
        marks = [line.split()[-1] for line in lines if line.startswith(("// ", "# "))]
        assert marks == [*listings.NAMES, "end"], name
        assert max(map(len, lines)) <= 84, name


def test_cuda_c_compiles(listings):
    pytest.importorskip("cuda.bindings.nvrtc")
    row = listings.cuda_c()
    assert set(row["kernels"]) == set(listings.GPUS)
    assert min(row["kernels"].values()) > 1000


def test_cuda_c_that_does_not_compile_is_told(listings, monkeypatch, tmp_path):
    pytest.importorskip("cuda.bindings.nvrtc")
    (tmp_path / "cuda_c.cu").write_text("__global__ void broken( {")
    monkeypatch.setattr(listings, "FOLDER", tmp_path)
    with pytest.raises(RuntimeError, match="sm_80"):
        listings.cuda_c()


def test_the_record_is_refused_without_the_tools(listings, monkeypatch):
    monkeypatch.delenv("TOOLS_PYTHON", raising=False)
    with pytest.raises(Exception, match="TOOLS_PYTHON"):
        listings.benchmark(quick=True)
    assert "cuda.tile" not in sys.modules
