"""09-winograd: Four products in the place of six."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.compiled import CompiledTask
from .shared import NOTHING, along


def pairs(x, g, out, half=0.5, signs=(1, 1, 1, 1), second=None):
    """F(2, 3): two elements of out from four products; the options are mistakes."""
    x, g, even = x.astype(np.float64), g.astype(np.float64), out.size // 2 * 2
    a, b, c, d = (x[k : k + even : 2] for k in range(4))
    plus, minus = (g[0] + g[1] + g[2]) * half, (g[0] - g[1] + g[2]) * half
    m = (a - c) * g[0], (b + c) * plus, (c - b) * minus, (b - d) * g[2]
    m = [sign * product for sign, product in zip(signs, m, strict=True)]
    result = np.empty(out.size)
    result[0:even:2], result[1:even:2] = m[0] + m[1] + m[2], m[1] - m[2] - m[3]
    if second is not None:
        result[1:even:2] = second(m)
    if out.size % 2:
        result[-1] = g @ x[-3:]
    return result


def winograd_arguments(results):
    """make(rng) -> x (results + 2,), g (3,), out (results,)."""
    return lambda rng: (random_values(rng, results + 2), random_values(rng, 3), unwritten(results))


def _pairs(**mistake):
    return lambda x, g, out: pairs(x, g, out, **mistake) if out.size > 1 else NOTHING


_RESULTS = 512

WINOGRAD = CompiledTask(
    id="09-winograd",
    section=Section("9.4", "09_convolution_winograd", "By hand, in one dimension"),
    title="Four products in the place of six",
    objective="Write the transform F(2, 3), and prepare the weights once",
    points=1,
    minutes=18,
    spec=lambda x, g, out: along(x, g, 1, out),
    rtol=2e-5,
    atol=1e-5,
    cases=(
        Case("one pair", winograd_arguments(2)),
        Case("many pairs: 40 results", winograd_arguments(40)),
        Case("an odd number: 13 results", winograd_arguments(13)),
        Case("one result", winograd_arguments(1)),
    ),
    suspects=(
        Suspect(
            lambda x, g, out: along(x, g[::-1], 1, out),
            "The weights are turned round: g[0] belongs to the first element.",
        ),
        Suspect(_pairs(half=1), "The weights of m1 and m2 are sums that must be halved."),
        Suspect(
            _pairs(signs=(-1, 1, 1, 1)),
            "The first product, m0, has the wrong sign: (d0 - d2) g0, and it is added to the first result.",
        ),
        Suspect(
            _pairs(signs=(1, 1, -1, 1)), "The third product, m2, has the wrong sign: it is (d2 - d1) times its weight."
        ),
        Suspect(
            _pairs(signs=(1, 1, 1, -1)),
            "The fourth product, m3, has the wrong sign: (d1 - d3) g2, subtracted from the second result.",
        ),
        Suspect(_pairs(second=lambda m: m[1] + m[2] - m[3]), "In the second result m2 was added. It is m1 - m2 - m3."),
        Suspect(_pairs(second=lambda m: m[1] - m[2]), "In the second result m3 is missing: it is m1 - m2 - m3."),
        Suspect(
            _pairs(second=lambda m: m[0] + m[1] + m[2]),
            "Both results of a pair are the first one. The second is m1 - m2 - m3.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. A pair needs four elements of x, and makes two of out. Where out has an odd "
            "number, one result is left over at the end, with three elements of x."
        ),
        "some-unwritten": (
            "Some results are not stored. Pairs begin at 0, 2, 4 ...; each stores out[i] and out[i + 1]. Where out has "
            "an odd number, the last one is left over, and needs three products of its own."
        ),
        "nothing-written": (
            "Nothing was stored: `out[i] = ` stores, and `out = ` only gives a name to another array. Where out has "
            "one element there is no pair: what is left over after the pairs needs lines of its own."
        ),
        "wrong-value": (
            "Which result of a pair is wrong: the first, at an even place, or the second? Compare with m0 + m1 + m2, "
            "or m1 - m2 - m3, term by term. Where does the next pair begin? The last of an odd number of results has "
            "no pair: it is the usual sum, of three terms."
        ),
        "raised-ImportError": "Write the loop yourself: functions of NumPy that call a library are not counted.",
    },
    budget=Budget(
        points=3,
        text="two multiplications for each result, and at most 16 more (three would be the sum as it stands)",
        require={"multiplies": 2 * _RESULTS + 16},
        over=(
            "The result is right, but it takes more multiplications than two for each result. How many stand in your "
            "loop for a pair: the four products alone?"
        ),
        causes=(
            (
                lambda rows: any(o.counted >= 2.9 * _RESULTS for o in rows),
                "The result is right, but it takes three multiplications for each result or more, as the sum does as "
                "it stands. Halving is a multiplication, too: are the weights of m1 and m2 prepared once, before the "
                "loop?",
            ),
        ),
        case=Case(f"{_RESULTS} results", winograd_arguments(_RESULTS)),
    ),
    hints=(
        "Multiply out m0 + m1 + m2 on paper. Which products of d and g are left, and which cancel?",
        "Everything with g alone can be computed before the loop. In the loop: four elements of x, four sums or "
        "differences of them, four products, and four additions or subtractions.",
        "Two names before the loop, for the weights of m1 and m2. The loop goes in steps of 2, and ends before an "
        "element that would be alone. After it an `if` for an odd number: one sum of three products.",
    ),
)
