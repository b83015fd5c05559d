"""Other numbers for the predictions of chapter 05."""

from simt.xray.occupancy import occupancy

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
                - 1: f"One too few. Count from the first index without an element, {elements}, to the last thread, "
                "both counted.",
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


def resident(threads, registers=32, shared=0):
    return occupancy("sm_80", threads, registers, shared)


def supplies(registers, threads, shared):
    warps = threads // 32
    return {
        "blocks": Asked(
            f"blocks of 256 threads with {registers} registers each",
            resident(256, registers).blocks_per_sm,
            {8: "That is what the places for warps allow. How many registers do 8 such blocks need?"},
            "Work out for each supply how many blocks it is enough for. The scarcest one decides.",
        ),
        "warps": Asked(
            f"resident warps with blocks of {threads} threads and 32 registers each",
            resident(threads).warps_per_sm,
            {
                64: f"That would fill all places. A block has {warps} warps: how many whole blocks go into 64?",
                64 // warps: "Those are the blocks. How many warps has each?",
                warps: "That is one block.",
            },
            f"A block is resident as a whole, or not at all. How many blocks of {warps} warps go into 64 places?",
        ),
        "shared": Asked(
            f"blocks of 128 threads with 32 registers and {shared} KiB of shared memory each",
            resident(128, 32, shared * 1024).blocks_per_sm,
            {
                164 // shared: "The system takes 1 KiB in each block: does the last one still fit?",
                16: "That is what warps and registers allow. How much shared memory do 16 blocks need?",
            },
            "How many blocks do the warps allow, how many the registers, how many the shared memory?",
        ),
        "registers": Asked(
            "the most registers a thread may have if blocks of 256 threads shall fill all places for warps",
            32,
            {
                64: "With 64 only half of the places are filled.",
                255: "That is the most a thread can have at all. How many threads share the 65,536 registers?",
                31: "One more does fit.",
                33: "One too many: a warp gets registers in units of 256.",
            },
            "All places are 64 warps of 32 threads. What is each one's share of 65,536 registers?",
        ),
    }


VARIANTS = {
    "05-occupancy": Variants(
        {"registers": 64, "threads": 192, "shared": 41},
        {
            "registers": (40, 48, 64, 80, 96, 128),
            "threads": (96, 160, 192, 224, 288, 320),
            "shared": (20, 27, 32, 41, 54),
        },
        "`blocks` is about {registers} registers for each thread, `warps` about blocks of {threads} threads, `shared` "
        "about {shared} KiB.",
        supplies,
        lambda registers, threads, shared: (
            resident(256, registers).blocks_per_sm < 8
            and 164 // shared != resident(128, 32, shared * 1024).blocks_per_sm
        ),
    ),
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
    ),
}
