"""08-waves: How well does a grid fill a GPU?"""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import MULTIPROCESSORS, WAVE_M, WAVE_N, WAVE_REGISTERS, WAVE_SHARED, WAVE_THREADS, WAVE_TILE, blocks


def _launched(m=WAVE_M, n=WAVE_N):
    x, y = blocks(m, n, WAVE_TILE)
    return x * y


def _resident():
    from simt.xray.occupancy import occupancy

    return occupancy("sm_80", WAVE_THREADS, WAVE_REGISTERS, WAVE_SHARED * 1024).blocks_per_sm


def _waves():
    return -(-_launched() // (_resident() * MULTIPROCESSORS))


WAVES = PredictionTask(
    id="08-waves",
    section=Section("8.5", "08_gpu_limits", "Waves"),
    title="How well does a grid fill a GPU?",
    objective="Compute the blocks, residents and waves of a launch, and the share of the GPU that works",
    points=2,
    minutes=8,
    questions=(
        Question(
            "launched",
            f"blocks of a {WAVE_M} x {WAVE_N} product with tiles of {WAVE_TILE} x {WAVE_TILE}",
            _launched,
            {
                23 * 19: "Both numbers of tiles were rounded down: the edges would have no block.",
                458: "The tiles at the edges are blocks, too: round each direction up before you multiply.",
                457: "The tiles at the edges are blocks, too: round each direction up before you multiply.",
                24 + 20: "Tiles along one direction times tiles along the other.",
            },
            "How many tiles lie along 3000 rows, how many along 2500 columns?",
        ),
        Question(
            "resident",
            f"blocks on one multiprocessor, {WAVE_THREADS} threads of {WAVE_REGISTERS} registers and {WAVE_SHARED} KiB "
            "each",
            _resident,
            {
                4: "Shared memory has room for four. Do the registers?",
                8: "By the number of threads eight would fit. What else does a block need?",
                2: "The last one fits: divide 65,536 by what one block's threads need.",
                3.2: "There is no part of a block.",
            },
            "Three things run out: threads, registers, shared memory. Compute for each how many blocks it allows.",
        ),
        Question(
            "rounds",
            f"waves on {MULTIPROCESSORS} multiprocessors",
            _waves,
            {
                1: "In one wave run all blocks that fit at once. Are all blocks of the launch among them?",
                5: "That is with one block on each multiprocessor at a time.",
                3: "That is with two blocks on each multiprocessor. How many fit?",
            },
            "How many blocks run at once on the whole GPU? How often must it be filled?",
        ),
        Question(
            "share",
            "the share of the places that are used in all waves together, as a number from 0 to 1",
            lambda: round(_launched() / (_waves() * _resident() * MULTIPROCESSORS), 3),
            {
                0.48: "That is the last wave alone. Take all waves together.",
                0.675: "That is the inverse of the number of waves before it was rounded up.",
                1.48: "That is the number of waves before it is rounded up. Divide it by what it is rounded up to.",
            },
            "Blocks that are launched, divided by the places of all waves.",
            tolerance=0.01,
        ),
    ),
    hints=(
        "Tiles first: the rows and the columns are each rounded up. Then ask of one multiprocessor: what is used up "
        "first?",
        "Registers: 65,536, and a block needs 256 times 80. Shared memory: 164 KiB, and a block needs 40 and 1 more. "
        "Threads: 2048. The smallest of the three numbers counts.",
        "At once run 108 times as many as fit on one. Divide the number of blocks by that and round up: waves. The "
        "share is the same quotient before and after rounding, one divided by the other.",
    ),
)
