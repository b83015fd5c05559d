"""Find conflicting accesses that nothing orders, whatever the order in which threads happened to run.

Two accesses of one address conflict if two threads make them and one is a plain store, or one is atomic
and the other is not. What orders them:

    the same block, and a block barrier (or a grid sync) between them
    the same warp, and a warp barrier between them
    different blocks, and a grid sync between them

Lanes of a warp do not run in step since Volta, so that two lanes without a warp barrier between them are not
ordered either.
"""

import numpy as np

from ..trace import ATOMIC, LOAD, STORE
from .columns import compact, group, pack


def unordered_pairs(location, owner, kind, site, order):
    """Conflicts between different owners at the same location.

    location: rows with equal numbers can conflict (same address, nothing ordering them). owner: the thread,
    warp or block an access belongs to; accesses of one owner are left to a finer look. order: any number
    that ranks accesses of one owner, for a choice of example that does not depend on the run.

    Returns (i, j): rows that conflict, one example for each location and each pair of (site, kind) there.
    """
    keep = contended(location, owner, kind)
    if not keep.size:
        return keep, keep
    rank = np.argsort(pack(location[keep], site[keep], kind[keep], owner[keep], order[keep]), kind="stable")
    rows = keep[rank]
    # an entry is a stretch of equal (location, site, kind), from its least owner to its greatest
    _, starts = group(location[rows], site[rows], kind[rows])
    ends = np.append(starts[1:], len(rows)) - 1
    least, most = rows[starts], rows[ends]
    entry_location, entry_kind = location[least], kind[least]
    found_i, found_j = [], []
    for step in range(_longest_run(entry_location)):  # entries of one location: as many as there are sites
        a = np.arange(len(least) - step)
        b = a + step
        same = (entry_location[a] == entry_location[b]) & conflict(entry_kind[a], entry_kind[b])
        a, b = a[same], b[same]
        forward = owner[least[a]] != owner[most[b]]
        backward = ~forward & (owner[most[a]] != owner[least[b]])
        found_i += [least[a][forward], most[a][backward]]
        found_j += [most[b][forward], least[b][backward]]
    return np.concatenate(found_i), np.concatenate(found_j)


def conflict(a, b):
    """A plain store conflicts with everything; an atomic with what is not atomic."""
    return (a == STORE) | (b == STORE) | ((a == ATOMIC) != (b == ATOMIC))


def contended(location, owner, kind):
    """Indices of rows at locations with two owners and a store, or with atomic and plain accesses."""
    if not len(location):
        return np.zeros(0, np.int64)
    number = compact(location)
    size = number.max() + 1
    low, high = np.full(size, np.iinfo(owner.dtype).max), np.full(size, -1, owner.dtype)
    np.minimum.at(low, number, owner)
    np.maximum.at(high, number, owner)
    has = {}
    for k in (LOAD, STORE, ATOMIC):
        has[k] = np.zeros(size, bool)
        has[k][number[kind == k]] = True
    interesting = (low < high) & (has[STORE] | (has[ATOMIC] & has[LOAD]))
    return np.flatnonzero(interesting[number])


def _longest_run(sorted_values):
    edges = np.flatnonzero(np.diff(sorted_values, prepend=sorted_values[0] - 1))
    return int(np.diff(np.append(edges, len(sorted_values))).max())
