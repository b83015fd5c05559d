"""Answers to 02-gil: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"python": 6}, "needs the GIL all the time"),
    ({"python": 3}, "not one of them divided"),
    ({"python": 9}, "run Python at a time"),
    ({"mixed": 12}, "the GIL is free"),
    ({"mixed": 6}, "Both begin with Python"),
    ({"mixed": 8}, "after 2 ms"),
    ({"mixed": 10}, "In no column do both run Python"),
    ({"pays": 50}, "as long as the whole work"),
    ({"pays": 51}, "more than 51"),
    ({"pays": 100}, "take the same time"),
    ({"pays": 102}, "can be halved"),
    ({"pays": 200}, "two need 50 + w / 2"),
)
