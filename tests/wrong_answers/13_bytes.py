"""Answers to 13-bytes: (numbers, words that the message must hold). The right ones are computed by the task."""

COUNT = 1024 * 4096

WRONG = (
    ({"channel": COUNT + 1024}, "A scale is a float32"),
    ({"channel": 4 * COUNT + 4096}, "is one byte, not four"),
    ({"channel": COUNT // 2}, "A byte for each weight"),
    ({"group": COUNT // 4}, "how many groups are there"),
    ({"csr": 4 * (COUNT // 10)}, "These are the values"),
    ({"csr": 8 * (COUNT // 5)}, "one pointer more"),
    ({"two_four": 4 * COUNT}, "two bytes and two bits each"),
    ({"two_four": "4718592"}, "without quotation marks"),
)
