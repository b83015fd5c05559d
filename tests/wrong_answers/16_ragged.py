"""Answers to 16-ragged."""

from answers import edit, replace


def as_taught():
    """right"""
    return r"""
__kernel void leaky(__global const float *x, __global float *out, int rows, int columns)
{
    int column = get_global_id(0);
    int row = get_global_id(1);
    if (row < rows && column < columns) {
        float value = x[row * columns + column];
        out[row * columns + column] = value > 0 ? value : 0.125f * value;
    }
}
"""


def early_return():
    """right"""
    return r"""
#define AT(r, c) ((r) * columns + (c))
float rectified(float v)
{
    return v < 0 ? v / 8 : v;
}

__kernel void leaky(__global const float *x, __global float *out, int rows, int columns)
{
    const size_t c = get_global_id(0), r = get_global_id(1);
    if (c >= columns || r >= rows)
        return;
    out[AT(r, c)] = rectified(x[AT(r, c)]);
}
"""


no_guard = edit(
    as_taught, "wrong out-of-bounds: Which work-items have no element", replace("row < rows && column < columns", "1")
)
rows_only = edit(
    as_taught, "wrong out-of-bounds: rounded up in both", replace("row < rows && column < columns", "row < rows")
)
columns_only = edit(
    as_taught, "wrong out-of-bounds: rounded up in both", replace("row < rows && column < columns", "column < columns")
)
dimensions_exchanged = edit(
    as_taught,
    "wrong some-unwritten: Dimension 0 runs along the columns",
    replace("int column = get_global_id(0);", "int column = get_global_id(1);"),
    replace("int row = get_global_id(1);", "int row = get_global_id(0);"),
)
by_rows = edit(
    as_taught,
    "wrong wrong-value: Work out the first wrong element by hand",
    replace("float value = x[row * columns + column];", "float value = x[row * rows + column];"),
)
relu = edit(as_taught, "wrong suspect: multiplied by 0.125", replace("0.125f * value", "0.0f"))
sides = edit(as_taught, "wrong suspect: The two sides are exchanged", replace("value > 0 ?", "value <= 0 ?"))
all_scaled = edit(
    as_taught, "wrong suspect: positive ones stay", replace("value > 0 ? value : 0.125f * value", "0.125f * value")
)
local_ids = edit(as_taught, "wrong some-unwritten: no work-item", replace("get_global_id(0)", "get_local_id(0)"))
no_semicolon = edit(as_taught, "wrong raised-ReadError: stumbles", replace("get_global_id(1);", "get_global_id(1)"))
another_name = edit(as_taught, "wrong raised-ReadError: no kernel", replace("void leaky", "void leak"))
not_declared = edit(
    as_taught, "wrong raised-ReadError: not declared", replace("x[row * columns + column]", "x[row * columns + col]")
)
