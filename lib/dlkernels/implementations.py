"""The table of every implementation in the library: operation, device, rung, what it adds, its limits.

An operation is declared once, by the function that checks and prepares its arguments, with its float64 reference and
with examples of how it is called (examples.py)::

    @operation("add", reference.add, Examples(...))
    def _prepare_add(a, b, out=None):
        ...check, allocate...
        return a, b, out

and each rung of its ladder is one function with a decorator, in the order in which it is taught::

    @implementation("add", device="cpu", adds="all cores: one contiguous part of the array per thread", public=True)
    def add_parallel(a, b, out): ...

That is all: the rung is then listed (`of`), tested against the reference at every size, layout and kind of value of the
examples, on host and device arrays, by both engines, by numba's simulator and by the compiler for real GPUs, and timed.

Checks take longer than the product of two small matrices. So an operation may declare a short way,
``quick=function``, which its public function tries before `call`: from the same arguments it makes the very result
that `call` would, or returns None for what it does not take. An error that it raises is the one of `call`, too.

On a GPU the same holds for any operation on device arrays. Where what is prepared follows from shapes, dtypes and
numbers, not from the elements of an array, the operation says ``by_shape=True``: `call` then checks the first call with
such arguments, and keeps what it found for those that follow (`Plan`).

Gradients. Each operation names its backward, or says why it has none (`no_backward`). A backward is one of two things:

- another operation of the table, declared with ``backward_of="matmul"``: ``matmul_backward(grad, a, b)`` returns the
  gradients of the arrays among its arguments, in that order;
- where other operations of the table do already, a function that calls them and returns {argument: gradient}:
  ``backward=lambda grad: {"a": grad, "b": grad}`` for add.

Its parameters say what is to be kept of the forward call beside grad (`Operation.keeps`): arguments of that call, by
their names, and results, by theirs (`results`). So a tape differentiates any operation without knowing it::

    out, sums = attention_with_sums(q, k, v)
    kept = keep("attention_with_sums", (out, sums), q, k, v)      # {"q": q, ..., "result": out, "sums": sums, ...}
    gradients("attention_with_sums", (grad, None), kept)          # {"q": ..., "k": ..., "v": ...}

Results that are written into arguments, as an optimiser's, are `Several`: the last of what `prepare` returns.

grad has the shape and dtype of the result; of an operation with several `results` it is a tuple, one for each, None
for zeros. A gradient has the shape and dtype of its argument: what was broadcast is summed. An argument that is a tuple
of arrays, as the weights of several layers, has a tuple of gradients. None, numbers, names, arrays of whole numbers and
the operation's `constants`, as a mask, have none; where a result is a constant, None arrives. A gradient may be grad
itself, or share memory with it: nobody may write into one.

Who wants the gradients of some arguments only names them: ``gradients(name, grad, kept, wanted=("weight", "bias"))``.
The others are None. A backward whose gradients cost much by themselves, as of a convolution's pictures, then leaves
them out: it says ``partial=function``, which takes `wanted` before the backward's arguments and returns what the
backward would, bit for bit, with None for what is not wanted; or None in all for arguments that it does not take.
"""

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from . import FOLDERS
from . import device as device_module
from .device import cuda, is_device_array
from .examples import Examples
from .launches import DEVICE_ARRAY, device_array
from .layouts import address, as_host, contiguous, copy

DEVICES = ("cpu", "gpu")
LIBRARY = Path(__file__).resolve().parent.parent


class Several(tuple):
    """Arrays that are one argument of a rung, or the results into which it writes: each an array, a tuple, or None, but
    the first is not."""

    @property
    def arrays(self):
        """All of them, one after the other."""
        return [array for item in self for array in (item if isinstance(item, tuple) else (item,)) if array is not None]

    @property
    def first(self):
        return self[0][0] if isinstance(self[0], tuple) else self[0]

    @property
    def dtype(self):
        return self.first.dtype


