"""Answers to 02-gil: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"python": 3}, "not one of them divided"),
    ({"python": 9}, "run Python at a time"),
    ({"mixed": 10}, "In no column do both run Python"),
    ({"pays": 50}, "as long as the whole work"),
    ({"pays": 102}, "can be halved"),
    ({"pays": 200}, "two need 50 + w / 2"),
)
