"""15-tune: Within 5 % in few trials."""

import itertools

import numpy as np

from ...definition import Budget, Case, Section, Slip
from ...events import Played
from ...golf import Golf
from ...kinds.scenario import ScenarioTask

PARAMETERS = {
    "across": [4, 8, 16, 32],
    "down": [1, 2, 4, 8],
    "rows": [1, 2, 3, 4, 6, 8],
    "columns": [1, 2, 3, 4, 6, 8],
    "apart": [0, 1],
}
NEAR = 1.05


def fits(sizes):
    """Whether a block has 32 to 256 threads, and a thread at most 32 sums."""
    return 32 <= sizes["across"] * sizes["down"] <= 256 and sizes["rows"] * sizes["columns"] <= 32


def passes(words):
    """Passes of a warp through the 32 banks of shared memory: the most different words in one bank."""
    return int(np.bincount(np.unique(words) % 32, minlength=32).max())


def cycles(sizes, m, n, k):
    """Counted for a tiled product of (m, k) and (k, n): 16 bytes of memory in a cycle, one pass through shared memory."""
    across, down, rows, columns, apart = (sizes[name] for name in PARAMETERS)
    tiles_down, tiles_across = -(-m // (down * rows)), -(-n // (across * columns))
    moved = 4 * (m * k * tiles_across + k * n * tiles_down + m * n)
    lane = np.arange(32)
    x, y = lane % across, lane // across
    right = sum(passes(x + c * across if apart else x * columns + c) for c in range(columns))
    left = sum(passes(y * rows + r) for r in range(rows))
    warps = tiles_down * tiles_across * (across * down // 32)
    return moved / 16 + warps * k * (right + left)


def everything():
    """All configurations that fit."""
    there = (dict(zip(PARAMETERS, values, strict=True)) for values in itertools.product(*PARAMETERS.values()))
    return [sizes for sizes in there if fits(sizes)]


def _plain(sizes):
    """A configuration as the answer has it, as plain data; None if it is none."""
    if not isinstance(sizes, dict) or set(sizes) != set(PARAMETERS):
        return None
    if any(type(sizes[name]) is not int or sizes[name] not in values for name, values in PARAMETERS.items()):
        return None
    return {name: sizes[name] for name in PARAMETERS}


def play_tuning(tune, m, n, k, most):
    """Run `tune(parameters, fits, count, most)`. What comes back: the choice, whether it was tried, its cycles, the best."""
    tried, misused = [], []

    def count(sizes):
        plain = _plain(sizes)
        if plain is None or not fits(plain):
            misused.append("none" if plain is None else "unfit")
            raise ValueError(f"{sizes} is no configuration that fits")
        if len(tried) >= most:
            misused.append("many")
            raise ValueError(f"this would be trial {most + 1}, of {most}")
        tried.append(plain)
        return cycles(plain, m, n, k)

    try:
        choice = _plain(tune({name: list(values) for name, values in PARAMETERS.items()}, fits, count, most))
    except ValueError:
        if not misused:
            raise
        choice = None
    best = min(cycles(sizes, m, n, k) for sizes in everything())
    ratio = cycles(choice, m, n, k) / best if choice and fits(choice) else 0.0
    told = {"misused": misused[:1], "choice": choice, "tried": choice in tried, "ratio": ratio}
    return Played(told, {"trials": len(tried)})


def judge_tuning(arguments, result):
    most = arguments[-1]
    expected = f"sizes with at most {NEAR - 1:.0%} more cycles than the best, after at most {most} trials"
    if result["misused"] == ["many"]:
        return Slip("many", expected, "Count your trials, or keep what `count` said of a configuration.", "more trials")
    if result["misused"] == ["unfit"]:
        return Slip(
            "unfit", expected, "Ask `fits(sizes)` before you try a configuration.", "a trial of one that does not fit"
        )
    if result["misused"]:
        return Slip(
            "none", expected, "A configuration is a dict with one value for each of the parameters.", "no configuration"
        )
    if result["choice"] is None:
        return Slip("type", expected, "Return the dict of the best configuration.", "no configuration")
    if not result["ratio"]:
        return Slip("unfit", expected, "The choice does not fit: ask `fits(sizes)`.", str(result["choice"]))
    got = f"{result['choice']}, {result['ratio']:.2f} times the cycles of the best"
    if not result["tried"]:
        return Slip("untried", expected, "What was never counted is a guess: try it before you return it.", got)
    if result["ratio"] > NEAR:
        cause = (
            "It is too far off. Does the search stop where one parameter alone gives nothing more? Then change another, and come "
            "back to the first; and begin from more than one place."
        )
        return Slip("far", expected, cause, got)
    return None


def tuning(m, n, k, most):
    return Case(f"({m} x {k}) @ ({k} x {n}), at most {most} trials", lambda rng: (m, n, k, most))


TUNE = ScenarioTask(
    id="15-tune",
    section=Section("15.2", "15_tuning", "Strategies"),
    title="Within 5 % in few trials",
    objective="Write a search that comes close to the best configuration with few trials",
    points=3,
    minutes=25,
    scenario=play_tuning,
    judge=judge_tuning,
    cases=(
        tuning(256, 256, 128, 1500),
        tuning(96, 512, 64, 400),
        tuning(512, 64, 256, 200),
        tuning(130, 190, 100, 200),
    ),
    budget=Budget(
        points=1,
        text="at most 60 trials for (320 x 128) @ (128 x 192)",
        require={"trials": 60},
        over="The choice is good, but it took too many trials. Which parameters can be searched one after the other? Or which "
        "configurations does a cost model leave out, before any is tried?",
        case=tuning(320, 192, 128, 200),
        golf=Golf(
            count="trials",
            best=1,
            lead="A model that counts bytes and passes through the banks knows the answer before the first trial. What does it need?",
        ),
    ),
    advice={
        "raised-KeyError": "A configuration has all five names: across, down, rows, columns, apart.",
        "raised-TypeError": "`count` and `fits` take one configuration, a dict.",
    },
    hints=(
        "Trying all of them takes more trials than some cases allow. From a configuration, which others are one step away?",
        "Start somewhere that fits. For each parameter try all of its values, the others as they are, and keep the best. When a "
        "whole round gives nothing, stop.",
        "Keep a dict from `tuple(sizes.values())` to its count, so that nothing is tried twice; ask `fits` first. Rows and columns "
        "depend on each other: try their pairs together. A second start from another corner helps where it stops too early.",
    ),
)
