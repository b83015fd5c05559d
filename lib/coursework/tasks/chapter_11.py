"""Tasks of chapter 11, Attention: softmax in pieces, norms, tiles of keys that nobody reads in vain, and decoding."""

import math

import numpy as np

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.function import FunctionTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit


def _over(rows):
    """The names of the counts that are over their limits."""
    return {o.name for o in rows}


# 11-scores ---------------------------------------------------------------------------------------------------

LENGTH, WIDTH, CACHE = 4096, 64, 1 << 20


def _one_head(n):
    """q, k, v and the scores of one head, of which only the shapes matter."""
    q, k, v = (np.empty((n, WIDTH), np.float32) for _ in range(3))
    return (q, k, v), np.empty((len(q), len(k)), np.float32)


def _inputs():
    return sum(x.nbytes for x in _one_head(LENGTH)[0])


def _scores():
    return _one_head(LENGTH)[1].nbytes


def _allowed():
    """A query looks at the keys up to its own place."""
    return int(np.minimum(np.arange(LENGTH) + 1, LENGTH).sum())


def _fits():
    return max(n for n in (1 << p for p in range(14)) if _one_head(n)[1].nbytes <= CACHE)


SCORES = PredictionTask(
    id="11-scores",
    section=Section("11.2", "11_attention", "Count first"),
    title="What grows with the square of the length?",
    objective="Predict the bytes of scores, of queries, keys and values, and the length at which the scores leave a cache",
    points=1,
    minutes=4,
    questions=(
        Question(
            "inputs",
            "bytes of q, k and v together: 4096 x 64 each, float32",
            _inputs,
            {
                _inputs() // 3: "That is one of the three.",
                _inputs() // 4: "That is the number of elements. A float32 has 4 bytes.",
                _inputs() // 12: "That is the number of elements of one of the three.",
                2 * _inputs() // 3: "Those are two of the three: queries, keys and values.",
                4 * _inputs() // 3: "That counts the result, too. Only q, k and v are asked for.",
            },
            "Each of the three has 4096 rows of 64 numbers.",
        ),
        Question(
            "scores",
            "bytes of the scores of one head: 4096 queries, 4096 keys, float32",
            _scores,
            {
                _scores() // 4: "That is the number of scores. A float32 has 4 bytes.",
                _scores() * WIDTH: "A score is one number: the 64 products of a query and a key have been added up.",
                LENGTH * WIDTH * 4: "Those are the bytes of q. There is a score for each pair of a query and a key.",
                _scores() // 2: "That is about half, as with a causal mask. Here each query looks at each key.",
                2 * _scores(): "A float32 has 4 bytes, and the scores are one matrix.",
            },
            "There is one score for each pair of a query and a key.",
        ),
        Question(
            "allowed",
            "scores that a causal mask leaves: query i looks at keys 0 to i",
            _allowed,
            {
                LENGTH * LENGTH: "That is all pairs. Query 0 looks at one key only, query 1 at two.",
                LENGTH
                * LENGTH
                // 2: "Nearly: half of the square cuts through the diagonal, and a query looks at its own key, too.",
                LENGTH * (LENGTH - 1) // 2: "Without the diagonal. A query looks at its own key, too.",
                LENGTH: "That is the diagonal. A query looks at the keys before its own, too.",
                4 * _allowed(): "Those are bytes. The number of scores is asked for.",
            },
            "Query 0 looks at 1 key, query 1 at 2, the last one at 4096. Add them up.",
        ),
        Question(
            "fits",
            "the largest power of two N whose N x N scores, float32, fit into 1 MiB",
            _fits,
            {
                1024: "1024 x 1024 is a million numbers, of 4 bytes each.",
                256: "256 x 256 scores are a quarter of 1 MiB. Does twice the length still fit?",
                _fits() ** 2: "That is the number of scores. How many rows have they?",
                4096: "4096 x 4096 scores are 64 MiB, as the second question has it.",
                128: "128 x 128 scores are a sixteenth of 1 MiB. How much longer can it be?",
            },
            "Twice the length, four times the bytes. Begin with N = 128, and go up.",
        ),
    ),
    hints=(
        "Which of the arrays have a row for each position, and which has a number for each pair of positions?",
        "Positions times 64 times 4 bytes for each of q, k and v. Positions times positions times 4 bytes for the scores. The causal "
        "mask leaves a triangle with its diagonal.",
        "Write n = 4096. The triangle has 1 + 2 + ... + n numbers, a little more than half of n * n. For the last question solve "
        "4 * N * N = 1024 * 1024.",
    ),
)

