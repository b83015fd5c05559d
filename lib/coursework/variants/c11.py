"""Other numbers for the predictions of chapter 11."""

import math

from . import Asked, Variants


def _fits(cache):
    """The largest power of two N for which N x N numbers of 4 bytes fit into so many MiB."""
    return 1 << (math.isqrt((cache << 20) // 4).bit_length() - 1)


def scores(length, width, cache):
    q, pairs, fits = 4 * length * width, length * length, _fits(cache)
    return {
        "inputs": Asked(
            f"bytes of q, k and v together: {length} x {width} each, float32",
            3 * q,
            {
                q: "That is one of the three.",
                3 * q // 4: "That is the number of elements. A float32 has 4 bytes.",
                q // 4: "That is the number of elements of one of the three.",
                2 * q: "Those are two of the three: queries, keys and values.",
                6 * q: "A float32 has 4 bytes, not 8.",
                3 * q // 2: "A float32 has 4 bytes, not 2.",
                4 * q: "That counts the result, too. Only q, k and v are asked for.",
            },
            f"Each of the three has {length} rows of {width} numbers.",
        ),
        "scores": Asked(
            f"bytes of the scores of one head: {length} queries, {length} keys, float32",
            4 * pairs,
            {
                pairs: "That is the number of scores. A float32 has 4 bytes.",
                4
                * pairs
                * width: f"A score is one number: the {width} products of a query and a key have been added up.",
                q: "Those are the bytes of q. There is a score for each pair of a query and a key.",
                2 * pairs: "That is about half, as with a causal mask. Here each query looks at each key.",
                8 * pairs: "A float32 has 4 bytes, and the scores are one matrix.",
            },
            "There is one score for each pair of a query and a key.",
        ),
        "allowed": Asked(
            "scores that a causal mask leaves: query i looks at keys 0 to i",
            length * (length + 1) // 2,
            {
                pairs: "That is all pairs. Query 0 looks at one key only, query 1 at two.",
                pairs
                // 2: "Nearly: half of the square cuts through the diagonal, and a query looks at its own key, too.",
                length * (length - 1) // 2: "Without the diagonal. A query looks at its own key, too.",
                length: "Those are the keys of the last query alone, or one for each query. The queries before it look "
                "at keys, too: add up.",
                2 * pairs: "Those are bytes. The number of scores is asked for.",
                2 * length * (length + 1): "Those are bytes. The number of scores is asked for.",
            },
            f"Query 0 looks at 1 key, query 1 at 2, the last one at {length}. Add them up.",
        ),
        "fits": Asked(
            f"the largest power of two N whose N x N scores, float32, fit into {cache} MiB",
            fits,
            {
                length: f"{length} x {length} scores are {pairs >> 18} MiB, as the second question has it.",
                2 * fits: f"{2 * fits} x {2 * fits} scores of 4 bytes each: how many MiB is that?",
                fits.bit_length() - 1: "Is that an exponent? The power of two itself is asked for.",
                fits // 2: f"{fits // 2} x {fits // 2} scores are a quarter of {cache} MiB. Does twice the length fit?",
                fits**2: "That is the number of scores. How many rows have they?",
                fits
                // 4: f"{fits // 4} x {fits // 4} scores are a sixteenth of {cache} MiB. How much longer can it be?",
            },
            "Twice the length, four times the bytes. Begin with N = 128, and go up.",
        ),
    }


VARIANTS = {
    "11-scores": Variants(
        {"length": 4096, "width": 64, "cache": 1},
        {"length": (2048, 3072, 4096, 5120, 8192), "width": (32, 64, 96, 128), "cache": (1, 4, 16)},
        "the head has {length} queries, keys and values, each a row of {width} numbers; the cache holds {cache} MiB.",
        scores,
        lambda length, width, cache: length > _fits(cache),
    )
}
