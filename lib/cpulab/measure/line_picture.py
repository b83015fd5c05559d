"""Cache lines drawn: one row for each line, a box for each element, shaded and numbered by the thread that writes
it."""

import numpy as np

from .lines import NOBODY

SHADES = ("C0", "C1", "C2", "C3")
HATCHES = ("", "////", "....", "xxxx")  # so that threads are told apart without colour, too
LEGIBLE = 4  # bytes: a smaller element has no room for a number


def line_picture(lines, most=8):
    """Draw the first ``most`` lines of a `LineMap`.

    An element shows the number of the thread that writes it, or its index where no writers were named. Returns a
    figure with its ``alt_text``: ``figures.show(figure, figure.alt_text)``.
    """
    from matplotlib import pyplot

    from .. import figures

    rows = min(most, int(lines.last.max(initial=0)) + 1)
    figure, axes = figures.subplots(figsize=(5, 0.7 + 0.32 * rows))
    owners = np.full(lines.places.shape, NOBODY) if lines.owner is None else lines.owner
    for index in map(tuple, np.argwhere(lines.first < rows)):
        byte, owner = int(lines.places[index]), int(owners[index])
        label = _label(lines, index, owner)
        for row, left, width in _pieces(byte, lines.itemsize, lines.line):
            _box(axes, row, left, width, owner)
            if lines.itemsize >= LEGIBLE and width == lines.itemsize:
                size = 8 if len(label) < 3 or width >= 2 * LEGIBLE else 6
                axes.text(left + width / 2, row, label, ha="center", va="center", fontsize=size)
    for row in range(rows):
        _box(axes, row, 0, lines.line, NOBODY, linewidth=1.6)
    ticks = range(0, lines.line + 1, lines.line // 4)
    axes.set(xlim=(-0.5, lines.line + 0.5), ylim=(rows - 0.5, -0.5), xticks=ticks, yticks=range(rows))
    axes.set(xlabel="byte in the line", ylabel="line")
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
    figure.alt_text = _in_words(lines, rows)
    pyplot.close(figure)  # a notebook shows the returned figure; left open it would show it twice
    return figure


def _label(lines, index, owner):
    if lines.owner is not None:
        return str(owner) if owner != NOBODY else ""
    return ",".join(map(str, index))


def _pieces(byte, size, line):
    """(line, first byte in it, bytes) of each part of an element: one, or more where it crosses a border."""
    while size > 0:
        row, left = divmod(byte, line)
        width = min(size, line - left)
        yield row, left, width
        byte, size = byte + width, size - width


def _box(axes, row, left, width, owner, linewidth=0.6):
    from matplotlib.patches import Rectangle

    from ..figures import INK

    corner, height = (left, row - 0.4), 0.8
    if owner != NOBODY:
        style = {"facecolor": SHADES[owner % 4], "hatch": HATCHES[owner % 4], "alpha": 0.35, "linewidth": 0}
        axes.add_patch(Rectangle(corner, width, height, **style))
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=INK, linewidth=linewidth))


def _in_words(lines, rows):
    text = (
        f"The first {rows} cache lines of {lines.line} bytes" if rows > 1 else f"One cache line of {lines.line} bytes"
    )
    if lines.owner is None:
        per_line = [int(np.count_nonzero((lines.first <= row) & (row <= lines.last))) for row in range(rows)]
        return f"{text}; they hold {', '.join(map(str, per_line))} elements."
    said = [
        f"line {line} by {' and '.join(f'thread {t}' for t in threads)}"
        for line, threads in lines.writers.items()
        if line < rows
    ]
    return f"{text}, and who writes to {'them' if rows > 1 else 'it'}: {'; '.join(said) or 'nobody'}."
