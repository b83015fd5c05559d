"""Answers to 01-predict: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"flops": 2000}, "How many steps"),
    ({"flops": 7}, "of one element first"),
    ({"intensity": 4}, "read and written"),
    ({"intensity": 16.0}, "How many bytes"),
    ({"intensity": 1}, "one flop or two"),
    ({"intensity": 8}, "per number moved"),
    ({"instructions": 125}, "number of vectors"),
    ({"in_flight": 3}, "until the first one is done"),
    ({"scaled": 1 / (0.25 + 0.75 / 8)}, "Amdahl's law"),
    ({"scaled": 6}, "parallel part alone"),
    ({"scaled": "much"}, "Write a number, without quotation marks"),
)
