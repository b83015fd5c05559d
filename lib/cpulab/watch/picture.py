"""Cache lines of a watched loop, coloured by the thread that wrote them."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from .. import figures
from .recorder import LINE, STORE

MOST = 32  # lines of an array in the figure


def lines(report):
    """(figure, alternative text): a row of boxes for each array that is written, a box for each cache line."""
    columns, recorder = report.columns, report.recorder
    stored = (columns["kind"] == STORE) & (columns["region"] >= 0)
    written = [i for i in range(len(recorder.roots)) if (stored & (columns["root"] == i)).any()]
    rows = []
    for i in written:
        root = recorder.roots[i]
        chosen = stored & (columns["root"] == i)
        line = (columns["address"][chosen] - root.base) // LINE
        thread = columns["thread"][chosen]
        count = -(-root.size // LINE)
        rows.append((root.name, [sorted(set(thread[line == n].tolist())) for n in range(min(count, MOST))], count))
    fig, ax = figures.subplots(figsize=(5.0, 0.9 + 0.55 * max(1, len(rows))))
    colours = [c["color"] for c in ax._get_lines._cycler_list] if hasattr(ax._get_lines, "_cycler_list") else []
    hatches = ("", "///", "...", "xxx", "\\\\\\")
    for y, (_, owners, _) in enumerate(rows):
        for x, threads in enumerate(owners):
            for k, t in enumerate(threads):
                width = 0.9 / len(threads)
                ax.bar(
                    x - 0.45 + k * width, 0.7, width, y - 0.35, align="edge", hatch=hatches[t % len(hatches)],
                    facecolor=colours[t % len(colours)] if colours else f"C{t}", alpha=0.75, linewidth=0,
                )  # fmt: skip
            if len(threads) > 1:
                ax.text(x, y - 0.42, "!", ha="center", va="bottom", fontsize=9, fontweight="bold")
    for t in range(report.threads):
        ax.bar(
            np.nan,
            np.nan,
            color=colours[t % len(colours)] if colours else f"C{t}",
            alpha=0.75,
            hatch=hatches[t % len(hatches)],
            label=f"thread {t}",
        )
    ax.set(xlabel="cache line (64 bytes)", xlim=(-0.6, max([len(o) for _, o, _ in rows], default=1) - 0.4))
    ax.set_ylim(len(rows) - 0.4, -0.75)
    ax.set_yticks(range(len(rows)), [name for name, *_ in rows])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    fig.legend(ncols=min(4, report.threads), loc="outside lower center")
    ax.grid(False)
    both = {name: [n for n, t in enumerate(owners) if len(t) > 1] for name, owners, _ in rows}
    said = "; ".join(
        f"{name}: "
        + (f"lines {', '.join(map(str, shared))} written by several threads" if shared else "no line shared")
        for name, shared in both.items()
    )
    return fig, f"Cache lines written by {report.threads} threads. {said or 'Nothing was written'}."
