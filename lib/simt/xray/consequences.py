"""What follows from what: a finding that would most likely go with another one stands behind it.

Nothing is left out. What cannot be told apart here stays a finding of its own.
"""

from dataclasses import replace

from ..source.deciding import feeding, reaching
from ..trace import STORE
from .cures import ONE_ELEMENT
from .finding import PARTED, UNSET

_UNSET = (*UNSET, "uninitialised-local")
_INDEX = ("out-of-bounds", "negative-index")
_VALUES = (
    *_UNSET,
    "race",
    "atomic-against-plain",
    "unfinished-copy",
    "inactive-lane-read",
)  # whose values are nonsense


def folded(trace, findings):
    """The findings that are causes, each with its consequences (``therefore``)."""
    behind = {}  # number of a finding -> that of its cause
    order = sorted(range(len(findings)), key=lambda k: (findings[k].position, findings[k].line))
    for k in order:
        for c in order:
            later = c > k and findings[c].position == findings[k].position  # seen with no access between
            if later and findings[c].kind in PARTED and findings[k].kind in PARTED:
                continue
            if c != k and _root(behind, c) != k and _follows(trace, findings[c], findings[k]):
                behind[k] = c
                break
    causes = []
    for k, f in enumerate(findings):
        if k not in behind:
            follow = [findings[j] for j in order if j in behind and _root(behind, j) == k]
            causes.append(replace(f, therefore=tuple(follow)))
    return causes


def _root(behind, k):
    while k in behind:
        k = behind[k]
    return k


def _follows(trace, cause, f):
    """Whether ``f`` is most likely a consequence of ``cause``."""
    array, other_array = (x.array.partition("[")[0] for x in (cause, f))
    if f.kind in _UNSET and array == other_array:
        if cause.kind in _INDEX:
            return _is_store(trace, cause)  # it went elsewhere, or nowhere
        return cause.is_race and cause.cure == ONE_ELEMENT  # and the others stayed empty
    if f.is_race and cause.kind in _UNSET and array != other_array:  # at an index that nobody had set
        return cause.position <= f.position and _reads(trace, cause, f, feeding)
    if f.kind == "unfinished-copy":
        return cause.is_race and array == other_array
    if f.kind in _INDEX:
        return cause.kind in _VALUES and cause.position <= f.position and _reads(trace, cause, f, feeding)
    if f.kind in PARTED and cause.kind in _VALUES:
        return cause.position <= f.position and _reads(trace, cause, f, reaching)
    if cause.kind in PARTED:
        return _after_parting(trace, cause, f)
    return False


def _reads(trace, cause, f, sources):
    """Whether values of a cause's array, or of its shuffle, reach what decides about a finding."""
    inside = f.file == cause.file and trace.function is not None and _in_kernel(trace, f.line)
    if not inside:  # in a device function
        return f.kind in PARTED and cause.array.partition("[")[0] not in trace.idle
    names, lines = sources(trace.function, f.line)
    return cause.array.partition("[")[0] in names or cause.line in lines


def _in_kernel(trace, line):
    return any(s.line == line and s.function == trace.function.__name__ for s in trace.sites)


def _after_parting(trace, cause, f):
    """What came after threads had gone different ways, in the same block."""
    if cause.kind == "waits-for-ever" or not _same_block(cause, f):
        return f.kind in PARTED and cause.kind != "waits-for-ever" and bool({*cause.lines} & {*f.lines})
    if f.kind == "inactive-lane-read":
        return cause.kind == "barrier-after-exit"
    if f.is_race:
        # of two turns of a loop: a barrier that stands between the lines is not passed between the accesses
        between = not f.carried and any(min(f.lines) < line < max(f.lines) for line in cause.lines)
        return (between or f.position >= cause.position) and _apart(trace, cause, f)
    if f.position < cause.position:
        return False
    if f.kind in PARTED:
        return True
    return f.kind in _UNSET and f.array.partition("[")[0] in _stored(trace)


def _same_block(cause, f):
    return {t["block"] for t in f.threads} <= {t["block"] for t in cause.threads}


def _stored(trace):
    """Names of the arrays in which somebody has stored something."""
    return {trace.arrays[n].name for n in set(trace.array[trace.kind[:] == STORE].tolist())}


def _apart(trace, cause, f):
    """Whether the threads of a race waited at different barriers."""
    raw = next((x for x in trace.findings if x.kind == cause.kind and x.position == cause.position), None)
    if raw is None or not raw.groups:
        return False
    places = dict(zip(raw.threads, raw.groups, strict=True))
    numbers = [_linear(trace, t) for t in f.threads]
    return len({places.get(n, -1) for n in numbers}) > 1


def _linear(trace, thread):
    (x, y, z), (a, b, c) = thread["thread"], thread["block"]
    (w, h, _), (g, k, _) = trace.block_shape, trace.grid
    return ((c * k + b) * g + a) * trace.threads_per_block + (z * h + y) * w + x


def _is_store(trace, f):
    return any(s.kind == "store" and s.line == f.line and s.text == f.text for s in trace.sites)
