"""Answers to 16-halo."""

from answers import edit, insert, replace


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


no_halo = edit(
    "as_taught",
    "wrong suspect: belong to other work-groups",
    replace(
        "r >= 0 && r < rows && c >= 0 && c < columns",
        "p / EDGE > 0 && p / EDGE < 9 && p % EDGE > 0 && p % EDGE < 9 && r < rows && c < columns",
    ),
)
returns_early = edit(
    "as_taught",
    "wrong barrier-after-exit: still loads for the others",
    insert(
        "if (get_global_id(0) >= columns || get_global_id(1) >= rows) return;",
        after="int lx = get_local_id(0), ly = get_local_id(1);",
    ),
)
from_global = edit(
    "as_taught",
    "over budget over-budget: read again",
    replace(
        "tile[ly + i][lx + j]",
        "(row + i > 0 && row + i <= rows && column + j > 0 && column + j <= columns ? x[(row + i - 1) * columns + "
        "column + j - 1] : 0.0f)",
    ),
)
