"""01-asm: Read what the compiler made."""

import re

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

LISTING = """
.LBB0_8:
    vmovups      (%rax,%r9,4), %ymm4
    vmovups      32(%rax,%r9,4), %ymm5
    vmovups      64(%rax,%r9,4), %ymm6
    vmovups      96(%rax,%r9,4), %ymm7
    vfmadd231ps  (%rcx,%r9,4), %ymm4, %ymm0
    vfmadd231ps  32(%rcx,%r9,4), %ymm5, %ymm1
    vfmadd231ps  64(%rcx,%r9,4), %ymm6, %ymm2
    vfmadd231ps  96(%rcx,%r9,4), %ymm7, %ymm3
    addq         $32, %r9
    cmpq         %r9, %rdx
    jne          .LBB0_8
    ...
.LBB0_12:
    vmovups      (%rax,%r9,4), %xmm1
    vfmadd231ps  (%rcx,%r9,4), %xmm1, %xmm0
    addq         $4, %r9
    cmpq         %r9, %rdx
    jne          .LBB0_12
    ...
.LBB0_4:
    vmovss       (%rax,%rdx,4), %xmm1
    vfmadd231ss  (%rcx,%rdx,4), %xmm1, %xmm0
    incq         %rdx
    cmpq         %rdx, %r8
    jne          .LBB0_4
"""


def _loops_of(listing):
    """For each loop of a listing: (names of the registers that its multiply-adds add to, elements in a round)."""
    loops = []
    for block in re.split(r"^\.LBB\w+:", listing, flags=re.MULTILINE)[1:]:
        sums = re.findall(r"vfmadd\w+ .*, %(\w+)$", block, flags=re.MULTILINE)
        step = re.search(r"addq +\$(\d+),", block)
        loops.append((sums, int(step[1]) if step else 1))
    return loops


def _rounds(elements):
    """Rounds of each loop: each takes what it can, and leaves the rest to the next one."""
    rounds = []
    for _, step in _loops_of(LISTING):
        rounds.append(elements // step)
        elements %= step
    return rounds


DOT_LENGTH = 1007

ASM = PredictionTask(
    id="01-asm",
    section=Section("1", "01_why_parallel", "SIMD: one instruction, many numbers"),
    title="Read what the compiler made",
    objective="Find the vector instructions in a compiled loop, and count what they do",
    points=2,
    minutes=8,
    questions=(
        Question(
            "lanes",
            "numbers that one multiply-add of the first loop handles",
            lambda: _loops_of(LISTING)[0][1] // len(_loops_of(LISTING)[0][0]),
            {
                32: "32 is what a round of the loop handles. How many multiply-adds does it have?",
                4: "An xmm register holds 4, a ymm register more.",
                16: "A zmm register would hold 16.",
                256: "That is the register in bits. A float32 has 32.",
            },
            "addq says how far a round goes. How many multiply-adds share that?",
        ),
        Question(
            "chains",
            "sums that the first loop keeps side by side",
            lambda: len(set(_loops_of(LISTING)[0][0])),
            {
                1: "Look at the last register of each multiply-add: it is added to. Is it always the same?",
                32: "These are the partial sums in all lanes. The question is for registers that are added to.",
                8: "8 registers are used; half of them hold what was loaded.",
            },
            "The last operand of vfmadd231ps is what it adds to.",
        ),
        Question(
            "rounds",
            f"rounds of the first loop for {DOT_LENGTH} elements",
            lambda: _rounds(DOT_LENGTH)[0],
            {
                32: "32 rounds would be 1024 elements. The rest is left to the other loops.",
                DOT_LENGTH // 8: "That is the number of vectors. A round takes several.",
                252: "That is in steps of four vectors' worth of bytes? addq counts elements.",
            },
            "r9 counts elements, and grows by 32.",
        ),
        Question(
            "multiply_adds",
            f"multiply-add instructions that are executed for {DOT_LENGTH} elements, in all three loops",
            lambda: sum(r * len(sums) for r, (sums, _) in zip(_rounds(DOT_LENGTH), _loops_of(LISTING), strict=True)),
            {
                DOT_LENGTH: "That would be one number at a time.",
                126: "That is the number of vectors of 8, rounded up. The rest is done by the other two loops.",
                124: "That is the first loop alone. What is left for the other two?",
                37: "These are the rounds of all loops. A round of the first one has four.",
                139: "15 elements are left. The second loop takes four at a time.",
            },
            "What does each loop leave to the next one?",
        ),
    ),
    hints=(
        "Which line says how many elements a round handles, and which lines do arithmetic?",
        "ymm has 256 bits, xmm 128. The second loop takes over where the first one cannot make a whole round; the "
        "third one takes single elements (ss: scalar, single).",
        "How many whole rounds of the first loop go into 1007? Divide what is left among the other two loops, and "
        "count four multiply-adds for each round of the first.",
    ),
)
