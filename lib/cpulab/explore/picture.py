"""The interleaving of a run as a figure: time goes down, each thread has a column, each step a box."""

import itertools

from .. import figures

MOST = 22  # steps in a figure that can be read on a phone
WIDTH, EDGE = 0.94, 0.38  # of a box, and from its middle to its edge


def interleaving(run):
    """(figure, alternative text) of a Run's table: its last steps where it is long."""
    rows = run.table.rows[-MOST:]
    names = list(dict.fromkeys(row[1] for row in rows))
    names.sort(key=lambda name: [t.name for t in run.outcome.tasks].index(name))
    texts = [_fit(row[4], len(names)) for row in rows]
    tall = any("\n" in text for text in texts)
    fig, ax = figures.subplots(figsize=(5.0, 0.9 + (0.4 if tall else 0.3) * len(rows)))
    path = [(names.index(row[1]), y) for y, row in enumerate(rows)]
    for (x, y), (to, below) in itertools.pairwise(path):
        ax.plot((x, to), (y + EDGE, below - EDGE), color="0.5", linewidth=1, marker="", linestyle="-")
    for (x, y), text in zip(path, texts, strict=True):
        ax.barh(y, WIDTH, left=x - WIDTH / 2, height=2 * EDGE, color="0.5", alpha=0.22, edgecolor="0.5")
        ax.text(x, y, text, ha="center", va="center", fontsize=8)
    ax.set(xlim=(-0.55, len(names) - 0.45), ylim=(len(rows) - 0.4, -0.6), ylabel="step")
    ax.set_xticks(range(len(names)), names)
    ax.xaxis.tick_top()
    first_step = run.table.rows[-len(rows) :][0][0] if rows else 1
    ax.set_yticks(range(len(rows)), [str(first_step + i) for i in range(len(rows))])
    ax.grid(False)
    kinds = ", ".join(f.kind for f in run.findings) or "no finding"
    said = "; ".join(f"{r[1]} {r[4]}" for r in rows[-6:])
    alt = f"Interleaving of threads {', '.join(names)}, {len(run.table.rows)} steps, {kinds}. The last steps: {said}."
    return fig, alt


def _fit(text, columns):
    """At most two lines that fit into a box."""
    most = {1: 60, 2: 32, 3: 22}.get(columns, 15)
    lines = text.split("; ")
    if len(lines) > 2:
        lines = [line for line in lines if line != "ends"]
    if len(lines) > 2:
        lines = [lines[0], "..., " + lines[-1]]
    return "\n".join(line if len(line) <= most else line[: most - 2] + ".." for line in lines)
