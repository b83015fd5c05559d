"""Answers to 16-ragged."""

from answers import edit, replace

columns_only = edit(
    "as_taught",
    "wrong out-of-bounds: rounded up in both",
    replace("row < rows && column < columns", "column < columns"),
)
by_rows = edit(
    "as_taught",
    "wrong wrong-value: Work out the first wrong element by hand",
    replace("float value = x[row * columns + column];", "float value = x[row * rows + column];"),
)
relu = edit("as_taught", "wrong suspect: multiplied by 0.125", replace("0.125f * value", "0.0f"))
sides = edit("as_taught", "wrong suspect: The two sides are exchanged", replace("value > 0 ?", "value <= 0 ?"))
all_scaled = edit(
    "as_taught", "wrong suspect: positive ones stay", replace("value > 0 ? value : 0.125f * value", "0.125f * value")
)
local_ids = edit("as_taught", "wrong some-unwritten: no work-item", replace("get_global_id(0)", "get_local_id(0)"))
another_name = edit("as_taught", "wrong raised-ReadError: no kernel", replace("void leaky", "void leak"))
not_declared = edit(
    "as_taught", "wrong raised-ReadError: not declared", replace("x[row * columns + column]", "x[row * columns + col]")
)
