"""Pictures of failures that no x-ray draws: a cache, and threads that wait for each other.

Each returns what outcome.Failure.picture takes: {"svg", "alt", "text"}; `text` is the same drawing for a shell. Green
and red never stand alone: a hit is filled, a miss crossed, a line that is gone is empty. Letters and lines have the
page's own colour, so that they can be read in light and dark.
"""

import math

from simt.xray.svg import INNER, MARGIN, WIDTH, canvas, line, rect, text

GREEN, RED = "#2e8b57", "#c0392b"  # on white and on black each has a contrast of more than 3
KEPT, GONE, NEEDED, UNUSED = "#", "x", "!", "."
_MOST_HIGH = 230  # of two matrices
END = "its end"  # what a thread waits for that joins another, as cpulab.explore says it
_NODE = (92, 26)


def walk(uses, room, names, headline):
    """Use after use from left to right, a row for each line: what a cache of `room` lines holds, which uses hit.

    `uses`: numbers of lines in the order of their use; `names[k]`: of line k, in words.
    """
    cell = min(16, (INNER - 56) / len(uses))
    left, top = MARGIN + 56, 44
    parts = [text(MARGIN, 14, headline, weight="bold"), text(left, 34, "use after use", 11)]
    kept, rows, misses = {}, [[UNUSED] * len(uses) for _ in names], 0
    for t, used in enumerate(uses):
        hit = kept.pop(used, False)
        misses += not hit
        kept[used] = True
        if len(kept) > room:
            del kept[next(iter(kept))]
        for k in kept:
            rows[k][t] = KEPT if k != used else "o" if hit else NEEDED
    for k, (name, states) in enumerate(zip(names, rows, strict=True)):
        y = top + k * cell
        parts.append(text(MARGIN, y + cell - 4, name, 11))
        parts += [_state(state, left + t * cell, y, cell - 1.5, cell - 1.5) for t, state in enumerate(states)]
    y = top + len(names) * cell + 16
    parts.append(text(MARGIN, y, f"Room for {room} lines. Filled: in the cache. Cross: a fetch.", 12))
    parts.append(text(MARGIN, y + 16, "Dot: used, and still there.", 12))
    hits = len(uses) - misses
    alt = (
        f"{headline}, in a cache with room for {room}: {misses} of {len(uses)} uses fetch their line, {hits} find it "
        "there."
    )
    width = max(map(len, names))
    lines = [f"{name:<{width}}  {''.join(states)}" for name, states in zip(names, rows, strict=True)]
    legend = (
        f"from left to right, use after use: {KEPT} in the cache   {NEEDED} fetched   o found there   {UNUSED} not "
        "there"
    )
    return {"svg": canvas(y + 24, parts, alt), "alt": alt, "text": "\n".join([*lines, legend])}


def _state(state, x, y, width, height):
    """A line of the cache as a box."""
    if state == UNUSED:
        return rect(x, y, width, height, 0, 0.25)
    colour = RED if state in (NEEDED, GONE) else GREEN
    fill = 0 if state == GONE else 0.75 if state == NEEDED else 0.55
    box = rect(x, y, width, height, fill, 1).replace("currentColor", colour)
    if state == NEEDED:
        ends = ((x, y, x + width, y + height), (x, y + height, x + width, y))
        return box + "".join(line(*end, 1.2, opacity=1) for end in ends)
    if state == "o":
        return box + rect(x + width / 2 - 1.5, y + height / 2 - 1.5, 3, 3, 1, 0)
    return box


def cache_of(moments, shapes, room):
    """The first moment at which a line is needed that was in the cache before and is gone; {} if there is none.

    `moments`: for each move, (what is moved, in words; the places (array, row, line in its row) that it uses);
    `shapes`: name of an array -> (rows, lines in a row); `room`: lines in the cache, the last used ones.
    """
    kept, seen = {}, set()
    for number, (what, places) in enumerate(moments):
        for element in places:
            if element in seen and element not in kept:
                return _gone(number, what, element, kept, seen, shapes, room)
            kept.pop(element, None)
            kept[element] = True
            seen.add(element)
            if len(kept) > room:
                del kept[next(iter(kept))]
    return {}


