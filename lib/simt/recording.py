"""How a trace keeps millions of accesses in few bytes: what was recorded, as narrow as it fits; the rest worked out
when asked.

An access takes 16 to 20 bytes: its site, visit, array, offset, and the *segment* it belongs to, the stretch of the run
in which one thread ran. Everything else follows from these, and is computed for the rows that somebody looks at.
"""

import array

import numpy as np

FULL = 1_000_000  # numbers in the list of what was recorded, four for each access, until they are packed


class Column(np.lib.mixins.NDArrayOperatorsMixin):
    """A column of a trace, as an array of ``dtype`` whose values are worked out when they are asked for.

    values(rows): the values in some rows; rows may be a number, a slice or an array, as for any array.
    """

    def __init__(self, length, values, dtype):
        self.length, self.values, self.dtype = length, values, np.dtype(dtype)

    shape = property(lambda self: (self.length,))
    size = property(lambda self: self.length)
    ndim = 1

    def __len__(self):
        return self.length

    def __getitem__(self, rows):
        return self.values(rows).astype(self.dtype)

    def __array__(self, dtype=None, copy=None):
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return getattr(ufunc, method)(*(np.asarray(i) if isinstance(i, Column) else i for i in inputs), **options)

    def __iter__(self):
        return iter(self[:])

    def __getattr__(self, name):
        """``min()``, ``tolist()`` and the other methods of an array."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self[:], name)

    def __repr__(self):
        return repr(self[:])


class Recording:
    """The accesses of a run, as they come. ``pending``: four numbers for each: site, visit, array, offset."""

    def __init__(self):
        self.pending = []
        self.packed = 0  # accesses that are no longer pending
        self._chunks = ([], [], [], [])
        self._segments = array.array("q")
        self._sizes = array.array("q")  # (row, bytes) of accesses that are not one element

    def __len__(self):
        return self.packed + len(self.pending) // 4

    def begin_segment(self, thread, epoch, warp_epoch, grid_epoch):
        self._segments.extend((len(self), thread, epoch, warp_epoch, grid_epoch))

    def sized(self, size):
        """The next access is of so many bytes."""
        self._sizes.extend((len(self), size))

    def pack(self):
        if self.pending:
            rows = np.array(self.pending, np.int64).reshape(-1, 4)
            self.packed += len(rows)
            self.pending.clear()
            for chunks, column in zip(self._chunks, rows.T, strict=True):
                chunks.append(narrow(column))

    def finish(self, itemsizes):
        """Put the columns together: ``site``, ``visit``, ``array``, ``offset``, ``segment``, ``bytes``, one for each
        access.
        itemsizes: bytes of an element of each array."""
        self.pack()
        n = len(self)
        for name, chunks in zip(("site", "visit", "array", "offset"), self._chunks, strict=True):
            setattr(self, name, np.concatenate(chunks) if chunks else np.zeros(0, np.int16))
            chunks[:] = [getattr(self, name)]
        self.segments = np.array(self._segments, np.int64).reshape(-1, 5)
        lengths = np.diff(np.append(self.segments[:, 0], n))
        self.segment = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        self.itemsizes, self.bytes = np.array(itemsizes, np.int64), None
        if self._sizes:
            self.bytes = narrow(self.itemsizes)[self.array]
            row, size = np.array(self._sizes, np.int64).reshape(-1, 2).T
            self.bytes[row] = size

    def of_segment(self, number):
        """A column that is one number for each segment: 1 the thread, 2-4 the epochs of block, warp and grid."""
        return Column(len(self), lambda rows: self.segments[self.segment[rows], number], np.int64)

    def size(self):
        return Column(
            len(self),
            lambda rows: self.itemsizes[self.array[rows]] if self.bytes is None else self.bytes[rows],
            np.int64,
        )

    def stored(self, values):
        return Column(len(self), lambda rows: values[rows], np.int64)


def narrow(column):
    """The same integers in as few bytes as hold them, for good."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    for kind in (np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return np.ascontiguousarray(column, kind)
    return np.ascontiguousarray(column, np.int64)
