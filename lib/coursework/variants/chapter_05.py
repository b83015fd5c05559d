"""Other numbers for the predictions of chapter 05."""

from . import Asked, Variants


def launch(elements, threads, other):
    blocks = -(-elements // threads)
    idle = blocks * threads - elements
    return {
        "blocks": Asked(
            f"blocks of {threads} threads for {elements} elements",
            blocks,
            {
                elements // threads: "Rounded down: then the last elements have no thread.",
                elements: "That is the number of elements: one block for each.",
                blocks * threads: f"Those are threads. How many blocks of {threads} are they?",
                -(-elements // 32): "That is the number of warps.",
            },
            "Divide the elements by the threads of a block. Where there is a rest, who computes it?",
        ),
        "idle": Asked(
            "threads of this launch that have no element",
            idle,
            {
                elements
                % threads: "Those are the threads of the last block that have an element. The others are asked for.",
                0: "Then the division would have no rest. How many threads are there in all?",
                idle
                - 1: f"One too few. Count from the first index without an element, {elements}, to the last thread, both counted.",
                idle + 1: f"One too many. The elements have the indices 0 to {elements - 1}.",
            },
            "How many threads are there in all, blocks times threads of a block? How many elements?",
        ),
        "warps": Asked(
            f"warps of one block of {other} threads",
            -(-other // 32),
            {other // 32: "Where do the threads of the rest run?", other: "Those are threads. A warp has 32 of them."},
            "Threads run in warps of 32. A warp that is not full is one all the same.",
        ),
    }


VARIANTS = {
    "05-launch": Variants(
        {"elements": 500_000, "threads": 192, "other": 200},
        {
            "elements": (300_000, 400_000, 500_000, 700_000, 800_000),
            "threads": (96, 160, 192, 224, 352),
            "other": (100, 150, 200, 250, 300),
        },
        "{elements} elements in blocks of {threads} threads; the other kernel has blocks of {other} threads.",
        launch,
        lambda elements, threads, other: elements % threads not in (0, threads // 2),
    )
}
