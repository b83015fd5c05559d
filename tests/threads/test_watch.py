"""`watch` against brute force, numba's own division of loops, and what numba makes of reductions."""

import json
import math
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit, prange

from cpulab.watch import Beyond64Bits, TooLarge, watch
from cpulab.watch.loops import blocks

pytestmark = pytest.mark.quick

NOTHING = -1


@njit(parallel=True)
def by_table(table, x):
    """Each iteration: for every (load, store) of its row, x[store] = x[load]."""
    for i in prange(table.shape[0]):
        for k in range(table.shape[1]):
            value = 0.0
            if table[i, k, 0] >= 0:
                value = x[table[i, k, 0]]
            if table[i, k, 1] >= 0:
                x[table[i, k, 1]] = value


@st.composite
def tables(draw):
    iterations, steps, elements = draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.integers(1, 40))
    entry = st.integers(NOTHING, elements - 1)
    numbers = draw(st.lists(entry, min_size=iterations * steps * 2, max_size=iterations * steps * 2))
    return np.array(numbers).reshape(iterations, steps, 2), elements


def brute_force(table, address, threads):
    """(elements raced for, lines with false sharing, moves of lines) of by_table, step by step."""
    steps, owner = [], {}
    for thread, (begin, end) in enumerate(blocks(len(table), threads)):
        mine = []
        for i in range(begin, end):
            for load, store in table[i]:
                # the table itself is read, too: 1 or 2 looks before each access that only count as steps
                mine.append((thread, i, None, "load"))
                if load >= 0:
                    mine += [(thread, i, None, "load"), (thread, i, int(load), "load")]
                mine.append((thread, i, None, "load"))
                if store >= 0:
                    mine += [(thread, i, None, "load"), (thread, i, int(store), "store")]
        steps.append(mine)
    flat = [a for mine in steps for a in mine if a[2] is not None]
    raced = {a[2] for a in flat for b in flat if a[2] == b[2] and a[1] != b[1] and "store" in (a[3], b[3])}
    false = {
        address[a[2]] // 64
        for a in flat
        for b in flat
        if a[0] != b[0] and a[2] != b[2] and a[3] == "store" and address[a[2]] // 64 == address[b[2]] // 64
    }
    moves = 0
    for turn in range(max(map(len, steps), default=0)):
        for mine in steps:
            if turn >= len(mine) or mine[turn][2] is None:
                continue
            thread, _, element, kind = mine[turn]
            line = address[element] // 64
            writer, having = owner.get(line, (None, frozenset()))
            if kind == "store":
                moves += bool(having - {thread})
                owner[line] = (thread, frozenset({thread}))
            else:
                moves += thread not in having and writer not in (None, thread)
                owner[line] = (writer, having | {thread})
    return raced, false, moves


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 4), st.sampled_from([1, 3]))
def test_races_false_sharing_and_moves_are_those_of_brute_force(made, threads, stride):
    table, elements = made
    x = np.zeros(elements * stride, np.float32)[::stride]
    report = watch(by_table, threads=threads)(table, x)
    address = [4 * stride * e for e in range(elements)]
    raced, false, moves = brute_force(table, address, threads)
    assert bool(report.races) == bool(raced)
    assert all(race.index[0] // stride in raced for race in report.races)
    for race in report.races:
        assert "store" in race.kinds
        assert race.iterations[0] != race.iterations[1]
    assert {shared.line for shared in report.false_sharing} == false
    assert report.line_transfers == moves
    touched = {address[e] // 64 for e in table.ravel() if e >= 0}
    assert report.lines_by_array.get("x", 0) == len(touched)
    assert report.stores == int((table[..., 1] >= 0).sum())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_addresses_in_arrays_of_any_layout(a, b, c, turned):
    @njit(parallel=True)
    def double(x, out):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                for k in range(x.shape[2]):
                    out[i, j, k] = 2 * x[i, j, k]

    x = np.arange(a * b * c, dtype=np.float64).reshape(a, b, c)
    out = np.zeros((a, b, 2 * c))[:, :, ::2]
    if turned:
        x = np.asfortranarray(x)
        out = out[::-1]
    report = watch(double)(x, out)
    assert np.array_equal(report.arguments[1], 2 * x)
    assert (report.loads, report.stores, report.races) == (x.size, x.size, [])
    assert not out.any()
    offsets = sum(
        np.arange(n).reshape([-1 if i == d else 1 for i in range(3)]) * abs(s)
        for d, (n, s) in enumerate(zip(out.shape, out.strides, strict=True))
    )
    assert report.lines_by_array["out"] == len(np.unique(offsets // 64))


DIVISION = """
import json, sys
import numba, numpy as np
from numba import get_thread_id, njit, prange, set_num_threads
@njit(parallel=True)
def who(out):
    for i in prange(out.size):
        out[i] = get_thread_id()
found = {}
for threads in (1, 2, 3, 4):
    set_num_threads(threads)
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 100, 101, 102, 103):
        out = np.zeros(n, np.int64)
        who(out)
        cuts = [0, *(np.flatnonzero(np.diff(out)) + 1).tolist(), n]
        found[f"{threads} {n}"] = list(zip(cuts[:-1], cuts[1:]))
print(json.dumps(found))
"""


@pytest.mark.parametrize("layer", ["workqueue", "omp"])
def test_static_is_numbas_own_division(layer):
    environment = {**os.environ, "NUMBA_NUM_THREADS": "4", "NUMBA_THREADING_LAYER": layer}
    done = subprocess.run([sys.executable, "-c", DIVISION], env=environment, capture_output=True, text=True)
    if done.returncode and "threading layer" in done.stderr:
        pytest.skip(f"numba has no {layer} here")
    assert done.returncode == 0, done.stderr[-2000:]
    for key, found in json.loads(done.stdout).items():
        threads, n = map(int, key.split())
        assert [list(block) for block in blocks(n, threads)] == found, key


@njit(parallel=True)
def histogram(x, h):
    for i in prange(x.size):
        h[x[i]] += 1


@njit(parallel=True)
def private_histogram(x, h):
    part = np.zeros((numba.get_num_threads(), 8), np.int64)
    for i in prange(x.size):
        part[numba.get_thread_id(), x[i]] += 1
    for b in range(h.size):
        for t in range(part.shape[0]):
            h[b] += part[t, b]


@njit(parallel=True)
def wrong_thread(x, h):
    """Indexed by the thread's number, but every thread also uses row 0."""
    part = np.zeros((numba.get_num_threads(), 8), np.int64)
    for i in prange(x.size):
        part[numba.get_thread_id() * 0, x[i]] += 1
    h[:] = part[0, : h.size]


@njit(parallel=True)
def reductions(x):
    total, product, most = 0.0, 1.0, -1e30
    for i in prange(x.size):
        square = x[i] * x[i]
        total += square
        product *= 1.0 + x[i]
        most = max(most, x[i])
    return total, product, most


@njit(parallel=True)
def array_reduction(x):
    total = np.zeros(x.shape[1])
    for i in prange(x.shape[0]):
        total += x[i]
    return total


@njit(parallel=True)
def difference(x, out):
    before = 0.0
    for i in prange(x.size):
        out[i] = x[i] - before
        before = x[i]


@njit(parallel=True)
def running_best(x, out):
    best = 0
    for i in prange(x.size):
        if x[i] > x[best]:
            best = i
    out[0] = best


@njit
def helper(row):
    return row.sum() / row.size


@njit(parallel=True)
def row_means(x, out):
    for i in prange(x.shape[0]):
        out[i] = helper(x[i])


@njit(parallel=True)
def whole_rows(x, out):
    for i in prange(x.shape[0]):
        shifted = x[i] - x[i].max()
        out[i] = np.exp(shifted)


@njit(parallel=True)
def triangle(x, out):
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(i + 1):
            total += x[i, j]
        out[i] = total


@njit(parallel=True)
def nested(out):
    for i in prange(out.shape[0]):
        for j in prange(out.shape[1]):
            out[i, j] = i + j


X = np.array([0, 1, 2, 3, 0, 1, 2, 3])


def test_a_race_names_element_iterations_and_line():
    report = watch(histogram)(X, np.zeros(4, np.int64))
    (race,) = report.races
    assert (race.array, race.index, race.elements) == ("h", (0,), 4)
    assert race.iterations == (0, 4)
    assert race.code == ("h[x[i]]", "h[x[i]]")
    assert race.line == histogram.py_func.__code__.co_firstlineno + 3
    assert "race on h[0]" in str(report)
    assert not report.ok


def test_private_rows_do_not_race_but_share_no_line_either():
    report = watch(private_histogram)(X, np.zeros(4, np.int64))
    assert report.ok
    assert report.false_sharing == []
    assert report.arguments[1].tolist() == [2, 2, 2, 2]
    assert report.lines_by_array["part"] == 2
    assert watch(wrong_thread)(X, np.zeros(4, np.int64)).races


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=20), st.integers(1, 4))
def test_reductions_are_numbas(values, threads):
    x = np.array(values)
    report = watch(reductions, threads=threads)(x)
    assert report.ok
    np.testing.assert_allclose(report.result, reductions(x), rtol=1e-9, atol=1e-12)


def test_an_array_can_be_a_reduction():
    x = np.arange(12.0).reshape(4, 3)
    report = watch(array_reduction)(x)
    assert report.ok
    np.testing.assert_allclose(report.result, array_reduction(x))


@pytest.mark.parametrize(("kernel", "name"), [(difference, "before"), (running_best, "best")])
def test_what_is_carried_from_one_iteration_to_the_next_is_found(kernel, name):
    report = watch(kernel)(np.arange(5.0), np.zeros(5))
    assert report.carried == [name]
    assert not report.ok
    assert f"{name} is used before" in str(report)


def test_helpers_and_whole_rows():
    x = np.arange(12.0).reshape(4, 3)
    report = watch(row_means)(x, np.zeros(4))
    assert report.ok
    np.testing.assert_allclose(report.arguments[1], x.mean(axis=1))
    assert report.loads == x.size
    report = watch(whole_rows)(x, np.zeros((4, 3)))
    assert report.ok
    assert report.temporaries == 8
    np.testing.assert_allclose(report.arguments[1], np.exp(x - x.max(axis=1, keepdims=True)))


def test_nested_loops_are_parallel_outside_only():
    report = watch(nested, threads=3)(np.zeros((6, 4)))
    assert report.iterations == [2, 2, 2]
    assert report.ok


def test_schedules_balance_a_triangle():
    x, out = np.ones((32, 32)), np.zeros(32)
    reports = {
        s: watch(triangle, 2, s, 1 if s != "static" else None)(x, out)
        for s in ("static", "cyclic", "dynamic", "guided")
    }
    assert reports["static"].imbalance > 1.4
    for name in ("cyclic", "dynamic", "guided"):
        assert reports[name].imbalance < 1.1
        np.testing.assert_array_equal(reports[name].arguments[1], np.arange(1, 33))
    assert all(sum(r.iterations) == 32 for r in reports.values())


def test_views_of_one_array_are_one_memory():
    @njit(parallel=True)
    def shift(a, b):
        for i in prange(a.size):
            b[i] = a[i]

    memory = np.arange(9.0)
    assert watch(shift)(memory[:-1], memory[1:]).races
    assert watch(shift)(memory[:4], memory[4:8]).ok


def test_small_sizes_only():
    with pytest.raises(TooLarge, match="small arrays"):
        watch(histogram, limit=100)(np.zeros(1000, int), np.zeros(4))


@pytest.mark.parametrize(
    ("options", "says"),
    [({"schedule": "auto"}, "expected one of static"), ({"threads": 0}, "from 1 on"), ({"chunk": 0}, "from 1 on")],
)
def test_misuse_is_a_sentence(options, says):
    with pytest.raises(ValueError, match=says):
        watch(histogram, **options)


def test_the_figure_says_which_lines_are_shared():
    report = watch(histogram)(X, np.zeros(4, np.int64))
    figure, alt = report.figure()
    assert "h: lines 0 written by several threads" in alt
    assert figure.axes
    assert "<table>" in report._repr_html_()


# Whole numbers -------------------------------------------------------------------------------------------------------


def in_a_loop(compute):
    """A program that stores compute(number) of each number in its last argument."""

    @njit(parallel=True)
    def program(numbers, out):
        for i in prange(numbers.size):
            out[i] = compute(numbers[i])

    return program


@njit
def times_four(n):
    big = (n + 1) << 62
    return big * 4


@njit
def doubled_in_place(n):
    n += 1 << 62
    n += n
    return n


@njit
def squared(n):
    return (n + 3) ** 40


@njit
def far_power(n):
    return (n + 3) ** 4_000_000_000


@njit
def moved_out(n):
    bits = n + 64
    return 1 >> bits


@njit
def least_negated(n):
    least = -1 << 63
    return -(least + n)


@pytest.mark.parametrize("compute", [times_four, doubled_in_place, squared, far_power, moved_out, least_negated])
def test_a_whole_number_beyond_64_bits_ends_the_run(compute):
    with pytest.raises(Beyond64Bits, match="64 bits"):
        watch(in_a_loop(compute))(np.zeros(1, np.int64), np.zeros(1))


@njit
def of_32_bits(n):
    return np.int32(2_147_483_647) + np.int32(n + 1)


@njit
def of_8_bits(n):
    return np.uint8(200) + np.uint8(n + 100)


@njit
def just_fits(n):
    largest = (1 << 62) - 1 + (1 << 62)
    return largest - n - 5 * (largest // 7) + (-largest) % 11


@pytest.mark.parametrize("compute", [of_32_bits, of_8_bits, just_fits])
def test_whole_numbers_are_as_wide_as_compiled(compute):
    numbers, compiled = np.zeros(1, np.int64), np.zeros(1, np.int64)
    in_a_loop(compute)(numbers, compiled)
    assert watch(in_a_loop(compute))(numbers, np.zeros(1, np.int64)).arguments[1].tolist() == compiled.tolist()


@njit
def too_much_for_python(x):
    return 1 / (1 + math.exp(x)) + math.cosh(x)


def test_math_gives_infinity_as_compiled():
    x, compiled = np.full(1, 1000.0), np.zeros(1)
    in_a_loop(too_much_for_python)(x, compiled)
    assert (
        watch(in_a_loop(too_much_for_python))(x, np.zeros(1)).arguments[1].tolist() == compiled.tolist() == [math.inf]
    )