@dataclass(frozen=True)
class Operation:
    """What all implementations of one operation share."""

    name: str
    prepare: Callable  # the user's arguments -> the tuple that every rung takes, or ValueError / TypeError
    reference: Callable  # same arguments as the public function; NumPy, float64
    examples: Examples
    quick: Callable | None = None  # a short way to the result of `call`, or None for what it does not take
    backward: str | Callable | None = None  # what computes its gradients: an operation by name, or a function of such
    results: tuple = ()  # their names, where it has several
    constants: tuple = ()  # arrays among its arguments that get no gradient, and results that none comes from
    no_backward: str = ""  # why it has none
    backward_of: str | None = None  # the operation whose gradients it computes
    by_shape: bool = False  # what is prepared follows from shapes, dtypes and numbers; a new result is not set
    partial: Callable | None = None  # of a backward: the wanted gradients only, or None for what it does not take
    slope_of: Callable | None = (
        None  # the function whose slope its gradient is, where the reference itself is a staircase
    )

    @property
    def function(self):
        """What users call."""
        return _public(self.name)

    @property
    def keeps(self):
        """What of the forward call the backward takes beside grad: names of arguments and results."""
        if self.backward is None:
            return ()
        return tuple(name for name in list(_signature(_backward(self)).parameters)[1:] if name != "out")


@dataclass(frozen=True)
class Implementation:
    """One rung of a ladder. Call it like the public function of its operation.

    ``limits`` says in words what it cannot do (shapes, sizes, hardware); ``largest`` is the number of elements
    beyond which nobody would wait for it (None: no bound); ``kernels`` are the CUDA kernels it launches, each
    with the numba signatures under which it is compiled for GPUs without one. ``public``: the operation's function
    takes it; of several, the last one that has the dtype. ``capability``: the oldest GPU that has its instructions,
    such as (8, 0), and ``instead`` what to use on an older one. ``flushes``: it adds float32 by atomics in global
    memory, where a GPU takes subnormal numbers for zeros: with each number that is added, a result may lose up to the
    smallest normal one.

    On a GPU a rung gets C-contiguous arrays: what is not was copied before (`run`). It need not begin at a multiple of
    16 bytes, as a slice of a device array may not.
    """

    operation: str
    device: str
    name: str
    rung: int
    adds: str
    function: Callable = field(repr=False)
    dtypes: tuple = ("float32",)
    limits: str = ""
    largest: int | None = None
    kernels: tuple = ()
    public: bool = False
    capability: tuple | None = None
    instead: str = ""
    flushes: bool = False

    def __call__(self, *args, **kwargs):
        prepared = _OPERATIONS[self.operation].prepare(*args, **kwargs)
        return run(self, prepared)

    @property
    def source(self):
        """The rung's source text, with the kernels it launches."""
        parts = [kernel for kernel, _ in self.kernels] + [self.function]
        return "\n\n".join(inspect.getsource(getattr(part, "py_func", part)) for part in parts)

    @property
    def place(self):
        """Where it stands: "lib/dlkernels/vector/cpu.py:24". A GPU's rung: its first kernel."""
        launched = self.kernels[0][0] if self.kernels else self.function
        function = inspect.unwrap(getattr(launched, "py_func", launched))
        path = Path(inspect.getsourcefile(function)).resolve()
        shown = path.relative_to(LIBRARY.parent) if path.is_relative_to(LIBRARY) else Path(path.name)
        return f"{shown.as_posix()}:{function.__code__.co_firstlineno}"

    @property
    def card(self):
        """What a link to a GPU's rung in the gallery ends with."""
        return f"card-{self.name}"


_OPERATIONS = {}  # of the folders that were imported
_LADDERS = {}
_plans = {}  # of calls on device arrays that were checked before


def __getattr__(name):
    if name == "OPERATIONS":  # {name: Operation}, all that there are
        return _all_operations()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _all_operations():
    """The operations of all folders, in the order of these whichever was imported first."""
    _import_all()
    return _OPERATIONS


@functools.cache
def _import_all():
    """The one import that goes up, from the table to what is in it: by name, and only when the whole table is asked
    for."""
    global _OPERATIONS
    order = list(FOLDERS)
    for folder in order:
        importlib.import_module(f".{folder}", __package__)

    def place(operation):
        folder = operation.prepare.__module__.removeprefix(f"{__package__}.").split(".")[0]
        return order.index(folder) if folder in order else len(order)

    _OPERATIONS = {operation.name: operation for operation in sorted(_OPERATIONS.values(), key=place)}


