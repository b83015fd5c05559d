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


def of_shared(trace, rows, location):
    """Rows that read shared memory too early. rows, location: accesses, in pieces, and where they go."""
    shared = trace.space[rows] == SHARED
    return _too_early(trace, rows[shared], location[shared], _stores(trace, rows[shared]))


def of_global(trace):
    """Rows that read device arrays where neither the host nor any thread had written."""
    found = [np.zeros(0, np.int64)]
    for base, unset in {base: bytes_ for bytes_, base in trace.unwritten.values()}.items():
        rows = trace.rows_within(GLOBAL, base, len(unset))
        if not len(rows):
            continue
        offset, size = trace.address[rows] - base, trace.size[rows]
        unit = int(np.gcd.reduce(np.concatenate([np.unique(offset), np.unique(size)])))
        piece, location = columns.spread(offset, size, unit)
        unset = np.pad(unset, (0, -len(unset) % unit)).reshape(-1, unit).any(axis=1)[location]
        rows, location = rows[piece[unset]], location[unset]
        found.append(_too_early(trace, rows, location, _stores(trace, rows)))
    return np.unique(np.concatenate(found))


def _stores(trace, rows):
    store = trace.kind[rows] == STORE
    return store | np.isin(trace.site[rows], list(trace.sets)) if trace.sets else store


def _too_early(trace, rows, location, store):
    """Rows that are no stores, where each store to their location comes after them.

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
    size, never, found = int(location.max()) + 1, np.iinfo(np.int32).max, []
    for turn_of, owner in levels:
        turn, first_turn = turn_of(rows).astype(np.int32), np.full(size, never, np.int32)  # narrow: there are millions
        np.minimum.at(first_turn, location[store], turn[store])
        first_turn = first_turn[location]
        found.append(rows[~store & (turn < first_turn)])
        now = turn == first_turn
        rows, location, store = rows[now], location[now], store[now]
        if owner is None:
            continue
        who, low, high = owner[rows].astype(np.int32), np.full(size, never, np.int32), np.full(size, -1, np.int32)
        np.minimum.at(low, location[store], who[store])
        np.maximum.at(high, location[store], who[store])
        by_owner = store | ((low[location] == who) & (high[location] == who))
        rows, location, store = rows[by_owner], location[by_owner], store[by_owner]
    return np.unique(np.concatenate(found))


def describe(trace, rows, kind):
    """One `Finding` for each source expression and array that is read too early (see `unset`)."""
    if not len(rows):
        return []
    written = "any thread stored to it" if kind == "uninitialised-shared" else "the host or any thread stored to it"
    rows = rows[np.argsort(trace.thread[rows], kind="stable")]
    number, first_rows = columns.group(trace.site[rows], trace.array[rows])
    earliest = np.full(len(first_rows), len(trace))
    np.minimum.at(earliest, number, rows)
    reads = []
    for row, count, position in zip(
        rows[first_rows].tolist(), np.bincount(number).tolist(), earliest.tolist(), strict=True
    ):
        site = trace.sites[trace.site[row]]
        array, index = element(trace, row)
        label = f"{array}[{', '.join(map(str, index))}]"
        reads.append(
            Finding(
                kind=kind,
                message=f"`{site.text}`: {who(trace, row)} reads {label} before {written}.",
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
