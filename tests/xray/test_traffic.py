"""The memory model against a brute-force one: sectors, bank passes, broadcasts, contention, races."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpulab.measure import recorded
from simt.trace import SHARED
from simt.xray import analysis, races, traffic
from simt.xray import columns as grouping

pytestmark = pytest.mark.quick


@st.composite
def patterns(draw):
    """Accesses of a few warp instructions: each is (element size, [(lane, aligned address)])."""
    requests = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.sampled_from([1, 2, 4, 8, 16]))
        lanes = draw(st.lists(st.integers(0, 31), min_size=1, max_size=32, unique=True))
        stride, start, wild = draw(st.integers(0, 40)), draw(st.integers(0, 64)), draw(st.booleans())
        element = [draw(st.integers(0, 300)) if wild else start + lane * stride for lane in lanes]
        requests.append((size, [(lane, e * size) for lane, e in zip(lanes, element, strict=True)]))
    return requests


def matrices(requests):
    """The form that `traffic` takes: active, lane, address, size."""
    columns = max(len(accesses) for _, accesses in requests)
    active = np.zeros((len(requests), columns), bool)
    lane, address = np.zeros((2, len(requests), columns), np.int64)
    for row, (_, accesses) in enumerate(requests):
        for column, (l, a) in enumerate(accesses):
            active[row, column], lane[row, column], address[row, column] = True, l, a
    return active, lane, address, np.array([[size] for size, _ in requests])


def bytes_of(size, accesses):
    return {b for _, a in accesses for b in range(a, a + size)}


@settings(max_examples=300, deadline=None)
@given(patterns())
def test_sectors_and_bytes(requests):
    active, _, address, size = matrices(requests)
    touched = [bytes_of(*request) for request in requests]
    assert traffic.sectors(active, address, size).tolist() == [len({b // 32 for b in t}) for t in touched]
    assert traffic.bytes_used(active, address, size).tolist() == [len(t) for t in touched]


def neighbours_agree(accesses):
    """Whether all lanes i and i^1 want the same, or all i and i^2."""
    wanted = dict(accesses)
    return any(all(wanted.get(lane ^ apart, a) == a for lane, a in accesses) for apart in (1, 2))


@settings(max_examples=300, deadline=None)
@given(patterns(), st.booleans())
def test_bank_passes(requests, load):
    wavefronts, least, ways = [], [], []
    for size, accesses in requests:
        lanes_at_once = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[size]
        if load and neighbours_agree(accesses):
            lanes_at_once = min(32, 2 * lanes_at_once)
        passes = []
        for start in range(0, 32, lanes_at_once):
            part = [(l, a) for l, a in accesses if start <= l < start + lanes_at_once]
            words = {b // 4 for b in bytes_of(size, part)}
            if words:
                banks = [w % 32 for w in words]
                passes.append(max(banks.count(bank) for bank in banks))
        wavefronts.append(sum(passes))
        least.append(len(passes))
        ways.append(max(passes))
    loads = np.full(len(requests), load)
    assert [column.tolist() for column in traffic.bank_passes(*matrices(requests), loads)] == [wavefronts, least, ways]


def test_a_gpu_counts_the_same_wavefronts_and_conflicts():
    """Single loads and stores of one warp, whose wavefronts Nsight Compute counted on a GPU
    (benchmarks/gpu_banks.py)."""
    rows = recorded("gpu_banks").data["rows"]
    found = [(row["bytes"], np.array(row["pattern"].split(), int)) for row in rows]
    requests = [(size, [(l, size * e) for l, e in enumerate(elements) if e >= 0]) for size, elements in found]
    loads = np.array([row["kind"] == "load" for row in rows])
    wavefronts, least, _ = traffic.bank_passes(*matrices(requests), loads)
    assert len(rows) > 1000
    assert wavefronts.tolist() == [row["nsight"]["wavefronts"] for row in rows]
    assert (wavefronts - least).tolist() == [row["nsight"]["conflicts"] for row in rows]


@settings(max_examples=200, deadline=None)
@given(patterns())
def test_addresses_and_contention(requests):
    active, _, address, _ = matrices(requests)
    each = [[a for _, a in accesses] for _, accesses in requests]
    assert traffic.contention(active, address).tolist() == [max(e.count(a) for a in e) for e in each]
    assert traffic.addresses(active, address).tolist() == [len(set(e)) for e in each]


@settings(max_examples=50, deadline=None)
@given(patterns(), st.randoms(use_true_random=False))
def test_whole_traces_give_the_same(requests, random):
    """`analysis.requests` groups rows in any order into the same requests, with the same measures."""
    rows = [
        (number, lane, address, size) for number, (size, accesses) in enumerate(requests) for lane, address in accesses
    ]
    random.shuffle(rows)
    number, lane, address, size = np.array(rows, np.int64).T
    zero = np.zeros(len(rows), np.int64)
    trace = SimpleNamespace(
        site=number, array=zero, warp=zero, visit=zero, kind=zero, space=zero + SHARED,
        lane=lane, address=address, size=size,
    )  # fmt: skip
    table, found = analysis.requests(trace)
    assert found.tolist() == number.tolist()
    wavefronts, least, ways = traffic.bank_passes(*matrices(requests), np.ones(len(requests), bool))  # kind 0: loads
    assert table.wavefronts.tolist() == wavefronts.tolist()
    assert table.least_wavefronts.tolist() == least.tolist()
    assert table.ways.tolist() == ways.tolist()
    assert table.lanes.tolist() == [len(accesses) for _, accesses in requests]


@pytest.mark.parametrize(
    ("size", "stride", "wavefronts", "ways"),
    [
        (4, 1, 1, 1),  # neighbours: 32 words, 32 banks
        (4, 2, 2, 2),  # words 0, 2 ... 62: lanes 0 and 16 meet in bank 0
        (4, 32, 32, 32),  # a column of a 32x32 tile: every word in bank 0
        (4, 33, 1, 1),  # the same column of a padded tile: lane i in bank i
        (4, 0, 1, 1),  # one word for all: a broadcast
        (1, 1, 1, 1),  # 32 bytes are 8 words: four lanes share a word
        (2, 1, 1, 1),  # 64 bytes are 16 words: two lanes share a word
        (2, 64, 32, 32),  # 128 bytes apart: every lane in bank 0
        (8, 1, 2, 1),  # 256 bytes: two half warps of 128 bytes
        (8, 2, 4, 2),  # a half warp spans words 0-61 in steps of 4: lanes 0 and 8 meet
        (16, 1, 4, 1),  # 512 bytes: four quarter warps
        (16, 2, 8, 2),  # a quarter warp spans words 0-59 in steps of 8: lanes 0 and 4 meet
    ],
)
def test_known_strides(size, stride, wavefronts, ways):
    got = traffic.bank_passes(
        *matrices([(size, [(lane, lane * stride * size) for lane in range(32)])]), np.ones(1, bool)
    )
    assert (got[0][0], got[2][0]) == (wavefronts, ways)


def test_local_memory_lies_word_by_word_across_the_warp():
    # Every lane reads element 5 of its own float32 array: words 5*32 ... 5*32+31, 128 bytes, 4 sectors.
    lane = np.arange(32)
    address = traffic.local_address(np.full(32, 5 * 4), lane)
    assert address.tolist() == [(5 * 32 + i) * 4 for i in range(32)]
    assert traffic.sectors(np.ones((1, 32), bool), address[None], np.array([[4]]))[0] == 4


def test_pack_keeps_the_order_of_rows_even_where_the_key_would_overflow():
    rng = np.random.default_rng(7)
    columns = [rng.integers(-(2**40), 2**40, 500) // 2**35 * 2**35 for _ in range(5)]
    order = np.argsort(grouping.pack(*columns), kind="stable")
    assert order.tolist() == np.lexsort(columns[::-1]).tolist()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25
    ),
    st.randoms(use_true_random=False),
)
def test_races_against_all_pairs(rows, shuffler):
    """What a quadratic search finds is found, and nothing else, whatever the order of the rows."""

    def search(rows):
        place, owner, kind, site = np.array(rows, np.int64).T
        i, j = races.unordered_pairs(place, owner, kind, site, np.zeros(len(rows), np.int64))
        assert all(owner[i] != owner[j])
        found = {
            (int(place[a]), frozenset([(int(site[a]), int(kind[a])), (int(site[b]), int(kind[b]))]))
            for a, b in zip(i, j, strict=True)
        }
        examples = {(rows[a], rows[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)}
        return found, examples

    expected = set()
    for a, b in combinations(rows, 2):
        store = races.STORE in (a[2], b[2])
        mixed = (a[2] == races.ATOMIC) != (b[2] == races.ATOMIC)
        if a[0] == b[0] and a[1] != b[1] and (store or mixed):
            expected.add((a[0], frozenset([(a[3], a[2]), (b[3], b[2])])))
    found, examples = search(rows)
    assert found == expected
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    assert search(shuffled) == (found, examples)
