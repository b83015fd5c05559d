"""Arrays as a kernel sees them, and the loads and stores that a lowered kernel calls.

A lowered kernel does not write ``a[i]`` but ``_load1(a, i, site)``: one function for each number of indices. There are
two sets of these functions: plain ones check that the index lies in the array, traced ones (traced_memory.py) also
record it. Negative indices are errors: compiled numba wraps them silently, which is almost never what a kernel means.
"""

import numpy as np

from ..errors import KernelError, NotOnAGpu, OutOfBounds
from ..numbers import caster, normal, numba_type
from ..settings import wraps

_EXACT = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.complex128))


ARRAY_ATTRIBUTES = frozenset(("shape", "size", "ndim", "dtype", "strides", "nbytes", "itemsize", "T"))


def _unsuited(*_):
    raise IndexError


class Array:
    """An array inside a kernel: a NumPy view of its memory, and where that memory stands on the (pretended) device."""

    __slots__ = (
        "data", "get1", "get2", "get3", "init", "lead", "n0", "n1", "n2", "name", "number", "offset", "put1", "put2",
        "put3",
        "readonly", "s0", "s1", "s2", "shape", "space", "unit",
    )  # fmt: skip

    def __init__(self, data, name, space, number=-1, offset=0, readonly=False, init=None, lead=0, unit=0):
        self.unit = unit or data.itemsize  # bytes of an element of the array that this is a view of
        self.data, self.name, self.space = data, name, space
        self.lead = lead  # bytes of the first element from the start of the allocation, for alignment
        self.number, self.offset, self.readonly, self.init = number, offset, readonly, init
        self.shape = data.shape
        self.get1 = self.get2 = self.get3 = self.put1 = self.put2 = self.put3 = _unsuited
        ndim, item = data.ndim, data.item if data.dtype in _EXACT else None
        if data.dtype.names is None and data.itemsize == self.unit:
            if ndim == 1:
                self.get1, self.put1 = item or data.__getitem__, data.__setitem__
                (self.n0,), (self.s0,) = data.shape, data.strides
            elif ndim == 2:
                self.get2 = item or (lambda i, j: data[i, j])
                self.put2 = data.__setitem__
                (self.n0, self.n1), (self.s0, self.s1) = data.shape, data.strides
            elif ndim == 3:
                self.get3 = item or (lambda i, j, k: data[i, j, k])
                self.put3 = data.__setitem__
                (self.n0, self.n1, self.n2), (self.s0, self.s1, self.s2) = data.shape, data.strides
        if readonly:
            self.put1 = self.put2 = self.put3 = _unsuited

    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    strides = property(lambda self: self.data.strides)
    itemsize = property(lambda self: self.data.itemsize)
    nbytes = property(lambda self: self.data.nbytes)

    @property
    def T(self):
        return self.view_of(self.data.T)

    def __len__(self):
        return len(self.data)

    def address_of(self, key):
        """Bytes of an element from the start of its allocation (which is aligned to 256 bytes)."""
        return self.offset + self.lead + sum(k * s for k, s in zip(key, self.data.strides, strict=True))

    def view_of(self, data):
        """Another view of the same memory, which starts where the NumPy view ``data`` starts."""
        start = data.__array_interface__["data"][0] - self.data.__array_interface__["data"][0]
        return Array(
            data,
            self.name,
            self.space,
            self.number,
            self.offset + start,
            self.readonly,
            self.init,
            self.lead,
            self.unit,
        )

    def field(self, name):
        """A field of every record as a view, or None where there is no such field."""
        known = isinstance(name, str) and self.data.dtype.names is not None and name in self.data.dtype.names
        return self.view_of(self.data[name]) if known else None


class Record:
    """One element of an array with a structured dtype."""

    __slots__ = ("array", "index")

    def __init__(self, array, index):
        self.array, self.index = array, index

    def field(self, name):
        """The field as an array of one element, or None where the record has no such field."""
        return self.array.field(name)


def check_index(array, key):
    """Where an index lies outside: (kind of finding, sentence). None where it is fine."""
    for axis, (i, extent) in enumerate(zip(key, array.shape, strict=False)):
        if not 0 <= i < extent:
            where = f" in axis {axis}" if len(key) > 1 else ""
            shown = ", ".join(str(int(k)) for k in key)
            if i < 0:
                return "negative-index", (
                    f"index [{shown}] of array {array.name!r} is negative{where}: it would wrap round to the other end "
                    f"(shape {array.shape}). Guard the access"
                )
            axes = len(array.shape)
            cure = "Guard the access, for example `if i < n:`"
            if len(key) < axes:  # a whole row, or more, of the array
                cure = (
                    f"An array of {axes} axes takes {axes} indices for an element, and has {len(key)} here: is one "
                    "missing?"
                )
            return (
                "out-of-bounds",
                f"index [{shown}] lies outside array {array.name!r} of shape {array.shape}{where}. {cure}",
            )
    return None


