"""Answers to 16-ndrange."""

from answers import edit, replace


def as_taught(shape, local):
    """right"""
    rows, columns = shape
    whole = [-(-columns // local[0]) * local[0], -(-rows // local[1]) * local[1]]
    return [whole, whole[0] * whole[1] // (local[0] * local[1]), whole[0] * whole[1] - rows * columns]


def by_remainders(shape, local):
    """right"""
    whole = []
    for n, size in zip(reversed(shape), local, strict=True):
        rest = n % size
        whole.append(n + (size - rest if rest else 0))
    groups = 1
    for n, size in zip(whole, local, strict=True):
        groups *= n // size
    return [whole, groups, whole[0] * whole[1] - shape[0] * shape[1]]


not_rounded = edit(
    as_taught,
    "wrong not-rounded: Round up",
    replace("-(-columns // local[0]) * local[0], -(-rows // local[1]) * local[1]", "columns, rows"),
)
rounded_down = edit(
    as_taught,
    "wrong too-few: Round up",
    replace("-(-columns // local[0]) * local[0]", "columns // local[0] * local[0]"),
)
one_more = edit(
    as_taught,
    "wrong too-many: a whole work-group without an element",
    replace("-(-rows // local[1])", "(rows // local[1] + 1)"),
)
axes = edit(
    as_taught,
    "wrong axes: Dimension 0 runs along the columns",
    replace("rows, columns = shape", "columns, rows = shape"),
)
groups_along_one = edit(
    as_taught,
    "wrong groups: along each dimension",
    replace("whole[0] * whole[1] // (local[0] * local[1])", "whole[0] // local[0] + whole[1] // local[1]"),
)
items_not_groups = edit(
    as_taught, "wrong groups: how many", replace("whole[0] * whole[1] // (local[0] * local[1])", "whole[0] * whole[1]")
)
elements = edit(
    as_taught, "wrong idle: less the elements", replace("whole[0] * whole[1] - rows * columns", "rows * columns")
)
tuple_of_three = edit(as_taught, "wrong type: a list of two", replace("return [whole,", "return [whole[0],"))
flat = edit(as_taught, "wrong type: a list of two", replace("return [whole,", "return [whole[0], whole[1],"))
to_a_power = edit(
    as_taught,
    "wrong no-multiple: the queue refuses",
    replace("-(-columns // local[0]) * local[0]", "columns + local[0] // 2 + 3"),
)
