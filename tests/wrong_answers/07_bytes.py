"""Answers to 07-bytes: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"apart": 8192}, "A float32 has 4 bytes"),
    ({"apart": 16384}, "What the first kernel stores, the second one loads"),
    ({"apart": 36864}, "ReLU has one operand"),
    ({"apart": 20480}, "Those are the loads alone"),
    ({"apart": 12288}, "one array for each kernel"),
    ({"fused": 12288}, "The result must be stored"),
    ({"fused": 24576}, "stays in a register"),
    ({"fused": 32768}, "Which arrays does one thread load from"),
    ({"a_number": 16384}, "That is with an array w"),
    ({"a_number": 12292}, "it comes with the launch"),
    ({"backward": 12288}, "What must a thread load to know that"),
    ({"backward": 16384}, "Count those that a thread loads from"),
    ({"backward": 28672}, "each thread computes it once more"),
    ({"millis": 80}, "the three kernels apart"),
    ({"millis": 30}, "that takes time as well"),
    ({"millis": 10}, "one array"),
    ({"millis": 20}, "What else does the chain need"),
    ({"millis": 0.04}, "the unit is another one"),
    ({"millis": 50}, "a million bytes in each millisecond"),
)
