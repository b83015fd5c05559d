"""The collectives, each written once on send and receive, so that they run over every backend.

With n workers and an array of S bytes, a worker sends at most:

| all-reduce | bytes | messages one after the other | order of the sum |
|---|---|---|---|
| naive | (n - 1) S at the root, S at the others | 2 (n - 1) | ranks 0, 1, 2, ...: as one worker would |
| tree | S up, and S to each child down | 2 ceil(log2 n) | pairs of neighbours, then pairs of pairs |
| ring | 2 (n - 1) / n S | 2 (n - 1) | each part begins at another rank |
| halving | 2 (n - 1) / n S for n a power of two | 2 log2 n | pairs at distance n / 2, then n / 4, ... |
| direct | 2 (n - 1) / n S | 2, with n - 1 partners at once | ranks 0, 1, 2, ...: as one worker would |

Each order is fixed, so a result repeats to the last bit, and is the same on all workers. "naive" and "direct" give the
bits of `((x0 + x1) + x2) + ...`; with two workers all do, since a + b = b + a.

Sources: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH (2005), sections
4.1 to 4.5; Patarasu and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations (2009).
"""

import numpy as np

OPS = {"sum": np.add, "mean": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}


def bounds(length, size):
    """Where the parts of `length` elements begin and end among `size` workers: `size + 1` integers. The first
    `length % size` parts have one element more (as `numpy.array_split` cuts)."""
    quotient, remainder = divmod(length, size)
    return [rank * quotient + min(rank, remainder) for rank in range(size + 1)]


def all_reduce(group, array, op="sum", algorithm="ring", out=None):
    """`Group.all_reduce`."""
    array = _checked(array, op)
    _known("algorithm", algorithm, ALL_REDUCE)
    what = f"all_reduce {op} {algorithm} of {array.dtype} {array.shape}"
    if out is None:
        out = np.empty(array.shape, array.dtype)
    elif out.shape != array.shape or out.dtype != array.dtype or not out.flags.c_contiguous:
        raise ValueError(
            f"out is {out.dtype} {out.shape}{'' if out.flags.c_contiguous else ', not C-contiguous'}: expected a "
            f"C-contiguous array like the other, {array.dtype} {array.shape}"
        )
    if out is not array:
        out[...] = array
    if group.size > 1:
        ALL_REDUCE[algorithm](group, out.reshape(-1), OPS[op], what)
    return _finished(out, op, group.size)


def _checked(array, op):
    """The array, if `op` can be made of such."""
    array = np.asarray(array)
    _known("op", op, OPS)
    if op == "mean" and not np.issubdtype(array.dtype, np.inexact):
        raise TypeError(f"op='mean' wants an array of floating-point numbers, and this one has dtype {array.dtype}")
    return array


def _finished(total, op, size):
    if op == "mean":
        total /= total.dtype.type(size)
    return total


def _known(name, value, table):
    if value not in table:
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(table)}")


# --- all-reduce: each changes `total`, a flat contiguous array, in place ---


def naive(group, total, combine, what):
    """All send to worker 0, which adds in the order of ranks, and sends it back."""
    if group.rank == 0:
        for source in range(1, group.size):
            group.receive(source, what, into=total, combine=combine)
        for to in range(1, group.size):
            group.send(total, to, what)
    else:
        group.send(total, 0, what)
        group.receive(0, what, into=total)


def tree(group, total, combine, what):
    """Binomial tree: at step k the ranks that are odd multiples of 2^k send to the even multiple before them, until
    rank 0 has the sum; then the same way back."""
    step = 1
    while step < group.size and group.rank % (2 * step) == 0:
        if group.rank + step < group.size:
            group.receive(group.rank + step, what, into=total, combine=combine)
        step *= 2
    if group.rank:
        group.send(total, group.rank - step, what)
        group.receive(group.rank - step, what, into=total)
    while step > 1:
        step //= 2
        if group.rank + step < group.size:
            group.send(total, group.rank + step, what)


