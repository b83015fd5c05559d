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
    ({"guided": 5}, "Ours takes half of one"),
    ({"guided": 13}, "chunks of 5 there would be"),
    ({"guided": 7}, "in the mean"),
    ({"guided": 16}, "the length of the first chunk"),
    ({"guided": 8}, "the last, shorter chunk forgotten"),
    ({"guided": 11}, "as long as so many are left"),
    ({"folded": "a half"}, "Write a number, without quotation marks"),
)
