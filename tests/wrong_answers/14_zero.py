"""Answers to 14-zero: (numbers, words that the message must hold). The right ones are computed by the task."""

P, N = 8, 64

WRONG = (
    ({"stage_0": 8 * P}, "4 for each of the optimiser's three"),
    ({"stage_1": 4 * P + 8 * P / N}, "three numbers, not two"),
    ({"stage_2": 16 * P / N}, "That is stage 3"),
    ({"stage_3": 16 * P}, "without any cut"),
)
