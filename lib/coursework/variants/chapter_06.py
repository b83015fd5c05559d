"""Other numbers for the predictions of chapter 06."""

from ..tasks.chapter_06 import blelloch, hillis_steele
from . import Asked, Variants

TYPES = {"float64": 8, "int16": 2, "int8": 1}


def sectors(places, width):
    """Sectors of 32 bytes that hold these elements of an array; none lies in two."""
    return len({width * place // 32 for place in places})


def ways(words):
    """Ways of a bank conflict: the most different words of one bank."""
    return max(len({w for w in words if w % 32 == bank}) for bank in range(32))


def loads(first, stride, dtype):
    return {
        "shifted": Asked(
            f"sectors of one warp for x[i + {first}], float32",
            sectors(range(first, first + 32), 4),
            {4: f"128 bytes in a row are four sectors if they begin with one. These begin at byte {4 * first}: where do they end?",
             32: "Neighbouring lanes share a sector: it has room for 8 float32."},
            f"Element {first} begins at byte {4 * first}. Sectors are bytes 0 to 31, 32 to 63 and so on: how many are touched?",
        ),
        "thirds": Asked(
            f"sectors of one warp for x[{stride} * i], float32",
            sectors(range(0, 32 * stride, stride), 4),
            {4: f"As few as for neighbours? Lane 31 reads element {31 * stride}.", 32: f"How far is it from lane 0 to lane 1, in bytes? {4 * stride}."},
            f"Lane i reads byte {4 * stride} i. No sector between the first and the last is left out: in which sector is the last?",
        ),
        "doubles": Asked(
            f"sectors of one warp for x[i], {dtype}",
            sectors(range(32), TYPES[dtype]),
            {4: "That is for float32. How many bytes has one element here?"},
            f"How many bytes do 32 elements of type {dtype} have? And a sector?",
        ),
    }  # fmt: skip


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
            f"On the way up {n // 2} pairs are added, then {n // 4}, and so on to one. On the way down it is as many again.",
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
        "`shifted` is `x[i + {first}]`, `thirds` is `x[{stride} * i]`, and `doubles` is `x[i]` with elements of type {dtype} (8 bytes for "
        "float64, 2 for int16, 1 for int8).",
        loads,
    ),
    "06-banks": Variants(
        {"factor": 2, "share": 4, "words": 36},
        {"factor": (2, 4, 6, 10, 12), "share": (2, 4, 8), "words": (34, 36, 40, 44, 48)},
        "`seconds` is `s[{factor} * t]`, `fours` is `s[t // {share}]`, and the rows of the tile in `column` have {words} words: "
        "`s[{words} * t]`.",
        banks,
    ),
    "06-work": Variants({"n": 64}, {"n": (16, 32, 64, 128, 256)}, "a scan of {n} numbers.", bills),
}