def operation(
    name,
    reference,
    examples,
    quick=None,
    backward=None,
    results=(),
    constants=(),
    no_backward="",
    backward_of=None,
    by_shape=False,
    partial=None,
    slope_of=None,
):
    """Declare an operation; the decorated function prepares its arguments (see the module's docstring).

    backward_of: the name of the operation, declared before, of which this one is the gradient: it takes grad and what
    is kept, and returns the gradients of the arrays among the forward's arguments. Where several results of the forward
    have a gradient, grad is a tuple, one for each, or None.
    backward: for others that share a backward, its name; or a function. All else: see `Operation`.
    """
    if backward_of is not None and backward_of not in _OPERATIONS:
        raise ValueError(f"{name} is the backward of {backward_of!r}, which is not declared")

    def declare(prepare):
        _OPERATIONS[name] = Operation(
            name,
            prepare,
            reference,
            examples,
            quick,
            backward,
            tuple(results),
            tuple(constants),
            no_backward,
            backward_of,
            by_shape,
            partial,
            slope_of,
        )
        _plans.clear()
        if backward_of is not None:
            _OPERATIONS[backward_of] = replace(_OPERATIONS[backward_of], backward=name)
        return prepare

    return declare


def implementation(
    of,
    device,
    adds,
    dtypes=("float32", "float64"),
    limits="",
    largest=None,
    kernels=(),
    public=False,
    capability=None,
    instead="",
    flushes=False,
):
    """Put the decorated function into the table as the next rung of operation `of` on `device`.

    The function takes what the operation's `prepare` returns, as keyword-free positional arguments, and
    writes into the last one or returns its result. `kernels`: pairs ``(kernel, [signature, ...])``.
    """
    if of not in _OPERATIONS:
        raise ValueError(f"operation {of!r} is not declared; declared are {', '.join(sorted(_OPERATIONS))}")
    if device not in DEVICES:
        raise ValueError(f"device is {device!r}; expected 'cpu' or 'gpu'")

    def put(function):
        ladder = _LADDERS.setdefault((of, device), [])
        if any(rung.name == function.__name__ for rung in ladder):
            raise ValueError(f"{of} has an implementation named {function.__name__} on {device} already")
        row = (of, device, function.__name__, len(ladder) + 1, adds, function, tuple(dtypes), limits, largest)
        ladder.append(Implementation(*row, tuple(kernels), public, capability, instead, flushes))
        public_rung.cache_clear()
        _plans.clear()
        return function

    return put


def of(name, device=None):
    """The ladder of operation `name` in teaching order: on `device` ("cpu" or "gpu"), or CPU then GPU."""
    if name not in _OPERATIONS and name not in _all_operations():  # its rungs stand in its folder
        raise ValueError(f"no operation is called {name!r}; there are {', '.join(sorted(_OPERATIONS))}")
    if device is not None and device not in DEVICES:
        raise ValueError(f"device is {device!r}; expected 'cpu', 'gpu' or None")
    return [rung for d in DEVICES if device in (None, d) for rung in _LADDERS.get((name, d), [])]


def everything():
    """All implementations, operation by operation."""
    return [rung for name in _all_operations() for rung in of(name)]


def run(rung, arguments):
    """Run `rung` on prepared arguments.

    For a GPU rung host arrays travel to the device, and results back; device arrays that are not contiguous are copied
    there, and a result into `out`.
    """
    if rung.device == "cpu":
        return rung.function(*arguments)
    _check_capability(rung)
    there = [_on_device(x) for x in arguments]
    result, out = rung.function(*there), arguments[-1]
    stays = _in_device_memory(arguments)
    if result is not there[-1]:
        if stays:
            return result
        return _home(result)
    for array, target in zip(result.arrays, out.arrays, strict=True) if type(out) is Several else ((result, out),):
        if not stays:
            target[...] = array.copy_to_host()
        elif array is not target:
            copy(array, target)
    return out


def _in_device_memory(arguments):
    """Whether a call on these prepared arguments belongs to the GPU: arrays lie in one place, and the last is one."""
    last = arguments[-1]
    return is_device_array(last.first if type(last) is Several else last)


