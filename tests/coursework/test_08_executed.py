"""What a compiled function multiplies and loads is counted alike on all processors."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import binding
from numba import njit

from coursework import executed

# What each order of loops and each register tile costs in memory accesses per vector multiply, by counting.
FUNCTIONS = """
import json
import numpy as np
from numba import njit, prange
from coursework import executed

@njit
def ikj(a, b, out):
    out[:] = 0
    for i in range(out.shape[0]):
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, p] * b[p, j]

@njit
def ijk(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total

@njit
def jki(a, b, out):
    out[:] = 0
    for j in range(out.shape[1]):
        for p in range(a.shape[1]):
            for i in range(out.shape[0]):
                out[i, j] += a[i, p] * b[p, j]

@njit(fastmath=True)
def ijk_reordered(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total

@njit
def four_steps(a, b, out):
    k = a.shape[1]
    out[:] = 0
    for i in range(out.shape[0]):
        for p in range(0, k - k % 4, 4):
            x0, x1, x2, x3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
            for j in range(out.shape[1]):
                out[i, j] += x0 * b[p, j] + x1 * b[p + 1, j] + x2 * b[p + 2, j] + x3 * b[p + 3, j]

@njit(parallel=True)
def in_two_threads(a, b, out):
    for i in prange(out.shape[0]):
        out[i] = 0
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, p] * b[p, j]

@njit
def four_rows(a, b, out):
    out[:] = 0
    for i in range(0, out.shape[0] - 3, 4):
        for p in range(a.shape[1]):
            x0, x1, x2, x3 = a[i, p], a[i + 1, p], a[i + 2, p], a[i + 3, p]
            for j in range(out.shape[1]):
                y = b[p, j]
                out[i, j] += x0 * y
                out[i + 1, j] += x1 * y
                out[i + 2, j] += x2 * y
                out[i + 3, j] += x3 * y

def arguments():
    return np.ones((24, 36), np.float32), np.ones((36, 80), np.float32), np.zeros((24, 80), np.float32)

found = {f.__name__: executed.of(executed.compiled(f, arguments()), arguments())[0] for f in (ikj, ijk, jki, ijk_reordered, four_steps, four_rows, in_two_threads)}
print(json.dumps(found))
"""


@pytest.mark.rotates
@pytest.mark.skipif(not binding.get_process_triple().startswith("x86_64"), reason="names of x86-64 processors")
@pytest.mark.parametrize(
    "cpu",
    [
        "",
        "x86-64",
        "skylake-avx512",
        pytest.param("nehalem", marks=pytest.mark.slow),
        pytest.param("haswell", marks=pytest.mark.slow),
    ],
)
def test_same_counts_on_every_processor(cpu):
    named = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": ""} if cpu else {}
    done = subprocess.run(
        [sys.executable, "-c", FUNCTIONS], env=os.environ | named, capture_output=True, text=True, check=True
    )
    costs = json.loads(done.stdout)
    for name, accesses in {"ikj": 3, "four_steps": 1.5, "four_rows": 2.25, "in_two_threads": 3}.items():
        assert costs[name] == {"scalar_share": 0, "accesses_per_multiply": accesses, "multiplies": 24 * 36 * 80}
    assert costs["ijk"]["scalar_share"] == 1
    assert costs["jki"]["scalar_share"] == 1
    reordered = costs["ijk_reordered"]  # vectors filled element by element, if at all
    assert reordered["scalar_share"] > 0.25 or reordered["accesses_per_multiply"] > 4


ROW = """
define void @row(ptr noalias %out, ptr noalias %b, float %x, i64 %n) {
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %away = mul nuw nsw i64 %j, STRIDE
  %at = getelementptr inbounds float, ptr %b, i64 %away
  %to = getelementptr inbounds float, ptr %out, i64 PLACE
  %y = load float, ptr %at
  %old = load float, ptr %to
  %product = fmul FAST float %x, %y
  %sum = fadd FAST float %old, %product
  store float %sum, ptr %to
  %next = add nuw nsw i64 %j, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
"""


# One sum of products of neighbours: a row of a and a row of b turned over beforehand.
SUM = """
define float @sum(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %old = phi float [ 0.0, %entry ], [ %sum, %loop ]
  %at = getelementptr inbounds float, ptr %a, i64 %j
  %to = getelementptr inbounds float, ptr %b, i64 %j
  %x = load float, ptr %at
  %y = load float, ptr %to
  %product = fmul FAST float %x, %y
  %sum = fadd FAST float %old, %product
  %next = add nuw nsw i64 %j, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret float %sum
}
"""


def optimised(triple, cpu, ir):
    """The text of a module after numba's optimisations for that processor."""
    binding.initialize_all_targets()
    module = binding.parse_assembly(f'target triple = "{triple}"\n{ir}')
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


def costs_of_a_round(text):
    """Of the loop that runs for most of a long row: the vectorised one where there is one."""
    labels = [block.label for block in executed.blocks(text)]
    hot = "vector.body" if "vector.body" in labels else "loop"
    assert labels.count(hot) == 1
    return executed.costs(text, [label == hot for label in labels])


TARGETS = [
    ("aarch64-unknown-linux-gnu", "neoverse-n1"),
    ("arm64-apple-macosx14.0", "apple-m1"),
    ("x86_64-unknown-linux-gnu", "haswell"),
    ("x86_64-unknown-linux-gnu", "skylake-avx512"),
    ("x86_64-apple-macosx14.0", "haswell"),
    ("x86_64-pc-windows-msvc", "haswell"),
]


def row(stride, place, fast):
    return ROW.replace("STRIDE", stride).replace("PLACE", place).replace("FAST", fast)


@pytest.mark.parametrize(("triple", "cpu"), TARGETS)
@pytest.mark.parametrize("fast", ["", "fast"])
def test_a_row_costs_three_accesses_on_every_processor(triple, cpu, fast):
    found = costs_of_a_round(optimised(triple, cpu, row("1", "%j", fast)))
    assert (found["scalar_share"], found["accesses_per_multiply"]) == (0, 3)
    assert found["multiplies"] >= 4


@pytest.mark.parametrize(("triple", "cpu"), TARGETS)
@pytest.mark.parametrize("fast", ["", "fast"])
def test_a_sum_down_a_column_is_over_the_budget_on_every_processor(triple, cpu, fast):
    """The inner loop of ijk: some processors multiply vectors there, but must fill them one by one."""
    found = costs_of_a_round(optimised(triple, cpu, row("1000", "0", fast)))
    assert found["scalar_share"] > 0.25 or found["accesses_per_multiply"] > 3


@pytest.mark.parametrize(("triple", "cpu"), TARGETS)
def test_a_sum_along_a_row_adds_one_by_one_on_every_processor(triple, cpu):
    """Arm processors may multiply vectors there, but must add in the order of the loop."""
    found = costs_of_a_round(optimised(triple, cpu, SUM.replace("FAST", "")))
    assert found["scalar_share"] >= 0.5
    reordered = costs_of_a_round(optimised(triple, cpu, SUM.replace("FAST", "fast")))
    assert (reordered["scalar_share"], reordered["accesses_per_multiply"]) == (0, 2)


def test_a_product_made_by_a_library_counts_as_scalar():
    text = "define void @f() {\nentry:\n  call void @sgemm()\n  ret void\n}\n"
    assert executed.costs(text, [0, 1]) == {"scalar_share": 1, "accesses_per_multiply": 0, "multiplies": 0}


@pytest.mark.parametrize(
    ("instruction", "multiplies"),
    [
        ("%z = tail call float @llvm.exp.f32(float %x)", 1),
        ("%z = tail call fast double @llvm.pow.f64(double %x, double %y)", 1),
        ("%z = call float @hypotf(float %x, float %y), !noalias !0", 1),
        ("%z = call <8 x float> @llvm.log.v8f32(<8 x float> %x)", 8),
        ("%z = fptosi float %x to i64", 1),
        ("%z = tail call float @llvm.fabs.f32(float %x)", 0),
        ("%z = tail call double @floor(double %x)", 0),
        ("%z = tail call fast float @llvm.vector.reduce.fadd.v8f32(float %x, <8 x float> %y)", 0),
    ],
)
def test_functions_that_can_make_a_product_are_multiplications(instruction, multiplies):
    text = f"define void @f() {{\nentry:\n  {instruction}\n  ret void\n}}\n"
    assert executed.costs(text, [0, 1])["multiplies"] == multiplies


def test_accesses_with_a_mask_and_those_beside_additions_are_accesses():
    body = """define void @f() {
product:
  %p = fmul <8 x float> %x, %y
  store <8 x float> %p, ptr %t, align 4
sum:
  %a = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %o, i32 4, <8 x i1> %m, <8 x float> poison)
  %s = fadd <8 x float> %a, %p
  call void @llvm.masked.store.v8f32.p0(<8 x float> %s, ptr %o, i32 4, <8 x i1> %m)
copy:
  store <8 x float> %s, ptr %o, align 4
"""
    assert executed.costs(body, [0, 1, 1, 1])["accesses_per_multiply"] == 3


def test_products_of_integers_that_become_floating_point_numbers_are_multiplications():
    @njit
    def by_integers(x, w, out):
        pixels, weights = np.empty(x.size, np.int64), np.empty(w.size, np.int64)
        for i in range(x.size):
            pixels[i] = int(x[i])
        for k in range(w.size):
            weights[k] = int(w[k])
        for i in range(out.size):
            total = 0
            for k in range(w.size):
                total += pixels[i + k] * weights[k]
            out[i] = total

    @njit
    def of_indices(x, w, out):
        for i in range(out.size):
            out[i] = float(x.size)

    arguments = np.arange(102.0), np.arange(3.0), np.zeros(100)
    assert executed.of(executed.compiled(by_integers, arguments), arguments)[0]["multiplies"] >= 300
    assert executed.of(executed.compiled(of_indices, arguments), arguments)[0]["multiplies"] == 0
