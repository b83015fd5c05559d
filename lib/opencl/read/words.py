"""OpenCL's words for what the x-ray says in CUDA's: a work-item for a thread, local for shared memory."""

import re

_CODE = (  # what stands for code, with or without backticks
    (r"cuda\.syncthreads\(\)", "barrier(CLK_LOCAL_MEM_FENCE)"),
    (r"cuda\.syncwarp\(\)", "sub_group_barrier(CLK_LOCAL_MEM_FENCE)"),
    (r"cuda\.threadfence(_block)?\(\)", "mem_fence(CLK_GLOBAL_MEM_FENCE)"),
    (r"cuda\.atomic\.add \(max, min \.\.\.\)", "atomic_add (atomic_max, atomic_min ...)"),
    (r"cuda\.atomic\.add\(flag, 0, 0\)", "atomic_add(flag, 0)"),
    (r"cuda\.atomic\.add\(a, i, 1\)", "atomic_add(&a[i], 1)"),
    (r"cuda\.blockDim\.x", "get_local_size(0)"),
    (r"blockIdx\.x \* blockDim\.x \+ threadIdx\.x", "get_global_id(0)"),
    (r"`if i < x\.shape\[0\]:`", "`if (i < n)`"),
    (r"cuda\.device_array", "A new buffer"),
    (r"Put a barrier of the grid between the two: cuda\.cg\.this_grid\(\)\.sync\(\)\.", "Make it two kernels."),
    (r"numba\.cuda", "OpenCL C"),
)
_WORDS = (
    (r"grid (\d\S*), block (\d\S*)", r"\1 work-groups of \2 work-items"),
    (r"\bshared\b(?! memory)", "local"),
    (r"a grid-stride loop", "a loop in steps of get_global_size(0)"),
    (r"[Ii]n a grid the number of a thread", "the number of a work-item"),
    (r"[Tt]he grid has", "the NDRange has"),
    (r"\bthread blocks?\b", "work-group"),
    (r"\b([Tt])hread(s?)\b", lambda m: f"{'W' if m[1] == 'T' else 'w'}ork-item{m[2]}"),
    (r"\b([Bb])lock(s?)\b", lambda m: f"{'W' if m[1] == 'B' else 'w'}ork-group{m[2]}"),
    (r"\b([Ww])arp(s?)\b", lambda m: f"{'S' if m[1] == 'W' else 's'}ub-group{m[2]}"),
    (r"\blane (\d+)", r"work-item \1 of the sub-group"),
    (r"\blane(s?)\b(?! sect)", r"work-item\1"),  # not the head of a table
    (r"\bshared memory\b", "local memory"),
    (r"\b[Ll]ocal array\b", "private array"),
    (r"\bthe grid\b", "the NDRange"),
    (r"\bgrid\b", "NDRange"),
)


def words(text):
    """A message of the x-ray, in OpenCL's words. What stands between backticks is code, and stays."""
    for pattern, ours in _CODE:
        text = re.sub(pattern, ours, text)
    parts = text.split("`")
    for k in range(0, len(parts), 2):
        for pattern, ours in _WORDS:
            parts[k] = re.sub(pattern, ours, parts[k])
    return "`".join(parts)
