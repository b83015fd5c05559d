"""Answers to 03-predict: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"static": 25}, "add up i + 1"),
    ({"chunks": 4}, "chunks of 2"),
    ({"dynamic": 20}, "chunks of 1"),
    ({"guided": 5}, "Ours takes half of one"),
    ({"guided": 13}, "chunks of 5 there would be"),
    ({"guided": 7}, "in the mean"),
    ({"guided": 16}, "the length of the first chunk"),
    ({"guided": 8}, "the last, shorter chunk forgotten"),
    ({"guided": 11}, "as long as so many are left"),
    ({"stolen": 26}, "takes half of them"),
    ({"stolen": 27}, "One of these rows is in work"),
    ({"stolen": 14}, "It has taken that one already"),
    ({"stolen": 16}, "at the beginning"),
    ({"stolen": 5}, "finished by then"),
    ({"stolen": 6}, "taken by then"),
    ({"stolen": 1}, "half of what it finds"),
    ({"stolen": 20}, "what is half of the rest"),
    ({"folded": "a half"}, "Write a number, without quotation marks"),
)
