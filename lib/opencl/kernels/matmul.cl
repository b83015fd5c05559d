// Matrix products: out = a b for (m, k) and (k, n), and for stacks of them along the NDRange's third dimension.
// of_a, of_b: elements from one matrix of a stack to the next; 0 where one serves all.

// A work-item for each element: each number of a is read n times, each of b m times.
// NDRange (n, m, stack), rounded up.
__kernel void matmul_naive(__global const real *a, __global const real *b, __global real *out, int m, int n, int k,
                           long of_a, long of_b) {
    int column = get_global_id(0), row = get_global_id(1);
    a += get_global_id(2) * of_a;
    b += get_global_id(2) * of_b;
    if (row >= m || column >= n) return;
    real total = 0;
    for (int p = 0; p < k; p++) total += a[(size_t)row * k + p] * b[(size_t)p * n + column];
    out[(get_global_id(2) * m + row) * n + column] = total;
}

// Tiles of a and b in local memory: each number is read from global memory once for TILE of its uses.
// NDRange (n, m, stack), rounded up to TILE; work-group (TILE, TILE, 1).
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_tiled(__global const real *a, __global const real *b, __global real *out, int m, int n, int k,
                  long of_a, long of_b) {
    __local real tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    a += get_global_id(2) * of_a;
    b += get_global_id(2) * of_b;
    real total = 0;
    for (int first = 0; first < k; first += TILE) {
        tile_a[ty][tx] = row < m && first + tx < k ? a[(size_t)row * k + first + tx] : 0;
        tile_b[ty][tx] = column < n && first + ty < k ? b[(size_t)(first + ty) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);  // the tiles are there
        for (int p = 0; p < TILE; p++) total += tile_a[ty][p] * tile_b[p][tx];
        barrier(CLK_LOCAL_MEM_FENCE);  // nobody needs them any more
    }
    if (row < m && column < n) out[(get_global_id(2) * m + row) * n + column] = total;
}

// A tile of 64 x 64 results for a work-group, 4 x 4 of them in the registers of each work-item: a number of local
// memory is used four times. Rows and columns of a work-item are TILE apart, so that neighbours read neighbours.
// NDRange (n / 4, m / 4, stack), rounded up to TILE; work-group (TILE, TILE, 1).
#define EACH 4
#define WIDE (TILE * EACH)

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_registers(__global const real *a, __global const real *b, __global real *out, int m, int n, int k,
                      long of_a, long of_b) {
    __local real tile_a[WIDE][TILE + 1], tile_b[TILE][WIDE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int column = get_group_id(0) * WIDE + tx, row = get_group_id(1) * WIDE + ty;
    a += get_global_id(2) * of_a;
    b += get_global_id(2) * of_b;
    real total[EACH][EACH] = {{0}};
    for (int first = 0; first < k; first += TILE) {
        for (int e = 0; e < EACH; e++) {
            int r = row + e * TILE, c = column + e * TILE;
            tile_a[ty + e * TILE][tx] = r < m && first + tx < k ? a[(size_t)r * k + first + tx] : 0;
            tile_b[ty][tx + e * TILE] = c < n && first + ty < k ? b[(size_t)(first + ty) * n + c] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = 0; p < TILE; p++) {
            real of_row[EACH], of_column[EACH];
            for (int e = 0; e < EACH; e++) {
                of_row[e] = tile_a[ty + e * TILE][p];
                of_column[e] = tile_b[p][tx + e * TILE];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    total[i][j] += of_row[i] * of_column[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            int r = row + i * TILE, c = column + j * TILE;
            if (r < m && c < n) out[(get_global_id(2) * m + r) * n + c] = total[i][j];
        }
}
