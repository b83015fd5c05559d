"""The sum by sub-groups: its text in the executor, and on a device that has sub-groups."""

import numpy as np
import pytest

import opencl
from opencl.host import KERNELS
from opencl.read import LocalMemory, Program

TEXT = (KERNELS / "sum_sub_groups.cl").read_text(encoding="utf-8")
GROUP, LENGTH = 64, 100


@pytest.mark.parametrize("n", [1, 63, 100, 230])
def test_in_the_executor_it_is_the_sum_without_a_race(n):
    x, parts = np.random.default_rng(n).integers(-9, 9, (3, n)).astype(np.float32), -(-n // LENGTH)
    out = np.full((3, parts), np.nan, np.float32)
    program = Program(TEXT.replace("real", "float"))
    report = program.xray("sum_parts", (parts * GROUP, 3), (GROUP, 1))(x, out, n, parts, LENGTH, LocalMemory(GROUP * 4))
    assert not report.findings
    assert np.array_equal(out, np.add.reduceat(x, range(0, n, LENGTH), axis=1))
    assert report.total["barriers"] == 1


def test_a_ragged_work_group_has_a_sub_group_for_its_rest():
    out = np.zeros(40, np.int32)
    text = "__kernel void f(__global int *out) { out[get_global_id(0)] = get_num_sub_groups(); }"
    Program(text).run("f", 40, 40)(out)
    assert out.tolist() == [2] * 40


def test_on_a_device():
    if not (opencl.available() and opencl.device().has_sub_groups):
        pytest.skip("no OpenCL device here has cl_khr_subgroups")
    from opencl.operations import sum

    x = np.random.default_rng(1).standard_normal(100_000).astype(np.float32)
    np.testing.assert_allclose(sum(x), x.sum(dtype=np.float64), rtol=1e-4)


def test_a_device_without_them_takes_the_tree(monkeypatch):
    if not opencl.available():
        pytest.skip("no OpenCL device here")
    from opencl import launches

    asked = []
    monkeypatch.setattr(
        launches,
        "program",
        lambda dtype, *files: asked.append(files) or launches.device().program("sum.cl", real="float"),
    )
    for has, file in ((False, "sum.cl"), (True, "sum_sub_groups.cl")):
        monkeypatch.setattr(launches.device(), "has_sub_groups", has)
        x = launches.device().array(np.ones((1, 10), np.float32))
        assert launches.sum_rows(x).get().tolist() == [10]
        assert asked[-1] == (file,)
