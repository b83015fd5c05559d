"""Answers to 08-count: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"flops": 64 * 48 * 96}, "Each comes with an add"),
    ({"flops": 2 * 64 * 96}, "How many terms"),
    ({"flops": 55296}, "the number of bytes"),
    ({"least_bytes": 13824}, "A float32 has 4 bytes"),
    ({"least_bytes": 30720}, "must be stored"),
    ({"least_bytes": 24576}, "two operands must be read"),
    ({"least_bytes": 2359296}, "each element moves once"),
    ({"intensity": 64}, "two flops"),
    ({"intensity": 512}, "4 bytes"),
    ({"intensity": 384.0}, "there are three"),
    ({"naive_requests": 64}, "two factors"),
    ({"naive_requests": 4096}, "lanes of a warp load together"),
    ({"naive_requests": 32768}, "in the block"),
    ({"naive_requests": 2}, "How many rounds"),
    ({"tiled_requests": 128}, "without tiles"),
    ({"tiled_requests": 4}, "one of b"),
    ({"tiled_requests": 2}, "How many tiles"),
    ({"tiled_requests": 32}, "not two for each"),
    ({"tiled_requests": 9}, "Follow one thread"),
    ({"flops": "many"}, "is a number"),
)
