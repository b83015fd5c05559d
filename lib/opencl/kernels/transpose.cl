// out[j][i] = x[i][j] by tiles in local memory: both sides are read and written
// along rows.
//
// x: (stack, m, n). NDRange (n, m, stack), n and m rounded up to TILE; work-group
// (TILE, TILE, 1).
#define TILE 16

__kernel void transpose(__global const real *x, __global real *out, int m, int n) {
    __local real tile[TILE][TILE + 1];  // a column's numbers lie in different banks
    int tx = get_local_id(0), ty = get_local_id(1);
    int column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;
    size_t matrix = (size_t)get_global_id(2) * m * n;
    x += matrix;
    out += matrix;
    if (row + ty < m && column + tx < n)
        tile[ty][tx] = x[(size_t)(row + ty) * n + column + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (column + ty < n && row + tx < m)
        out[(size_t)(column + ty) * m + row + tx] = tile[tx][ty];
}
