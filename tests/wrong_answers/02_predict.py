"""Answers to 02-predict: (numbers, words of the message)."""

WRONG = (
    ({"orders": 6}, "the number of steps in all"),
    ({"orders": 12}, "as ABBAAB"),
    ({"in_memory": 9}, "Stop the film"),
)