class Memory:
    """The plain loads and stores. ``launch`` knows the thread, and how to raise."""

    def __init__(self, launch):
        self.launch = launch

    def ports(self):
        """The functions that a lowered kernel calls, by the names it calls them."""
        names = ("load1", "load2", "load3", "loadn", "store1", "store2", "store3", "storen", "iterate", "field")
        return {"_" + name: getattr(self, name) for name in names}

    # -- fast paths: anything unusual goes to `loadn` and `storen` ------------------------------------------------

    def load1(self, a, i, site):
        try:
            if i >= 0:
                return a.get1(i)
        except (IndexError, TypeError, AttributeError):
            pass
        return self.loadn(a, (i,), site)

    def load2(self, a, i, j, site):
        try:
            if i >= 0 and j >= 0:
                return a.get2(i, j)
        except (IndexError, TypeError, AttributeError):
            pass
        return self.loadn(a, (i, j), site)

    def load3(self, a, i, j, k, site):
        try:
            if i >= 0 and j >= 0 and k >= 0:
                return a.get3(i, j, k)
        except (IndexError, TypeError, AttributeError):
            pass
        return self.loadn(a, (i, j, k), site)

    def store1(self, a, i, value, site):
        try:
            if i >= 0:
                return a.put1(i, value)
        except (IndexError, TypeError, AttributeError, ValueError, OverflowError):
            pass
        return self.storen(a, (i,), value, site)

    def store2(self, a, i, j, value, site):
        try:
            if i >= 0 and j >= 0:
                return a.put2((i, j), value)
        except (IndexError, TypeError, AttributeError, ValueError, OverflowError):
            pass
        return self.storen(a, (i, j), value, site)

    def store3(self, a, i, j, k, value, site):
        try:
            if i >= 0 and j >= 0 and k >= 0:
                return a.put3((i, j, k), value)
        except (IndexError, TypeError, AttributeError, ValueError, OverflowError):
            pass
        return self.storen(a, (i, j, k), value, site)

    @staticmethod
    def wrapped(a, key):
        """The key with negative numbers counted from the other end, where that is set (settings.wrap)."""
        if not wraps() or type(a) is not Array:
            return key
        key = key[0] if len(key) == 1 and isinstance(key[0], tuple) else key
        return tuple(
            k + n if isinstance(k, int | np.integer) and -n <= k < 0 else k
            for k, n in zip(key, (*a.shape, *(0,) * len(key)), strict=False)
        )

    # -- the general case ---------------------------------------------------------------------------------------------

    def loadn(self, a, key, site, visit=0):
        if type(a) is not Array:
            return self._load_other(a, key, site, visit)
        key = self.wrapped(a, key)
        if len(key) == 1 and (field := a.field(key[0])) is not None:
            return field
        key = self.key_of(a, key, site)
        if not _is_element(a, key):
            return self._view(a, key, site)
        if not self.check(a, key, site, visit):
            return poison(a.data.dtype)
        if a.data.dtype.names is not None:
            return Record(self._view(a, tuple(slice(k, k + 1) for k in key), site), 0)
        return normal(a.data[key])

    def storen(self, a, key, value, site, visit=0):
        if type(a) is Record:
            return self._store_field(a, key, value, site, visit)
        if type(a) is not Array:
            self.launch.fault(NotOnAGpu, f"a {type(a).__name__} cannot be changed in a kernel", site)
        key = self.key_of(a, self.wrapped(a, key), site)
        if a.readonly:
            self.launch.fault(KernelError, f"array {a.name!r} is read-only: the kernel may not write to it", site)
        if not _is_element(a, key):
            return self._store_slice(a, key, value, site, visit)
        if self.check(a, key, site, visit):
            self._put(a, key, value, site)

    def _put(self, a, key, value, site):
        try:
            a.data[key] = convert(value, a.data.dtype)
        except (TypeError, ValueError):
            kind = type(value).__name__
            self.launch.fault(NotOnAGpu, f"cannot store a {kind} in array {a.name!r} of {a.data.dtype}", site)

    def _store_slice(self, a, key, value, site, visit):
        view = self._view(a, key, site)
        if isinstance(value, (Array, tuple)):
            self.launch.fault(
                NotOnAGpu, "a kernel cannot copy a whole array or slice: write a loop over elements", site
            )
        for index in np.ndindex(view.shape):
            self.storen(view, index, value, site, visit)

    def _load_other(self, a, key, site, visit):
        if type(a) is tuple or isinstance(a, tuple):
            (i,) = key
            try:
                return a[i if isinstance(i, slice) else int(i)]
            except IndexError:
                self.launch.fault(OutOfBounds, f"index {i} lies outside a tuple of {len(a)}", site)
        if type(a) is Record:
            return self.field(a, key[0], site, visit)
        return self.launch.fault(NotOnAGpu, f"a {type(a).__name__} cannot be indexed in a kernel", site)

    def field(self, value, name, site, visit=0):
        """``record.name`` or ``record["name"]``, the field of an array of records; for anything else, the attribute."""
        if type(value) is Record:
            field = value.field(name)
            if field is not None:
                return self.loadn(field, (0,), site, visit)
        elif type(value) is Array and (field := value.field(name)) is not None:
            return field
        elif (type(value) is not Array or name in ARRAY_ATTRIBUTES) and hasattr(value, name):
            return getattr(value, name)
        return self.launch.fault(NotOnAGpu, f"{_describe(value)} has no attribute {name!r} in a kernel", site)

    def _store_field(self, record, key, value, site, visit):
        field = record.field(key[0])
        if field is None:
            self.launch.fault(NotOnAGpu, f"the record has no field {key[0]!r}", site)
        self.storen(field, (0,), value, site, visit)

    def iterate(self, values, site, visit=0):
        """``for x in values``: elements of an array are loaded one by one."""
        if type(values) is Array:
            return (self.loadn(values, (i,), site, visit) for i in range(len(values)))
        return values

    def reduce(self, a, method, site, visit=0):
        """``a.sum()`` and so on: one thread reads every element."""
        if type(a) is not Array:
            self.launch.fault(NotOnAGpu, f"a {type(a).__name__} has no method {method!r} in a kernel", site)
        values = [self.loadn(a, index, site, visit) for index in np.ndindex(a.shape)]
        return normal(getattr(np.array(values, a.data.dtype), method)())

    def reshaped(self, a, method, site, *arguments):
        """``a.reshape(...)`` and its like: another view of the same memory."""
        if type(a) is not Array:
            self.launch.fault(NotOnAGpu, f"a {type(a).__name__} has no method {method!r} in a kernel", site)
        try:
            data = getattr(a.data, method)(*arguments)
        except (TypeError, ValueError) as error:
            self.launch.fault(NotOnAGpu, f"{a.name}.{method}: {error}", site)
        if data.size and not np.shares_memory(data, a.data):
            self.launch.fault(NotOnAGpu, f"{a.name}.{method}() would copy: the array is not contiguous", site)
        return a.view_of(data)

    def note(self, a, key, site, visit, writes, size=0):
        """Record one access (traced memory only)."""

    def note_atomic(self, name, old, new, value):
        """What the atomic found that was noted last, and what it left (traced memory only)."""

    def mark(self, a, key):
        """Remember that an element of shared or local memory has been written (traced memory only)."""

    def forget(self, a, keys):
        """A copy to these elements is on its way: until `mark`, they are not written (traced memory only)."""

    def key_of(self, a, key, site):
        """The index with whole numbers as Python ints; refuses what a GPU cannot index with."""
        if len(key) == 1 and isinstance(key[0], tuple):
            key = key[0]
        if sum(k is not None and k is not Ellipsis for k in key) > a.data.ndim:
            axes = f"{a.data.ndim} ax{'i' if a.data.ndim == 1 else 'e'}s"
            self.launch.fault(NotOnAGpu, f"array {a.name!r} has {axes}, but {len(key)} indices came", site)
        for k in key:
            if isinstance(k, (bool, np.bool_)) or not (
                k is None or k is Ellipsis or isinstance(k, (int, np.integer, slice))
            ):
                self.launch.fault(
                    NotOnAGpu, f"array {a.name!r} is indexed with {k!r}: an index must be a whole number", site
                )
        return tuple(int(k) if isinstance(k, np.integer) else k for k in key)

    def _view(self, a, key, site):
        for axis, k in enumerate(key):
            if isinstance(k, int) and not 0 <= k < a.shape[axis]:
                self.launch.fault(OutOfBounds, check_index(a, (*(0,) * axis, k))[1], site)
        return a.view_of(a.data[(*key, Ellipsis) if Ellipsis not in key else key])

    def check(self, a, key, site, visit):
        wrong = check_index(a, key)
        if wrong:
            self.launch.fault(OutOfBounds, wrong[1], site)
        return True


def _is_element(a, key):
    return len(key) == a.data.ndim and not any(isinstance(k, slice) or k is None or k is Ellipsis for k in key)


def _describe(value):
    return f"array {value.name!r}" if type(value) is Array else f"a {type(value).__name__}"


POISON = 0xFF  # every byte of memory that nobody has written: nan, or all bits one


def poison(dtype, byte=POISON):
    """What unwritten memory reads as."""
    return normal(np.full(dtype.itemsize, byte, np.uint8).view(dtype)[0])


def convert(value, dtype):
    """A scalar as a store to an array of ``dtype`` converts it."""
    if dtype.names is not None or isinstance(value, np.void):
        return value
    if isinstance(value, (complex, np.complexfloating)) and dtype.kind != "c":
        raise TypeError("complex to real")
    return caster(numba_type(dtype.type))(value)
