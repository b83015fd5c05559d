"""Answers to 04-split: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"split": 0}, "if the array began with a line"),
    ({"split": 1000}, "Can two neighbours both reach"),
    ({"split": 250}, "of 16 bytes"),
    ({"split": 50}, "Where do the first two vectors begin"),
    ({"alone": 12}, "These are bytes"),
    ({"alone": 5}, "How many to the next multiple"),
    ({"alone": 11}, "A multiple of 32 comes before"),
    ({"alone": 8}, "the same place in the next vector"),
    ({"alone": 0}, "Which multiple of 32 comes next"),
    ({"rows": 1}, "Row 0 does"),
    ({"rows": 64}, "no multiple of 64"),
    ({"rows": 32}, "12 lines and a half"),
    ({"rows": 4}, "what remains of that by 64"),
    ({"padded": 104}, "multiple of 32 bytes"),
    ({"padded": 128}, "A shorter one will"),
    ({"padded": 448}, "How many elements"),
    ({"padded": 96}, "must have room"),
    ({"padded": 116}, "Rows must be whole lines"),
)
