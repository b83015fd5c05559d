"""Answers to 08-count: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"flops": 2 * 64 * 96}, "How many terms"),
    ({"flops": 55296}, "the number of bytes"),
    ({"least_bytes": 24576}, "two operands must be read"),
    ({"least_bytes": 2359296}, "each element moves once"),
    ({"intensity": 384.0}, "there are three"),
    ({"naive_requests": 32768}, "in the block"),
    ({"naive_requests": 2}, "How many rounds"),
    ({"tiled_requests": 32}, "not two for each"),
    ({"tiled_requests": 9}, "Follow one thread"),
    ({"strassen": 225}, "a quarter of n^3"),
    ({"strassen": 112}, "if all flops were saved"),
    ({"strassen": 1000}, "When are they equal"),
    ({"flops": 1}, "Then take all elements"),
    ({"flops": "many"}, "Write a number, without quotation marks"),
)
