"""The report of a launch that the compiled engine counted: the counts of an x-ray at real size, and its races.

What needs every access by itself (other findings, pictures, the order of things) is not there, and says so when asked
for.
"""

import html

from . import analysis, metrics
from .report import SCHEMA, Report

_OTHERS = (
    'memory read before it is written, barriers that threads missed. xray(..., engine="executor") looks for them; '
    "a few blocks show the same pattern."
)


class NotLookedFor(RuntimeError):
    """Asked of a report that has counts only."""


def _refuse(name, what, because):
    raise NotLookedFor(
        f"report.{name}: {what} is not known, because {because}. "
        'Use xray(..., engine="executor"), with fewer blocks where that takes too long.'
    )


def _missing(name, what, more=""):
    def ask(self, *_, **__):
        _refuse(name, what, f"the compiled engine counted this launch{more}")

    return ask


class CountedReport(Report):
    """What a launch did to memory, counted: ``expressions``, ``total`` and ``require`` as in a `Report`; ``races``
    where they were looked for."""

    engine = "compiled"
    stopped, unwritten = None, ()

    def __init__(self, counts, races):
        """races: the findings, where `counts` does not say why nobody looked for them."""
        self._races, self._unseen = races, counts.unseen
        self.kernel, self.grid, self.block, self.order = counts.kernel, counts.grid, counts.block_shape, counts.order
        rows = []
        for site, array in zip(*counts.sums["requests"].nonzero(), strict=True):
            measures = {name: int(values[site, array]) for name, values in counts.sums.items()}
            rows.append(analysis.expression(int(site), counts.sites, counts.arrays[array], measures))
        self.expressions = analysis.in_order(rows, counts.sites)
        self.total = analysis.totals(self.expressions, counts.barriers, counts.grid_barriers, counts.shared_bytes)

    trace = property(_missing("trace", "each access by itself"))
    requests = property(_missing("requests", "each request by itself"))
    findings = property(_missing("findings", "what is wrong", ": it looks for races at most (report.races)"))
    ok = property(_missing("ok", "whether something is wrong", ": it looks for races at most (report.races)"))
    thread_map = _missing("thread_map", "which lane touches what")
    sector_strip = _missing("sector_strip", "which sectors a request moves")
    bank_strip = _missing("bank_strip", "which words a bank serves")
    step = _missing("step", "the step from lane to lane")
    meeting = _missing("meeting", "where threads meet")
    timeline = _missing("timeline", "the order of accesses")
    replay = _missing("replay", "the contents of shared memory")

    @property
    def races(self):
        """As of a `Report`. `NotLookedFor` where the compiled engine could not judge them."""
        if self._unseen:
            _refuse("races", "whether threads race", f"the compiled engine cannot judge this kernel: {self._unseen}")
        return list(self._races)

    def to_dict(self):
        """As that of a `Report`; findings and stopped are None, races where nobody looked for them."""
        return {
            "schema": SCHEMA,
            "kernel": self.kernel,
            "engine": self.engine,
            "grid": list(self.grid),
            "block": list(self.block),
            "order": self.order,
            "total": dict(self.total),
            "expressions": [e.to_dict() for e in self.expressions],
            "findings": None,
            "races": None if self._unseen else len(self._races),
            "stopped": None,
            "nsight": dict(metrics.NSIGHT),
        }

    @property
    def _looked_for(self):
        return ": COUNTED ONLY, no races looked for" if self._unseen else ": RACES LOOKED FOR, by the compiled engine"

    def _limits(self):
        if self._unseen:
            return (
                f"Counted by the compiled engine. Not looked for: races (the compiled engine cannot judge this kernel: "
                f"{self._unseen}), missing barriers, {_OTHERS}"
            )
        seen = "" if self._races else " No two accesses race."
        return (
            f"Counted by the compiled engine, which looked at every access for races.{seen} Not looked for: {_OTHERS}"
        )

    def _found(self):
        return [*([*self._listed(self._races), ""] if self._races else ()), *self._wrapped(self._limits())]

    def _verdict(self):
        raced = self._items(self._races) if self._races else ""
        return f"{raced}<p>{html.escape(self._limits())}</p>"
