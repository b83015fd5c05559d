"""Answers to 07-sectors: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"every_eighth": 1024}, "1024 is the number of bytes"),
    ({"four_in_a_row": 17}, "Draw the 32 lanes"),
    ({"neighbours": "four"}, "Write a number, without quotation marks"),
)
