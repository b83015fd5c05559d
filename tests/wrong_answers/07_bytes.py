"""Answers to 07-bytes: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"apart": 16384}, "What the first kernel stores, the second one loads"),
    ({"apart": 36864}, "ReLU has one operand"),
    ({"apart": 12288}, "one array for each kernel"),
    ({"fused": 24576}, "stays in a register"),
    ({"fused": 32768}, "Which arrays does one thread load from"),
    ({"a_number": 12292}, "it comes with the launch"),
    ({"backward": 28672}, "each thread computes it once more"),
    ({"millis": 20}, "What else does the chain need"),
    ({"millis": 0.04}, "the unit is another one"),
    ({"millis": 50}, "a million bytes in each millisecond"),
)
