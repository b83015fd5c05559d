"""Search strategies, hundreds of times each, on the recorded exhaustive search (tuning.py). No clock: the same numbers
everywhere.

    python benchmarks/run.py tuning_replay           recorded in results/tuning_replay.json
    python benchmarks/run.py tuning_replay --quick   few seeds, not recorded

`strategies` meet the table as if it had no noise: of each configuration the least of its samples counts. So what is
shown is how they search. `noisy` meets single samples, and is judged by others: what noise costs. (Successive halving,
which buys exactness with samples, is among these only.)

Of each strategy: the trials until what it would choose is within 5 % of the best configuration and stays so, the loss
after each number of trials, and what its compiling and timing would have taken. kernel_tuner's strategies run on the
same table with another Python that has it (KERNEL_TUNER_PYTHON, see tuning_peer.py); without one, what was recorded of
them stays, or they are left out. The cost model is fitted to a few random trials, which are counted.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

from cpulab.measure import Table, recorded
from cpulab.tune import STRATEGIES, Found, Replay, Space, Trial, by_model, fitted, kept_of_best, product, pruned

SEEDS, FEWER = 200, {"Bayesian": 12, "Bayesian, pruned": 12}  # these take seconds each
PART = 0.1  # of the configurations: the budget
FITTED_ON = 20  # random trials
KEEP = 0.2


def replayed():
    """({shape: Replay with all samples}, {shape: counts}); the first shape is the one that is tuned on."""
    data = recorded("tuning").data
    rows = [tuple(map(int, one.split())) for one in data["configurations"]]
    space = Space(data["parameters"], lambda c, rows=frozenset(rows): tuple(c.values()) in rows)
    if [tuple(space[number].values()) for number in range(len(space))] != rows:
        raise ValueError("the recorded configurations stand in another order; record them again: run.py tuning")
    compiled = {tuple(map(int, name.split())): seconds for name, seconds in data["compile"].items()}
    variants = [tuple(space[number][name] for name in product.COMPILED) for number in range(len(space))]
    replays, counts = {}, {}
    for one in data["shapes"]:
        seconds = np.array([list(map(int, line.split())) for line in one["nanoseconds"]]) * 1e-9
        shape = tuple(one["shape"])
        replays[shape] = Replay(space, seconds, [compiled[variant] for variant in variants], variants)
        counts[shape] = np.array([product.counts(space[number], *shape) for number in range(len(space))])
    return replays, counts


def exact(replay):
    """The same table without noise: the least of all samples, each time."""
    least = np.minimum(replay.drawn.min(axis=1), replay.true)
    return Replay(replay.space, np.stack([least, least], axis=1), replay.compile, replay.variant)


def learned(replay, counts, seed):
    """Costs of all configurations by a model that is fitted to FITTED_ON random trials."""
    tried = np.random.default_rng([seed, 2]).permutation(len(replay.space))[:FITTED_ON]
    return counts @ fitted(counts[tried], replay.drawn[tried].min(axis=1)), list(map(int, tried))


def with_model(strategy):
    """A run that begins with the trials to which the model is fitted, and searches the part that it keeps."""

    def run(replay, counts, budget, seed):
        costs, tried = learned(replay, counts, seed)
        chosen = strategy or by_model(costs)
        part = replay.space if strategy is None else pruned(replay.space, costs, KEEP)
        found = replay.run(chosen, budget - FITTED_ON, seed, part)
        first = [Trial(n, 1, replay.drawn[n].min(), i + 1.0) for i, n in enumerate(tried)]
        later = [
            Trial(replay.space.number(part[t.number]), t.effort, t.score, t.spent + FITTED_ON, t.why)
            for t in found.trials
        ]
        return Found(found.best, found.score, first + later)

    return run


def runs(noisy=False):
    for name, strategy in STRATEGIES.items():
        if (name == "successive halving") > noisy:
            continue
        yield name, lambda replay, counts, budget, seed, strategy=strategy: replay.run(strategy, budget, seed)
    if noisy:
        return
    yield "cost model", with_model(None)
    for name in ("random", "hill climb", "Bayesian"):
        yield f"{name}, pruned", with_model(STRATEGIES[name])


def described(replay, all_found, budget):
    losses = np.array([replay.progress(found, budget) for found in all_found])
    reached = [replay.trials_to(loss) for loss in losses]
    low, middle, high = (np.round(np.nanquantile(losses, q, axis=0), 4).tolist() for q in (0.25, 0.5, 0.75))
    return {
        "seeds": len(losses),
        "reached": reached,
        "loss": {"low": finite(low), "median": finite(middle), "high": finite(high)},
        "seconds": round(float(np.median([replay.seconds(found) for found in all_found])), 2),
    }


def finite(values):
    return [value if np.isfinite(value) else None for value in values]


def peers(replay, budget, seeds, python):
    """{strategy: [Found]} of kernel_tuner, and its version."""
    space, times = replay.space, replay.drawn.min(axis=1)
    registers = max(space[n]["rows"] * space[n]["vectors"] for n in range(len(space)))
    asked = {
        "parameters": space.parameters,
        "configurations": [list(space[number].values()) for number in range(len(space))],
        "milliseconds": (1e3 * times).tolist(),
        "restrictions": [
            "height >= rows",
            f"4 * depth * height <= {product.LARGEST}",
            f"rows * vectors <= {registers}",
        ],
        "budget": budget,
        "seeds": min(seeds, 50),
    }
    script = Path(__file__).with_name("tuning_peer.py")
    told = subprocess.run([python, str(script)], input=json.dumps(asked), capture_output=True, text=True, check=True)
    answer = json.loads(told.stdout)
    found = {}
    for name, orders in answer["orders"].items():
        found[name] = []
        for order in orders:
            trials = [Trial(number, 1, times[number], i + 1.0) for i, number in enumerate(order)]
            best = min(trials, key=lambda one: one.score)
            found[name].append(Found(space[best.number], best.score, trials))
    return found, answer["version"]


def elsewhere(replays):
    """For each pair of shapes: the loss, on the second, of what is best on the first."""
    best = {shape: int(np.argmin(replay.drawn.min(axis=1))) for shape, replay in replays.items()}
    return [
        [round(float(replay.true[best[shape]] / replay.best), 3) for replay in replays.values()] for shape in replays
    ]


def lucky(replay, seeds, budget):
    """The best of many single samples: what it promised, and what it is worth, over the best configuration."""
    promised, worth = [], []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 3])
        tried = rng.permutation(len(replay.space))[:budget]
        samples = replay.drawn[tried, rng.integers(replay.drawn.shape[1], size=budget)]
        winner = int(np.argmin(samples))
        promised.append(samples[winner] / replay.best)
        worth.append(replay.true[tried[winner]] / replay.best)
    return {"promised": round(float(np.median(promised)), 4), "worth": round(float(np.median(worth)), 4)}


def benchmark(quick=False):
    replays, all_counts = replayed()
    (shape, sampled), *_ = replays.items()
    replay = exact(sampled)
    counts, budget, seeds = all_counts[shape], int(PART * len(replay.space)), 4 if quick else SEEDS
    strategies, noisy = {}, {}
    for table, names, kept in ((replay, runs(), strategies), (sampled, runs(noisy=True), noisy)):
        for name, run in names:
            some = range(min(seeds, FEWER.get(name, seeds)))
            kept[name] = described(table, [run(table, counts, budget, seed) for seed in some], budget)
            print(row(name, kept[name]), flush=True)
    python, peer = os.environ.get("KERNEL_TUNER_PYTHON"), None
    if python:
        found, version = peers(replay, budget, seeds, python)
        peer = {"version": version, "strategies": {n: described(replay, one, budget) for n, one in found.items()}}
    elif not quick:
        peer = kept_peer()
    models = [learned(replay, counts, seed)[0] for seed in range(seeds)]
    kept = {
        str(keep): float(np.mean([kept_of_best(replay.space, costs, replay.true, keep) for costs in models]))
        for keep in (0.05, 0.1, 0.2, 0.5)
    }
    near = [int((replay.true <= limit * replay.best).sum()) for limit in (1.05, 1.1)]
    everything = {
        **strategies,
        **{f"kernel_tuner {n}": one for n, one in (peer or {"strategies": {}})["strategies"].items()},
    }
    print(
        Table(("", "reach 5 %", "trials", "loss at the end", "seconds"), [row(n, one) for n, one in everything.items()])
    )
    print(f"kept of the best 10: {kept}; within 5 % and 10 %: {near} of {len(replay.space)}")
    return {
        "shape": shape,
        "configurations": len(replay.space),
        "budget": budget,
        "best": replay.space[int(np.argmin(replay.true))],
        "within": near,
        "median": round(float(np.median(replay.true) / replay.best), 3),
        "worst": round(float(replay.true.max() / replay.best), 3),
        "noise": round(float(np.median(np.abs(sampled.drawn[:, 0] / replay.true - 1))), 4),
        "exhaustive_seconds": round(
            sum(set_compile(replay)) + float(replay.true.sum()) * sampled.drawn.shape[1] * 2, 1
        ),
        "strategies": strategies,
        "noisy": noisy,
        "peer": peer,
        "kept_of_best_10": kept,
        "fitted_on": FITTED_ON,
        "keep": KEEP,
        "shapes": [list(one) for one in replays],
        "elsewhere": elsewhere({shape: exact(one) for shape, one in replays.items()}),
        "winner": lucky(sampled, seeds, budget),
    }


def set_compile(replay):
    return dict(zip(replay.variant, replay.compile, strict=True)).values()


def kept_peer():
    try:
        return recorded("tuning_replay").data["peer"]
    except FileNotFoundError:
        return None


def row(name, one):
    reached = [trials for trials in one["reached"] if trials is not None]
    median = sorted(trials or 10**9 for trials in one["reached"])[len(one["reached"]) // 2]
    return (
        name,
        f"{len(reached) / one['seeds']:.0%}",
        "more" if median == 10**9 else str(median),
        f"{one['loss']['median'][-1]:.3f}",
        f"{one['seconds']:.0f}",
    )
