"""Reads of memory that nobody had written: which accesses cannot have a store before them.

A store comes after a load for certain where a barrier of the grid, of their block or of their warp stands between the
two, or where one thread makes both. A store that nothing orders with the load is a race, and reported as such.
"""

import numpy as np

from ..trace import GLOBAL, SHARED, STORE
from . import columns, lanes
from .cures import CURES
from .finding import Finding
from .words import element, thread, who


def of_shared(trace, rows, place):
    """Rows that read shared memory too early. rows, place: accesses, in pieces, and the places they go to."""
    shared = trace.space[rows] == SHARED
    return _too_early(trace, rows[shared], place[shared], _stores(trace, rows[shared]))


def of_global(trace):
    """Rows that read device arrays where neither the host nor any thread had written."""
    found = [np.zeros(0, np.int64)]
    for first, unset in {first: bytes_ for bytes_, first in trace.unwritten.values()}.items():
        rows = trace.rows_within(GLOBAL, first, len(unset))
        if not len(rows):
            continue
        offset, size = trace.address[rows] - first, trace.size[rows]
        unit = int(np.gcd.reduce(np.concatenate([np.unique(offset), np.unique(size)])))
        piece, place = columns.spread(offset, size, unit)
        unset = np.pad(unset, (0, -len(unset) % unit)).reshape(-1, unit).any(axis=1)[place]
        rows, place = rows[piece[unset]], place[unset]
        found.append(_too_early(trace, rows, place, _stores(trace, rows)))
    return np.unique(np.concatenate(found))


def _stores(trace, rows):
    store = trace.kind[rows] == STORE
    return store | np.isin(trace.site[rows], list(trace.sets)) if trace.sets else store


def _too_early(trace, rows, place, store):
    """Rows that are no stores, where each store to their place comes after them.

    Level by level: a load before the first turn of the grid in which something is stored is too early. In that turn,
    one block must make all these stores, its own; then the turns of the block count, and so on down to the thread.
    """
    if not len(rows):
        return rows
    divided = lanes.divided(trace)
    levels = (
        (lambda r: trace.grid_epoch[r], trace.block),
        (lambda r: trace.epoch[r], trace.warp),
        (lambda r: np.where(divided[trace.warp[r]], 0, trace.warp_epoch[r]), trace.thread),
        (lambda r: r, None),
    )
    size, never, found = int(place.max()) + 1, np.iinfo(np.int32).max, []
    for turn_of, owner in levels:
        turn, first = turn_of(rows).astype(np.int32), np.full(size, never, np.int32)  # narrow: there are millions
        np.minimum.at(first, place[store], turn[store])
        first = first[place]
        found.append(rows[~store & (turn < first)])
        now = turn == first
        rows, place, store = rows[now], place[now], store[now]
        if owner is None:
            continue
        who, low, high = owner[rows].astype(np.int32), np.full(size, never, np.int32), np.full(size, -1, np.int32)
        np.minimum.at(low, place[store], who[store])
        np.maximum.at(high, place[store], who[store])
        own = store | ((low[place] == who) & (high[place] == who))
        rows, place, store = rows[own], place[own], store[own]
    return np.unique(np.concatenate(found))


def describe(trace, rows, kind):
    """One `Finding` for each source expression and array that is read too early (see `unset`)."""
    if not len(rows):
        return []
    written = "any thread stored to it" if kind == "uninitialised-shared" else "the host or any thread stored to it"
    rows = rows[np.argsort(trace.thread[rows], kind="stable")]
    number, first = columns.group(trace.site[rows], trace.array[rows])
    earliest = np.full(len(first), len(trace))
    np.minimum.at(earliest, number, rows)
    reads = []
    for row, count, position in zip(rows[first].tolist(), np.bincount(number).tolist(), earliest.tolist(), strict=True):
        site = trace.sites[trace.site[row]]
        array, index = element(trace, row)
        at = f"{array}[{', '.join(map(str, index))}]"
        reads.append(
            Finding(
                kind=kind,
                message=f"`{site.text}`: {who(trace, row)} reads {at} before {written}.",
                cure=CURES[kind],
                file=site.file,
                line=site.line,
                text=site.text,
                lines=(site.line,),
                threads=(thread(trace, trace.thread[row]),),
                array=array,
                index=index,
                position=position,
                count=count,
            )
        )
    return reads
