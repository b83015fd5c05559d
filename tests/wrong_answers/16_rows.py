"""Answers to 16-rows."""

from answers import edit, replace


def by_global_id():
    """right"""
    return r"""
__kernel void rows(__global const float *x, __global float *out, int rows, int columns)
{
    int row = get_global_id(0) / 32;
    float sum = 0;
    if (row < rows) {
        __global const float *line = x + row * columns;
        for (int c = get_local_id(0) % 32; c < columns; c += 32)
            sum += line[c];
    }
    float all = sub_group_reduce_add(sum);
    if (row < rows && get_local_id(0) % 32 == 0)
        out[row] = all;
}
"""


one_round = edit(
    "as_taught",
    "wrong suspect: Only the first 32",
    replace(
        "column < columns; column += get_sub_group_size()", "column < min(columns, 32); column += get_sub_group_size()"
    ),
)
not_reduced = edit(
    "as_taught", "wrong suspect: the sum of one work-item", replace("sum = sub_group_reduce_add(sum);", "")
)
all_store = edit("as_taught", "wrong race: one of each sub-group is enough", replace("if (lane == 0)", "if (1)"))
inside_the_loop = edit(
    "as_taught",
    "wrong inactive-lane-read: behind the loop",
    replace("sum += x[row * columns + column];", "sum += sub_group_reduce_add(x[row * columns + column]);"),
    replace("sum = sub_group_reduce_add(sum);", ""),
)
under_a_condition = edit(
    "as_taught",
    "wrong inactive-lane-read: bring a 0",
    replace("sum = sub_group_reduce_add(sum);", "if (lane < columns)\n            sum = sub_group_reduce_add(sum);"),
)
by_columns = edit(
    "as_taught", "wrong out-of-bounds: lies outside", replace("x[row * columns + column]", "x[column * columns + row]")
)
in_pieces = edit(
    "as_taught",
    "over budget over-budget: side by side",
    replace(
        "int column = lane; column < columns; column += get_sub_group_size()",
        "int column = lane * ((columns + 31) / 32); column < min(columns, (lane + 1) * ((columns + 31) / 32)); "
        "column++",
    ),
)
local_memory = edit(
    "as_taught",
    "over budget over-budget: without local memory",
    replace(
        "    int lane = get_sub_group_local_id();",
        "    int lane = get_sub_group_local_id();\n    __local float kept[64];",
    ),
    replace(
        "sum = sub_group_reduce_add(sum);",
        "kept[get_local_id(0)] = sum;\n        sum = sub_group_reduce_add(kept[get_local_id(0)]);",
    ),
)
