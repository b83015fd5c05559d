"""Answers to 06-banks: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"seconds": 32}, "Not all lanes meet in one bank"),
    ({"seconds": 3}, "Word w lies in bank"),
    ({"fours": 8}, "to all who ask for it"),
    ({"fours": 32}, "Lanes 0 to 3 read word 0"),
    ({"fours": 2}, "one word at a time"),
    ({"column": 36}, "There are 32 lanes only"),
    ({"column": 6}, "After how many rows does bank 0 come again"),
)
