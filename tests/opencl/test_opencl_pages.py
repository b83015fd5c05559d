"""The pages on OpenCL: what they show where there is no device was recorded of what they are now."""

import importlib.util
import re
from pathlib import Path

import pytest

from cpulab import measure

ROOT = Path(__file__).parents[2]


def recorder():
    path = ROOT / "benchmarks" / "opencl_pages.py"
    spec = importlib.util.spec_from_file_location("opencl_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.quick
def test_each_function_behind_live_is_recorded():
    pages = recorder()
    sources = "\n".join(cell for page in pages.PAGES for cell in pages.cells(page))
    names = re.findall(r"^@live\ndef (\w+)\(", sources, re.MULTILINE)
    assert len(names) >= 8
    assert sources.count("@live") == len(names)
    shown = measure.recorded("opencl_pages").data
    assert list(shown) == names
    assert all(shown.values())
