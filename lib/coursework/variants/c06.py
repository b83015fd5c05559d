"""Other numbers for the predictions of chapter 06."""

from ..tasks.c06.work import blelloch, hillis_steele
from . import Asked, Variants

TYPES = {"float64": 8, "int16": 2, "int8": 1}


def sectors(places, width):
    """Sectors of 32 bytes that hold these elements of an array; none lies in two."""
    return len({width * element // 32 for element in places})


def ways(words):
    """Ways of a bank conflict: the most different words of one bank."""
    return max(len({w for w in words if w % 32 == bank}) for bank in range(32))


def loads(first, stride, dtype):
    return {
        "shifted": Asked(
            f"sectors of one warp for x[i + {first}], float32",
            sectors(range(first, first + 32), 4),
            {
                4: f"128 bytes in a row are four sectors if they begin with one. These begin at byte {4 * first}: "
                "where do they end?",
                32: "Neighbouring lanes share a sector: it has room for 8 float32.",
            },
            f"Element {first} begins at byte {4 * first}. Sectors are bytes 0 to 31, 32 to 63 and so on: how many are "
            "touched?",
        ),
        "thirds": Asked(
            f"sectors of one warp for x[{stride} * i], float32",
            sectors(range(0, 32 * stride, stride), 4),
            {
                4: f"As few as for neighbours? Lane 31 reads element {31 * stride}.",
                32: f"How far is it from lane 0 to lane 1, in bytes? {4 * stride}.",
            },
            f"Lane i reads byte {4 * stride} i. No sector between the first and the last is left out: in which sector "
            "is the last?",
        ),
        "doubles": Asked(
            f"sectors of one warp for x[i], {dtype}",
            sectors(range(32), TYPES[dtype]),
            {4: "That is for float32. How many bytes has one element here?"},
            f"How many bytes do 32 elements of type {dtype} have? And a sector?",
        ),
    }


def banks(factor, share, words):
    return {
        "seconds": Asked(
            f"ways for s[{factor} * t]",
            ways([factor * t for t in range(32)]),
            {
                1: "Write down the bank of each lane. When does the first bank come again?",
                32: "Not all lanes meet in one bank.",
            },
            "Word w lies in bank w % 32. Write down the banks of the first lanes, until one comes again.",
        ),
        "fours": Asked(
            f"ways for s[t // {share}]",
            ways([t // share for t in range(32)]),
            {
                share: "These lanes read the same word. Does the bank have to hand it out more than once?",
                32 // share: "Those are the banks in use.",
            },
            "A bank hands out one word at a time, to every lane that asks for that word.",
        ),
        "column": Asked(
            f"ways for a column of a tile whose rows have {words} words: s[{words} * t]",
            ways([words * t for t in range(32)]),
            {1: "Padding helps if the step from row to row reaches every bank.", 32: "That would be rows of 32 words."},
            f"Row t begins at word {words} t, in bank {words} t % 32. After how many rows does bank 0 come again?",
        ),
    }


def branches(ways, loop, share, threads, first):
    rounds, active = loop - 1, [sum(t % loop > k for t in range(32)) for k in range(loop - 1)]
    return {
        "ways": Asked(
            f"times that a warp stores where each remainder t % {ways} has a way of its own",
            ways,
            {
                1: "Each lane stores once. But do all lanes take the same way?",
                32: "Lanes that take the same way go through it together.",
            },
            "A warp goes through every way that at least one of its lanes takes, one after the other.",
        ),
        "rounds": Asked(
            f"rounds of a warp in for k in range(t % {loop})",
            rounds,
            {
                loop: f"t % {loop} is {rounds} at most. How many rounds has range({rounds})?",
                sum(active): "Those are the rounds of all lanes together. Lanes make a round together.",
                31 % loop: f"Lane 31 makes 31 % {loop} rounds. Is that the most?",
                32: "Lanes make a round together. How many rounds does the last one of them make?",
            },
            "The warp goes on until its last lane is done. Which lanes have most rounds?",
        ),
        "lanes": Asked(
            "lanes active in such a round, on average",
            sum(active) // rounds,
            {
                32: "Lane 0 makes no round at all: it is never active.",
                active[0]: "That is the first round. Later on there are fewer.",
                active[-1]: "That is the last round. Before, there are more.",
                sum(active): "Those are active lanes of all rounds together.",
                50: "Per cent? The number of lanes is asked for.",
            },
            "Count the lanes that are active in the first round, in the second, and so on to the last. What is their "
            "mean?",
        ),
        "eighths": Asked(
            f"warps of a block of {threads} threads that store under if t % {share} == 0",
            len({t // 32 for t in range(0, threads, share)}),
            {
                1: "Not all threads that store lie in one warp. Which warp has the last one?",
                threads // share: "Those are threads. In how many warps do they lie?",
                threads // 32: "That is every warp. Has each of them a thread that stores?",
                threads: "Those are all threads. How many warps have one that stores?",
            },
            "Warp 0 has threads 0 to 31, warp 1 has 32 to 63. Which warps have a thread whose number is a multiple of "
            f"{share}?",
        ),
        "firsts": Asked(
            f"warps of a block of {threads} threads that store under if t < {first}",
            -(-first // 32),
            {
                threads // 32: "The last warps have no such thread: they skip the store.",
                first: "Those are threads. In how many warps do they lie?",
                0: "Which warp has threads 0 to 31?",
                first // 32: "And the threads that are left over?",
                first // 32 + 1: f"Has the warp behind thread {first - 1} one that stores?",
            },
            f"Which warps have a thread with a number below {first}?",
        ),
    }


def bills(n):
    up = n - 1
    return {
        "additions": Asked(
            f"additions of Hillis and Steele for {n} numbers",
            hillis_steele(n)[1],
            {
                hillis_steele(n)[0] * n: "In a round with distance d the first d places have nothing to add.",
                up: "That is a loop of one thread.",
            },
            f"In a round with distance d, {n} - d places add something. What is the sum?",
        ),
        "tree": Asked(
            f"additions of Blelloch for {n} numbers, up and down",
            blelloch(n)[1],
            {up: "That is the way up. On the way down each pair adds once more."},
            f"On the way up {n // 2} pairs are added, then {n // 4}, and so on to one. On the way down it is as many "
            "again.",
        ),
        "rounds": Asked(
            f"rounds of Blelloch for {n} numbers, up and down",
            blelloch(n)[0],
            {blelloch(n)[0] // 2: "That is the way up. The way down has as many."},
            f"How many times can {n} be halved until one is left? That is one way.",
        ),
    }


VARIANTS = {
    "06-sectors": Variants(
        {"first": 1, "stride": 3, "dtype": "float64"},
        {"first": (1, 2, 3, 5, 6, 7), "stride": (3, 5, 6, 7), "dtype": ("float64", "int16", "int8")},
        "`shifted` is `x[i + {first}]`, `thirds` is `x[{stride} * i]`, and `doubles` is `x[i]` with elements of type "
        "{dtype} (8 bytes for float64, 2 for int16, 1 for int8).",
        loads,
    ),
    "06-banks": Variants(
        {"factor": 2, "share": 4, "words": 36},
        {"factor": (2, 4, 6, 10, 12), "share": (2, 4, 8), "words": (34, 36, 40, 44, 48)},
        "`seconds` is `s[{factor} * t]`, `fours` is `s[t // {share}]`, and the rows of the tile in `column` have "
        "{words} words: `s[{words} * t]`.",
        banks,
    ),
    "06-divergence": Variants(
        {"ways": 3, "loop": 8, "share": 8, "threads": 256, "first": 32},
        {
            "ways": (3, 4, 5, 6),
            "loop": (4, 7, 8, 16),  # in whose rounds the mean of the active lanes is a whole number
            "share": (4, 8, 16, 64),
            "threads": (128, 256, 512),
            "first": (32, 48, 64, 96),
        },
        "`ways` is a choice with a way for each remainder `t % {ways}`; `rounds` and `lanes` are about `for k in "
        "range(t % {loop})`; `eighths` is `if t % {share} == 0`, and `firsts` is `if t < {first}`, both in blocks of "
        "{threads} threads.",
        branches,
    ),
    "06-work": Variants({"n": 64}, {"n": (16, 32, 64, 128, 256)}, "a scan of {n} numbers.", bills),
}
