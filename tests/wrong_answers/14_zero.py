"""Answers to 14-zero: (numbers, words that the message must hold). The right ones are computed by the task."""

P, N = 8, 64

WRONG = (
    ({"stage_0": 4 * P}, "Adam keeps its own weights"),
    ({"stage_0": 12 * P}, "Weights, gradients, and three arrays"),
    ({"stage_0": 8 * P}, "4 for each of the optimiser's three"),
    ({"stage_0": 14 * P}, "the weight in bfloat16, or its gradient"),
    ({"stage_0": 20 * P}, "two bytes each"),
    ({"stage_1": 16 * P / N}, "weights and gradients are whole"),
    ({"stage_1": 12 * P / N}, "whole in each worker"),
    ({"stage_1": 4 * P + 8 * P / N}, "three numbers, not two"),
    ({"stage_1": 2 * P + 14 * P / N}, "That is stage 2"),
    ({"stage_2": 4 * P + 12 * P / N}, "That is stage 1"),
    ({"stage_2": 2 * P + 12 * P / N}, "cut, not gone"),
    ({"stage_2": 16 * P / N}, "That is stage 3"),
    ({"stage_3": 16 * P}, "without any cut"),
    ({"stage_3": 14 * P / N}, "The weights are cut, not gone"),
    ({"sends": 4 * P * 63 / 64}, "gathered twice"),
    ({"sends": 6 * P}, "a worker's last part is not sent"),
    ({"sends": 2 * P * 63 / 64}, "That is one of the three"),
    ({"sends": 12 * P * 63 / 64}, "half of an all-reduce"),
)
