"""Answers to 01-asm: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"lanes": 32}, "How many multiply-adds does it have"),
    ({"lanes": 4}, "a ymm register more"),
    ({"lanes": 16}, "zmm"),
    ({"lanes": 256}, "in bits"),
    ({"lanes": 1}, "addq says"),
    ({"chains": 1}, "Is it always the same"),
    ({"chains": 32}, "registers that are added to"),
    ({"chains": 8}, "hold what was loaded"),
    ({"rounds": 32}, "1024 elements"),
    ({"rounds": 125}, "number of vectors"),
    ({"rounds": 1007}, "grows by 32"),
    ({"multiply_adds": 1007}, "one number at a time"),
    ({"multiply_adds": 126}, "the other two loops"),
    ({"multiply_adds": 124}, "first loop alone"),
    ({"multiply_adds": 37}, "rounds of all loops"),
    ({"multiply_adds": 139}, "four at a time"),
)
