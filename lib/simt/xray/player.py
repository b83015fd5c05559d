"""Replay of shared memory: its contents after each barrier, step by step, in the browser and without a network.

The figure is a static SVG of the first step, the values of all steps as JSON, and ``player.js``. Without
JavaScript the text table below it says the same.
"""

import html
import json
from dataclasses import dataclass
from importlib import resources

import numpy as np

from .svg import INNER, MARGIN, canvas, figure, rect, text, unique

MOST_CELLS = 1089  # drawn of each array
MOST_COLUMNS = 33
LABEL_COLUMNS = 16  # beyond that a cell is too narrow for a number


@dataclass(frozen=True)
class Replay:
    """Steps of one block: each a caption and the values of every shared array. Shown as a player in a notebook."""

    kernel: str
    block: int
    arrays: tuple  # (name, shape) of each
    steps: tuple  # (caption, [values of each array, NaN or -1 where nothing was stored])
    written: tuple  # per step, per array: True where an element has been stored

    @property
    def alt(self):
        names = ", ".join(name for name, _ in self.arrays)
        return f"Shared memory ({names}) of block {self.block} of {self.kernel} in {len(self.steps)} steps."

    @property
    def text(self):
        lines = []
        for (caption, values), written in zip(self.steps, self.written, strict=True):
            lines.append(caption)
            for (name, shape), array, known in zip(self.arrays, values, written, strict=True):
                shown = [v if k else "." for v, k in zip(_labels(array), known.ravel(), strict=True)]
                for row in _cells(shape).tolist():
                    lines.append(f"  {name}  {' '.join(shown[i] for i in row if i >= 0)}")
        return "\n".join(lines)

    def __str__(self):
        return f"{self.alt}\n\n{self.text}"

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return _player(self)


def replay(report, block=0):
    """`Replay` of a block. The x-ray must have been taken with ``snapshots=True``."""
    trace = report.trace
    if not trace.with_snapshots:
        raise ValueError("No contents of shared memory were kept: take the x-ray with xray(..., snapshots=True).")
    taken = [s for s in trace.snapshots if s.block == block and s.arrays]
    if not taken:
        raise ValueError(f"Block {block} of {report.kernel} has no shared memory to show.")
    ids = sorted({a for s in taken for a in s.arrays})
    steps, written = [], []
    for number, snapshot in enumerate(taken):
        after = (
            "at the end" if snapshot.site < 0 else f"after barrier {number + 1}, line {trace.sites[snapshot.site].line}"
        )
        values, known = [], []
        for a in ids:
            info = trace.arrays[a]
            array = snapshot.arrays.get(a)
            array = np.zeros(info.shape, info.dtype) if array is None else np.asarray(array)
            values.append(array)
            known.append(_stored(trace, block, a, snapshot.position).reshape(array.shape))
        steps.append((after, values))
        written.append(known)
    arrays = tuple((trace.arrays[a].name, tuple(trace.arrays[a].shape)) for a in ids)
    return Replay(report.kernel, block, arrays, tuple(steps), tuple(written))


