"""The cheat sheet: one sheet of A4; what its tables name exists. Its code cells run with the page."""

import re

import numba
import numpy as np
import pytest
from built import ROOT

from opencl.read import Program
from simt import cuda

SHEET = (ROOT / "chapters" / "cheat_sheet.md").read_text(encoding="utf-8")
TABLES = "\n".join(line for line in SHEET.splitlines() if line.startswith("|"))
A4 = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
IN_OPENCL = """
__kernel void every(__global int *a, __global int *out) {
    __local int s[64];
    int i = get_global_id(0) % 4;
    s[get_local_id(0)] = get_group_id(0) * get_local_size(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&a[i], 1);
    out[get_global_id(0)] = s[get_local_id(0)] + get_local_id(0);
}
"""


def sheets(pdf):
    """How many pages a PDF of Chromium has."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.quick
def test_commands_are_those_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    explained = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))
    named = set(re.findall(r"`make ([a-z-]+)", SHEET))
    assert len(named) > 5
    assert named <= explained, f"no such command: {sorted(named - explained)}"


@pytest.mark.quick
def test_names_of_numba_exist():
    for name in re.findall(r"\bnumba\.(set_\w+)\(", TABLES):
        assert hasattr(numba, name), name
    used = set(re.findall(r"\bcuda\.(\w+)", TABLES))
    assert len(used) > 4
    assert [name for name in used if not hasattr(cuda, name)] == []


@pytest.mark.quick
def test_what_the_table_says_in_opencl_is_read_and_right():
    words = set(re.findall(r"\b(get_\w+|barrier|atomic_\w+)\(", TABLES))
    assert words == set(re.findall(r"\b(get_\w+|barrier|atomic_\w+)\(", IN_OPENCL))
    a, out = np.zeros(4, np.int32), np.zeros(256, np.int32)
    report = Program(IN_OPENCL).xray("every", global_size=256, local_size=64)(a, out)
    assert not report.findings
    assert (a == 64).all()
    assert (out == np.arange(256)).all()


@pytest.mark.book
def test_it_is_printed_on_one_sheet(book, browser):
    pdf = browser.open((book / "chapters" / "cheat_sheet.html").as_uri()).pdf(**A4)
    assert sheets(pdf) == 1, f"it takes {sheets(pdf)} sheets of A4"


@pytest.mark.book
def test_sheets_are_counted(browser, tmp_path):
    (tmp_path / "page.html").write_text('<p style="break-after: page">One</p>' * 3 + "<p>Four</p>", encoding="utf-8")
    assert sheets(browser.open((tmp_path / "page.html").as_uri()).pdf(**A4)) == 4