def _on_device(x):
    """An argument as a GPU rung takes it."""
    if type(x) is Several:
        return Several(tuple(map(_on_device, item)) if isinstance(item, tuple) else _on_device(item) for item in x)
    if is_device_array(x):
        return contiguous(x)
    return cuda.to_device(np.asarray(x, order="C")) if isinstance(x, np.ndarray) else x


def _home(result):
    """A result of a GPU rung on the host: an array, or a tuple of such results."""
    return tuple(map(_home, result)) if isinstance(result, tuple) else as_host(result)


def _check_capability(rung):
    capability = device_module.compute_capability() if rung.capability else None
    if capability and capability < rung.capability:
        needs, has = (".".join(map(str, version)) for version in (rung.capability, capability))
        raise ValueError(
            f"{rung.name} needs a GPU of compute capability {needs} or newer; this one has {has}. {rung.instead}"
        )


def call(name, *args):
    """Prepare `args` and run the public rung for them: on the GPU for device arrays, else on the CPU."""
    operation = _OPERATIONS[name]
    key = _key(operation, args) if operation.by_shape and np.ndarray not in map(type, args) else None
    plan = _plans.get(key) if key else None
    if plan:
        return plan.run(args)
    arguments = operation.prepare(*args)
    device = "gpu" if _in_device_memory(arguments) else "cpu"
    rung = public_rung(name, device, arguments[-1].dtype)
    result = run(rung, arguments)
    if key:
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        _plans[key] = Plan.of(rung, args, arguments)
    return result


# ---- calls that were checked before ----------------------------------------------------------------------------------

MOST_PLANS = 1024  # beyond, all are forgotten: who calls with that many shapes waits for the checks again
SIMPLE = (type(None), bool, int, str)


@dataclass(frozen=True, slots=True)
class Plan:
    """What `prepare` makes of arguments of certain shapes, and the rung that takes it."""

    rung: Implementation
    parts: tuple  # for each prepared argument: (its index in the call or None, a shape or the value, dtype or None)

    @classmethod
    def of(cls, rung, arguments, prepared):
        where = {id(x): k for k, x in reversed(list(enumerate(arguments))) if type(x) is DEVICE_ARRAY}
        parts = tuple(
            (where[id(x)], None, None)
            if id(x) in where
            else (None, tuple(x.shape), x.dtype)
            if type(x) is DEVICE_ARRAY
            else (None, x, None)
            for x in prepared
        )
        return cls(rung, parts)

    def run(self, arguments):
        _check_capability(self.rung)
        return self.rung.function(
            *[
                arguments[index] if index is not None else value if dtype is None else device_array(value, dtype)
                for index, value, dtype in self.parts
            ]
        )


def _key(operation, args):
    """What a plan depends on; None where there is none: arrays with strides, and an `out` that shares memory."""
    key, seen = [operation.name], {}
    for k, x in enumerate(args):
        kind = type(x)
        if kind is DEVICE_ARRAY:
            if not x.is_c_contiguous():
                return None
            key += x.shape, x.dtype, seen.setdefault(id(x), k)
        elif kind in SIMPLE or (kind is float and x) or (kind is tuple and all(type(item) is int for item in x)):
            key += kind, x  # True is no 1, and -0.0 not 0.0
        else:
            return None
    index = _place_of_out(operation.prepare)
    if index is not None and args[index] is not None:
        out = args[index]
        if not all(_apart(out, args[k]) for k in seen.values() if args[k] is not out):
            return None
    return tuple(key) if seen else None


@functools.cache
def _place_of_out(prepare):
    """Where `out` stands among the arguments; None where there is none."""
    names = list(_signature(prepare).parameters)
    return names.index("out") if "out" in names else None


def _apart(x, y):
    x_start, y_start = address(x), address(y)
    return x_start + x.nbytes <= y_start or y_start + y.nbytes <= x_start


