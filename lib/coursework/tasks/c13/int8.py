"""13-int8: Four codes in a word."""

import numpy as np

from ...definition import Budget, Case, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

_NOTHING = np.zeros(0)
_UNMASKED = (
    "The word was shifted, and not masked: `& 255` leaves the lowest eight bits, and without it the codes above are "
    "still there."
)


def words(codes):
    """int8 codes (..., 4 n) as int32 words (..., n), the first code in the low bits."""
    return np.ascontiguousarray(codes, np.int8).view(np.int32)


def codes(array):
    return np.ascontiguousarray(array, np.int32).view(np.int8).astype(np.int64)


def product(a, b, zero, out):
    """out[i, j] = sum over k of (a[i, k] - zero) * b[j, k], of the codes in the words."""
    return (codes(a) - zero) @ codes(b).T


def _told(formula):
    def guess(a, b, zero, out):
        with np.errstate(over="ignore"):
            found = formula(a, b, zero, out).astype(np.int32)
        right = product(a, b, zero, out)
        return _NOTHING if np.array_equal(found, right) else found

    return guess


def _unsigned(array):
    return np.ascontiguousarray(array, np.int32).view(np.uint8).astype(np.int64)


def _first_of_each(a, b, zero, out):
    return (codes(a)[:, ::4] - zero) @ codes(b)[:, ::4].T


def _taken(array, of_word):
    """All codes of an array as of_word(words, number 0 to 3) takes them out."""
    words = np.asarray(array, np.int64)
    return np.stack([of_word(words, n) for n in range(4)], axis=-1).reshape(len(words), -1)


def _suspects(of_word, cause):
    """Codes of both, of a or of b taken out so."""
    return (
        Suspect(_told(lambda a, b, zero, out: (_taken(a, of_word) - zero) @ _taken(b, of_word).T), cause),
        Suspect(_told(lambda a, b, zero, out: (_taken(a, of_word) - zero) @ codes(b).T), cause),
        Suspect(_told(lambda a, b, zero, out: (codes(a) - zero) @ _taken(b, of_word).T), cause),
    )


def _signed(p, first=128, less=256):
    return np.where(p >= first, p - less, p)


def _part(terms):
    """The sums of some of the terms alone."""
    return _told(lambda a, b, zero, out: (codes(a)[:, terms] - zero) @ codes(b)[:, terms].T)


