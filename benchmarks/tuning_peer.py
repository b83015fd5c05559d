"""kernel_tuner's strategies on our recorded table, in its simulation mode. Run by tuning_replay.py, with another
Python.

    python -m venv peer; peer/bin/pip install kernel_tuner==1.5.0
    KERNEL_TUNER_PYTHON=peer/bin/python python benchmarks/run.py tuning_replay

Standard input: JSON with parameters, configurations (values in the order of the parameters), milliseconds,
restrictions, budget, seeds. Standard output: JSON, {strategy: [the numbers of the configurations in the order of their
first trial] for each seed}.
"""

import contextlib
import io
import json
import random
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import kernel_tuner
import numpy as np

#: name -> (strategy, options)
STRATEGIES = {
    "random_sample": {},
    "greedy_ils": {},
    "simulated_annealing": {},
    "genetic_algorithm": {},
    "bayes_opt": {},
}
FEWER = {"bayes_opt": 10}  # seeds: it takes seconds for each


def main():
    asked = json.load(sys.stdin)
    parameters, configurations = asked["parameters"], [tuple(one) for one in asked["configurations"]]
    numbers = {one: number for number, one in enumerate(configurations)}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "recorded.json"
        cache.write_text(json.dumps(cached(parameters, configurations, asked["milliseconds"])))
        orders = {}
        for name in STRATEGIES:
            seeds = range(min(asked["seeds"], FEWER.get(name, asked["seeds"])))
            orders[name] = [
                order(name, seed, cache, parameters, asked["restrictions"], numbers, asked["budget"]) for seed in seeds
            ]
    json.dump({"version": version("kernel_tuner"), "orders": orders}, sys.stdout)


def cached(parameters, configurations, milliseconds):
    """A cache file as kernel_tuner writes it."""
    names, zero = list(parameters), {"compile_time": 0, "verification_time": 0, "benchmark_time": 0}
    cache = {
        ",".join(map(str, one)): dict(zip(names, one, strict=True)) | zero | {"time": ms, "times": [ms]}
        for one, ms in zip(configurations, milliseconds, strict=True)
    }
    head = {"device_name": "recorded", "kernel_name": "product", "problem_size": [1, 1, 1]}
    return head | {"tune_params_keys": names, "tune_params": parameters, "objective": "time", "cache": cache}


def order(strategy, seed, cache, parameters, restrictions, numbers, budget):
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (some of its strategies draw from there)
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "product", "", (1, 1, 1), [], parameters,
            restrictions=restrictions,
            strategy=strategy, strategy_options={"max_fevals": budget} | STRATEGIES[strategy],
            cache=str(cache), simulation_mode=True, lang="C", quiet=True, seed=seed,
        )  # fmt: skip
    tried = [numbers[tuple(one[name] for name in parameters)] for one in results]
    return list(dict.fromkeys(tried))[:budget]


if __name__ == "__main__":
    main()
