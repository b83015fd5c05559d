"""Answers to 05-launch: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"blocks": 1954}, "blocks of 256"),
    ({"blocks": 500_000}, "one block for each"),
    ({"blocks": 500_160}, "Those are threads"),
    ({"blocks": 15_625}, "the number of warps"),
    ({"blocks": 2000}, "Divide the elements by the threads"),
    ({"idle": 159}, "One too few"),
    ({"idle": 192}, "need not be started"),
    ({"warps": 8}, "Is the eighth one needed"),
    ({"warps": "seven"}, "Write a number, without quotation marks"),
)
