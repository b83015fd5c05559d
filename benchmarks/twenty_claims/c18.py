"""Four workers that teach one network, one of them four times as slow or all alike: simulated time, real gradients."""

from . import Part

CLAIM = "Asynchronous updates are faster than synchronous at the same final loss."
SLOW = "true if one worker is slow, and the step small"
PLAIN = "true without momentum, and if the step is small"
PARTS = (
    Part(
        "slow",
        "faster, with one slow worker",
        "time to a loss of 0.5 on the test digits, synchronous / asynchronous",
        SLOW,
        "14_cutting",
        1.1,
        exact=True,
    ),
    Part("alike", "faster, with equal workers", "the same, all workers alike", SLOW, "14_cutting", 1.1, exact=True),
    Part(
        "plain",
        "the same final loss",
        "loss in the end, asynchronous / synchronous, one slow worker",
        PLAIN,
        "14_cutting",
        0,
        1.5,
        exact=True,
    ),
    Part(
        "momentum",
        "the same final loss, with momentum",
        "the same, with momentum 0.9",
        PLAIN,
        "14_cutting",
        0,
        1.5,
        exact=True,
    ),
)


def measure(quick):
    import numpy as np

    from training import SGD, Tensor, data
    from training import functional as F
    from training.modules import Linear, ReLU, Sequential
    from workers.staleness import ParameterServer, simulate

    (train_x, train_y), (test_x, test_y) = data.digits()
    train_x, test_x = (x.reshape(-1, 64) for x in (train_x, test_x))

    def network():
        draw = np.random.default_rng(1)
        return Sequential(Linear(64, 32, generator=draw), ReLU(), Linear(32, 10, generator=draw))

    def learn(bound, slow, lr, momentum):
        model, scratch, tests = network(), network(), []
        server = ParameterServer(model.parameters(), SGD(model.parameters(), lr, momentum), 4, bound)
        draw = [np.random.default_rng([5, w]) for w in range(4)]

        def gradient(weights, worker, k):
            for p, w in zip(scratch.parameters(), weights, strict=True):
                p.data[...], p.grad = w, None
            index = draw[worker].integers(len(train_x), size=32)
            loss = F.cross_entropy(scratch(Tensor(train_x[index])), train_y[index])
            loss.backward()
            if server.version % 20 == 0:
                tests.append(F.cross_entropy(scratch(Tensor(test_x)), test_y).item())
            return loss.item(), [p.grad for p in scratch.parameters()]

        trace = simulate(server, gradient, lambda w, k: 4 if slow and w == 0 else 1, 400)
        return np.array(trace.times[::20]), np.array(tests)

    def reached(run):
        times, tests = run
        return times[np.flatnonzero(tests < 0.5)[0]]

    return {
        "slow": reached(learn(0, True, 0.1, 0.0)) / reached(learn(None, True, 0.1, 0.0)),
        "alike": reached(learn(0, False, 0.1, 0.0)) / reached(learn(None, False, 0.1, 0.0)),
        "plain": learn(None, True, 0.1, 0.0)[1][-1] / learn(0, True, 0.1, 0.0)[1][-1],
        "momentum": learn(None, True, 0.05, 0.9)[1][-1] / learn(0, True, 0.05, 0.9)[1][-1],
    }
