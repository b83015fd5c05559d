"""05-occupancy: How many blocks fit?"""

from simt.xray.occupancy import occupancy

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


def _resident(threads, registers, shared=0):
    return occupancy("sm_80", threads, registers, shared)


def _most_registers():
    return max(r for r in range(1, 256) if _resident(256, r).occupancy == 1)


OCCUPANCY = PredictionTask(
    id="05-occupancy",
    section=Section("5.2", "05_transfers", "Occupancy"),
    title="How many blocks fit?",
    objective="Predict how many blocks are resident on a multiprocessor, and what limits them",
    points=2,
    minutes=8,
    questions=(
        Question(
            "blocks",
            "blocks of 256 threads with 64 registers each",
            lambda: _resident(256, 64).blocks_per_sm,
            {
                8: "That is what the places for warps allow. How many registers do 8 such blocks need?",
                1024: "That is how many threads the registers are enough for. A block has 256.",
                1: "How many registers does one block need? Is that all there are?",
                32: "That is the limit of blocks alone, or the warps of the blocks. What do warps and registers allow?",
            },
            "Work out for each supply how many blocks it is enough for. The scarcest one decides.",
        ),
        Question(
            "warps",
            "resident warps with blocks of 192 threads and 32 registers each",
            lambda: _resident(192, 32).warps_per_sm,
            {
                64: "That would fill all places. A block has 6 warps: how many whole blocks go into 64?",
                10: "Those are the blocks. How many warps has each?",
                6: "That is one block.",
                11 * 6: "There are 64 places: the eleventh block does not fit as a whole.",
                10 * 192: "Those are threads. A warp has 32.",
                32: "Those are the blocks that could be there at most, or the registers of a thread. How many blocks "
                "of 6 warps fit?",
            },
            "A block is resident as a whole, or not at all. How many blocks of 6 warps go into 64 places?",
        ),
        Question(
            "shared",
            "blocks of 128 threads with 32 registers and 41 KiB of shared memory each",
            lambda: _resident(128, 32, 41 * 1024).blocks_per_sm,
            {
                4: "164 / 41 is 4 exactly, but the system takes 1 KiB in each block: four of 42 KiB are too many.",
                16: "That is what warps and registers allow. How much shared memory do 16 blocks need?",
                5: "That is rounded up: the fifth block does not fit as a whole.",
                1: "How many times do 42 KiB go into 164 KiB?",
            },
            "How many blocks do the warps allow, how many the registers, how many the shared memory?",
        ),
        Question(
            "registers",
            "the most registers a thread may have if blocks of 256 threads shall fill all places for warps",
            _most_registers,
            {
                64: "With 64 only half of the places are filled, as the first question shows.",
                255: "That is the most a thread can have at all. How many threads share the 65,536 registers?",
                256: "That would be for one block. All places filled are eight blocks.",
                _most_registers() - 1: "One more does fit.",
                _most_registers() + 1: "One too many: a warp gets registers in units of 256.",
                16: "With 16 all places are filled, and with more than that, too.",
            },
            "All places are 64 warps of 32 threads. What is each one's share of 65,536 registers?",
        ),
    ),
    hints=(
        "A block needs places for its warps, registers, and shared memory. Which of the three is gone first?",
        "For each supply: what there is, divided by what one block needs, rounded down. The smallest of these numbers "
        "is the number of blocks.",
        "A block of 256 threads with r registers each takes 256 * r of 65,536, and 8 of 64 places. For the second "
        "question mind whole blocks; for the third add 1 KiB to each block.",
    ),
)
