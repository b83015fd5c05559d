"""11-softmax: The largest and the sum in one pass."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import NOTHING, names_over, softmax_rows


def score_rows(rows, columns, sort=""):
    """make(rng) -> x (rows, columns), out. `sort`: rising, falling, large (up to 10000 away from 0), masked (-inf among
    them)."""

    def make(rng):
        x = 4 * random_values(rng, rows, columns)
        if sort == "rising":
            x.sort(axis=1)
        if sort == "large":
            x += np.float32(10_000) * np.sign(random_values(rng, rows, 1))
        if sort == "masked":
            x[rng.random((rows, columns)) < 0.3] = -np.inf
            x[0::3, : columns // 2] = -np.inf
            x[1::3, 0] = 1
            x[rows // 2] = -np.inf
        return x, unwritten(rows, columns)

    return make


def _sums(x, corrected=True, first=None, newest=True):
    """(largest, sum) of each row as one pass finds them; the options are mistakes."""
    top = np.full((len(x), 1), -np.inf if first is None else first)
    total = np.zeros_like(top)
    for j in range(x.shape[1]):
        column = x[:, j : j + 1]
        above = np.maximum(top, column)
        shift = np.where(above == -np.inf, 0, above)
        larger = column > top
        total = total * (np.exp(top - shift) if corrected else 1)
        total = total + np.where(larger & (not newest), 0, np.exp(column - shift))
        top = above
    return top, total


def _in_one_pass(**mistake):
    def formula(x, out):
        x = x.astype(np.float64)
        top, total = _sums(x, **mistake)
        shift = np.where(top == -np.inf, 0, top)
        return np.where(top == -np.inf, 0, np.exp(x - shift) / total)

    return formula


def _without_numbers(rows):
    """The right result, but NaN in the rows that `rows(x)` names."""
    return lambda x, out: np.where(rows(x)[:, None], np.nan, softmax_rows(x))


def _all_masked(x):
    return (x == -np.inf).all(axis=1)


def _of_terms(total, away=True):
    """Softmax with another sum, `total(e)`; away: whether the largest is subtracted in the result, too."""

    def formula(x, out):
        x = x.astype(np.float64)
        e = np.exp(x - np.maximum(x.max(axis=1, keepdims=True), -1e300))
        return (e if away else np.exp(x)) / total(e)

    return formula


def _from_zero(broken):
    """As if the largest score began with 0; `broken`: what comes of rows far below it."""

    def formula(x, out):
        below = (x.max(axis=1) < -745) & ~_all_masked(x)
        return np.where(below[:, None], broken, softmax_rows(x)) if below.any() else NOTHING

    return formula


def _whole_sum(e):
    return e.sum(axis=1, keepdims=True)


_FROM_ZERO = (
    "The largest score began with 0, and stays 0 in a row whose scores are all below it. Far below 0 all exponentials "
    "are then 0, and so is their sum. Begin with something that is below all scores."
)

SOFTMAX = ParallelTask(
    id="11-softmax",
    section=Section("11", "11_softmax", "Online softmax"),
    title="The largest and the sum in one pass",
    objective="Write an online softmax of rows in parallel, masked scores and masked rows included",
    points=2,
    minutes=18,
    spec=lambda x, out: softmax_rows(x),
    rtol=2e-5,
    cases=(
        Case("6 x 5", score_rows(6, 5)),
        Case("rising: 4 x 20", score_rows(4, 20, "rising")),
        Case("one column: 7 x 1", score_rows(7, 1)),
        Case("around 10000 and -10000: 8 x 12", score_rows(8, 12, "large")),
        Case("masked: 9 x 14, -inf among them", score_rows(9, 14, "masked")),
    ),
    suspects=(
        Suspect(
            _in_one_pass(corrected=False),
            "The sum was not corrected when a larger score came: what stands in it was counted from the old largest "
            "one. Which factor turns exp(x - old) into exp(x - new)?",
        ),
        Suspect(
            _in_one_pass(newest=False),
            "A new largest score corrects the sum, and its own term, exp(0) = 1, is missing.",
        ),
        *(Suspect(_from_zero(broken), _FROM_ZERO) for broken in (0.0, np.nan)),
        Suspect(
            _of_terms(_whole_sum, away=False),
            "The largest score was subtracted for the sum only. It is subtracted in the exponential of the result, "
            "too.",
        ),
        Suspect(
            _of_terms(lambda e: e[:, 1:].sum(axis=1, keepdims=True)),
            "The first score of each row is missing in the sum. Where does the loop begin?",
        ),
        Suspect(
            lambda x, out: np.where(x[:, :1] == -np.inf, 0, softmax_rows(x)),
            "Rows that begin with -inf have become 0. As long as the largest score is -inf, x - largest is -inf - "
            "(-inf), NaN, and so is the sum; `NaN > 0` is False. A score of -inf adds nothing: leave it out.",
        ),
        Suspect(
            _without_numbers(_all_masked),
            "A row of which all is -inf has a sum of 0, and 0 / 0 is NaN. Such a row shall give zeros.",
        ),
        Suspect(
            _without_numbers(lambda x: x[:, 0] == -np.inf),
            "Rows that begin with -inf have become NaN: as long as the largest score is -inf, x - largest is -inf - "
            "(-inf), NaN. A score of -inf adds nothing: what can be done with it?",
        ),
        Suspect(
            _without_numbers(lambda x: (x == -np.inf).any(axis=1)),
            "Rows with a -inf anywhere have become NaN. exp(-inf) is 0, but -inf - (-inf) and 0 * inf are NaN.",
        ),
        Suspect(
            lambda x, out: softmax_rows(x.T).T if len(x) > 1 else NOTHING,
            "This is the softmax of every column. Rows were asked for.",
        ),
        Suspect(
            lambda x, out: softmax_rows(x.reshape(1, -1)).reshape(x.shape) if len(x) > 1 else NOTHING,
            "All elements together sum up to 1. Each row must: largest and sum begin anew in each row.",
        ),
        Suspect(
            lambda x, out: np.exp(x - np.maximum(x.max(axis=1, keepdims=True), -1e300)),
            "The exponentials were not divided by their sum.",
        ),
        Suspect(
            lambda x, out: softmax_rows(x) * (x > -np.inf) + np.where(_all_masked(x)[:, None], 1 / x.shape[1], 0),
            "A row of which all is -inf came out as equal shares. It shall give zeros: nothing may be looked at.",
        ),
    ),
    advice={
        "constant": (
            "Every element is the same. Is the sum 0 or NaN in each row (`NaN > 0` is False)? When a larger score "
            "comes, the sum is multiplied by exp(old - new), which is at most 1. exp(new - old) is infinite for the "
            "first score, as old is -inf, and 0 * inf is NaN."
        ),
        "not-finite": (
            "exp of a large number is infinite, exp of a very negative one is 0, and neither inf / inf nor 0 / 0 is a "
            "number; -inf - (-inf) is none either. Does the largest score begin with something that is below all "
            "scores, and is it subtracted everywhere?"
        ),
        "some-unwritten": (
            "Some rows were never stored, and out holds anything before. Does a row of which all is -inf go on to the "
            "next one before its zeros are stored?"
        ),
        "wrong-value": (
            "Work out the first wrong row with three scores. After each: what is the largest so far, and is the sum "
            "that of exp(score - largest so far) of all before?"
        ),
        "race": "Two rows use the same number at the same time. Largest and sum belong to a row: make them inside the "
        "prange loop.",
        "carried-scalar": "Largest and sum belong to a row. Let both begin anew inside the prange loop.",
        "raised-ValueError": (
            "Is the sum made before the prange loop? numba takes it for one sum of all rows, then. Largest and sum "
            "belong to a row: let both begin inside the loop, each time anew."
        ),
        "raised-ZeroDivisionError": "A row of which all is -inf has a sum of 0. It shall give zeros: ask before you "
        "divide.",
    },
    watch=Watch(starts=3),
    budget=Budget(
        points=1,
        text="no array made inside, each element of x loaded twice, each of out stored once",
        require={"arrays": 0, "numpy_bytes": 4096, "loads": 2 * 64 * 32, "stores": 64 * 32},
        over="The result is right, but an array is made on the way. Largest and sum are two numbers for a row.",
        causes=(
            (
                lambda rows: "arrays" not in names_over(rows) and "stores" in names_over(rows),
                "The result is right, but out is stored more than once for each element. The exponentials need not "
                "wait in out for their sum: compute them again, when the sum is there.",
            ),
            (
                lambda rows: "arrays" not in names_over(rows) and "loads" in names_over(rows),
                "The result is right, but a row is loaded more than twice. Does one pass find the largest and another "
                "one the sum? One pass can find both: when a larger score comes, the sum so far is corrected. And is "
                "x[i, j] loaded once a round, into a name?",
            ),
        ),
        case=Case("64 x 32", score_rows(64, 32)),
    ),
    hints=(
        "You have seen some scores of a row, and know their largest, m, and the sum of exp(score - m). Now a larger "
        "score comes. Which part of what you know is still right?",
        "All terms of the sum were counted from the old largest score. One product corrects them all. A score that is "
        "not larger only adds a term. A score of -inf adds nothing in either case, and can be left out.",
        "In the prange loop: largest = -inf and a sum of 0. First pass: an `if` for -inf, an `if` for a larger one "
        "with two lines, an `else` with one. Second pass: exponential divided by sum, or 0 where the sum is 0.",
    ),
)
