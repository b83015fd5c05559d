"""Answers to 08-waves: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"launched": 23 * 19}, "Both numbers of tiles were rounded down"),
    ({"launched": 458}, "round each direction up"),
    ({"launched": 44}, "Tiles along one direction times"),
    ({"launched": 1920}, "How many tiles lie along 3000 rows"),
    ({"resident": 4}, "Do the registers"),
    ({"resident": 8}, "What else does a block need"),
    ({"resident": 2}, "The last one fits"),
    ({"resident": 3.2}, "no part of a block"),
    ({"rounds": 1}, "Are all blocks of the launch among them"),
    ({"rounds": 5}, "one block on each multiprocessor"),
    ({"rounds": 3}, "two blocks on each multiprocessor"),
    ({"rounds": 1.48}, "How many blocks run at once"),
    ({"share": 0.48}, "That is the last wave alone"),
    ({"share": 1.48}, "before it is rounded up"),
    ({"share": 74}, "Per cent, where a share is asked for"),
)
