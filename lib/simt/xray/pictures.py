"""Pictures of single warp instructions: which lane touches which address, which sectors, which banks.

Each returns a `svg.Picture`. By default the costliest request of the chosen expression is drawn.
"""

import numpy as np

from .. import show
from ..trace import LOAD
from . import columns, traffic
from .svg import INNER, MARGIN, Picture, canvas, line, rect, text
from .words import span

CELL = INNER / traffic.WARP
_TICKS = (0, 8, 16, 24, 31)
MOST_REQUESTS = 8
BANKS_IN_A_ROW = 16  # half of them: the number of a lane in each box is read on a phone, too
LANES_IN_A_LINE = 8  # of the text below a picture
AROUND = 4  # elements shown on either side of the one that threads meet at


def thread_map(report, **choice):
    """Lanes above, the memory they touch below in sectors of 32 bytes, a line from each lane to its bytes."""
    rows, e = _choose(report, ("global",), **choice)
    trace = report.trace
    lane, address, size = trace.lane[rows], trace.address[rows], trace.size[rows]
    index, number = columns.spread(address, size, traffic.SECTOR_BYTES)
    sectors, slot = np.unique(number, return_inverse=True)
    width = INNER / len(sectors)
    gap = min(3, width * 0.25)
    top, bottom = 38, 120
    parts = [text(MARGIN, 14, _title(e), weight="bold"), *_lanes(lane, top)]
    unit = (width - gap) / traffic.SECTOR_BYTES
    for k in range(len(sectors)):
        parts.append(rect(MARGIN + k * width, bottom, width - gap, 16))
    for i, k in zip(index.tolist(), slot.tolist(), strict=True):
        start = max(int(address[i]) - int(sectors[k]) * 32, 0)
        end = min(int(address[i] + size[i]) - int(sectors[k]) * 32, 32)
        x = MARGIN + k * width + start * unit
        seen = min(max((end - start) * unit, 2), (32 - start) * unit)
        parts.append(rect(x, bottom, seen, 16, 0.55, 0))
        parts.append(line(_lane_x(lane[i]), top + CELL, x + (end - start) * unit / 2, bottom))
    used, moved = int(np.unique(address).size * size[0]), 32 * len(sectors)
    number = f"{len(sectors)} sector{'s' * (len(sectors) != 1)}"
    parts.append(text(MARGIN, bottom + 32, f"memory, {number}: {moved} bytes moved, {used} used"))
    idle = traffic.WARP - len(rows)
    lanes = "1 lane touches" if len(rows) == 1 else f"{len(rows)} lanes touch"
    others = (
        f" The other {'lane does' if idle == 1 else f'{idle} do'} nothing at this line: a branch, a guard or a small "
        "block keeps them out."
        if idle
        else ""
    )
    alt = (
        f"{e.kind.capitalize()} {e.text} on line {e.line}: {lanes} {number} of "
        f"32 bytes; {used} of {moved} bytes are used.{others}"
    )
    return Picture(canvas(bottom + 42, parts, alt), alt, _address_table(trace, rows))


def sector_strip(report, **choice):
    """A row per request: the sectors it moves, darker where more of their bytes are used."""
    every, e = _choose_all(report, ("global",), **choice)
    trace = report.trace
    shown = every[:MOST_REQUESTS]
    parts, lines = ([text(MARGIN, 14, _title(e), weight="bold")], ["request  sectors  bytes used of each"])
    y = 30
    for number, request in enumerate(shown):
        rows = np.flatnonzero(report.request_of == request)
        sectors, used = _sector_use(trace, rows)
        width = INNER / max(len(sectors), 4)
        for k, (sector, share) in enumerate(zip(sectors.tolist(), (used / 32).tolist(), strict=True)):
            title = f"bytes {sector * 32} to {sector * 32 + 31}: {share:.0%} used"
            parts.append(rect(MARGIN + k * width, y, width * 0.9, 14, 0.75 * share, title=title))
        lines.append(f"{number:>7}  {len(sectors):>7}  {' '.join(map(str, used.tolist()))}")
        y += 18
    parts.append(text(MARGIN, y + 10, "a box: one sector of 32 bytes; ink: the part used"))
    worst = int(report.requests.sectors[every].max())
    alt = (
        f"{e.kind.capitalize()} {e.text} on line {e.line}: {_some(len(shown), len(every))}, "
        f"at most {worst} sectors in one, {e.efficiency:.0%} of all bytes moved are used."
    )
    return Picture(canvas(y + 20, parts, alt), alt, "\n".join(lines))


