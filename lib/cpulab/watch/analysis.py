"""Races, false sharing and cache lines, out of the recorded accesses."""

from dataclasses import dataclass

import numpy as np

from .recorder import LINE, STORE


@dataclass(frozen=True)
class Race:
    """Two iterations touch the same element and one of them writes: the result depends on who comes first."""

    array: str
    index: tuple
    lines: tuple  # of the two accesses
    code: tuple
    iterations: tuple
    threads: tuple
    kinds: tuple  # "load" or "store"
    elements: int  # how many elements are raced for by these two expressions

    @property
    def line(self):
        return self.lines[0]

    def __str__(self):
        (i, j), (a, b) = self.iterations, self.kinds
        where = f"{self.array}[{', '.join(map(str, self.index))}]"
        first = f"iteration {i} {a}s it in line {self.lines[0]} (`{self.code[0]}`)"
        second = f"iteration {j} {b}s it in line {self.lines[1]} (`{self.code[1]}`)"
        more = f"; {self.elements} elements in all" if self.elements > 1 else ""
        return f"race on {where}: {first}, {second}{more}"


@dataclass(frozen=True)
class SharedLine:
    """A cache line that one thread writes while another uses a different element of it."""

    array: str
    line: int  # counted from the array's first
    threads: tuple
    elements: tuple  # index of one element of each thread
    stores: int

    def __str__(self):
        who = " and ".join(
            f"thread {t} {self.array}[{', '.join(map(str, e))}]"
            for t, e in zip(self.threads, self.elements, strict=True)
        )
        return f"cache line {self.line} of {self.array} is used by {who}; {self.stores} stores"


def index_of(root, shape, strides, address):
    """Index of the element at a byte address of an argument."""
    left, index = int(address - root.base), []
    for n, stride in sorted(zip(shape, strides, strict=True), key=lambda pair: -abs(pair[1])):
        step = left // stride if stride else 0
        index.append(min(max(step, 0), n - 1))
        left -= index[-1] * stride
    order = np.argsort([-abs(s) for s in strides], kind="stable")
    placed = [0] * len(index)
    for position, value in zip(order, index, strict=True):
        placed[position] = int(value)
    return tuple(placed)


def races(recorder, columns):
    """All races, one for each pair of expressions: the first element they meet at."""
    region, address = columns["region"], columns["address"]
    inside = np.flatnonzero(region >= 0)
    # Arrays that are indexed by the thread's number are told apart by threads, all others by iterations.
    unit = columns["thread"] if recorder.asks_for_thread else columns["iteration"]
    order = inside[np.lexsort((inside, address[inside], region[inside]))]
    pairs = {}
    starts = np.flatnonzero(np.r_[True, np.diff(address[order]).astype(bool) | np.diff(region[order]).astype(bool)])
    for group in np.split(order, starts[1:]) if len(order) else ():
        kinds, units = columns["kind"][group], unit[group]
        if not (kinds == STORE).any() or (units == units[0]).all():
            continue
        pair = _conflict(group, kinds, units, columns["thread"][group])
        if pair is None:
            continue
        places = {recorder.places[p] for p in columns["place"][list(pair)]}
        key = (frozenset(places), int(columns["root"][pair[0]]))
        pairs.setdefault(key, [pair, 0])[1] += 1
    return [_race(recorder, columns, pair, n) for pair, n in pairs.values()]


def _conflict(group, kinds, units, threads):
    """Two conflicting accesses, of different threads if there are such."""
    stores = np.flatnonzero(kinds == STORE)
    best = None
    for s in stores[:50]:
        others = np.flatnonzero(units != units[s])
        if not len(others):
            continue
        apart = others[threads[others] != threads[s]]
        pair = (group[s], group[(apart if len(apart) else others)[0]])
        best = best or pair
        if len(apart):
            best = pair
            break
    return None if best is None else tuple(sorted(map(int, best)))


def _race(recorder, columns, pair, elements):
    def of(name):
        return tuple(int(columns[name][p]) for p in pair)

    root = recorder.roots[of("root")[0]]
    places = [recorder.places[p] for p in of("place")]
    return Race(
        root.name,
        _index(root, of("address")[0]),
        tuple(p.line for p in places),
        tuple(p.text for p in places),
        of("iteration"),
        of("thread"),
        tuple("store" if k == STORE else "load" for k in of("kind")),
        elements,
    )


def _index(root, address):
    return index_of(root, root.array.shape, root.array.strides, address)


def shared_lines(recorder, columns):
    """Cache lines with false sharing, the busiest first."""
    inside = columns["region"] >= 0
    line = columns["address"] // LINE
    order = np.flatnonzero(inside)
    order = order[np.lexsort((line[order], columns["region"][order]))]
    lines = []
    keys = np.stack([columns["region"][order], line[order]])
    starts = np.flatnonzero(np.r_[True, np.any(np.diff(keys, axis=1) != 0, axis=0)]) if len(order) else []
    for group in np.split(order, starts[1:]) if len(order) else ():
        threads, kinds, address = (columns[n][group] for n in ("thread", "kind", "address"))
        if (threads == threads[0]).all() or not (kinds == STORE).any():
            continue
        pair = _different_elements(threads, kinds, address)
        if pair is None:
            continue
        root = recorder.roots[int(columns["root"][group[0]])]
        lines.append(
            SharedLine(
                root.name,
                int(line[group[0]] - root.base // LINE),
                tuple(int(threads[p]) for p in pair),
                tuple(_index(root, address[p]) for p in pair),
                int((kinds == STORE).sum()),
            )
        )
    return sorted(lines, key=lambda shared: -shared.stores)


def _different_elements(threads, kinds, address):
    for s in np.flatnonzero(kinds == STORE)[:50]:
        partners = np.flatnonzero((threads != threads[s]) & (address != address[s]))
        if len(partners):
            return tuple(sorted((int(s), int(partners[0])), key=lambda p: threads[p]))
    return None


def transfers(columns):
    """How often a cache line moves to another core if the threads of each loop go in step.

    A line moves when a thread writes it and another had it, or reads it after another's write.
    """
    moved = 0
    for region in np.unique(columns["region"][columns["region"] >= 0]):
        rows = np.flatnonzero(columns["region"] == region)
        threads = columns["thread"][rows]
        turn = np.empty(len(rows), np.int64)
        for t in np.unique(threads):
            of_thread = threads == t
            turn[of_thread] = np.arange(of_thread.sum())
        rows = rows[np.lexsort((threads, turn))]
        owners = {}
        lines = (columns["address"][rows] // LINE).tolist()
        who, kinds = columns["thread"][rows].tolist(), columns["kind"][rows].tolist()
        for line, thread, kind in zip(lines, who, kinds, strict=True):
            writer, sharers = owners.get(line, (None, set()))
            if kind == STORE:
                moved += bool(sharers - {thread})
                owners[line] = (thread, {thread})
            else:
                if thread not in sharers:
                    moved += writer is not None and writer != thread
                    sharers = sharers | {thread}
                owners[line] = (writer, sharers)
    return moved
