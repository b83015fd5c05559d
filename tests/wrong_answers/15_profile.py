"""Answers to 15-profile: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"callees": 1700}, "at any depth"),
    ({"each": 1}, "divided by all calls"),
    ({"quarter": 3}, "Amdahl"),
    ({"price": 300}, "times the price of one"),
    ({"price": "5.12"}, "without quotation marks"),
)
