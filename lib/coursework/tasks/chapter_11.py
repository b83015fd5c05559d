"""Tasks of chapter 11, Attention: softmax in pieces, norms, tiles of keys that nobody reads in vain, and decoding."""

import contextlib
import math
import operator

import numpy as np

from dlkernels import cuda

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..golf import Golf
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Numbers, Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.measured import Card, MeasuredTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit
TOLD_FIRST = ("race", "divergent-barrier", "barrier-after-exit", "uninitialised-shared", "uninitialised-local")


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
                2 * _inputs(): "A float32 has 4 bytes, not 8.",
                _inputs() // 2: "A float32 has 4 bytes, not 2.",
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
                LENGTH: "Those are the keys of the last query alone, or one for each query. The queries before it look at keys, too: add up.",
                2 * LENGTH * LENGTH: "Those are bytes. The number of scores is asked for.",
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
                9: "Is that an exponent? The power of two itself is asked for.",
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
        _factors(lambda m1, m2, m: (np.exp(-abs(m1 - m2)),) * 2),
        "both parts got the same factor. The one with the larger m counts in full.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 - m + 1, m2 - m + 1)),
        "the factor is the exponential of a difference, not the difference.",
    ),
)
_NEARLY = "nearly right, but not to the last digits. Is something float32 on the way, or is a small number added?"
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
        said = [np.asarray(part) for part in result] if type(result) in (tuple, list) else []
    except (TypeError, ValueError):
        said = []
    if [part.shape for part in said] != [(), (), acc1.shape] or any(part.dtype.kind not in "iuf" for part in said):
        return Slip(
            "type",
            expected,
            "Three things are asked for, in this order: two numbers, m and l, and an array, acc, as long as acc1.",
        )
    said = [part.astype(np.float64) for part in said]
    got = f"m = {said[0]:g}, l = {said[1]:.6g}, acc = {_numbers(said[2])}"
    if said[0] != m:
        cause = "m is the largest score of both parts: the larger of m1 and m2, also if one of them is -inf."
        return Slip("m", expected, cause, got)
    for kind, found, right, x1, x2 in (("l", said[1], total, l1, l2), ("acc", said[2], acc, acc1, acc2)):
        if np.allclose(found, right, rtol=1e-9, atol=1e-12):
            continue
        if m == -math.inf:
            return Slip("empty", expected, _EMPTY, got)
        if min(m1, m2) == -math.inf and np.isfinite(found).all():
            cause = f"{kind}: one part is empty. It adds nothing: what the other one has comes out as it is."
            return Slip(kind, expected, cause, got)
        for formula, cause in MERGES:
            guess = formula(m1, m2, x1, x2)
            if np.allclose(found, guess, rtol=1e-9, atol=1e-12, equal_nan=True):
                return Slip(kind, expected, f"{kind}: {cause}", got)
        with np.errstate(all="ignore"):
            divided = right / total, merged(m1, l1, np.divide(acc1, l1), m2, l2, np.divide(acc2, l2))[2]
        if kind == "acc" and any(np.allclose(found, guess, rtol=1e-9) for guess in divided):
            cause = "acc was divided by l. That comes once, when all keys have been seen: a part that is divided cannot be merged."
            return Slip(kind, expected, cause, got)
        if not np.isfinite(found).all():
            cause = f"{kind} is no number here. An exponent above 700 overflows; -inf - (-inf) and 0 * inf are NaN."
            return Slip(kind, expected, cause, got)
        if np.allclose(found, right, rtol=1e-5, atol=1e-5):
            return Slip(kind, expected, f"{kind}: {_NEARLY}", got)
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
        Case("the first part has the larger score", two_parts(3, 6, (12, 0))),
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
    "The largest score began with 0, and stays 0 in a row whose scores are all below it. Far below 0 all exponentials are then 0, and so is "
    "their sum. Begin with something that is below all scores."
)


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
        *(Suspect(_from_zero(broken), _FROM_ZERO) for broken in (0.0, np.nan)),
        Suspect(
            _of_terms(_whole_sum, away=False),
            "The largest score was subtracted for the sum only. It is subtracted in the exponential of the result, too.",
        ),
        Suspect(
            _of_terms(lambda e: e[:, 1:].sum(axis=1, keepdims=True)),
            "The first score of each row is missing in the sum. Where does the loop begin?",
        ),
        Suspect(
            lambda x, out: np.where(x[:, :1] == -np.inf, 0, softmax_rows(x)),
            "Rows that begin with -inf have become 0. As long as the largest score is -inf, x - largest is -inf - (-inf), NaN, and so is the sum; "
            "`NaN > 0` is False. A score of -inf adds nothing: leave it out.",
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
        "constant": (
            "Every element is the same. Is the sum 0 or NaN in each row (`NaN > 0` is False)? When a larger score comes, the sum is multiplied by "
            "exp(old - new), which is at most 1. exp(new - old) is infinite for the first score, as old is -inf, and 0 * inf is NaN."
        ),
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


_CANCELLED = (
    "Digits were lost among large numbers, and there are two places where that happens. Do the sums begin with 0.0, so that they are "
    "float64? (x[i].mean() and np.float32(0) add up in float32.) And is the variance the mean of the squared distances from the mean? The mean of "
    "the squares less the square of the mean is a difference of two large numbers, nearly equal: what is left of it is what rounding left over."
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
            "For the variance the sum was subtracted, and not the mean: the sum was divided by the number of columns too late.",
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
        "raised-UnsupportedRewriteError": _OUTSIDE,
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

# 11-rotary ---------------------------------------------------------------------------------------------------

ROTARY_BLOCK = 32


def rotary_arguments(tokens, width, first=0, mixed=False):
    """make(rng) -> x (tokens, width), positions (tokens,), frequencies (width // 2,), out. `first`: position of the first token."""

    def make(rng):
        positions = first + (rng.permutation(3 * tokens)[:tokens] if mixed else np.arange(tokens))
        frequencies = (10_000.0 ** (-np.arange(0, width, 2) / width)).astype(np.float32)
        return random_values(rng, tokens, width), positions, frequencies, unwritten(tokens, width)

    return make


def rotary_case(name, tokens, width, first=0, mixed=False):
    blocks = -(-tokens * width // ROTARY_BLOCK)
    where = "1 block" if blocks == 1 else f"{blocks} blocks"
    said = f"{name}: {tokens} tokens of {width} numbers, {where}"
    return Case(said, rotary_arguments(tokens, width, first, mixed), grid=blocks, block=ROTARY_BLOCK)


def rotated(x, positions, frequencies, sign=1, neighbours=False, cross=1, exchanged=False):
    """Each pair turned by its angle, float64; the options are mistakes."""
    x, half = x.astype(np.float64), x.shape[1] // 2
    angles = np.multiply.outer(positions, frequencies.astype(np.float64))
    a, b = (x[:, 0::2], x[:, 1::2]) if neighbours else (x[:, :half], x[:, half:])
    cos, sin = (np.sin, np.cos) if exchanged else (np.cos, np.sin)
    first = a * cos(angles) - sign * cross * b * sin(angles)
    second = b * cos(angles) + sign * a * sin(angles) * (1 if cross else 0)
    if neighbours:
        return np.stack((first, second), axis=2).reshape(x.shape)
    return np.concatenate((first, second), axis=1)


def _rotary(**mistake):
    return lambda x, positions, frequencies, out: rotated(x, positions, frequencies, **mistake)


ROTARY = KernelTask(
    id="11-rotary",
    section=Section("11.4", "11_block", "Where a word stands"),
    title="A position is an angle",
    objective="Write a rotary embedding in which each thread finds the partner of its number",
    points=2,
    minutes=8,
    spec=lambda x, positions, frequencies, out: rotated(x, positions, frequencies),
    rtol=1e-4,
    atol=2e-4,
    cases=(
        rotary_case("one block", 4, 8),
        rotary_case("ragged", 5, 6),
        rotary_case("one pair", 20, 2),
        rotary_case("exact, later positions", 8, 12, 700),
        rotary_case("any order", 8, 4, 10, True),
    ),
    suspects=(
        Suspect(
            _rotary(neighbours=True),
            "Neighbours were paired, columns 0 and 1, 2 and 3. Here column c belongs to column c + half. (Both are in use, and a "
            "model that was trained with one does not work with the other.)",
        ),
        Suspect(
            _rotary(sign=-1),
            "The pairs were turned the other way round: which of the two terms with a sine is subtracted?",
        ),
        Suspect(_rotary(cross=-1), "Both terms with a sine are added. In the first half it is subtracted."),
        Suspect(_rotary(cross=0), "Each number was multiplied by its cosine, and the partner is missing."),
        Suspect(_rotary(exchanged=True), "Sine and cosine are exchanged: at position 0 nothing changes."),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, np.arange(len(x)), frequencies),
            "The row was taken for the position. A token's position is positions[t]: when a text goes on, rows do not begin at 0.",
        ),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, positions, 0 * frequencies + frequencies[0]),
            "All pairs were turned with the first frequency. Pair c has frequencies[c].",
        ),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, positions * math.pi / 180, frequencies),
            "The angle was taken for degrees. math.sin and math.cos take it as it is: the position times the frequency.",
        ),
        Suspect(
            lambda x, positions, frequencies, out: rotated(x, 0 * positions + 1, frequencies),
            "The frequency was taken for the angle. The angle is the position times the frequency.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The last block may have threads beyond the end of out: guard them. Is it an index of `frequencies`? It has half as many numbers "
            "as a row; the partner of column c is c + half in the first half, c - half in the second."
        ),
        "none-beyond": (
            "Each thread has a number here: row, its own number // width, and column, what is left. `positions` has an element for each row, "
            "`frequencies` has half as many numbers as a row; the partner of column c is c + half in the first half, and c - half in the second."
        ),
        "negative-index": "In the first half the partner is c + half, not c - half.",
        "wrong-value": (
            "Work out the first wrong number, [t, c]. Which is its partner in the row? What is the angle? Is the partner's term added or "
            "subtracted in this half?"
        ),
        "tail": (
            "The last numbers were never stored. There is a thread for each number of out, tokens times width of them: does the guard let all of "
            "them in? And does a thread of the second half store, too?"
        ),
        "nothing-written": (
            "Nothing was stored, or NaN was stored again: out holds NaN before. What is turned comes from x; out is only stored to."
        ),
        "some-unwritten": "Half of the numbers were never stored. Each thread has one number of out, in the first half or in the second.",
    },
    hints=(
        "A row of 8 numbers has 4 pairs: (0, 4), (1, 5), (2, 6), (3, 7). You are the thread of column 6. Which number do you need beside your own, and "
        "which frequency?",
        "Row and column follow from the thread's number by // and %. The frequency is that of c % half. The partner lies half a row away, to the "
        "right or to the left, and its term has a minus in the first half.",
        "One guard, two lines for row and column, one for the angle, then an `if` for the half with a line that stores in each branch.",
    ),
)

