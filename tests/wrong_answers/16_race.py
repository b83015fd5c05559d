"""Answers to 16-race."""

from answers import cut, edit, insert, replace

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


as_handed_out = edit(
    as_taught,
    "wrong race: which of them comes first in a round",
    cut("barrier(CLK_LOCAL_MEM_FENCE);", after="float middle = t[l];"),
)
behind_the_first_load = edit(
    as_taught,
    "wrong race: which of them comes first",
    insert("barrier(CLK_LOCAL_MEM_FENCE);", after="float left = t[max(l - 1, 0)];"),
    cut("barrier(CLK_LOCAL_MEM_FENCE);", after="float middle = t[l];"),
)
no_end = edit(
    as_taught, "wrong race: which of them comes first", cut("barrier(CLK_LOCAL_MEM_FENCE);", after="+ 0.25f * right;")
)
under_an_if = edit(
    as_taught,
    "wrong divergent-barrier: stands under no",
    replace("barrier(CLK_LOCAL_MEM_FENCE);", "if (l < 63) barrier(CLK_LOCAL_MEM_FENCE);", after="float middle = t[l];"),
)
two_rounds = edit(as_taught, "wrong suspect: Two rounds", replace("round < 3;", "round < 2;"))
one_round = edit(as_taught, "wrong suspect: One round", replace("round < 3;", "round < 1;"))
too_many = edit(
    as_taught,
    "wrong replaced: as it was handed out",
    insert("barrier(CLK_LOCAL_MEM_FENCE);", before="float middle = t[l];"),
)
the_store = edit(
    as_taught,
    "wrong line: This is the line of the store",
    replace("smooth(__global", "smooth(__global"),
    claims={"line": 11},
)
after_the_round = edit(
    as_taught,
    "wrong line: All stores of this round",
    replace("smooth(__global", "smooth(__global"),
    claims={"line": 12},
)
before_the_loop = edit(
    as_taught,
    "wrong line: Before the loop all is in order",
    replace("smooth(__global", "smooth(__global"),
    claims={"line": 6},
)
after_one_load = edit(
    as_taught, "wrong line: still loads", replace("smooth(__global", "smooth(__global"), claims={"line": 8}
)
a_word = edit(
    as_taught, "wrong line: whole number", replace("smooth(__global", "smooth(__global"), claims={"line": "ten"}
)
