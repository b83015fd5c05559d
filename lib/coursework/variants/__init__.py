"""Numbers of one's own: the same questions with other numbers, drawn for each student of a class.

`cNN.py` says for some tasks of prediction which numbers may change and what the answers are then. The formulas are the
same for all, and with the numbers of the book they give the answers of the book (tested). Who gets which numbers,
own.py says.
"""

import hashlib
import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple


class Asked(NamedTuple):
    """A question with numbers put in: its text, its answer, and what wrong answers rest on."""

    text: str
    truth: int | float | str
    slips: dict = {}  # noqa: RUF012 - never changed
    otherwise: str = "Do it first with the numbers of the text, with the hints; then the same with yours."


@dataclass(frozen=True)
class Variants:
    """`asked(**numbers)` gives {name of a question: Asked}; `says` tells the numbers, in words with {names} in them.

    `choices`: what each number may be. `fits(**numbers)`: whether numbers are as hard as those of the book.
    """

    book: dict
    choices: dict
    says: str
    asked: Callable
    fits: Callable = field(default=lambda **numbers: True)

    def all(self):
        """Every set of numbers but the book's, in a fixed order."""
        sets = (dict(zip(self.choices, values, strict=True)) for values in itertools.product(*self.choices.values()))
        return [numbers for numbers in sets if numbers != self.book and self.fits(**numbers)]

    def draw(self, key, attempt=0):
        """The numbers for a key; for another attempt, others."""
        order = sorted(
            self.all(), key=lambda numbers: hashlib.sha256(f"{key}|{sorted(numbers.items())}".encode()).digest()
        )
        return order[attempt % len(order)]

    def text(self, numbers):
        """The numbers in words, for whoever has them."""
        return self.says.format(**{n: f"{v:,}" if isinstance(v, int) and v > 9999 else v for n, v in numbers.items()})

    def questions(self, numbers, published):
        """The Questions of a task with these numbers in the place of those of the text."""
        asked = self.asked(**numbers)
        return tuple(_question(question, asked[question.name]) for question in published)


def _question(published, asked):
    slips = {wrong: why for wrong, why in asked.slips.items() if wrong != asked.truth}
    return replace(
        published, text=asked.text, truth=lambda: asked.truth, slips=slips, otherwise=asked.otherwise, picture=None
    )


def of_chapter(chapter):
    """{task id: Variants} of a chapter, as a two-digit string."""
    there = (Path(__file__).parent / f"c{chapter}.py").is_file()
    return importlib.import_module(f"{__name__}.c{chapter}").VARIANTS if there else {}


def find(task_id):
    """The Variants of a task, or None."""
    return of_chapter(task_id.partition("-")[0]).get(task_id)
