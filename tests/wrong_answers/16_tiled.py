"""Answers to 16-tiled."""

from answers import edit, insert, replace


def steps_counted():
    """right"""
    return r"""
__kernel void matmul(__global const float *a, __global const float *b, __global float *out, int m, int n, int k)
{
    __local float s[8 * 8];
    __local float t[8 * 8];
    int i = get_local_id(1), j = get_local_id(0);
    int row = 8 * get_group_id(1) + i, column = 8 * get_group_id(0) + j;
    float sum = 0.0f;
    for (int step = 0; step < (k + 7) / 8; ++step) {
        s[8 * i + j] = 0;
        t[8 * i + j] = 0;
        if (row < m && 8 * step + j < k)
            s[8 * i + j] = a[row * k + 8 * step + j];
        if (column < n && 8 * step + i < k)
            t[8 * i + j] = b[(8 * step + i) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = 0; p < 8; ++p)
            sum = fma(s[8 * i + p], t[8 * p + j], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row >= m || column >= n)
        return;
    out[row * n + column] = sum;
}
"""


store_unguarded = edit(
    "as_taught", "wrong out-of-bounds: At the edges a tile hangs over", replace("if (row < m && column < n)", "if (1)")
)
one_step = edit("as_taught", "wrong suspect: Only the first 8 steps", replace("s < k; s += TILE", "s < 1; s += TILE"))
steps_rounded_down = edit(
    "as_taught", "wrong suspect: The last, ragged step", replace("s < k; s += TILE", "s < k / TILE * TILE; s += TILE")
)
returns_early = edit(
    "as_taught",
    "wrong barrier-after-exit: Guard the loads and the store",
    insert("if (row >= m || column >= n)\n    return;", after="float sum = 0.0f;"),
)
stores_nothing = edit(
    "as_taught",
    "wrong suspect: Nothing was added",
    replace("sum += tile_a[ly][i] * tile_b[i][lx];", "tile_a[ly][i] * tile_b[i][lx];"),
)
no_tiles = edit(
    "as_taught",
    "over budget over-budget: innermost loop",
    replace("tile_a[ly][i] * tile_b[i][lx]", "(row < m && s + i < k ? a[row * k + s + i] : 0.0f) * tile_b[i][lx]"),
)
sum_in_out = edit(
    "as_taught",
    "over budget over-budget: every step",
    insert(
        "if (row < m && column < n)\n    out[row * n + column] = sum;", after="sum += tile_a[ly][i] * tile_b[i][lx];"
    ),
)
