"""Answers to 01-bus: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"many": 100}, "When is it done"),
    ({"from_here": 8}, "the bus 30 + 7"),
    ({"from_here": 30}, "The car needs 4 n cycles"),
    ({"chain": 400}, "That is the car"),
    ({"chain": "long"}, "Write a number, without quotation marks"),
)
