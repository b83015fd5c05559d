"""Strategies: which configuration to try next.

A strategy is a generator: it yields (number of a configuration, effort) and is sent the score, less is better. An
effort of 1 is a whole trial; with 0.25, a quarter of the samples is taken, at a quarter of the price. Each gets the
space, a random generator and the budget in whole trials; `search` ends it when the budget is spent.
"""

import warnings

import numpy as np

FIRST = 10  # random trials before a model of the scores is worth asking
REFIT = 10, 20, 40, 80, 160, 320  # trials after which the model's length scales are fitted: that is what takes time


def exhaustive(space, rng, budget):
    """Each configuration, in the space's order."""
    for number in range(len(space)):
        yield number, 1


def random(space, rng, budget):
    """Each configuration, in random order (Bergstra and Bengio, 2012)."""
    for number in rng.permutation(len(space)):
        yield int(number), 1


def hill_climb(space, rng, budget):
    """From a random start to the first better neighbour, and on; then again."""
    tried = {}
    for start in rng.permutation(len(space)):
        if int(start) in tried:
            continue
        current, better = int(start), True
        tried[current] = yield current, 1
        while better:
            better = False
            for near in rng.permutation(space.neighbours(current)):
                near = int(near)
                if near not in tried:
                    tried[near] = yield near, 1
                    if tried[near] < tried[current]:
                        current, better = near, True
                        break


def successive_halving(space, rng, budget, eta=2, rungs=3):
    """Many configurations with little effort; the best half of them with twice the effort, and so on
    (Jamieson and Talwalkar, 2016). What is left of the budget begins anew with others."""
    fresh, spent = list(map(int, rng.permutation(len(space)))), 0.0
    while fresh:
        left = max(1.0, budget - spent)
        count = max(1, int(min(left * eta ** (rungs - 1) / rungs, len(fresh))))
        runners, fresh = fresh[:count], fresh[count:]
        for rung in range(rungs):
            effort, scores = eta ** (rung + 1 - rungs), {}
            for number in runners:
                scores[number] = yield number, effort
                spent += effort
            runners = sorted(runners, key=scores.get)[: max(1, len(runners) // eta)]


def bayesian(space, rng, budget):
    """A Gaussian process of the logarithm of the scores says where an improvement is to be expected
    (Jones, Schonlau and Welch, 1998; Snoek, Larochelle and Adams, 2012). It takes what failed for as slow as the
    slowest that did not."""
    places, order = space.features(), list(map(int, rng.permutation(len(space))))
    scores, kernel = {}, None
    for number in order[:FIRST]:
        scores[number] = yield number, 1
    while len(scores) < len(space):
        tried = list(scores)
        rest = [number for number in order if number not in scores]
        found = np.array(list(scores.values()))
        runs = found[np.isfinite(found)]
        if not runs.size:  # nothing to learn from
            scores[rest[0]] = yield rest[0], 1
            continue
        fit = kernel is None or len(tried) in REFIT
        seen = np.log(np.minimum(found, runs.max()))
        model = _process(places[tried], seen, kernel, fit, int(rng.integers(1 << 31)))
        kernel = model.kernel_
        improvement = expected_improvement(*model.predict(places[rest], return_std=True), seen.min())
        number = rest[int(np.argmax(improvement))]
        scores[number] = yield number, 1


def _process(x, y, kernel, fit, seed):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern, WhiteKernel

    kernel = kernel or Matern(np.full(x.shape[1], 0.5), (0.05, 20), nu=2.5) + WhiteKernel(1e-2, (1e-5, 1))
    model = GaussianProcessRegressor(kernel, normalize_y=True, optimizer="fmin_l_bfgs_b" if fit else None)
    with warnings.catch_warnings():  # a length scale at its bound: that parameter does not matter
        warnings.simplefilter("ignore")
        return model.set_params(random_state=seed).fit(x, y)


def expected_improvement(mean, deviation, best):
    """How much less than `best` a normal variable is on average, counting nothing where it is more."""
    from scipy.stats import norm

    deviation = np.maximum(deviation, 1e-12)
    z = (best - mean) / deviation
    return deviation * (z * norm.cdf(z) + norm.pdf(z))


def by_model(costs):
    """A strategy: in the order of a cost model. costs: one for each configuration, less is better."""

    def in_order(space, rng, budget):
        for number in np.argsort(costs, kind="stable"):
            yield int(number), 1

    return in_order


STRATEGIES = {
    "random": random,
    "hill climb": hill_climb,
    "successive halving": successive_halving,
    "Bayesian": bayesian,
}
