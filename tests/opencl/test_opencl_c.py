"""OpenCL C that is read and run without an OpenCL: values, places in the text, what is refused, in which words."""

import ast

import numpy as np
import pytest
from read_zoo import LOCAL, ZOO, N, make

from coursework import definition
from opencl.read import LocalMemory, Program, ReadError
from opencl.read.words import words

ITEMS = 4


def out_of(body, head="", items=ITEMS, local=None, kind="float", arguments=(), parameters=""):
    """What work-items write into `out`, which has an element for each."""
    text = (
        f"{head}\n__kernel void k({parameters}__global {kind} *out)\n{{\n    int i = get_global_id(0);\n    {body}\n}}"
    )
    out = np.zeros(items, {"float": np.float32, "double": np.float64}.get(kind, f"{kind}32" if kind == "int" else kind))
    Program(text).run("k", items, local or items)(*arguments, out)
    return out.tolist()


# body -> out of four work-items (i is the work-item's number)
INTEGERS = {
    "out[i] = -7 / (i + 1);": [-7, -3, -2, -1],
    "out[i] = -7 % (i + 2);": [-1, -1, -3, -2],
    "out[i] = -20 >> i;": [-20, -10, -5, -3],
    "out[i] = 2147483647 + i;": [2147483647, -2147483648, -2147483647, -2147483646],
    "out[i] = 1 << (i + 31);": [-2147483648, 1, 2, 4],
    "uint u = i; out[i] = (u - 1) / 1000000000u;": [4, 0, 0, 0],
    "uchar c = 250; c += 3 * i; out[i] = c;": [250, 253, 0, 3],
    "char c = 127 + i; out[i] = c;": [127, -128, -127, -126],
    "out[i] = (i - 1 < 0u);": [0, 0, 0, 0],
    "out[i] = (-1 < i) + (i == 2 ? 10 : 0);": [1, 1, 11, 1],
    "ulong u = i; out[i] = (u - 1) >> 60;": [15, 0, 0, 0],
    "ulong u = i; out[i] = (u - 1) % 10;": [5, 0, 1, 2],
    "long v = 3000000000; out[i] = (int)(v * i >> 8);": [0, 11718750, 23437500, 35156250],
    "out[i] = 0x10 + 010 + 'a';": [121] * 4,
    "out[i] = (int)(-2.75f * i);": [0, -2, -5, -8],
    "out[i] = popcount(7 * i) + clz(i);": [32, 34, 33, 33],
    "out[i] = abs(i - 2) + max(i, 2) * min(i, 1) + clamp(i, 1, 2);": [3, 4, 4, 6],
    "int n = 0; for (int k = i; k < 6; k += 2) n += k; out[i] = n;": [6, 9, 6, 8],
    "int n = 0; for (int k = 3; k >= i; --k) { if (k == 2) continue; n = n * 10 + k; } out[i] = n;": [310, 31, 3, 3],
    "int n = 0, k = 0; while (1) { k++; if (k > 2 * i) break; n += k; } out[i] = n;": [0, 3, 10, 21],
    "int n = 0, k = 0; do { k++; if (k == 2) continue; n += k; } while (k < i); out[i] = n;": [1, 1, 1, 4],
    "int a = 0, b = 0; a = b = i; { int a = 5; b += a; } out[i] = 10 * a + b;": [5, 16, 27, 38],
    "out[i] = sizeof(float) + sizeof(int4) + get_global_size(0) + get_num_groups(0);": [25] * 4,
    "switch (i) { case 0: case 3: out[i] = 5; break; case 1: { out[i] = 6; break; } default: out[i] = 7; break; }": [
        5,
        6,
        7,
        5,
    ],
    "int n = 0; for (int k = 0; k < 5; k++) { switch (k) { case 1: continue; case 4: return; } n += k; out[i] = n; }": [
        5
    ]
    * 4,
    "int a[2][3] = {{1, 2}, {4}}; out[i] = a[0][1] + a[0][2] + a[1][i % 3];": [6, 2, 2, 6],
    "int4 v = (int4)(1, 2, 3, 4); v.xw = v.wx; out[i] = i == 0 ? v.x : i == 1 ? v.s1 : i == 2 ? v.z : v.w;": [
        4,
        2,
        3,
        1,
    ],
}
FLOATS = {
    "out[i] = 1.0f / (i + 1) > 0.3f && i != 1;": [1, 0, 1, 0],
    "out[i] = ((float4)(1.5f)).w + dot((float2)(i, 2), (float2)(3, 4));": [9.5, 12.5, 15.5, 18.5],
    "out[i] = fma(2.0f, i, 1) + mad(1.0f, 2.0f, 3.0f);": [6, 8, 10, 12],
    "out[i] = fmax(i - 2, NAN) + fmin(1, 2);": [-1, 0, 1, 2],
    "out[i] = select(1.0f, 2.0f, i > 1) + mix(0.0f, 4.0f, 0.25f);": [2, 2, 3, 3],
    "out[i] = i == 1 ? INFINITY : native_sqrt(4.0f * i * i);": [0, float("inf"), 4, 6],
    "out[i] = convert_float(7) / 2 + isnan(NAN) + floor(-0.5f);": [3.5] * 4,
}


