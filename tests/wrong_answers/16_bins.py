"""Answers to 16-bins."""

from answers import cut, edit, replace


def as_taught():
    """right"""
    return r"""
__kernel void bins(__global const int *values, __global int *counts, int n)
{
    __local int group_counts[16];
    int l = get_local_id(0);
    if (l < 16)
        group_counts[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_add(&group_counts[(values[i] >> 3) & 15], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        atomic_add(&counts[l], group_counts[l]);
}
"""


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


as_in_python = edit(
    as_taught, "wrong negative-index: round towards zero", replace("(values[i] >> 3) & 15", "values[i] / 8 % 16")
)
half_of_it = edit(
    as_taught, "wrong suspect: -3 / 8 is 0 in C", replace("(values[i] >> 3) & 15", "(values[i] / 8) & 15")
)
absolute = edit(
    as_taught, "wrong suspect: positive counterpart", replace("(values[i] >> 3) & 15", "abs(values[i] / 8) % 16")
)
no_atomic = edit(
    as_taught,
    "wrong race: takes an address",
    replace("atomic_add(&group_counts[(values[i] >> 3) & 15], 1);", "group_counts[(values[i] >> 3) & 15] += 1;"),
)
no_zeros = edit(as_taught, "wrong uninitialised-shared: Who sets the 16", cut("if (l < 16)\n    group_counts[l] = 0;"))
no_first_barrier = edit(
    as_taught,
    "wrong atomic-against-plain: between the zeros",
    cut("barrier(CLK_LOCAL_MEM_FENCE);", after="group_counts[l] = 0;"),
)
no_second_barrier = edit(
    as_taught,
    "wrong atomic-against-plain: A barrier stands between",
    cut("barrier(CLK_LOCAL_MEM_FENCE);", after="& 15], 1);"),
)
one_round = edit(
    as_taught,
    "wrong suspect: goes on",
    replace(
        "for (int i = get_global_id(0); i < n; i += get_global_size(0))",
        "for (int i = get_local_id(0); i < min(n, 64) && get_group_id(0) == 0; i += 64)",
    ),
)
plain_total = edit(
    as_taught,
    "wrong race: A count is loaded and stored",
    replace("atomic_add(&counts[l], group_counts[l]);", "counts[l] += group_counts[l];"),
)
width = edit(as_taught, "wrong suspect: 8 numbers wide", replace("(values[i] >> 3) & 15", "values[i] & 15"))
a_value = edit(
    as_taught,
    "wrong raised-ReadError: takes a pointer",
    replace("&group_counts[(values[i] >> 3) & 15]", "group_counts[(values[i] >> 3) & 15]"),
)
