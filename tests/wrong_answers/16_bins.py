"""Answers to 16-bins."""

from answers import edit, replace


def with_while():
    """right"""
    return r"""
__kernel void bins(__global const int *values, __global int *counts, int n)
{
    __local int group_counts[16];
    const int t = get_local_id(0);
    if (t < 16)
        group_counts[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int i = get_group_id(0) * get_local_size(0) + t;
    while (i < n) {
        int v = values[i], q = v / 8;
        if (v % 8 < 0)
            q--;
        q %= 16;
        if (q < 0)
            q += 16;
        atomic_inc(group_counts + q);
        i += get_num_groups(0) * get_local_size(0);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 16)
        atomic_add(counts + t, group_counts[t]);
}
"""


absolute = edit(
    "as_taught", "wrong suspect: positive counterpart", replace("(values[i] >> 3) & 15", "abs(values[i] / 8) % 16")
)
one_round = edit(
    "as_taught",
    "wrong suspect: goes on",
    replace(
        "for (int i = get_global_id(0); i < n; i += get_global_size(0))",
        "for (int i = get_local_id(0); i < min(n, 64) && get_group_id(0) == 0; i += 64)",
    ),
)
a_value = edit(
    "as_taught",
    "wrong raised-ReadError: takes a pointer",
    replace("&group_counts[(values[i] >> 3) & 15]", "group_counts[(values[i] >> 3) & 15]"),
)
