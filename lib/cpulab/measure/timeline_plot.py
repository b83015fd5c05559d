"""The picture of a `Timeline`: one row for each thread, time to the right, a bar for each piece of work.

Pieces of a loop are coloured by the iteration, dark for the first, light for the last, and each thread has a hatch of
its own. Pieces with names are drawn by kind, hatched by kind, and carry their name where there is room.
"""

from .timeline import WAIT

WIDTH = 5.0  # inches, as all figures of the book
CELLS = 300  # at most so many bars in a row: shorter pieces that touch are drawn as one
THREADS = ("", "///", "...", "xxx", "---")  # of a row of iterations, so that threads are told apart without colour
HATCHES = ("", "//", "xx", "--", "\\\\")
FEW = 6  # so many threads have rows with two lines of text; more have thin rows, so that a page holds them
LETTER = 0.066  # inches of one letter of a label


def draw_timelines(timelines):
    """Draw several timelines under each other on one time axis; returns a figure with ``alt_text``.

    ``timelines``: name -> `Timeline`; the name of a single one may be "". Show it with ``figures.show(figure,
    alt=figure.alt_text)``.
    """
    from matplotlib import pyplot

    from .. import figures

    if not timelines:
        raise ValueError("no timelines given; expected a dict of name -> Timeline")
    rows = [len(timeline.threads) for timeline in timelines.values()]
    named = any(timelines)
    height = sum(_row_height(n) * n + (0.42 if named else 0.12) for n in rows) + 0.75
    figure, grid = figures.subplots(
        len(rows),
        1,
        sharex=True,
        squeeze=False,
        figsize=(WIDTH, height),
        height_ratios=[_row_height(n) * n + 0.14 for n in rows],
    )
    longest = max(timeline.elapsed for timeline in timelines.values())
    unit, scale = _unit(longest)
    numbered = [_is_numbered(timeline) for timeline in timelines.values()]
    colours = _Colours(timelines.values())
    for axes, (name, timeline), by_number in zip(grid[:, 0], timelines.items(), numbered, strict=True):
        _draw(axes, timeline, scale, longest, colours, by_number)
        axes.set_title(name)
    axes.set(xlim=(0, longest * scale * 1.01), xlabel=f"time in {unit}")
    _keys(figure, grid[:, 0], colours, any(numbered))
    figure.alt_text = " ".join(f"{name}: {t.alt_text}" if name else t.alt_text for name, t in timelines.items())
    pyplot.close(figure)  # a notebook shows the returned figure; left open it would show it twice
    return figure


class _Colours:
    """Fill and hatch of a piece: by iteration, or by kind. The same in all panels."""

    def __init__(self, timelines):
        from matplotlib import colors

        pieces = [piece for timeline in timelines for piece in timeline.pieces]
        numbers = [piece.label for piece in pieces if isinstance(piece.label, int)]
        self.kinds = list(dict.fromkeys(piece.kind for piece in pieces))
        self.norm = colors.Normalize(0, max(numbers, default=1))

    def of_number(self, number):
        import matplotlib

        return matplotlib.colormaps["cividis"](self.norm(number))

    def of_kind(self, kind):
        from matplotlib.colors import to_rgba

        if kind == WAIT:
            return {"facecolor": "none", "hatch": "...", "linewidth": 0.5}
        index = [k for k in self.kinds if k != WAIT].index(kind)
        return {"facecolor": to_rgba(f"C{index % 5}", 0.4), "hatch": HATCHES[index % 5], "linewidth": 0.8}


def _row_height(threads):
    """Inches of a row in a picture of so many threads."""
    return 0.34 if threads <= FEW else 0.13


def _is_numbered(timeline):
    return all(isinstance(piece.label, int) for piece in timeline.pieces)


