"""15-tune: Within 5 % in few trials."""

import functools
import itertools
import operator

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


@functools.cache
def _right(across, columns, apart):
    """Passes for the elements of b that a warp needs in one step."""
    x = np.arange(32) % across
    return sum(passes(x + c * across if apart else x * columns + c) for c in range(columns))


@functools.cache
def _left(across, rows):
    """Those for a."""
    y = np.arange(32) // across
    return sum(passes(y * rows + r) for r in range(rows))


_COMBINATIONS = frozenset(itertools.product(*PARAMETERS.values()))
_ALL = [
    values for values in itertools.product(*PARAMETERS.values()) if fits(dict(zip(PARAMETERS, values, strict=True)))
]
NUMBERS = {values: number for number, values in enumerate(_ALL)}  # of all configurations that fit
_ACROSS, _DOWN, _ROWS, _COLUMNS, _ = np.array(_ALL).T
_PASSES = np.array([_right(x, columns, apart) + _left(x, rows) for x, _, rows, columns, apart in _ALL])


def cycles(m, n, k):
    """Of each configuration that fits, for a product of (m, k) and (k, n): 16 bytes of memory or a pass in a cycle."""
    down, across = -(-m // (_DOWN * _ROWS)), -(-n // (_ACROSS * _COLUMNS))
    moved = 4 * (m * k * across + k * n * down + m * n)
    return moved / 16 + down * across * (_ACROSS * _DOWN // 32) * k * _PASSES


_VALUES = operator.itemgetter(*PARAMETERS)


def _number(sizes):
    """Of a configuration: -1 where it does not fit, None where it is none."""
    try:
        values = _VALUES(sizes)
        if len(sizes) != len(PARAMETERS) or values not in _COMBINATIONS:
            return None
    except (TypeError, KeyError, IndexError):
        return None
    return NUMBERS.get(values, -1)


def play_tuning(tune, m, n, k, most):
    """Run `tune(parameters, fits, count, most)`. What comes back: the choice, whether it was tried, its cycles, the
    best."""
    tried, misused, every = [], [], cycles(m, n, k)

    def count(sizes):
        number = _number(sizes)
        if number is None or number < 0 or len(tried) == most:
            misused.append("none" if number is None else "unfit" if number < 0 else "many")
            raise ValueError(f"no trial of {sizes}: {misused[0]}")
        tried.append(number)
        return float(every[number])

    try:
        choice = _number(tune({name: list(values) for name, values in PARAMETERS.items()}, fits, count, most))
    except ValueError:
        if not misused:
            raise
        choice = None
    good = choice is not None and choice >= 0
    ratio = float(every[choice] / every.min()) if good else 0.0
    told = {"misused": misused[:1], "choice": list(_ALL[choice]) if good else choice, "tried": choice in tried}
    return Played({**told, "ratio": ratio}, {"trials": len(tried)})


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
        return Slip("unfit", expected, "The choice does not fit: ask `fits(sizes)`.", "one that does not fit")
    got = f"{dict(zip(PARAMETERS, result['choice'], strict=True))}, {result['ratio']:.2f} times the cycles of the best"
    if not result["tried"]:
        return Slip("untried", expected, "What was never counted is a guess: try it before you return it.", got)
    if result["ratio"] > NEAR:
        cause = (
            "It is too far off. Does the search stop where one parameter alone gives nothing more? Then change "
            "another, and come back to the first; and begin from more than one place."
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
    lines=2_000_000,  # a model is asked about each of 1,152 configurations
    judge=judge_tuning,
    cases=(tuning(256, 256, 128, 200), tuning(48, 700, 96, 200), tuning(512, 64, 256, 200), tuning(130, 190, 100, 200)),
    budget=Budget(
        points=1,
        text="at most 90 trials for (320 x 128) @ (128 x 192)",
        require={"trials": 90},
        over="The choice is good, but it took too many trials. Which parameters can be searched one after the other? "
        "Or which configurations does a cost model leave out, before any is tried?",
        case=tuning(320, 192, 128, 200),
        golf=Golf(
            count="trials",
            best=9,
            tiers=(("gold", 1.0), ("silver", 2.4), ("bronze", 5.7)),
            lead="A model of bytes and of passes through the banks puts all configurations in order before the first "
            "trial. Only the shape of the matrices it does not know: how many of the first has one to try?",
        ),
    ),
    advice={
        "raised-KeyError": "A configuration has all five names: across, down, rows, columns, apart.",
        "raised-TypeError": "`count` and `fits` take one configuration, a dict.",
    },
    hints=(
        "Trying all of them takes more trials than some cases allow. From a configuration, which others are one step "
        "away?",
        "Start somewhere that fits. For each parameter try all of its values, the others as they are, and keep the "
        "best. When a whole round gives nothing, stop.",
        "Keep a dict from `tuple(sizes.values())` to its count, so that nothing is tried twice; ask `fits` first. Rows "
        "and columns depend on each other: try their pairs together. A second start from another corner helps where it "
        "stops too early.",
    ),
)
