"""Where in the source a barrier would put two accesses in order, and how few barriers would do for many pairs.

    a[t] = x[t]                 1       the store of line 1 and the load of line 3: a barrier behind 1 or behind 2
    b[t] = y[t]                 2       the store of line 2 and the load of line 3: one behind 2
    z[t] = a[n - t] + b[n - t]  3       so one barrier, between 2 and 3, is what is missing: one cause

A *place* of the source is a tuple: the loops and calls around an access and the access itself, each as (line, rank in
the line, column). Tuples compare as the source runs, apart from the turns of its loops. A *span* is the stretches
(first place, last place) between two accesses: one, or two where the later one is of a later turn of a loop: to the end
of its body, and from the head of it.
"""

_RANK = {"load": 0, "call": 1, "atomic": 2, "store": 3, "loop": 4}
END = ((float("inf"), 0, 0),)  # behind all that a loop holds
LOOP = _RANK["loop"]


def place_of(site):
    return site.line, _RANK.get(site.kind, 1), site.column


def moment(trace, site, visit):
    """When an access happens in the course of its thread: a tuple of places and, behind each loop, the turn."""
    when = []
    for around, turn in trace.visit_path(int(visit)):
        when += [place_of(trace.sites[around]), turn]
    return (*when, place_of(trace.sites[site]))


def span(one, other):
    """The span between two moments; None where they are the same."""
    if one == other:
        return None
    one, other = sorted((one, other))
    same = next(k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    if same % 2 == 0:  # not two turns of one loop
        return ((one[::2], other[::2]),)
    loop = one[:same:2]
    return (one[::2], loop + END), (loop, other[::2])


def hits(place, span):
    """Whether a barrier right behind a place is in the span."""
    return any(first <= place < last for first, last in span)


def holds(span, other):
    """Whether every barrier in ``other`` is one in ``span``."""
    return all(any(a <= first and last <= b for a, b in span) for first, last in other)


def cover(spans):
    """Places such that each span is hit, as few as can be (nearly): [(place, spans that it is chosen for)], in the
    order of the source. Spans that hold others come with them."""
    tight = {s for s in spans if not any(o != s and holds(s, o) for o in spans)}
    places, left = [], set(tight)
    while left:
        candidates = sorted({first for s in left for first, _ in s})
        best = max(candidates, key=lambda p: (sum(hits(p, s) for s in left), p))
        places.append((best, {s for s in left if hits(best, s)}))
        left -= places[-1][1]
    return sorted(places, key=lambda chosen: chosen[0])


def room(place, spans):
    """The stretch around a place that all of some spans have in common: (first place, last place)."""
    stretches = [(first, last) for s in spans for first, last in s if first <= place < last]
    return max(first for first, _ in stretches), min(last for _, last in stretches)
