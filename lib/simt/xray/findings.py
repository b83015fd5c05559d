"""What is wrong with a launch, said to a person: where, which threads, which element, and the cure.

Races and reads of uninitialised shared memory are worked out here from the whole trace, so they do not
depend on the order in which the executor happened to run the threads. What can only be seen while a kernel
runs (an index out of bounds, a barrier that not all threads reach, a wrong warp mask) comes from the trace's
own findings.

Stores of several threads to one element are reported as a race even where all store the same value: the CUDA
memory model gives no meaning to two unordered plain stores, and a later change of the value would turn it
into an error.
"""

from dataclasses import dataclass, field, replace
from html import escape

import numpy as np

from .. import show
from ..errors import Deadlock
from ..trace import ATOMIC, GLOBAL, LOAD, SHARED, STORE
from . import columns, lanes, races, unset
from .analysis import STATIC_SHARED_LIMIT
from .order import Both

RACE_KINDS = ("race", "atomic-against-plain")
UNSET = ("uninitialised-shared", "uninitialised-global")
PARTED = (
    "divergent-barrier",
    "barrier-after-exit",
    "divergent-warp-operation",
    "waits-for-ever",
)  # threads went different ways
_SCOPES = ("warp", "block", "grid")

_CURES = {
    "out-of-bounds": "Guard the access, as in `if i < x.shape[0]:`, or launch no more threads than elements.",
    "negative-index": "It would wrap around to the end of the array: guard the access, or shift the index.",
    "uninitialised-shared": "Store to every element, then cuda.syncthreads(), then read.",
    "uninitialised-global": "cuda.device_array starts with garbage: store to every element, or copy an array to it, first.",
    "uninitialised-local": "A local array starts with garbage: store to every element before you read it.",
    "unfinished-copy": "Wait for copies, then cuda.syncthreads(), then read: each thread waits for its own only.",
    "divergent-barrier": "Move cuda.syncthreads() out of the branch or loop: all threads must reach the same one.",
    "barrier-after-exit": "Do not return before a barrier: put the thread's work under `if` instead.",
    "lane-not-in-mask": "Every lane that calls a warp operation must be in its mask: 0xffffffff names all 32.",
    "inactive-lane-read": "Have every lane call the operation, and use the value only where it is defined.",
    "waits-for-ever": "Look for who should set it: a thread that never comes there, or that waits itself.",
    "divergent-warp-operation": "Move the warp operation out of the branch: all lanes in its mask must reach it.",
}


@dataclass(frozen=True)
class Finding:
    """One thing to repair.

    kind: "race", "atomic-against-plain", "uninitialised-shared", "out-of-bounds", "negative-index",
        "divergent-barrier", "barrier-after-exit", "lane-not-in-mask",
        "uninitialised-global", "inactive-lane-read", "unfinished-copy", "divergent-warp-operation", "waits-for-ever" or
        "uninitialised-local".
    message: what happened, one example. cure: one sentence. file, line, text: the source expression.
    lines: all lines concerned, each once. threads: for each thread concerned {"thread": (x, y, z),
    "block": (x, y, z)}. array, index: the element of the example ("" and () where there is none).
    scope: of a race, "warp", "block" or "grid". count: how often, over the whole launch. position: how many accesses of
    the run came before.
    """

    kind: str
    message: str
    cure: str
    file: str
    line: int
    text: str
    lines: tuple = ()
    threads: tuple = ()
    array: str = ""
    index: tuple = ()
    scope: str = ""
    count: int = 1
    position: int = field(default=-1, compare=False)  # -1 where that says nothing

    @property
    def is_race(self):
        return self.kind in RACE_KINDS

    def to_dict(self):
        fields = {
            name: getattr(self, name)
            for name in ("kind", "message", "cure", "file", "line", "text", "array", "scope", "count")
        }
        fields["lines"], fields["index"] = list(self.lines), [int(i) for i in self.index]
        fields["threads"] = [{k: list(v) for k, v in t.items()} for t in self.threads]
        return fields

    def __str__(self):
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"line {self.line}: {self.message}{times} {self.cure}"

    def _repr_html_(self):
        """A sentence that wraps: what a kernel did is too long for one line of a page."""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return (
            f"<p><strong>{escape(self.kind)}</strong>, line {self.line}: {show.sentence(self.message)}{times} "
            f"<em>{show.sentence(self.cure)}</em></p>"
        )


