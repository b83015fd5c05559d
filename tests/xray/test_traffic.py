"""The memory model against a brute-force one: sectors, bank passes, broadcasts, contention, races."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlkernels.xray import races, traffic


@st.composite
def patterns(draw):
    """Accesses of a few warp instructions: each has an element size, some lanes, aligned addresses."""
    rows = []
    for request in range(draw(st.integers(1, 3))):
        size = draw(st.sampled_from([1, 2, 4, 8, 16]))
        lanes = draw(st.lists(st.integers(0, 31), min_size=1, max_size=32, unique=True))
        stride, start = draw(st.integers(0, 40)), draw(st.integers(0, 64))
        wild = draw(st.booleans())
        for lane in lanes:
            element = draw(st.integers(0, 300)) if wild else start + lane * stride
            rows.append((request, lane, element * size, size))
    return np.array(sorted(rows, key=lambda r: hash(r)), np.int64).T


def by_request(pattern):
    found = defaultdict(list)
    for request, lane, address, size in pattern.T.tolist():
        found[request].append((lane, address, size))
    return [found[r] for r in sorted(found)]


@settings(max_examples=300, deadline=None)
@given(patterns())
def test_sectors_and_bytes(pattern):
    request, _, address, size = pattern
    n = request.max() + 1
    sectors = [len({b // 32 for _, a, s in group for b in range(a, a + s)}) for group in by_request(pattern)]
    used = [len({b for _, a, s in group for b in range(a, a + s)}) for group in by_request(pattern)]
    assert traffic.sectors(request, n, address, size).tolist() == sectors
    assert traffic.bytes_used(request, n, address, size).tolist() == used


@settings(max_examples=300, deadline=None)
@given(patterns())
def test_bank_passes(pattern):
    request, lane, address, size = pattern
    wavefronts, least, ways = [], [], []
    for group in by_request(pattern):
        lanes_at_once = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[group[0][2]]
        passes = []
        for start in range(0, 32, lanes_at_once):
            words = {
                b // 4 for i, a, s in group if start <= i < start + lanes_at_once for b in range(a, a + s)
            }
            if words:
                banks = [w % 32 for w in words]
                passes.append(max(banks.count(bank) for bank in banks))
        wavefronts.append(sum(passes))
        least.append(len(passes))
        ways.append(max(passes))
    got = traffic.bank_passes(request, request.max() + 1, lane, address, size)
    assert [column.tolist() for column in got] == [wavefronts, least, ways]


@settings(max_examples=200, deadline=None)
@given(patterns())
def test_contention(pattern):
    request, _, address, _ = pattern
    expected = [max([a for _, a, _ in group].count(a) for _, a, _ in group) for group in by_request(pattern)]
    assert traffic.contention(request, request.max() + 1, address).tolist() == expected


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
    lane = np.arange(32)
    zero = np.zeros(32, np.int64)
    got = traffic.bank_passes(zero, 1, lane, lane * stride * size, np.full(32, size))
    assert (got[0][0], got[2][0]) == (wavefronts, ways)


def test_local_memory_lies_word_by_word_across_the_warp():
    # Every lane reads element 5 of its own float32 array: words 5*32 ... 5*32+31, 128 bytes, 4 sectors.
    lane = np.arange(32)
    address = traffic.local_address(np.full(32, 5 * 4), lane)
    assert address.tolist() == [(5 * 32 + i) * 4 for i in range(32)]
    assert traffic.sectors(np.zeros(32, np.int64), 1, address, np.full(32, 4))[0] == 4


def test_pack_keeps_the_order_of_rows_even_where_the_key_would_overflow():
    rng = np.random.default_rng(7)
    columns = [rng.integers(-(2**40), 2**40, 500) // 2**35 * 2**35 for _ in range(5)]
    order = np.argsort(traffic.pack(*columns), kind="stable")
    assert order.tolist() == np.lexsort(columns[::-1]).tolist()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)),
        min_size=1,
        max_size=25,
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
