"""Answers to 06-banks: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"seconds": 1}, "Lane 16 reads word 32"),
    ({"seconds": 16}, "Those are the banks in use"),
    ({"seconds": 32}, "Not all lanes meet in one bank"),
    ({"seconds": 3}, "Word w lies in bank"),
    ({"fours": 4}, "hand it out four times"),
    ({"fours": 8}, "to all who ask for it"),
    ({"fours": 32}, "Lanes 0 to 3 read word 0"),
    ({"fours": 2}, "one word at a time"),
    ({"column": 1}, "Which banks do lanes 0, 1, 8 and 9 use"),
    ({"column": 32}, "That would be rows of 32 words"),
    ({"column": 8}, "How many of 32 lanes meet"),
    ({"column": 36}, "There are 32 lanes only"),
    ({"column": 6}, "After how many rows does bank 0 come again"),
)