@pytest.mark.parametrize(("body", "expected"), INTEGERS.items())
def test_integers(body, expected):
    assert out_of(body, kind="int") == expected


@pytest.mark.parametrize(("body", "expected"), FLOATS.items())
def test_floats(body, expected):
    assert out_of(body) == expected


def test_float_stays_float_and_double_is_double():
    assert out_of("out[i] = 16777216.0f + 1;") == [16777216.0] * 4
    assert out_of("out[i] = 16777216.0 + 1;", kind="double") == [16777217.0] * 4


def test_pointers_move_within_their_array():
    a = np.arange(10, dtype=np.float32)
    body = "__global const float *p = a + i; float s = *p; p += 2; p++; s += p[1] + *(p - 1) + (p - a); out[i] = s;"
    expected = [i + (i + 4) + (i + 2) + i + 3 for i in range(4)]
    assert out_of(body, parameters="__global const float *a, ", arguments=(a,)) == expected


def test_functions_constants_and_macros():
    head = """\
#define N 3
#define AT(r, c) ((r) * N + (c))
#define REAL float
__constant REAL weights[N] = {0.5f, -1, 4};
enum { FIRST, OFFSET = 100, AFTER };
REAL weighted(__global const REAL *x, int i)
{
    if (i > 2)
        return OFFSET;
    x += AT(0, i);
    return weights[i] * *x + (AFTER - 101) + FIRST;
}
"""
    x = np.array([2, 3, 4, 5], np.float32)
    body = "out[i] = weighted(x, i);"
    assert out_of(body, head, parameters="__global const REAL *x, ", arguments=(x,)) == [1, -3, 16, 100]


def test_macros_within_macros():
    head = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define AT(i) out[i]"
    assert out_of("AT(i) = MAX(MAX(i, 2), MAX(AT(i), 1));", head) == [2, 2, 2, 3]
    with pytest.raises(ReadError, match="the macro LOOP uses itself"):
        out_of("out[i] = LOOP;", "#define LOOP (LOOP + 1)")


def test_vectors_in_memory():
    a = np.arange(16, dtype=np.float32)
    body = (
        "float4 v = a[i] * 2.0f; v += (float4)(1, 0, 0, 0); vstore4(v, 0, b + 4 * i); out[i] = vload2(1, b + 4 * i).y;"
    )
    b = np.zeros(16, np.float32)
    got = out_of(body, parameters="__global const float4 *a, __global float *b, ", arguments=(a, b))
    assert b.tolist() == [2 * v + (k % 4 == 0) for k, v in enumerate(a)]
    assert got == b[3::4].tolist()


def test_local_memory_that_the_host_gives():
    text = """\
__kernel void k(__global const int *a, __global int *out, __local int *s)
{
    s[get_local_id(0)] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        for (int i = 0; i < get_local_size(0); i++)
            out[get_group_id(0)] += s[i];
}
"""
    out = np.zeros(2, np.int32)
    Program(text).run("k", 8, 4)(np.arange(8, dtype=np.int32), out, LocalMemory(16))
    assert out.tolist() == [6, 22]
    with pytest.raises(ReadError, match=r"local memory: a LocalMemory\(bytes\) was expected"):
        Program(text).run("k", 8, 4)(np.arange(8, dtype=np.int32), out, 4)


