"""Answers to 06-divergence: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"ways": 1}, "do all lanes take the same way"),
    ({"ways": 2}, "There are three ways"),
    ({"ways": 11}, "Those are lanes that take one way"),
    ({"rounds": 31}, "Lane 31 makes 31 % 8 rounds"),
    ({"rounds": 3.5}, "Which lanes have most rounds"),
    ({"lanes": 28}, "That is the first round"),
    ({"lanes": 14}, "in how many rounds"),
    ({"lanes": 0.5}, "What is their mean"),
    ({"eighths": 32}, "In how many warps do they lie"),
    ({"eighths": 4}, "the lanes of one warp that store"),
    ({"firsts": 32}, "In how many warps do they lie"),
    ({"firsts": 2}, "32 does not belong to them"),
)
