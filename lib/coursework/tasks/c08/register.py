"""08-register: A register tile on the CPU."""

from ...definition import Budget, Case, Section
from ...kinds.arrays import Suspect
from ...kinds.compiled import CompiledTask
from .shared import (
    CPU_BUDGET_CASE,
    CPU_CASES,
    INITIAL_NAN,
    NO_LIBRARY,
    NOT_IN_VECTORS,
    SUSPECTS,
    VECTORISED,
    operands,
    over,
    product,
    spec,
)


def _loaded_again(rows):
    return any(o.name == "accesses_per_multiply" and o.counted < 2.9 for o in rows)  # task 2 has 3


REGISTER = CompiledTask(
    id="08-register",
    section=Section("8", "08_matmul", "Rung 5: use what is loaded"),
    title="A register tile on the CPU",
    objective="Unroll loops so that each value loaded from memory serves several multiplies",
    points=2,
    minutes=22,
    spec=spec,
    atol=1e-5,
    cases=(*CPU_CASES, Case("k smaller than 4: (9 x 3) @ (3 x 17)", operands(9, 3, 17))),
    suspects=(
        Suspect(
            lambda a, b, out: product(a[:, : a.shape[1] // 4 * 4], b[: a.shape[1] // 4 * 4]),
            "The terms after the last multiple of 4 are missing. They need a loop of their own.",
        ),
        *SUSPECTS,
    ),
    advice={
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
        "raised-IndexError": (
            "An index left its array: the length is no multiple of what you unrolled by. Stop before the end, and do "
            "what is left over in a loop of its own."
        ),
        "raised-ImportError": NO_LIBRARY,
        "some-unwritten": "These rows are left over: their number is no multiple of what you unrolled by.",
        "wrong-value": (
            "Look at which rows are wrong. Each row of `out` needs the products of its own row of `a` with all p, each "
            "once: is one of the lines a copy with an index not changed, = in the place of +=, or a step that is not "
            "as long as what is unrolled?"
        ),
    },
    budget=Budget(
        points=2,
        text="at most 1.75 memory accesses for each vector multiply (task 2 has 3), each product once, and no array "
        "allocated",
        require=VECTORISED | {"accesses_per_multiply": 1.75, "arrays": 0},
        over=(
            "The result is right, but the loop that does the work asks memory too often. Each round should load and "
            "store `out[i, j]` once for several terms of the sum."
        ),
        causes=(
            (
                over("arrays"),
                "The result is right, but an array is allocated. Add up in `out` itself, and name single numbers.",
            ),
            (over("scalar_share"), NOT_IN_VECTORS),
            (
                over("multiplies"),
                "The result is right, but products are made more than once. Does what is left over begin where the "
                "rounds end?",
            ),
            (
                _loaded_again,
                "The result is right, and more terms share what is loaded than in task 2. What does the formula say "
                "for your R and S? If it says less than was counted, `b` is loaded again after each store: `out` could "
                "be the same memory, for all that the compiler knows. Take what two rows share into variables before "
                "the first store, as `b0, b1 = b[p, j], b[p + 1, j]`. If it says as much, let a round handle more "
                "terms, or more rows.",
            ),
        ),
        case=CPU_BUDGET_CASE,
    ),
    hints=(
        "In task 2 a multiply costs three accesses: b is loaded, out is loaded, out is stored. Which of the three "
        "could be shared by four terms of the same sum?",
        "Take four values of p in one round of the loop over p. Then the inner loop adds four terms to out[i, j] at "
        "once: 4 loads of b, one load and one store of out, four multiplies. What is left over after the last multiple "
        "of 4 goes through the loop of task 2.",
        "Two loops over p: one in steps of 4 up to k - k % 4, one over the rest. In the first, take the four elements "
        "of a into variables before the loop over j; that one then has a single line, with four products in a sum.",
    ),
)
