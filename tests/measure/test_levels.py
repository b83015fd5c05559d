"""Bandwidth and latency over sizes: the kernels do what they say, and the steps of this machine are seen."""

import numpy as np
import pytest

from cpulab.measure import bandwidth, latency, levels
from dlkernels.simd import vector_width

pytestmark = pytest.mark.quick

KIB = 2**10
EXAMPLE = levels.Ladder(
    "read by 1 thread",
    "B/s",
    (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB),
    (400e9, 390e9, 100e9, 90e9, 30e9, 10e9),
    (("L1", 32 * KIB), ("L2", 1024 * KIB)),
)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("repeat", [1, 3])
def test_every_number_is_read(threads, repeat):
    grain = threads * bandwidth.CHAINS * vector_width(np.float32)
    x = np.arange(5 * grain, dtype=np.float32)
    # The chains begin with the first vector of each part instead of zero.
    width, part = vector_width(np.float32), x.size // threads
    first = sum(x[t * part : t * part + width].sum() for t in range(threads))
    expected = repeat * x.sum(dtype=np.float64) + bandwidth.CHAINS * first
    assert bandwidth.read_all(x, threads, repeat) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
@pytest.mark.parametrize("seed", [0, 1])
def test_one_cycle_through_all_places(n, seed):
    following = latency.random_cycle(n, seed)
    at, seen = 0, []
    for _ in range(n):
        seen.append(at)
        at = following[at]
    assert at == 0
    assert sorted(seen) == list(range(n))


def test_the_cycle_is_random():
    following = latency.random_cycle(10_000, 0)
    steps = np.abs(following - np.arange(10_000))
    assert 3000 < steps.mean() < 3700  # a third of the length, where an order with a pattern would have few
    assert not np.array_equal(following, latency.random_cycle(10_000, 1))


def test_a_chain_visits_one_number_in_each_line():
    places = latency.chain(100, stride=256)
    assert places.nbytes == 100 * 256
    visited, at = set(), 0
    for _ in range(100):
        visited.add(at)
        at = latency.chase(places, at, 1)
    assert visited == set(range(0, 100 * 32, 32))
    assert at == 0
    assert latency.chase(places, 0, 100) == 0
    assert (np.delete(places, sorted(visited)) == -1).all()


class Counting:
    """A clock that advances by four milliseconds whenever it is looked at."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        self.time += 4e-3
        return self.time


def test_rates_are_bytes_over_seconds():
    x = np.zeros(8192, np.float32)
    assert bandwidth._rate(x, 1, Counting()) == pytest.approx(x.nbytes / 4e-3)
    assert latency.seconds_per_load(latency.chain(64), Counting()) == pytest.approx(4e-3 / latency.STEPS)


def test_levels_are_read_in_the_middle():
    assert EXAMPLE.levels == {"L1": 390e9, "L2": 90e9, "memory": 10e9}
    assert [EXAMPLE.level_of(size) for size in (100, 32 * KIB, 33 * KIB, 2**30)] == ["L1", "L1", "L2", "memory"]
    assert EXAMPLE.table().rows == (
        ("L1", "32\xa0KiB", "390\xa0GB/s", ""),
        ("L2", "1\xa0MiB", "90.0\xa0GB/s", "4.3"),
        ("memory", "", "10.0\xa0GB/s", "9.0"),
    )


def test_the_picture_has_its_words():
    figure = levels.ladder_picture(EXAMPLE)
    assert figure.alt_text == (
        "read by 1 thread against size, in steps: 390\xa0GB/s in L1, 90.0\xa0GB/s in L2, 10.0\xa0GB/s in memory."
    )
    assert [text.get_text() for text in figure.axes[0].texts] == ["L1", "L2"]
    other = levels.Ladder("time of one load", "s", EXAMPLE.sizes, EXAMPLE.values, EXAMPLE.caches)
    with pytest.raises(ValueError, match="one unit"):
        levels.ladder_picture(EXAMPLE, other)


def test_sizes():
    sizes = levels.ladder_sizes(2**20)
    assert (sizes[0], sizes[-1]) == (4096, 2**20)
    assert sizes[2] == 2 * sizes[0]
    assert len(sizes) == 17
    with pytest.raises(ValueError, match="expected two or more rising sizes from 4096 bytes on"):
        bandwidth.bandwidth_ladder(sizes=[8192, 4096])
    with pytest.raises(ValueError, match="expected at least 4096"):
        levels.ladder_sizes(100)
    with pytest.raises(ValueError, match="a multiple of 8 bytes"):
        latency.chain(10, stride=12)


def test_every_size_is_measured():
    """How they differ is the machine's; the statement is on the page of chapter 04."""
    sizes = (16 * KIB, 64 * KIB)
    read, wait = bandwidth.bandwidth_ladder(sizes=sizes), latency.latency_ladder(sizes=sizes)
    assert (read.unit, wait.unit) == ("B/s", "s")  # exact: no time
    for ladder in (read, wait):
        assert ladder.sizes == sizes  # exact: as they were given
        assert len(ladder.values) == 2
        assert min(ladder.values) > 0