def findings(trace, stopped=None):
    """All `Finding` of a trace: what stopped the kernel first, then races, then the rest, by line.

    stopped: the error that ended the launch, if any; a deadlock that the trace does not list becomes a finding.
    """
    places = _places(trace)
    seen = seen_while_running(trace)
    if isinstance(stopped, Deadlock) and not any(f.line == stopped.line for f in seen):
        seen.append(_deadlock(stopped))
    early = unset.of_shared(trace, *places), unset.of_global(trace)
    reads = [f for rows, kind in zip(early, UNSET, strict=True) for f in _describe_unset(trace, rows, kind)]
    everything = seen + reads + find_races(trace, places)
    # What happened before threads went different ways may be why they did, if a test reads it.
    parted = min((f.position for f in seen if f.kind in PARTED), default=-1)

    def rank(f):
        if f.kind in PARTED:
            return 0
        if 0 <= f.position < parted and (f.is_race or f.kind in UNSET) and f.array.split("[")[0] not in trace.idle:
            return -1
        return 1 if f.is_race else 2 if f.kind in UNSET else 0

    single = {(f.kind, f.line, f.message): f for f in everything}
    return sorted(single.values(), key=lambda f: (rank(f), f.line, f.kind, f.array, f.message))


# -- races -------------------------------------------------------------------------------------------------


def find_races(trace, places=None):
    """One `Finding` for each pair of source expressions that conflict on an array. Where the kernel has fences, its own
    flags, counters and locks may order accesses too (see `order`)."""
    rows, place = places or _places(trace)
    turn = columns.compact(trace.grid_epoch[rows], trace.epoch[rows])
    # Few places are contended between two barriers: a quick look drops the rest.
    near = races.contended(columns.compact(place, turn), columns.compact(trace.thread[rows]), trace.kind[rows])
    r, where = rows[near], columns.pack(place[near], turn[near])
    in_block = columns.pack(where, trace.block[r])
    own = Both(trace) if trace.fences else None
    conflicts = [_conflicts_in_warps(trace, r, where, own), _conflicts(trace, r, in_block, trace.warp[r], own)]
    r, where = _seen_by_blocks(trace, rows, place)
    conflicts.append(_conflicts(trace, r, where, trace.block[r], own))
    width = np.repeat(np.arange(len(conflicts)), [len(i) for i, _ in conflicts])
    return _describe_races(trace, width, *(np.concatenate(column) for column in zip(*conflicts, strict=True)))


def _rank(trace, rows):
    """A number for each access that does not depend on the order of the run; equal ones say the same of themselves."""
    return columns.pack(trace.thread[rows], trace.address[rows], trace.size[rows])


def _conflicts(trace, rows, where, owner, own, apart=None):
    """Pairs of rows. own: the order that the kernel makes for itself, or None. apart: columns that accesses must share
    for one example to speak for all of them."""
    alike = [trace.site[rows], *(apart or ())]
    if own is not None and len(rows):
        alike += [trace.thread[rows], trace.epoch[rows], trace.warp_epoch[rows], own.label(rows)]
    label = columns.group(*alike)[0] if len(alike) > 1 else alike[0]
    i, j = races.unordered_pairs(where, owner, trace.kind[rows], label, _rank(trace, rows))
    i, j = rows[i], rows[j]
    if own is None or not len(i):
        return i, j
    open_ = own.unordered(i, j)
    return i[open_], j[open_]


def _conflicts_in_warps(trace, rows, where, own):
    divided = lanes.divided(trace)[trace.warp[rows]]
    in_step = columns.pack(where, trace.warp[rows], np.where(divided, 0, trace.warp_epoch[rows]))
    if not divided.any():
        return _conflicts(trace, rows, in_step, trace.thread[rows], own)
    apart = np.where(divided, trace.thread[rows], 0), np.where(divided, trace.warp_epoch[rows], 0)
    i, j = _conflicts(trace, rows, in_step, trace.thread[rows], own, apart)
    whole = ~lanes.divided(trace)[trace.warp[i]] if len(i) else np.zeros(0, bool)
    open_ = whole | lanes.unordered(trace, i, j) if len(i) else whole
    return i[open_], j[open_]