def _stored(trace, block, array, position):
    """Which elements of a shared array some thread of the block stored to before row ``position``."""
    size = int(np.prod(trace.arrays[array].shape))
    rows = slice(0, position)
    of_array = (trace.block[rows] == block) & (trace.array[rows] == array) & (trace.kind[rows] != 0)
    stored = np.zeros(size, bool)
    width = np.maximum(trace.size[rows][of_array] // trace.arrays[array].dtype.itemsize, 1)
    element = trace.element[rows][of_array]
    for extra in range(int(width.max()) if len(width) else 0):  # a 16-byte store covers several elements
        stored[element[width > extra] + extra] = True
    return stored


# -- drawing -----------------------------------------------------------------------------------------------


def _cells(shape):
    """Flat indices of the elements that are drawn, as a grid; -1 fills up the last row.

    A vector is folded into rows of 8 or 16. Of a large array only the first part is drawn.
    """
    index = np.arange(int(np.prod(shape)))
    if len(shape) == 1:
        columns = 8 if index.size <= 64 else 16
        index = index[:MOST_CELLS]
        return np.append(index, np.full(-index.size % columns, -1)).reshape(-1, columns)
    grid = index.reshape(-1, shape[-1])[:, :MOST_COLUMNS]
    return grid[: max(1, MOST_CELLS // grid.shape[1])]


def _labels(array):
    """Short text of every value, as a flat list."""
    real = array.dtype.kind in "fc"
    return [f"{v:.3g}" if real else str(v) for v in array.ravel().tolist()]


def _step(caption, values, written, grids):
    """One step for the script: a label and an ink for every drawn cell."""
    labels, ink = [], []
    with_text = max(g.shape[1] for g in grids) <= LABEL_COLUMNS
    for array, known, grid in zip(values, written, grids, strict=True):
        drawn = grid[grid >= 0]
        text_of, known = _labels(array), known.ravel()
        size = np.abs(
            np.nan_to_num(array.astype(np.float64).ravel() if array.dtype.kind != "c" else abs(array.ravel()))
        )
        most = size[known].max(initial=0) or 1
        for flat in drawn.tolist():
            labels.append(text_of[flat] if known[flat] else "")
            # Ink stays light under text; without text it shows the size of the value.
            shade = 0.12 if with_text else 0.08 + 0.7 * size[flat] / most
            ink.append(round(shade, 2) if known[flat] else 0)
    return {"caption": caption, "values": labels, "ink": ink}


def _player(replay):
    name = unique("xray-replay")
    parts, names, y = [], [], 14
    grids = [_cells(shape) for _, shape in replay.arrays]
    steps = [_step(*step, known, grids) for step, known in zip(replay.steps, replay.written, strict=True)]
    label = max(g.shape[1] for g in grids) <= LABEL_COLUMNS
    for (array, shape), grid in zip(replay.arrays, grids, strict=True):
        suffix = "" if (grid >= 0).sum() == np.prod(shape) else ", first part"
        parts.append(text(MARGIN, y, f"{array}  {' x '.join(map(str, shape))}{suffix}", weight="bold"))
        width = INNER / max(grid.shape[1], 8)
        height = min(max(width, 9), 22)
        for (row, column), flat in np.ndenumerate(grid):
            if flat >= 0:
                where = ", ".join(str(int(i)) for i in np.unravel_index(flat, shape))
                k = len(names)
                names.append(f"{array}[{where}]")
                value = steps[0]["values"][k] if label else ""
                x, top = MARGIN + column * width, y + 6 + row * height
                parts.append(_cell(x, top, width, height, names[k], value, steps[0]["ink"][k]))
        y += 6 + grid.shape[0] * height + 22
    data = {"labels": label, "names": names, "steps": steps}
    source = resources.files(__package__).joinpath("player.js").read_text(encoding="utf-8")
    body = (
        f"{canvas(y - 12, parts, replay.alt)}"
        f'<p data-caption aria-live="polite">{html.escape(replay.steps[0][0])}</p>'
        f"{_CONTROLS.format(last=len(steps) - 1)}"
        f'<script type="application/json">{_inline(data)}</script>'
    )
    alt = html.escape(replay.alt)
    opening = f'<figure id="{name}" tabindex="0" aria-label="{alt} Arrow keys step, space plays." '
    shown = figure(body, replay.alt, replay.text, "xray-figure xray-player")
    return f"{shown.replace('<figure ', opening, 1)}<script>{source.replace('__ID__', name)}</script>"


def _cell(x, y, width, height, name, value, ink):
    size = min(9, width / 2.6)  # four characters fit
    box = rect(x, y, width * 0.94, height * 0.9, ink)
    label = text(x + width * 0.47, y + height * 0.45 + size * 0.35, value, size, "middle")
    return f'<g data-cell="">{box}<title>{html.escape(name)}</title>{label}</g>'


def _inline(data):
    """JSON that can stand inside a <script> element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


_CONTROLS = (
    '<div data-controls hidden><button type="button" data-do="back" aria-label="Step back">&#9664;</button>'
    '<button type="button" data-do="play">Play</button>'
    '<button type="button" data-do="next" aria-label="Step forward">&#9654;</button>'
    '<input type="range" min="0" max="{last}" value="0" aria-label="Step"></div>'
)
