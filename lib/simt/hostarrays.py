"""Device arrays, as the host sees them: memory of the pretended device, to be copied to and from."""

import ctypes
import itertools
import weakref

import numpy as np

# Addresses of allocations: at a multiple of 256 bytes, as on a GPU, and further apart than one is long.
_FIRST, _APART = 1 << 32, 40
_free = itertools.count(_FIRST, 1 << _APART)
_allocations = weakref.WeakValueDictionary()  # number of an allocation -> its first array


class Unwritten:
    """Which bytes of an allocation nobody has written yet; none once a launch ran that was not watched."""

    def __init__(self, data):
        self.start, self.bytes = data.__array_interface__["data"][0], np.ones(data.nbytes, bool)

    def of(self, data):
        """For each byte of each element of an array in this allocation: is it unwritten? A view."""
        offset = data.__array_interface__["data"][0] - self.start
        shape, strides = (*data.shape, data.itemsize), (*data.strides, 1)
        return np.ndarray(shape, bool, self.bytes, offset, strides)

    def forget(self):
        self.bytes = None

    def copy(self, distance):
        """The same of a copy of the allocation, ``distance`` bytes further on."""
        copied = object.__new__(Unwritten)
        copied.start, copied.bytes = self.start + distance, None if self.bytes is None else self.bytes.copy()
        return copied


class DeviceNDArray:
    """An array in device memory, with the methods of numba's. The host reads it with ``copy_to_host``."""

    def __init__(self, data, address=None, unwritten=None):
        self._data = data
        if address is None:
            address = next(_free)
            _allocations[address - _FIRST >> _APART] = data
        self._address = address
        self._unwritten = unwritten

    def _view(self, data):
        """Another array in the same allocation."""
        distance = data.__array_interface__["data"][0] - self._data.__array_interface__["data"][0]
        return DeviceNDArray(data, self._address + distance, self._unwritten)

    def _write(self, key=...):
        """The host writes some elements."""
        if self._unwritten is not None and self._unwritten.bytes is not None and self.size:
            self._unwritten.of(self._data)[key] = False

    @property
    def device_ctypes_pointer(self):
        """The address of the first element on the pretended device, as numba's arrays have it."""
        return ctypes.c_void_p(self._address if self.size else 0)

    @property
    def __cuda_array_interface__(self):
        """As numba's arrays have it. The address is one of the pretended device: `from_interface` finds the array
        there."""
        if self._unwritten is not None:  # others may write there from now on
            self._unwritten.forget()
        return {
            "shape": self.shape,
            "strides": None if self.is_c_contiguous() else self.strides,
            "data": (self.device_ctypes_pointer.value or 0, not self._data.flags.writeable),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    shape = property(lambda self: self._data.shape)
    strides = property(lambda self: self._data.strides)
    dtype = property(lambda self: self._data.dtype)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)
    nbytes = property(lambda self: self._data.nbytes)
    alloc_size = property(lambda self: self._data.nbytes)
    itemsize = property(lambda self: self._data.itemsize)
    flags = property(lambda self: {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()})
    T = property(lambda self: self.transpose())

    def __repr__(self):
        return f"<device array {self.shape} {self.dtype}: read it with .copy_to_host()>"

    def __len__(self):
        return len(self._data)

    def copy_to_host(self, ary=None, stream=0):
        """The values as a new NumPy array, or copied into ``ary`` (same shape and dtype), which is returned."""
        if ary is None:
            return self._data.copy()
        _check_same(ary, self._data, "copy_to_host")
        ary[...] = self._data
        return ary

    def copy_to_device(self, ary, stream=0):
        """Copy a host array or another device array of the same shape and dtype into this one."""
        source = ary._data if isinstance(ary, DeviceNDArray) else np.asarray(ary)
        _check_same(source, self._data, "copy_to_device")
        self._data[...] = source
        self._write()

    def is_c_contiguous(self):
        return self._data.flags.c_contiguous

    def is_f_contiguous(self):
        return self._data.flags.f_contiguous

    def reshape(self, *newshape, order="C"):
        view = self._data.reshape(*newshape, order=order)
        if not np.shares_memory(view, self._data) and view.size:
            raise NotImplementedError("reshape would require copy")
        return self._view(view)

    def ravel(self, order="C", stream=0):
        return self.reshape(-1, order=order)

    def transpose(self, axes=None):
        return self._view(self._data.transpose(axes))

    def squeeze(self, axis=None, stream=0):
        return self._view(self._data.squeeze(axis))

    def view(self, dtype):
        return self._view(self._data.view(dtype))

    def split(self, section, stream=0):
        """Pieces of ``section`` elements each, as views."""
        return [self._view(self._data[start : start + section]) for start in range(0, len(self._data), section)]

    def getitem(self, item, stream=0):
        return self[item]

    def setitem(self, key, value, stream=0):
        self[key] = value

    def __getitem__(self, item):
        part = self._data[item]
        return self._view(part) if isinstance(part, np.ndarray) and part.ndim else part

    def __setitem__(self, key, value):
        self._data[key] = value._data if isinstance(value, DeviceNDArray) else value
        self._write(key)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._data, dtype=dtype)


