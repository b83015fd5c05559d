// y = activation(x w^T + bias): the sum goes from a register through the activation, and to memory once.
// activations.cl stands before this file.
//
// x: (m, k), w: (n, k), bias: (n,) or anything where biased is 0. NDRange (n, m), rounded up to TILE; work-group
// (TILE, TILE).
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void linear(__global const real *x, __global const real *w, __global const real *bias, __global real *out, int m,
            int n, int k, int biased, int which) {
    __local real tile_x[TILE][TILE], tile_w[TILE][TILE + 1];  // w is read along columns: one more, for the banks
    int tx = get_local_id(0), ty = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    int of_w = get_group_id(0) * TILE + ty;  // the row of w that this work-item brings
    real total = 0;
    for (int first = 0; first < k; first += TILE) {
        tile_x[ty][tx] = row < m && first + tx < k ? x[(size_t)row * k + first + tx] : 0;
        tile_w[ty][tx] = of_w < n && first + tx < k ? w[(size_t)of_w * k + first + tx] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = 0; p < TILE; p++) total += tile_x[ty][p] * tile_w[tx][p];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        out[(size_t)row * n + column] = activated(biased ? total + bias[column] : total, which);
}