# 11-merge ----------------------------------------------------------------------------------------------------

VALUES = 4  # columns of v


def part_of(scores, v):
    """What is kept of some keys: (largest score, sum of exponentials, the same exponentials times v)."""
    if not len(scores):
        return -math.inf, 0.0, np.zeros(VALUES)
    top = float(scores.max())
    weights = np.exp(scores - top)
    return top, float(weights.sum()), weights @ v


def two_parts(first, second, around=(0, 0), spread=3):
    """make(rng) -> m1, l1, acc1, m2, l2, acc2 of `first` and of `second` keys, whose scores lie around these numbers."""

    def make(rng):
        parts = []
        for number, place in zip((first, second), around, strict=True):
            scores = place + spread * random_values(rng, number, dtype=np.float64)
            parts += part_of(scores, random_values(rng, number, VALUES, dtype=np.float64))
        return tuple(parts)

    return make


def merged(m1, l1, acc1, m2, l2, acc2):
    """(m, l, acc) of both parts together."""
    m = max(m1, m2)
    a, b = (0.0 if m == -math.inf else math.exp(one - m) for one in (m1, m2))
    return m, a * l1 + b * l2, a * acc1 + b * acc2


def _factors(change):
    """x1 * factor + x2 * factor, with other factors than the right ones: `change(m1, m2, m)` gives them."""

    def formula(m1, m2, x1, x2):
        with np.errstate(all="ignore"):
            a, b = change(m1, m2, np.float64(max(m1, m2)))
            return a * x1 + b * x2

    return formula


MERGES = (
    (
        _factors(lambda m1, m2, m: (1, 1)),
        "here the two were added as they are. Each part counts with a largest score of its own: its exponentials are exp(score - m1) or "
        "exp(score - m2). What turns exp(score - m1) into exp(score - m)? Either of the two parts can be the one with the smaller m.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(m2 - m), np.exp(m1 - m))),
        "the factors are exchanged: the part with the larger m counts in full, the other one less.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(m - m1), np.exp(m - m2))),
        "the exponent is turned round: exp(score - m) is exp(score - m1) times exp(m1 - m), and m1 - m is never above 0.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(m1), np.exp(m2))),
        "these are sums of exp(score), without a largest score. That overflows where scores are large: bring both parts to the "
        "common m.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 >= m2, m2 > m1)),
        "only the part with the larger m is left. The other one counts, too, only less.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 < m2, m2 <= m1)),
        "only the part with the smaller m is left. Both count, the one with the larger m in full.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 - m + 1, m2 - m + 1)),
        "the factor is the exponential of a difference, not the difference.",
    ),
)
_EMPTY = (
    "Both parts are empty: both m are -inf, and -inf - (-inf) is NaN, not a number. What shall come out where there is "
    "nothing to put together?"
)


def judge_merge(arguments, result):
    """A Slip, or None for the exact result."""
    m1, l1, acc1, m2, l2, acc2 = arguments
    m, total, acc = merged(*arguments)
    expected = f"m = {m:g}, l = {total:.6g}, acc = {_numbers(acc)}"
    try:
        said = [np.asarray(part, np.float64) for part in result] if type(result) in (tuple, list) else []
    except (TypeError, ValueError):
        said = []
    if [part.shape for part in said] != [(), (), acc1.shape]:
        return Slip(
            "type", expected, "Three things are asked for, in this order: two numbers, m and l, and an array, acc."
        )
    got = f"m = {said[0]:g}, l = {said[1]:.6g}, acc = {_numbers(said[2])}"
    if said[0] != m:
        cause = "m is the largest score of both parts: the larger of m1 and m2, also if one of them is -inf."
        return Slip("m", expected, cause, got)
    for kind, found, right, x1, x2 in (("l", said[1], total, l1, l2), ("acc", said[2], acc, acc1, acc2)):
        if np.allclose(found, right, rtol=1e-9, atol=1e-12):
            continue
        if m == -math.inf:
            return Slip("empty", expected, _EMPTY, got)
        for formula, cause in MERGES:
            guess = formula(m1, m2, x1, x2)
            if np.allclose(found, guess, rtol=1e-9, atol=1e-12, equal_nan=True):
                return Slip(kind, expected, f"{kind}: {cause}", got)
        if kind == "acc" and np.allclose(found, right / total, rtol=1e-9):
            cause = "acc was divided by l. That comes once, when all keys have been seen: a part that is divided cannot be merged."
            return Slip(kind, expected, cause, got)
        if not np.isfinite(found).all():
            cause = f"{kind} is no number here. An exponent above 700 overflows; -inf - (-inf) and 0 * inf are NaN."
            return Slip(kind, expected, cause, got)
        cause = (
            f"{kind} is off. Take m1 = 0, m2 = 1: by which factor does each exponential of the first part shrink, if it is to be "
            "counted from 1 and not from 0?"
        )
        return Slip(kind, expected, cause, got)
    return None


