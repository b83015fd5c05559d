"""What the compiler made of the loops of a numba function: are they vectorised, and how often do they go to memory?

Read from the machine code's text, not from a clock, so that the verdict is the same on every machine: x86-64 with
SSE, AVX or AVX-512, and ARM with NEON. The ratio of memory accesses to multiplies does not depend on the width of a
vector, nor on how often LLVM unrolls a loop.
"""

import re
from contextlib import contextmanager
from dataclasses import dataclass

GATHERED = 8  # a gather fetches its numbers one by one, whatever its width: counted as this many accesses

# One instruction, as LLVM prints it for x86-64 (AT&T), for ARM on Linux and for ARM on macOS.
_COMMENT = re.compile(r"\s(#|//|;).*")
_JUMP = re.compile(r"(?:j\w+|b|b\.\w+|cbn?z|tbn?z)\s(?:.*[\s,])?([.\w$]+)$")
_VECTOR_MULTIPLY = re.compile(
    r"v?mulp[sd]\s|vfn?m(?:add|sub)\d+p[sd]\s"
    r"|(?:fmul|fml[as])(?:\.[24][sd]\s|\s+v\d+\.[24][sd])"
)
_SCALAR_MULTIPLY = re.compile(r"v?muls[sd]\s|vfn?m(?:add|sub)\d+s[sd]\s|fn?m(?:ul|add|sub)\s+[sd]\d")
_X86_ACCESS = re.compile(r"\w+\s.*\(.*\).*%[xyz]mm|\w+\s.*%[xyz]mm.*\(")
_ARM_ACCESS = re.compile(r"(?:ldu?r|stu?r|ld[1-4]r?|st[1-4]|ldp|stp)[.\w]*\s+\{?\s*[sdqv]\d")


@dataclass(frozen=True)
class Loop:
    """An innermost loop: how many of its instructions multiply, and how many accesses of vectors to memory it makes."""

    vector_multiplies: int
    scalar_multiplies: int
    accesses: int


def loops(text):
    """The innermost loops of an assembly listing, as `Loop`s."""
    lines = [_COMMENT.sub("", line).strip() for line in text.splitlines()]
    label = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    spans = set()
    for i, line in enumerate(lines):
        jump = _JUMP.match(line)
        if jump and label.get(jump[1], i) < i:  # backwards: a loop ends here
            spans.add((label[jump[1]], i))
    inner = [s for s in spans if not any(s[0] <= t[0] and t[1] <= s[1] and t != s for t in spans)]
    return [_loop(lines[first : last + 1]) for first, last in sorted(inner)]


def _loop(lines):
    return Loop(
        sum(bool(_VECTOR_MULTIPLY.match(line)) for line in lines),
        sum(bool(_SCALAR_MULTIPLY.match(line)) for line in lines),
        sum(map(_accesses, lines)),
    )


def _accesses(line):
    if "gather" in line:
        return GATHERED
    if _ARM_ACCESS.match(line):
        return 2 if line.startswith(("ldp", "stp")) else 1  # a pair of registers
    return int(bool(_X86_ACCESS.match(line)))


def costs(text):
    """{"scalar_loops": ..., "accesses_per_multiply": ...} of an assembly listing.

    scalar_loops: 0 if a loop multiplies whole vectors (what is left over at its end may go one by one), else the number
    of loops that multiply, at least 1. accesses_per_multiply: of the loop that goes to memory least.
    """
    found = loops(text)
    ratios = [loop.accesses / loop.vector_multiplies for loop in found if loop.vector_multiplies]
    if ratios:
        return {"scalar_loops": 0, "accesses_per_multiply": round(min(ratios), 3)}
    return {
        "scalar_loops": sum(loop.scalar_multiplies > 0 for loop in found) or 1,
        "accesses_per_multiply": 0,
    }


def of(function, arguments):
    """The assembly of a numba function for arguments such as these, compiled anew for this machine."""
    from numba import njit, typeof

    options = {k: v for k, v in function.targetoptions.items() if k in ("parallel", "fastmath", "nogil")}
    fresh = njit(**options)(function.py_func)
    with _no_version_for_special_strides():
        fresh.compile(tuple(map(typeof, arguments)))
    return fresh.inspect_asm(fresh.signatures[0])


@contextmanager
def _no_version_for_special_strides():
    """LLVM also vectorises a loop down a column, for the case that rows have one element: that is not meant here."""
    from llvmlite import binding

    binding.set_option("dlkernels", "-enable-mem-access-versioning=false")
    try:
        yield
    finally:
        binding.set_option("dlkernels", "-enable-mem-access-versioning=true")
