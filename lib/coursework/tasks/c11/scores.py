"""11-scores: What grows with the square of the length?"""

import numpy as np

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

LENGTH, WIDTH, CACHE = 4096, 64, 1 << 20


def _one_head(n):
    """q, k, v and the scores of one head, of which only the shapes matter."""
    q, k, v = (np.empty((n, WIDTH), np.float32) for _ in range(3))
    return (q, k, v), np.empty((len(q), len(k)), np.float32)


def _inputs():
    return sum(x.nbytes for x in _one_head(LENGTH)[0])


def _scores():
    return _one_head(LENGTH)[1].nbytes


def _allowed():
    """A query looks at the keys up to its own place."""
    return int(np.minimum(np.arange(LENGTH) + 1, LENGTH).sum())


def _fits():
    return max(n for n in (1 << p for p in range(14)) if _one_head(n)[1].nbytes <= CACHE)


SCORES = PredictionTask(
    id="11-scores",
    section=Section("11.2", "11_attention", "Count first"),
    title="What grows with the square of the length?",
    objective="Predict the bytes of scores, of queries, keys and values, and the length at which the scores leave a "
    "cache",
    points=1,
    minutes=4,
    questions=(
        Question(
            "inputs",
            "bytes of q, k and v together: 4096 x 64 each, float32",
            _inputs,
            {
                _inputs() // 3: "That is one of the three.",
                _inputs() // 4: "That is the number of elements. A float32 has 4 bytes.",
                _inputs() // 12: "That is the number of elements of one of the three.",
                2 * _inputs() // 3: "Those are two of the three: queries, keys and values.",
                2 * _inputs(): "A float32 has 4 bytes, not 8.",
                _inputs() // 2: "A float32 has 4 bytes, not 2.",
                4 * _inputs() // 3: "That counts the result, too. Only q, k and v are asked for.",
            },
            "Each of the three has 4096 rows of 64 numbers.",
        ),
        Question(
            "scores",
            "bytes of the scores of one head: 4096 queries, 4096 keys, float32",
            _scores,
            {
                _scores() // 4: "That is the number of scores. A float32 has 4 bytes.",
                _scores() * WIDTH: "A score is one number: the 64 products of a query and a key have been added up.",
                LENGTH * WIDTH * 4: "Those are the bytes of q. There is a score for each pair of a query and a key.",
                _scores() // 2: "That is about half, as with a causal mask. Here each query looks at each key.",
                2 * _scores(): "A float32 has 4 bytes, and the scores are one matrix.",
            },
            "There is one score for each pair of a query and a key.",
        ),
        Question(
            "allowed",
            "scores that a causal mask leaves: query i looks at keys 0 to i",
            _allowed,
            {
                LENGTH * LENGTH: "That is all pairs. Query 0 looks at one key only, query 1 at two.",
                LENGTH
                * LENGTH
                // 2: "Nearly: half of the square cuts through the diagonal, and a query looks at its own key, too.",
                LENGTH * (LENGTH - 1) // 2: "Without the diagonal. A query looks at its own key, too.",
                LENGTH: "Those are the keys of the last query alone, or one for each query. The queries before it look "
                "at keys, too: add up.",
                2 * LENGTH * LENGTH: "Those are bytes. The number of scores is asked for.",
                4 * _allowed(): "Those are bytes. The number of scores is asked for.",
            },
            "Query 0 looks at 1 key, query 1 at 2, the last one at 4096. Add them up.",
        ),
        Question(
            "fits",
            "the largest power of two N whose N x N scores, float32, fit into 1 MiB",
            _fits,
            {
                1024: "1024 x 1024 is a million numbers, of 4 bytes each.",
                9: "Is that an exponent? The power of two itself is asked for.",
                256: "256 x 256 scores are a quarter of 1 MiB. Does twice the length still fit?",
                _fits() ** 2: "That is the number of scores. How many rows have they?",
                4096: "4096 x 4096 scores are 64 MiB, as the second question has it.",
                128: "128 x 128 scores are a sixteenth of 1 MiB. How much longer can it be?",
            },
            "Twice the length, four times the bytes. Begin with N = 128, and go up.",
        ),
    ),
    hints=(
        "Which of the arrays have a row for each position, and which has a number for each pair of positions?",
        "Positions times 64 times 4 bytes for each of q, k and v. Positions times positions times 4 bytes for the "
        "scores. The causal mask leaves a triangle with its diagonal.",
        "Write n = 4096. The triangle has 1 + 2 + ... + n numbers, a little more than half of n * n. For the last "
        "question solve 4 * N * N = 1024 * 1024.",
    ),
)
