"""A ladder as a table: each rung, what it adds, and the file and line where it stands.

    from dlkernels import rungs
    rungs.table("matmul", device="gpu")

It shows in a notebook, on a page and, as text, in a shell.
"""

from html import escape

from simt import show

from . import implementations

XRAY = "xray.html"  # the page about the x-ray, beside the chapter that shows the table
GALLERY = "gallery.html"  # the page with a card for each rung of a GPU, beside it, too


def table(*operations, device=None):
    """The rungs of one or more operations, on "cpu", "gpu" or both."""
    return Rungs(tuple(rung for name in operations for rung in implementations.of(name, device)))


class Rungs:
    """The table; in a notebook and on a page it is HTML that fits a phone."""

    def __init__(self, rungs):
        self.rungs = rungs
        self.several = len({rung.operation for rung in rungs}) > 1

    def rows(self):
        """(number, name, what it adds, where it stands) of each rung."""
        return [(f"{rung.device} {rung.rung}", rung.name, rung.adds, rung.place) for rung in self.rungs]

    def __repr__(self):
        return "\n".join(f"{number:7} {name}: {adds}\n        {where}" for number, name, adds, where in self.rows())

    def _repr_html_(self):
        columns = (show.Column("rung", escape, kind="number"), show.Column("what it adds", str))
        rows = [
            (number, f"{_linked(rung)} <small>{show.breakable(where)}</small><br>{show.sentence(adds)}")
            for rung, (number, _, adds, where) in zip(self.rungs, self.rows(), strict=True)
        ]
        html = show.table(columns, rows, kind="rungs")
        if all(rung.device == "cpu" for rung in self.rungs):
            return html
        return (
            f"{html}<p>The name of a GPU's rung leads to its counts and registers in the gallery. Loads, stores and races of a "
            f'kernel of your own: <a class="reference internal" href="{XRAY}">the x-ray</a>.</p>'
        )


def _linked(rung):
    """The rung's name; a GPU's leads to its card."""
    name = f"<code>{show.breakable(rung.name)}</code>"
    if rung.device == "cpu":
        return name
    return f'<a class="reference internal" href="{GALLERY}#{escape(rung.card)}">{name}</a>'
