"""Answers to 01-asm: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"lanes": 4}, "a ymm register more"),
    ({"lanes": 16}, "zmm"),
    ({"lanes": 1}, "addq says"),
    ({"chains": 1}, "Is it always the same"),
    ({"chains": 32}, "registers that are added to"),
    ({"rounds": 1007}, "grows by 32"),
    ({"multiply_adds": 1007}, "one number at a time"),
    ({"multiply_adds": 126}, "the other two loops"),
)
