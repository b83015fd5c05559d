"""Answers to 11-scores: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"inputs": 4096 * 64 * 4}, "one of the three"),
    ({"inputs": 3 * 4096 * 64}, "A float32 has 4 bytes"),
    ({"inputs": 4 * 4096 * 64 * 4}, "counts the result"),
    ({"inputs": 12345}, "4096 rows of 64 numbers"),
    ({"scores": 4096 * 4096}, "the number of scores"),
    ({"scores": 4096 * 4096 * 64 * 4}, "A score is one number"),
    ({"scores": 4096 * 64 * 4}, "the bytes of q"),
    ({"scores": 64}, "unit is another one"),
    ({"allowed": 4096 * 4096}, "Query 0 looks at one key only"),
    ({"allowed": 4096 * 2048}, "its own key, too"),
    ({"allowed": 4096 * 4095 // 2}, "Without the diagonal"),
    ({"allowed": 4 * 4096 * 4097 // 2}, "Those are bytes"),
    ({"fits": 1024}, "of 4 bytes each"),
    ({"fits": 262144}, "How many rows have they"),
    ({"fits": 256}, "still fit"),
    ({"fits": 2}, "four times the bytes"),
    ({"fits": "512"}, "without quotation marks"),
)
