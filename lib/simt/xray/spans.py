"""Where in the source a barrier would put two accesses in order, and how few barriers would do for many pairs.

    a[t] = x[t]                 1       the store of line 1 and the load of line 3: a barrier behind 1 or behind 2
    b[t] = y[t]                 2       the store of line 2 and the load of line 3: one behind 2
    z[t] = a[n - t] + b[n - t]  3       so one barrier, between 2 and 3, is what is missing: one cause

A *point* of the source is a tuple: the loops and calls around an access and the access itself, each as (line, rank in
the line, column). Tuples compare as the source runs, apart from the turns of its loops. A *span* is the stretches
(first point, last point) between two accesses: one, or two where the later one is of a later turn of a loop: to the end
of its body, and from the head of it.
"""

_RANK = {"load": 0, "call": 1, "atomic": 2, "store": 3, "loop": 4}
END = ((float("inf"), 0, 0),)  # behind all that a loop holds
LOOP = _RANK["loop"]


def point_of(site):
    return site.line, _RANK.get(site.kind, 1), site.column


def moment(trace, site, visit):
    """When an access happens in the course of its thread: a tuple of points and, behind each loop, the turn."""
    when = []
    for around, turn in trace.visit_path(int(visit)):
        when += [point_of(trace.sites[around]), turn]
    return (*when, point_of(trace.sites[site]))


def span(start, end):
    """The span between two moments; None where they are the same."""
    if start == end:
        return None
    start, end = sorted((start, end))
    same = next(k for k, (a, b) in enumerate(zip(start, end, strict=False)) if a != b)
    if same % 2 == 0:  # not two turns of one loop
        return ((start[::2], end[::2]),)
    loop = start[:same:2]
    return (start[::2], loop + END), (loop, end[::2])


def hits(point, span):
    """Whether a barrier right behind a point is in the span."""
    return any(first <= point < last for first, last in span)


def holds(span, inner):
    """Whether every barrier in ``inner`` is one in ``span``."""
    return all(any(a <= first and last <= b for a, b in span) for first, last in inner)


def cover(spans):
    """Points such that each span is hit, as few as can be (nearly): [(point, spans that it is chosen for)], in the
    order of the source. Spans that hold others come with them."""
    tight = {s for s in spans if not any(o != s and holds(s, o) for o in spans)}
    points, left = [], set(tight)
    while left:
        candidates = sorted({first for s in left for first, _ in s})
        best = max(candidates, key=lambda p: (sum(hits(p, s) for s in left), p))
        points.append((best, {s for s in left if hits(best, s)}))
        left -= points[-1][1]
    return sorted(points, key=lambda chosen: chosen[0])


def room(point, spans):
    """The stretch around a point that all of some spans have in common: (first point, last point)."""
    stretches = [(first, last) for s in spans for first, last in s if first <= point < last]
    return max(first for first, _ in stretches), min(last for _, last in stretches)