@pytest.mark.parametrize("kind", ["float", "int"])
@pytest.mark.parametrize("items", [64, 32, 40, 7, 1])
def test_sub_groups(items, kind):
    text = f"""\
__kernel void k(__global const {kind} *a, __global {kind} *out)
{{
    int i = get_local_id(0), n = get_local_size(0);
    out[i] = sub_group_reduce_add(a[i]);
    out[n + i] = sub_group_scan_inclusive_add(a[i]);
    out[2 * n + i] = sub_group_scan_exclusive_add(a[i]);
    out[3 * n + i] = sub_group_reduce_max(a[i]);
    out[4 * n + i] = sub_group_reduce_min(a[i]);
    out[5 * n + i] = sub_group_broadcast(a[i], 0) + get_sub_group_size();
}}
"""
    dtype = {"float": np.float32, "int": np.int32}[kind]
    a = np.random.default_rng(items).integers(-50, 50, items).astype(dtype)
    out = np.zeros((6, items), dtype)
    assert Program(text).xray("k", items, items)(a, out).ok
    for first in range(0, items, 32):
        part, got = a[first : first + 32], out[:, first : first + 32]
        sums = np.cumsum(part)
        expected = [sums[-1], sums, sums - part, part.max(), part.min(), part[0] + len(part)]
        for row, one in zip(got, expected, strict=True):
            assert (row == one).all()


# what is refused: text -> (line, words)
REFUSED = {
    "kernel void k(__global int *a) {\n a[0] = 1\n}": (3, "stumbles at `}`"),
    "kernel void k(__global int *a) {\n int i = get_globl_id(0);\n}": (2, "Did you mean 'get_global_id'?"),
    "kernel void k(__global int *a) {\n a[0] = b;\n}": (2, "'b' is not declared"),
    "kernel void k(__global const int *a) {\n a[0] = 1;\n}": (2, "can be read only"),
    "kernel void k(\n int *a) { a[0] = 1; }": (2, "needs an address space. __global int *a"),
    "kernel void k(__global int *a) { int i = 0;\n a[i++] = 1; }": (2, "a statement of its own"),
    "kernel void k(__global int *a) { int i;\n a[0] = i = 1; a[i = 2] = 0; }": (2, "Give it a line of its own"),
    "kernel void k(__global int *a) {\n a[1.5f] = 1; }": (2, "a whole number, and this is a float"),
    "kernel void k(__global int *a) { switch (1) {\n case 1: a[0] = 1; case 2: break; } }": (
        2,
        "goes on into the next",
    ),
    "kernel void k(__global int *a) {\n goto x; x: a[0] = 1; }": (2, "goto is not read"),
    "kernel void k(__global int *a) {\n struct { int x; } y; }": (2, "Take an array for each member"),
    'kernel void k(__global int *a) {\n printf("%d", a[0]); }': (2, "text is not read here"),
    "kernel void k(__global half *a) { }": (1, "the type half"),
    "kernel void k(__global int **a) { }": (1, "Give the kernel a flat array"),
    "kernel void k(__global int *a) {\n barrier(0); }": (2, "CLK_LOCAL_MEM_FENCE"),
    "kernel void k(__global int *a) { __local int t[4][4];\n a[0] = t[1]; }": (2, "give all indices"),
    "kernel void k(__global int *a) {\n __local int t[get_local_size(0)]; }": (2, "known before the kernel runs"),
    "kernel void k(__global float *a) {\n atomic_add(a, 1.0f); }": (2, "works on int and uint"),
    "kernel void k(__global int *a) { __global int *p = a;\n p = (__global int *)(a + 1); p = 3; }": (
        2,
        "gets a pointer",
    ),
    "#include <x>\nkernel void k(__global int *a) { }": (1, "#include is not read"),
    "int f(int i) {\n return f(i); }\nkernel void k(__global int *a) { a[0] = f(1); }": (2, "calls itself"),
    "kernel int k(__global int *a) { return 1; }": (1, "a kernel returns nothing"),
    "kernel void k(__global int *a) {\n int i = 1; int i = 2; }": (2, "declared twice"),
    "kernel void k(__global int *a) {\n a[0] = 1 / 0; }": (2, "division by zero"),
    "kernel void k(__global int *a) { int x;\n while (sub_group_reduce_add(1) > 2) x = 1; }": (2, "a line of its own"),
    "kernel void k(__global int *a) { __local int t[4]; t[0] = 1;\n barrier(CLK_GLOBAL_MEM_FENCE); a[0] = t[0]; }": (
        2,
        "orders global memory alone",
    ),
    "void f(__global int *a) { }": (0, "A kernel begins with __kernel void"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_what_is_refused_has_its_line_and_a_cure(text, said):
    with pytest.raises(ReadError) as caught:
        Program(text).run("k", 1, 1)(np.zeros(4, np.float32 if "float" in text else np.int32))
    line, what = said
    assert caught.value.line == line, str(caught.value)
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (np.zeros(4, np.float64), "An array of float32 is needed"),
        ([1.0], "and a list came"),
        (np.zeros((4, 4), np.float32).T[::2], "one piece of memory"),
    ],
)
def test_arguments_are_looked_at(argument, said):
    with pytest.raises(ReadError, match=said):
        Program("kernel void k(__global float *a) { a[0] = 1; }").run("k", 1, 1)(argument)


