"""09-line: A window slides along a line."""

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import LINE_BLOCK, along


def line_arguments(results, taps, stride=1, rest=0):
    """make(rng) -> x (n,), weight (taps,), stride, out (results,). `rest`: elements of x at its end that no window
    reaches."""
    n = (results - 1) * stride + taps + rest
    return lambda rng: (random_values(rng, n), random_values(rng, taps), stride, unwritten(results))


def line_case(name, results, taps, stride=1, rest=0):
    grid = -(-results // LINE_BLOCK)
    where = "1 block" if grid == 1 else f"{grid} blocks"
    said = (
        f"{name}: {results} results, {taps} weight{'s' if taps > 1 else ''}, stride {stride}, {where} of {LINE_BLOCK}"
    )
    return Case(said, line_arguments(results, taps, stride, rest), grid=grid, block=LINE_BLOCK)


LINE = KernelTask(
    id="09-line",
    section=Section("9", "09_convolution", "The layer"),
    title="A window slides along a line",
    objective="Write a kernel in which each thread computes one weighted sum over a window",
    points=2,
    minutes=12,
    spec=lambda x, weight, stride, out: along(x, weight, stride, out),
    cases=(
        line_case("one block", 32, 3),
        line_case("ragged", 50, 4),
        line_case("ragged, jumps", 70, 5, 2, 1),
        line_case("one weight, wide jumps", 33, 1, 3, 2),
        line_case("exact", 64, 2),
    ),
    suspects=(
        Suspect(
            lambda x, weight, stride, out: along(x, weight[::-1], stride, out),
            "The weights are taken in the opposite order: weight[0] belongs to the first element of a window.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight, 1, out),
            "The stride was not used: the window of out[i] begins at i * stride, not at i.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight, 1, out, stride),
            "The stride was given to the weights. It belongs to i: windows begin `stride` apart, and within a window "
            "the elements are neighbours. (What you wrote is called dilation.)",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight[:-1], stride, out),
            "The last weight is missing: how many rounds has the loop over the weights?",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x[1:], weight[1:], stride, out),
            "The first weight is missing: does the loop over the weights begin at 0?",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x[weight.size - 1 :], weight[-1:], stride, out),
            "This is the last term of each sum alone: the terms must be added up, not replaced.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight[:1], stride, out),
            "This is the first term of each sum alone. Does the loop end after its first round?",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x[1:], weight, stride, out), "Each window begins one element too late."
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, 0 * weight + 1, stride, out),
            "These are sums of the elements of x: the weights are missing.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, 0 * weight + weight[0], stride, out),
            "weight[0] was used for all elements of a window. Which index of `weight` should change from term to term?",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The grid may have more threads than out has elements: this thread may have none. If it has one, its "
            "window begins at i * stride and has weight.size elements, all neighbours: which index is that of the last "
            "one?"
        ),
        "none-beyond": (
            "Each thread has an element here, so no guard is missing. The window of out[i] begins at i * stride and "
            "has weight.size elements, all neighbours: which index is that of the last one?"
        ),
        "race": "Each thread has one element of out, its own, and adds up in a variable of its own.",
        "raised-TypeError": "x and weight are arrays: multiply one element of each, x[...] * weight[...].",
    },
    hints=(
        "Which elements of x does out[0] need, with 3 weights and stride 2? Which does out[1] need?",
        "Thread i has one sum. Its window begins at i * stride, and the element for weight t lies t further on.",
        "A guard for i by out.size; a sum that begins with np.float32(0); a loop over the weights that adds a product; "
        "the store behind the loop.",
    ),
)
