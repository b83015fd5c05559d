// Sums of rows as in sum.cl, for devices with sub-groups: each adds its numbers up without local memory or barrier.
//
// x: (rows, n). out: (rows, parts). NDRange (parts * GROUP, rows). shared: a number for each sub-group.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

__kernel void sum_parts(__global const real *x, __global real *out, int n,
                        int parts, int length, __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0);
    int part = get_group_id(0), row = get_global_id(1);
    int last = min(n, (part + 1) * length);
    __global const real *line = x + (size_t)row * n;
    real total = 0;
    for (int i = part * length + t; i < last; i += group)
        total += line[i];
    total = sub_group_reduce_add(total);
    if (get_sub_group_local_id() == 0) shared[get_sub_group_id()] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t > 0) return;
    for (int k = 1; k < get_num_sub_groups(); k++) total += shared[k];
    out[row * parts + part] = total;
}