def _unit(seconds):
    """The unit that fits the longest time, and by what to multiply seconds."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return unit, 1 / size
    return "ns", 1e9


def _named(pieces, longest):
    """The pieces of a row that have room for their label; of those with a number all or none."""
    inches = 1e-9 / longest * WIDTH * 0.78  # of a nanosecond; the rest is the rows' names
    work = [piece for piece in pieces if piece.kind != WAIT]
    fit = [piece for piece in work if (len(str(piece.label)) + 0.5) * LETTER < (piece.end - piece.start) * inches]
    if all(piece in fit for piece in work if str(piece.label).isdigit()):
        return fit
    return [piece for piece in fit if not str(piece.label).isdigit()]


def _draw(axes, timeline, scale, longest, colours, by_number):
    from .. import figures

    share, threads, origin = timeline.busy(), timeline.threads, timeline.start
    axes.barh(range(len(threads)), timeline.elapsed * scale, height=0.72, color="0.5", alpha=0.15)  # idle
    for row, thread in enumerate(threads):
        pieces, band = timeline.of(thread), (row - 0.36, 0.72)

        def bar(start, end):
            return (start - origin) * 1e-9 * scale, (end - start) * 1e-9 * scale

        if by_number and pieces:
            least = longest / CELLS * 1e9
            cells = _cells(pieces, least)
            fills = [colours.of_number(piece.label) for _, _, piece in cells]
            bars = [bar(start, end) for start, end, _ in cells]
            axes.broken_barh(bars, band, facecolor=fills, linewidth=0, antialiased=False)
            spans = [bar(start, end) for start, end in _spans(pieces, least)]
            style = {"facecolor": "none", "edgecolor": figures.INK, "linewidth": 0, "alpha": 0.6}
            axes.broken_barh(spans, band, hatch=THREADS[row % len(THREADS)], **style)
            continue
        named = _named(pieces, longest)
        for piece in pieces:
            left, width = bar(piece.start, piece.end)
            axes.broken_barh([(left, width)], band, edgecolor=figures.INK, **colours.of_kind(piece.kind))
            if piece in named:
                axes.text(left + width / 2, row, str(piece.label), ha="center", va="center", fontsize=8)
    names = [
        f"{thread}\n{share[thread]:.0%} busy" if len(threads) <= FEW else f"{thread}, {share[thread]:.0%}"
        for thread in threads
    ]
    axes.set_yticks(range(len(threads)), names, fontsize=8 if len(threads) <= FEW else 6)
    axes.set_ylim(len(threads) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def _spans(pieces, least):
    """(start, end) of what lies without a gap of `least` nanoseconds: few areas to hatch in the place of many bars."""
    spans = []
    for piece in pieces:
        if spans and piece.start - spans[-1][1] < least:
            spans[-1] = spans[-1][0], max(spans[-1][1], piece.end)
        else:
            spans.append((piece.start, piece.end))
    return spans


def _cells(pieces, least):
    """(start, end, piece) of bars: neighbours that touch are joined until a bar is ``least`` nanoseconds long.

    The piece of a bar, which gives it its colour, is the longest of those joined.
    """
    cells = []
    for piece in pieces:
        if cells and piece.start - cells[-1][1] < least / 4:
            start, end, longest = cells[-1]
            if piece.start - start < least:
                longest = max(longest, piece, key=lambda joined: joined.end - joined.start)
                cells[-1] = start, max(end, piece.end), longest
                continue
            cells[-1] = start, piece.start, longest  # no hairline between bars that touch
        cells.append((piece.start, piece.end, piece))
    return cells


def _keys(figure, axes, colours, numbered):
    """What colours mean: a bar of iterations, or a legend where there are several kinds."""
    from matplotlib import patches, pyplot

    from .. import figures

    if numbered:
        mappable = pyplot.cm.ScalarMappable(colours.norm, "cividis")
        bar = figure.colorbar(mappable, ax=list(axes), label="iteration", aspect=30, pad=0.02, fraction=0.05)
        bar.outline.set_visible(False)
    elif len(colours.kinds) > 1:
        handles = [patches.Patch(label=kind, edgecolor=figures.INK, **colours.of_kind(kind)) for kind in colours.kinds]
        figure.legend(handles=handles, loc="outside upper right", ncols=len(handles))
