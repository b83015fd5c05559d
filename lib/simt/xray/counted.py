"""The report of a launch that the compiled engine counted: the counts of an x-ray at real size, and nothing else.

What needs every access by itself (findings, pictures, the order of things) is not there, and says so when asked for.
"""

import html

from . import analysis, metrics
from .report import SCHEMA, Report

WITHOUT = (
    "Counted by the compiled engine. Not looked for: races, missing barriers, memory read before it is written, "
    'barriers that threads missed. xray(..., engine="executor") looks for them; a few blocks show the same pattern.'
)


class NotLookedFor(RuntimeError):
    """Asked of a report that has counts only."""


def _missing(name, what):
    def ask(self, *_, **__):
        raise NotLookedFor(
            f"report.{name}: {what} is not known, because the compiled engine counted this launch. "
            'Use xray(..., engine="executor"), with fewer blocks where that takes too long.'
        )

    return ask


class CountedReport(Report):
    """What a launch did to memory, counted: ``expressions``, ``total`` and ``require`` as in a `Report`."""

    engine = "compiled"
    stopped, unwritten = None, ()
    _looked_for = ": COUNTED ONLY, no races looked for"

    def __init__(self, counts):
        self.kernel, self.grid, self.block, self.order = counts.kernel, counts.grid, counts.block_shape, counts.order
        rows = []
        for site, array in zip(*counts.sums["requests"].nonzero(), strict=True):
            measures = {name: int(values[site, array]) for name, values in counts.sums.items()}
            rows.append(analysis.expression(int(site), counts.sites, counts.arrays[array], measures))
        self.expressions = analysis.in_order(rows, counts.sites)
        self.total = analysis.totals(self.expressions, counts.barriers, counts.grid_barriers, counts.shared_bytes)

    trace = property(_missing("trace", "each access by itself"))
    requests = property(_missing("requests", "each request by itself"))
    findings = property(_missing("findings", "what is wrong"))
    races = property(_missing("races", "whether threads race"))
    ok = property(_missing("ok", "whether something is wrong"))
    thread_map = _missing("thread_map", "which lane touches what")
    sector_strip = _missing("sector_strip", "which sectors a request moves")
    bank_strip = _missing("bank_strip", "which words a bank serves")
    step = _missing("step", "the step from lane to lane")
    meeting = _missing("meeting", "where threads meet")
    timeline = _missing("timeline", "the order of accesses")
    replay = _missing("replay", "the contents of shared memory")

    def to_dict(self):
        """As that of a `Report`; findings, races and stopped are None."""
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
            "races": None,
            "stopped": None,
            "nsight": dict(metrics.NSIGHT),
        }

    def _found(self):
        return self._wrapped(WITHOUT)

    def _verdict(self):
        return f"<p>{html.escape(WITHOUT)}</p>"
