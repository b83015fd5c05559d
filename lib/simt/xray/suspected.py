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
    for suspect in sorted(counts.suspects, key=lambda s: -len(s.blocks)):  # between blocks first: that says more
        if not any(_is_of(f, counts, suspect) for f in found):
            seen = frozenset().union(*(f.told for f in found))
            told = _told(counts, suspect, runs, launch) or [_alone(counts, suspect)]
            found += [f for f in told if _is_of(f, counts, suspect) or not f.told & seen]
    return sorted(found, key=lambda f: (f.line, f.array, f.message))


def _is_of(finding, counts, suspect):
    """Whether a finding tells of this access, and of blocks where it is between blocks."""
    wide = len(suspect.blocks) > 1
    return _access(counts, suspect) in finding.told and (finding.scope == "grid" or not wide)


def _access(counts, suspect):
    site = counts.sites[suspect.site]
    return site.line, site.text, site.kind, counts.arrays[suspect.array].name


def _told(counts, suspect, runs, launch):
    """What the executor finds in its blocks or, where these race only in company, in all. []: not this suspect."""
    alone = [suspect.blocks] if not counts.grid_barriers else []  # blocks that meet must all be there
    for blocks in (*alone, None):
        if blocks not in runs:
            if len(runs) == MOST_RUNS:
                return []
            runs[blocks] = _again(counts, blocks, *launch)
        if any(_is_of(f, counts, suspect) for f in runs[blocks]):
            return runs[blocks]
    return []


def _again(counts, blocks, kernel, grid, block, shared_bytes, fresh):
    """The races that the executor finds in some blocks."""
    trace = Trace(limit=MOST_ACCESSES)
    try:
        run(kernel, grid, block, fresh(), shared_bytes=shared_bytes, order=counts.order, trace=trace, only=blocks)
    except (KernelError, TraceFull):  # without the others it goes another way, or there is too much of it
        return []
    return [replace(f, count=1) for f in causes.races(trace)]  # how often in all blocks, nobody knows


def _alone(counts, suspect):
    """What the compiled engine knows of a race by itself."""
    site, info = counts.sites[suspect.site], counts.arrays[suspect.array]
    (flat,) = elements(info, np.array([suspect.offset]))
    index = tuple(int(i) for i in np.unravel_index(flat, info.shape)) if info.shape else ()
    threads, rival = [suspect.thread], "another thread of its block"
    if len(suspect.blocks) > 1:
        rival = "a thread of another block"
    elif suspect.other != suspect.thread:
        threads.append(suspect.other)
        rival = name_of(counts, suspect.other)
    label = f"{info.name}[{', '.join(map(str, index))}]"
    return Finding(
        kind="race",
        message=f"`{site.text}`: {name_of(counts, suspect.thread)} {does(KINDS.index(site.kind), label)}, {rival} has "
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
        told=frozenset({_access(counts, suspect)}),
    )
