// out = a + b: a work-item for each element.
__kernel void add(__global const real *a, __global const real *b, __global real *out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] + b[i];  // the NDRange is rounded up to whole work-groups
}