def int8_case(name, rows, cols, terms, zero=3, extreme=False):
    """Codes as words: a (rows, terms / 4), b (cols, terms / 4), int32; the zero point of a; out (rows, cols), int32."""

    def make(rng):
        a, b = (rng.integers(-128, 128, (n, terms)) for n in (rows, cols))
        if extreme:
            a, b = np.full_like(a, -128), np.where(b < 0, -128, 127)
        return words(a), words(b), zero, np.full((rows, cols), -(2**31), np.int32)

    name = f"{name}: {rows} x {cols}, {terms} terms, zero point {zero}"
    return Case(name, make, grid=(-(-cols // 16), -(-rows // 16)), block=(16, 16))


INT8 = KernelTask(
    id="13-int8",
    section=Section("13.2", "13_integer", "Four products in one instruction"),
    title="Four codes in a word",
    objective="Write a product of codes whose sums are whole numbers and whose loads are words",
    points=3,
    minutes=25,
    spec=product,
    rtol=0,
    atol=0,
    writer=lambda index, case: ((index[1] // 16, index[0] // 16), (index[1] % 16, index[0] % 16)),
    cases=(
        int8_case("one block, exact", 16, 16, 16, 0),
        int8_case("a zero point", 16, 16, 8, -7),
        int8_case("ragged", 19, 5, 12),
        int8_case("four blocks, the largest codes", 18, 20, 8, 127, True),
    ),
    suspects=(
        Suspect(
            _told(lambda a, b, zero, out: (_unsigned(a) - zero) @ _unsigned(b).T),
            "The codes were read without their sign: 255 is -1. After `& 255`, what is above 127 has 256 too much.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: (_unsigned(a) - zero) @ codes(b).T),
            "The codes of a were read without their sign: after `& 255`, what is above 127 has 256 too much.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: (codes(a) - zero) @ _unsigned(b).T),
            "The codes of b were read without their sign: after `& 255`, what is above 127 has 256 too much.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: codes(a) @ codes(b).T),
            "The zero point is not subtracted from the codes of a.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: codes(a) @ codes(b).T - zero),
            "The zero point was subtracted once from each sum. It belongs to each code: each product has it.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: (codes(a) + zero) @ codes(b).T),
            "The zero point was added. A code q stands for scale * (q - zero).",
        ),
        Suspect(
            _told(lambda a, b, zero, out: (codes(a) - zero) @ (codes(b) - zero).T),
            "The zero point was subtracted from the codes of b as well. It is that of a; b is symmetric.",
        ),
        Suspect(
            _told(_first_of_each),
            "Only one code of each word was taken. A word has four: shift by 0, 8, 16 and 24 bits.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: (np.asarray(a, np.int64) - zero) @ np.asarray(b, np.int64).T),
            "The words were multiplied as whole numbers. Each holds four codes of eight bits: take them out first.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: product(a, b, zero, out) + out),
            "The sum begins with what stood in out. Begin it with 0.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: _part(np.arange(4 * a.shape[1]) % 4 < 3)(a, b, zero, out)),
            "The fourth code of each word is missing: shift by 0, 8, 16 and 24 bits.",
        ),
        Suspect(
            _part(slice(None, -4)),
            "The last word of each row is missing. A row has a.shape[1] words, numbers 0 to a.shape[1] - 1.",
        ),
        Suspect(
            _part(slice(-4, None)),
            "This is the sum of the last word alone. The sum begins with 0 once, before the loop over the words.",
        ),
        *_suspects(
            lambda w, n: _signed(w >> 8 * n & 255, first=129),
            "128 was left as it is, and stands for -128: a code is smaller by 256 from 128 on.",
        ),
        *_suspects(
            lambda w, n: _signed(w >> 8 * n & 255, less=255),
            "Codes from 128 on stand for ones that are smaller by 256, not by 255.",
        ),
        *_suspects(lambda w, n: _signed(w >> 8 * n), _UNMASKED),
        *_suspects(lambda w, n: w >> 8 * n, _UNMASKED),
        *_suspects(
            lambda w, n: w >> 8 * n & 127,
            "The mask has seven bits, so the bit of the sign is lost: `& 255`, then what is above 127 is smaller by "
            "256.",
        ),
        *_suspects(
            lambda w, n: _signed(w >> 4 * n & 255),
            "The shifts are four bits apart. A code has eight: shift by 0, 8, 16 and 24.",
        ),
        Suspect(
            _told(lambda a, b, zero, out: codes(np.asarray(a, np.int64) - zero) @ codes(b).T),
            "The zero point was subtracted from the word. It belongs to each of its four codes: take them out first.",
        ),
    ),
    advice={
        "tail": "The last rows or columns were never written. cuda.grid(2) gives x, the column, first, then y, the "
        "row: are they exchanged? Or is the guard too narrow?",
        "out-of-bounds": "The grid is larger than out: guard row and column. And both are read along their rows, "
        "a.shape[1] words of four codes: a[row, k] and b[column, k].",
        "wrong-value": "Take one word by hand: 0x000000FF holds -1, 0, 0, 0. (word >> 8 * k) & 255 is byte number k.",
    },
    budget=Budget(
        points=1,
        text="each word is loaded once by each thread that needs it: for 16 x 16 sums of 32 terms at most 128 load and "
        "8 store requests",
        require={"global_load_requests": 128, "global_store_requests": 8},
        over="The result is right, but words are loaded again for each of their codes. Keep a word in a variable, and "
        "take four codes out of it; keep the sum in a variable, too.",
        case=int8_case("exact", 16, 16, 32),
    ),
    hints=(
        "How many codes does a thread need, and how many loads are these if a load brings four?",
        "A word, then four times: shift it, mask eight bits, give them their sign. The sum is a whole number, "
        "begun with 0.",
        "Shift the word to the right by eight bits for each code before it, mask with 255, and take 256 off what "
        "is above 127. The zero point is taken off the code of a, before the product.",
    ),
)
