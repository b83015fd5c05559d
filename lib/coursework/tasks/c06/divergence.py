"""06-divergence: Lanes that wait for others."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import counted_accesses


@cuda.jit
def _three_ways(out):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        out[t] = 0
    elif t % 3 == 1:
        out[t] = 1
    else:
        out[t] = 2


@cuda.jit
def _some_rounds(out):
    t = cuda.threadIdx.x
    for k in range(t % 8):
        out[t] = k


@cuda.jit
def _every_eighth(out):
    t = cuda.threadIdx.x
    if t % 8 == 0:
        out[t] = 0


@cuda.jit
def _the_first(out):
    t = cuda.threadIdx.x
    if t < 32:
        out[t] = 0


def _turns(kernel, threads=32):
    """Warp instructions that store, of one block."""
    return sum(row.requests for row in counted_accesses(kernel, threads, np.zeros(threads, np.float32)))


def _lanes():
    (row,) = counted_accesses(_some_rounds, 32, np.zeros(32, np.float32))
    return int(row.active_lanes)


DIVERGENCE = PredictionTask(
    id="06-divergence",
    section=Section("6.4", "06_branches", "Divergence"),
    title="Lanes that wait for others",
    objective="Predict how often a warp goes through a branch or a loop, and with how many active lanes",
    points=2,
    minutes=7,
    questions=(
        Question(
            "ways",
            "times that a warp stores in an if, elif, else by t % 3",
            lambda: _turns(_three_ways),
            {
                1: "Each lane stores once. But do all lanes take the same way?",
                2: "There are three ways, and some lane takes each of them.",
                32: "Lanes that take the same way go through it together.",
                11: "Those are lanes that take one way. They go together.",
                96: "A lane goes one way, and is switched off in the others.",
            },
            "A warp goes through every way that at least one of its lanes takes, one after the other.",
        ),
        Question(
            "rounds",
            "rounds of a warp in for k in range(t % 8)",
            lambda: _turns(_some_rounds),
            {
                8: "t % 8 is 7 at most. How many rounds has range(7)?",
                0: "Lane 0 makes no round. Lane 1 does.",
                112: "Those are the rounds of all lanes together. Lanes make a round together.",
                28: "Those are the rounds of lanes 0 to 7 together. They make them at the same time.",
                31: "Lane 31 makes 31 % 8 rounds.",
                32: "Lanes make a round together. How many rounds does the last one of them make?",
            },
            "The warp goes on until its last lane is done. Which lanes have most rounds?",
        ),
        Question(
            "lanes",
            "lanes active in such a round, on average",
            _lanes,
            {
                32: "Lane 0 makes no round at all: it is never active.",
                28: "That is the first round: all lanes but those with t % 8 == 0. Later on there are fewer.",
                4: "That is the last round, with the lanes 7, 15, 23 and 31. Before, there are more.",
                14: "112 active lanes in all, but in how many rounds?",
                3: "Those are the rounds of a lane, on average. How many lanes are active in a round?",
                112: "Those are active lanes of all rounds together.",
                50: "Per cent? The number of lanes is asked for.",
            },
            "Count the lanes that are active in the first round, in the second, and so on to the last. What is their "
            "mean?",
        ),
        Question(
            "eighths",
            "warps of a block of 256 threads that store under if t % 8 == 0",
            lambda: _turns(_every_eighth, 256),
            {
                1: "32 threads store, but they do not lie in one warp. Which warp has thread 248?",
                32: "Those are threads. In how many warps do they lie?",
                4: "Those are the lanes of one warp that store. How many warps have such lanes?",
                256: "Those are all threads. How many warps have one that stores?",
            },
            "Warp 0 has threads 0 to 31, warp 1 has 32 to 63. Which of the eight warps has a thread whose number is a "
            "multiple of 8?",
        ),
        Question(
            "firsts",
            "warps of a block of 256 threads that store under if t < 32",
            lambda: _turns(_the_first, 256),
            {
                8: "Warps 1 to 7 have no thread below 32: they skip the store.",
                32: "Those are threads. In how many warps do they lie?",
                0: "Which warp has threads 0 to 31?",
                2: "Threads 0 to 31 are one warp, and 32 does not belong to them.",
            },
            "Which warps have a thread with a number below 32?",
        ),
    ),
    hints=(
        "The lanes of a warp share one instruction at a time. What happens to lanes that do not take part in it?",
        "Every way that some lane takes is gone through once, every round that some lane makes is made once. A warp in "
        "which no lane takes part skips it.",
        "For `lanes`: round k, counted from 0, has the lanes with t % 8 above k: that is 28 lanes, then 24, and so on "
        "to 4. For the last two: the same number of threads stores. In which warps do they lie?",
    ),
)
