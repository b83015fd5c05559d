"""Answers to 14-bytes: (numbers, words that the message must hold). The right ones are computed by the task."""

SIZE = 4 * 3 * 2**20

WRONG = (
    ({"naive": SIZE}, "one message for each of them"),
    ({"naive": 8 * SIZE}, "Worker 0 has the sum itself"),
    ({"naive": 14 * SIZE}, "Half of this comes in"),
    ({"tree": 7 * SIZE}, "without a tree"),
    ({"tree": 6 * SIZE}, "the rounds in which worker 0 receives"),
    ({"tree": 4 * SIZE}, "After 3 rounds"),
    ({"tree": SIZE}, "That is one round"),
    ({"ring": 7 * SIZE // 8}, "the reduce-scatter"),
    ({"ring": 14 * SIZE}, "one chunk is sent"),
    ({"ring": 2 * SIZE}, "a chunk need not go round"),
    ({"ring": 3 * SIZE}, "how many bytes has a chunk"),
    ({"messages": 7}, "until all have every chunk"),
    ({"messages": 16}, "needs n - 1 steps"),
    ({"messages": 6}, "That is a tree"),
    ({"reduce_scatter": 7 * SIZE // 8}, "A bfloat16 has two bytes"),
    ({"reduce_scatter": SIZE // 2}, "its last chunk a worker keeps"),
    ({"all_gather": 7 * SIZE // 8}, "the result is 8 times as long"),
    ({"all_gather": 8 * SIZE}, "what the next worker began with"),
    ({"all_gather": "much"}, "without quotation marks"),
)