def _gone(number, what, element, kept, seen, shapes, room):
    def state(*cell):
        return NEEDED if cell == element else KEPT if cell in kept else GONE if cell in seen else UNUSED

    parts, lines, x = [text(MARGIN, 14, f"Move {number + 1}: {what}", weight="bold")], [], MARGIN
    step = min(9, _MOST_HIGH / max(rows for rows, _ in shapes.values()))
    width = (INNER - 20 * (len(shapes) - 1)) / len(shapes)
    for name, (rows, across) in shapes.items():
        parts.append(text(x, 34, name, 12))
        for k in range(across):
            lines.append(f"{name:<4} line {k}  {''.join(state(name, row, k) for row in range(rows))}")
            parts += [
                _state(state(name, row, k), x + k * width / across, 40 + row * step, width / across - 3, step - 0.8)
                for row in range(rows)
            ]
        x += width + 20
    array, row, k = element
    y = 40 + step * max(rows for rows, _ in shapes.values()) + 16
    parts.append(text(MARGIN, y, f"A box is a line. Filled: one of the {room} in the cache.", 12))
    parts.append(text(MARGIN, y + 16, "Empty, red: gone. Cross: gone, and needed again now.", 12))
    gone = len(seen) - len(kept)
    alt = (
        f"Move {number + 1}, {what}: line {k} of row {row} of {array} is needed again and is no longer in the cache. "
        f"It holds the {len(kept)} lines used last; {gone} that were there are gone."
    )
    legend = f"a mark for each row: {KEPT} in the cache   {GONE} gone   {NEEDED} needed now   {UNUSED} not used yet"
    return {"svg": canvas(y + 24, parts, alt), "alt": alt, "text": "\n".join([*lines, legend])}


def waiting(waits):
    """Who waits for whom: threads as boxes, an arrow from each to the one that has what it waits for.

    `waits`: (thread, what it waits for, the thread that has it or "") for each thread that cannot go on.
    """
    if not waits:
        return {}
    to = {who: whom for who, _, whom in waits}
    names = list(dict.fromkeys([*to, *filter(None, to.values())]))
    position = _places(names)
    ring = {name for name in names if _comes_back(name, to)}
    headline = "A ring: nobody can go on" if ring else "Nobody can go on"
    parts, lines = [text(MARGIN, 14, headline, weight="bold")], []
    for who, what, whom in waits:
        colour = RED if who in ring else "currentColor"
        if whom and whom != who:
            parts.append(_arrow(position[who], position[whom], what, colour, to.get(whom) == who))
            lines.append(f"{who} --[{what}]--> {whom}")
        else:
            x, y = position[who]
            words = f"waits for {what}" + (", which it has itself" if whom else "")
            parts.append(text(x, y + _NODE[1] / 2 + 14, _cut(words, 24 if len(names) > 1 else 50), 11, "middle"))
            lines.append(f"{who} --[{what}]--> " + (f"{who}" if whom else "nobody"))
    for name in names:
        x, y = position[name]
        box = rect(x - _NODE[0] / 2, y - _NODE[1] / 2, *_NODE, 0.06, 2 if name in ring else 0.8)
        parts += [
            box.replace("currentColor", RED) if name in ring else box,
            text(x, y + 4, _cut(name, 12), 12, "middle"),
        ]
    alt = "; ".join(_sentence(*wait) for wait in waits)
    alt += ". That is a ring." if ring else "."
    return {"svg": canvas(max(y for _, y in position.values()) + 42, parts, alt), "alt": alt, "text": "\n".join(lines)}


def _sentence(who, what, whom):
    if what == END:
        return f"{who} waits for the end of {whom}"
    return f"{who} waits for {what}" + (f", which {'it' if whom == who else whom} has" if whom else "")


def _places(names):
    """Where the box of each thread stands: on a circle, two of them side by side."""
    if len(names) == 1:
        return {names[0]: (WIDTH / 2, 46)}
    if len(names) == 2:
        return {names[0]: (MARGIN + 60, 62), names[1]: (WIDTH - MARGIN - 60, 62)}
    turn = 2 * math.pi / len(names)
    return {name: (WIDTH / 2 + 118 * math.sin(k * turn), 132 - 92 * math.cos(k * turn)) for k, name in enumerate(names)}


def _comes_back(name, to):
    """Whether who waits leads from a thread back to itself."""
    current = name
    for _ in to:
        current = to.get(current, "")
        if current == name:
            return True
    return False


def _arrow(start, end, what, colour, both):
    """An arrow between two boxes with its words; beside the one that comes back, if `both`."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    aside = 9 if both else 0
    reach = min(_NODE[0] / 2 / max(abs(ux), 1e-9), _NODE[1] / 2 / max(abs(uy), 1e-9)) + 3
    x1, y1, x2, y2 = x1 + ux * reach, y1 + uy * reach, x2 - ux * reach, y2 - uy * reach
    x1, y1, x2, y2 = (x1 - uy * aside, y1 + ux * aside, x2 - uy * aside, y2 + ux * aside)
    head = [line(x2, y2, x2 - 8 * ux + s * 4 * uy, y2 - 8 * uy - s * 4 * ux, 1.6, opacity=1) for s in (1, -1)]
    words = _cut(what, 18)
    far = 12 + 3 * len(words) * abs(uy)  # words beside a steep arrow need more room
    mx, my = (x1 + x2) / 2 - uy * far, (y1 + y2) / 2 + ux * far + 4
    drawn = "".join([line(x1, y1, x2, y2, 1.6, opacity=1), *head]).replace("currentColor", colour)
    return drawn + text(mx, my, words, 11, "middle")


def _cut(words, most):
    return words if len(words) <= most else words[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
