"""Asynchronous training: what the bound promises; bound 0 is synchronous; real threads and processes use one server."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nets import batches, close, loss_of, mlp, same_bits

from training import SGD, modules
from workers import examples, threads
from workers.local_sgd import LocalSGD
from workers.staleness import Client, ParameterServer, serve, simulate, work


def server_of(workers, bound, lr=0.1, updates=None):
    p = modules.Parameter(np.array([4.0, -2.0], np.float32))
    return ParameterServer([p], SGD([p], lr=lr), workers, bound, updates)


def bowl(weights, worker, k):
    """Loss and gradient of w^2 / 2."""
    return float((weights[0] ** 2).sum() / 2), [weights[0]]


@given(st.integers(1, 5), st.one_of(st.none(), st.integers(0, 3)), st.lists(st.floats(0.1, 9), min_size=5, max_size=5))
@settings(max_examples=30)
def test_the_bound(n, bound, speeds):
    """No worker is further ahead than that, and staleness is within (2 bound + 1)(n - 1): Ho and others, section 3."""
    server, far = server_of(n, bound), []
    push = server.push

    def watched(worker, gradients, version):
        stale = push(worker, gradients, version)
        assert stale == len(far) - version  # all steps since, whoever made them
        far.append(max(server.clocks) - min(server.clocks))
        return stale

    server.push = watched
    trace = simulate(server, bowl, lambda worker, k: speeds[worker] * (1 + k % 3), 60)
    assert len(trace.times) == 60
    assert trace.times == sorted(trace.times)
    if bound is None:
        assert trace.waited == [0] * n
    else:
        assert max(far) <= bound + 1
        assert max(trace.staleness) <= (2 * bound + 1) * (n - 1)


def test_bound_0_is_synchronous():
    """In a round all pull the same weights: the steps add up to one with the sum of the gradients."""
    n, model, other = 3, mlp(norm=False), mlp(norm=False)
    steps = [batches(n, seed=k) for k in range(4)]

    def gradient(weights, worker, k):
        mine = mlp(norm=False)
        for p, w in zip(mine.parameters(), weights, strict=True):
            p.data[...] = w
        loss = loss_of(mine, steps[k][worker])
        loss.backward()
        return loss.item(), [p.grad for p in mine.parameters()]

    server = ParameterServer(model.parameters(), SGD(model.parameters(), lr=0.1), n, bound=0)
    trace = simulate(server, gradient, lambda worker, k: 1 + worker, 4 * n)
    assert trace.times[-1] == 4 * n  # each round takes as long as the slowest
    assert trace.waited == [2 * 3 + 0, 1 * 3 + 0, 0]
    optimizer = SGD(other.parameters(), lr=0.1)
    for parts in steps:
        optimizer.zero_grad()
        for part in parts:
            loss_of(other, part).backward()
        optimizer.step()
    close(model.state_dict(), other.state_dict())


def test_a_straggler_costs_the_synchronous_all_its_time_and_the_asynchronous_its_part():
    seconds = lambda worker, k: 4 if worker == 0 else 1  # noqa: E731
    sync = simulate(server_of(4, 0, lr=0.01), bowl, seconds, 40)
    free = simulate(server_of(4, None, lr=0.01), bowl, seconds, 40)
    assert sync.times[-1] == 40
    assert free.times[-1] == 13
    assert max(free.staleness) > max(sync.staleness) == 3


def test_staleness_makes_a_step_that_is_good_alone_diverge():
    """Of w^2 / 2 a step of 0.9 is fine without delay; with gradients that are 3 steps old it swings up."""
    alone = simulate(server_of(1, 0, lr=0.9), bowl, lambda worker, k: 1, 60)
    stale = simulate(server_of(4, None, lr=0.9), bowl, lambda worker, k: 1 + worker / 100, 60)
    assert alone.losses[-1] < 1e-6 < 1e3 < stale.losses[-1]


def test_it_repeats_itself():
    def run():
        server = server_of(3, 1)
        trace = simulate(server, bowl, lambda worker, k: 1 + worker * 0.3, 50)
        return server.parameters[0].data.tobytes(), vars(trace)

    assert run() == run()


@pytest.mark.parametrize("bound", [0, 1, None])
def test_threads(bound):
    server, done = server_of(3, bound, updates=30), [None] * 3

    def run(worker):
        done[worker] = work(server, worker, bowl)

    those = [threading.Thread(target=run, args=(worker,)) for worker in range(3)]
    for thread in those:
        thread.start()
    for thread in those:
        thread.join(30)
    assert server.version == 30 == sum(len(one) for one in done)
    if bound is not None:
        assert max(stale for one in done for stale, _ in one) <= (2 * bound + 1) * 2
    assert np.abs(server.parameters[0].data).max() < 4


@pytest.mark.parametrize("bound", [0, 1, None])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_server_in_a_group(bound, workers):
    """Worker 0 serves, the others pull and push by messages."""

    def run(group):
        if group.rank == 0:
            server = server_of(workers, bound, updates=20)
            serve(server, group)
            return server.version, server.clocks, server.parameters[0].data
        parameters = server_of(1, None).parameters
        return work(Client(group, parameters), group.rank - 1, bowl)

    (version, clocks, weights), *done = threads.run(run, workers + 1)
    assert version == 20 == sum(clocks)
    assert [len(one) for one in done] == clocks
    if workers == 1:
        np.testing.assert_allclose(weights, np.array([4, -2]) * 0.9**20, rtol=1e-5)
    if bound is not None:
        assert max(stale for one in done for stale, _ in one) <= (2 * bound + 1) * (workers - 1)
        assert max(clocks) - min(clocks) <= bound + 1


@pytest.mark.parametrize("bound", [0, None])
def test_an_asynchronous_training_of_the_page(bound):
    """Losses at each tenth update, and a staleness for each; without a pause, no worker sleeps."""
    server, *others = threads.run(examples.asynchronous, 3, bound, (0.0, 0.001), updates=60, lr=0.2)
    stale = [one for other in others for one in other["staleness"]]
    assert len(server["seconds"]) == len(server["losses"]) == 6
    assert server["seconds"] == sorted(server["seconds"])
    assert server["losses"][-1] < server["losses"][0]
    assert len(stale) == 60
    if bound == 0:
        assert max(stale) <= 1
        assert [len(other["staleness"]) for other in others] == [30, 30]


def test_errors():
    with pytest.raises(ValueError, match="workers is 0, bound None"):
        server_of(0, None)
    with pytest.raises(ValueError, match="workers is 2, bound -1"):
        server_of(2, -1)


# ---- local SGD -------------------------------------------------------------------------------------------------------


def local(group, steps, every, momentum=0.0, outer=None):
    model = mlp(norm=False, seed=group.rank)
    optimizer = SGD(model.parameters(), lr=0.1, momentum=momentum)
    both = LocalSGD(model.parameters(), optimizer, group, every, outer)
    before = group.bytes_sent
    for parts in steps:
        both.zero_grad()
        loss_of(model, parts[group.rank]).backward()
        both.step()
    return model.state_dict(), group.bytes_sent - before


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_an_average_after_each_step_is_data_parallel(n):
    steps = [batches(n, seed=k) for k in range(3)]
    model = mlp(norm=False)
    optimizer = SGD(model.parameters(), lr=0.1)
    for parts in steps:
        optimizer.zero_grad()
        for part in parts:
            (loss_of(model, part) / n).backward()
        optimizer.step()
    found = threads.run(local, n, steps, 1)
    for state, _ in found:
        same_bits(state, found[0][0])
        close(state, model.state_dict())


def test_fewer_averages_send_fewer_bytes():
    steps = [batches(2, seed=k) for k in range(8)]
    size = sum(p.data.nbytes for p in mlp(norm=False).parameters())
    for every in (1, 4, 8):
        found = threads.run(local, 2, steps, every)
        assert sum(sent for _, sent in found) == 8 // every * 2 * size
        same_bits(found[0][0], found[1][0])


def test_an_outer_optimizer_of_rate_1_is_the_average():
    steps = [batches(3, seed=k) for k in range(4)]
    plain = threads.run(local, 3, steps, 2, 0.9)[0][0]
    outer = threads.run(local, 3, steps, 2, 0.9, lambda parameters: SGD(parameters, lr=1.0))[0][0]
    close(outer, plain)
    momentum = lambda parameters: SGD(parameters, lr=0.7, momentum=0.9, nesterov=True)  # noqa: E731
    each = threads.run(local, 3, steps, 2, 0.9, momentum)
    same_bits(each[1][0], each[0][0])
    assert any(not np.allclose(each[0][0][name], plain[name]) for name in plain)