@functools.cache
def public_rung(name, device, dtype):
    """The rung that the operation's function takes for results of `dtype`; TypeError where there is none."""
    public = [rung for rung in _LADDERS.get((name, device), []) if rung.public]
    fitting = [rung for rung in public if str(dtype) in rung.dtypes]
    if not fitting:
        known = " or ".join(sorted({known for rung in public for known in rung.dtypes}))
        cure = f"expected {known}. Convert the arrays" if known else "expected host memory"
        cure += ", or use x.copy_to_host() and the CPU" if device == "gpu" else ""
        raise TypeError(f"{name} has no {device} implementation for {dtype}; {cure}.")
    return fitting[-1]


# ---- gradients -------------------------------------------------------------------------------------------------------

_signature = functools.cache(inspect.signature)


def _public(name):
    return getattr(sys.modules[__package__], name)


def _backward(operation):
    """The function that computes its gradients."""
    return _public(operation.backward) if isinstance(operation.backward, str) else operation.backward


def _differentiable(name):
    _public(name)  # which brings its folder
    operation = _OPERATIONS[name]
    if operation.backward is None:
        raise ValueError(f"{name} has no backward: {operation.no_backward or 'it computes gradients itself'}.")
    return operation


def bound(function, arguments, named, defaults=False):
    """{parameter: value} of a call that went well, as inspect's `bind` has it, which takes as long as a small
    kernel."""
    names, values = _names(function)
    if names is None:
        call = _signature(function).bind(*arguments, **named)
        if defaults:
            call.apply_defaults()
        return call.arguments
    passed = dict(zip(names, arguments, strict=False)) | named
    return values | passed if defaults else passed


@functools.cache
def _names(function):
    """(names, {name: default}) of a function's parameters; (None, None) where some take any number of arguments."""
    parameters = _signature(function).parameters.values()
    if any(parameter.kind is not parameter.POSITIONAL_OR_KEYWORD for parameter in parameters):
        return None, None
    defaults = {
        parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty
    }
    return tuple(parameter.name for parameter in parameters), defaults


def keep(name, result, *arguments, **named):
    """What `gradients` needs of the call ``result = name(*arguments, **named)``: {name: value}. All else can go."""
    operation = _differentiable(name)
    there = bound(operation.function, arguments, named, defaults=True)
    results = zip(operation.results, result, strict=True) if operation.results else ()
    there |= dict(results)
    return {name: there[name] for name in operation.keeps}


def gradients(name, grad, kept, wanted=None):
    """{argument: its gradient} of operation `name`, given the gradient of its result and what `keep` returned.

    wanted: names of arguments; the gradients of others are None. None: all are wanted. The module's docstring says what
    grad and gradients are.
    """
    operation = _differentiable(name)
    grad, found = _arriving(operation, grad), None
    if wanted is not None and isinstance(operation.backward, str):
        partial = _OPERATIONS[operation.backward].partial
        found = partial(wanted, grad, **kept) if partial else None
    if found is None:
        found = _backward(operation)(grad, **kept)
    if not isinstance(found, dict):
        fixed = {*operation.results, *operation.constants}
        moving = [name for name, value in kept.items() if name not in fixed and _has_gradient(value)]
        found = dict(zip(moving, found if isinstance(found, tuple) else (found,), strict=True))
    return found if wanted is None else {name: gradient if name in wanted else None for name, gradient in found.items()}


def _arriving(operation, grad):
    """grad as the backward takes it: of several results, of those that have a gradient."""
    if not operation.results:
        return grad
    told = ", ".join(operation.results)
    if not isinstance(grad, tuple) or len(grad) != len(operation.results):
        raise ValueError(f"grad is no tuple of {len(operation.results)}; expected the gradients of {told}, or None.")
    of = dict(zip(operation.results, grad, strict=True))
    for result in operation.results:
        if result in operation.constants and of.pop(result) is not None:
            raise ValueError(
                f"{operation.name} has no gradient by way of {result}; expected None in its place ({told})."
            )
    return tuple(of.values()) if len(of) > 1 else next(iter(of.values()))


def _has_gradient(x):
    """Whether an argument is an array of floats, or a sequence of such."""
    if isinstance(x, tuple | list):
        return any(_has_gradient(item) for item in x)
    return (isinstance(x, np.ndarray) or is_device_array(x)) and x.dtype.kind == "f"