def bank_strip(report, **choice):
    """The 32 banks of shared memory, in two rows: the words that each must serve in the worst pass of one request."""
    rows, e = _choose(report, ("shared",), **choice)
    trace = report.trace
    stacks, ways, part_of = _bank_stacks(trace, rows)
    width, height = INNER / BANKS_IN_A_ROW, 11
    parts, y = [text(MARGIN, 14, _title(e), weight="bold")], 24
    for first_bank in range(0, traffic.BANKS, BANKS_IN_A_ROW):
        banks = range(first_bank, first_bank + BANKS_IN_A_ROW)
        base = y + height * max(len(stacks.get(bank, [0])) for bank in banks)
        for bank in banks:
            x = MARGIN + (bank - first_bank) * width
            parts.append(line(x, base, x + width, base, 1))
            for level, (word, lanes) in enumerate(stacks.get(bank, [])):
                top = base - (level + 1) * height
                parts.append(rect(x + 0.5, top, width - 1, height - 1, 0.12, title=_word(word, lanes)))
                label = lanes[0] if len(lanes) == 1 else f"×{len(lanes)}"
                parts.append(text(x + width / 2, top + 8.5, label, 9.5, "middle"))
            parts.append(text(x + width / 2, base + 11, bank, 9, "middle"))
        y = base + 20
    served = f"and the busiest serves {ways} different words one after another" if ways > 1 else "each for one word"
    notes = [f"{ways}-way{part_of}"] if ways > 1 or e.kind != "atomic" else []
    if e.kind == "atomic":
        most = int(np.unique(trace.address[rows], return_counts=True)[1].max())
        notes.append(
            f"{most} lanes update one word, one after another" if most > 1 else "no two lanes update the same word"
        )
    cost = "; ".join(notes)
    parts.append(text(MARGIN, y + 9, "below a box: its bank; in it: the lane, ×2 for two lanes"))
    parts.append(text(MARGIN, y + 24, cost))
    alt = f"{e.kind.capitalize()} {e.text} on line {e.line}: {len(stacks)} of 32 banks are used, {served} ({cost})."
    lines = ["bank  words  lanes of each word"]
    for bank, words in sorted(stacks.items()):
        lanes = [span(of_word) for _, of_word in words]
        pieces = ["; ".join(lanes[k : k + LANES_IN_A_LINE]) for k in range(0, len(lanes), LANES_IN_A_LINE)]
        lines.append(f"{bank:>4}  {len(words):>5}  " + (";\n" + 13 * " ").join(pieces))
    return Picture(canvas(y + 30, parts, alt), alt, "\n".join(lines))


def step(report, **choice):
    """Bytes from the first lane of the costliest request to the second."""
    rows, _ = _choose(report, ("global", "shared"), **choice)
    addresses = report.trace.address[rows[:2]].astype(np.int64)
    return int(addresses[1] - addresses[0]) if len(addresses) == 2 else None


# -- choosing a request -------------------------------------------------------------------------------------


def _choose_all(report, spaces, expression=None, array=None, kind=None, line=None):
    """(numbers of the requests, their Expression): of the costliest expression that matches."""
    wanted = {"text": expression, "array": array, "kind": kind, "line": line}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    there = [e for e in report.expressions if e.space in spaces]
    rows = [e for e in there if all(getattr(e, name) == value for name, value in wanted.items())]
    if not rows:
        asked = "".join(f" with {name}={value!r}" for name, value in wanted.items())
        have = ", ".join(f"`{e.text}` ({e.kind}, line {e.line})" for e in there) or "none"
        raise ValueError(f"No access to {' or '.join(spaces)} memory{asked}. The kernel has: {have}.")
    e = max(rows, key=lambda e: (e.sectors_per_request or 0, e.bank_ways or 0))
    table = report.requests
    names = np.array([a.name for a in report.trace.arrays])
    return np.flatnonzero((table.site == e.site) & (names[table.array] == e.array)), e


def _choose(report, spaces, **choice):
    """(rows of the trace, Expression): the costliest request, the first of several."""
    every, e = _choose_all(report, spaces, **choice)
    table = report.requests
    # An atomic serves the lanes at one address one after another, whatever the banks do.
    cost = np.maximum(table.wavefronts, table.contention) if spaces == ("shared",) else table.sectors
    best = every[np.argmax(cost[every])]
    rows = np.flatnonzero(report.request_of == best)
    return rows[np.argsort(report.trace.lane[rows], kind="stable")], e


# -- parts of pictures ----------------------------------------------------------------------------------------


def _title(e):
    text = " ".join(e.text.split())
    return f"{e.kind} {text if len(text) <= 34 else text[:33] + '…'}, line {e.line}"


def _lane_x(lane):
    return MARGIN + (int(lane) + 0.5) * CELL


def _lanes(active, y):
    active = set(active.tolist())
    cells = [
        rect(MARGIN + k * CELL, y, CELL * 0.9, CELL * 0.9, 0.55 if k in active else 0) for k in range(traffic.WARP)
    ]
    return [*cells, text(MARGIN, y - 4, "lane 0", 10), *(text(_lane_x(k), y - 4, k, 10, "middle") for k in _TICKS[1:])]


