"""The report of an x-ray: text for a terminal, HTML for a notebook, a dict for checks, budgets, pictures."""

import html
import json
import textwrap

import numpy as np

from ..show import Column, code, table
from . import analysis, budget, metrics, pictures, player, svg, timeline
from . import findings as findings_of

COLUMNS = 80
SCHEMA = 1  # of to_dict()
_STOPPED = "The launch could not go on; the counts cover what ran until then."


class Report:
    """What a launch did to memory.

    expressions: a list of `analysis.Expression`, one per source expression and array.
    total: dict of totals over the launch. findings: list of `findings.Finding`.
    trace: the recording that all of it was worked out from. stopped: None, or why the launch could not go on.
    engine: which engine ran the launch.
    """

    engine = "executor"
    _looked_for = ""  # what the first line says of races

    def __init__(self, trace, stopped=None):
        self.trace = trace
        self.stopped = str(stopped) if stopped else None
        self.kernel = trace.kernel
        self.grid, self.block = tuple(trace.grid), tuple(trace.block_shape)
        self.requests, self.request_of = analysis.requests(trace)
        self.expressions = analysis.expressions(trace, self.requests)
        self.total = analysis.totals(self.expressions, *analysis.of_launch(trace))
        self.findings = findings_of.findings(trace, stopped)

    @property
    def races(self):
        """The findings that are data races (an atomic against a plain access counts as one)."""
        return [f for f in self.findings if f.is_race]

    @property
    def unwritten(self):
        """Arrays of ``cuda.device_array`` with elements that nobody has written after the launch: (name, how many,
        of)."""
        rows = []
        for number, (bytes_, start) in self.trace.unwritten.items():
            info, left = self.trace.arrays[number], bytes_ & ~self.trace.stored(start, len(bytes_))
            offset = info.base - start
            if 0 in info.shape:
                continue
            shape, strides = (*info.shape, info.dtype.itemsize), (*info.strides, 1)
            unset = np.ndarray(shape, bool, left, offset, strides).any(axis=-1)
            if unset.any():
                rows.append((info.name, int(unset.sum()), unset.size))
        return rows

    @property
    def ok(self):
        """True where nothing was found."""
        return not self.findings

    def require(self, *, array=None, kind=None, space=None, expression=None, **limits):
        """Raise `BudgetExceeded` unless every measure keeps to its limit. See `budget` for the names.

        ``report.require(sectors_per_request=4, bank_ways=1, races=0)``
        """
        budget.check(self, limits, array=array, kind=kind, space=space, expression=expression)
        return self

    def to_dict(self):
        """Plain data: kernel, engine, grid, block, order, total, expressions, findings, races, stopped, nsight,
        schema."""
        return {
            "schema": SCHEMA,
            "kernel": self.kernel,
            "engine": self.engine,
            "grid": list(self.grid),
            "block": list(self.block),
            "order": self.trace.order,
            "total": dict(self.total),
            "expressions": [e.to_dict() for e in self.expressions],
            "findings": [f.to_dict() for f in self.findings],
            "races": len(self.races),
            "stopped": self.stopped,
            "nsight": dict(metrics.NSIGHT),
        }

    def to_json(self, **options):
        """`to_dict` as JSON text. Options go to ``json.dumps``."""
        return json.dumps(self.to_dict(), **options)

    # -- pictures --------------------------------------------------------------------------------------------

    def thread_map(self, **choice):
        """Which lane touches which bytes of global memory, in one request. See `pictures`."""
        return pictures.thread_map(self, **choice)

    def sector_strip(self, **choice):
        """The 32-byte sectors that each request moves, and how much of them is used."""
        return pictures.sector_strip(self, **choice)

    def bank_strip(self, **choice):
        """The 32 banks of shared memory and the words each must serve in one request."""
        return pictures.bank_strip(self, **choice)

    def step(self, **choice):
        """Bytes from one lane to the next in the costliest request; None where there is one lane."""
        return pictures.step(self, **choice)

    def meeting(self, finding):
        """The threads of a finding and the element they meet at."""
        return pictures.meeting(self, finding)

    def timeline(self, block=0, arrays=None):
        """Which thread of a block touches what between its barriers."""
        return timeline.timeline(self, block, arrays)

    def replay(self, block=0):
        """Shared memory of a block after each barrier, as a player. Needs ``xray(..., snapshots=True)``."""
        return player.replay(self, block)

    # -- text ------------------------------------------------------------------------------------------------

    def __str__(self):
        head = [w for line in self._head() for w in textwrap.wrap(line, COLUMNS, subsequent_indent=" " * 8)]
        table = ["", *self._table()] if self.expressions else []
        return "\n".join([*head, *table, "", *self._found()])

    def __repr__(self):
        return str(self)

    def _head(self):
        t = self.total
        lines = [f"{self.kernel}, grid {_dim(self.grid)}, block {_dim(self.block)}{self._looked_for}"]
        if t["efficiency"] is not None:
            lines.append(
                f"global: {t['bytes_moved']:,} bytes moved, {t['bytes_used']:,} used ({t['efficiency']:.0%}), "
                f"{t['sectors_per_request']:.1f} sectors per request"
            )
        if t["bank_ways"] is not None:
            lines.append(
                f"shared: {t['shared_bytes']:,} bytes per block, {t['shared_wavefronts']:,} wavefronts, "
                f"{t['bank_conflicts']:,} of them for bank conflicts"
            )
        if t["atomics"]:
            lines.append(f"atomic: {t['atomics']:,} updates, up to {_count(t['contention'], 'lane')} at one address")
        for name, count, size in self.unwritten:
            lines.append(f"unset:  {count:,} of {size:,} elements of {name} are still unwritten")
        lines.append(f"order:  {_count(t['barriers'], 'barrier')} per block" + self._grid_barriers())
        return lines

    def _grid_barriers(self):
        n = self.total["grid_barriers"]
        return f", {_count(n, 'grid barrier')}" if n else ""

    def _table(self):
        lines = [
            f"{'line':>4} {'expression':<26} {'':<13} {'requests':>8} {'lanes':>5} {'sect.':>5} {'used':>5} {'ways':>4}"
        ]
        for e in self.expressions:
            lines.append(
                f"{e.line:>4} {_short(e.text, 26):<26} {e.space + ' ' + e.kind:<13} {_compact(e.requests):>8} "
                f"{e.active_lanes:>5.1f} {_or_blank(e.sectors_per_request, '.1f'):>5} "
                f"{_or_blank(e.efficiency, '.0%'):>5} {_or_blank(_ways(e), 'd'):>4}"
            )
        return lines

    def _found(self):
        if self.ok:
            return ["Nothing wrong was found."]
        return self._listed(self.findings)

    def _listed(self, findings):
        lines = [_count(len(findings), "finding")]
        if self.stopped:
            lines += self._wrapped(_STOPPED)
        for f in findings:
            lines += textwrap.wrap(f"[{f.kind}] {f}", COLUMNS - 2, initial_indent="! ", subsequent_indent="  ")
        return lines

    def _wrapped(self, text):
        return textwrap.wrap(text, COLUMNS)

    # -- HTML ------------------------------------------------------------------------------------------------

    def _repr_html_(self):
        return _page(self)

    def _verdict(self):
        return self._items(self.findings) if self.findings else "<p>Nothing wrong was found.</p>"

    def _items(self, findings):
        items = "".join(f"<li>{f.to_html()}</li>" for f in findings)
        stopped = f"<p>{_STOPPED}</p>" if self.stopped else ""
        return f'<div class="bad"><p>{_count(len(findings), "finding")}</p>{stopped}<ul>{items}</ul></div>'


