"""Answers to 08-waves: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"launched": 458}, "round each direction up"),
    ({"launched": 44}, "Tiles along one direction times"),
    ({"launched": 1920}, "How many tiles lie along 3000 rows"),
    ({"resident": 2}, "The last one fits"),
    ({"resident": 3.2}, "no part of a block"),
    ({"rounds": 1}, "Are all blocks of the launch among them"),
    ({"rounds": 3}, "two blocks on each multiprocessor"),
    ({"share": 1.48}, "before it is rounded up"),
)
