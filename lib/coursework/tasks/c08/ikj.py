"""08-ikj: The order of the loops."""

from ...definition import Budget, Section
from ...kinds.compiled import CompiledTask
from .shared import (
    CPU_BUDGET_CASE,
    CPU_CASES,
    INITIAL_NAN,
    NO_LIBRARY,
    NOT_IN_VECTORS,
    SUSPECTS,
    VECTORISED,
    over,
    spec,
)


def _gathers(rows):
    """Vectors that are filled number by number: an access for each."""
    return any(o.name == "accesses_per_multiply" and o.counted > 6 for o in rows)


def _half_in_vectors(rows):
    return any(o.name == "scalar_share" and o.counted < 0.75 for o in rows)


IKJ = CompiledTask(
    id="08-ikj",
    section=Section("8", "08_matmul", "Rung 2: another order"),
    title="The order of the loops",
    objective="Order three loops so that the compiler vectorises the inner one",
    points=2,
    minutes=15,
    spec=spec,
    atol=1e-5,
    cases=CPU_CASES,
    suspects=SUSPECTS,
    advice={
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
        "raised-IndexError": "An index left its array. out has the rows of a and the columns of b.",
        "wrong-value": (
            "Write down out[0, 0] = a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0] + ...: i runs over the rows of a, j over the "
            "columns of b, p over the columns of a, and the three lengths may differ."
        ),
        "raised-ImportError": NO_LIBRARY,
    },
    budget=Budget(
        points=1,
        text="whole vectors are multiplied, each product once, with at most 3 memory accesses for each vector",
        require=VECTORISED | {"accesses_per_multiply": 3},
        over=(
            "The result is right, but products are made more than once. Each term of a sum is one multiply: which loop "
            "goes over it again?"
        ),
        causes=(
            (
                _half_in_vectors,
                "The result is right, and products fill whole vectors, but the sums are made one number at a time. A "
                "line with whole rows, as `out[i] += a[i, p] * b[p]`, makes an array of its own for the products, and "
                "adds them in a second loop: write the loop over `j` yourself, so that one line multiplies and adds.",
            ),
            (over("scalar_share"), NOT_IN_VECTORS),
            (_gathers, NOT_IN_VECTORS),
            (
                over("accesses_per_multiply"),
                "The result is right, and whole vectors are multiplied, but the inner loop asks memory more often than "
                "it must. For each product it needs an element of `b` and one of `out`, which is loaded and stored. "
                "What else does it load or store?",
            ),
        ),
        case=CPU_BUDGET_CASE,
    ),
    hints=(
        "A vector is filled from neighbours in memory. Rows lie one after the other: are b[p, j] and b[p + 1, j] "
        "neighbours? Are b[p, j] and b[p, j + 1]?",
        "The last index of b and of out should change in the inner loop, and nothing else should. Then an element of "
        "out collects its sum over many rounds, so it must start at 0.",
        "First fill out with 0. Then the loop over i outside, that over j inside, and so that over p between them. One "
        "line in the innermost.",
    ),
)
