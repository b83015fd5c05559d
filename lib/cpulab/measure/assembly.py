"""The loop at the heart of a compiled numba function, as the machine code that the processor runs.

    hot_loop(function)        # its instructions, and whether they work on whole vectors

The listing that numba prints (``function.inspect_asm()``) has hundreds of lines: a wrapper for Python, checks, what is
left over at the end of a loop. Here are the instructions of one innermost loop: of those whose arithmetic is on vectors
if there is one, else of those that compute with single numbers; the longest, where several do.

Read from LLVM's text for x86-64 (SSE to AVX-512) and for ARM (NEON).
"""

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"\s*(?:#|//|;).*|\t##.*")
_LABEL = re.compile(r"([.\w$]+):")
_JUMP = re.compile(r"(?:j\w+|b|b\.\w+|cbn?z|tbn?z)\s(?:.*[\s,])?([.\w$]+)$")
_OPERATIONS = "add|sub|mul|div|max|min|sqrt|and|or|xor|cmp|blendm?|cvt\\w*2|andn"
# x86 says it in the last two letters: packed or scalar, single or double. Whole numbers: vpaddd, of bytes to quadwords.
_X86_VECTOR = re.compile(
    rf"v?(?:{_OPERATIONS})p[sd]\s|vfn?m(?:add|sub)\d+p[sd]\s|v?p(?:add|sub|mul\w*|max[su]|min[su]|cmp\w+)[bwdq]\s"
)
_X86_SCALAR = re.compile(r"v?(?:add|sub|mul|div|max|min|sqrt)s[sd]\s|vfn?m(?:add|sub)\d+s[sd]\s")
# ARM says it in the operands: v0.4s is a vector of four floats (Apple's assembler: fadd.4s v0), s0 is one number.
_ARM_VECTOR = re.compile(r"f?(?:add|sub|mul|mla|mls|div|max\w*|min\w*|sqrt|cm\w+)(?:\.\d+[bhsd]\s|\s+v\d+\.\d+[bhsd])")
_ARM_SCALAR = re.compile(r"f(?:n?m?(?:add|sub)|n?mul|div|max\w*|min\w*|sqrt)\s+[sd]\d")
_REGISTER_BYTES = (("zmm", 64), ("ymm", 32), ("xmm", 16))


@dataclass(frozen=True, repr=False)
class HotLoop:
    """``instructions`` of one innermost loop; ``vector`` and ``scalar``: how many of them compute in which way."""

    instructions: tuple
    vector: int
    scalar: int

    @property
    def vectorised(self):
        """Whether the loop computes on whole vectors."""
        return self.vector > 0

    @property
    def bytes(self):
        """Bytes in the widest register that the loop's vector arithmetic uses; 0 where it has none."""
        vector_lines = [line for line in self.instructions if _computes_on_vectors(line)]
        return max((_width(line) for line in vector_lines), default=0)

    def __repr__(self):
        kind = f"vectors of {self.bytes} bytes" if self.vectorised else "one number at a time"
        head = f"{len(self.instructions)} instructions, {kind}"
        return "\n".join([head, *("    " + line for line in self.instructions)])


def hot_loop(function):
    """The `HotLoop` of a numba function that was called before (of its last signature), or of an assembly listing.

    Raises TypeError for anything else, ValueError where nothing was compiled yet or no loop computes with numbers.
    """
    if isinstance(function, str):
        text = function
    elif not hasattr(function, "inspect_asm"):
        raise TypeError(f"function is a {type(function).__name__}; expected a function compiled by numba's @njit")
    elif not function.signatures:
        raise ValueError(f"{function.__name__} was not compiled yet: call it once")
    else:
        text = function.inspect_asm(function.signatures[-1])
    loops = [loop for loop in _innermost(text) if loop.vector or loop.scalar]
    if not loops:
        raise ValueError("no loop of this function computes with numbers in vector registers")
    return max(loops, key=lambda loop: (loop.vectorised, len(loop.instructions)))


def _innermost(text):
    lines = [_COMMENT.sub("", line).strip() for line in text.splitlines()]
    line_of = {label[1]: i for i, line in enumerate(lines) if (label := _LABEL.fullmatch(line))}
    spans = set()
    for i, line in enumerate(lines):
        jump = _JUMP.match(line)
        if jump and line_of.get(jump[1], i) < i:  # backwards: a loop ends here
            spans.add((line_of[jump[1]], i))
    for first, last in sorted(spans):
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in spans):
            yield _loop(lines[first : last + 1])


def _loop(lines):
    instructions = tuple(
        re.sub(r"\s+", " ", line) for line in lines if line and not line.startswith(".") and not _LABEL.fullmatch(line)
    )
    vector = sum(map(_computes_on_vectors, instructions))
    scalar = sum(bool(_X86_SCALAR.match(line) or _ARM_SCALAR.match(line)) for line in instructions)
    return HotLoop(instructions, vector, scalar)


def _computes_on_vectors(line):
    # `vxorps` of a register with itself sets it to zero; in a loop of single numbers it prepares a conversion.
    if re.match(r"v?p?xor\w*\s", line):
        return False
    return bool(_X86_VECTOR.match(line) or _ARM_VECTOR.match(line))


def _width(line):
    return next((size for name, size in _REGISTER_BYTES if name in line), 16)
