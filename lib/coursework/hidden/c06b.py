"""Hidden cases of the second notebook of chapter 06: sizes that no visible case has."""

from ..tasks.c06b.bins import labels_case
from ..tasks.c06b.dots import dots_case
from ..tasks.c06b.largest import rows_case
from ..tasks.c06b.loss import loss_case
from ..tasks.c06b.norms import norms_case
from ..tasks.c06b.shared import smooth_case
from ..tasks.c06b.total import total_case

CASES = {
    "06b-bins": (labels_case("one element", 1, 1), labels_case("all alike", 90, 2, [7] * 90), labels_case("n", 500, 4)),
    "06b-dots": (dots_case("one element", 1), dots_case("one more", 65), dots_case("n", 250)),
    "06b-smooth": (smooth_case("one element", 1), smooth_case("one more", 65), smooth_case("one less", 127)),
    "06b-loss": (loss_case("one element", 1, 1), loss_case("one more", 129, 4), loss_case("n", 500, 5)),
    "06b-largest": (
        rows_case("all empty", 5, 0, 0),
        rows_case("one more", 130, 129, 128, 127),
        rows_case("short", 3, 1, 2, 3, 0),
    ),
    "06b-norms": (norms_case("one element", 1), norms_case("one more", 65), norms_case("n", 250)),
    "06b-rises": (smooth_case("one element", 1), smooth_case("one more", 65), smooth_case("one less", 127)),
    "06b-total": (total_case("one element", 1), total_case("one more", 33), total_case("n", 250)),
}
