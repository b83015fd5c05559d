"""Answers to 05-launch: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"blocks": 2604}, "Rounded down"),
    ({"blocks": 1954}, "blocks of 256"),
    ({"blocks": 500_000}, "one block for each"),
    ({"blocks": 500_160}, "Those are threads"),
    ({"blocks": 15_625}, "the number of warps"),
    ({"blocks": 2000}, "Divide the elements by the threads"),
    ({"idle": 32}, "that have an element"),
    ({"idle": 0}, "the division would have no rest"),
    ({"idle": 159}, "One too few"),
    ({"idle": 192}, "need not be started"),
    ({"warps": 6}, "Where do the other 8 run"),
    ({"warps": 6.25}, "What happens to the rest"),
    ({"warps": 8}, "Is the eighth one needed"),
    ({"warps": "seven"}, "Write a number, without quotation marks"),
)
