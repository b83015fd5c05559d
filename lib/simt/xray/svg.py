"""A few words of SVG: pictures that take their colour from the page, scale to a phone and need no network."""

import html
import itertools
from dataclasses import dataclass
from importlib import resources

WIDTH = 360  # user units: text of 11 units is still 11 pixels high on the narrowest phone
MARGIN = 12
INNER = WIDTH - 2 * MARGIN

_numbers = itertools.count(1)


def style():
    """The <style> element that every report and figure brings along."""
    rules = resources.files(__package__).joinpath("xray.css").read_text(encoding="utf-8")
    return f"<style>{rules}</style>"


@dataclass(frozen=True)
class Picture:
    """A figure: ``svg`` markup, ``alt`` (one or two sentences that replace it), ``text`` (a table that says the same).

    Shown as HTML in a notebook; ``print`` gives the table.
    """

    svg: str
    alt: str
    text: str

    def __str__(self):
        return f"{self.alt}\n\n{self.text}"

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return figure(self.svg, self.alt, self.text)


def figure(body, alt, text, kind="xray-figure"):
    """A <figure> with its caption and, folded away, the same facts as a text table, or as a sentence."""
    facts = f'<pre tabindex="0">{html.escape(text)}</pre>' if "\n" in text else f"<p>{html.escape(text)}</p>"
    return (
        f'<figure class="{kind}">{style()}{body}'
        f"<figcaption>{html.escape(alt)}</figcaption>"
        f"<details><summary>The same as text</summary>{facts}</details></figure>"
    )


def unique(prefix):
    """An id that no other figure of this process has."""
    return f"{prefix}-{next(_numbers)}"


def canvas(height, parts, alt):
    """The <svg> element. ``alt`` is read out in its place. Spaces keep words apart where only they are left of it, as
    in a notebook that is not trusted."""
    name = unique("xray-title")
    return (
        f'<svg viewBox="0 0 {WIDTH} {_n(height)}" role="img" aria-labelledby="{name}" '
        f'xmlns="http://www.w3.org/2000/svg"><title id="{name}">{html.escape(alt)}</title>{" ".join(parts)}</svg>'
    )


def rect(x, y, width, height, opacity=0.0, stroke=0.5, title="", dash=""):
    """A box: ``opacity`` of its ink, width of its outline, a note that shows under the pointer, dashes of the
    outline."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    note = f"<title>{html.escape(title)}</title>" if title else ""
    return (
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" fill="currentColor" '
        f'fill-opacity="{_n(opacity)}" stroke="currentColor" stroke-width="{_n(stroke)}"{dashes}>{note}</rect>'
    )


def line(x1, y1, x2, y2, width=0.6, dash="", opacity=0.7):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="currentColor" '
        f'stroke-width="{_n(width)}" stroke-opacity="{_n(opacity)}"{dashes}/>'
    )


def text(x, y, words, size=12, anchor="start", weight="normal"):
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="currentColor">{html.escape(str(words))}</text>'
    )


def _n(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")
