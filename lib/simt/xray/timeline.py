"""Which thread touches what between two barriers: one panel for each stretch of a block's life.

Above the threads of the block, below a strip for each array. A solid line is a store, a dashed one a load, a
dotted one an atomic. Two lines from different threads that meet in one panel, one of them solid, are a race.
"""

import numpy as np

from ..trace import GLOBAL, KINDS, LOAD, SHARED
from . import columns
from .svg import INNER, MARGIN, Picture, canvas, line, rect, text
from .words import span

BINS = 32  # most cells in a row; several threads or elements share a cell beyond that
MOST_PANELS = 12
_DASH = {0: "3 2", 1: "", 2: "1 2"}


def timeline(report, block=0, arrays=None, panels=MOST_PANELS):
    """Picture of one block. ``arrays`` names those to show (default: shared ones, or all if there are none)."""
    trace = report.trace
    rows = np.flatnonzero((trace.block == block) & np.isin(trace.space, (GLOBAL, SHARED)))
    names = np.array([a.name for a in trace.arrays])
    if arrays is None and (trace.space[rows] == SHARED).any():
        rows = rows[trace.space[rows] == SHARED]
    elif arrays is not None:
        rows = rows[np.isin(names[trace.array[rows]], list(arrays))]
    if not len(rows):
        raise ValueError(f"Block {block} touches none of the arrays asked for; the kernel has {', '.join(names)}.")
    turn, _ = columns.group(trace.grid_epoch[rows], trace.epoch[rows])
    used = np.unique(trace.array[rows]).tolist()
    parts, table, y = [], ["stretch  array  kind    threads  elements"], 16
    for k in np.unique(turn).tolist()[:panels]:
        stretch_rows = rows[turn == k]
        parts.append(text(MARGIN, y, _stretch(trace, block, stretch_rows), weight="bold"))
        for number in used:
            of_array = stretch_rows[trace.array[stretch_rows] == number]
            if len(of_array):
                y = _panel(trace, of_array, _window(trace, number, rows), y + 8, parts)
        y += 18
        table += _table(trace, stretch_rows, k, names)
    stretches = int(turn.max()) + 1
    shown = f"the first {panels} of {stretches}" if stretches > panels else f"{stretches}"
    touched = ", ".join(dict.fromkeys(names[used].tolist()))
    alt = (
        f"Block {block}, {shown} stretch{'es' * (stretches > 1)} between barriers: "
        f"which of its {trace.threads_per_block} threads touch which elements of {touched}."
    )
    return Picture(canvas(y - 14, parts, alt), alt, "\n".join(table))


def _panel(trace, rows, window, top, parts):
    """Draw one array in one stretch: threads above, elements below; returns the y below them."""
    low, high = window
    threads, info = trace.threads_per_block, trace.arrays[trace.array[rows[0]]]
    per, stride = -(-threads // BINS), -(-(high - low) // BINS)
    thread, element = trace.thread[rows] % threads // per, (trace.element[rows] - low) // stride
    lines = np.unique(np.stack([thread, element, trace.kind[rows].astype(np.int64)]), axis=1)
    above, below = -(-threads // per), -(-(high - low) // stride)
    width = INNER / max(above, below, 8)
    start, strip = top + 21, top + 56
    parts.append(text(MARGIN, top + 8, "threads" + (f", {per} to a box" if per > 1 else ""), 10))
    for c in range(above):
        ink = 0.55 if c in lines[0] else 0
        parts.append(rect(MARGIN + c * width, top + 12, width * 0.9, 9, ink, title=f"thread {_range(c, per)}"))
    for c in range(below):
        kinds = sorted(set(lines[2][lines[1] == c].tolist()))
        ink = 0.2 if kinds == [LOAD] else 0.7 if kinds else 0
        words = ", ".join(KINDS[k] for k in kinds) or "untouched"
        note = f"{info.name} {_range(c, stride, low)}: {words}"
        parts.append(rect(MARGIN + c * width, strip, width * 0.9, 9, ink, title=note))
    faint = min(0.7, max(0.08, 40 / lines.shape[1]))
    for t, c, how in lines.T.tolist():
        x1, x2 = (MARGIN + (v + 0.45) * width for v in (t, c))
        parts.append(line(x1, start, x2, strip, 0.6 if how == LOAD else 0.9, _DASH[how], faint))
    label = f"{info.name}[{low}:{high}]" + (f", {stride} to a box" if stride > 1 else "")
    parts.append(text(MARGIN, strip + 20, label, 10))
    return strip + 24


def _window(trace, number, rows):
    """Elements of an array to show: all of them if there are few, else the stretch that is touched."""
    size = int(np.prod(trace.arrays[number].shape)) or 1
    if size <= 1024:
        return 0, size
    elements = trace.element[rows[trace.array[rows] == number]]
    return int(elements.min()), int(elements.max()) + 1


def _stretch(trace, block, rows):
    epoch, grid_epoch = int(trace.epoch[rows[0]]), int(trace.grid_epoch[rows[0]])
    passed = [b for b in trace.barriers if b.block == block and b.epoch == epoch - 1]
    if passed:
        return f"after barrier {epoch} (line {trace.sites[passed[0].site].line})"
    return f"after grid barrier {grid_epoch}" if grid_epoch else "from the start"


def _table(trace, rows, stretch, names):
    number, first_rows = columns.group(trace.array[rows], trace.kind[rows])
    lines = []
    for k, row in enumerate(rows[first_rows].tolist()):
        group_rows = rows[number == k]
        thread, element = trace.thread[group_rows] % trace.threads_per_block, trace.element[group_rows]
        what = f"{names[trace.array[row]]:<5}  {KINDS[trace.kind[row]]:<6}"
        lines.append(f"{stretch:>7}  {what}  {span(thread):<7}  {span(element)}")
    return lines


def _range(cell, stride, low=0):
    begin = low + cell * stride
    return f"{begin}" if stride == 1 else f"{begin} to {begin + stride - 1}"
