"""A ladder as a table: each rung, what it adds, and the file and line where it stands.

    from dlkernels import rungs
    rungs.table("matmul", device="gpu")

It shows in a notebook, on a page and, as text, in a shell.
"""

from html import escape
from itertools import groupby
from operator import attrgetter

from simt import show

from . import implementations

XRAY = "xray.html"  # the page about the x-ray, beside the chapter that shows the table
GALLERY = "gallery.html"  # the page with a card for each rung of a GPU, beside it, too


def table(*operations, device=None):
    """The rungs of one or more operations, on "cpu", "gpu" or both."""
    return Rungs(tuple(rung for name in operations for rung in implementations.of(name, device)))


class Rungs:
    """The table; in a notebook and on a page it is HTML that fits a phone. Of several operations each has its own."""

    def __init__(self, rungs):
        self.rungs = rungs

    def ladders(self):
        """[(operation, its rungs)]: each ladder is numbered from 1."""
        return [(name, list(rungs)) for name, rungs in groupby(self.rungs, attrgetter("operation"))]

    def __repr__(self):
        several, lines = len(self.ladders()) > 1, []
        for operation, rungs in self.ladders():
            lines += [f"{operation}:"] if several else []
            lines += [f"{_number(rung):7} {rung.name}: {rung.adds}\n        {rung.place}" for rung in rungs]
        return "\n".join(lines)

    def _repr_html_(self):
        several = len(self.ladders()) > 1
        html = "".join(_table(rungs, f"`{operation}`" if several else "") for operation, rungs in self.ladders())
        if all(rung.device == "cpu" for rung in self.rungs):
            return html
        return (
            f"{html}<p>The name of a GPU's rung leads to its counts and registers in the gallery. Loads, stores "
            f'and races of a kernel of your own: <a class="reference internal" href="{XRAY}">the x-ray</a>.</p>'
        )


def _number(rung):
    return f"{rung.device} {rung.rung}"


def _table(rungs, caption):
    columns = (show.Column("rung", escape, kind="number"), show.Column("what it adds", str))
    rows = [
        (_number(rung), f"{_linked(rung)} <small>{show.breakable(rung.place)}</small><br>{show.sentence(rung.adds)}")
        for rung in rungs
    ]
    return show.table(columns, rows, caption, kind="rungs")


def _linked(rung):
    """The rung's name; a GPU's leads to its card."""
    name = f"<code>{show.breakable(rung.name)}</code>"
    if rung.device == "cpu":
        return name
    return f'<a class="reference internal" href="{GALLERY}#{escape(rung.card)}">{name}</a>'
