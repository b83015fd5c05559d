"""What the compiled engine has seen of races, told as a `Finding`: the executor runs the block again, or the two, with
every access recorded.

That a race is there is known before (compiled/shadow.py). The executor says which two accesses it is, and what would
mend it. Where it cannot, as where the block makes too many accesses, the one access that is known is told.
"""

from dataclasses import replace

import numpy as np

from .. import run
from ..errors import KernelError
from ..trace import KINDS, Trace, TraceFull, elements
from . import causes
from .finding import Finding
from .words import does, name_of, thread

MOST_RUNS = 4  # of the executor
MOST_ACCESSES = 4_000_000  # in each: some ten seconds


def races(counts, launch):
    """A race `Finding` for each cause that was seen. launch: (kernel, grid, block, shared bytes, function that makes
    fresh arguments)."""
    found, runs = [], {}
    for suspect in counts.suspects:
        if any(_is_of(f, counts, suspect) for f in found):
            continue
        if suspect.blocks not in runs and len(runs) < MOST_RUNS:
            runs[suspect.blocks] = _again(counts, suspect.blocks, *launch)
        told = [f for f in runs.get(suspect.blocks, ()) if _is_of(f, counts, suspect)]
        found += told[:1] or [_alone(counts, suspect)]
    return sorted(found, key=lambda f: (f.line, f.array, f.message))


def _is_of(finding, counts, suspect):
    """Whether a finding is about this access, among blocks or in one as it was seen."""
    return counts.sites[suspect.site].line in finding.lines and (finding.scope == "grid") == (len(suspect.blocks) > 1)


def _again(counts, blocks, kernel, grid, block, shared_bytes, fresh):
    """The races of some blocks, run alone in the executor."""
    trace = Trace(limit=MOST_ACCESSES)
    try:
        only = None if counts.grid_barriers else blocks  # blocks that meet must all be there
        run(kernel, grid, block, fresh(), shared_bytes=shared_bytes, order=counts.order, trace=trace, only=only)
        return [replace(f, count=1) for f in causes.races(trace)]  # how often in all blocks, nobody knows
    except (KernelError, TraceFull):  # it depends on what other blocks do, or there is too much of it
        return []


def _alone(counts, suspect):
    """What the compiled engine knows of a race by itself."""
    site, info = counts.sites[suspect.site], counts.arrays[suspect.array]
    (flat,) = elements(info, np.array([suspect.offset]))
    index = tuple(int(i) for i in np.unravel_index(flat, info.shape)) if info.shape else ()
    threads, other = [suspect.thread], "another thread of its block"
    if len(suspect.blocks) > 1:
        other = "a thread of another block"
    elif suspect.other != suspect.thread:
        threads.append(suspect.other)
        other = name_of(counts, suspect.other)
    at = f"{info.name}[{', '.join(map(str, index))}]"
    return Finding(
        kind="race",
        message=f"`{site.text}`: {name_of(counts, suspect.thread)} {does(KINDS.index(site.kind), at)}, {other} has "
        "come to it before, and nothing orders the two.",
        cure="Put a barrier between the two, or give each thread an element of its own.",
        file=site.file,
        line=site.line,
        text=site.text,
        lines=(site.line,),
        threads=tuple(thread(counts, t) for t in threads),
        array=info.name,
        index=index,
        scope="grid" if len(suspect.blocks) > 1 else "block",
    )