def _numbers(x):
    return "[" + ", ".join(f"{v:.5g}" for v in np.ravel(x)) + "]"


MERGE = FunctionTask(
    id="11-merge",
    section=Section("11", "11_softmax", "Two parts become one"),
    title="Two parts become one",
    objective="Merge two partial results of a softmax exactly, an empty part included",
    points=2,
    minutes=8,
    judge=judge_merge,
    cases=(
        Case("the second part has the larger score", two_parts(5, 4, (0, 2))),
        Case("the first part has the larger score", two_parts(3, 6, (4, 0))),
        Case("one key each", two_parts(1, 1)),
        Case("the second part is empty", two_parts(5, 0)),
        Case("the first part is empty", two_parts(0, 3)),
        Case("far apart: around 1000 and -1000", two_parts(4, 4, (1000, -1000))),
        Case("both are empty", two_parts(0, 0)),
    ),
    advice={
        "raised-RuntimeWarning": _EMPTY,
        "raised-OverflowError": (
            "The exponent is above 700. exp(score - m) is exp(score - m1) times exp(m1 - m): m1 - m is never above 0. Or was "
            "exp taken of a score itself?"
        ),
        "raised-ZeroDivisionError": "Nothing has to be divided here: l and acc stay sums. Who divides, does it when all keys have been seen.",
    },
    hints=(
        "A key with score s stands in acc1 as exp(s - m1) * v. As what shall it stand in the result?",
        "Every term of a part gets the same factor, so l and acc get it, too. One factor for each part; for the part with the larger m "
        "it is 1. If m is -inf nothing was seen, and no factor is needed.",
        "Three lines for m and the two factors, a line that returns. Where m is -inf, return early: the difference in the exponent would "
        "be that of two infinities.",
    ),
)

# 11-softmax --------------------------------------------------------------------------------------------------


def score_rows(rows, columns, sort=""):
    """make(rng) -> x (rows, columns), out. `sort`: rising, falling, large (up to 10000 away from 0), masked (-inf among them)."""

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


def softmax_rows(x):
    """Of each row, in float64; zeros for a row of which all is -inf."""
    x = x.astype(np.float64)
    top = x.max(axis=1, keepdims=True)
    e = np.exp(x - np.where(top == -np.inf, 0, top))
    return e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)


def _sums(x, corrected=True, first=None, newest=True):
    """(largest, sum) of each row as one pass finds them; the options are mistakes."""
    top = np.full((len(x), 1), -np.inf if first is None else first)
    total = np.zeros_like(top)
    for j in range(x.shape[1]):
        one = x[:, j : j + 1]
        above = np.maximum(top, one)
        shift = np.where(above == -np.inf, 0, above)
        larger = one > top
        total = total * (np.exp(top - shift) if corrected else 1)
        total = total + np.where(larger & (not newest), 0, np.exp(one - shift))
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


