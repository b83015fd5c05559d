"""What the executor's x-ray counts of a launch beside what the compiled engine counts of it, races included."""

from simt.xray import NotLookedFor, xray
from simt.xray.arguments import copies

SUMS = ("requests", "accesses", "bytes_used", "bytes_moved", "sectors", "wavefronts", "bank_conflicts")
WORST = ("bank_ways", "contention")


def rows(report):
    """{expression and array: its counts}. The executor has a row for each set of types that a device function is called
    with."""
    merged = {}
    for e in report.expressions:
        row = merged.setdefault((e.file, e.line, e.text, e.function, e.kind, e.space, e.array), dict.fromkeys(SUMS, 0))
        for name in SUMS:
            row[name] += getattr(e, name)
        row["addresses"] = row.get("addresses", 0) + round(e.addresses_per_request * e.requests)
        for name in WORST:
            row[name] = max(row.get(name) or 0, getattr(e, name) or 0)
    return merged


def different(report, counted):
    """What two reports disagree in, as text; "" where they agree."""
    one, other = rows(report), rows(counted)
    lines = [f"{key}:\n  {one.get(key)}\n  {other.get(key)}" for key in one | other if one.get(key) != other.get(key)]
    total = {k: (v, counted.total[k]) for k, v in report.total.items() if v != counted.total[k]}
    try:
        raced = {f.array for f in report.races}, {f.array for f in counted.races}
    except NotLookedFor:
        raced = ()
    if raced and bool(raced[0]) != bool(raced[1]):
        lines.append(f"races: on {raced[0]}, on {raced[1]}")
    return "\n".join([*lines, *([f"totals: {total}"] if total else [])])


def both(kernel, grid, block, args, shared_bytes=0, order="forward"):
    """(the executor's report, the counted one, the arguments after each) of one launch."""
    one, other = copies(args), copies(args)
    counted = xray(kernel, grid, block, shared_bytes, order, engine="compiled")(*one)
    return xray(kernel, grid, block, shared_bytes, order)(*other), counted, other, one
