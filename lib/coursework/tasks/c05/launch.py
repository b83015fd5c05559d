"""05-launch: Half a million elements, by hand."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

ELEMENTS, THREADS, WARP = 500_000, 192, 32


def _blocks():
    return -(-ELEMENTS // THREADS)


def _idle():
    return _blocks() * THREADS - ELEMENTS


def _warps():
    return -(-200 // WARP)


LAUNCH = PredictionTask(
    id="05-launch",
    section=Section("5", "05_threads", "Half a million elements"),
    title="Half a million elements, by hand",
    objective="Predict the blocks, idle threads and warps of a launch",
    points=1,
    minutes=4,
    questions=(
        Question(
            "blocks",
            f"blocks of {THREADS} threads for {ELEMENTS} elements",
            _blocks,
            {
                ELEMENTS // THREADS: "Rounded down: then the last elements have no thread.",
                ELEMENTS: "That is the number of elements: one block for each. A block has 192 threads, each with an "
                "element.",
                _blocks() * THREADS: "Those are threads. How many blocks of 192 are they?",
                -(-ELEMENTS // 256): "That is the number of blocks of 256. These have 192 threads.",
                -(
                    -ELEMENTS // 1024
                ): "That is the number of blocks of 1024, the largest there are. These have 192 threads.",
                -(-ELEMENTS // WARP): "That is the number of warps. A block of 192 threads has six of them.",
            },
            "Divide the elements by the threads of a block. Where there is a rest, who computes it?",
        ),
        Question(
            "idle",
            "threads of this launch that have no element",
            _idle,
            {
                ELEMENTS
                % THREADS: "Those are the threads of the last block that have an element. The others are asked for.",
                0: "Then the division would have no rest. How many threads are there in all?",
                THREADS: "A whole block? Then it need not be started.",
                _idle()
                - 1: "One too few. Count from the first index without an element, 500000, to the last thread, both "
                "counted.",
                _idle() + 1: "One too many. 500000 elements have the indices 0 to 499999.",
            },
            "How many threads are there in all, blocks times threads of a block? How many elements?",
        ),
        Question(
            "warps",
            "warps of one block of 200 threads",
            _warps,
            {
                200 // WARP: "Six warps have 192 threads. Where do the other 8 run?",
                200: "Those are threads. A warp has 32 of them.",
                8: "Eight warps would be 256 threads. Is the eighth one needed?",
                WARP: "That is the number of threads of a warp.",
            },
            "Threads run in warps of 32. A warp that is not full is one all the same.",
        ),
    ),
    hints=(
        "A block is started whole or not at all. What follows for the last elements?",
        "Blocks are elements divided by threads, rounded up; warps of a block are threads divided by 32, rounded up. "
        "What rounding up adds is idle.",
        "500000 / 192 is 2604.17: which whole number is the first that is enough? Times 192, and take away the "
        "elements. Then 200 / 32.",
    ),
)
