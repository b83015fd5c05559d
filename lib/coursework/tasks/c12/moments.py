"""12-moments: Batch norm in two stages."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def merged(parts):
    """(count, mean, sum of squared distances from it) of all parts together, exactly."""
    count = sum(n for n, _, _ in parts)
    if count == 0:
        return 0, 0.0, 0.0
    mean = sum(n * m for n, m, _ in parts) / count
    return count, mean, sum(s + n * (m - mean) ** 2 for n, m, s in parts)


def judge_moments(arguments, result):
    (parts,) = arguments
    count, mean, squares = merged(parts)
    expected = f"({count}, {mean:.6g}, {squares:.6g})"
    result = result.tolist() if isinstance(result, np.ndarray) else result
    if not isinstance(result, tuple | list) or len(result) != 3:
        return Slip(
            "type", expected, "Return three numbers: count, mean, and the sum of squared distances from the mean."
        )
    if any(isinstance(x, bool) or not isinstance(x, int | float | np.integer | np.floating) for x in result):
        return Slip("type", expected, "Return three numbers.")
    n, m, s = (float(x) for x in result)
    if n != count:
        return Slip("count", expected, "The counts of the parts are added up, of those behind an empty part, too.")
    scale = max(abs(mean), 1e-30)
    if not abs(m - mean) <= 1e-9 * scale + 1e-12:
        means = [m for _, m, _ in parts]
        if abs(m - sum(means) / len(means)) <= 1e-9 * scale:
            cause = "This is the mean of the means. Parts have different counts: weigh each mean by its count."
            return Slip("unweighted", expected, cause)
        if not np.isfinite(m):
            cause = "A part may be empty, and all parts may be: do not divide by a count that can be 0."
            return Slip("empty", expected, cause)
        if abs(m - mean) <= 1e-6 * scale:
            cause = (
                "Nearly right: digits were lost. A float32 has seven of them; Python's own numbers, and float64, have "
                "sixteen."
            )
            return Slip("rounded", expected, cause)
        return Slip("mean", expected, "The mean of all is the sum of count * mean, divided by the sum of the counts.")
    if abs(s - squares) <= 1e-6 * max(squares, 1e-12):
        return None
    inside = sum(s for _, _, s in parts)
    if abs(s - inside) <= 1e-6 * max(inside, 1e-12):
        cause = (
            "These are the distances inside the parts alone. A part whose own mean lies off the mean of all adds its "
            "count times the square of that distance."
        )
        return Slip("inside-only", expected, cause)
    between = sum(n * (m - mean) ** 2 for n, m, _ in parts)
    if abs(s - between) <= 1e-6 * max(between, 1e-12):
        return Slip(
            "between-only", expected, "These are the distances between the parts. Those inside each part are missing."
        )
    for divided in (count, count - 1):
        if divided > 0 and abs(s - squares / divided) <= 1e-6 * max(squares / divided, 1e-12):
            cause = "This is the variance. The sum of squared distances is asked for, not divided."
            return Slip("divided", expected, cause)
    if count and abs(s - (squares / count) ** 0.5) <= 1e-6 * max((squares / count) ** 0.5, 1e-12):
        cause = "This is the standard deviation. The sum of squared distances is asked for: not divided, and no root."
        return Slip("divided", expected, cause)
    for kind, mistaken, cause in (
        (
            "no-count",
            sum(s + (m - mean) ** 2 for n, m, s in parts if n),
            "The square of a part's distance counts once here. It counts once for each of its numbers: multiply by its "
            "count.",
        ),
        (
            "order",
            _mean_first(parts),
            "The mean was renewed too early: the distance of the two means is that of the mean of before.",
        ),
        (
            "no-fraction",
            _whole_distance(parts),
            "The distance of two means was squared and multiplied by the new part's count alone. Merging na and nb "
            "numbers, the factor is na * nb / (na + nb): each side moves to the common mean, not to the other's.",
        ),
    ):
        if abs(s - mistaken) <= 1e-6 * max(mistaken, 1e-12):
            return Slip(kind, expected, cause)
    if len(parts) and abs(mean) > 100 * (squares / count) ** 0.5:
        cause = (
            "Digits were lost: the means are large, the distances small. Do not subtract squares of large numbers from "
            "each other; square the difference of two means."
        )
        return Slip("cancelled", expected, cause)
    return Slip(
        "other", expected, "Work out two parts of two numbers each by hand: 1, 3 and 5, 7. The answer is (4, 4, 20)."
    )


def _mean_first(parts):
    """The squares, as if the mean were renewed before its distance from the part's is taken."""
    count, mean, squares = 0, 0.0, 0.0
    for n, m, s in parts:
        if n:
            mean += (m - mean) * n / (count + n)
            squares += s + (m - mean) ** 2 * count * n / (count + n)
            count += n
    return squares


def _whole_distance(parts):
    """The squares, as if a part's distance from the mean so far counted for each of its numbers."""
    count, mean, squares = 0, 0.0, 0.0
    for n, m, s in parts:
        if n:
            squares += s + ((m - mean) ** 2 * n if count else 0)
            count += n
            mean += (m - mean) * n / count
    return squares


def moments_parts(sizes, around=0.0, spread=1.0):
    """make(rng) -> [[count, mean, sum of squared distances], ...] of parts with these sizes."""

    def make(rng):
        parts = []
        for size in sizes:
            x = around + spread * rng.standard_normal(size)
            mean = float(x.mean()) if size else 0.0
            parts.append([size, mean, float(((x - mean) ** 2).sum())])
        return (parts,)

    return make


MOMENTS = FunctionTask(
    id="12-moments",
    section=Section("12.3", "12_cnn", "Two stages"),
    title="Batch norm in two stages",
    objective="Merge counts, means and squared distances of parts, without cancellation",
    points=2,
    minutes=15,
    judge=judge_moments,
    cases=(
        Case("two parts of two", lambda rng: ([[2, 2.0, 2.0], [2, 12.0, 2.0]],)),
        Case("four equal parts", moments_parts((8, 8, 8, 8))),
        Case("parts of different sizes", moments_parts((64, 64, 64, 5))),
        Case("empty parts among them", moments_parts((0, 7, 0, 3))),
        Case("nothing at all", moments_parts((0, 0))),
        Case("around a million, 0.01 apart", moments_parts((32, 32, 9), 1e6, 0.01)),
    ),
    advice={
        "raised-ZeroDivisionError": "A part may be empty, and all parts may be: do not divide by a count that can be 0."
    },
    hints=(
        "The count of all, and the mean of all: how do these follow from counts and means of the parts?",
        "Take one part. Its numbers lie around its own mean, and its mean lies off the mean of all. What is the sum of "
        "squared distances of its numbers from the mean of all?",
        "For a part with n numbers around m: the sum around another number is the sum around m, plus n times the "
        "square of their distance. Add that over the parts. An empty part adds nothing.",
    ),
)
