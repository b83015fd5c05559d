// softmax(scale q k^T + mask) v without the matrix of scores: tiles of keys, an online softmax (Dao et al. 2022).
//
// A work-group takes `rows` queries of one head, and reads all keys in tiles of `columns`. Local memory holds the
// queries, one tile of keys and values, their scores, and for each query the largest score so far, the sum of
// exponentials beside it, and the sum of values by these: when a larger score comes, both sums are scaled down.
//
// places: for each head where its matrices of q, k, v and of the mask begin. kind: 0 no mask, 1 numbers, 2 booleans;
// mask_row, mask_column: elements from one query, or key, to the next. NDRange (GROUP * blocks of queries, heads).
__kernel void attention(__global const real *q, __global const real *k, __global const real *v,
                        __global const real *terms, __global const uchar *allowed, __global const long *places,
                        __global real *out, int queries, int keys, int width, int values, int causal, int kind,
                        int mask_row, int mask_column, real scale, int rows, int columns, __local real *of_q,
                        __local real *of_k, __local real *of_v, __local real *scores, __local real *sums,
                        __local real *state) {
    int t = get_local_id(0), group = get_local_size(0), first = get_group_id(0) * rows, head = get_global_id(1);
    int wide = width + 1;  // one more, so that a column of a tile lies in different banks
    __local real *top = state, *total = state + rows, *factor = state + 2 * rows;
    q += places[4 * head];
    k += places[4 * head + 1];
    v += places[4 * head + 2];
    long mask = places[4 * head + 3];
    int end = causal ? min(keys, first + rows) : keys;  // no query of this work-group looks further
    for (int i = t; i < rows * width; i += group) {
        int r = i / width, d = i % width;
        of_q[r * wide + d] = first + r < queries ? scale * q[(size_t)(first + r) * width + d] : 0;
    }
    for (int i = t; i < rows * values; i += group) sums[i] = 0;
    for (int r = t; r < rows; r += group) {
        top[r] = -INFINITY;
        total[r] = 0;
    }
    for (int start = 0; start < end; start += columns) {
        barrier(CLK_LOCAL_MEM_FENCE);  // nobody needs the last tile any more
        for (int i = t; i < columns * width; i += group) {
            int c = i / width, d = i % width;
            of_k[c * wide + d] = start + c < keys ? k[(size_t)(start + c) * width + d] : 0;
        }
        for (int i = t; i < columns * values; i += group) {
            int c = i / values, d = i % values;
            of_v[i] = start + c < keys ? v[(size_t)(start + c) * values + d] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // the tile is there
        for (int i = t; i < rows * columns; i += group) {
            int r = i / columns, c = i % columns, query = first + r, key = start + c;
            real score = -INFINITY;
            if (query < queries && key < keys && !(causal && key > query)) {
                long at = mask + (long)query * mask_row + (long)key * mask_column;
                if (kind != 2 || allowed[at]) {
                    score = 0;
                    for (int d = 0; d < width; d++) score += of_q[r * wide + d] * of_k[c * wide + d];
                    if (kind == 1) score += terms[at];
                }
            }
            scores[i] = score;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // all scores are there
        for (int r = t; r < rows; r += group) {
            real larger = top[r], sum = 0;
            for (int c = 0; c < columns; c++) larger = fmax(larger, scores[r * columns + c]);
            real from = larger == -INFINITY ? 0 : larger;  // a query that may look at no key so far
            for (int c = 0; c < columns; c++) {
                scores[r * columns + c] = exp(scores[r * columns + c] - from);
                sum += scores[r * columns + c];
            }
            factor[r] = exp(top[r] - from);
            total[r] = total[r] * factor[r] + sum;
            top[r] = larger;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // exponentials and factors are there
        for (int i = t; i < rows * values; i += group) {
            int r = i / values, d = i % values;
            real sum = sums[i] * factor[r];
            for (int c = 0; c < columns; c++) sum += scores[r * columns + c] * of_v[c * values + d];
            sums[i] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // also where there are no keys
    for (int i = t; i < rows * values; i += group) {
        int r = i / values, d = i % values;
        if (first + r < queries)
            out[((size_t)head * queries + first + r) * values + d] = total[r] == 0 ? 0 : sums[i] / total[r];
    }
}
