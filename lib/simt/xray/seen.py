"""What the executor saw go wrong while a kernel ran, in words."""

from collections import Counter
from dataclasses import replace

from .cures import CURES, seen_cure
from .finding import Finding
from .words import name_of, thread


def seen_while_running(trace):
    """The trace's findings with a cure, merged where the same expression failed the same way many times."""
    merged, counts = {}, Counter()
    for seen in trace.findings:
        if seen.kind == "uninitialised-shared":
            continue  # worked out above, whatever the order of threads
        site = trace.sites[seen.site]
        array = trace.arrays[seen.array].name if seen.array >= 0 else ""
        key = (seen.kind, seen.site, array)
        counts[key] += 1
        if key in merged:
            continue
        threads = seen.threads or ((seen.thread,) if seen.thread >= 0 else ())
        others = [trace.sites[s].line for s in seen.other_sites]
        merged[key] = Finding(
            kind=seen.kind,
            message=_seen_message(trace, seen),
            cure=seen_cure(trace, seen),
            file=site.file,
            line=site.line,
            text=site.text,
            lines=tuple(sorted({site.line, *others})),
            threads=tuple(thread(trace, t) for t in threads),
            array=array,
            index=tuple(int(i) for i in seen.index),
            position=seen.position,
        )
    return [replace(found, count=counts[key]) for key, found in merged.items()]


def deadlock(error):
    """A barrier that can never be passed, in the words of the error."""
    return Finding(
        kind="divergent-barrier",
        message=f"`{error.text}`: {' '.join(error.reason.split())}.",
        cure=CURES["divergent-barrier"].replace("cuda.syncthreads()", "the barrier"),
        file=error.file,
        line=error.line,
        text=error.text,
        lines=(error.line,),
        threads=({"thread": error.thread, "block": error.block},),
    )


def _seen_message(trace, seen):
    """The trace's sentence on one line; an index in the words of the other findings, with its thread."""
    text = trace.sites[seen.site].text
    if seen.kind in ("out-of-bounds", "negative-index") and seen.array >= 0:
        info = trace.arrays[seen.array]
        where = ", ".join(str(int(i)) for i in seen.index)
        wrong = "is negative" if seen.kind == "negative-index" else "lies outside"
        return (
            f"`{text}`: {name_of(trace, seen.thread)} uses index [{where}], which {wrong}: {info.name} has shape "
            f"{info.shape}."
        )
    message = " ".join(seen.message.split())
    if seen.kind == "uninitialised-local":
        where = ", ".join(str(int(i)) for i in seen.index)
        array = trace.arrays[seen.array].name
        message = f"{name_of(trace, seen.thread)} reads {array}[{where}] before it stored there."
    if seen.kind == "uninitialised-variable":
        message = f"in {name_of(trace, seen.thread)} {message}"
    return f"`{text}`: {message}" + ("" if message.endswith(".") else ".")