def meeting(report, finding):
    """The threads of a finding, and the element of an array at which they meet; a single thread beside its element."""
    trace, shown = report.trace, finding.threads[:2]
    who = [show.who(t["thread"], t["block"], trace.block_shape, trace.grid) for t in shown]
    name = f"{finding.array}[{', '.join(map(str, finding.index))}]"
    row, column = ", ".join(map(str, finding.index[:-1])), finding.index[-1]
    before = f"{finding.array}[{row}{', ' if row else ''}"
    start = max(0, column - AROUND)
    size, top = INNER / (2 * AROUND + 1), 78
    end = _end(trace, finding)
    parts = [text(MARGIN, 14, f"{finding.kind.replace('-', ' ')}: {name}", weight="bold")]
    cells = 2 * AROUND + 1 if end is None or column >= end else min(2 * AROUND + 1, end - start)
    for k in range(cells):
        hit, x = start + k == column, MARGIN + k * size
        inside = end is None or start + k < end
        note = f"{before}{start + k}]" + ("" if inside else f", beyond the end of {finding.array}")
        parts.append(rect(x, top, size - 4, 24, 0.45 if hit else 0, 1.4 if hit else 0.5, note, "" if inside else "3 3"))
        if start + k == end:
            parts.append(line(x - 2, top - 6, x - 2, top + 30, 2, opacity=1))
            parts.append(text(MARGIN + INNER, top + 60, f"{finding.array} ends at the dashes", 11, "end"))
        parts.append(text(x + (size - 4) / 2, top + 40, start + k, 11, "middle", "bold" if hit else "normal"))
    target = MARGIN + (column - start) * size + (size - 4) / 2
    for k, words in enumerate(who):
        x, anchor = (MARGIN, "start") if k == 0 else (MARGIN + INNER, "end")
        parts.append(text(x, 40, words, 12, anchor))
        parts.append(line(x + (60 if k == 0 else -60), 46, target, top, 1.2))
    alt = f"{' and '.join(who)} use {name}" if len(who) > 1 else f"{who[0]} uses {name}"
    alt = alt[0].upper() + alt[1:]
    lines = " and ".join(map(str, finding.lines))
    parts.append(text(MARGIN, top + 60, f"line{'s' * (len(finding.lines) > 1)} {lines}" if lines else "", 11))
    return Picture(canvas(top + 66, parts, f"{alt}."), f"{alt}.", finding.message.replace("`", ""))


def _end(trace, finding):
    """The length of the last axis of a finding's array; None where it is not known."""
    shapes = {a.shape[-1] for a in trace.arrays if a.name == finding.array and a.shape}
    return shapes.pop() if len(shapes) == 1 else None


def _sector_use(trace, rows):
    """(sectors, distinct bytes used in each) of one request."""
    _, number = columns.spread(trace.address[rows], trace.size[rows], 1)
    byte = np.unique(number)
    return np.unique(byte // traffic.SECTOR_BYTES, return_counts=True)


def _bank_stacks(trace, rows):
    """({bank: [(word, lanes)]}, ways, which part of the warp) of the worst pass of one request."""
    lane, size = trace.lane[rows], int(trace.size[rows[0]])
    everyone = np.ones((1, len(rows)), bool)
    pairs = traffic.paired(everyone, lane[None], trace.address[rows][None]) & (trace.kind[rows[0]] == LOAD)
    (lanes_at_once,) = traffic.lanes_at_once(np.array([[size]]), pairs).tolist()
    index, word = columns.spread(trace.address[rows], trace.size[rows], traffic.BANK_BYTES)
    worst, ways, which = {}, 0, 0
    for part in np.unique(lane // lanes_at_once).tolist():
        stacks = {}
        in_part = lane[index] // lanes_at_once == part
        for w in np.unique(word[in_part]).tolist():
            lanes = np.unique(lane[index][in_part & (word == w)]).tolist()
            stacks.setdefault(w % traffic.BANKS, []).append((w, lanes))
        most = max(map(len, stacks.values()))
        if most > ways:
            worst, ways, which = stacks, most, part
    start = which * lanes_at_once
    part_of = "" if lanes_at_once == traffic.WARP else f", lanes {start} to {start + lanes_at_once - 1}"
    return worst, ways, part_of


def _word(word, lanes):
    return f"word {word}, lane{'s' * (len(lanes) > 1)} {', '.join(map(str, lanes))}"


def _address_table(trace, rows):
    lines = ["lane  element  byte address  sector"]
    for r in rows.tolist():
        address = int(trace.address[r])
        lines.append(f"{trace.lane[r]:>4}  {trace.element[r]:>7}  {address:>12}  {address // 32:>6}")
    return "\n".join(lines)


def _some(shown, of):
    return f"{of} requests" if shown == of else f"the first {shown} of {of} requests"
