"""Answers to 03-predict: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"static": 18}, "which rows are the long ones"),
    ({"static": 10}, "Which thread ends last"),
    ({"static": 25}, "add up i + 1"),
    ({"chunks": 2}, "forgets the last, shorter chunk"),
    ({"chunks": 4}, "chunks of 2"),
    ({"dynamic": 18}, "perfect balance"),
    ({"dynamic": 26}, "the static schedule gives"),
    ({"dynamic": 20}, "chunks of 1"),
    ({"folded": 9}, "one pair of rows"),
    ({"folded": 36}, "Two threads share it"),
    ({"folded": "a half"}, "Write a number, without quotation marks"),
)
