"""06-banks: Who waits at a bank?"""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import counted_accesses


@cuda.jit
def _of_shared(out, factor, divisor):
    s = cuda.shared.array(2048, np.float32)
    t = cuda.threadIdx.x
    for k in range(t, 2048, 32):
        s[k] = 0
    cuda.syncthreads()
    out[t] = s[factor * t // divisor]


def _ways(factor, divisor=1):
    """Ways of the bank conflict of one warp for s[factor * t // divisor]."""
    rows = counted_accesses(_of_shared, 32, np.zeros(32, np.float32), factor, divisor)
    return next(row.bank_ways for row in rows if row.array == "s" and row.kind == "load")


BANKS = PredictionTask(
    id="06-banks",
    section=Section("6.2", "06_banks", "32 banks"),
    title="Who waits at a bank?",
    objective="Predict the ways of a bank conflict from the words that a warp reads",
    points=1,
    minutes=5,
    questions=(
        Question(
            "seconds",
            "ways for s[2 * t]",
            lambda: _ways(2),
            {
                1: "Lane 16 reads word 32. In which bank is that, and who else reads there?",
                16: "Those are the banks in use. How many lanes meet in one of them?",
                32: "Not all lanes meet in one bank. Write down the banks of lanes 0, 1 and 2.",
                4: "Lanes 0 and 16 meet in bank 0. Who else?",
            },
            "Word w lies in bank w % 32. Write down the banks of lanes 0, 1, 15, 16 and 17.",
        ),
        Question(
            "fours",
            "ways for s[t // 4]",
            lambda: _ways(1, 4),
            {
                4: "Four lanes read the same word. Does the bank have to hand it out four times?",
                8: "Those are the banks in use. Each hands out one word, to all who ask for it.",
                32: "Lanes 0 to 3 read word 0, lanes 4 to 7 word 1. Is that one bank?",
            },
            "A bank hands out one word at a time, to every lane that asks for that word.",
        ),
        Question(
            "column",
            "ways for a column of a tile whose rows have 36 words: s[36 * t]",
            lambda: _ways(36),
            {
                1: "Padding helps if the step from row to row reaches every bank. Which banks do lanes 0, 1, 8 and 9 "
                "use?",
                32: "That would be rows of 32 words. Here row 1 begins in bank 4.",
                8: "Those are the banks in use. How many of 32 lanes meet in each of them?",
                36: "There are 32 lanes only, and these use several banks.",
                2: "Lanes 0 and 8 meet in bank 0. Who else?",
            },
            "Row t begins at word 36 t, in bank 4 t % 32. After how many rows does bank 0 come again?",
        ),
    ),
    hints=(
        "Word w of shared memory lies in bank w % 32. Which banks do the first lanes use, and when does the first bank "
        "come again?",
        "The ways are the number of different words that the busiest bank has to hand out. Lanes that read the same "
        "word do not wait for each other.",
        "For `column`: lane t uses bank (36 * t) % 32, which is (4 * t) % 32. How many different banks are these, and "
        "how many of the 32 lanes has each?",
    ),
)
