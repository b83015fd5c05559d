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


too_many = edit(
    MASTER, "wrong too-many: their numbers are added", replace('"data": 64, "zero": 3', '"data": 256, "zero": 3')
)
each_gets_all = edit(
    MASTER,
    "wrong too-many: the three run at the same time",
    replace('"tensor": 8, "pipeline": 8, "data": 4', '"tensor": 8, "pipeline": 8, "data": 8'),
)
not_cut = edit(MASTER, "wrong impossible: a GPU would hold", replace('"data": 64, "zero": 3', '"data": 64, "zero": 0'))
seven_stages = edit(
    MASTER, "wrong impossible: The simulator says: pipeline 7", replace('"pipeline": 8', '"pipeline": 7')
)
five_ways = edit(
    MASTER, "wrong impossible: The simulator says", replace('"tensor": 4, "data": 32', '"tensor": 5, "data": 32')
)
odd_batch = edit(
    MASTER, "wrong impossible: The simulator says", replace('"data": 64, "zero": 3', '"data": 48, "zero": 3')
)
one_job = edit(MASTER, "wrong type: a dict with these three names", replace('"small": {"data": 64, "zero": 3},', ""))
another_name = edit(MASTER, "wrong grid: A grid is a dict with some of", replace('"data": 64, "zero": 3', '"gpus": 64'))
a_float = edit(
    MASTER, "wrong number: data is a whole number", replace('"data": 64, "zero": 3', '"data": 64.0, "zero": 3')
)
zero_of_four = edit(
    MASTER, "wrong number: zero is a whole number, 0 to 3", replace('"data": 64, "zero": 3', '"data": 64, "zero": 4')
)
numbers_of_gpus = edit(MASTER, "wrong grid: A grid is a dict", replace('{"data": 64, "zero": 3}', "64"))
a_slow_one = edit(
    MASTER, "over budget over-budget: Which one, and which ends early", replace('"tensor": 8, "pipeline": 8, "data": 4, "zero": 1, "interleave": 4', '"tensor": 8, "pipeline": 8, "data": 2, "zero": 1')
)  # fmt: skip
