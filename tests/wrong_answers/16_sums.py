"""Answers to 16-sums."""

from answers import edit, replace

returns = edit(
    "as_taught",
    "wrong barrier-after-exit: brings one that changes no sum",
    replace("part[l] = i < n ? x[i] : 0.0f;", "if (i >= n) return; part[l] = x[i];"),
)
all_add = edit("as_taught", "wrong out-of-bounds: the partner may lie", replace("if (l < d)", "if (1)"))
all_store = edit("as_taught", "wrong race: Which of the two named lines", replace("if (l == 0)", "if (l < 2)"))
no_tree = edit("as_taught", "wrong suspect: Only the first number", replace("int d = 32; d > 0;", "int d = 0; d > 0;"))
neighbours = edit(
    "as_taught",
    "over budget over-budget: neighbours",
    replace(
        "for (int d = 32; d > 0; d >>= 1) {\n    if (l < d)\n        part[l] += part[l + d];",
        "for (int d = 1; d < 64; d <<= 1) {\n    int k = 2 * d * l;\n    if (k < 64)\n        part[k] += part[k + d];",
    ),
)
one_adds = edit(
    "as_taught",
    "over budget over-budget: 6 steps",
    replace("int d = 32; d > 0; d >>= 1", "int d = 63; d > 0; d--"),
    replace("if (l < d)\n    part[l] += part[l + d];", "if (l == 0)\n    part[0] += part[d];"),
)