def ring(group, total, combine, what):
    """n - 1 steps in which each worker adds the part that comes from its left (reduce-scatter), n - 1 in which it
    passes finished parts on (all-gather)."""
    cuts = bounds(total.size, group.size)
    _ring_reduce(group, total, cuts, combine, what)
    _ring_gather(group, total, cuts, what)


def _ring_reduce(group, total, cuts, combine, what):
    """Afterwards part `rank` of `total` is complete on each worker."""
    right, left = _neighbours(group)
    for step in range(1, group.size):
        outgoing = _part(total, cuts, (group.rank - step) % group.size)
        incoming = _part(total, cuts, (group.rank - step - 1) % group.size)
        group.exchange(outgoing, right, left, what, incoming, combine)


def _ring_gather(group, total, cuts, what):
    right, left = _neighbours(group)
    for step in range(group.size - 1):
        outgoing = _part(total, cuts, (group.rank - step) % group.size)
        incoming = _part(total, cuts, (group.rank - step - 1) % group.size)
        group.exchange(outgoing, right, left, what, incoming)


def _neighbours(group):
    return (group.rank + 1) % group.size, (group.rank - 1) % group.size


def _part(array, cuts, index):
    return array[cuts[index] : cuts[index + 1]]


def halving(group, total, combine, what):
    """Recursive halving, then doubling (Rabenseifner): partners at distance n / 2 exchange halves of what they still
    have, then at n / 4, and so on; then the way back. Where n is no power of two, the first workers of a pair take
    their neighbour's array before, and give it the sum after."""
    power = 1 << (group.size.bit_length() - 1)
    extra = group.size - power
    rank = group.rank
    if rank < 2 * extra:  # pairs (0, 1), (2, 3), ...: the odd one stands aside
        if rank % 2:
            group.send(total, rank - 1, what)
            group.receive(rank - 1, what, into=total)
            return
        group.receive(rank + 1, what, into=total, combine=combine)
    new_rank = rank // 2 if rank < 2 * extra else rank - extra

    def old_rank(new_rank):
        return 2 * new_rank if new_rank < extra else new_rank + extra

    cuts = bounds(total.size, power)
    low, high, way = 0, power, []
    distance = power // 2
    while distance:
        middle = (low + high) // 2
        lower, upper = total[cuts[low] : cuts[middle]], total[cuts[middle] : cuts[high]]
        partner = old_rank(new_rank ^ distance)
        if new_rank & distance:
            group.exchange(lower, partner, partner, what, upper, combine)
            low = middle
        else:
            group.exchange(upper, partner, partner, what, lower, combine)
            high = middle
        way.append((partner, lower, upper, bool(new_rank & distance)))
        distance //= 2
    for partner, lower, upper, kept_upper in reversed(way):
        outgoing, incoming = (upper, lower) if kept_upper else (lower, upper)
        group.exchange(outgoing, partner, partner, what, incoming)
    if rank < 2 * extra:
        group.send(total, rank + 1, what)


def direct(group, total, combine, what):
    """Each worker gets its part from all others, adds in the order of ranks, and sends the sum to all."""
    cuts = bounds(total.size, group.size)
    part = _direct_reduce(group, total, cuts, combine, what)
    _part(total, cuts, group.rank)[...] = part
    for step in range(1, group.size):
        to, source = (group.rank + step) % group.size, (group.rank - step) % group.size
        group.exchange(part, to, source, what, _part(total, cuts, source))


def _direct_reduce(group, total, cuts, combine, what):
    parts = {group.rank: _part(total, cuts, group.rank)}
    for step in range(1, group.size):
        to, source = (group.rank + step) % group.size, (group.rank - step) % group.size
        parts[source] = group.exchange(_part(total, cuts, to), to, source, what)
    part = parts[0].copy()
    for rank in range(1, group.size):
        combine(part, parts[rank], out=part)
    return part


ALL_REDUCE = {"naive": naive, "tree": tree, "ring": ring, "halving": halving, "direct": direct}

