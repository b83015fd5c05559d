"""Which way the public scan on a GPU takes, by the number of rows and how they lie; each gives the same states."""

from unittest.mock import patch

import numpy as np
import pytest

from dlkernels import scan
from dlkernels.recurrent import gpu_scans, reference

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("rows", "steps", "dim", "taken"),
    [
        (3, 40, 0, "chunks"),
        (4, 40, 0, "block"),
        (4, 40, 1, "block"),
        (9, 40, 0, "thread"),
        (9, 40, 1, "block"),
        (3, 5, 0, "thread"),
        (9, 5, 1, "thread"),
    ],
)
def test_the_way_that_the_record_says(rows, steps, dim, taken):
    rng = np.random.default_rng(0)
    shape = (steps, rows) if dim == 0 else (rows, steps)
    a, b = rng.uniform(0.5, 1, shape).astype(np.float32), rng.standard_normal(shape).astype(np.float32)
    ways = []

    def seen(name):
        way = getattr(gpu_scans, name)

        def spied(*arguments):
            ways.append(name.split("_")[0])
            return way(*arguments)

        return patch.object(gpu_scans, name, spied)

    thresholds = patch.multiple(gpu_scans, MANY_ROWS=4, ENOUGH_THREADS=8)
    with thresholds, seen("thread_per_row"), seen("block_per_row"):
        states = np.asarray(scan(gpu_scans.cuda.to_device(a), gpu_scans.cuda.to_device(b), dim=dim))
    assert (ways or ["chunks"]) == [taken]
    np.testing.assert_allclose(states, reference.scan(a, b, dim=dim), atol=1e-4)


def test_the_thresholds_follow_from_the_record():
    from cpulab import measure

    rows = measure.ladder("scan", "4096 x 4096")
    crossing = 4096 * rows["scan_thread_per_row"]["time"] / rows["scan_hillis_steele"]["time"]
    assert gpu_scans.ENOUGH_THREADS / 1.2 < crossing < 1.2 * gpu_scans.ENOUGH_THREADS, crossing
