"""A small table that prints as text in a terminal and as HTML in a notebook."""

import math
import re
from dataclasses import dataclass

from simt import show

PREFIXES = {12: "T", 9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "µ", -9: "n"}
NUMBER = re.compile(r"[-+]?\d|-?$")  # how the cells of a column of numbers begin; "-" or nothing: none there
ALONE = re.compile(
    r"[-+]?\d+([.,]\d+)*( ?[^\s,]+)?$|-?$"
)  # those of a first column: a number and its unit; else it is a name


@dataclass(frozen=True)
class Table:
    """Rows, of cells that are shown as text, under headings. Columns of numbers are aligned to the right."""

    headings: tuple
    rows: tuple
    caption: str = ""

    def __post_init__(self):
        object.__setattr__(self, "headings", tuple(self.headings))
        object.__setattr__(self, "rows", tuple(tuple(map(str, row)) for row in self.rows))
        for row in self.rows:
            if len(row) != len(self.headings):
                raise ValueError(f"a row has {len(row)} cells under {len(self.headings)} headings: {row}")

    @property
    def right(self):
        """The columns of numbers."""
        columns = enumerate(zip(*self.rows, strict=True))
        return tuple(
            column for column, cells in columns if any(cells) and all(map((NUMBER if column else ALONE).match, cells))
        )

    def __str__(self):
        lines = [self.headings, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.headings))]
        lines.insert(1, tuple("-" * width for width in widths))
        right = self.right
        text = ["  ".join(self._pad(line, widths, right)).rstrip() for line in lines]
        return "\n".join(([self.caption] if self.caption else []) + text)

    __repr__ = __str__

    @staticmethod
    def _pad(line, widths, right):
        for column, (cell, width) in enumerate(zip(line, widths, strict=True)):
            yield cell.rjust(width) if column in right else cell.ljust(width)

    def _repr_html_(self):
        right = self.right
        columns = [
            show.Column(heading, show.breakable, right=column in right) for column, heading in enumerate(self.headings)
        ]
        return show.table(columns, self.rows, caption=self.caption)

    def markdown(self):
        """The table in Markdown."""
        right = self.right
        rule = ["---:" if column in right else "---" for column in range(len(self.headings))]
        return "\n".join("| " + " | ".join(line) + " |" for line in (self.headings, rule, *self.rows))


def with_unit(value, unit, digits=3):
    """A value with the fitting prefix: ``with_unit(3.3e10, "B/s")`` is ``33.0 GB/s``, with a space that does not
    break."""
    if value == 0:
        return f"0\N{NO-BREAK SPACE}{unit}"
    # Rounded first: 999.7 would be printed as 1000 and belongs to the next prefix.
    exponent = math.floor(math.log10(float(f"{abs(value):.{digits - 1}e}")))
    power = min(max(3 * (exponent // 3), min(PREFIXES)), max(PREFIXES))
    number = f"{value / 10.0**power:.{max(0, digits - 1 - (exponent - power))}f}"
    return f"{number}\N{NO-BREAK SPACE}{PREFIXES[power]}{unit}"


def faster_or_slower(ratio):
    """A ratio of peer time to our time in words that leave no doubt: ``0.5`` is ``2.00 times as long``."""
    return f"{ratio:.2f} times as fast" if ratio >= 1 else f"{1 / ratio:.2f} times as long"
