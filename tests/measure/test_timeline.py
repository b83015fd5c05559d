"""Timelines: one clock in Python and compiled code, what is computed from the pieces, what the picture shows."""

import itertools
import threading
import time

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from numba import get_num_threads, njit, prange

from cpulab.measure import WAIT, Timeline, draw_timelines, fastest_timeline, nanoseconds, new_log, note
from cpulab.measure.timeline_plot import _cells

pytestmark = pytest.mark.quick


@njit
def compiled_clock():
    return nanoseconds()


@njit(nogil=True)
def read_often(times):
    for i in range(times.size):
        times[i] = nanoseconds()


@njit(parallel=True)
def sums(x, out, log):
    for i in prange(out.size):
        start = nanoseconds()
        total = 0.0
        for j in range(x.size):
            total += np.sqrt(x[j] + i)
        out[i] = total
        note(log, i, start)


def example():
    """Two threads over 100 ns: "a" works 0-40 and 60-100, "b" waits 0-50 and works 50-100."""
    timeline = Timeline(["a", "b"])
    timeline.add("a", "first", 0, 40)
    timeline.add("a", "second", 60, 100)
    timeline.add("b", "queue", 0, 50, kind=WAIT)
    timeline.add("b", "third", 50, 100)
    return timeline


def test_the_compiled_clock_is_pythons_clock():
    compiled_clock()
    for _ in range(1000):
        before, inside, after = time.perf_counter_ns(), compiled_clock(), time.perf_counter_ns()
        assert before <= inside <= after  # exact: one clock, which never goes back


def test_the_compiled_clock_never_goes_back():
    times = np.empty(100_000, np.int64)
    read_often(times)
    assert np.diff(times).min() >= 0


def test_the_clock_works_in_python_code_too():
    assert nanoseconds() <= time.perf_counter_ns()


def test_a_log_from_prange_names_threads_and_lies_within_the_call():
    x, out, log = np.ones(2000), np.empty(40), new_log(40)
    sums(x, out, log)
    log[:] = -1
    before = time.perf_counter_ns()
    sums(x, out, log)
    after = time.perf_counter_ns()
    np.testing.assert_allclose(out, 2000 * np.sqrt(1 + np.arange(40)))
    timeline = Timeline.from_log(log, get_num_threads())
    assert len(timeline.pieces) == 40
    assert timeline.threads == [f"thread {t}" for t in range(get_num_threads())]
    assert before <= timeline.start < timeline.end <= after  # exact: as above
    assert sorted(piece.label for piece in timeline.pieces) == list(range(40))
    for thread in timeline.threads:  # one thread does one thing at a time
        own = timeline.of(thread)
        assert all(a.end <= b.start for a, b in itertools.pairwise(own))


