"""Answers to 07-sectors: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"neighbours": 32}, "Neighbouring threads share a sector"),
    ({"neighbours": 128}, "128 is the number of bytes"),
    ({"every_eighth": 4}, "lane 1 reads byte 32"),
    ({"every_eighth": 1024}, "1024 is the number of bytes"),
    ({"four_in_a_row": 4}, "every fourth element"),
    ({"four_in_a_row": 64}, "the sum over the loop"),
    ({"four_in_a_row": 17}, "Draw the 32 lanes"),
    ({"neighbours": "four"}, "Write a number, without quotation marks"),
)