SOFTMAX = ParallelTask(
    id="11-softmax",
    section=Section("11", "11_softmax", "Online softmax"),
    title="The largest and the sum in one pass",
    objective="Write an online softmax of rows in parallel, masked scores and masked rows included",
    points=2,
    minutes=12,
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
            "The sum was not corrected when a larger score came: what stands in it was counted from the old largest one. Which factor "
            "turns exp(x - old) into exp(x - new)?",
        ),
        Suspect(
            _in_one_pass(newest=False),
            "A new largest score corrects the sum, and its own term, exp(0) = 1, is missing.",
        ),
        Suspect(
            _without_numbers(_all_masked),
            "A row of which all is -inf has a sum of 0, and 0 / 0 is NaN. Such a row shall give zeros.",
        ),
        Suspect(
            _without_numbers(lambda x: x[:, 0] == -np.inf),
            "Rows that begin with -inf have become NaN: as long as the largest score is -inf, x - largest is -inf - (-inf), NaN. A score "
            "of -inf adds nothing: what can be done with it?",
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
        "not-finite": (
            "exp of a large number is infinite, exp of a very negative one is 0, and neither inf / inf nor 0 / 0 is a number; -inf - (-inf) "
            "is none either. Does the largest score begin with something that is below all scores, and is it subtracted everywhere?"
        ),
        "some-unwritten": (
            "Some rows were never stored, and out holds anything before. Does a row of which all is -inf go on to the next one before its "
            "zeros are stored?"
        ),
        "wrong-value": (
            "Work out the first wrong row with three scores. After each: what is the largest so far, and is the sum that of "
            "exp(score - largest so far) of all before?"
        ),
        "race": "Two rows use the same number at the same time. Largest and sum belong to a row: make them inside the prange loop.",
        "carried-scalar": "Largest and sum belong to a row. Let both begin anew inside the prange loop.",
        "raised-ValueError": (
            "Is the sum made before the prange loop? numba takes it for one sum of all rows, then. Largest and sum belong to a row: let both begin "
            "inside the loop, each time anew."
        ),
        "raised-ZeroDivisionError": "A row of which all is -inf has a sum of 0. It shall give zeros: ask before you divide.",
    },
    watch=Watch(starts=3),
    budget=Budget(
        points=1,
        text="no array made inside, each element of x loaded twice, each of out stored once",
        require={"arrays": 0, "numpy_bytes": 4096, "loads": 2 * 64 * 32, "stores": 64 * 32},
        over="The result is right, but an array is made on the way. Largest and sum are two numbers for a row.",
        causes=(
            (
                lambda rows: "arrays" not in _over(rows) and "stores" in _over(rows),
                "The result is right, but out is stored more than once for each element. The exponentials need not wait in out for their "
                "sum: compute them again, when the sum is there.",
            ),
            (
                lambda rows: "arrays" not in _over(rows) and "loads" in _over(rows),
                "The result is right, but a row is loaded more than twice. Does one pass find the largest and another one the sum? One "
                "pass can find both: when a larger score comes, the sum so far is corrected. And is x[i, j] loaded once a round, into a name?",
            ),
        ),
        case=Case("64 x 32", score_rows(64, 32)),
    ),
    hints=(
        "You have seen some scores of a row, and know their largest, m, and the sum of exp(score - m). Now a larger score comes. Which "
        "part of what you know is still right?",
        "All terms of the sum were counted from the old largest score. One product corrects them all. A score that is not larger only adds a "
        "term. A score of -inf adds nothing in either case, and can be left out.",
        "In the prange loop: largest = -inf and a sum of 0. First pass: an `if` for -inf, an `if` for a larger one with two lines, an "
        "`else` with one. Second pass: exponential divided by sum, or 0 where the sum is 0.",
    ),
)

# 11-norm -----------------------------------------------------------------------------------------------------


def norm_arguments(rows, columns, around=0.0, spread=1.0):
    """make(rng) -> x (rows, columns), weight (columns,), bias (columns,), eps, out (rows, columns)."""

    def make(rng):
        x = np.float32(around) + np.float32(spread) * random_values(rng, rows, columns)
        return x, random_values(rng, columns), random_values(rng, columns), 1e-5, unwritten(rows, columns)

    return make


def norm_rows(x, weight, bias, eps, centre=True, square=None, less=0, outside=False, root=True):
    """Layer norm in float64; the options are mistakes."""
    x, weight, bias = (one.astype(np.float64) for one in (x, weight, bias))
    away = x - x.mean(axis=1, keepdims=True) if centre else x
    squares = away**2 if square is None else square(x, away)
    with np.errstate(all="ignore"):
        variance = squares.sum(axis=1, keepdims=True) / (x.shape[1] - less)
        below = np.sqrt(variance) + eps if outside else np.sqrt(variance + eps) if root else variance + eps
        return away / below * weight + bias


def _norm(**mistake):
    return lambda x, weight, bias, eps, out: norm_rows(x, weight, bias, eps, **mistake)


