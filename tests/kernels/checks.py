"""One way to check a rung: run it on the arguments of an example, compare with float64, see that no input changed."""

import contextlib
import itertools
import zlib

import numpy as np

from dlkernels import cuda, implementations
from dlkernels.device import is_device_array
from dlkernels.device import name as device_name
from simt import policy


def arrays_of(x):
    """The results of an operation, one or several, as a tuple; those in a tuple of their own one after the other.

    None, in the place of a result that a call has not, is left out.
    """
    if isinstance(x, tuple):
        return tuple(each for one in x if one is not None for each in arrays_of(one))
    return (x,)


def mapped(change, x):
    """An argument with `change` made to it if it is an array, or to each array of it if it is a tuple of them."""
    if isinstance(x, tuple):
        return tuple(mapped(change, one) for one in x)
    return change(x) if isinstance(x, np.ndarray) or is_device_array(x) else x


def seed_of(*key):
    return zlib.crc32(repr(key).encode())


def flushes(function, operation, dtype, device):
    """Whether the rung, or the one that the public function takes, adds float32 by atomics in global memory."""
    if device and not isinstance(function, implementations.Implementation):
        function = implementations.public_rung(operation.name, "gpu", dtype)
    return getattr(function, "flushes", False)


def expected_of(operation, arguments, flushes=False):
    """The float64 results of the reference, and how far each element may be from them.

    flushes: for a rung that adds by atomics. On a GPU each number below the smallest normal one may be lost there, be
    it one of the terms of a sum, or the sum so far: not both in one addition, since a term that is nothing changes no
    sum.
    """
    with np.errstate(all="ignore"):
        expected = operation.reference(*arguments)
        results = arrays_of(expected)
        kind = np.dtype(results_dtype(operation, arguments))
        eps = np.finfo(kind).eps if kind.kind == "f" else 0
        allowed = operation.examples.allowed(arguments, expected, eps)
        smallest = np.finfo(kind).tiny if kind.kind == "f" else 0
        allowed = [x + smallest for x in arrays_of(allowed)]
        if flushes:
            terms = arrays_of(operation.examples.terms(arguments))
            allowed = [x + count * smallest for x, count in zip(allowed, terms, strict=True)]
    assert len(allowed) == len(results), f"{operation.name}: {len(results)} results, {len(allowed)} allowed errors"
    return results, allowed


def results_dtype(operation, arguments):
    """The dtype of what the operation returns."""
    return operation.prepare(*arguments)[-1].dtype


def on_device(x, layout="contiguous"):
    """A device array with the values of x and a layout as in `examples.Draw`."""
    if x.ndim == 0 or layout in ("contiguous", "read-only"):
        return cuda.to_device(np.asarray(x, order="C"))
    if layout == "offset":
        room = np.zeros(x.size + 1, x.dtype)
        room[1:] = x.reshape(-1)
        return cuda.to_device(room)[1:].reshape(*x.shape)
    if layout == "strided":
        room = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
        room[..., 1::2] = x
        return cuda.to_device(room)[..., 1::2]
    if layout == "reversed":
        return cuda.to_device(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
    return cuda.to_device(np.asfortranarray(x))


def check(function, operation, arguments, device=False, **options):
    """function(*arguments, **options) against the reference. Returns what came.

    device: hand over arrays in device memory, and expect such; True, or their layouts, one after the other. An input
    may not change, unless it is `out`.
    """
    arguments = tuple(arguments)
    before = mapped(np.copy, arguments)
    dtype = results_dtype(operation, arguments)
    results, allowed = expected_of(operation, arguments, flushes(function, operation, dtype, device))
    given = arguments
    if device:
        layouts = itertools.cycle(["contiguous"] if device is True else device)
        given = mapped(lambda x: on_device(x, next(layouts)), arguments)
    with np.errstate(all="ignore"), engine_for(operation):
        came = function(*given, **options)
    name = getattr(function, "name", getattr(function, "__name__", "?"))
    assert len(arrays_of(came)) == len(results), f"{name} returned {type(came).__name__}"
    for got, expected, most in zip(arrays_of(came), results, allowed, strict=True):
        if device:
            assert is_device_array(got), f"{name} was given device arrays and returned {type(got).__name__}"
            got = got.copy_to_host()
        indices = (
            len(results) > 1 and np.asarray(expected).dtype.kind in "iu"
        )  # beside numbers, such as where they stand
        compare(got, expected, most, expected.dtype if indices else dtype, f"{name}{shapes_of(arguments)}")
    changed = arrays_of(options.get("out"))
    for number, (x, kept) in enumerate(zip(arrays_of(given), arrays_of(before), strict=True)):
        if isinstance(kept, np.ndarray) and not any(x is one for one in changed):
            now = x.copy_to_host() if device else x
            np.testing.assert_array_equal(now, kept, err_msg=f"{name} changed its argument {number}")
    return came


def is_out(came, out):
    """Whether what came is what was given as `out`: the array, or all of a tuple."""
    return all(one is place for one, place in zip(arrays_of(came), arrays_of(out), strict=True))


def engine_for(operation):
    """Kernels for tensor cores are compiled for the CPU in 20 seconds: where a test names no engine, small calls run at
    once."""
    tensor_cores = any(row.capability for row in implementations.of(operation.name, "gpu"))
    stand_in = device_name == "executor" and policy.current() == "auto"
    return cuda.engine("executor") if tensor_cores and stand_in else contextlib.nullcontext()


def shapes_of(arguments):
    """The shapes of all arrays among arguments."""
    return [np.shape(x) for x in arrays_of(tuple(arguments)) if isinstance(x, np.ndarray)]


def compare(got, expected, allowed, dtype, name):
    """Shape, dtype, what is not finite to the letter, and all else within what is allowed."""
    assert isinstance(got, np.ndarray), f"{name} gave {type(got).__name__}"
    assert got.dtype == dtype, name
    assert got.shape == np.shape(expected), name
    if not got.size:
        return
    with np.errstate(all="ignore"):
        rounded = np.asarray(expected).astype(dtype)
        finite = np.isfinite(rounded)
        np.testing.assert_array_equal(got[~finite], rounded[~finite], err_msg=name)
        wrong = finite & ~(np.abs(got.astype(np.longdouble) - expected) <= allowed)
    places = np.argwhere(wrong)
    if len(places):
        first = tuple(places[0])
        most = np.broadcast_to(allowed, got.shape)[first]
        raise AssertionError(
            f"{name}: {len(places)} of {got.size} wrong, first at {first}: {got[first]}, expected "
            f"{np.asarray(expected)[first]}, allowed error {most:.2g}"
        )


def dtypes_for(row):
    """The dtypes of arguments with which a rung can be called."""
    operation = implementations.OPERATIONS[row.operation]
    small = min(operation.examples.shapes, key=np.prod)
    for dtype in operation.examples.dtypes:
        if str(results_dtype(operation, operation.examples.make(small, dtype=dtype))) in row.dtypes:
            yield dtype


def takes_out(operation):
    return "out" in operation.prepare.__code__.co_varnames[: operation.prepare.__code__.co_argcount]


def masks(queries, keys):
    """Of each kind: for all queries, for each, one term for all, nobody; with rows and tiles in which nobody may
    look."""
    draw = np.random.default_rng(5)
    which = draw.random((queries, keys)) < 0.5
    which[3], which[:, 64:] = False, False
    terms = np.where(which, draw.standard_normal((queries, keys)), -np.inf).astype(np.float32)
    return which, terms, terms[:1], which[:1], np.full((1, 1), 2, np.float32), np.zeros((1, 1), bool)
