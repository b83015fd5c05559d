"""Answers to 01-bus: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"many": 3000}, "does not wait until the last one is done"),
    ({"many": 100}, "When is it done"),
    ({"many": 130}, "the last one begins in cycle 99"),
    ({"many": 400}, "That is the car. When does the last job begin"),
    ({"from_here": 8}, "the bus 30 + 7"),
    ({"from_here": 9}, "That is not before"),
    ({"from_here": 11}, "One fewer"),
    ({"from_here": 30}, "The car needs 4 n cycles"),
    ({"chain": 129}, "nothing is in flight"),
    ({"chain": 400}, "That is the car"),
    ({"chain": "long"}, "Write a number, without quotation marks"),
)
