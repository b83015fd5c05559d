"""The truths of chapter 03's predictions, found in a second way: tick by tick, with two threads that look at a
clock."""

import numpy as np
import pytest

from coursework.tasks import c03 as tasks
from dlkernels.schedules import next_guided, next_stolen, own_ranges

pytestmark = pytest.mark.quick


def ticks(costs, chunk, late=0):
    """(when all pieces are done, when the second thread has come and found nothing more to do), tick by tick."""
    left, busy, now, done, came = list(costs), [0, 0], 0, 0, None
    while left or any(busy) or came is None:
        for k in (0, 1):
            if busy[k] == 0 and left and now >= (0, late)[k]:
                busy[k], left = sum(left[:chunk]), left[chunk:]
        if now >= late and busy[1] == 0 and not left and came is None:
            came = now
        now += 1
        if any(busy):
            done = now
        busy = [max(0, b - 1) for b in busy]
    return done, came


@pytest.mark.parametrize("chunk", [1, 2, 3, 8])
def test_handing_out_by_ticks(chunk):
    assert ticks(tasks.shared.PREDICT_ROWS, chunk)[0] == tasks.shared.makespan(tasks.shared.PREDICT_ROWS, 2, chunk)


@pytest.mark.parametrize(("n", "dear"), [(64, 6), (80, 7), (48, 7), (96, 5), (80, 3), (64, 3)])
def test_the_first_theft_is_that_of_the_library(n, dear):
    """Two clocks; whoever is behind asks the library for its next row. Thread 0's first row in the other half was
    stolen."""
    ranges, clocks, costs = own_ranges(n, 2), [0, 0], [1] * (n // 2) + [dear] * (n // 2)
    row = -1
    while row < n // 2:
        t = clocks.index(min(clocks))
        first, _ = next_stolen(ranges, t, 1)
        clocks[t] += costs[first]
        row = first if t == 0 else row
    assert tasks.predict.stolen_first(costs) == n - row


@pytest.mark.parametrize("late", [0, 3, 8, 15, 16, 40])
def test_who_waits_for_whom_by_ticks(late):
    done, came = ticks([1] * 16, 1, late)
    assert tasks.layers.returns_after(16, 1, late, for_all=False) == done
    assert tasks.layers.returns_after(16, 1, late, for_all=True) == max(done, came)


def test_the_question_has_what_the_page_recorded():
    """On page 3.3 the second thread came after the caller had done all pieces: several times as long in all."""
    alone = tasks.layers.PIECES * tasks.layers.PIECE
    assert tasks.layers.LATE > 2 * alone
    assert (
        tasks.layers.returns_after(tasks.layers.PIECES, tasks.layers.PIECE, tasks.layers.LATE, for_all=True)
        == tasks.layers.LATE
    )
    assert (
        tasks.layers.returns_after(tasks.layers.PIECES, tasks.layers.PIECE, tasks.layers.LATE, for_all=False) == alone
    )


@pytest.mark.parametrize(
    ("n", "threads", "least"), [(tasks.predict.LOOP, 2, tasks.predict.LEAST), (48, 2, 6), (1000, 7, 8), (1, 2, 3)]
)
def test_guided_chunks_are_those_of_the_library(n, threads, least):
    counter, lengths = np.zeros(1, np.int64), []
    while sum(lengths) < n:
        first, last = next_guided(counter, n, threads, least)
        lengths.append(last - first)
    assert tasks.predict.guided(n, threads, least) == lengths


def test_with_a_whole_share_the_first_chunk_is_that_of_the_paper():
    """Polychronopoulos and Kuck 1987: each takes a share of what is left, as many as there are threads."""
    assert tasks.predict.guided(100, 4, 1, share=1)[0] == 25
