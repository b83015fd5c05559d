"""What a watched loop did, for a person."""

import numpy as np

from simt.show import Column, sentence, table

from . import analysis
from .recorder import LINE, STORE

SHOWN = 4
_COLUMNS = (Column(style="text-align:left;vertical-align:top"), Column(render=sentence, style="text-align:left"))


class WatchReport:
    """Counts and findings of one call; see `watch`."""

    def __init__(self, name, recorder, result, arguments, carried, schedule):
        self.name, self.result, self.arguments, self.carried = name, result, arguments, carried
        self.threads, self.schedule = recorder.threads, schedule
        self.allocations, self.temporaries = recorder.allocations, recorder.temporaries
        self.recorder, self.columns = recorder, recorder.columns()
        self.races = analysis.races(recorder, self.columns)
        self.false_sharing = analysis.shared_lines(recorder, self.columns)
        self.line_transfers = analysis.transfers(self.columns)
        kind, thread = self.columns["kind"], self.columns["thread"]
        self.loads, self.stores = int((kind != STORE).sum()), int((kind == STORE).sum())
        line = self.columns["address"] // LINE
        self.cache_lines = len(np.unique(line))
        inside = self.columns["region"] >= 0
        self.work = [int((inside & (thread == t)).sum()) for t in range(self.threads)]
        self.iterations = [
            sum(len(r.iterations[t]) for r in recorder.regions if r.iterations) for t in range(self.threads)
        ]
        self.lines_by_array = {
            root.name: len(np.unique(line[self.columns["root"] == i])) for i, root in enumerate(recorder.roots)
        }

    @property
    def imbalance(self):
        """Work on the longest path / mean work: 1 is even. What stands outside the loop keeps all but one thread
        waiting."""
        total = self.loads + self.stores
        outside = total - sum(self.work)
        return (outside + max(self.work)) * self.threads / total if total else 1.0

    @property
    def ok(self):
        """No race, nothing carried from one iteration to another. (False sharing is slow, not wrong.)"""
        return not self.races and not self.carried

    def counts(self):
        """What a budget may limit, by name."""
        return {
            "races": len(self.races),
            "carried": len(self.carried),
            "false_sharing": len(self.false_sharing),
            "line_transfers": self.line_transfers,
            "cache_lines": self.cache_lines,
            "loads": self.loads,
            "stores": self.stores,
            "allocations": self.allocations,
            "temporaries": self.temporaries,
            "imbalance": round(self.imbalance, 6),
        }

    def figure(self):
        """(figure, alternative text): which thread wrote which cache line of each array."""
        from .picture import lines

        return lines(self)

    def show(self):
        """Show `figure` in a notebook or on a page."""
        from .. import figures

        figures.show(*self.figure())

    def _rows(self):
        yield "loop", f"{sum(self.iterations)} iterations on {self.threads} threads, {self.schedule}"
        yield "iterations", ", ".join(f"thread {t}: {n}" for t, n in enumerate(self.iterations))
        yield "work", ", ".join(f"thread {t}: {n} loads and stores" for t, n in enumerate(self.work))
        yield "imbalance", f"{self.imbalance:.2f} (work on the longest path / mean work)"
        yield "accesses", f"{self.loads} loads, {self.stores} stores, in {self.cache_lines} cache lines"
        yield "arrays made", f"{self.allocations}, of them {self.temporaries} temporary"
        for name in self.carried:
            yield (
                "carried",
                f"{name} is used before the iteration sets it: its value would come from another iteration",
            )
        yield "races", _some(self.races)
        yield "false sharing", _some(self.false_sharing)
        if self.false_sharing:
            yield "transfers", f"a cache line changes its core {self.line_transfers} times, threads in step"

    def __str__(self):
        return "\n".join([self.name, *(f"  {label:<14} {text}" for label, text in self._rows())])

    __repr__ = __str__

    def _repr_html_(self):
        return table(_COLUMNS, self._rows(), caption=self.name)


def _some(findings):
    if not findings:
        return "none"
    more = f"; and {len(findings) - SHOWN} more" if len(findings) > SHOWN else ""
    return "; ".join(map(str, findings[:SHOWN])) + more