# 11-fails ----------------------------------------------------------------------------------------------------
# The statement shows the kernels `first` to `fourth`; a test compares.


@cuda.jit
def first(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for j in range(x.size):
            total += math.exp(x[j])
        out[i] = math.exp(x[i]) / total


@cuda.jit
def second(x, out):
    i = cuda.grid(1)
    if i < x.size:
        largest, total = np.float32(0), np.float32(0)
        for j in range(x.size):
            largest = max(largest, x[j])
        for j in range(x.size):
            total += math.exp(x[j] - largest)
        out[i] = math.exp(x[i] - largest) / total


@cuda.jit
def third(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total, squares = np.float32(0), np.float32(0)
        for j in range(x.size):
            total += x[j]
            squares += x[j] * x[j]
        mean = total / x.size
        variance = squares / x.size - mean * mean
        below = math.sqrt(max(variance, 0.0) + 1e-5)
        out[i] = (x[i] - mean) / below


@cuda.jit
def fourth(v, out):
    i = cuda.grid(1)
    if i < out.size:
        end = min(i + 1 + v.size - out.size, v.size)
        total = np.float32(0)
        for j in range(max(end, 1)):
            total += v[j]
        out[i] = total / max(end, 1)


@cuda.jit
def _right_softmax(x, out):
    i = cuda.grid(1)
    if i < x.size:
        largest, total = x[0], np.float32(0)
        for j in range(x.size):
            largest = max(largest, x[j])
        for j in range(x.size):
            total += math.exp(x[j] - largest)
        out[i] = math.exp(x[i] - largest) / total


@cuda.jit
def _right_norm(x, out):
    i = cuda.grid(1)
    if i < x.size:
        mean, squares = 0.0, 0.0
        for j in range(x.size):
            mean += x[j]
        mean /= x.size
        for j in range(x.size):
            squares += (x[j] - mean) ** 2
        out[i] = (x[i] - mean) / math.sqrt(squares / x.size + 1e-5)


@cuda.jit
def _right_causal(v, out):
    i = cuda.grid(1)
    if i < out.size:
        end = min(i + 1, v.size)
        total = np.float32(0)
        for j in range(end):
            total += v[j]
        out[i] = total / end


def _judge(name, spec):
    return KernelTask(
        id=f"11-{name}",
        title="A row",
        objective="Write it",
        points=1,
        minutes=1,
        spec=spec,
        rtol=1e-3,
        atol=1e-4,
        cases=(),
        hints=("", "", ""),
    )


def causal_means(v, out):
    """Attention whose scores are all equal: query i gets the mean of the values 0 to i, as far as there are any."""
    ends = np.minimum(np.arange(out.size) + 1, v.size)
    return np.cumsum(v.astype(np.float64))[ends - 1] / ends


def _numbers_case(x):
    said = "x = " + str([round(float(v), 3) for v in x])
    return Case(said, lambda rng: (x.copy(), unwritten(x.size)), grid=1, block=32)


def _causal_case(queries, keys):
    said = f"queries = {queries}, keys = {keys}"
    return Case(said, lambda rng: (random_values(rng, keys), unwritten(queries)), grid=-(-queries // 32), block=32)


_SOFTMAX_OF_X = _judge("row", lambda x, out: softmax_rows(x[None])[0])
_NORM_OF_X = _judge("normal", lambda x, out: norm_rows(x[None], np.ones(1), np.zeros(1), 1e-5)[0])
_MEANS = _judge("means", causal_means)

FAILS = CounterexampleTask(
    id="11-fails",
    section=Section("11", "11_softmax", "The largest number first"),
    title="Find numbers for which four kernels fail",
    objective="Find inputs that show an overflow, an underflow, a cancellation, and a causal mask at the wrong corner",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="first",
            judge=_SOFTMAX_OF_X,
            wrong=first,
            right=_right_softmax,
            fields={"x": Numbers(1, 8, 0, 200)},
            case=_numbers_case,
            lead="Which is the largest number whose exponential a float32 can hold?",
        ),
        Flaw(
            name="second",
            judge=_SOFTMAX_OF_X,
            wrong=second,
            right=_right_softmax,
            fields={"x": Numbers(1, 8, -200, 200)},
            case=_numbers_case,
            lead="`largest` begins with 0. For which x is it still 0 at the end, and what is then the largest of the exponentials?",
        ),
        Flaw(
            name="third",
            judge=_NORM_OF_X,
            wrong=third,
            right=_right_norm,
            fields={"x": Numbers(2, 8, -10000, 10000)},
            case=_numbers_case,
            lead=(
                "A float32 has about seven digits. How large must `squares` be, so that the distances of the numbers from each other stand in "
                "digits that it does not have?"
            ),
        ),
        Flaw(
            name="fourth",
            judge=_MEANS,
            wrong=fourth,
            right=_right_causal,
            fields={"queries": Whole(1, 64), "keys": Whole(1, 64)},
            case=_causal_case,
            lead="Which keys does query 0 see, as `end` has it, and which as the formula has it? For which sizes are they the same?",
        ),
    ),
    hints=(
        "Each kernel is right for numbers around 0, and for as many queries as keys: the author tried nothing else. Where does each of them "
        "compute something that is not in the formula?",
        "first: exp grows fast. second: it also falls fast, and 0 / 0 is no number. third: two large numbers are subtracted. fourth: "
        "draw the triangle for 2 queries and 4 keys.",
        "first: one number near 100 is enough. second: all of them on the same side of 0, and far from it. third: far from 0, and close to "
        "each other, but not equal. fourth: two sizes that differ, with more than one key.",
    ),
)

# 11-window ---------------------------------------------------------------------------------------------------


def sees(i, j, window, sink):
    """Whether query i may look at key j: causal, the last `window` keys, and the first `sink` ones."""
    return (j <= i) & ((i - j < window) | (j < sink))


def window_case(name, first, last, keys, tile, window, sink):
    said = f"{name}: queries {first} to {last}, {keys} keys in tiles of {tile}, window {window}, sink {sink}"
    return Case(said, lambda rng: (first, last, keys, tile, window, sink))


def tiles_of_window(first, last, keys, tile, window, sink, mask=sees, tail=False, most=None):
    """(full, partial): tiles that every query sees as a whole, and others of which some query sees something.
    `tail`: whether keys beyond the last count, too; `most`: queries that are asked. Those, and other masks, are mistakes."""
    queries = np.array(most(first, last) if most else range(first, last + 1))[:, None]
    full, partial = [], []
    for number in range(-(-keys // tile)):
        end = (number + 1) * tile
        seen = mask(queries, np.arange(number * tile, end if tail else min(end, keys)), window, sink)
        if seen.all():
            full.append(number)
        elif seen.any():
            partial.append(number)
    return full, partial


WINDOWS = (
    (
        {"mask": lambda i, j, window, sink: (j <= i) & (i - j < window)},
        "The sink is missing: the first keys are seen by every later query, however far away.",
    ),
    (
        {"mask": lambda i, j, window, sink: (i - j < window) | (j < sink)},
        "Keys that come after a query are taken for seen. Query i sees keys up to i.",
    ),
    ({"mask": lambda i, j, window, sink: j <= i}, "The window is missing: these are the tiles of a causal mask."),
    (
        {"mask": lambda i, j, window, sink: (j <= i) & ((i - j <= window) | (j < sink))},
        "One key too many: query i sees `window` keys, its own among them, so j = i - window is the first one that it does not see.",
    ),
    ({"tail": True}, "The last tile has fewer keys. It is full if all keys that it has are seen."),
    (
        {"mask": lambda i, j, window, sink: (j <= i) & ((i - j < window) | (j <= sink))},
        "One key of the sink too many: the sink is keys 0 to sink - 1.",
    ),
    ({"mask": lambda i, j, window, sink: (j < i) & ((i - j < window) | (j < sink))}, "A query sees its own key, too."),
    (
        {"most": lambda first, last: [first]},
        "This is right for the first query alone. A tile is needed if any of the queries needs it, and full if all of them see all of it.",
    ),
    (
        {"most": lambda first, last: [last]},
        "This is right for the last query alone. A tile is needed if any of the queries needs it, and full if all of them see all of it.",
    ),
)


def _ordered(x):
    """Whether it is something with a length and an order, which a judge may look at."""
    return type(x) in (list, tuple, np.ndarray)


def _two_lists(result):
    """(full, partial) as lists of whole numbers, or None for anything else: floats, text, sets, truth values."""
    if type(result) not in (tuple, list) or len(result) != 2 or not all(map(_ordered, result)):
        return None
    try:
        said = tuple([operator.index(x) for x in part] for part in result)
    except TypeError:
        return None
    return None if any(isinstance(x, bool | np.bool_) for part in result for x in part) else said


def judge_window(arguments, result):
    """A Slip, or None for the right tiles."""
    right = tiles_of_window(*arguments)
    expected = f"full {_tiles(right[0])}, partial {_tiles(right[1])}"
    said = _two_lists(result)
    if said is None:
        cause = "Two lists are asked for: the numbers of the full tiles, and those of the partial ones."
        if _ordered(result) and any(isinstance(x, float) for part in result if _ordered(part) for x in part):
            cause = "A tile has a whole number. `/` gives a float even where the division has no rest; `//` gives a whole number."
        return Slip("type", expected, cause)
    got = f"full {_tiles(said[0])}, partial {_tiles(said[1])}"
    if said == right:
        return None
    for options, cause in WINDOWS:
        if said == tiles_of_window(*arguments, **options):
            return Slip("mask", expected, cause, got)
    there = -(-arguments[2] // arguments[3])
    beyond = [number for number in said[0] + said[1] if not 0 <= number < there]
    if beyond:
        cause = (
            f"There is no tile {beyond[0]}: {arguments[2]} keys in tiles of {arguments[3]} are tiles 0 to {there - 1}."
        )
        return Slip("no-tile", expected, cause, got)
    both = set(said[0]) & set(said[1])
    if both:
        cause = f"Tile {min(both)} stands in both lists. A tile that is full needs no mask: it stands in the first list only."
        return Slip("twice", expected, cause, got)
    again = [number for part in said for number in part if part.count(number) > 1]
    if again:
        cause = f"Tile {again[0]} stands in a list more than once. Once is enough, however many queries see it."
        return Slip("twice", expected, cause, got)
    if sorted(said[0] + said[1]) == sorted(right[0] + right[1]):
        if said[0] == sorted(right[0]) or sorted(said[0]) != said[0] or sorted(said[1]) != said[1]:
            return Slip("order", expected, "The tiles come in ascending order.", got)
        number = min(set(said[0]) ^ set(right[0]))
        which, other = ("full", "partial") if number in said[0] else ("partial", "full")
        cause = (
            f"Tile {number} is {other}, not {which}. Full means that every query from the first to the last sees every key of the tile: which "
            "query sees least at its right end, and which one at its left end?"
        )
        return Slip("kind", expected, cause, got)
    lost = sorted(set(right[0] + right[1]) - set(said[0] + said[1]))
    if lost:
        cause = f"Tile {lost[0]} is missing: its keys would be lost. Which query sees one of them?"
        return Slip("lost", expected, cause, got)
    number = sorted(set(said[0] + said[1]) - set(right[0] + right[1]))[0]
    cause = f"Tile {number} is loaded for nothing: no query from the first to the last sees a key of it."
    return Slip("too-much", expected, cause, got)


def _tiles(numbers):
    if len(numbers) > 8:
        return f"[{', '.join(map(str, numbers[:4]))} ... {numbers[-1]}], {len(numbers)} of them"
    return str(numbers)


WINDOW = FunctionTask(
    id="11-window",
    section=Section("11.6", "11_beyond", "Your function in our loop"),
    title="Which tiles does a window need?",
    objective="Say for a block of queries which tiles of keys a sliding window with a sink needs, and which need no mask",
    points=3,
    minutes=12,
    judge=judge_window,
    cases=(
        window_case("one query", 12, 12, 16, 4, 4, 0),
        window_case("a block", 32, 47, 64, 8, 17, 0),
        window_case("a block, with a sink", 32, 47, 64, 8, 20, 30),
        window_case("a window of more than all", 8, 15, 16, 4, 100, 4),
        window_case("a sink of a whole tile", 60, 63, 64, 4, 6, 4),
        window_case("a last tile with fewer keys", 25, 25, 26, 8, 12, 0),
        window_case("the first block", 0, 7, 32, 4, 6, 10),
        window_case("a long text", 100_000, 100_063, 100_064, 64, 4096, 4),
    ),
    advice={
        "raised-TooManyIterations": "Ask of a tile, not of each of its keys: its first and its last key, and the first and the last query, tell.",
        "raised-MemoryError": "Ask of a tile, not of each of its keys: its first and its last key, and the first and the last query, tell.",
    },
    hints=(
        "Of the queries first to last, which one sees the furthest to the left, and which one to the right? And of which keys is it true that "
        "all queries see them?",
        "Some query sees a key of the window: from first - window + 1 to last. Every query sees it: from last - window + 1 to first. The sink, as "
        "far as it is not after the query, is seen by all. A tile is partial if it meets the first kind and is not made of the second.",
        "For a tile with keys a to b: two conditions with `or` say that something is seen. For full, every key of it must be seen by all: it "
        "ends at or before `first`, and what of it lies before last - window + 1 must be sink.",
    ),
)

# 11-attention ------------------------------------------------------------------------------------------------

BLOCK, TILE, HEAD = 32, 16, 4  # queries of a block, keys of a tile, numbers of a query
SCALE = 0.5


def far_below(rng, queries, keys):
    """(queries, keys), four numbers each, whose scores lie far below -1000 and are multiples of 1/2: no rounding hides what happens."""
    q = 16 * rng.integers(1, 3, (*queries, 4)).astype(np.float32)
    k = rng.integers(-8, 9, (*keys, 4)) / np.float32(16) - np.float32(50)
    return q, k.astype(np.float32)


def attention_arguments(queries, keys, large=1.0, below=False):
    """make(rng) -> q (queries, 4), k (keys, 4), v (keys, 4), scale, out (queries, 4). below: all scores far below 0."""

    def make(rng):
        q, k = np.float32(large) * random_values(rng, queries, HEAD), random_values(rng, keys, HEAD)
        if below:
            q, k = far_below(rng, (queries,), (keys,))
        return q, k, random_values(rng, keys, HEAD), SCALE, unwritten(queries, HEAD)

    return make


def attention_case(name, queries, keys, large=1.0, below=False):
    blocks = -(-queries // BLOCK)
    where = "1 block" if blocks == 1 else f"{blocks} blocks"
    said = f"{name}: {queries} queries, {keys} keys, {where}"
    return Case(said, attention_arguments(queries, keys, large, below), grid=blocks, block=BLOCK)


def attention(q, k, v, scale, allowed=None, masked=-np.inf, divided=True):
    """softmax(scale * q @ k.T) @ v in float64. allowed(i, j): which keys a query sees; others have the score `masked`."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = scale * q @ k.T
    if allowed is not None:
        i, j = np.ogrid[: len(q), : len(k)]
        scores = np.where(allowed(i, j), scores, masked)
    with np.errstate(all="ignore"):
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e @ v / (e.sum(axis=1, keepdims=True) if divided else 1)


def running(q, k, v, scale, of_sum=True, of_result=True, of_step=1):
    """The online softmax over keys, or over tiles of `of_step`; the options leave out the correction of one or the other."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = scale * q @ k.T
    top, total, result = np.full((len(q), 1), -np.inf), np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), of_step):
        part = scores[:, start : start + of_step]
        above = np.maximum(top, part.max(axis=1, keepdims=True))
        correction, weights = np.exp(top - above), np.exp(part - above)
        total = total * (correction if of_sum else 1) + weights.sum(axis=1, keepdims=True)
        result = result * (correction if of_result else 1) + weights @ v[start : start + of_step]
        top = above
    return result / total


def _whole(k):
    """Keys in full tiles."""
    return len(k) // TILE * TILE


def _of_attention(formula, least=1):
    """A suspect's formula of (q, k, v, scale), for at least so many keys."""
    return lambda q, k, v, scale, out: formula(q, k, v, scale) if len(k) >= least else NOTHING


def _stale(x):
    """With what the tile before left behind the last keys."""
    return np.concatenate((x, x[_whole(x) - TILE + len(x) % TILE : _whole(x)]))


def _filled(x):
    return np.concatenate((x, np.zeros((-len(x) % TILE, HEAD), np.float32)))


ONLINE = (
    (
        lambda q, k, v, s: running(q, k, v, s, of_result=False),
        "The result was not corrected when a larger score came, or not with the same factor as the sum: both were counted from the old "
        "largest score.",
    ),
    (
        lambda q, k, v, s: running(q, k, v, s, of_sum=False),
        "The sum was not corrected when a larger score came, and the result was: both were counted from the old largest score.",
    ),
    (
        lambda q, k, v, s: running(q, k, v, s, False, False),
        "Neither sum nor result were corrected when a larger score came: they were counted from the old largest score.",
    ),
    (
        lambda q, k, v, s: attention(q, k, v, s, divided=False),
        "The result was not divided by the sum of the exponentials.",
    ),
    (lambda q, k, v, s: attention(q, k, v, 1.0), "The scores were not multiplied by `scale`."),
    (lambda q, k, v, s: attention(q, k, k, s), "The keys were mixed in the place of the values."),
    (lambda q, k, v, s: attention(q, v, v, s), "The scores were computed with the values in the place of the keys."),
    (
        lambda q, k, v, s: attention(q, k, v, s) * attention(q, k, v, s) / attention(q, k, v, s, divided=False),
        "The result was divided by the sum twice. That comes once, when all keys of all tiles have been seen.",
    ),
    (
        lambda q, k, v, s: s * q.astype(np.float64) @ k.T @ v,
        "The scores themselves were used as weights. Their softmax is asked for.",
    ),
)

ATTENTION = KernelTask(
    id="11-attention",
    section=Section("11.3", "11_attention_gpu", "Rung 3: tiles in shared memory"),
    title="Attention, tile by tile",
    objective="Write attention with an online softmax, whose blocks load each key and value once, in tiles",
    points=4,
    minutes=20,
    spec=lambda q, k, v, scale, out: attention(q, k, v, scale),
    rtol=1e-4,
    atol=1e-4,
    cases=(
        attention_case("one block, one tile", 32, 16),
        attention_case("exact, several tiles", 32, 48),
        attention_case("ragged", 40, 37),
        attention_case("fewer keys than a tile", 7, 5),
        attention_case("large scores", 20, 32, 200.0),
        attention_case("scores far below 0", 20, 20, below=True),
    ),
    partial={
        "one block, one tile: 32 queries, 16 keys, 1 block": 1,
        "exact, several tiles: 32 queries, 48 keys, 1 block": 1,
    },
    writer=lambda index, case: divmod(index[0], BLOCK),
    suspects=(
        *(Suspect(_of_attention(formula), cause) for formula, cause in ONLINE),
        *(
            Suspect(
                _of_attention(lambda q, k, v, s, f=forgotten: running(q, k, v, s, *f, of_step=TILE), TILE + 1),
                "Within a tile all is right, and from tile to tile something is not corrected: when the next one has a larger score, both sum and "
                "result were counted from the old one.",
            )
            for forgotten in ((True, False), (False, True), (False, False))
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, k[: _whole(k)], v[: _whole(k)], s), TILE),
            "The last tile, which is not full, is missing: a division rounds down, or a loop ends too early.",
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, k[:TILE], v[:TILE], s), TILE + 1),
            "This is the first tile alone. Does the loop go on over all keys?",
        ),
        Suspect(
            _of_attention(
                lambda q, k, v, s: attention(q, k[(len(k) - 1) // TILE * TILE :], v[(len(k) - 1) // TILE * TILE :], s),
                TILE + 1,
            ),
            "This is the last tile alone. Largest score, sum and result go on from tile to tile: let them begin before the loop.",
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, _stale(k), _stale(v), s), TILE + 1),
            "The last tile is not full, and what the tile before left in its other places was used as keys, too. How many keys are "
            "there from `start` on?",
        ),
        Suspect(
            _of_attention(lambda q, k, v, s: attention(q, _filled(k), _filled(v), s)),
            "The last tile is not full, and its other places were filled with 0 and used. A score of 0 is a score like others: exp(0) is 1. "
            "Keys that do not exist must be left out.",
        ),
    ),
    tell_first=TOLD_FIRST,
    advice={
        "divergent-barrier": (
            "All threads of a block must reach the barrier, those without a query too: they load for the others. Keep cuda.syncthreads() "
            "out of every `if`, and out of every loop whose rounds differ."
        ),
        "barrier-after-exit": (
            "A thread that has come to its end does not reach the barrier. Does one without a query return early? It has keys to load for "
            "others: guard its query and its store in the place of the return. Or does the barrier stand in an `if`, and it passed by?"
        ),
        "uninitialised-shared": (
            "A place of a tile is read that nobody has filled. 16 keys of 4 numbers are 64 places, and the block has 32 threads: each fills "
            "two of each tile. Is the last tile full? And is there a barrier between storing and reading?"
        ),
        "uninitialised-local": "A local array holds anything at first. Begin `result` with zeros, and fill `query` in every thread that uses it.",
        "out-of-bounds": (
            "Three lengths are in play: queries, keys, and the 16 keys of a tile. Compare this index with the length of its own array. The "
            "last block may have threads without a query, and the last tile fewer keys than 16."
        ),
        "not-finite": (
            "A number overflowed, or NaN came in. exp(score) overflows in float32 from 89 on: subtract the largest score so far. That begins "
            "below all scores, with -inf, and -inf - (-inf) is NaN: has it become a score before you subtract it from itself? And does "
            "`result` begin with zeros?"
        ),
        "wrong-value": (
            "Work out the first wrong query with two keys. After each key: the largest score so far; by what were sum and result "
            "multiplied; what was added to each?"
        ),
    },
    budget=Budget(
        points=1,
        text="at most 64 load requests to global memory (776 without tiles), and two barriers for each tile",
        require={"global_load_requests": 64, "barriers": 6},
        over=(
            "The result is right, but the warps ask global memory more often than they must. Each key and each value is loaded once for "
            "a block, and a query once for its thread. Which of them is loaded again in the loop over the keys of a tile?"
        ),
        causes=(
            (
                lambda rows: "barriers" in _over(rows),
                "The result is right, but the block waits more often than it must: once when a tile is full, keys and values, and once when "
                "everybody has used it.",
            ),
        ),
        case=attention_case("exact", 64, 48),
    ),
    hints=(
        "For one query, key after key: what does it have to remember to give the result at the end? And who, of the block, needs the same key "
        "next?",
        "A loop over tiles: load 16 keys and values together, wait, let each thread go through the keys of the tile with its own query, wait. "
        "In the inner loop it is task 3, with an array `result` that gets the same correction as the sum.",
        "Loading: number the 64 places of a tile; a thread takes its own and the one 32 further on, as far as there are keys. Inner loop: "
        "over as many keys as the tile has; a score, the larger of two, a correction, a weight. Guard the store only.",
    ),
)

