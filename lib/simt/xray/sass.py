"""Read the machine code (SASS) that nvdisasm prints: count instructions, find the main loop."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9_.]*)([^;]*)")
_LABEL = re.compile(r"^\s*(\.L_x?_?\d+):")
_TARGET = re.compile(r"\(?(\.L_x?_?\d+)\)?")
_MEMORY = ("LDG", "STG", "LDS", "STS", "LDL", "STL")
_ATOMIC = ("ATOM", "ATOMG", "ATOMS", "RED", "REDG")
_TENSOR = ("HMMA", "IMMA", "DMMA", "HGMMA", "QGMMA")
_FLOAT = ("FFMA", "FADD", "FMUL", "DFMA", "HFMA2")


@dataclass(frozen=True)
class Instruction:
    """One machine instruction: byte address, opcode with its suffixes, label it jumps to (or None)."""

    address: int
    opcode: str
    target: str | None

    @property
    def name(self):
        return self.opcode.split(".")[0]


@dataclass(frozen=True)
class Mix:
    """Counts of a stretch of machine code.

    total: instructions; counts: by kind. Memory instructions carry their width in bits (``LDG.128``),
    tensor-core instructions, barriers (``BAR``) and atomics (``ATOM``) are grouped, all else is by opcode.
    """

    total: int
    counts: dict

    def __getitem__(self, kind):
        """Count of ``"FFMA"``, of one width ``"LDG.128"`` or of all widths ``"LDG"``; 0 where none."""
        return sum(n for key, n in self.counts.items() if key == kind or key.startswith(kind + "."))

    @property
    def ffma_share(self):
        """FFMA instructions / all instructions: the part of the issue slots that does the arithmetic."""
        return self["FFMA"] / self.total if self.total else 0.0

    @property
    def tensor_share(self):
        """Instructions of the tensor cores / all instructions."""
        return self["TENSOR"] / self.total if self.total else 0.0

    def to_dict(self):
        return {"total": self.total, "ffma_share": self.ffma_share, "counts": dict(self.counts)}

    def interesting(self):
        """The kinds that decide a kernel's speed, as (kind, count), memory first."""
        order = (*_MEMORY, "LDSM", "ATOM", "BAR", "TENSOR", "LDGSTS", *_FLOAT, "MUFU", "CALL")
        picked = [(kind, n) for kind, n in self.counts.items() if kind.split(".")[0] in order]
        return sorted(picked, key=lambda item: (order.index(item[0].split(".")[0]), _width_of(item[0])))


@dataclass(frozen=True)
class CountedCode:
    """What was counted of a kernel's instructions, without them: `Mix` of the whole and of the hottest loop."""

    mix: Mix
    main_loop: Mix
    listing: str = ""


@dataclass(frozen=True)
class Code:
    """The same of a kernel just compiled: ``disassemble()``, which takes longer than compiling, runs when first
    needed."""

    disassemble: Callable

    @cached_property
    def listing(self):
        return self.disassemble()

    @cached_property
    def _functions(self):
        return parse(self.listing)

    @cached_property
    def mix(self):
        return mix([i for instructions, _ in self._functions for i in instructions])

    @cached_property
    def main_loop(self):
        return mix(main_loop(self._functions))


def parse(text):
    """Functions of nvdisasm's output, each as (instructions, {label: address})."""
    functions, instructions, labels, waiting = [], [], {}, []
    for line in text.splitlines():
        if line.lstrip().startswith(".section") and ".text." in line:
            instructions, labels, waiting = [], {}, []
            functions.append((instructions, labels))
        elif match := _LABEL.match(line):
            waiting.append(match[1])
        elif (match := _INSTRUCTION.search(line)) and functions:
            address, opcode = int(match[1], 16), match[2]
            labels.update(dict.fromkeys(waiting, address))
            waiting.clear()
            jump = _TARGET.search(match[3]) if opcode.startswith("BRA") else None
            instructions.append(Instruction(address, opcode, jump[1] if jump else None))
    return functions


def mix(instructions):
    """`Mix` of a list of instructions. NOPs that pad the end of a kernel are left out."""
    counts = Counter(_kind(i.opcode) for i in instructions if i.name != "NOP")
    return Mix(sum(counts.values()), dict(counts))


def main_loop(functions):
    """Instructions of the hottest loop, or an empty list where the code has no loop.

    A loop runs from the target of a backward branch to that branch. What belongs to a loop inside is not
    counted for the loop around it. Hottest: of loops with tensor-core instructions, or else with FFMA, an innermost
    one, as it runs most often; then the one with most of these, then the longest.
    """
    candidates = []
    for instructions, labels in functions:
        spans = _loops(instructions, labels)
        for low, high in spans:
            inner = [s for s in spans if s != (low, high) and low <= s[0] and s[1] <= high]
            around = sum(s != (low, high) and s[0] <= low and high <= s[1] for s in spans)
            body = [
                i for i in instructions if low <= i.address <= high and not any(a <= i.address <= b for a, b in inner)
            ]
            counts = mix(body)
            tensor, ffma = counts["TENSOR"], counts["FFMA"]
            depth = around if tensor or ffma else -1
            candidates.append((tensor > 0, depth, tensor, ffma, counts.total, body))
    return max(candidates, key=lambda c: c[:-1], default=([],))[-1]


def _loops(instructions, labels):
    """(first address, last address) of each loop; several branches back to one place are one loop."""
    ends = {}
    for i in instructions:
        start = labels.get(i.target)
        if start is not None and start < i.address:  # the jump to itself that ends a kernel is no loop
            ends[start] = max(i.address, ends.get(start, 0))
    return list(ends.items())


def _kind(opcode):
    name, *suffixes = opcode.split(".")
    if name in _MEMORY:
        return f"{name}.{_width(suffixes)}"
    if name in _TENSOR:
        return f"TENSOR.{name}"
    if name in _ATOMIC:
        return f"ATOM.{name}"
    return name


def _width(suffixes):
    """Bits a memory instruction moves per thread; 32 unless a suffix says otherwise."""
    for suffix in suffixes:
        if suffix in ("64", "128"):
            return int(suffix)
        if suffix in ("U8", "S8", "8"):
            return 8
        if suffix in ("U16", "S16", "16"):
            return 16
    return 32


def _width_of(kind):
    tail = kind.rsplit(".", 1)[-1]
    return int(tail) if tail.isdigit() else 0
