"""From a trace to counts: one row for each source expression and array, and the totals of the launch.

The unit of counting is the *request*: one warp instruction, that is the accesses that the lanes of one warp
make at the same expression in the same visit of it (same call, same iterations of the loops around it).
"""

from dataclasses import dataclass, fields

import numpy as np

from ..trace import ATOMIC, GLOBAL, KINDS, LOAD, LOCAL, SHARED
from . import columns, traffic

STATIC_SHARED_LIMIT = 48 * 1024


@dataclass(frozen=True)
class Requests:
    """One row per request, in the order (site, array, warp, visit). All columns have equal length.

    lanes: active lanes. lanes_possible: threads the warp has. sectors, bytes_used: global and local memory.
    wavefronts, least_wavefronts, ways: shared memory. addresses: different addresses (constant memory serves
    one at a time). contention: most lanes at one address (atomics).
    """

    site: np.ndarray
    array: np.ndarray
    kind: np.ndarray
    space: np.ndarray
    warp: np.ndarray
    visit: np.ndarray
    lanes: np.ndarray
    bytes_used: np.ndarray
    sectors: np.ndarray
    wavefronts: np.ndarray
    least_wavefronts: np.ndarray
    ways: np.ndarray
    addresses: np.ndarray
    contention: np.ndarray


@dataclass(frozen=True)
class Expression:
    """What one source expression did to one array, over the whole launch. 0 or None where it does not apply.

    requests: warp instructions. accesses: loads, stores or atomics of single threads. active_lanes: accesses
    per request. sectors: 32-byte pieces moved. bytes_moved: 32 x sectors (shared memory: bytes_used).
    bytes_used: different bytes touched, request by request. efficiency: bytes_used / bytes_moved.
    wavefronts: passes through the banks. bank_conflicts: wavefronts that a layout without conflicts would
    save. bank_ways: words one bank serves in the worst request; bank_ways_mean: wavefronts / wavefronts
    without conflicts. contention: most lanes of a request that update one address. addresses_per_request: 1
    is a broadcast.
    """

    line: int
    text: str
    function: str
    file: str
    kind: str
    space: str
    array: str
    requests: int
    accesses: int
    active_lanes: float
    bytes_used: int
    bytes_moved: int
    efficiency: float | None
    sectors: int
    sectors_per_request: float | None
    wavefronts: int
    bank_conflicts: int
    bank_ways: int | None
    bank_ways_mean: float | None
    contention: int | None
    addresses_per_request: float
    site: int

    def to_dict(self):
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "site"}


def requests(trace):
    """`Requests` of a trace, and the request number of each of its rows."""
    order, start = columns.sort(trace.site, trace.array, trace.warp, trace.visit)
    lanes = np.diff(np.append(start, len(order)))
    number = np.empty(len(order), np.int32)
    number[order] = np.repeat(np.arange(len(start), dtype=np.int32), lanes)
    first_rows = order[start]
    measured = {name: np.zeros(len(start), np.int64) for name in _MEASURED}
    for begin in range(0, len(start), CHUNK):
        part = slice(begin, min(begin + CHUNK, len(start)))
        for name, values in _measure(trace, order, start[part], lanes[part]).items():
            measured[name][part] = values
    kept = {name: getattr(trace, name)[first_rows] for name in ("site", "array", "kind", "space", "warp", "visit")}
    return Requests(**kept, lanes=lanes, **measured), number


_MEASURED = ("bytes_used", "sectors", "wavefronts", "least_wavefronts", "ways", "addresses", "contention")
CHUNK = 1 << 12  # requests measured at a time: keeps the matrices small


def _measure(trace, order, start, lanes):
    """The measures of some requests, each a row of a matrix with a column for each of its accesses."""
    column = np.arange(int(lanes.max()))
    active = column < lanes[:, None]
    rows = order[np.where(active, start[:, None] + column, start[:, None])]
    first_rows = rows[:, 0]
    space, kind, size = trace.space[first_rows], trace.kind[first_rows], trace.size[first_rows][:, None]
    lane, address = trace.lane[rows], trace.address[rows]
    local = (space == LOCAL)[:, None]
    address = np.where(local, traffic.local_address(address, lane), address)
    measures = {name: np.zeros(len(start), np.int64) for name in _MEASURED}
    measures["addresses"] = traffic.addresses(active, address)
    measures["bytes_used"] = traffic.bytes_used(active, address, size)
    some = (space == GLOBAL) | (space == LOCAL)
    measures["sectors"][some] = traffic.sectors(active[some], address[some], size[some])
    some = space == SHARED
    banks = traffic.bank_passes(active[some], lane[some], address[some], size[some], kind[some] == LOAD)
    for name, values in zip(("wavefronts", "least_wavefronts", "ways"), banks, strict=True):
        measures[name][some] = values
    some = kind == ATOMIC
    measures["contention"][some] = traffic.contention(active[some], address[some])
    return measures


def expressions(trace, table):
    """`Expression` for each (source expression, array), in the order of the source."""
    if not len(table.site):
        return []
    number, first_rows = columns.group(table.site, table.array)

    def total(column):
        return np.bincount(number, weights=column, minlength=len(first_rows)).astype(np.int64)

    def largest(column):
        most = np.zeros(len(first_rows), np.int64)
        np.maximum.at(most, number, column)
        return most

    sums = {
        name: total(getattr(table, name))
        for name in ("lanes", "bytes_used", "sectors", "wavefronts", "least_wavefronts", "addresses")
    }
    counts = np.bincount(number)
    ways, contention = largest(table.ways), largest(table.contention)
    rows = []
    for k, row in enumerate(first_rows.tolist()):
        measures = {name: int(column[k]) for name, column in sums.items()}
        measures |= {"requests": int(counts[k]), "ways": int(ways[k]), "contention": int(contention[k])}
        rows.append(expression(int(table.site[row]), trace.sites, trace.arrays[table.array[row]], measures))
    return in_order(rows, trace.sites)