# 11-verdicts -------------------------------------------------------------------------------------------------
# The statement shows the kernel, and for each of five the end of its loop and what stands last in it; a test compares.


@cuda.jit(device=True)
def _to_the_end(i, n):
    return n


@cuda.jit(device=True)
def _to_the_query(i, n):
    return min(i + 1, n)


@cuda.jit(device=True)
def _to_the_first_of_the_block(i, n):
    return min(32 * cuda.blockIdx.x + 1, n)


@cuda.jit(device=True)
def _to_the_last_of_the_block(i, n):
    return min(32 * cuda.blockIdx.x + 32, n)


def narrow_kernel(end, waits):
    """Causal attention whose queries, keys and values are one number each; `end(i, n)`: where its loop over tiles ends."""

    @cuda.jit
    def kernel(q, k, v, out):
        keys = cuda.shared.array(16, np.float32)
        values = cuda.shared.array(16, np.float32)
        t, i, n = cuda.threadIdx.x, cuda.grid(1), k.size
        query, largest = q[min(i, n - 1)], np.float32(-math.inf)
        total = result = np.float32(0)
        for start in range(0, end(i, n), 16):
            if t < 16 and start + t < n:
                keys[t] = k[start + t]
                values[t] = v[start + t]
            cuda.syncthreads()
            for r in range(min(16, n - start)):
                if start + r <= i:
                    above = max(largest, query * keys[r])
                    factor = math.exp(largest - above)
                    weight = math.exp(query * keys[r] - above)
                    total = total * factor + weight
                    result = result * factor + weight * values[r]
                    largest = above
            if waits:
                cuda.syncthreads()
        if i < n:
            out[i] = result / total

    return kernel


