"""Answers to 16-halo."""

from answers import cut, edit, insert, replace


def as_taught():
    """right"""
    return r"""
#define TILE 8
#define EDGE (TILE + 2)

__kernel void blur(__global const float *x, __global const float *w, __global float *out, int rows, int columns)
{
    __local float tile[EDGE][EDGE];
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = get_group_id(0) * TILE - 1, top = get_group_id(1) * TILE - 1;
    for (int p = ly * TILE + lx; p < EDGE * EDGE; p += TILE * TILE) {
        int r = top + p / EDGE, c = left + p % EDGE;
        int inside = r >= 0 && r < rows && c >= 0 && c < columns;
        tile[p / EDGE][p % EDGE] = inside ? x[r * columns + c] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int row = get_global_id(1), column = get_global_id(0);
    if (row < rows && column < columns) {
        float sum = 0.0f;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum += w[i * 3 + j] * tile[ly + i][lx + j];
        out[row * columns + column] = sum;
    }
}
"""


def four_corners():
    """right"""
    return r"""
__kernel void blur(__global const float *x, __global const float *w, __global float *out, int rows, int columns)
{
    __local float t[10][10];
    int c = get_global_id(0), r = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int y = ly + 8 * i, z = lx + 8 * j;
            if (y < 10 && z < 10) {
                int rr = r + 8 * i - 1, cc = c + 8 * j - 1;
                t[y][z] = 0;
                if (rr >= 0 && rr < rows && cc >= 0 && cc < columns)
                    t[y][z] = x[rr * columns + cc];
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (r >= rows || c >= columns)
        return;
    float sum = 0;
    for (int k = 0; k < 9; k++)
        sum = mad(w[k], t[ly + k / 3][lx + k % 3], sum);
    out[r * columns + c] = sum;
}
"""


no_barrier = edit(
    as_taught,
    "wrong race: A barrier between the loading",
    cut("barrier(CLK_LOCAL_MEM_FENCE);", after="inside ? x[r * columns + c] : 0.0f;"),
)
no_inside = edit(
    as_taught, "wrong negative-index: zeros", replace("inside ? x[r * columns + c] : 0.0f", "x[r * columns + c]")
)
no_upper_edge = edit(
    as_taught,
    "wrong out-of-bounds: lies outside of the image",
    replace("r >= 0 && r < rows && c >= 0 && c < columns", "r >= 0 && c >= 0"),
)
one_each = edit(
    as_taught, "wrong uninitialised-shared: 10 x 10 numbers", replace("p < EDGE * EDGE;", "p < TILE * TILE;")
)
no_halo = edit(
    as_taught,
    "wrong suspect: belong to other work-groups",
    replace(
        "r >= 0 && r < rows && c >= 0 && c < columns",
        "p / EDGE > 0 && p / EDGE < 9 && p % EDGE > 0 && p % EDGE < 9 && r < rows && c < columns",
    ),
)
turned = edit(as_taught, "wrong suspect: turned round", replace("w[i * 3 + j]", "w[8 - i * 3 - j]"))
columns_first = edit(
    as_taught, "wrong suspect: Rows and columns of the filter", replace("w[i * 3 + j]", "w[j * 3 + i]")
)
edge_copied = edit(
    as_taught,
    "wrong suspect: zeros, not the numbers at the edge",
    replace("inside ? x[r * columns + c] : 0.0f", "x[clamp(r, 0, rows - 1) * columns + clamp(c, 0, columns - 1)]"),
)
store_unguarded = edit(
    as_taught, "wrong out-of-bounds: out[row * columns + column]", replace("row < rows && column < columns", "1")
)
returns_early = edit(
    as_taught,
    "wrong barrier-after-exit: still loads for the others",
    insert(
        "if (get_global_id(0) >= columns || get_global_id(1) >= rows) return;",
        after="int lx = get_local_id(0), ly = get_local_id(1);",
    ),
)
from_global = edit(
    as_taught,
    "over budget over-budget: read again",
    replace(
        "tile[ly + i][lx + j]",
        "(row + i > 0 && row + i <= rows && column + j > 0 && column + j <= columns ? x[(row + i - 1) * columns + column + j - 1] : 0.0f)",
    ),
)