def _ways(e):
    """The one number in the last column: bank ways, or for an atomic the lanes at one address."""
    return e.contention if e.kind == "atomic" else e.bank_ways


def _dim(shape):
    return str(shape[0]) if all(n == 1 for n in shape[1:]) else "x".join(map(str, shape)).removesuffix("x1")


def _short(text, width):
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def _or_blank(value, form):
    return "" if value is None else format(value, form)


def _compact(n):
    return f"{n:,}" if n < 10_000_000 else f"{n / 1e6:,.0f} M"


def _count(n, noun):
    return f"{n} {noun}" + ("" if n == 1 else "s")


_COLUMNS = (  # l: text, on the left
    Column("line", note="line of the source"),
    Column("expression", code, kind="l", note="the source expression"),
    Column("access", kind="l", note="memory and kind of access"),
    Column("requests", note="warp instructions"),
    Column("lanes", note=f"active lanes per request ({metrics.NSIGHT['active_lanes']})"),
    Column("sectors", note="32-byte sectors per request; 4 is the least for 32 lanes of 4 bytes"),
    Column("used", note="different bytes touched / bytes moved"),
    Column("ways", note="words that one bank serves in the worst request; for atomics, lanes at one address"),
)


def _page(report):
    q = html.escape
    head, *rest = report._head()
    return (
        f'<div class="xray-report">{svg.style()}<p><strong>{q(head)}</strong><br>'
        f"{'<br>'.join(map(q, rest))}</p>"
        f"{table(_COLUMNS, map(_row, report.expressions))}{report._verdict()}</div>"
    )


def _row(e):
    return (
        e.line,
        _short(e.text, 60),
        f"{e.space} {e.kind}",
        f"{e.requests:,}",
        f"{e.active_lanes:.1f}",
        _or_blank(e.sectors_per_request, ".1f"),
        _or_blank(e.efficiency, ".0%"),
        _or_blank(_ways(e), "d"),
    )
