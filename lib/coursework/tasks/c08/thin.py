"""08-thin: A thin product under the roof."""

from ...definition import Case, Section
from ...kinds.measured import Card, MeasuredTask
from .shared import CPU_CASES, INITIAL_NAN, NO_LIBRARY, SUSPECTS, operands, spec

THIN_M, THIN_K, THIN_N = 256, 32, 8

THIN = MeasuredTask(
    id="08-thin",
    section=Section("8", "08_matmul", "Under the roof"),
    title="A thin product under the roof",
    objective="Count the flops and bytes of a matmul loop, and say when memory bounds it",
    points=3,
    minutes=15,
    spec=spec,
    atol=1e-5,
    cases=(*CPU_CASES, Case("one column: (40 x 17) @ (17 x 1)", operands(40, 17, 1))),
    suspects=SUSPECTS,
    claimed=Case(f"({THIN_M} x {THIN_K}) @ ({THIN_K} x {THIN_N})", operands(THIN_M, THIN_K, THIN_N)),
    measured=Case(f"(131072 x {THIN_K}) @ ({THIN_K} x {THIN_N})", operands(1 << 17, THIN_K, THIN_N)),
    card=Card(peak=100e9, bandwidth=20e9),
    advice={
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
        "raised-ImportError": NO_LIBRARY,
        "raised-IndexError": "An index left its array. out has the rows of a and the columns of b.",
        "flops": f"Each of the {THIN_M} * {THIN_N} elements is a sum of {THIN_K} products. What counts is your own "
        "loop, as it stands.",
        "moved": "The elements of a, of b and of out, each counted once, have 4 bytes each.",
        "roof": "A matmul need not be bound by arithmetic. Compare your intensity with the ridge: peak divided by "
        "bandwidth.",
    },
    hints=(
        "How many multiplications and additions has one element of out, and how many elements are there?",
        "The bytes are those of three matrices. Which of the three is the largest here, and how often is each of its "
        "elements used?",
        "An element of a is used once for each column of b: 8 multiplications and 8 additions for 4 bytes. That is the "
        "intensity, but for the bytes of out and b. The ridge is 100 divided by 20.",
    ),
)
