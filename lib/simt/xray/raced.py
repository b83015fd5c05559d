"""Conflicting accesses in words: who meets whom, at which element."""

from ..trace import ATOMIC
from .conflicts import conflicts
from .cures import overlap, race_cure
from .finding import Finding
from .spans import moment, span
from .words import does, element, thread, who


def find_races(trace):
    """One `Finding` for each pair of source expressions that conflict on an array, whatever their cause."""
    return [describe(trace, conflict) for conflict in conflicts(trace)]


def describe(trace, conflict, cure=None):
    """The `Finding` of one conflict."""
    a, b = int(conflict.a[0]), int(conflict.b[0])
    site_a, site_b = trace.sites[trace.site[a]], trace.sites[trace.site[b]]
    kind_a, kind_b = int(trace.kind[a]), int(trace.kind[b])
    array, index = element(trace, a)
    label = f"{array}[{', '.join(map(str, index))}]"
    elsewhere = (
        "at the same place"
        if site_a == site_b
        else f"at `{site_b.text}`" + ("" if site_a.line == site_b.line else f" on line {site_b.line}")
    )
    message = (
        f"`{site_a.text}`: {who(trace, a)} {does(kind_a, label)}, {who(trace, b)} {does(kind_b, 'it')} "
        f"{elsewhere}, and nothing orders the two."
    )
    if other_array := overlap(trace, a, b):
        message += f" `{array}` and `{other_array}` lie in the same memory."
    between = span(*(moment(trace, trace.site[row], trace.visit[row]) for row in (a, b)))
    return Finding(
        kind="atomic-against-plain" if ATOMIC in (kind_a, kind_b) else "race",
        message=message,
        cure=cure or race_cure(trace, conflict.scope, a, b),
        file=site_a.file,
        line=site_a.line,
        text=site_a.text,
        lines=tuple(sorted({site_a.line, site_b.line})),
        threads=(thread(trace, trace.thread[a]), thread(trace, trace.thread[b])),
        array=array,
        index=index,
        scope=conflict.scope,
        count=conflict.count,
        position=max(a, b),
        carried=between is not None and len(between) == 2,
    )
