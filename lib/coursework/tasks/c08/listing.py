"""08-listing: Read what a compiler made."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


# What a compiler made of four loops for sm_80 (tests/coursework/test_08_tasks.py compiles them again).
@cuda.jit
def by_kind(x, kind, out):
    sums = cuda.local.array(64, np.float32)
    for q in range(64):
        sums[q] = 0
    for p in range(np.uint32(x.size)):
        sums[np.uint32(kind[p])] += x[p]
    total = np.float32(1)
    for q in range(64):
        total *= sums[np.uint32(q)]
    out[cuda.grid(1)] = total


@cuda.jit
def by_two_kinds(x, kind, out):
    zero, other = np.float32(0), np.float32(0)
    for p in range(np.uint32(x.size)):
        if kind[p] == 0:
            zero += x[p]
        else:
            other += x[p]
    out[cuda.grid(1)] = zero * other


LISTINGS = {
    "A": """
LDG.E R7, [R6.64]
LDG.E R4, [R4.64]
FADD R9, R4, R7
STG.E [R2.64], R9
""",
    "B": """
LDG.E.128 R8, [R8.64]
LDG.E.128 R12, [R12.64]
FADD R9, R9, R13
FADD R8, R8, R12
FADD R11, R11, R15
FADD R10, R10, R14
STG.E.128 [R12.64], R8
""",
    "C": """
LDG.E R2, [R2.64]
LDG.E R4, [R4.64]
LDL R7, [R0]
FADD R7, R4, R7
STL [R0], R7
""",
    "D": """
LDG.E R6, [R6.64]
LDG.E R8, [R8.64]
ISETP.NE.AND P2, PT, R6, RZ, PT
@!P2 FADD R17, R8, R17
@P2 FADD R16, R8, R16
""",
}


def _listing_with(word):
    (name,) = (name for name, text in LISTINGS.items() if word in text)
    return name


def _loads_for(name, elements):
    """Load instructions of one warp from global memory until it has added so many elements."""
    text = LISTINGS[name]
    return text.count("LDG") * elements // (32 * text.count("FADD"))


LISTING = PredictionTask(
    id="08-listing",
    section=Section("8.5", "08_gpu_limits", "Registers are the price"),
    title="Read what a compiler made",
    objective="Find wide loads, local memory and the number of instructions in machine code",
    points=1,
    minutes=6,
    questions=(
        Question(
            "wide",
            "the listing whose loads bring 16 bytes for each thread",
            lambda: _listing_with(".128"),
            {
                "A": "LDG.E without a number loads one word of 4 bytes.",
                "C": "Two loads from global memory and one from local memory, of 4 bytes each.",
                "D": "Two loads of 4 bytes. How is a load of 128 bits written?",
            },
            'Answer with "A", "B", "C" or "D". The size of an access stands behind LDG.E, in bits.',
        ),
        Question(
            "local",
            "the listing whose sums do not stay in registers",
            lambda: _listing_with("LDL"),
            {
                "D": "R16 and R17 are sums in registers; P2 decides which of the two is added to.",
                "A": "The sum R9 goes to global memory, where it belongs: it is the result.",
                "B": "Its four sums go to global memory, where they belong: they are the result.",
            },
            'Answer with "A", "B", "C" or "D". LDL and STL are accesses to local memory.',
        ),
        Question(
            "a_loads",
            "load instructions that one warp of A needs to add 4096 pairs",
            lambda: _loads_for("A", 4096),
            {
                128: "Each pair takes two loads: one of each operand.",
                4096: "An instruction is given for the 32 lanes of a warp at once.",
                8192: "An instruction is given for the 32 lanes of a warp at once.",
            },
            "How many pairs does one pass through listing A add, in a warp?",
        ),
        Question(
            "b_loads",
            "load instructions that one warp of B needs for as many",
            lambda: _loads_for("B", 4096),
            {
                32: "Each four pairs take two loads: one of each operand.",
                256: "As many as A? One pass through B has four additions.",
                16: "128 is a number of bits: 16 bytes, four numbers of 4 bytes.",
            },
            "How many pairs does one pass through listing B add, in a warp?",
        ),
    ),
    hints=(
        "LDG loads from global memory, STG stores there; LDL and STL do the same with local memory, LDS and STS with "
        "shared memory. R8 is a register, and with .128 it stands for four: R8 to R11.",
        "A listing is one round of a loop, for one warp. Count its additions: how many elements has a warp added after "
        "one round?",
        "A adds 32 pairs in a round with two loads, B four times as many with two loads. And which listing loads what "
        "it stored in the round before?",
    ),
)
