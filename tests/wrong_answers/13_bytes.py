"""Answers to 13-bytes: (numbers, words that the message must hold). The right ones are computed by the task."""

COUNT = 1024 * 4096

WRONG = (
    ({"channel": COUNT}, "The scales are missing"),
    ({"channel": COUNT + 4 * 4096}, "the rows of the weight"),
    ({"channel": COUNT + 1024}, "A scale is a float32"),
    ({"channel": 4 * COUNT + 4096}, "is one byte, not four"),
    ({"channel": COUNT // 2}, "A byte for each weight"),
    ({"group": COUNT // 2}, "The scales are missing"),
    ({"group": COUNT + 2 * COUNT // 64}, "share a byte"),
    ({"group": COUNT // 2 + 4 * COUNT // 64}, "These scales are float16"),
    ({"group": COUNT // 4}, "how many groups are there"),
    ({"csr": 8 * (COUNT // 10)}, "The pointers are missing"),
    ({"csr": 4 * (COUNT // 10)}, "These are the values"),
    ({"csr": 12 * (COUNT // 10)}, "does not store the row of each entry"),
    ({"csr": 4 * (COUNT // 10) + 4 * 1025}, "The columns are missing"),
    ({"csr": 8 * (COUNT // 5)}, "one pointer more"),
    ({"two_four": COUNT}, "The indices are missing"),
    ({"two_four": 2 * COUNT + COUNT // 4}, "Half of the weights go"),
    ({"two_four": COUNT + COUNT // 4}, "a quarter of a byte"),
    ({"two_four": COUNT + COUNT // 2}, "not a byte"),
    ({"two_four": 4 * COUNT}, "two bytes and two bits each"),
    ({"two_four": "4718592"}, "without quotation marks"),
)
