"""Figures for the book and the notebooks: one style, one way to show, always with alternative text.

fig, ax = figures.subplots()
ax.plot(sizes, ratios, label="prange")
figures.show(fig, alt="Ratio to NumPy against array size: above 1 from 64 KiB on.")
"""

import hashlib
import io
import re
import warnings
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import display

STYLE = Path(__file__).with_name("book.mplstyle")
INK = "#222832"  # the style's text and axis colour; on the page it becomes the colour of the text around it
PIXELS_PER_INCH = 110


def subplots(*args, **kwargs):
    """`matplotlib.pyplot.subplots` in the book's style. Sizes are in inches; 5 wide fills the column."""
    plt.style.use(STYLE)
    return plt.subplots(*args, **kwargs)


def show(fig, alt):
    """Display `fig` as inline SVG that follows light and dark pages, then close it.

    `alt` says in one or two sentences what the figure shows; who cannot see it reads this instead.
    """
    html = to_html(fig, alt)
    plt.close(fig)
    display({"text/html": html, "text/plain": f"[Figure: {alt}]"}, raw=True)


def to_html(fig, alt):
    """`fig` as one self-contained `<svg>` element; see `show`."""
    if not isinstance(alt, str) or len(alt.split()) < 3:
        raise ValueError(f"alt is {alt!r}; expected a sentence that says what the figure shows")
    file = io.StringIO()
    undated = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with plt.rc_context({"svg.hashsalt": alt}), warnings.catch_warnings():  # the same figure gives the same bytes
        warnings.filterwarnings("ignore", "Creating legend")  # that it took a second: a busy machine's any does
        fig.savefig(file, format="svg", metadata=undated)
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = _own_ids(svg, "f" + hashlib.sha1(alt.encode()).hexdigest()[:8])
    box = re.search('viewBox="([^"]*)"', svg)[1]
    width = fig.get_figwidth() * PIXELS_PER_INCH
    opening = (
        f'<svg class="figure" role="img" aria-label="{escape(alt)}" viewBox="{box}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'style="width:100%;max-width:{width:.0f}px;height:auto">'
    )
    return opening + svg[svg.index(">") + 1 :].strip()


def _own_ids(svg, prefix):
    """Several figures share a page: give the ids of each a prefix of its own."""
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    return re.sub(r'(href="#|url\(#)', rf"\1{prefix}-", svg)