# --- parts ---


def reduce_scatter(group, array, op="sum", algorithm="ring"):
    """`Group.reduce_scatter`: (n - 1) / n S bytes a worker."""
    array = _checked(array, op)
    _known("algorithm", algorithm, ("ring", "direct"))
    if array.ndim == 0:
        raise ValueError("reduce_scatter cuts along axis 0, and this array has none")
    what = f"reduce_scatter {op} {algorithm} of {array.dtype} {array.shape}"
    rows = bounds(len(array), group.size)
    row = array[:1].size if len(array) else 0
    cuts = [cut * row for cut in rows]
    if algorithm == "ring":
        total = np.array(array, order="C", copy=True).reshape(-1)
        _ring_reduce(group, total, cuts, OPS[op], what)
        part = _part(total, cuts, group.rank).copy()
    else:
        part = _direct_reduce(group, np.ascontiguousarray(array).reshape(-1), cuts, OPS[op], what)
    part = part.reshape(rows[group.rank + 1] - rows[group.rank], *array.shape[1:])
    return _finished(part, op, group.size)


def all_gather(group, part, axis=0, algorithm="ring", what=None):
    """`Group.all_gather`: (n - 1) / n S bytes a worker, S the joined array's."""
    _known("algorithm", algorithm, ("ring", "direct"))
    part = np.asarray(part)
    if not -part.ndim <= axis < part.ndim:
        raise ValueError(f"axis={axis}: all_gather joins along an axis, and the part has shape {part.shape}")
    axis %= part.ndim
    others = ", ".join("*" if i == axis else str(n) for i, n in enumerate(part.shape))
    what = what or f"all_gather {algorithm} of {part.dtype} ({others})"
    parts = {group.rank: part}
    passed = part
    for step in range(1, group.size):
        if algorithm == "ring":
            passed = group.exchange(passed, (group.rank + 1) % group.size, (group.rank - 1) % group.size, what)
            parts[(group.rank - step) % group.size] = passed
        else:
            source = (group.rank - step) % group.size
            parts[source] = group.exchange(part, (group.rank + step) % group.size, source, what)
    return np.concatenate([parts[rank] for rank in range(group.size)], axis)


def broadcast(group, array=None, root=0):
    """`Group.broadcast` by a binomial tree: S bytes to each child, ceil(log2 n) messages one after the other."""
    if not 0 <= root < group.size:
        raise ValueError(f"root={root}: the ranks are 0 to {group.size - 1}")
    what = f"broadcast from {root}"
    relative_rank = (group.rank - root) % group.size
    step = 1
    if relative_rank:
        while relative_rank % (2 * step) == 0:
            step *= 2
        array = group.receive((relative_rank - step + root) % group.size, what)
    else:
        if array is None:
            raise ValueError(f"broadcast: worker {root} is the root, and its array is None")
        array = np.array(array)
        while step < group.size:
            step *= 2
    while step > 1:
        step //= 2
        if relative_rank + step < group.size:
            group.send(array, (relative_rank + step + root) % group.size, what)
    return array


def all_to_all(group, arrays):
    """`Group.all_to_all`: n - 1 exchanges, at growing distance."""
    if len(arrays) != group.size:
        raise ValueError(f"all_to_all wants one array for each of the {group.size} workers, and got {len(arrays)}")
    got = [None] * group.size
    got[group.rank] = np.array(arrays[group.rank])
    for step in range(1, group.size):
        to, source = (group.rank + step) % group.size, (group.rank - step) % group.size
        got[source] = group.exchange(arrays[to], to, source, "all_to_all")
    return got


def barrier(group):
    """`Group.barrier` by dissemination: at step k each worker tells the one 2^k to its right."""
    nothing, step = np.empty(0, np.uint8), 1
    while step < group.size:
        group.exchange(nothing, (group.rank + step) % group.size, (group.rank - step) % group.size, "barrier")
        step *= 2