def on_host(arguments):
    """Whether all arrays of a launch lie on the host: then one that failed has changed nothing."""
    flat = [v for a in arguments for v in (a if isinstance(a, tuple) else (a,))]
    return not any(
        isinstance(v, MappedArray)
        or hasattr(type(v), "__cuda_array_interface__")
        or "__cuda_array_interface__" in getattr(v, "__dict__", ())
        for v in flat
    )


def _check_same(a, b, what):
    if a.shape != b.shape:
        raise ValueError(f"{what}: incompatible shape {a.shape} vs. {b.shape}")
    if a.dtype != b.dtype:
        raise TypeError(f"{what}: incompatible dtype {a.dtype} vs. {b.dtype}")


def to_device(obj, stream=0, copy=True, to=None):
    """Copy a NumPy array (or scalar) to the device. ``to``: an existing device array to copy into."""
    if isinstance(obj, DeviceNDArray):
        return obj
    data = np.asarray(obj)
    if data.dtype.hasobject:
        raise TypeError(f"an array of {data.dtype} cannot be copied to the device")
    if to is not None:
        to.copy_to_device(data)
        return to
    if not (data.flags.c_contiguous or data.flags.f_contiguous):
        raise ValueError(
            "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
            "Please ensure contiguous buffer with numpy.ascontiguousarray()"
        )
    return DeviceNDArray(np.array(data, order="A", copy=True))


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    """An array on the device, not initialised: poisoned with nan, or -1, so that reading it shows."""
    data = np.empty(shape, _dtype(dtype), order=order)
    if data.size:
        np.asarray(data).ravel(order="K").view(np.uint8)[:] = 0xFF
    return DeviceNDArray(data, unwritten=Unwritten(data) if data.size else None)


def device_array_like(ary, stream=0):
    """A device array of the same shape, dtype and order."""
    return device_array(**_as(ary))


def _as(ary):
    """Shape, dtype and order of what is made like an array; of a part of one, the order is the whole's, as in numba."""
    data = ary._data if isinstance(ary, DeviceNDArray) else np.asarray(ary)
    like = data if 0 in data.strides else np.empty_like(data)
    order = "F" if like.flags.f_contiguous and not like.flags.c_contiguous else "C"
    return {"shape": data.shape, "dtype": data.dtype, "order": order}


def pinned_array(shape, dtype=np.float64, strides=None, order="C"):
    """A host array. (Pinned memory only changes how fast a GPU copies.)"""
    return np.empty(shape, _dtype(dtype), order=order)


def pinned_array_like(ary):
    return np.empty(**_as(ary))


class MappedArray(np.ndarray):
    """Host memory that kernels use directly, without a copy."""


def mapped_array(shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    """Host memory that kernels read and write in place. Also ``managed_array``."""
    return np.zeros(shape, _dtype(dtype), order=order).view(MappedArray)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    return mapped_array(**_as(ary))


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    return mapped_array(shape, dtype, order=order)


def _dtype(dtype):
    from .numbers import numpy_dtype

    try:
        return np.dtype(dtype)
    except TypeError:
        return numpy_dtype(dtype)


def from_interface(array):
    """The array of this module that an object of another library stands for (``__cuda_array_interface__``); TypeError
    for one that lies on a real GPU."""
    interface = array.__cuda_array_interface__
    address, readonly = interface["data"]
    shape, dtype = interface["shape"], np.dtype(interface["typestr"])
    if not address:
        return DeviceNDArray(np.zeros(shape, dtype))
    allocation = _allocations.get(address - _FIRST >> _APART) if address >= _FIRST else None
    if allocation is None:
        raise TypeError(
            f"a {type(array).__name__} lives on a GPU ({type(array).__module__}): make it with the same `cuda` as the "
            "kernel"
        )
    address += allocation.__array_interface__["data"][0] - _FIRST - (address - _FIRST >> _APART << _APART)
    data = np.asarray(_Pointed(allocation, {**interface, "data": (address, readonly)}))
    distance = data.__array_interface__["data"][0] - allocation.__array_interface__["data"][0]
    return DeviceNDArray(data, interface["data"][0] if distance >= 0 else None)


class _Pointed:
    """For NumPy: memory of an array that stays as long as the view of it."""

    def __init__(self, owner, interface):
        self.owner, self.__array_interface__ = owner, {k: v for k, v in interface.items() if k != "stream"}
