"""11-norm: Layer norm, far from zero."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import NOTHING, names_over, norm_rows


def norm_arguments(rows, columns, around=0.0, spread=1.0):
    """make(rng) -> x (rows, columns), weight (columns,), bias (columns,), eps, out (rows, columns)."""

    def make(rng):
        x = np.float32(around) + np.float32(spread) * random_values(rng, rows, columns)
        return x, random_values(rng, columns), random_values(rng, columns), 1e-5, unwritten(rows, columns)

    return make


def _unless_alike(formula):
    """A suspect's formula: nothing where it makes so little difference that roundings could be blamed on it."""

    def guess(x, weight, bias, eps, out):
        found = formula(x, weight, bias, eps)
        alike = np.allclose(found, norm_rows(x, weight, bias, eps), rtol=2e-3, atol=2e-3)
        return NOTHING if alike else found

    return guess


def _norm(**mistake):
    return _unless_alike(lambda *arguments: norm_rows(*arguments, **mistake))


def _of_norm(change):
    """norm_rows of other arguments: change(x, weight, bias, eps)."""
    return _unless_alike(lambda *arguments: norm_rows(*change(*arguments)))


def _away(x):
    return x - x.mean(axis=1, dtype=np.float64, keepdims=True)


def _root(x, eps):
    return np.sqrt((_away(x) ** 2).mean(axis=1, keepdims=True) + eps)


_CANCELLED = (
    "Digits were lost among large numbers, and there are two places where that happens. Do the sums begin with 0.0, so "
    "that they are float64? (x[i].mean() and np.float32(0) add up in float32.) And is the variance the mean of the "
    "squared distances from the mean? The mean of the squares less the square of the mean is a difference of two large "
    "numbers, nearly equal: what is left of it is what rounding left over."
)
_OUTSIDE = (
    "Is a sum made before the prange loop? numba takes it for one sum of all rows, then. Let the sums of a row begin "
    "inside the loop, each time anew."
)
_NORMS = 64 * 32


def _going_on(mean, squares):
    """As if these sums began with what the row before left in them."""

    def formula(x, weight, bias, eps, out):
        if len(x) == 1:
            return NOTHING
        x = x.astype(np.float64)
        means = x.mean(axis=1)
        means = (np.cumsum(means) if mean else means)[:, None]
        sums = ((x - means) ** 2).mean(axis=1)
        sums = (np.cumsum(sums) if squares else sums)[:, None]
        return (x - means) / np.sqrt(sums + eps) * weight + bias

    return formula


