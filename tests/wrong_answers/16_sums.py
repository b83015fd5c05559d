"""Answers to 16-sums."""

from answers import cut, edit, replace


def as_taught():
    """right"""
    return r"""
__kernel void sums(__global const float *x, __global float *out, int n)
{
    __local float part[64];
    int l = get_local_id(0);
    int i = get_global_id(0);
    part[l] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d >>= 1) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
"""


def first_to_last():
    """right"""
    return r"""
#define SIZE 64

__kernel void sums(__global const float *x, __global float *out, int n)
{
    __local float part[SIZE];
    uint l = get_local_id(0);
    part[l] = 0;
    if (get_global_id(0) < n)
        part[l] = x[get_global_id(0)];
    for (uint d = SIZE / 2; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            part[l] = part[l] + part[l + d];
    }
    if (!l)
        out[get_group_id(0)] = *part;
}
"""


no_first_barrier = edit(
    as_taught,
    "wrong race: Between a store to local memory and the load",
    cut("barrier(CLK_LOCAL_MEM_FENCE);", after="x[i] : 0.0f;"),
)
no_barrier_in_the_tree = edit(
    as_taught, "wrong race: one for each step", cut("barrier(CLK_LOCAL_MEM_FENCE);", after="part[l] += part[l + d];")
)
barrier_under_if = edit(
    as_taught,
    "wrong barrier-after-exit: outside of each",
    replace(
        "if (l < d)\n    part[l] += part[l + d];\nbarrier(CLK_LOCAL_MEM_FENCE);",
        "if (l < d) {\n    part[l] += part[l + d];\n    barrier(CLK_LOCAL_MEM_FENCE);\n}",
    ),
)
returns = edit(
    as_taught,
    "wrong barrier-after-exit: brings one that changes no sum",
    replace("part[l] = i < n ? x[i] : 0.0f;", "if (i >= n) return; part[l] = x[i];"),
)
no_guard = edit(as_taught, "wrong out-of-bounds: have no number", replace("i < n ? x[i] : 0.0f", "x[i]"))
nothing_beyond = edit(
    as_taught,
    "wrong uninitialised-shared: put there",
    replace("part[l] = i < n ? x[i] : 0.0f;", "if (i < n) part[l] = x[i];"),
)
half = edit(as_taught, "wrong suspect: With which distance", replace("int d = 32;", "int d = 16;"))
stops_early = edit(as_taught, "wrong suspect: The last step is missing", replace("d > 0;", "d > 1;"))
all_add = edit(as_taught, "wrong out-of-bounds: the partner may lie", replace("if (l < d)", "if (1)"))
all_store = edit(as_taught, "wrong race: Which of the two named lines", replace("if (l == 0)", "if (l < 2)"))
no_tree = edit(as_taught, "wrong suspect: Only the first number", replace("int d = 32; d > 0;", "int d = 0; d > 0;"))
neighbours = edit(
    as_taught,
    "over budget over-budget: neighbours",
    replace(
        "for (int d = 32; d > 0; d >>= 1) {\n    if (l < d)\n        part[l] += part[l + d];",
        "for (int d = 1; d < 64; d <<= 1) {\n    int k = 2 * d * l;\n    if (k < 64)\n        part[k] += part[k + d];",
    ),
)
one_adds = edit(
    as_taught,
    "over budget over-budget: 6 steps",
    replace("int d = 32; d > 0; d >>= 1", "int d = 63; d > 0; d--"),
    replace("if (l < d)\n    part[l] += part[l + d];", "if (l == 0)\n    part[0] += part[d];"),
)
