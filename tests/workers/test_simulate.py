"""The simulated cluster: its collectives, pipelines, failures and streams against closed formulas and plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers import simulate
from workers.simulate import events, links, streams
from workers.simulate.links import Group, Link

LINK = Link("test", 3e-6, 10e9)
SLOW = Link("far", 2e-5, 1e9)
SIZES = st.integers(1, 40)
BYTES = st.floats(0, 1e9)


# ---- collectives -----------------------------------------------------------------------------------------------------


@given(SIZES, BYTES)
def test_a_ring_run_step_by_step_takes_what_the_formula_says(n, nbytes):
    found = links.ring_ends(np.zeros(n), nbytes, LINK)
    exact = 2 * (n - 1) * (LINK.alpha + nbytes / n / LINK.beta)
    assert np.allclose(found, exact, rtol=1e-12, atol=0)
    assert links.ring_all_reduce(n, nbytes, LINK) == pytest.approx(exact, rel=1e-12)


def test_a_ring_of_1024_as_it_was_counted_by_hand():
    link = Link("by hand", 5e-6, 50e9)
    assert links.ring_all_reduce(1024, 496e6, link) == pytest.approx(30.05e-3, rel=1e-3)
    assert links.tree_all_reduce(1024, 496e6, link) == pytest.approx(198.5e-3, rel=1e-3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), BYTES)
def test_a_ring_waits_for_who_comes_last_and_for_nothing_else(begins, nbytes):
    ends = links.ring_ends(begins, nbytes, LINK)
    n = len(begins)
    alone = links.ring_all_reduce(n, nbytes, LINK)
    assert ends.max() <= max(begins) + alone + 1e-9
    assert (ends >= np.array(begins) + alone - 1e-9).all()
    if n > 1:
        # what worker i has, has gone round the ring from everyone
        one = LINK.seconds(nbytes / n)
        for i in range(n):
            slowest = max(begins[j] + (2 * (n - 1) - (i - j) % n) * one + (i - j) % n * one for j in range(n))
            assert ends[i] == pytest.approx(slowest, abs=1e-9)


@given(SIZES, BYTES)
def test_all_reduce_is_reduce_scatter_and_all_gather(n, nbytes):
    halves = links.ring_reduce_scatter(n, nbytes, LINK) + links.ring_all_gather(n, nbytes, LINK)
    assert links.ring_all_reduce(n, nbytes, LINK) == pytest.approx(halves, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("n", "steps"), [(1, 0), (2, 2), (3, 4), (4, 4), (5, 6), (1024, 20)])
def test_a_tree_takes_two_logarithms(n, steps):
    assert links.tree_all_reduce(n, 1e6, LINK) == pytest.approx(steps * (LINK.alpha + 1e6 / LINK.beta))
    assert links.pipelined_tree_all_reduce(n, 0, LINK) == pytest.approx(steps * LINK.alpha)


@given(st.integers(1, 8), st.integers(1, 64), BYTES)
def test_rails_carry_a_part_of_the_bytes_each(inside, between, nbytes):
    rails = Group(inside, between, LINK, SLOW)
    near = links.ring_all_reduce(inside, nbytes, LINK)
    far = links.ring_all_reduce(between, nbytes / inside, SLOW)
    assert rails.all_reduce(nbytes) <= near + far + 1e-12
    if nbytes > 1e8:  # where bytes matter more than messages, ports are worth their number
        one = Group(inside, between, LINK, SLOW, rails=False)
        assert rails.all_reduce(nbytes) <= one.all_reduce(nbytes) * 1.001 or between == 1
    halves = rails.reduce_scatter(nbytes) + rails.all_gather(nbytes)
    assert rails.all_reduce(nbytes) <= 2 * rails.all_gather(nbytes) * 1.0001 + 1e-12 == halves * 1.0001 + 1e-12


def test_a_group_of_one_sends_nothing():
    alone = Group(1, 1, LINK, SLOW)
    for call in (alone.all_reduce, alone.all_gather, alone.reduce_scatter, alone.all_to_all, alone.send):
        assert call(1e9) == 0


@given(st.integers(1, 8), st.integers(2, 16), st.floats(1e6, 1e9))
def test_all_to_all_sends_what_does_not_stay(inside, between, nbytes):
    group = Group(inside, between, LINK, SLOW)
    assert group.all_to_all(nbytes) >= nbytes * (between - 1) / between / SLOW.beta


@pytest.mark.parametrize(
    ("size", "stride", "inside", "between"),
    [(8, 1, 8, 1), (16, 1, 8, 2), (4, 1, 4, 1), (4, 2, 4, 1), (8, 2, 4, 2), (64, 8, 1, 64), (5, 1, 5, 1), (12, 1, 6, 2), (1, 1, 1, 1)],
)  # fmt: skip
def test_a_group_knows_which_of_it_share_a_node(size, stride, inside, between):
    group = simulate.cluster("h100", 512).group(size, stride)
    assert (group.inside, group.between, group.size) == (inside, between, size)


# ---- pipelines -------------------------------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(1, 12), st.integers(1, 5), st.integers(1, 5))
def test_a_pipeline_of_equal_stages_has_the_bubble_of_the_formula(p, m, f, b):
    seconds = simulate.pipelined([f] * p, [b] * p, m)
    assert seconds == (m + p - 1) * (f + b)
    assert 1 - m * (f + b) / seconds == pytest.approx((p - 1) / (m + p - 1))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 10))
def test_the_slowest_stage_sets_the_pace(times, m):
    seconds = simulate.pipelined(times, times, m)
    # a stage works for all microbatches, and waits for the first one's way to it and the last one's way back
    assert seconds >= max(2 * sum(times[:s]) + 2 * m * one for s, one in enumerate(times))
    assert seconds <= 2 * (m + len(times) - 1) * max(times)


def test_a_message_costs_each_stage_twice():
    assert simulate.pipelined([1] * 4, [2] * 4, 1, latency=0.5) == 12 + 6 * 0.5


# ---- events ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 10), max_size=30))
def test_events_come_in_order_and_equal_ones_as_they_were_put(times):
    found = events.Events()
    for k, time in enumerate(times):
        found.at(time, k)
    order = list(found)
    assert order == sorted(range(len(times)), key=lambda k: (times[k], k))
    with pytest.raises(ValueError, match="expected a time that is to come"):
        found.at(found.now - 1, "late")


@given(st.integers(1, 1000), st.integers(1, 100), st.integers(0, 20))
def test_a_run_without_failures_takes_its_work_and_its_checkpoints(work, interval, cost):
    ran = simulate.checkpointed(work, interval, cost, restart=5, mean=1e15)
    assert ran.failures == 0
    assert ran.saved == -(-work // interval)
    assert ran.seconds == pytest.approx(work + ran.saved * cost)


@pytest.mark.parametrize("workers", [1, 50])
def test_failures_cost_what_daly_expects(workers):
    between, cost, restart = 3600.0, 60.0, 300.0
    interval = simulate.daly(cost, between)
    work = 100 * interval
    runs = [simulate.checkpointed(work, interval, cost, restart, between * workers, workers, s) for s in range(80)]
    seconds = np.array([run.seconds for run in runs])
    exact = events.expected(work, interval, cost, restart, between)
    assert abs(seconds.mean() - exact) < 4 * seconds.std() / math.sqrt(len(runs))
    assert seconds.std() < 0.1 * exact
    assert np.mean([run.failures for run in runs]) == pytest.approx(exact / between, rel=0.05)


def test_a_run_is_repeated_by_its_seed():
    runs = [simulate.checkpointed(1e5, 1e3, 60, 60, 1e6, 100, seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    with pytest.raises(ValueError, match="expected more than 0"):
        simulate.checkpointed(10, 0, 1, 1, 1)


@pytest.mark.parametrize(("between", "minutes"), [(24 * 60, 117), (6 * 60, 57), (15, 9.1)])
def test_dalys_interval_is_that_of_his_figures(between, minutes):
    assert simulate.daly(5, between) == pytest.approx(minutes, abs=0.5)  # Daly 2006, figures 3 to 5


@given(st.floats(1, 100), st.floats(1e3, 1e6), st.floats(0, 500))
def test_no_other_interval_is_much_better_than_dalys(cost, between, restart):
    def of(interval):
        return events.expected(1.0, interval, cost, restart, between)

    best = min(of(simulate.young(cost, between) * scale) for scale in np.linspace(0.3, 3, 300))
    assert of(simulate.daly(cost, between)) <= best * 1.001
    if cost < between / 100:
        assert simulate.daly(cost, between) == pytest.approx(simulate.young(cost, between), rel=0.05)


def test_an_interval_for_failures_that_come_at_once():
    assert simulate.daly(100, 10) == 10


def test_the_slowest_of_many_is_slower():
    found = [simulate.slowest(n, 0.05) for n in (1, 8, 64, 1024, 16384)]
    assert found == sorted(found)
    assert found[0] == 1
    for n, one in zip((64, 1024, 16384), found[2:], strict=True):
        assert 0.75 < (one - 1) / (0.05 * math.sqrt(2 * math.log(n))) < 1


@pytest.mark.parametrize("slow", [1, 4])
def test_a_slow_worker_holds_up_those_who_wait_for_all(slow):
    n = 16
    sync = simulate.updates(n, spread=0, slow=slow)
    backup = simulate.updates(n, spread=0, slow=slow, wait_for=n - 1)
    free = simulate.updates(n, spread=0, slow=slow, asynchronous=True)
    assert sync == events.Updates(slow, 0, 0)
    assert backup == events.Updates(1, 0, 1 / n)
    assert free.seconds == pytest.approx(1 / (n - 1 + 1 / slow), rel=0.02)
    assert n - 2 < free.staleness < n  # the others' updates, one each


# ---- streams ---------------------------------------------------------------------------------------------------------

TIMES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


@given(TIMES, st.integers(1, 6))
def test_a_loader_with_buffers_as_a_plain_loop_has_it(times, buffers):
    reads, computes = [r for r, _ in times], [c for _, c in times]
    begins, ends, read = [], [], []
    for i in range(len(times)):
        free = ends[i - buffers] if i >= buffers else 0
        read.append(max(read[-1] if read else 0, free) + reads[i])
        begins.append(max(read[i], ends[-1] if ends else 0))
        ends.append(begins[i] + computes[i])
    assert list(streams.streamed(reads, computes, buffers)) == ends
    if times:
        most = max(sum(reads) + computes[-1], reads[0] + sum(computes))
        assert most <= ends[-1] <= sum(reads) + sum(computes)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(2, 40))
def test_one_buffer_adds_and_two_overlap(r, c, n):
    assert streams.streamed([r] * n, [c] * n, 1)[-1] == n * (r + c)
    assert streams.streamed([r] * n, [c] * n, 2)[-1] == r + c + (n - 1) * max(r, c)
    with pytest.raises(ValueError, match="1 or more"):
        streams.streamed([r], [c], 0)


def test_tokens_that_hide_a_link():
    gpu = simulate.GPUS["h100"]
    tokens = streams.tokens_to_hide(gpu, 50e9)
    assert 2 * tokens / (gpu.flops * gpu.kernels) == pytest.approx(2 / 50e9)  # seconds of a number: used, brought


# ---- one machine -----------------------------------------------------------------------------------------------------


def test_a_local_step_is_samples_and_a_ring():
    assert simulate.local(1, 64, 0.01, 1e6, 1e-5, 1e9) == pytest.approx(0.64)
    two = simulate.local(2, 64, 0.01, 1e6, 1e-5, 1e9)
    assert two == pytest.approx(0.32 + 2 * (1e-5 + 0.5e6 / 1e9))
    assert simulate.local(4, 64, 0.01, 0, 0, 1e9, cores=2) == pytest.approx(0.32)  # twice as many as cores
    assert simulate.local(4, 64, 0, 1e6, 1e-5, 1e9, algorithm="tree") == pytest.approx(4 * (1e-5 + 1e-3))
    with pytest.raises(ValueError, match="that they divide"):
        simulate.local(3, 64, 0.01, 1e6, 1e-5, 1e9)
    with pytest.raises(ValueError, match="ring"):
        simulate.local(2, 64, 0.01, 1e6, 1e-5, 1e9, algorithm="star")


@settings(max_examples=30)
@given(st.floats(1e-6, 1e-3), st.floats(1e8, 1e11))
def test_alpha_and_beta_are_found_again(alpha, beta):
    sizes = np.array([1e3, 1e5, 1e6, 1e7])
    found = simulate.fit_link(sizes, alpha + sizes / beta)
    assert found == pytest.approx((alpha, beta), rel=1e-3)
    with pytest.raises(ValueError, match="two or more"):
        simulate.fit_link([10, 10], [1, 1])
