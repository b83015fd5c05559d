"""Budgets: what a kernel may cost at most, counted, so that a check gives the same verdict on every machine.

    report.require(sectors_per_request=4, bank_ways=1, barriers=2, races=0)
    report.require(requests=128, array="A", kind="load")

Three sorts of measures:

    at most, for every expression   sectors_per_request, bank_ways, bank_ways_mean, contention,
                                    addresses_per_request
    at least, for every expression  efficiency, active_lanes
    at most, summed up              requests, accesses, sectors, bytes_moved, bytes_used, wavefronts,
                                    bank_conflicts; any other name of ``report.total``; races, findings

``array``, ``kind``, ``space`` and ``expression`` narrow the first two sorts and the sums over expressions to
a part of the kernel.
"""

from dataclasses import dataclass

AT_MOST = ("sectors_per_request", "bank_ways", "bank_ways_mean", "contention", "addresses_per_request")
AT_LEAST = ("efficiency", "active_lanes")
SUMS = ("requests", "accesses", "sectors", "bytes_moved", "bytes_used", "wavefronts", "bank_conflicts")
GLOBAL_SUMS = ("sectors", "bytes_moved", "bytes_used")  # without a selection, they mean global memory


@dataclass(frozen=True)
class Excess:
    """One measure over its budget: its name, what was counted, what was allowed, and where (a sentence)."""

    measure: str
    counted: float
    allowed: float
    line: int | None
    text: str
    message: str
    kind: str = ""  # "load", "store" or "atomic", where it is about one expression


class BudgetExceeded(AssertionError):
    """Raised by ``report.require``. ``exceeded`` lists every `Excess`; ``line`` is that of the first."""

    def __init__(self, exceeded):
        self.exceeded = tuple(exceeded)
        self.line = exceeded[0].line
        super().__init__("\n".join(e.message for e in exceeded))


def check(report, limits, array=None, kind=None, space=None, expression=None):
    """Raise `BudgetExceeded` if a limit is broken; ValueError for an unknown name or an empty selection."""
    chosen = {"array": array, "kind": kind, "space": space, "text": expression}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    rows = [r for r in report.expressions if all(getattr(r, name) == v for name, v in chosen.items())]
    if chosen and not rows:
        arrays = sorted({f"{r.array} ({r.space} {r.kind}, `{r.text}`)" for r in report.expressions})
        raise ValueError(f"No access matches {_words(chosen)}. The kernel touched: {', '.join(arrays) or 'nothing'}.")
    exceeded = []
    for measure, allowed in limits.items():
        exceeded += _check_one(report, measure, allowed, rows, chosen)
    if exceeded:
        raise BudgetExceeded(exceeded)


def _check_one(report, measure, allowed, rows, chosen):
    if measure in AT_MOST or measure in AT_LEAST:
        return _check_rows(measure, allowed, rows)
    if measure in ("races", "findings"):
        bad = report.races if measure == "races" else report.findings
        return _excess(measure, len(bad), allowed, bad[0] if bad else None)
    if measure in SUMS:
        if not chosen and measure in GLOBAL_SUMS:
            rows = [r for r in rows if r.space == "global"]
        counted = sum(getattr(r, measure) for r in rows)
        return _excess(measure, counted, allowed, max(rows, key=lambda r: getattr(r, measure), default=None))
    if measure in report.total:
        if chosen:
            raise ValueError(
                f"{measure} is a total of the launch and cannot be narrowed to {_words(chosen)}; "
                f"use one of {', '.join(SUMS)}."
            )
        return _excess(measure, report.total[measure] or 0, allowed, None)
    known = sorted({*AT_MOST, *AT_LEAST, *SUMS, *report.total, "races", "findings"})
    raise ValueError(f"There is no measure {measure!r}. Known: {', '.join(known)}.")


def _check_rows(measure, allowed, rows):
    excesses = []
    for row in rows:
        counted = getattr(row, measure)
        if counted is None:
            continue
        if counted < allowed if measure in AT_LEAST else counted > allowed:
            relation = "at least" if measure in AT_LEAST else "at most"
            message = (
                f"line {row.line}, {row.kind} `{row.text}`:\n  {measure} is {_number(counted)}, "
                f"the budget asks for {relation} {_number(allowed)}."
            )
            excesses.append(Excess(measure, counted, allowed, row.line, row.text, message, row.kind))
    return excesses


def _excess(measure, counted, allowed, where):
    if counted <= allowed:
        return []
    message = f"{measure} is {_number(counted)}, the budget asks for at most {_number(allowed)}."
    if measure in ("races", "findings"):
        message += f"\n  First: {where}"
    elif where is not None:
        most = _number(getattr(where, measure))
        message += f"\n  Most comes from line {where.line}, {where.kind} `{where.text}`: {most}."
    line, text = (where.line, where.text) if where is not None else (None, "")
    return [Excess(measure, counted, allowed, line, text, message)]


def _words(chosen):
    return ", ".join(f"{'expression' if n == 'text' else n}={v!r}" for n, v in chosen.items())


def _number(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")
