"""16-ndrange: A work-group size that does not divide."""

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def sizes_of(shape, local):
    """[global size, work-groups, work-items without an element] for an array of a shape (rows, columns)."""
    rows, columns = shape
    global_size = [-(-columns // local[0]) * local[0], -(-rows // local[1]) * local[1]]
    groups = (global_size[0] // local[0]) * (global_size[1] // local[1])
    return [global_size, groups, global_size[0] * global_size[1] - rows * columns]


def judge_sizes(arguments, result):
    shape, local = arguments
    global_size, groups, idle = sizes_of(shape, local)
    expected = f"{[global_size, groups, idle]}"
    fits = isinstance(result, list) and len(result) == 3 and isinstance(result[0], list) and len(result[0]) == 2
    numbers = [*result[0], *result[1:]] if fits else []
    if not fits or not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        return Slip("type", expected, "Return a list: the global size as a list of two, then two whole numbers.")
    if result == [global_size, groups, idle]:
        return None
    got = result[0]
    if got == [shape[1], shape[0]]:
        cause = (
            "The global size is a multiple of the local size, along each dimension. Round up, not down and not at all."
        )
        return Slip("not-rounded", expected, cause)
    if any(n % size for n, size in zip(got, local, strict=True)):
        return Slip("no-multiple", expected, "One does not divide the other along a dimension: the queue refuses that.")
    if got != global_size and got == [-(-shape[0] // local[0]) * local[0], -(-shape[1] // local[1]) * local[1]]:
        return Slip(
            "axes", expected, "Dimension 0 runs along the columns: work-items that are neighbours read neighbours."
        )
    if got != global_size and (got[0] < shape[1] or got[1] < shape[0]):
        return Slip("too-few", expected, "There are elements without a work-item. Round up.")
    if got != global_size:
        return Slip("too-many", expected, "There is a whole work-group without an element along a dimension.")
    if result[1] != groups:
        return Slip("groups", expected, "The global size is right. Work-groups: how many of them along each dimension?")
    return Slip("idle", expected, "Work-items that have nothing to do: all work-items, less the elements.")


def ndrange_case(rows, columns, across, down):
    return Case(f"{rows} x {columns}, local size [{across}, {down}]", lambda rng: ([rows, columns], [across, down]))


NDRANGE = FunctionTask(
    id="16-ndrange",
    section=Section("16", "16_opencl", "From a platform to an event"),
    title="A work-group size that does not divide",
    objective="Compute the global size of an NDRange for any shape and any work-group size",
    points=1,
    minutes=6,
    judge=judge_sizes,
    cases=(
        ndrange_case(1, 1, 8, 8),
        ndrange_case(16, 32, 16, 4),
        ndrange_case(5, 13, 8, 4),
        ndrange_case(100, 3, 16, 16),
        ndrange_case(64, 65, 64, 1),
    ),
    hints=(
        "The local size is 8, and there are 13 columns. How many work-items along the columns is the least that will "
        "do?",
        "A multiple of 8 that is not less than 13. In whole numbers: -(-13 // 8) is 2.",
        "Columns with local[0], rows with local[1]. The work-groups are global size by local size, along each "
        "dimension; multiply them.",
    ),
)
