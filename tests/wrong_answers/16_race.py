"""Answers to 16-race."""

from answers import edit, insert, replace

CLAIMS = {"line": 10}


def as_taught():
    """right"""
    return r"""
__kernel void smooth(__global const float *x, __global float *out)
{
    __local float t[64];
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < 3; round++) {
        float left = t[max(l - 1, 0)];
        float right = t[min(l + 1, 63)];
        float middle = t[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = 0.25f * left + 0.5f * middle + 0.25f * right;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = t[l];
}
"""


def barrier_first():
    """right"""
    return r"""
__kernel void smooth(__global const float *x, __global float *out)
{
    __local float t[64];
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    for (int round = 0; round < 3; round++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0.25f * t[max(l - 1, 0)] + 0.5f * t[l] + 0.25f * t[min(l + 1, 63)];
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = sum;
    }
    out[get_global_id(0)] = t[l];
}
"""


under_an_if = edit(
    as_taught,
    "wrong divergent-barrier: stands under no",
    replace("barrier(CLK_LOCAL_MEM_FENCE);", "if (l < 63) barrier(CLK_LOCAL_MEM_FENCE);", after="float middle = t[l];"),
)
too_many = edit(
    as_taught,
    "wrong replaced: as it was handed out",
    insert("barrier(CLK_LOCAL_MEM_FENCE);", before="float middle = t[l];"),
)
a_word = edit(
    as_taught, "wrong line: whole number", replace("smooth(__global", "smooth(__global"), claims={"line": "ten"}
)
