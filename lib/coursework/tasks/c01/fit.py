"""01-fit: The serial share, or none at all."""

import statistics

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import is_number


def fitted(workers, seconds):
    """(a, b) of the line a + b / n through the times, by least squares."""
    slope, fixed = statistics.linear_regression([1 / n for n in workers], seconds)
    return fixed, slope


def _misses(workers, runs, fixed, slope):
    """[(n, what the line says, fastest, slowest)] where the line lies outside of the runs."""
    said = [(n, fixed + slope / n, min(times), max(times)) for n, times in zip(workers, runs, strict=True)]
    return [row for row in said if not row[2] <= row[1] <= row[3]]


def _share(workers, runs, middle, against=lambda n: 1 / n):
    slope, fixed = statistics.linear_regression([against(n) for n in workers], [middle(times) for times in runs])
    return fixed / (fixed + slope)


def judge_fit(arguments, result):
    """The share a / (a + b) of the line through the medians, or None where it lies outside of the runs."""
    workers, runs = arguments
    fixed, slope = fitted(workers, [statistics.median(times) for times in runs])
    share, misses = fixed / (fixed + slope), _misses(workers, runs, fixed, slope)
    if result is None:
        if misses:
            return None
        cause = (
            f"The line through the medians is {fixed:.4g} + {slope:.4g} / n. With each number of workers it lies "
            "between the fastest and the slowest run: nothing speaks against it. Is it yours? "
        )
        cause += (
            "A share below 0 is returned, too." if share < 0 else "(A function without a `return` gives None, too.)"
        )
        return Slip("rejected", f"{share:.6g}", cause)
    if misses:
        n, said, low, high = misses[0]
        expected = "None: the model does not hold"
        cause = (
            f"With {n} worker{'s' if n > 1 else ''} the line says {said:.4g} s, and the runs took {low:.4g} to "
            f"{high:.4g} s. No share describes that."
        )
        return Slip("accepted", expected, cause)
    expected = f"{share:.6g}"
    if not is_number(result):
        return Slip("type", f"one number, {expected}", "Return the share as a float, or None.")
    near = lambda candidate: abs(result - candidate) <= 1e-6  # noqa: E731
    if near(share):
        return None
    if near(100 * share):
        return Slip("percent", expected, "That is in per cent. The share is a / (a + b).")
    if near(0) and share < 0:
        cause = "A share below 0 says that the workers are faster than they should be. Do not hide it."
        return Slip("clipped", expected, cause)
    if near(1 - share):
        return Slip("parallel", expected, "This is the share that can be divided, b / (a + b).")
    if near(fixed):
        cause = "This is a, in seconds. The share is a / (a + b): of the time with one worker."
        return Slip("seconds", expected, cause)
    if near(slope) or near(fixed / slope):
        return Slip("share", expected, "With one worker, n = 1, the time is a + b. The share is a / (a + b).")
    if near(_share(workers, runs, statistics.mean)):
        cause = (
            "These are means, or all runs at once, which fits the same line. One disturbed run pulls it: take medians "
            "first."
        )
        return Slip("mean", expected, cause)
    if near(_share(workers, runs, min)):
        return Slip("fastest", expected, "These are the fastest runs: lucky ones. Take medians.")
    if near(_share(workers, runs, statistics.median, lambda n: n)):
        return Slip("against-n", expected, "This is a line in n. The model is a line in 1 / n: fit against 1 / n.")
    ends = [0, -1]
    if near(_share([workers[k] for k in ends], [runs[k] for k in ends], statistics.median)):
        return Slip(
            "two-points", expected, "This uses the first and the last number of workers alone. Fit all of them."
        )
    return Slip("other", expected, "Medians first, then a and b of a + b / n by least squares, then a / (a + b).")


def runs_of(serial, workers, noise=0.02, scale=1.0, per_worker=0.0, disturbed=(), repeats=5):
    """make(rng) -> (workers, runs): Amdahl's law, with relative noise, `per_worker` seconds more for each worker (of
    the time with one), and single runs that took 20 times as long."""

    def make(rng):
        runs = []
        for k, n in enumerate(workers):
            time = scale * (serial + (1 - serial) / n + per_worker * (n - 1))
            times = time * (1 + noise * rng.uniform(-1, 1, repeats))
            if k in disturbed:
                times[k % repeats] *= 20
            runs.append([float(t) for t in times])
        return list(workers), runs

    return make


def _superlinear(rng):
    return [1, 2, 4], [[float(t * (1 + x)) for x in (-0.02, 0.0, 0.02)] for t in (1.0, 0.45, 0.18)]


def _one_above(rng):
    """With 4 workers all runs are slower than the line says; with the others the line lies between the runs."""
    return [1, 2, 4, 8], [[0.9, 1.0, 1.1], [0.5, 0.55, 0.65], [0.4, 0.42, 0.44], [0.2, 0.22, 0.3]]


FIT = FunctionTask(
    id="01-fit",
    section=Section("1.3", "01_scaling", "Fitted to measurements"),
    title="The serial share, or none at all",
    objective="Fit Amdahl's law to measured runs, and reject it where it does not hold",
    points=5,
    minutes=20,
    judge=judge_fit,
    cases=(
        Case("1 to 8 workers, 20 % serial", runs_of(0.2, (1, 2, 4, 8), noise=0.05, scale=3.0)),
        Case(
            "1 to 16 workers, two runs were disturbed",
            runs_of(0.1, (1, 2, 4, 8, 16), noise=0.05, scale=0.7, disturbed=(1, 4)),
        ),
        Case("each worker costs something", runs_of(0.1, (1, 2, 4, 8, 16), per_worker=0.02)),
        Case("two numbers of workers only", runs_of(0.35, (1, 2), scale=2.0)),
        Case("faster than the workers explain", _superlinear),
        Case("one number of workers is slower than the line", _one_above),
    ),
    advice={"raised-TypeError": "runs holds a list of times for each number of workers."},
    hints=(
        "One run in a list was disturbed. Which number of the list hardly notices? And against what is a + b / n a "
        "straight line?",
        "The median of each list; then a line against 1 / n: b is its slope, a its value at 1 / n = 0. Where does the "
        "line lie, compared with the runs?",
        "np.polyfit(x, y, 1) returns slope and intercept. Work out a + b / n for each n and compare with the fastest "
        "and the slowest run of that n: one that lies outside is enough for None.",
    ),
)
