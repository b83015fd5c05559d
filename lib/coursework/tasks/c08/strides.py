"""08-strides: Stacks and transposes by their strides."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

STACK = (8, 4)  # threads of a block along a row and a column


def strided_case(name, count, m, k, n, a_turned=False, b_turned=False, b_single=False, a_every=1):
    """A case of a stack of products; what is turned arrives as its transpose, a single b serves all."""

    def make(rng):
        a = random_values(rng, count, *((k, a_every * m) if a_turned else (m, a_every * k)))[..., ::a_every]
        b = random_values(rng, 1 if b_single else count, *((n, k) if b_turned else (k, n)))
        a_steps, b_steps = (np.array(x.strides) // 4 for x in (a, b))
        storage = a.base if a.base is not None else a
        if a_turned:
            a_steps = a_steps[[0, 2, 1]]
        if b_turned:
            b_steps = b_steps[[0, 2, 1]]
        if b_single:
            b_steps[0] = 0
        return (storage.reshape(-1), a_steps, b.reshape(-1), b_steps, k, unwritten(count, m, n))

    x, y = -(-n // STACK[0]), -(-m // STACK[1])
    return Case(f"{name}: {count} of ({m} x {k}) @ ({k} x {n})", make, grid=(x, y, count), block=(*STACK, 1))


def stack_of(flat, steps, count, rows, columns):
    """The matrices that lie in `flat` at the distances `steps`, as an array (count, rows, columns) in float64."""
    places = np.add.outer(
        np.add.outer(np.arange(count) * steps[0], np.arange(rows) * steps[1]), np.arange(columns) * steps[2]
    )
    return flat[places % flat.size].astype(np.float64)


def strided_product(a, a_steps, b, b_steps, k, out):
    """The specification."""
    count, m, n = out.shape
    return stack_of(a, a_steps, count, m, k) @ stack_of(b, b_steps, count, k, n)


def _of_steps(change):
    def formula(a, a_steps, b, b_steps, k, out):
        m, n = out.shape[1:]
        a_steps, b_steps = change(a_steps, b_steps, (m * k, k, 1), (k * n, n, 1))
        return strided_product(a, a_steps, b, b_steps, k, out)

    return formula


STRIDES = KernelTask(
    id="08-strides",
    section=Section("8.3", "08_matmul_variants", "Transposed operands"),
    title="Stacks and transposes by their strides",
    objective="Write one kernel for stacked, transposed and repeated operands, without a copy",
    points=2,
    minutes=15,
    spec=strided_product,
    atol=1e-5,
    cases=(
        strided_case("a stack, one block for each, exact", 3, 4, 5, 8),
        strided_case("a transposed", 2, 6, 7, 9, a_turned=True),
        strided_case("b transposed, ragged", 2, 5, 3, 10, b_turned=True),
        strided_case("one b for all", 4, 5, 6, 7, b_single=True),
        strided_case("every second column of a", 2, 4, 6, 9, a_every=2),
    ),
    writer=lambda index, case: (
        (index[2] // STACK[0], index[1] // STACK[1], index[0]),
        (index[2] % STACK[0], index[1] % STACK[1], 0),
    ),
    suspects=(
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (whole_a, whole_b)),
            "The steps were not used: this is right only for matrices that lie row by row, one after the other.",
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: ((0, *a[1:]), b)), "Every product used the first matrix of a."
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (a, (0, *b[1:]))), "Every product used the first matrix of b."
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: ((0, *a[1:]), (0, *b[1:]))),
            "Every product used the first matrices.",
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (a[[0, 2, 1]], b)),
            "The two steps within a matrix of a are exchanged.",
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (a, b[[0, 2, 1]])),
            "The two steps within a matrix of b are exchanged.",
        ),
        Suspect(_of_steps(lambda a, b, whole_a, whole_b: (a, a)), "The steps of a were used for b as well."),
    ),
    advice={
        "out-of-bounds": (
            "If the place is in a or b: it is a sum of three products, a number times a step each. Steps count "
            "elements, not bytes, and p goes from 0 to k - 1. If the index is of out, or the thread has no element of "
            "out: the grid may be larger than a matrix, and needs a guard for rows and columns."
        ),
        "none-beyond": (
            "Each thread has an element here, so no guard is missing. The place in a or b is a sum of three products, "
            "a number times its own step each, in elements, not bytes. p goes from 0 to k - 1."
        ),
        "raised-OutOfBounds": "`out` has three axes, and an element of it three indices: out[z, row, column]. The two "
        "arrays of steps have three elements each.",
        "one-block": "Only the first matrix was written. blockIdx.z counts the matrices of the stack: out[z, row, "
        "column].",
        "some-unwritten": "The matrices of the stack are counted by blockIdx.z, columns by x, rows by y; out.shape is "
        "(count, m, n).",
    },
    hints=(
        "Element [row, column] of a matrix that lies row by row, with n columns, lies n * row + column places from its "
        "start. Which numbers are the two steps here, and which would they be for its transpose?",
        "The place of an element is the sum of three products: number of the matrix, row and column, each times its "
        "step. The kernel need not know what is transposed or repeated: a step of 0 repeats.",
        "Of a you need matrix z, row i, column p; of b matrix z, row p, column j. Compute each place in a line of its "
        "own, with the three steps of that operand. The loop over p is that of task 3.",
    ),
)
