"""Arguments of an optimiser: groups of arrays (parameters, gradients, states), and where the results go.

A group is one array, or a tuple of arrays. All groups of a call have the same form; the k-th arrays of all groups have
one shape. A result may be written over the argument that it replaces, since each element is read before it is
written, and over no other array.
"""

import ctypes
import weakref

import numpy as np

from ..arguments import float_array, one_place, output, overlap
from ..device import is_device_array
from ..implementations import Several
from ..layouts import memory

_known = {}  # {id of an array: (a weak reference to it, where it lies)}


def address(x):
    """Where a NumPy array lies. NumPy takes microseconds to say so, for each array of each step. And arrays stay there:
    none that has a weak reference can be resized."""
    known = _known.get(id(x))
    if known is None or known[0]() is not x:
        number = id(x)
        known = _known[number] = weakref.ref(x, lambda gone: _forget(number, gone)), x.ctypes.data
    return known[1]


def address_of_result(x):
    """As `address` of a contiguous array with elements. One that is new is gone after the step: it isn't remembered."""
    known = _known.get(id(x))
    return known[1] if known and known[0]() is x else ctypes.addressof(ctypes.c_char.from_buffer(x))


def _forget(number, gone):
    if (known := _known.get(number)) and known[0] is gone:  # else another array has the number now
        del _known[number]


def gather(groups, out, replaced, single=()):
    """(groups as a tuple of tuples of arrays, results as `Several` in the form in which they came).

    groups: {name: an array, a tuple or list of arrays, or None}; the first is not None. out: None, or a tuple with an
    entry for each of `single` and of `replaced`, in this order. replaced: the names of the groups that the results
    replace. single: names of results that are one array of no dimensions.
    """
    names = list(groups)
    several = isinstance(groups[names[0]], tuple | list)
    lists = {name: _arrays(name, group, several, names[0]) for name, group in groups.items()}
    first = lists[names[0]]
    if not first:
        raise ValueError(f"{names[0]} is empty; expected at least one array.")
    for name, arrays in lists.items():
        if arrays is None:
            continue
        if len(arrays) != len(first):
            raise ValueError(f"{name} has {len(arrays)} arrays, but {names[0]} has {len(first)}; expected as many.")
        for k, (x, p) in enumerate(zip(arrays, first, strict=True)):
            _check_one(name, k, several, x, p, first[0], names[0])
    wanted = (*single, *replaced)
    if out is not None and (not isinstance(out, tuple | list) or len(out) != len(wanted)):
        raise TypeError(
            f"out is {type(out).__name__}; expected None or a tuple: ({', '.join(wanted)}), None for new ones."
        )
    given = dict(zip(wanted, out or (None,) * len(wanted), strict=True))
    results = {name: _single(name, given[name], first[0]) for name in single}
    for name in replaced:
        results[name] = _outputs(name, given[name], lists.get(name), first, several)
    if out is not None:
        _refuse_overlaps(lists, results, replaced)
    form = [x if name in single or several or x is None else x[0] for name, x in results.items()]
    return tuple(None if one is None else tuple(one) for one in lists.values()), Several(form)


def as_tuple(result):
    """A result, an array or a tuple of such, as a tuple."""
    return result if isinstance(result, tuple) or result is None else (result,)


def _arrays(name, group, several, leading):
    if group is None:
        return None
    if isinstance(group, tuple | list) != several:
        form = "a tuple of arrays" if several else "one array"
        raise TypeError(f"{name} is a {type(group).__name__}; expected {form}, as {leading} is.")
    return group if several else (group,)


def _label(name, k, several):
    return f"{name}[{k}]" if several else name


def _check_one(name, k, several, x, p, like, leading):
    """Raise unless x is an array as p, of the dtype and in the memory of `like`."""
    label = _label(name, k, several)
    if type(x) is not np.ndarray or x.dtype is not like.dtype or type(like) is not np.ndarray:
        float_array(label, x)
        if x is not like:
            one_place(**{_label(leading, 0, several): like, label: x})
        if x.dtype != like.dtype:
            raise TypeError(f"{label} has dtype {x.dtype}; expected {like.dtype}, as of {_label(leading, 0, several)}.")
    if x.shape != p.shape:
        shape = tuple(p.shape)
        raise ValueError(f"{label} has shape {tuple(x.shape)}; expected {shape}, as of {_label(leading, k, several)}.")


def _single(name, out, like):
    """Where a number goes."""
    return output(out, (), like.dtype, **{name: like})


def _outputs(name, out, arguments, first, several):
    """The arrays of one result."""
    if out is None:
        return tuple(output(None, p.shape, p.dtype, p=p) for p in first)
    given = _arrays(f"out's {name}", out, several, name)
    if len(given) != len(first):
        raise ValueError(f"out's {name} has {len(given)} arrays; expected {len(first)}.")
    for k, (x, p) in enumerate(zip(given, first, strict=True)):
        if arguments is None or x is not arguments[k]:
            output(x, p.shape, p.dtype, p=x if is_device_array(x) == is_device_array(p) else p)
        elif not is_device_array(x) and not x.flags.writeable:
            raise ValueError(f"out's {_label(name, k, several)} is read-only; expected an array that can be written.")
    return tuple(given)


def _refuse_overlaps(lists, results, replaced):
    """Raise where a result shares memory with anything but the argument that it replaces."""
    written, read = [], []
    for name, arrays in results.items():
        written += [(f"out's {name}", x) for x in (arrays if isinstance(arrays, tuple) else (arrays,)) if x is not None]
    for name, arrays in lists.items():
        for k, x in enumerate(arrays or ()):
            result = results[name][k] if name in replaced else None
            if result is None or not (result is x or _same_view(result, x)):
                read.append((name, x))
    low, high = np.array([_bounds(x) for _, x in written + read], np.int64).T
    order = np.argsort(low, kind="stable")
    if (low[order][1:] < np.maximum.accumulate(high[order])[:-1]).any():
        _name_overlap(written, read)


def _name_overlap(written, read):
    for number, (name, x) in enumerate(written):
        for other, y in written[number + 1 :] + read:
            if overlap(x, y):
                raise ValueError(
                    f"{name} shares memory with {other}; expected separate memory for each array, or the very argument "
                    "that the result replaces. An array that is given twice would be changed twice."
                )


def _bounds(x):
    """(first byte, last byte + 1); nothing where an array is empty, or where numba's simulator does not say."""
    if type(x) is np.ndarray and x.flags.c_contiguous:
        first = address(x) if x.size else 0
        return first, first + x.nbytes
    x = memory(x)
    return (0, 0) if x is None or x.size == 0 else np.lib.array_utils.byte_bounds(x)


def _same_view(x, y):
    x, y = memory(x), memory(y)
    if x is None or y is None:
        return False
    return x.ctypes.data == y.ctypes.data and x.strides == y.strides and x.shape == y.shape