def _of_norm(change):
    """norm_rows of other arguments: change(x, weight, bias, eps)."""
    return lambda x, weight, bias, eps, out: norm_rows(*change(x, weight, bias, eps))


_CANCELLED = (
    "Is the variance the mean of the squares less the square of the mean? Those are two large numbers, nearly equal, and their "
    "difference is what rounding left over. Square the distances from the mean, in a pass of their own, and add up in float64: begin sums "
    "with 0.0."
)
_OUTSIDE = (
    "Is a sum made before the prange loop? numba takes it for one sum of all rows, then. Let the sums of a row begin inside the loop, each "
    "time anew."
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
    minutes=12,
    spec=lambda x, weight, bias, eps, out: norm_rows(x, weight, bias, eps),
    rtol=1e-4,
    atol=2e-4,
    cases=(
        Case("6 x 5", norm_arguments(6, 5)),
        Case("one row: 1 x 40", norm_arguments(1, 40)),
        Case("equal numbers: 4 x 8, all 3", norm_arguments(4, 8, 3, 0)),
        Case("small numbers, around 0: 5 x 9", norm_arguments(5, 9, 0, 0.003)),
        Case("around 1000: 7 x 33", norm_arguments(7, 33, 1000)),
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
            _norm(square=lambda x, away: x**2),
            "The mean of the squares of x is no variance: take the distances from the mean.",
        ),
        Suspect(
            _of_norm(lambda x, weight, bias, eps: (x, weight, bias, 0.0)),
            "eps is missing. Where a row has equal numbers, its variance is 0, and small ones come out too large.",
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
            "Mean and variance are those of all rows together. Each row has its own: let both sums begin anew in each row.",
        ),
        Suspect(
            lambda x, weight, bias, eps, out: (
                norm_rows(x.T, 0 * x[:, 0] + 1, 0 * x[:, 0], eps).T * weight + bias if len(x) > 1 else NOTHING
            ),
            "Mean and variance are those of each column. Each row has its own.",
        ),
    ),
    advice={
        "precision": _CANCELLED,
        "not-finite": f"A variance below 0, or a division by 0? {_CANCELLED} And is eps added before the root is taken?",
        "wrong-value": (
            f"If the rows around 0 were right, and those far from it are not: {_CANCELLED[:1].lower()}{_CANCELLED[1:]} Else work out the "
            "first wrong row: its mean, the mean of the squared distances, the root of that plus eps."
        ),
        "raised-ZeroDivisionError": "The variance of equal numbers is 0. eps is added to it, under the root.",
        "raised-ValueError": _OUTSIDE,
        "race": "Two rows use the same number at the same time. Mean and variance belong to a row: make them inside the prange loop.",
        "carried-scalar": "Mean and variance belong to a row. Let their sums begin anew inside the prange loop.",
        "raised-IndexError": "An index left its array: weight and bias have an element for each column.",
    },
    watch=Watch(starts=3),
    budget=Budget(
        points=1,
        text="no array made inside, at most five elements loaded for each of out (x three times, weight, bias), each stored once",
        require={"arrays": 0, "numpy_bytes": 4096, "loads": 5 * _NORMS, "stores": _NORMS},
        over="The result is right, but an array is made on the way. Mean and variance are two numbers for a row.",
        causes=(
            (
                lambda rows: "arrays" not in _over(rows) and "stores" in _over(rows),
                "The result is right, but out is stored more than once for each element. What waits in out can be computed again from x.",
            ),
            (
                lambda rows: "arrays" not in _over(rows) and "loads" in _over(rows),
                "The result is right, but more is loaded than x three times, weight and bias. Is x[i, j] loaded once a round, into a "
                "name?",
            ),
        ),
        case=Case("64 x 32", norm_arguments(64, 32)),
    ),
    hints=(
        "Take 1000, 1001 and 1002. What are the mean of the squares and the square of the mean, with seven digits? And what are the "
        "distances from the mean?",
        "Three passes over a row: the mean; the mean of the squared distances from it; the result. float64 costs nothing here: sums that "
        "begin with 0.0 have it.",
        "One scale for each row, 1 over a root, before the third pass. In the third pass: distance times scale times weight[j], plus "
        "bias[j].",
    ),
)

TASKS = (SCORES, MERGE, SOFTMAX, NORM)
