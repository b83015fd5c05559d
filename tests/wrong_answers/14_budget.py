"""Answers to 14-budget."""

from answers import MASTER, edit, replace


def best_of_all(gpus):
    """right"""
    return {
        "large": {"tensor": 4, "pipeline": 6, "data": 8, "zero": 1},
        "middle": {"tensor": 4, "data": 64, "zero": 3},
        "small": {"data": 64, "zero": 3},
    }


def from_a_table(gpus):
    """right"""
    grids = [("large", 4, 6, 8, 1), ("middle", 4, 1, 64, 3), ("small", 1, 1, 32, 3)]
    names = "tensor", "pipeline", "data", "zero"
    return {job: dict(zip(names, numbers, strict=True)) for job, *numbers in grids}


five_ways = edit(
    MASTER, "wrong impossible: The simulator says", replace('"tensor": 4, "data": 32', '"tensor": 5, "data": 32')
)
a_float = edit(
    MASTER, "wrong number: data is a whole number", replace('"data": 64, "zero": 3', '"data": 64.0, "zero": 3')
)