def narrow_case(name, n):
    """A case of causal attention whose queries, keys and values are one number each."""

    def make(rng):
        return *(random_values(rng, n) for _ in range(3)), unwritten(n)

    return Case(f"{name}: {n} queries and keys", make, grid=-(-n // 32), block=32)


def narrow_attention(q, k, v, out):
    return attention(q[:, None], k[:, None], v[:, None], 1.0, lambda i, j: j <= i)[:, 0]


_NEEDED = 2 + 4  # tiles of 16 keys, of two blocks of 32 queries
NARROW = KernelTask(
    id="11-narrow",
    title="Causal attention",
    objective="Write it",
    points=1,
    minutes=1,
    spec=narrow_attention,
    rtol=1e-4,
    atol=1e-4,
    tell_first=TOLD_FIRST,
    cases=(narrow_case("exact", 64), narrow_case("one block", 20), narrow_case("ragged", 45)),
    kept=Budget(
        points=0,
        text="",
        require={"global_load_requests": 2 * _NEEDED + 2},
        over="It must not load tiles that no query of its block may look at.",
        case=narrow_case("exact", 64),
    ),
    hints=("", "", ""),
)

VERDICTS = DetectiveTask(
    id="11-verdicts",
    section=Section("11.3", "11_attention_gpu", "The last barrier"),
    title="Where does a causal loop end?",
    objective="Judge causal attention kernels by where their loops end, and by the barrier at the end",
    points=3,
    minutes=12,
    judge=NARROW,
    programs={
        "A": narrow_kernel(_to_the_end, True),
        "B": narrow_kernel(_to_the_query, True),
        "C": narrow_kernel(_to_the_last_of_the_block, False),
        "D": narrow_kernel(_to_the_last_of_the_block, True),
        "E": narrow_kernel(_to_the_first_of_the_block, True),
    },
    faults=(
        Fault("right", "right for every length, and loads no tile that no query of the block may look at"),
        Fault("too much", "right for every length, but loads tiles that nobody needs", ("replaced",)),
        Fault("race", "a thread stores where another one still reads", ("race",)),
        Fault(
            "barrier",
            "some threads of a block wait where others never come",
            ("divergent-barrier", "barrier-after-exit"),
        ),
        Fault(
            "keys lost",
            "some queries miss keys that they may look at",
            ("wrong-value", "suspect", "precision", "not-finite", "one-element"),
        ),
    ),
    hints=(
        "Take a block of 32 queries, 32 to 63. Which tiles does it need? Which end has the loop for its first query, and which for its "
        "last one?",
        "Three questions for each kernel: do all threads of a block make equally many rounds? Is the last tile that of the last query of "
        "the block? Can a fast thread fill a tile while a slow one reads it?",
        "For thread 0 and thread 31 of block 1 write down `END` of each kernel, and how many rounds of 16 that makes. Then ask what stands "
        "between the last read of a tile and the first store of the next.",
    ),
)

# 11-causal ---------------------------------------------------------------------------------------------------

_LONG = 96


def causal_case(name, n, large=1.0):
    blocks = -(-n // BLOCK)
    where = "1 block" if blocks == 1 else f"{blocks} blocks"
    said = f"{name}: {n} queries and keys, {where}"
    return Case(said, attention_arguments(n, n, large), grid=blocks, block=BLOCK)


def _seen(allowed, masked=-np.inf):
    """A suspect's formula: other keys are looked at than those up to the query's own place."""
    return lambda q, k, v, scale, out: attention(q, k, v, scale, allowed, masked)


def _masked_as_zero(q, k, v, scale, out):
    """Scores of 0 for the keys of the block that come after the query."""
    blocks = [slice(first, first + BLOCK) for first in range(0, len(q), BLOCK)]
    parts = [attention(q[b], k[: b.stop], v[: b.stop], scale, lambda i, j, b=b: j <= i + b.start, 0.0) for b in blocks]
    return np.concatenate(parts)


def needed_bytes(n, skip=True):
    """Of queries and results, and for each block of the keys and values of its tiles, each once: up to the last query of the block,
    or of all of them."""
    ends = [min(first + BLOCK, n) if skip else n for first in range(0, n, BLOCK)]
    return 4 * HEAD * (2 * n + 2 * sum(min(-(-end // TILE) * TILE, n) for end in ends))


CAUSAL = KernelTask(
    id="11-causal",
    section=Section("11.2", "11_attention", "The causal triangle"),
    title="Half of the tiles are never loaded",
    objective="Write causal attention that skips the tiles above the diagonal, without a thread that waits alone",
    points=2,
    minutes=15,
    spec=lambda q, k, v, scale, out: attention(q, k, v, scale, lambda i, j: j <= i),
    rtol=1e-4,
    atol=1e-4,
    cases=(
        causal_case("ragged", 41),
        causal_case("one block", 32),
        causal_case("fewer than a tile", 6),
        causal_case("large scores", 20, 200.0),
        causal_case("exact, two blocks", 64),
    ),
    writer=lambda index, case: divmod(index[0], BLOCK),
    suspects=(
        Suspect(_seen(lambda i, j: j >= 0), "Every query looks at every key. Query i may look at keys 0 to i only."),
        Suspect(_seen(lambda i, j: j < i), "Query i may look at key i, too: its own is left out."),
        Suspect(
            _seen(lambda i, j: (j < i) | ((i == 0) & (j == 0))), "Query i may look at key i, too: its own is left out."
        ),
        Suspect(_seen(lambda i, j: j <= i + 1), "Query i looks at key i + 1, which comes after it."),
        *(
            Suspect(_seen(mask), "The mask is turned round: query i looks at the keys after its own.")
            for mask in (lambda i, j: j >= i, lambda i, j: (j >= i) & (j < i // BLOCK * BLOCK + BLOCK))
        ),
        Suspect(
            _seen(lambda i, j: (j % TILE <= i) & (j < i // BLOCK * BLOCK + BLOCK)),
            "A key's place within its tile was compared with the query. Place r of a tile is key start + r: how many keys from `start` on may query "
            "i look at?",
        ),
        Suspect(
            _seen(lambda i, j: j <= i % BLOCK),
            "The thread's number within its block was taken for its query. In block 1, thread 0 has query 32.",
        ),
        Suspect(
            _seen(lambda i, j: j < i // TILE * TILE + TILE),
            "Each query looks at the whole of its own tile. In the tile on the diagonal each query has an end of its own.",
        ),
        Suspect(
            _seen(lambda i, j: j < i // BLOCK * BLOCK + BLOCK),
            "Each query looks at the keys of its whole block. In the tiles on the diagonal each query has an end of its own.",
        ),
        Suspect(
            _seen(lambda i, j: (j <= i) & (j < i // BLOCK * BLOCK + TILE)),
            "The loop over tiles ends with the first query of the block: the last one may look at keys of one tile more.",
        ),
        Suspect(
            _seen(lambda i, j: (j <= i) & ((j < i // TILE * TILE) | (i < TILE))),
            "The tile on the diagonal is missing: half of it may be looked at.",
        ),
        Suspect(
            _masked_as_zero,
            "A masked score became 0, and a score of 0 counts as exp(0). It must be -inf, or be left out.",
        ),
        Suspect(
            _seen(lambda i, j: j <= i, 0.0),
            "A masked score became 0, and a score of 0 counts as exp(0). It must be -inf, or be left out.",
        ),
        *(
            Suspect(
                lambda q, k, v, scale, out, f=formula: np.concatenate(
                    [f(q[i : i + 1], k[: i + 1], v[: i + 1], scale) for i in range(len(q))]
                ),
                cause,
            )
            for formula, cause in ONLINE
        ),
    ),
    tell_first=TOLD_FIRST,
    advice=ATTENTION.advice
    | {
        "divergent-barrier": (
            "All threads of a block must make the same rounds over tiles: a barrier waits for all. The end of that loop belongs to the "
            "block: the place of its last query. The end of a thread belongs into the inner loop."
        ),
        "barrier-after-exit": (
            "A thread has left the loop over tiles, or the kernel, and others wait for it at the barrier. The end of that loop belongs to the "
            "block: the place of its last query. The end of a thread belongs into the inner loop."
        ),
        "wrong-value": (
            "Is query 0 right? It sees one key, so out[0] is v[0]. Then the first wrong query: which keys does it look at, and which "
            "of them are after it? If only large scores go wrong: does the largest score begin below all scores, with -inf?"
        ),
    },
    budget=Budget(
        points=2,
        text=f"for {_LONG} queries and keys at most {needed_bytes(_LONG)} bytes used in global memory: no tile that lies above the diagonal of a block",
        require={"bytes_used": needed_bytes(_LONG)},
        over=(
            "The result is right, but more is loaded than a block needs. Its last query is 32 * blockIdx.x + 31: no tile beyond it. Is "
            "anything loaded twice: the query, once for each tile?"
        ),
        causes=(
            (
                lambda rows: any(o.counted == needed_bytes(_LONG, skip=False) for o in rows),
                "The result is right, but all tiles are loaded, also those that lie above the diagonal: keys that no query of the block may "
                "look at. Where can the loop over tiles end?",
            ),
        ),
        case=causal_case("exact", _LONG),
        golf=Golf(
            count="global_load_requests",
            best=36,
            require={"atomics": 0},
            lead="Each block loads the first tile, for 32 queries. How many queries can one load of a tile serve?",
        ),
    ),
    hints=(
        "For block 1, with queries 32 to 63: which tiles of 16 keys may nobody look at? Which tiles may all look at, and in which is it "
        "different from query to query?",
        "Two ends: the loop over tiles ends with the last query of the block, for all its threads alike, because of the barriers. The loop "
        "over the keys of a tile ends with the thread's own query.",
        "The kernel of task 10, with two ends changed. That of the tiles is the same for threads 0 and 31: what is the first key that thread 31 does not see, and "
        "is it a key at all? That of the keys in a tile is different for the two: how many keys from `start` on does thread t see?",
    ),
)

# 11-cache ----------------------------------------------------------------------------------------------------


def cache_arguments(heads, groups, capacity, length, width, rest=5.0, below=False):
    """make(rng) -> q (heads, width), keys and values (groups, capacity, width), length, scale, out (heads, width).
    rest: how large the numbers are that lie in the cache beyond its length. below: all scores far below 0 (width 4)."""

    def make(rng):
        q, keys, values = (
            random_values(rng, *shape, width) for shape in ((heads,), (groups, capacity), (groups, capacity))
        )
        if below:
            q, keys = far_below(rng, (heads,), (groups, capacity))
        keys[:, length:] *= np.float32(rest)
        values[:, length:] *= np.float32(rest)
        return q if below else 3 * q, keys, values, length, width**-0.5, unwritten(heads, width)

    return make


def cache_case(name, heads, groups, capacity, length, width, rest=5.0, below=False):
    said = f"{name}: heads {heads} of q and {groups} of the cache, {length} of {capacity} positions filled"
    return Case(said, cache_arguments(heads, groups, capacity, length, width, rest, below))


def decoded(q, keys, values, scale, begin=0, end=None, group=None, how=attention):
    """Attention of one query for each head to the positions from begin to end; `group(h, heads, groups)`: of head h."""
    group = group or (lambda h, heads, groups: h // (heads // groups))
    heads, groups = len(q), len(keys)
    rows = [
        how(q[h : h + 1], *(x[group(h, heads, groups), begin:end] for x in (keys, values)), scale) for h in range(heads)
    ]
    return np.concatenate(rows)


def _of_cache(begin=0, more=0, **mistake):
    """A suspect: positions from begin to length + more."""

    def formula(q, keys, values, length, scale, out):
        if length + more <= begin or length + more > keys.shape[1]:
            return NOTHING
        return decoded(q, keys, values, scale, begin, length + more, **mistake)

    return formula


DECODE = CompiledTask(
    id="11-cache",
    section=Section("11.5", "11_decoding", "One token at a time"),
    title="One query, and a cache of keys",
    objective="Write the attention of one new token to a cache, with heads that share keys and values",
    points=2,
    minutes=12,
    spec=lambda q, keys, values, length, scale, out: decoded(q, keys, values, scale, 0, length),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        cache_case("one head", 1, 1, 6, 6, 4),
        cache_case("a head of the cache for each", 3, 3, 10, 7, 5),
        cache_case("shared", 6, 2, 12, 9, 4),
        cache_case("one position", 4, 2, 8, 1, 3),
        cache_case("NaN beyond the length", 4, 1, 20, 13, 8, math.nan),
        cache_case("scores far below 0", 4, 2, 12, 10, 4, below=True),
    ),
    suspects=(
        Suspect(
            lambda q, keys, values, length, scale, out: (
                np.full(out.shape, np.nan) if np.isnan(values).any() else NOTHING
            ),
            "NaN came in from beyond `length`. A weight of 0 does not help: 0 * NaN is NaN. Do not load those positions.",
        ),
        Suspect(
            lambda q, keys, values, length, scale, out: (
                decoded(q, keys, values, scale) if length < keys.shape[1] else NOTHING
            ),
            "All of the cache was looked at. Only its first `length` positions are filled; the others hold anything.",
        ),
        Suspect(
            _of_cache(more=-1), "The newest position is missing: `length` counts it, so the last one is length - 1."
        ),
        Suspect(_of_cache(more=1), "One position too many: the last one that is filled is length - 1."),
        Suspect(_of_cache(begin=1), "The first position is missing. Does the loop begin at 0?"),
        Suspect(
            _of_cache(group=lambda h, heads, groups: h % groups),
            "Heads that share keys are neighbours: with 6 heads and 2 in the cache, heads 0 to 2 use the first, heads 3 to 5 the second. This "
            "is head h with h % groups.",
        ),
        Suspect(
            _of_cache(group=lambda h, heads, groups: 0),
            "All heads used the first head of the cache. So many neighbours share one: the number of heads of q // that of the cache.",
        ),
        *(Suspect(_of_cache(how=formula), cause) for formula, cause in ONLINE),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. q and out have a row for each head; keys and values have fewer heads, each for several of q's: to "
            "which does head h belong?"
        ),
        "nothing-written": (
            "Nothing was stored, or NaN was stored again: out holds NaN before, and 0 * NaN is NaN. Does each row of out begin with 0, before it is "
            "corrected?"
        ),
        "not-finite": (
            "NaN or an infinity on the way. out holds NaN before, and 0 * NaN is NaN. Does each row of it begin with 0? -inf - (-inf) is NaN: is the "
            "largest score a score before it is subtracted from itself? And is a position beyond `length` loaded?"
        ),
        "wrong-value": (
            "Work out the first wrong head with length = 2. Which head of the cache is its own? Which two scores come, and what are their "
            "weights? Do largest score and sum begin anew in each head?"
        ),
        "some-unwritten": "Does the loop go over all heads of q, and over all columns of out?",
        "raised-ZeroDivisionError": (
            "The sum of the weights is 0: was anything added to it? Does the largest score begin below all scores, with -inf? If it begins with 0, and "
            "all scores are far below, their exponentials are 0. And is `heads // groups` computed from q and keys?"
        ),
        "raised-ImportError": "Write the loops yourself: `@` and np.dot inside a numba function call a library, which is not there.",
        "raised-TypingError": "numba has no einsum. Scalars and loops will do: a score is a sum of `width` products.",
    },
    budget=Budget(
        points=1,
        text="no array made inside, however long the cache is",
        require={"arrays": 0, "numpy_bytes": 4096},
        over=(
            "The result is right, but an array is made on the way, for scores or weights. With an online softmax no score has to be kept: the row of "
            "out is corrected when a larger score comes."
        ),
        case=cache_case("long", 4, 2, 80, 64, 8),
    ),
    hints=(
        "With 6 heads of q and 2 heads in the cache: which heads belong together? And which positions of the cache have been filled so far?",
        "A loop over heads, in it one over positions below `length`. It is the online softmax again: the result, out[h], is "
        "corrected together with the sum, and divided at the end.",
        "Head h uses head h // (heads // groups) of the cache. For each position: a score, the larger of it and the largest so far, one exponential "
        "that corrects and one that weighs; two loops over `width` for the score and for out[h].",
    ),
)

# 11-split ----------------------------------------------------------------------------------------------------

COLUMNS = 3


def split_parts(parts, heads, around=0.0, empty=()):
    """make(rng) -> results (parts, heads, 3), logs (parts, heads). around: how far apart heads and parts lie; empty: (part, head)
    that saw no key."""

    def make(rng):
        results = random_values(rng, parts, heads, COLUMNS, dtype=np.float64)
        logs = 2 * random_values(rng, parts, heads, dtype=np.float64)
        logs += around * random_values(rng, 1, heads, dtype=np.float64)
        for part, head in empty:
            results[part, head], logs[part, head] = 0, -np.inf
        return results, logs

    return make


def combined(results, logs, axis=0, weights=None):
    """The result over all keys, from those of parts and the logarithms of their sums; the options are mistakes."""
    with np.errstate(all="ignore"):
        top = logs.max(axis=axis, keepdims=True)
        w = np.exp(logs - np.where(top == -np.inf, 0, top)) if weights is None else weights(logs)
        total = w.sum(axis=axis, keepdims=True)
        w = np.divide(w, total, out=np.zeros_like(w), where=total != 0)
        return (w[..., None] * results).sum(axis=0)


def _over_heads(results, weights):
    if len(weights) != weights.shape[1]:
        return NOTHING
    return (weights[..., None] * results).sum(axis=1) / weights.sum(axis=0)[:, None]


def _unweighted(results, logs):
    return results.mean(axis=0)


def _whole_parts(results, logs):
    whole = (logs > -np.inf).all(axis=1)
    return combined(results[whole], logs[whole]) if whole.any() else NOTHING


SPLITS = (
    (
        _unweighted,
        "This is the mean of the parts. One whose keys have larger scores, or that has more keys, counts more.",
    ),
    (
        lambda results, logs: results.sum(axis=0),
        "The parts were added. Each is divided by its own sum already, so they need weights that add up to 1.",
    ),
    (
        lambda results, logs: combined(results, logs, weights=lambda x: x),
        "The weights are the logarithms. They are the sums themselves: exp of them, and then divided by what they add up to.",
    ),
    (
        lambda results, logs: (np.exp(logs - logs.max(axis=0))[..., None] * results).sum(axis=0),
        "The weights do not add up to 1: divide by their sum over the parts.",
    ),
    (
        lambda results, logs: (np.exp(logs - logs.max(axis=0))[..., None] * results).mean(axis=0),
        "The weights do not add up to 1: divide by their sum over the parts, not by the number of parts.",
    ),
    (
        lambda results, logs: (np.exp(logs)[..., None] * results).sum(axis=0),
        "The weights do not add up to 1: divide by their sum over the parts.",
    ),
    (
        lambda results, logs: combined(results, logs, axis=1),
        "The weights add up to 1 over the heads of a part. They must over the parts of a head.",
    ),
    (
        lambda results, logs: combined(results, logs, axis=(0, 1)),
        "The weights add up to 1 over all parts and heads together. They must for each head by itself.",
    ),
    (
        lambda results, logs: _over_heads(results, np.exp(logs - logs.max(axis=0))),
        "The weighted results were added up over the heads. Over the parts is asked for: axis 0 of results.",
    ),
    (
        lambda results, logs: (results / np.exp(logs - logs.max(axis=0))[..., None]).mean(axis=0),
        "The results were divided by the sums again. They have been divided already: what is missing are weights to multiply by.",
    ),
    *(
        (
            lambda results, logs, some=some: combined(results[some], logs[some]) if len(logs) > 2 else NOTHING,
            f"The {which} part is left out: all parts count.",
        )
        for some, which in ((slice(-1), "last"), (slice(1, None), "first"))
    ),
    (
        _whole_parts,
        "A part that is empty for one head was left out for all of them. It may have seen keys for the others.",
    ),
    (
        lambda results, logs: combined(results, -logs),
        "The part with the smaller sum counts more here: is a sign turned round?",
    ),
    (
        lambda results, logs: np.take_along_axis(results, logs.argmax(axis=0)[None, :, None], axis=0)[0],
        "Only the part with the largest sum is left. The others count, too, only less.",
    ),
)


def judge_split(arguments, result):
    """A Slip, or None for the exact result."""
    results, logs = arguments
    right = combined(results, logs)
    if not isinstance(result, np.ndarray) or result.shape != right.shape or result.dtype.kind != "f":
        cause, got = "One array of NumPy is asked for, with a row for each head.", ""
        if isinstance(result, np.ndarray):
            cause = "One row for each head is asked for: the axis of the parts is gone."
            got = f"shape {result.shape}, {result.dtype}"
        return Slip("type", f"a float64 array of shape {right.shape}", cause, got)
    bad = ~np.isclose(result, right, rtol=1e-9, atol=1e-12).all(axis=1)
    if not bad.any():
        return None
    head = int(np.argmax(bad))
    expected, got = (f"head {head}: {_numbers(x[head])}" for x in (right, result))
    some = (logs > -np.inf).any(axis=0)
    if not bad[some].any():
        cause = f"No part of head {head} saw a key. There is nothing to weigh, and zeros shall come out, not 0 / 0."
        return Slip("empty", expected, cause, got)
    if not result[head].any():
        return Slip("vanished", expected, f"All weights of head {head} have become 0. {_APART}", got)
    for formula, cause in SPLITS:
        guess = NOTHING
        with np.errstate(all="ignore"), contextlib.suppress(ValueError):  # where no part is left there is no largest
            guess = formula(results, logs)
        if guess.shape == result.shape and np.allclose(
            result[some], guess[some], rtol=1e-9, atol=1e-12, equal_nan=True
        ):
            return Slip("weights", expected, cause, got)
    if not np.isfinite(result[head]).all():
        return Slip("not-finite", expected, _APART, got)
    if np.allclose(result, right, rtol=1e-5, atol=1e-5):
        return Slip("value", expected, _NEARLY[0].upper() + _NEARLY[1:], got)
    cause = (
        "Take one head with two parts, whose sums are 1 and 3. Their results count a quarter and three quarters. What are the logarithms of "
        "the sums, and what turns them into these weights?"
    )
    return Slip("value", expected, cause, got)


_APART = (
    "exp overflows above 709, and is 0 below -745; then inf / inf or 0 / 0 is NaN. Subtract the largest logarithm first, and that of the "
    "head: another head's may be thousands away. Where it is -inf itself, nothing can be subtracted."
)

SPLIT = FunctionTask(
    id="11-split",
    section=Section("11", "11_softmax", "Two parts become one"),
    title="Many parts, already divided",
    objective="Combine the results of parts of a cache by the logarithms of their sums",
    points=2,
    minutes=10,
    judge=judge_split,
    cases=(
        Case("5 parts, 5 heads", split_parts(5, 5)),
        Case("4 parts, 2 heads", split_parts(4, 2)),
        Case("parts without keys", split_parts(4, 2, empty=((1, 0), (2, 0), (0, 1)))),
        Case("one part", split_parts(1, 4)),
        Case("large logarithms, heads far apart", split_parts(3, 4, 3000, ((0, 1), (2, 3)))),
        Case("a head without keys", split_parts(3, 3, empty=((0, 1), (1, 1), (2, 1)))),
    ),
    advice={
        "raised-RuntimeWarning": f"A number that is none came up. {_APART}",
        "raised-OverflowError": _APART,
        "raised-ValueError": (
            "Two shapes do not fit. logs has (parts, heads), results has (parts, heads, columns): weights need one axis more, "
            "weights[:, :, None], before they meet results. Or is an array empty? A part may have no key for one head and many for another: it cannot "
            "be taken out for all."
        ),
        "raised-ZeroDivisionError": "No part of this head saw a key: zeros shall come out. Ask before you divide.",
    },
    hints=(
        "A part's result was divided by its own sum. What would have to be multiplied again to merge it as in task 2?",
        "exp(logs) are the sums, so they are the weights, divided by what they add up to over the parts of a head. To keep exp in range "
        "subtract the largest logarithm of the head: it cancels. A head without keys has none that is finite.",
        "Largest over axis 0; where it is -inf take 0 in its place. Weights: exp of the difference. Their sum over axis 0 may be 0, then take 1. The "
        "rest is a weighted sum over axis 0, with weights that have one axis more.",
    ),
)

# 11-roofline -------------------------------------------------------------------------------------------------


def mix_arguments(groups, heads, positions, width):
    """make(rng) -> weights (groups, heads, positions), values (groups, positions, width), out (groups, heads, width)."""
    return lambda rng: (
        np.abs(random_values(rng, groups, heads, positions)),
        random_values(rng, groups, positions, width),
        unwritten(groups, heads, width),
    )


def mixed(weights, values):
    return np.matmul(weights.astype(np.float64), values.astype(np.float64))


_MIX = (2, 4, 128, 32)
ROOFLINE = MeasuredTask(
    id="11-roofline",
    section=Section("11.2", "11_attention", "Under the roof"),
    title="Heads that share values, under the roof",
    objective="Count flops and bytes of decoding with grouped heads, and say what bounds it",
    points=3,
    minutes=12,
    spec=lambda weights, values, out: mixed(weights, values),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        Case("2 groups of 3 heads, 10 positions, 5 columns", mix_arguments(2, 3, 10, 5)),
        Case("one of each", mix_arguments(1, 1, 1, 1)),
        Case("3 groups of 1 head, 7 positions, 8 columns", mix_arguments(3, 1, 7, 8)),
    ),
    suspects=(
        Suspect(
            lambda weights, values, out: (
                mixed(weights, np.repeat(values[:1], len(values), 0)) if len(values) > 1 else NOTHING
            ),
            "All groups used the values of group 0. Each has its own.",
        ),
        Suspect(
            lambda weights, values, out: (
                mixed(np.repeat(weights[:, :1], weights.shape[1], 1), values) if weights.shape[1] > 1 else NOTHING
            ),
            "All heads of a group used the weights of the first. They share the values, not the weights.",
        ),
        Suspect(
            lambda weights, values, out: mixed(weights[..., 1:], values[:, 1:]) if weights.shape[2] > 1 else NOTHING,
            "The first position is missing: does the loop over positions begin at 0?",
        ),
        Suspect(
            lambda weights, values, out: mixed(weights[..., -1:], values[:, -1:]) if weights.shape[2] > 1 else NOTHING,
            "This is the term of the last position alone: the terms must be added up, not replaced.",
        ),
        Suspect(
            lambda weights, values, out: mixed(np.ones_like(weights), values),
            "The weights are missing: these are sums of values.",
        ),
        Suspect(
            lambda weights, values, out: mixed(weights, values) / weights.sum(axis=2, keepdims=True),
            "The weights were divided by their sum. They come from a softmax, ready to use.",
        ),
    ),
    claimed=Case("2 groups of 4 heads, 128 positions, 32 columns", mix_arguments(*_MIX)),
    measured=Case("512 groups of 4 heads, 128 positions, 32 columns", mix_arguments(512, *_MIX[1:])),
    card=Card(peak=200e9, bandwidth=25e9),
    advice={
        "flops": "For one number of out: a multiplication and an addition for each of 128 positions, as they stand in your loop. Then all "
        "numbers of out: 2 * 4 * 32.",
        "moved": "weights have 2 * 4 * 128 numbers, values 2 * 128 * 32, out 2 * 4 * 32, each of 4 bytes. A value counts once, though four "
        "heads use it: that is what sharing saves.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        "raised-IndexError": "An index left its array: values have no axis for the heads, as those of a group share them.",
        "raised-ImportError": "Write the loops yourself: `@` and np.dot inside a numba function call a library, which is not there.",
        "not-finite": "The sum begins with what stood in out. Begin it with 0.",
        "adds-to-old": "The sum begins with what stood in out. Begin it with 0.",
    },
    hints=(
        "How many products are there for one number of out? Which of the three arrays is the largest, and how many heads use each number of "
        "it?",
        "Four loops: groups, heads, columns, positions; a sum in the innermost. Every number of weights, values and out counts once for the "
        "bytes, however often it is loaded.",
        "A sum that begins with 0 takes two flops for each position: multiply by the numbers of out. Bytes: 4 times the sizes of the three "
        "arrays added up. With one head in a group it would be near half a flop for each byte; four share here.",
    ),
)

# 11-back -----------------------------------------------------------------------------------------------------


def back_case(name, queries, keys, rest=0, width=5, values=3, factor=4.0, cap=3.0):
    """A tile of `keys` keys; the queries look at `rest` others, too, so top and total are of all of these."""

    def make(rng):
        q, k, v, grad = (
            random_values(rng, *shape, dtype=np.float64)
            for shape in ((queries, width), (keys + rest, width), (keys + rest, values), (queries, values))
        )
        q *= factor
        scores = cap * np.tanh(q @ k.T / math.sqrt(width) / cap)
        top = scores.max(axis=1)
        weights = np.exp(scores - top[:, None])
        total = weights.sum(axis=1)
        result = weights / total[:, None] @ v
        return q, k[:keys], v[:keys], cap, top, total, (grad * result).sum(axis=1), grad

    return Case(name, make)


def way_back(
    q, k, v, cap, top, total, along, grad,
    scale=None, weights=None, slopes=None, bent=lambda raw, capped, cap: 1 - (capped / cap) ** 2, root=None
):  # fmt: skip
    """(of_q, of_k, of_v); what is given takes the place of a step: a mistake."""
    raw = q @ k.T / (math.sqrt(q.shape[1]) if root is None else root)
    capped = cap * np.tanh(raw / cap)
    right = np.exp(capped - top[:, None]) / total[:, None]
    w = right if weights is None else weights(capped, top[:, None], total[:, None], raw)
    arrived = grad @ v.T
    s = w * (arrived - along[:, None]) if slopes is None else slopes(w, arrived, along[:, None])
    s = s * bent(raw, capped, cap) * (q.shape[1] ** -0.5 if scale is None else scale)
    return s @ k, s.T @ q, w.T @ grad


#: (what takes the place of a step, why that is wrong), asked of each gradient in this order.
MISTAKES = (
    (
        {"weights": lambda s, top, total, raw: np.exp(raw - top) / total},
        "the weights are of scores without the cap, or of scores that it only cuts off. tanh bends them all; `top` and `total` are of such.",
    ),
    ({"weights": lambda s, top, total, raw: np.exp(s - top)}, "the weights were not divided by `total`."),
    (
        {"root": 1.0},
        "scores were not divided by the square root of the width when they were computed again. `top` and `total` are of scores that were.",
    ),
    (
        {"root": 1.0, "scale": 1.0},
        "scores are q . k divided by the square root of the width, there and on the way back.",
    ),
    (
        {"weights": lambda s, top, total, raw: np.exp(s - top) / np.exp(s - top).sum(axis=1, keepdims=True)},
        "the weights were divided by their sum over this tile. A query looks at other keys, too: `total` is the sum over all.",
    ),
    (
        {"weights": lambda s, top, total, raw: np.exp(s) / total},
        "`total` is a sum of exp(score - top). Take `top` off before the exponential here, too.",
    ),
    (
        {"weights": lambda s, top, total, raw: np.exp(s - s.max(axis=1, keepdims=True)) / total},
        "the largest score of this tile was taken off. `total` belongs to `top`, the largest of all keys.",
    ),
    (
        {"bent": lambda raw, capped, cap: 1},
        "the cap was forgotten on the way back. Where a score is near the cap, the score before it hardly changes anything.",
    ),
    (
        {"bent": lambda raw, capped, cap: 1 - (raw / cap) ** 2},
        "the derivative of tanh(x) is 1 - tanh(x)^2, not 1 - x^2.",
    ),
    (
        {"bent": lambda raw, capped, cap: cap * (1 - (capped / cap) ** 2)},
        "`cap` stands before tanh and divides within it: in the derivative the two cancel.",
    ),
    (
        {"bent": lambda raw, capped, cap: (1 - (capped / cap) ** 2) / cap},
        "`cap` stands before tanh and divides within it: in the derivative the two cancel.",
    ),
    (
        {"bent": lambda raw, capped, cap: 1 - capped**2},
        "the derivative is 1 - tanh^2, and tanh is the capped score divided by `cap`.",
    ),
    (
        {"slopes": lambda w, arrived, along: w * arrived},
        "a softmax only shares out: what one weight gains, the others lose. `along` has to be taken off.",
    ),
    (
        {"slopes": lambda w, arrived, along: w * arrived - along},
        "`along` is taken off before the product with the weights, not after it.",
    ),
    ({"slopes": lambda w, arrived, along: w * (arrived + along)}, "`along` was added. It has to be taken off."),
    (
        {"slopes": lambda w, arrived, along: w * (arrived - (w * arrived).sum(axis=1, keepdims=True))},
        "the sum of weights times what arrives was taken over this tile. `along` is that sum over all keys.",
    ),
    (
        {"slopes": lambda w, arrived, along: arrived - along},
        "the derivative of exp(score) is exp(score): what arrives at a score is multiplied by its weight.",
    ),
    ({"scale": 1.0}, "scores are q . k divided by the square root of the width: the way back has the same factor."),
)
TWICE = "the square root of the width divides once, not twice."


def judge_back(arguments, result):
    """A Slip, or None for the right gradients."""
    q, k, v, *_ = arguments
    expected = way_back(*arguments)
    twice = way_back(*arguments, scale=1 / q.shape[1])
    shapes = ", ".join(str(x.shape) for x in (q, k, v))
    try:
        said = [np.asarray(part) for part in result] if type(result) in (tuple, list) else []
    except (TypeError, ValueError):
        said = []
    if [part.shape for part in said] != [x.shape for x in (q, k, v)] or any(
        part.dtype.kind not in "iuf" for part in said
    ):
        came = ", ".join(f"{part.shape} of {part.dtype}" for part in said) or short_type(result)
        cause = "Three arrays are asked for, in this order: one like q, one like k, one like v. A sum over queries is a product with the transpose."
        return Slip("type", f"arrays of shapes {shapes}", cause, came)
    said = [part.astype(np.float64) for part in said]
    for name, place in (("of_v", 2), ("of_q", 0), ("of_k", 1)):
        found, right = said[place], expected[place]
        if np.allclose(found, right, rtol=1e-9, atol=1e-12):
            continue
        told, got = f"{name}[0] = {_numbers(right[0])}", f"{name}[0] = {_numbers(found[0])}"
        for instead, cause in MISTAKES:
            with np.errstate(all="ignore"):
                guess = way_back(*arguments, **instead)[place]
            if np.allclose(found, guess, rtol=1e-9, atol=1e-12, equal_nan=True):
                return Slip(name, told, f"{name}: {cause}", got)
        if place != 2 and np.allclose(found, twice[place], rtol=1e-9, atol=1e-12):
            return Slip(name, told, f"{name}: {TWICE}", got)
        if not np.isfinite(found).all():
            why = "take `top` off before the exponential." if place == 2 else "the weights are, as of_v is right."
            return Slip(name, told, f"{name} is no number here: {why}", got)
        if np.allclose(found, right, rtol=1e-4, atol=1e-5):
            return Slip(name, told, f"{name}: {_NEARLY}", got)
        if place == 2:
            cause = (
                "of_v: look at the weights first, exp(capped score - top) / total. Row j is the sum over queries of the weight of "
                "key j times the row of grad."
            )
        else:
            other = "k" if place == 0 else "q"
            cause = f"{name}: a row is the sum of slopes times rows of {other}, divided by the square root of the width. of_v is right, so the weights are."
        return Slip(name, told, cause, got)
    return None


def short_type(result):
    return f"a {type(result).__name__}"


BACK = FunctionTask(
    id="11-back",
    section=Section("11.7", "11_backward", "Who adds what"),
    title="The way back through a cap",
    objective="Derive the gradients of a tile of keys for scores with a soft cap, from two numbers that each query has kept",
    points=3,
    minutes=16,
    judge=judge_back,
    cases=(
        back_case("5 queries, all of 7 keys", 5, 7),
        back_case("4 queries, 3 keys of 9", 4, 3, 6, width=8, values=2),
        back_case("one query, one key of 5", 1, 1, 4),
        back_case("as many queries as keys", 4, 4, 2, cap=0.5),
        back_case("capped at 1000", 3, 5, 4, factor=3000.0, cap=1000.0),
    ),
    advice={
        "raised-RuntimeWarning": "An exponential overflowed. exp(score - top) is never above 1, as top is the largest score of the query.",
        "raised-ValueError": "Do the shapes fit? The weights have a row for each query and a column for each key; top[:, None] is a column.",
    },
    hints=(
        "Which steps of the way forward can be done again with this tile alone? What of the other keys comes in by top, total and "
        "along? And which of the four steps back meets the cap?",
        "Everything up to the gradient of a capped score is as on the page. From there one more step leads to the score before the "
        "cap: the derivative of cap * tanh(x / cap). It can be said by the capped score alone.",
        "Seven steps: scores, capped ones, weights, of_v, what arrives at the capped scores, what arrives at the scores, of_q and of_k. "
        "top, total and along need a second axis to stand beside rows.",
    ),
)

TASKS = (
    SCORES,
    MERGE,
    SOFTMAX,
    NORM,
    ROTARY,
    FAILS,
    SPLIT,
    DECODE,
    WINDOW,
    ATTENTION,
    VERDICTS,
    CAUSAL,
    ROOFLINE,
    BACK,
)
