"""Groups over threads: each collective on each size, its bytes, its bits, and what a wrong program is told."""

import signal
import threading
import time

import functions
import numpy as np
import pytest
from functions import ALGORITHMS, DTYPES, check_everything, given, ordered_sum
from hypothesis import given as over
from hypothesis import strategies as st

from workers import GroupError, bounds, collectives, threads

SIZES = range(1, 9)
SHAPES = ((0,), (1,), (5,), (16,), (3, 2), (17, 1, 3), (2, 0))


@pytest.mark.parametrize("size", SIZES)
def test_all_collectives_on_all_shapes(size):
    for shape in SHAPES:
        check_everything(size, shape, "float32", threads.run(functions.everything, size, shape, "float32"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_types(dtype):
    check_everything(3, (7,), dtype, threads.run(functions.everything, 3, (7,), dtype))


@pytest.mark.parametrize("capacity", [0, 1, 2])
def test_collectives_need_no_room(capacity):
    """Also where `send` waits until the message is taken."""
    for size in (2, 3, 5, 8):
        results = threads.run(functions.everything, size, (9,), "float32", capacity=capacity)
        check_everything(size, (9,), "float32", results)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_bytes_of_an_all_reduce(algorithm):
    for size in SIZES:
        length = 5 * 8 * 3 * 7  # what all sizes divide
        S = 4 * length
        sent = [found[1:] for found in threads.run(functions.reduced, size, (length,), algorithm)]
        parts = [(2 * (size - 1) * S // size, 2 * (size - 1))] * size
        power = size & (size - 1) == 0
        if algorithm in ("ring", "direct"):
            assert sent == parts
        if algorithm == "naive":
            assert sent == [((size - 1) * S, size - 1), *[(S, 1)] * (size - 1)]
        if algorithm == "halving" and power:
            assert sent == [(bytes_, 2 * (size.bit_length() - 1)) for bytes_, _ in parts]
        if algorithm == "tree":
            assert sent[0] == ((size - 1).bit_length() * S, (size - 1).bit_length())
        if algorithm in ("naive", "tree") or (algorithm == "halving" and power):
            assert sum(bytes_ for bytes_, _ in sent) == 2 * (size - 1) * S, "together all send the same"


def test_bytes_of_parts():
    """A reduce-scatter and an all-gather are the two halves of the ring."""

    def work(group):
        counts = []
        for call in (lambda: group.reduce_scatter(np.zeros(24)), lambda: group.all_gather(np.zeros(24 // group.size)),
                     lambda: group.broadcast(np.zeros(24)), lambda: group.all_to_all(np.zeros((group.size, 2)))):  # fmt: skip
            before = group.bytes_sent
            call()
            counts.append((group.bytes_sent - before) // 8)
        return counts

    for size in (1, 2, 3, 4, 6, 8):
        counts = threads.run(work, size)
        half = 24 * (size - 1) // size
        assert {(one[0], one[1], one[3]) for one in counts} == {(half, half, 2 * (size - 1))}
        assert sum(one[2] for one in counts) == 24 * (size - 1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_workers_have_the_same_bits_and_get_them_again(algorithm):
    for size in SIZES:
        runs = [threads.run(functions.reduced, size, (37,), algorithm) for _ in range(3)]
        assert len({found[0].tobytes() for run in runs for found in run}) == 1


@over(st.integers(2, 8), st.integers(0, 40), st.sampled_from(ALGORITHMS))
def test_which_sums_are_those_of_one_worker(size, length, algorithm):
    """naive and direct add in the order of ranks; the others to rounding; with two workers, all are equal."""
    found = threads.run(functions.reduced, size, (length,), algorithm)[0][0]
    expected = ordered_sum(size, (length,), fractions=True)
    if algorithm in ("naive", "direct") or size == 2:
        assert found.tobytes() == expected.tobytes()
    else:
        scale = sum(np.abs(given(rank, (length,), fractions=True)) for rank in range(size))
        assert (np.abs(found - expected) <= size * np.finfo(np.float32).eps * scale).all()


def test_a_ring_adds_in_another_order():
    """So the table in the docstring says something."""
    found = threads.run(functions.reduced, 3, (999,), "ring")[0][0]
    assert (found != ordered_sum(3, (999,), fractions=True)).any()


def test_operations():
    arrays = np.stack([given(rank, (11,), "float64", fractions=True) for rank in range(5)])
    for found in threads.run(functions.operations, 5):
        for op, expected in (("sum", arrays.sum(0)), ("mean", arrays.mean(0)), ("max", arrays.max(0)),
                             ("min", arrays.min(0)), ("prod", arrays.prod(0))):  # fmt: skip
            np.testing.assert_allclose(found[op], expected, rtol=1e-12)


def test_layouts():
    for size in (1, 3, 4):
        wide = [given(rank, (6, 8)) for rank in range(size)]
        for found in threads.run(functions.layouts, size):
            assert np.array_equal(found[0], sum(wide)[::2, ::-1].T)
            assert found[1] == sum(range(size))
            assert found[1].shape == ()
            assert np.array_equal(found[2], np.concatenate([one[:, 1::3] for one in wide], 1))
            assert np.array_equal(found[3], sum(wide))


def test_ragged_parts():
    for size in (1, 2, 5):
        joined = np.concatenate([np.full((rank % 3, 2), rank) for rank in range(size)])
        for rank, (found, shapes) in enumerate(threads.run(functions.ragged, size)):
            assert np.array_equal(found, joined)
            assert shapes == [(rank, source) for source in range(size)]


def test_a_grid_of_groups():
    """Messages of two groups do not meet, and bytes count in both the sub-group and the whole."""
    for rank, (found, whole, row, column) in enumerate(threads.run(functions.grid, 4)):
        rows, columns = (11, 1100)[rank // 2], (101, 1010)[rank % 2]
        late = None if rank < 2 else (3 - rank, [1000, 100])
        assert found == [rows, columns, late, columns, 10 ** (rank ^ 1)]
        assert whole == row + column + 3 * 3 * 16 + (8 if late else 0), "three splits send 16 bytes thrice each"


def test_sums_beside_others():
    for size in (1, 2, 3):
        for results in threads.run(functions.overlapped, size, 3, 10):
            for k, found in enumerate(results):
                k %= 3
                assert np.array_equal(found, sum(given(rank + k, (10,)) for rank in range(size)))


@pytest.mark.parametrize("size", [2, 3, 5])
def test_nobody_leaves_a_barrier_before_all_have_come(size):
    for late in range(size):
        come = []

        def work(group, late=late, come=come):
            if group.rank == late:
                time.sleep(0.02)  # the others would be gone
            come.append(group.rank)
            group.barrier()
            return len(come)

        assert threads.run(work, size) == [size] * size


def test_from_any():
    found = threads.run(functions.from_any, 4, 5)[0]
    assert sorted(found) == [(source, [source, number]) for source in (1, 2, 3) for number in range(5)]
    for source in (1, 2, 3):
        assert [array[1] for s, array in found if s == source] == list(range(5)), "of one sender: in its order"


def test_two_that_send_first():
    for found in zip(threads.run(functions.both_send, 2, 9, capacity=0), (1, 0), strict=True):
        assert np.array_equal(found[0], given(found[1], (9,)))


@over(st.integers(0, 100), st.integers(1, 20))
def test_bounds_are_those_of_array_split(length, size):
    cuts = np.cumsum([0, *map(len, np.array_split(np.arange(length), size))])
    assert bounds(length, size) == cuts.tolist()


# ---- what goes wrong -------------------------------------------------------------------------------------------------

WRONG = [
    (functions.all_receive, 3, None, "all workers wait for one another .* worker 0 receives from 1; worker 1 receives from 2"),
    (functions.one_forgets, 2, None, r"worker 0 receives from 1; \[1\] have returned"),
    (functions.other_shape, 3, (0, 2), r"worker \d is in all_reduce sum ring of float32 \(\d,\) and took a message of worker"),
    (functions.other_dtype, 2, (0, 1), r"all_reduce sum ring of float64 \(3,\)"),
    (functions.other_order, 2, (0, 1), r"is in (barrier|all_reduce).* and took .* is in (barrier|all_reduce)"),
    (functions.not_received, 2, (1,), "worker 1 sent worker 0 a message that it has not received"),
    (functions.raises, 3, (2,), "worker 2 of 3 raised ZeroDivisionError: no more"),
    (functions.raises_speechless, 2, (1,), "worker 1 of 2 raised Speechless, whose words cannot be had"),
    (functions.aside_raises, 2, (0, 1), r"all_reduce sum ring of float64 \(\d,\) and took"),
    (functions.goes_on_after_an_error, 2, (0, 1), r"all_reduce sum ring of float64 \(\d,\) and took"),
    (functions.aside_raises_unheard, 2, (0, 1), r"all_reduce sum ring of float64 \(\d,\) and took"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "size", "ranks", "words"), WRONG, ids=[row[0].__name__ for row in WRONG])
def test_a_wrong_program_is_told(function, size, ranks, words):
    with pytest.raises(GroupError, match=words) as caught:
        threads.run(function, size, timeout=60)
    assert caught.value.rank in (ranks or (None,))


def test_a_send_that_relies_on_room():
    def work(group):
        group.send(np.zeros(1), 1 - group.rank)
        group.receive(1 - group.rank)

    threads.run(work, 2)
    with pytest.raises(GroupError, match="worker 0 sends to 1; worker 1 sends to 0"):
        threads.run(work, 2, capacity=0)


def test_time_is_up():
    stop = threading.Event()
    try:
        with pytest.raises(GroupError, match=r"time is up after 0.1 s: workers \[0\] of 2"):
            threads.run(lambda group: group.rank or stop.wait(60), 2, timeout=0.1)
    finally:
        stop.set()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs a signal to one thread")
def test_ctrl_c_ends_the_workers():
    """Else they would go on behind a notebook's next cell."""
    ended = threading.Semaphore(0)

    def work(group):
        try:
            group.barrier()  # both are there
            if group.rank == 0:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            while True:
                group.barrier()
        finally:
            ended.release()

    with pytest.raises(KeyboardInterrupt):
        threads.run(work, 2)
    assert ended.acquire(timeout=60)
    assert ended.acquire(timeout=60)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda group: group.send(np.zeros(1), group.rank), ValueError, "to=0: worker 0 of 2 sends to"),
        (lambda group: group.receive(2), ValueError, "source=2"),
        (lambda group: group.send(np.array([None]), 1), TypeError, "dtype object"),
        (lambda group: group.all_reduce(np.zeros(1), op="xor"), ValueError, "op='xor': expected one of sum"),
        (lambda group: group.all_reduce(np.zeros(1), algorithm="star"), ValueError, "expected one of naive, tree"),
        (lambda group: group.all_reduce(np.zeros(1, int), op="mean"), TypeError, "floating-point"),
        (lambda group: group.all_reduce(np.zeros(2), out=np.zeros(3)), ValueError, r"out is float64 \(3,\)"),
        (lambda group: group.all_reduce(np.zeros(2), out=np.zeros(4)[::2]), ValueError, "not C-contiguous"),
        (lambda group: group.reduce_scatter(np.float32(1)), ValueError, "axis 0"),
        (lambda group: group.all_gather(np.zeros((2, 2)), axis=2), ValueError, "axis=2"),
        (lambda group: group.all_to_all([1]), ValueError, "one array for each of the 2 workers"),
        (lambda group: group.broadcast(None), ValueError, "worker 0 is the root"),
        (lambda group: group.broadcast(np.zeros(1), root=2), ValueError, "root=2"),
        (lambda group: group.split(-2), ValueError, "color=-2"),
        (lambda group: group.split(0.5), ValueError, "color=0.5: colors are integers"),
        (lambda group: group.receive(1, into=np.zeros((2, 4))[:, ::2]), ValueError, "into is not C-contiguous"),
    ],
)
def test_wrong_arguments(call, error, words):
    def work(group):
        if group.rank == 0:
            with pytest.raises(error, match=words):
                call(group)

    threads.run(work, 2)


def test_one_worker_at_least():
    with pytest.raises(ValueError, match="size=0"):
        threads.run(functions.all_receive, 0)


def test_each_algorithm_is_tested():
    assert set(ALGORITHMS) == set(collectives.ALL_REDUCE)