def _seen_by_blocks(trace, rows, place):
    """(rows, where): accesses of global memory that could meet those of another block; where they could."""
    keep = np.flatnonzero(trace.space[rows] == GLOBAL)
    where = columns.compact(place[keep], trace.grid_epoch[rows[keep]])
    contended = races.contended(where, trace.block[rows[keep]], trace.kind[rows[keep]])
    return rows[keep[contended]], where[contended]


def _places(trace):
    """(rows, place): accesses of memory that several threads can see and someone writes, and where they go.

    Accesses are cut into units of the smallest size in use, so that a 16-byte access and a 4-byte one meet;
    place numbers the units, apart for each block's shared memory.
    """
    rows = np.flatnonzero(_can_conflict(trace)[trace.array]) if len(trace.arrays) else np.zeros(0, np.int64)
    if not len(rows):
        return rows, rows
    rows, sizes = rows.astype(np.int32), np.unique(trace.size[rows])
    unit = int(np.gcd.reduce(sizes))
    if len(sizes) == 1 and not (trace.address[rows] % unit).any():
        number = trace.address[rows] // unit
    else:
        piece, number = columns.spread(trace.address[rows], trace.size[rows], unit)
        rows = rows[piece]
    in_block = np.where(trace.space[rows] == SHARED, trace.block[rows], -1)
    return rows, columns.compact(in_block, number)


def _can_conflict(trace):
    """For each array: is it shared, or global and does it overlap one that is written?"""
    written = np.bincount(trace.array, weights=trace.kind != LOAD, minlength=len(trace.arrays)) > 0
    spans = [(a.base, a.base + _extent(a)) if a.space == "global" else (0, 0) for a in trace.arrays]
    low, high = np.array(spans).T
    overlap = (low[:, None] < high) & (low < high[:, None])
    return np.array([a.space == "shared" for a in trace.arrays]) | (overlap & written).any(axis=1)


def _extent(info):
    """Bytes from the base of an array to its end."""
    last = sum((n - 1) * abs(s) for n, s in zip(info.shape, info.strides, strict=True))
    return last + info.dtype.itemsize if all(info.shape) else 0


def _describe_races(trace, width, a, b):
    """Merge conflicts by (expressions, array). The widest scope and then the first example speak for all."""
    line = np.array([s.line for s in trace.sites])
    rank = columns.pack(line[trace.site], trace.kind, trace.site, trace.thread)
    a, b = np.where(rank[a] >= rank[b], a, b), np.where(rank[a] >= rank[b], b, a)  # later line first
    number, _ = columns.group(trace.site[a], trace.site[b], trace.array[a])
    threads = trace.thread[b], trace.thread[a]
    order = np.lexsort((trace.size[b], trace.address[b], trace.size[a], *threads, trace.address[a], -width, number))
    _, first, count = np.unique(number[order], return_index=True, return_counts=True)
    return [
        _describe_race(trace, _SCOPES[width[k]], int(a[k]), int(b[k]), n)
        for k, n in zip(order[first].tolist(), count.tolist(), strict=True)
    ]


def _describe_race(trace, scope, a, b, count):
    site_a, site_b = trace.sites[trace.site[a]], trace.sites[trace.site[b]]
    kind_a, kind_b = int(trace.kind[a]), int(trace.kind[b])
    array, index = _element(trace, a)
    atomic = ATOMIC in (kind_a, kind_b)
    at = f"{array}[{', '.join(map(str, index))}]"
    elsewhere = (
        "at the same place"
        if site_a == site_b
        else f"at `{site_b.text}`" + ("" if site_a.line == site_b.line else f" on line {site_b.line}")
    )
    message = (
        f"`{site_a.text}`: {_who(trace, a)} {_does(kind_a, at)}, {_who(trace, b)} {_does(kind_b, 'it')} "
        f"{elsewhere}, and nothing orders the two."
    )
    if other := _overlap(trace, a, b):
        message += f" `{array}` and `{other}` lie in the same memory."
    return Finding(
        kind="atomic-against-plain" if atomic else "race",
        message=message,
        cure=_race_cure(trace, scope, a, b),
        file=site_a.file,
        line=site_a.line,
        text=site_a.text,
        lines=tuple(sorted({site_a.line, site_b.line})),
        threads=(_thread(trace, trace.thread[a]), _thread(trace, trace.thread[b])),
        array=array,
        index=index,
        scope=scope,
        count=count,
        position=max(a, b),
    )