def expression(number, sites, array, measures):
    """The `Expression` of one site and array, from the sums of its requests' measures (of ways and contention, the
    most)."""
    site, s, n = sites[number], measures, measures["requests"]
    by_sector, by_bank = array.space in ("global", "local"), array.space == "shared"
    moved = traffic.SECTOR_BYTES * s["sectors"] if by_sector else s["bytes_used"]
    return Expression(
        line=site.line,
        text=site.text,
        function=site.function,
        file=site.file,
        kind=site.kind,
        space=array.space,
        array=array.name,
        requests=n,
        accesses=s["lanes"],
        active_lanes=s["lanes"] / n,
        bytes_used=s["bytes_used"],
        bytes_moved=moved,
        efficiency=s["bytes_used"] / moved if by_sector else None,
        sectors=s["sectors"],
        sectors_per_request=s["sectors"] / n if by_sector else None,
        wavefronts=s["wavefronts"],
        bank_conflicts=s["wavefronts"] - s["least_wavefronts"],
        bank_ways=s["ways"] if by_bank else None,
        bank_ways_mean=s["wavefronts"] / s["least_wavefronts"] if by_bank else None,
        contention=s["contention"] if site.kind == "atomic" else None,
        addresses_per_request=s["addresses"] / n,
        site=number,
    )


def in_order(rows, sites):
    """`Expression` rows in the order of the source."""
    order = {"load": 0, "store": 2, "atomic": 1}
    return sorted(rows, key=lambda e: (e.file, e.line, order[e.kind], sites[e.site].column, e.array))


def totals(rows, barriers, grid_barriers, shared_bytes):
    """Totals of the launch: a dict of plain numbers. None stands for "no such access".

    global_load_requests, global_load_sectors, and the same for store and atomic; sectors_per_request (mean);
    bytes_moved = bytes_loaded + bytes_stored + those of atomics, bytes_used, efficiency: global memory.
    shared_load_requests, shared_store_requests, shared_atomic_requests, shared_bytes_used, shared_wavefronts,
    bank_conflicts, bank_ways (of the worst request), shared_bytes (per block, static and dynamic).
    local_requests, local_sectors, const_requests. atomics: updates by single threads; contention: most lanes of
    a request at one address. requests, accesses, active_lanes (mean): of all memory. barriers: most block
    barriers that a block passed; grid_barriers.
    """

    def some(space, kind=None):
        return [r for r in rows if r.space == space and kind in (None, r.kind)]

    totals = {}
    for kind in KINDS:
        totals[f"global_{kind}_requests"] = sum(r.requests for r in some("global", kind))
        totals[f"global_{kind}_sectors"] = sum(r.sectors for r in some("global", kind))
    in_global, in_shared, atomic = some("global"), some("shared"), [r for r in rows if r.kind == "atomic"]
    sectors, count = sum(r.sectors for r in in_global), sum(r.requests for r in in_global)
    used, moved = sum(r.bytes_used for r in in_global), sum(r.bytes_moved for r in in_global)
    totals["sectors_per_request"] = sectors / count if count else None
    totals["bytes_moved"], totals["bytes_used"] = moved, used
    totals["bytes_loaded"] = traffic.SECTOR_BYTES * totals["global_load_sectors"]
    totals["bytes_stored"] = traffic.SECTOR_BYTES * totals["global_store_sectors"]
    totals["efficiency"] = used / moved if moved else None
    for kind in KINDS:
        totals[f"shared_{kind}_requests"] = sum(r.requests for r in some("shared", kind))
    totals["shared_bytes_used"] = sum(r.bytes_used for r in in_shared)
    totals["shared_wavefronts"] = sum(r.wavefronts for r in in_shared)
    totals["bank_conflicts"] = sum(r.bank_conflicts for r in in_shared)
    totals["bank_ways"] = max((r.bank_ways for r in in_shared), default=None)
    totals["local_requests"] = sum(r.requests for r in some("local"))
    totals["local_sectors"] = sum(r.sectors for r in some("local"))
    totals["const_requests"] = sum(r.requests for r in some("const"))
    totals["atomics"] = sum(r.accesses for r in atomic)
    totals["contention"] = max((r.contention for r in atomic), default=None)
    requests_all, accesses = sum(r.requests for r in rows), sum(r.accesses for r in rows)
    totals["requests"] = requests_all
    totals["accesses"] = accesses
    totals["active_lanes"] = accesses / requests_all if requests_all else None
    totals["barriers"], totals["grid_barriers"], totals["shared_bytes"] = barriers, grid_barriers, shared_bytes
    return totals


def of_launch(trace):
    """(most barriers that a block passed, grid barriers, shared bytes of a block), for `totals`."""
    grid_barriers = sum(b.block < 0 for b in trace.barriers)
    return barriers_per_block(trace), grid_barriers, static_shared_bytes(trace) + int(trace.shared_bytes)


def barriers_per_block(trace):
    """Most block barriers that any block passed."""
    blocks = [b.block for b in trace.barriers if b.block >= 0]
    return int(np.bincount(blocks).max()) if blocks else 0


def static_shared_bytes(trace):
    """Bytes per block of shared arrays of fixed size. They lie in the first 48 KiB, dynamic memory behind."""
    ends = [
        a.base + int(np.prod(a.shape)) * a.dtype.itemsize
        for a in trace.arrays
        if a.space == "shared" and a.base < STATIC_SHARED_LIMIT
    ]
    return max(ends, default=0)
