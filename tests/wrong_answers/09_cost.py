"""Answers to 09-cost: (numbers, words that the message must hold). The right ones are computed by the task."""

PIXELS = 28 * 28

WRONG = (
    ({"dense": 64 * PIXELS * 9}, "one input channel"),
    ({"dense": 32 * PIXELS * 9}, "one output channel"),
    ({"dense": 64 * PIXELS * 32}, "a kernel of 1 x 1"),
    ({"dense": 64 * 32 * 9}, "the number of weights"),
    ({"grouped": 64 * PIXELS * 32 * 9}, "only the input channels of its own group"),
    ({"grouped": 7}, "how many input channels"),
    ({"separable": 32 * PIXELS * 9}, "the depthwise part alone"),
    ({"separable": 64 * PIXELS * 32}, "the 1 x 1 part alone"),
    ({"dense_bytes": (32 * PIXELS + 64 * 32 * 9 + 64 * PIXELS)}, "A float32 has 4 bytes"),
    ({"dense_bytes": 4 * (32 + 64) * PIXELS}, "The weights move, too"),
    ({"dense_bytes": 4 * (32 * PIXELS + 64 * 32 * 9)}, "The result must be stored"),
    ({"separable_bytes": 4 * (2 * 32 * PIXELS + 9 * 32)}, "the depthwise layer alone"),
    ({"separable_bytes": 1}, "three arrays each"),
)