NORM = ParallelTask(
    id="11-norm",
    section=Section("11", "11_softmax", "Layer norm and RMS norm"),
    title="Layer norm, far from zero",
    objective="Write a layer norm of rows in parallel, without the cancellation of two large numbers",
    points=2,
    minutes=18,
    spec=lambda x, weight, bias, eps, out: norm_rows(x, weight, bias, eps),
    rtol=1e-4,
    atol=2e-4,
    cases=(
        Case("6 x 5", norm_arguments(6, 5)),
        Case("one row: 1 x 40", norm_arguments(1, 40)),
        Case("equal numbers: 4 x 8, all 3", norm_arguments(4, 8, 3, 0)),
        Case("small numbers, around 0: 5 x 9", norm_arguments(5, 9, 0, 0.003)),
        Case("around 2000: 7 x 33", norm_arguments(7, 33, 2000)),
        Case("around -100000: 5 x 24", norm_arguments(5, 24, -100_000, 10)),
    ),
    suspects=(
        Suspect(
            _norm(less=1), "The squares were divided by one less than there are: n - 1. A layer norm divides by n."
        ),
        Suspect(_norm(outside=True), "eps was added to the root. It is added to the variance, under the root."),
        Suspect(_norm(root=False), "The distance was divided by the variance. It is divided by its square root."),
        Suspect(_norm(centre=False), "The mean was not subtracted. (What is left is an RMS norm.)"),
        Suspect(
            _norm(centre=False, square=lambda x, away: (x - x.mean(axis=1, keepdims=True)) ** 2),
            "The mean was subtracted for the variance only. It is subtracted from the numbers of the result, too.",
        ),
        *(
            Suspect(_going_on(mean, squares), _OUTSIDE)
            for mean, squares in ((True, True), (True, False), (False, True))
        ),
        Suspect(
            _norm(square=lambda x, away: away**2 * x.shape[1]),
            "The squares were added up and not divided by their number. The variance is their mean.",
        ),
        Suspect(
            _norm(square=lambda x, away: (x - x.sum(axis=1, keepdims=True)) ** 2),
            "For the variance the sum was subtracted, and not the mean: the sum was divided by the number of columns "
            "too late.",
        ),
        Suspect(
            _norm(square=lambda x, away: x**2),
            "The mean of the squares of x is no variance: take the distances from the mean.",
        ),
        Suspect(
            _of_norm(lambda x, weight, bias, eps: (x, weight, bias, 0.0)),
            "eps is missing. Where a row has equal numbers, its variance is 0, and small ones come out too large.",
        ),
        *(
            Suspect(
                _unless_alike(formula),
                "The bias was added too early. The order is: distance from the mean, divided by the root, times the "
                "weight, plus the bias.",
            )
            for formula in (
                lambda x, weight, bias, eps: (_away(x) + bias) / _root(x, eps) * weight,
                lambda x, weight, bias, eps: (_away(x) * weight + bias) / _root(x, eps),
                lambda x, weight, bias, eps: (
                    _away(x + bias.astype(np.float64)) / _root(x + bias.astype(np.float64), eps) * weight
                ),
                lambda x, weight, bias, eps: norm_rows(x + bias.astype(np.float64), weight, bias, eps),
            )
        ),
        Suspect(_of_norm(lambda x, weight, bias, eps: (x, 0 * weight + 1, bias, eps)), "The weight is missing."),
        Suspect(_of_norm(lambda x, weight, bias, eps: (x, weight, 0 * bias, eps)), "The bias is missing."),
        Suspect(
            _of_norm(lambda x, weight, bias, eps: (x, weight, weight.astype(np.float64) * bias, eps)),
            "The bias was multiplied by the weight. First the weight, then the bias is added.",
        ),
        Suspect(
            lambda x, weight, bias, eps, out: (
                norm_rows(x.reshape(1, -1), np.tile(weight, len(x)), np.tile(bias, len(x)), eps).reshape(x.shape)
                if len(x) > 1
                else NOTHING
            ),
            "Mean and variance are those of all rows together. Each row has its own: let both sums begin anew in each "
            "row.",
        ),
        Suspect(
            lambda x, weight, bias, eps, out: (
                norm_rows(x.T, 0 * x[:, 0] + 1, 0 * x[:, 0], eps).T * weight + bias if len(x) > 1 else NOTHING
            ),
            "Mean and variance are those of each column. Each row has its own.",
        ),
    ),
    advice={
        "precision": (
            f"In a case far from 0 (around 2000, or -100000): {_CANCELLED[:1].lower()}{_CANCELLED[1:]} In a case "
            "around 0 no digits are lost, and a term is slightly off: is each sum divided by the number of columns, "
            "and eps under the root?"
        ),
        "not-finite": f"A variance below 0, or a division by 0? {_CANCELLED} Is eps added before the root is taken?",
        "wrong-value": (
            f"If the rows around 0 were right, and those far from it are not: {_CANCELLED[:1].lower()}{_CANCELLED[1:]} "
            "Else work out the first wrong row: its mean, the mean of the squared distances, the root of that plus "
            "eps."
        ),
        "raised-ZeroDivisionError": "The variance of equal numbers is 0. eps is added to it, under the root.",
        "raised-ValueError": _OUTSIDE,
        "raised-UnsupportedRewriteError": _OUTSIDE,
        "race": "Two rows use the same number at the same time. Mean and variance belong to a row: make them inside "
        "the prange loop.",
        "carried-scalar": "Mean and variance belong to a row. Let their sums begin anew inside the prange loop.",
        "raised-IndexError": "An index left its array: weight and bias have an element for each column.",
    },
    watch=Watch(starts=3),
    budget=Budget(
        points=1,
        text="no array made inside, at most five elements loaded for each of out (x three times, weight, bias), each "
        "stored once",
        require={"arrays": 0, "numpy_bytes": 4096, "loads": 5 * _NORMS, "stores": _NORMS},
        over="The result is right, but an array is made on the way. Mean and variance are two numbers for a row.",
        causes=(
            (
                lambda rows: "arrays" not in names_over(rows) and "stores" in names_over(rows),
                "The result is right, but out is stored more than once for each element. What waits in out can be "
                "computed again from x.",
            ),
            (
                lambda rows: "arrays" not in names_over(rows) and "loads" in names_over(rows),
                "The result is right, but more is loaded than x three times, weight and bias. Is x[i, j] loaded once a "
                "round, into a name?",
            ),
        ),
        case=Case("64 x 32", norm_arguments(64, 32)),
    ),
    hints=(
        "Take 1000, 1001 and 1002. What are the mean of the squares and the square of the mean, with seven digits? And "
        "what are the distances from the mean?",
        "Three passes over a row: the mean; the mean of the squared distances from it; the result. float64 costs "
        "nothing here: sums that begin with 0.0 have it.",
        "One scale for each row, 1 over a root, before the third pass. In the third pass: distance times scale times "
        "weight[j], plus bias[j].",
    ),
)