def test_python_threads_record_themselves():
    timeline, within = Timeline(), {}

    def work():
        with timeline.piece("work"):
            within[threading.current_thread().name] = nanoseconds()

    threads = [threading.Thread(target=work, name=f"worker {k}") for k in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(timeline.threads) == {"worker 1", "worker 2"}
    for name, now in within.items():
        (piece,) = timeline.of(name)
        assert piece.label == "work"
        assert piece.start <= now <= piece.end  # exact: as above


def test_a_piece_that_raises_is_recorded():
    timeline = Timeline()
    with pytest.raises(KeyError), timeline.piece("broken", thread="main"):
        raise KeyError
    assert [piece.label for piece in timeline.of("main")] == ["broken"]


def test_busy_balance_and_overlap_from_the_pieces():
    timeline = example()
    assert timeline.elapsed == pytest.approx(100e-9)
    assert timeline.busy() == pytest.approx({"a": 0.8, "b": 0.5})
    assert timeline.balance == pytest.approx((80 + 50) / 2 / 80)
    assert timeline.overlap() == pytest.approx(40e-9)  # 60-100: b waits while a does its first piece
    assert timeline.table().rows == (("a", "2", "80.0\xa0ns", "80%"), ("b", "2", "50.0\xa0ns", "50%"))


def test_nested_pieces_count_once():
    timeline = Timeline()
    timeline.add("a", "outer", 0, 100)
    timeline.add("a", "inner", 20, 30)
    assert timeline.busy_seconds() == pytest.approx({"a": 100e-9})
    assert timeline.overlap() == 0


def test_an_idle_thread_has_a_row():
    log = new_log(2)
    log[0] = 1, 10, 20
    timeline = Timeline.from_log(log, threads=3)
    assert timeline.busy() == pytest.approx({"thread 0": 0, "thread 1": 1, "thread 2": 0})
    assert timeline.balance == pytest.approx(1 / 3)


def test_the_fastest_of_several_runs_but_for_the_first_which_compiles():
    ends = iter([5, 40, 30, 10, 20])

    def run(log):
        log[0] = 0, 0, next(ends)

    fastest = fastest_timeline(run, 1, threads=2)
    assert fastest.elapsed == pytest.approx(10e-9)
    assert fastest.busy() == pytest.approx({"thread 0": 1, "thread 1": 0})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: new_log(0), "at least 1"),
        (lambda: Timeline.from_log(np.zeros((3, 3))), "expected int64"),
        (lambda: Timeline.from_log(new_log(4)), "no piece was noted"),
        (lambda: Timeline().elapsed, "nothing was recorded"),
        (lambda: Timeline().add("a", "x", 5, 4), "ends 1 ns before it starts"),
        (lambda: draw_timelines({}), "no timelines given"),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_figure_has_a_row_for_each_thread_and_a_bar_for_each_piece():
    open_before = pyplot.get_fignums()
    figure = draw_timelines({"": example()})
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a\n80% busy", "b\n50% busy"]
    extents = [c.get_paths()[0].get_extents() for c in axes.collections]
    ends = [value for e in extents for value in (e.x0, e.x1)]
    assert ends == pytest.approx([0, 40, 60, 100, 0, 50, 50, 100])
    assert axes.get_xlabel() == "time in ns"
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"work", WAIT}
    assert "a: 2 pieces, 80% busy" in figure.alt_text
    assert pyplot.get_fignums() == open_before


def test_several_timelines_share_the_axis_of_time():
    long = Timeline()
    long.add("a", "only", 1_000_000, 3_000_000)
    figure = draw_timelines({"short": example(), "long": long})
    assert [axes.get_title() for axes in figure.axes] == ["", ""]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["short", "long"]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert figure.axes[1].get_xlabel() == "time in ms"
    assert figure.alt_text.startswith("short: Timeline of 2 threads")


def test_many_short_pieces_become_few_bars_without_losing_time():
    timeline = Timeline()
    for i in range(5000):
        timeline.add("a", i, 10 * i, 10 * i + 9)
    timeline.add("a", 5000, 70_000, 70_010)
    cells = _cells(timeline.of("a"), least=200)
    assert len(cells) <= 5000 * 10 / 200 + 2
    assert cells[0][0] == 0
    assert all(a[1] == b[0] for a, b in itertools.pairwise(cells[:-1]))
    assert cells[-2][1] == 49_999
    assert cells[-1][:2] == (70_000, 70_010)


def test_many_threads_still_fit_a_page():
    timeline = Timeline()
    for t in range(64):
        timeline.add(f"thread {t}", t, 0, 100 + t)
    figure = draw_timelines({"": timeline})
    assert figure.get_figheight() < 11
    assert figure.axes[0].get_yticklabels()[63].get_text() == "thread 63, 100%"


def test_a_joined_bar_has_the_colour_of_its_longest_piece():
    timeline = Timeline()
    for i, (start, end) in enumerate([(0, 10), (10, 60), (60, 90)]):
        timeline.add("a", i, start, end)
    ((first, last, piece),) = _cells(timeline.of("a"), least=200)
    assert (first, last, piece.label) == (0, 90, 1)


def test_threads_differ_by_hatch_and_not_by_colour_alone():
    timeline = Timeline(["idle"])
    for i in range(8):
        timeline.add(f"thread {i % 2}", i, 10 * i, 10 * i + 9)
    figure = draw_timelines({"": timeline})
    hatches = {c.get_hatch() for c in figure.axes[0].collections if c.get_hatch()}
    assert len(hatches) == 2
