"""Oclgrind: planted faults are found with their lines, and it finds none in any kernel of ours."""

import sys
from pathlib import Path

import numpy as np
import opencl_here as here
import pytest

from opencl import oclgrind
from opencl.host import KERNELS, Unavailable
from opencl.oclgrind import Local, findings, parsed

here.needed()
X = np.arange(32, dtype=np.float32)
needs = pytest.mark.skipif(not oclgrind.installed(), reason="Oclgrind is not installed: make opencl")

PLANTED = """
__kernel void shifted(__global const float *x, __global float *out, __local float *shared) {
    int t = get_local_id(0), i = get_global_id(0);
    shared[t] = x[i];
    out[i] = shared[(t + 1) % get_local_size(0)];
}
__kernel void outside(__global const float *x, __global float *out) {
    out[get_global_id(0)] = x[get_global_id(0) + 1];
}
__kernel void divergent(__global float *out, __local float *shared) {
    int t = get_local_id(0);
    shared[t] = out[t];
    if (t < 7)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[t] = 1;
}
__kernel void counted(__global int *out) {
    out[0] += 1;
}
__kernel void right(__global int *out) {
    atomic_inc(out);
}
"""
#: kernel, NDRange, work-group, arguments -> kind, lines
CASES = [
    ("shifted", 32, 8, (X, X, Local(8)), "data race", {4, 5}),
    ("outside", 32, 8, (X, X), "out of bounds", {8}),
    ("divergent", 32, 32, (X, Local(32)), "divergent barrier", {14}),
    ("counted", 32, 8, (np.zeros(1, np.int32),), "data race", {18}),
]


@needs
@pytest.mark.rotates(by=lambda params: "cases")
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_planted_fault_is_found(case):
    kernel, work_items, group, arguments, kind, lines = case
    found = findings(PLANTED, kernel, work_items, group, *arguments)
    assert found, "nothing was found"
    assert {one.kind for one in found} == {kind}
    assert {one.kernel for one in found} == {kernel}
    assert {line for one in found for line in (one.line, one.other) if line} == lines
    assert {one.file for one in found} == {"program.cl"}


@needs
@pytest.mark.rotates
def test_a_right_kernel_has_no_finding_and_a_wrong_call_is_told():
    assert findings(PLANTED, "right", 32, 8, np.zeros(1, np.int32)) == []
    with pytest.raises(RuntimeError, match="no kernel 'wrong'"):
        findings(PLANTED, "wrong", 32, 8)


@needs
@pytest.mark.rotates
def test_a_barrier_that_is_taken_out_of_our_own_kernel_is_found():
    """Without its second barrier, the tile of a product is overwritten while others still read it."""
    text = (KERNELS / "matmul.cl").read_text()
    start = text.index("void matmul_tiled")
    cut = text.index("barrier(CLK_LOCAL_MEM_FENCE);  // nobody", start)
    a = np.ones((16, 64), np.float32)
    arguments = a, np.ones((64, 16), np.float32), np.ones((16, 16), np.float32), 16, 16, 64, 0, 0
    wrong = text[:cut] + text[cut:].replace("barrier(CLK_LOCAL_MEM_FENCE);", "", 1)
    found = findings(wrong, "matmul_tiled", (16, 16, 1), (16, 16, 1), *arguments, real="float")
    assert {one.kind for one in found} == {"data race"}


@needs
@pytest.mark.rotates
def test_no_kernel_of_ours_has_a_finding(tmp_path):
    ran = tmp_path / "kernels"
    assert (
        oclgrind.watched([sys.executable, str(Path(__file__).with_name("every_kernel.py")), str(ran)], limit=500) == []
    )
    # Oclgrind 21.10 knows no sub-groups: test_sub_groups.py has that kernel, under the same name
    written = {line.split("(")[0].split()[-1] for file in KERNELS.glob("*.cl") for line in kernels_of(file)}
    assert written <= set(ran.read_text().split())
    assert len(written) >= 22


def kernels_of(file):
    """The first lines of the kernels in a file, with their name."""
    lines = file.read_text().splitlines()
    for k, line in enumerate(lines):
        if line.startswith("__kernel"):
            yield line if "void" in line else lines[k + 1]


LOG = """
Read-write data race at local memory address 0x1000000000000
\tKernel: f
\t
\tFirst entity:  Global(7,0,0) Local(7,0,0) Group(0,0,0)
\tAt line 5 (column 29) of input.cl:
\t  out[i] = s[7 - t];
\t
\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\tAt line 4 (column 10) of input.cl:
\t  s[t] = x[i];

"""


@pytest.mark.quick
def test_a_log_is_read():
    (one,) = parsed(LOG + LOG.replace("0x1000000000000", "0x1000000000004"))
    assert (one.kind, one.kernel, one.line, one.other, one.file) == ("data race", "f", 5, 4, "input.cl")
    assert "s[7 - t]" in one.message
    assert parsed("") == []
    assert [one.kernel for one in parsed(LOG + LOG.replace("Kernel: f", "Kernel: g"))] == ["f", "g"]


def test_without_oclgrind_it_is_told(monkeypatch):
    monkeypatch.setattr(oclgrind.shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match=r"Oclgrind is not installed.*make opencl"):
        findings(PLANTED, "right", 32, 8)


@needs
@pytest.mark.slow
def test_a_kernel_that_never_ends_is_ended():
    endless = "__kernel void f(__global int *x) { while (x[0] == 0) { x[1] += 1; } }"
    with pytest.raises(TimeoutError, match="longer than 5 seconds"):
        findings(endless, "f", 1, 1, np.zeros(2, np.int32), limit=5)
