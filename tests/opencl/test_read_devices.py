"""What the reader makes of a kernel, beside PoCL and Oclgrind, where they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from random_kernels import GROUP, ITEMS, kernel
from read_zoo import ZOO

from opencl.read import Program
from opencl.read.device import available, on_device

DAILY, NIGHTLY = range(168), range(168, 400)
SEEN = {"data race": "race", "Invalid ": "out-of-bounds", "ivergence": "barrier"}  # Oclgrind's words for a kind


@pytest.fixture
def device():
    if not available():
        pytest.skip("no OpenCL device here: `make opencl` installs PoCL")


def compared(seed):
    text, whole, real = kernel(seed)
    rng = np.random.default_rng(seed)
    a = rng.integers(-(2**31), 2**31, ITEMS).astype(np.int32)
    a[::3] = rng.integers(-5, 5, len(a[::3]))
    x = rng.normal(size=ITEMS).astype(np.float32)
    ours, theirs = ((np.zeros(ITEMS * whole, np.int64), np.zeros(ITEMS * real, np.float32)) for _ in range(2))
    with np.errstate(all="ignore"):
        Program(text).run("f", ITEMS, GROUP)(a, x, *ours, 5)
    on_device(text, "f", ITEMS, GROUP, ("-w",))(a, x, *theirs, 5)
    assert np.array_equal(ours[0], theirs[0]), text
    assert np.array_equal(ours[1], theirs[1], equal_nan=True), text


@pytest.mark.rotates
@pytest.mark.parametrize("seed", DAILY)
def test_random_kernels_by_day(seed, device):
    compared(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", NIGHTLY)
def test_random_kernels_by_night(seed, device):
    compared(seed)


def test_oclgrind_says_the_same_of_the_zoo():
    if shutil.which("oclgrind") is None or not available():
        pytest.skip("no Oclgrind, or no pyopencl here")
    here = Path(__file__).parent
    paths = [str(here), str(here.parents[1] / "lib"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYOPENCL_NO_CACHE": "1"}
    done = subprocess.run(
        ["oclgrind", "--data-races", sys.executable, str(here / "read_zoo.py")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    said = dict(part.split("\n", 1) for part in (done.stdout + done.stderr).split("== ")[1:])
    assert said.keys() == ZOO.keys(), done.stderr[-2000:]
    for name, (_, _, fault) in ZOO.items():
        kinds = {kind for text, kind in SEEN.items() if text in said[name]}
        if fault is None:
            assert not kinds, f"{name}: {said[name]}"
        else:
            assert fault[0] in kinds, f"{name}: {said[name]}"
