// Sums of rows: a work-group for each part of a row, a tree in local memory.
//
// x: (rows, n). out: (rows, parts). NDRange (parts * GROUP, rows).
// shared: GROUP numbers, GROUP a power of two.
__kernel void sum_parts(__global const real *x, __global real *out, int n,
                        int parts, int length, __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0);
    int part = get_group_id(0), row = get_global_id(1);
    int last = min(n, (part + 1) * length);
    __global const real *line = x + (size_t)row * n;
    real total = 0;
    for (int i = part * length + t; i < last; i += group)
        total += line[i];  // neighbours read neighbours
    shared[t] = total;
    for (int reach = group / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < reach) shared[t] += shared[t + reach];
    }
    if (t == 0) out[row * parts + part] = shared[0];
}