def test_a_work_group_size_must_divide():
    program = Program("kernel void k(__global float *a) { a[0] = 1; }")
    with pytest.raises(ReadError, match="64 does not divide the global size 100"):
        program.run("k", 100, 64)(np.zeros(4, np.float32))
    with pytest.raises(ReadError, match="takes 1 arguments"):
        program.run("k", 64, 64)()
    with pytest.raises(ReadError, match="The program has: k"):
        program.kernel("other")


@pytest.mark.parametrize("name", ZOO)
def test_the_xray_finds_each_fault_at_its_line(name):
    text, sizes, fault = ZOO[name]
    report = Program(text).xray(Program(text).kernels[0], N, LOCAL)(*make(sizes))
    if fault is None:
        assert report.ok, report
        return
    kind, line = fault
    (finding,) = report.findings
    assert kind in finding.kind
    assert line in finding.lines
    assert finding.text in text
    said = words(f"{finding.message} {finding.cure}")
    for word in ("cuda.", "thread", "block", "warp", "shared", "lane"):
        assert word not in said.lower().replace("work-group", ""), said


def test_counts_are_of_the_text_s_expressions():
    text = """\
__kernel void columns(__global const float *a, __global float *out)
{
    __local float tile[32][32];
    int x = get_local_id(0);
    for (int y = 0; y < 32; y++)
        tile[x][y] = a[y * 32 + x];
    out[x * 32] = tile[x][0];
}
"""
    a = np.zeros(1024, np.float32)
    report = Program(text).xray("columns", 32, 32)(a, a.copy())
    rows = {e.text: e for e in report.expressions}
    assert set(rows) == {"tile[x][y]", "a[y * 32 + x]", "tile[x][0]", "out[x * 32]"}
    report.require(expression="a[y * 32 + x]", sectors_per_request=4)
    assert rows["tile[x][y]"].line == 6
    assert "32" in str(report)
    with pytest.raises(Exception, match="bank"):
        report.require(bank_ways=1)


@pytest.mark.slow
def test_the_compiled_engine_takes_it_at_real_size():
    text, sizes, _ = ZOO["right: turned"]
    looked, counted = (Program(text).xray("turned", N, LOCAL, engine=e)(*make(sizes)) for e in ("executor", "compiled"))
    rows = [
        [line for line in str(report).splitlines() if " load " in line or " store " in line]
        for report in (looked, counted)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 4
    report = Program(ZOO["no barrier"][0]).xray("turned", N, LOCAL, engine="compiled")(*make(sizes))
    assert report.races


def test_an_endless_loop_is_told_at_its_line():
    import simt

    text = "kernel void k(__global int *a)\n{\n    int i = 0;\n    while (i < 4)\n        a[0] = i;\n}"
    with simt.budget(1000, 1000), pytest.raises(simt.TooManyIterations) as caught:
        Program(text).run("k", 1, 1)(np.zeros(1, np.int32))
    assert caught.value.line == 4


def test_words_leave_code_alone():
    assert words("`block[thread]`: thread 3 of block 0") == "`block[thread]`: work-item 3 of work-group 0"


def test_the_tasks_texts_name_their_arguments_as_the_specification_does():
    import inspect
    import json
    import re
    from pathlib import Path

    from coursework.kinds.opencl import OpenCLTask

    notebook = json.loads((Path(__file__).parents[2] / "solutions/16_opencl.ipynb").read_text("utf-8"))
    cells = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    for task in definition.of_chapter("16"):
        if isinstance(task, OpenCLTask):
            answer = cells[task.id].split("### BEGIN SOLUTION")[1]
            text = ast.literal_eval(re.search(r'r("""[\s\S]*?""")', answer)[1])
            names = [name for name, _ in Program(text).parameters(task.kernel)]
            assert names == list(inspect.signature(task.spec).parameters), task.id
