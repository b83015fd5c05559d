"""Answers to 14-bytes: (numbers, words that the message must hold). The right ones are computed by the task."""

SIZE = 4 * 3 * 2**20

WRONG = (
    ({"tree": SIZE}, "That is one round"),
    ({"ring": 3 * SIZE}, "how many bytes has a chunk"),
    ({"reduce_scatter": SIZE // 2}, "its last chunk a worker keeps"),
    ({"all_gather": 8 * SIZE}, "what the next worker began with"),
    ({"all_gather": "much"}, "without quotation marks"),
)
