"""Hidden cases of chapter 12: sizes and values that no visible case has."""

from ..definition import Case
from ..tasks.c12.accumulate import rows
from ..tasks.c12.adam import adam_case
from ..tasks.c12.loss import loss_case
from ..tasks.c12.moments import moments_parts
from ..tasks.c12.own import own_arguments
from ..tasks.c12.survive import training
from ..tasks.c12.tape import network
from ..tasks.c12.words import words_case

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
    "12-loss": (
        loss_case("one class", 2, 1),
        loss_case("no row has a label", 2, 12, 3.0, 2),
        loss_case("many classes", 2, 103, 60.0),
    ),
    "12-adam": (adam_case("one", 1, 2), adam_case("a large step, with decay", 300, 40, 0.5)),
    "12-words": (words_case("one position", 1, 3, 8), words_case("all the same word", 25, 4, 70, 1)),
    "12-moments": (
        Case("one part", moments_parts((9,))),
        Case("far apart", lambda rng: ([[3, -1e5, 1.0], [1, 1e5, 0.0]],)),
    ),
    "12-own": (Case("7 pictures", own_arguments(7)),),
    "12-survive": (
        Case("five, a failure leaves nothing that was not synced", training(5, "nothing")),
        Case("two, the disk is full at the first write", training(2, "half", 1)),
        Case("two long ones, a failure leaves the first half", training(2, "half", length=300)),
    ),
}
