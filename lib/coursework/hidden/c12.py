"""Hidden cases of chapter 12: sizes and values that no visible case has."""

from ..definition import Case
from ..tasks.c12.accumulate import rows
from ..tasks.c12.survive import training
from ..tasks.c12.tape import network

CASES = {
    "12-tape": (
        Case("one variable", lambda rng: ({"alone": []}, "alone")),
        Case("25 variables, five uses", network(25, 5)),
        Case("two variables", network(2, 1)),
    ),
    "12-accumulate": (
        Case("one row", rows(1, 5)),
        Case("23 rows, 5 fit", rows(23, 5, 4)),
        Case("as many as fit", rows(6, 6)),
    ),
    "12-survive": (
        Case("five, a failure leaves nothing that was not synced", training(5, "nothing")),
        Case("two, the disk is full at the first write", training(2, "half", 1)),
        Case("two long ones, a failure leaves the first half", training(2, "half", length=300)),
    ),
}