def _overlap(trace, a, b):
    """Name of the other array where two accesses of one place go through different arrays."""
    one, other = trace.arrays[trace.array[a]], trace.arrays[trace.array[b]]
    return other.name if trace.array[a] != trace.array[b] and one.name != other.name else ""


def _race_cure(trace, scope, a, b):
    """One sentence. The cure depends on who conflicts, and on whether one statement reads and writes back."""
    site_a, site_b = trace.sites[trace.site[a]], trace.sites[trace.site[b]]
    kinds = {int(trace.kind[a]), int(trace.kind[b])}
    if _overlap(trace, a, b):
        if trace.space[a] == SHARED:
            return "cuda.shared.array(0) is all of the dynamic memory, each time: cut one array into parts by slices."
        return "Give the kernel arrays that do not overlap, or copy what it still needs before it is overwritten."
    barrier = "cuda.syncthreads() (or cuda.syncwarp())" if scope == "warp" else "cuda.syncthreads()"
    if site_a.line == site_b.line and site_a.text == site_b.text and kinds == {LOAD, STORE}:
        return "An update is a load and a store, and others can come between: use cuda.atomic.add (max, min ...)."
    if kinds == {STORE}:
        if scope != "grid" and site_a != site_b:
            return f"Let one thread store the element, or put {barrier} between the two stores."
        return "Give every thread an element of its own, let one thread store, or use an atomic operation."
    if scope == "grid":
        if ATOMIC in kinds:
            return "Make every access atomic while other blocks run, or read the result in a second launch."
        if any(site.kind == "grid barrier" for site in trace.sites):
            return "Put a barrier of the grid between the two: cuda.cg.this_grid().sync()."
        return "Blocks run in any order: let one block own the element, use an atomic, or make it two launches."
    if ATOMIC in kinds:
        return f"Put {barrier} between the plain access and the atomic one, or make both atomic."
    if loop := _later_turn(trace, a, b):
        return f"The store is of a later turn of the loop on line {loop}: put {barrier} at the end of the loop body."
    return f"Put {barrier} between the two, where every thread of the {scope} reaches it."


def _later_turn(trace, a, b):
    """Line of the loop whose later turn holds the store of a load-store pair, or None."""
    store, load = (a, b) if trace.kind[a] == STORE else (b, a)
    paths = trace.visit_path(int(trace.visit[store])), trace.visit_path(int(trace.visit[load]))
    for (loop, turn), (other, other_turn) in zip(*paths, strict=False):
        if loop != other:
            return None
        if turn != other_turn:
            return trace.sites[loop].line if turn > other_turn else None
    return None


# -- memory that nobody had written ---------------------------------------------------------------------------


def _describe_unset(trace, rows, kind):
    """One `Finding` for each source expression and array that is read too early (see `unset`)."""
    if not len(rows):
        return []
    written = "any thread stored to it" if kind == "uninitialised-shared" else "the host or any thread stored to it"
    rows = rows[np.argsort(trace.thread[rows], kind="stable")]
    number, first = columns.group(trace.site[rows], trace.array[rows])
    reads = []
    for row, count in zip(rows[first].tolist(), np.bincount(number).tolist(), strict=True):
        site = trace.sites[trace.site[row]]
        array, index = _element(trace, row)
        at = f"{array}[{', '.join(map(str, index))}]"
        reads.append(
            Finding(
                kind=kind,
                message=f"`{site.text}`: {_who(trace, row)} reads {at} before {written}.",
                cure=_CURES[kind],
                file=site.file,
                line=site.line,
                text=site.text,
                lines=(site.line,),
                threads=(_thread(trace, trace.thread[row]),),
                array=array,
                index=index,
                position=row,
                count=count,
            )
        )
    return reads


