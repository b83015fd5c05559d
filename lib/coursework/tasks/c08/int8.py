"""08-int8: A product in eight bits."""

import numpy as np

from ...definition import Case, Section, Slip, random_values
from ...kinds.function import FunctionTask


def int8_case(name, m, k, n, change=lambda a, b: None):
    def make(rng):
        a, b = random_values(rng, m, k), random_values(rng, k, n)
        a *= rng.uniform(0.1, 30, (m, 1)).astype(np.float32)  # rows of different size: a scale for all would be coarse
        b *= rng.uniform(0.1, 30, (1, n)).astype(np.float32)
        change(a, b)
        return a, b

    return Case(f"{name}: ({m} x {k}) @ ({k} x {n})", make)


def _scales(x, axis):
    """max |x| / 127 along an axis, in float64; 1 where all is 0."""
    scale = np.abs(x.astype(np.float64)).max(axis=axis, keepdims=True) / 127
    return np.where(scale == 0, 1.0, scale)


def quantised_product(a, b, rounded=np.rint):
    """(the product of the quantised matrices, the scale of each of its elements), float64."""
    sa, sb = _scales(a, 1), _scales(b, 0)
    return rounded(a / sa) @ rounded(b / sb), sa * sb


# How one matrix may be taken: (x, axis of its scales) -> (whole numbers, scales), float64.


def _nearest(x, axis):
    scale = _scales(x, axis)
    return np.rint(x / scale), scale


def _cut_off(rounded, dtype):
    """Where the largest of a row comes out just below 127 depends on the dtype."""

    def taken(x, axis):
        scale = _scales(x, axis).astype(dtype)
        return rounded(x / scale).astype(np.float64), scale.astype(np.float64)

    return taken


def _of_the_largest(wraps):
    """Scales of the largest number, not of the largest absolute value: numbers below -127, which int8 takes for
    others."""

    def taken(x, axis):
        scale = x.max(axis, keepdims=True) / 127
        q = np.rint(x / scale)
        return (q.astype(np.int64).astype(np.int8) if wraps else q).astype(np.float64), scale

    return taken


def _by_128(x, axis):
    """128 levels, of which the largest does not fit into eight bits."""
    scale = _scales(x, axis) * 127 / 128
    return np.rint(x / scale).astype(np.int16).astype(np.int8).astype(np.float64), scale


def _one_scale(x, axis):
    scale = np.abs(x).max() / 127 or 1.0
    return np.rint(x / scale), scale


_CUT = "astype(np.int8) cuts off what is behind the point. Round first."
_DOWN = "The numbers were rounded down. Round to the nearest."
_LARGEST = (
    "A scale comes from the largest absolute value: the largest number of a row may be a small one, beside others far "
    "below 0."
)
TAKEN = (
    *((_cut_off(np.trunc, dtype), _CUT) for dtype in (np.float32, np.float64)),
    *((_cut_off(np.floor, dtype), _DOWN) for dtype in (np.float32, np.float64)),
    *((_of_the_largest(wraps), _LARGEST) for wraps in (True, False)),
    (_by_128, "With 128 the largest number does not fit: eight bits end at 127. Divide by 127."),
    (
        _one_scale,
        "One scale for a whole matrix leaves few levels to its small rows. Each row of a and each column of b has a "
        "scale of its own.",
    ),
)


def _taken_wrongly(a, b):
    """(product, why) for each way in which both matrices, or one of them, may be taken wrongly."""
    for wrong, why in TAKEN:
        for of_a, of_b, which in (
            (wrong, wrong, ""),
            (wrong, _nearest, " So it is with a."),
            (_nearest, wrong, " So it is with b."),
        ):
            (qa, sa), (qb, sb) = of_a(a, 1), of_b(b, 0)
            yield (qa @ qb) * sa * sb, why + which


