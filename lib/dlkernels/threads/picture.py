"""The interleaving of a run as a figure: time goes down, each thread has a column, each step a box."""

from dlkernels import figures

MOST = 22  # steps in a figure that can be read on a phone


def interleaving(run):
    """(figure, alternative text) of a Run's table: its last steps where it is long."""
    rows = run.table.rows[-MOST:]
    names = list(dict.fromkeys(row[1] for row in rows))
    names.sort(key=lambda name: [t.name for t in run.outcome.tasks].index(name))
    fig, ax = figures.subplots(figsize=(5.0, 0.9 + 0.3 * len(rows)))
    path = [(names.index(row[1]), y) for y, row in enumerate(rows)]
    ax.plot(*zip(*path, strict=True), color="0.5", linewidth=1, marker="", zorder=1)
    for (x, y), row in zip(path, rows, strict=True):
        text = row[4] if len(row[4]) <= 34 else row[4][:31] + "..."
        width = 0.92 if len(names) <= 2 else 0.96
        ax.barh(y, width, left=x - width / 2, height=0.74, color="0.5", alpha=0.22, edgecolor="0.5", zorder=2)
        ax.text(x, y, _fit(text, len(names)), ha="center", va="center", fontsize=8, zorder=3)
    ax.set(xlim=(-0.55, len(names) - 0.45), ylim=(len(rows) - 0.4, -0.6), ylabel="step")
    ax.set_xticks(range(len(names)), names)
    ax.xaxis.tick_top()
    first = run.table.rows[-len(rows) :][0][0] if rows else 1
    ax.set_yticks(range(len(rows)), [str(first + i) for i in range(len(rows))])
    ax.grid(False)
    kinds = ", ".join(f.kind for f in run.findings) or "no finding"
    said = "; ".join(f"{r[1]} {r[4]}" for r in rows[-6:])
    alt = f"Interleaving of threads {', '.join(names)}, {len(run.table.rows)} steps, {kinds}. The last steps: {said}."
    return fig, alt


def _fit(text, columns):
    most = {1: 60, 2: 32, 3: 21}.get(columns, 15)
    return text if len(text) <= most else text[: most - 2] + ".."
