"""The heart of a compiled loop is found, and read alike on x86-64 and ARM."""

import numpy as np
import pytest
from llvmlite import binding
from numba import njit

from cpulab.measure import hot_loop
from dlkernels.simd import vector_bytes

pytestmark = pytest.mark.quick

X = np.ones(1000, np.float32)


def total(x):
    t = np.float32(0)
    for i in range(x.size):
        t += x[i]
    return t


def scale(x, out):
    for i in range(x.size):
        out[i] = x[i] * np.float32(3)


def running_sum(x, out):
    for i in range(1, x.size):
        out[i] = out[i - 1] + x[i]


def called(function, *arguments, **options):
    compiled = njit(**options)(function)
    compiled(*arguments)
    return compiled


def made_by_amd():
    """Of processors with vectors of 64 bytes, LLVM uses them whole on AMD's; on Intel's it prefers halves."""
    return binding.get_host_cpu_name().startswith("znver")


def test_a_sum_is_vectorised_only_where_its_order_may_change():
    strict = hot_loop(called(total, X))
    free = hot_loop(called(total, X, fastmath={"reassoc"}))
    assert (strict.vectorised, strict.bytes) == (False, 0)
    assert strict.scalar >= 1
    assert (free.vectorised, free.scalar) == (True, 0)
    assert free.bytes == (32 if vector_bytes() == 64 and not made_by_amd() else vector_bytes())


def test_what_depends_on_the_element_before_is_not_vectorised():
    assert hot_loop(called(scale, X, X.copy())).vectorised
    assert not hot_loop(called(running_sum, X, X.copy())).vectorised


def test_it_prints_the_loop_alone():
    lines = str(hot_loop(called(scale, X, X.copy()))).splitlines()
    assert "vectors of" in lines[0]
    assert 5 < len(lines) < 40
    assert not any("cpython" in line or line.strip().startswith(".") for line in lines)


def test_messages():
    with pytest.raises(TypeError, match="function is a function; expected a function compiled"):
        hot_loop(total)
    with pytest.raises(ValueError, match="total was not compiled yet: call it once"):
        hot_loop(njit(total))
    with pytest.raises(ValueError, match="no loop"):
        hot_loop("ret\n")


LOOP = """
target triple = "{triple}"
define float @f(ptr noalias %out, ptr noalias %x, i64 %n) {{
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %from = getelementptr inbounds float, ptr %x, i64 %j
  %to = getelementptr inbounds float, ptr %out, i64 %j
  %y = load float, ptr %from
  %twice = fadd float %y, %y
  {store}
  %more = fadd {fast} float %sum, %y
  %next = add nuw nsw i64 %j, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret float %more
}}
"""
TARGETS = [
    ("aarch64-unknown-linux-gnu", "neoverse-n1", 16),
    ("arm64-apple-macosx14.0", "apple-m1", 16),
    ("x86_64-unknown-linux-gnu", "haswell", 32),
    ("x86_64-apple-macosx14.0", "nehalem", 16),
    ("x86_64-pc-windows-msvc", "skylake-avx512", 32),  # LLVM prefers half of its widest registers there
]


def listing(triple, cpu, **parts):
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(LOOP.format(triple=triple, **parts))
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_assembly(module)


@pytest.mark.parametrize(("triple", "cpu", "size"), TARGETS, ids=[f"{t[0]}-{t[1]}" for t in TARGETS])
def test_all_processors(triple, cpu, size):
    strict = hot_loop(listing(triple, cpu, store="", fast=""))
    assert (strict.vectorised, strict.scalar > 0) == (False, True), strict
    for parts in ({"store": "", "fast": "reassoc"}, {"store": "store float %twice, ptr %to", "fast": "reassoc"}):
        loop = hot_loop(listing(triple, cpu, **parts))
        assert (loop.vectorised, loop.scalar, loop.bytes) == (True, 0, size), loop