def judge_int8(arguments, result):
    """Right if the result is a sum of products of rounded numbers, with the scales of rows and columns."""
    a, b = arguments
    shape = (a.shape[0], b.shape[1])
    expected = f"an array of real numbers of shape {shape}"
    if not isinstance(result, np.ndarray) or result.shape != shape or result.dtype.kind != "f":
        got = f"{result.dtype} of shape {result.shape}" if isinstance(result, np.ndarray) else ""
        return Slip("type", expected, "The result is a @ b nearly: integers times two scales.", got)
    if not np.isfinite(result).all():
        return Slip(
            "not-finite",
            "numbers",
            "A row or a column of zeros has the largest value 0, and nothing can be "
            "divided by "
            "it. Which scale would do there?",
            "inf or NaN",
        )
    integers, scale = quantised_product(a, b)
    got = result.astype(np.float64) / scale
    slack = 0.5 + 1e-5 * np.abs(integers)
    off = np.abs(got - integers) > slack
    if off.mean() <= 0.02 and np.abs(got - integers).max() <= 260:  # a number halfway may be rounded either way
        return None
    i, j = np.argwhere(off)[0] if off.any() else (0, 0)
    with np.errstate(all="ignore"):
        cause = _known_slip(a, b, got, integers, scale)
    number = lambda x: f"{x[i, j] * scale[i, j]:.6g}"  # noqa: E731
    return Slip(
        "product",
        f"{number(integers)} in element [{i}, {j}]",
        cause,
        f"{number(got)}; {off.sum()} of {off.size} are off",
    )


def _known_slip(a, b, got, integers, scale):
    """What explains a wrong product of integers, in words."""
    qa, qb = (np.rint(x / _scales(x, axis)) for x, axis in ((a, 1), (b, 0)))
    wrapped = qa.astype(np.int64) @ qb.astype(np.int64)
    known = (
        (
            a.astype(np.float64) @ b / scale,
            "This is the product of the real numbers. Round both matrices to integers first.",
        ),
        (wrapped.astype(np.int8), "The sums ran over: NumPy keeps int8 for products of int8. Sum in int32."),
        (wrapped.astype(np.int16), "The sums ran over: 16 bits are too few for them. Sum in int32."),
        (
            integers / scale**2,
            "The sum was divided by the two scales. Each number was divided by its scale; to go back, multiply.",
        ),
        (
            np.rint(a * _scales(a, 1)) @ np.rint(b * _scales(b, 0)),
            "Each number is divided by its scale, not multiplied by it.",
        ),
        (integers / scale, "These are the integers: multiply by the two scales."),
        (integers / scale * _scales(a, 1), "The scale of b is missing."),
        (integers / scale * _scales(b, 0), "The scale of a is missing."),
        *((product / scale, why) for product, why in _taken_wrongly(a, b)),
        (_along_the_sum(a, b) / scale, "A scale must be the same for all terms of a sum: rows of a, columns of b."),
    )
    near = (text for value, text in known if np.mean(np.abs(got - value) > 0.5 + 1e-5 * np.abs(value)) <= 0.02)
    return next(
        near,
        "Work out the first wrong element: the scales of its row and its column, then the whole numbers of both. "
        "Multiply the integers first, as int32; then scale element [i, j] by the scales of row i and column j.",
    )


def _along_the_sum(a, b):
    sa, sb = _scales(a, 0), _scales(b, 1)
    return (np.rint(a / sa) * sa) @ (np.rint(b / sb) * sb)


def _zeros(a, b):
    a[len(a) // 2] = 0
    b[:, 0] = 0


INT8 = FunctionTask(
    id="08-int8",
    section=Section("8.4", "08_fewer_bits", "Eight bits"),
    title="A product in eight bits",
    objective="Quantise two matrices, multiply them in integers, and scale the result back",
    points=2,
    minutes=15,
    judge=judge_int8,
    cases=(
        int8_case("small", 3, 4, 5),
        int8_case("long sums", 6, 200, 7),
        int8_case("one column", 20, 33, 1),
        int8_case("a row and a column of zeros", 5, 8, 6, _zeros),
    ),
    advice={
        "raised-ValueError": "Do the shapes fit? The scales of a are one for each row, (m, 1), those of b one for each "
        "column, (1, n). The product of two matrices is `@`; `*` multiplies element by element.",
        "raised-RuntimeWarning": "Where `divide` is named, a row or a column of zeros was divided by its largest "
        "value: 0 / 0. Give it the scale 1 before anything is divided. Where `cast` is named, a number that no integer "
        "can hold became an integer: 0 / 0 again, or one beyond -128 to 127, and the scale comes from the largest "
        "absolute value.",
        "raised-OverflowError": "A number is too large for its type: the largest of a row should become 127.",
    },
    hints=(
        "By which number must a row be divided, so that its largest element becomes 127 or -127? Which shape have "
        "these numbers?",
        "Four steps: scales, with 1 where a row or column is zero; divide and round to the nearest, then int8; the "
        "product of the two as int32; times the scale of the row and that of the column.",
        "The largest of np.abs along an axis, with keepdims=True, come in a shape that fits. np.where mends the zeros. "
        "NumPy sums in the type of its operands, so change that before @, not after.",
    ),
)