# -- what the executor saw --------------------------------------------------------------------------------


def seen_while_running(trace):
    """The trace's findings with a cure, merged where the same expression failed the same way many times."""
    merged = {}
    for seen in trace.findings:
        if seen.kind == "uninitialised-shared":
            continue  # worked out above, whatever the order of threads
        site = trace.sites[seen.site]
        array = trace.arrays[seen.array].name if seen.array >= 0 else ""
        key = (seen.kind, seen.site, array)
        if key in merged:
            merged[key] = replace(merged[key], count=merged[key].count + 1)
            continue
        threads = seen.threads or ((seen.thread,) if seen.thread >= 0 else ())
        others = [trace.sites[s].line for s in seen.other_sites]
        merged[key] = Finding(
            kind=seen.kind,
            message=_seen_message(trace, seen),
            cure=_seen_cure(trace, seen),
            file=site.file,
            line=site.line,
            text=site.text,
            lines=tuple(sorted({site.line, *others})),
            threads=tuple(_thread(trace, t) for t in threads),
            array=array,
            index=tuple(int(i) for i in seen.index),
            position=seen.position,
        )
    return list(merged.values())


def _deadlock(error):
    """A barrier that can never be passed, in the words of the error."""
    return Finding(
        kind="divergent-barrier",
        message=f"`{error.text}`: {' '.join(error.reason.split())}.",
        cure=_CURES["divergent-barrier"].replace("cuda.syncthreads()", "the barrier"),
        file=error.file,
        line=error.line,
        text=error.text,
        lines=(error.line,),
        threads=({"thread": error.thread, "block": error.block},),
    )


def _seen_cure(trace, seen):
    if seen.kind == "out-of-bounds" and seen.array >= 0:
        info = trace.arrays[seen.array]
        if info.space == "shared" and info.base >= STATIC_SHARED_LIMIT:
            return (
                f"The launch gives {trace.shared_bytes} bytes of dynamic shared memory: ask for more in "
                "kernel[grid, block, stream, bytes], or guard the access."
            )
    return _CURES.get(seen.kind, "")


def _seen_message(trace, seen):
    """The trace's sentence on one line; an index in the words of the other findings, with its thread."""
    text = trace.sites[seen.site].text
    if seen.kind in ("out-of-bounds", "negative-index") and seen.array >= 0:
        info = trace.arrays[seen.array]
        at = ", ".join(str(int(i)) for i in seen.index)
        wrong = "is negative" if seen.kind == "negative-index" else "lies outside"
        return f"`{text}`: {_name(trace, seen.thread)} uses index [{at}], which {wrong}: {info.name} has shape {info.shape}."
    message = " ".join(seen.message.split())
    if seen.kind == "uninitialised-local":
        at = ", ".join(str(int(i)) for i in seen.index)
        message = f"{_name(trace, seen.thread)} reads {trace.arrays[seen.array].name}[{at}] before it stored there."
    return f"`{text}`: {message}" + ("" if message.endswith(".") else ".")


# -- words -------------------------------------------------------------------------------------------------


def _does(kind, what):
    return {LOAD: f"loads {what}", STORE: f"stores {what}", ATOMIC: f"updates {what} atomically"}[kind]


def _element(trace, row):
    """(array name, index) of an access, the index with one number per axis."""
    info = trace.arrays[trace.array[row]]
    index = np.unravel_index(int(trace.element[row]), info.shape) if info.shape else ()
    return info.name, tuple(int(i) for i in index)


def _thread(trace, linear):
    """{"thread": (x, y, z), "block": (x, y, z)} of a thread that is linear in the launch, x fastest."""
    block, within = divmod(int(linear), trace.threads_per_block)
    return {"thread": _xyz(within, trace.block_shape), "block": _xyz(block, trace.grid)}


def _xyz(linear, shape):
    x, y = shape[0], shape[1]
    return (linear % x, linear // x % y, linear // (x * y))


def _who(trace, row):
    return _name(trace, trace.thread[row])


def _name(trace, linear):
    return show.who(**_thread(trace, linear), block_shape=trace.block_shape, grid=trace.grid)
