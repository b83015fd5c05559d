"""The types that each name of ``numba.cuda`` takes in a kernel, as numba-cuda has them."""

import math

from numba.core import types
from numba.core.errors import RequireLiteralValue, TypingError
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    CallableTemplate,
    ConcreteTemplate,
    Registry,
    bound_function,
    signature,
)

from ..source.names import NAMES
from ..source.refused import OURS, not_counted, not_shuffled, not_voted
from .words import a as _a

registry = Registry()

i1, i2, i4, i8 = types.int8, types.int16, types.int32, types.int64
u1, u2, u4, u8 = types.uint8, types.uint16, types.uint32, types.uint64
f4, f8, boolean = types.float32, types.float64, types.boolean
_INTEGERS = (i1, i2, i4, i8, u1, u2, u4, u8)
_WORDS = (i4, u4, i8, u8)
_NUMBERS = (f8, f4, *_WORDS)


class Dim3(types.Type):
    """The type of ``cuda.threadIdx`` and its like."""

    def __init__(self):
        super().__init__("Dim3")


class GridGroup(types.Type):
    """The type of ``cuda.cg.this_grid()``."""

    def __init__(self):
        super().__init__("GridGroup")


dim3, grid_group = Dim3(), GridGroup()


@registry.register_attr
class _Axes(AttributeTemplate):
    key = dim3

    def resolve_x(self, of):
        return i4

    resolve_y = resolve_z = resolve_x


@registry.register_attr
class _Group(AttributeTemplate):
    key = grid_group

    @bound_function("grid_group.sync")
    def resolve_sync(self, of, args, kws):
        return None if args or kws else signature(i4, recvr=of)


@registry.register_attr
class _Bits(AttributeTemplate):
    key = types.Integer

    @bound_function("int.bit_count")
    def resolve_bit_count(self, of, args, kws):
        return None if args or kws else signature(types.unliteral(of), recvr=of)


class Print(AbstractTemplate):
    """``print()``: numbers, text, places, and tuples of them."""

    key = print

    def generic(self, args, kws):
        for kind in args:
            if not _printed(kind):
                raise TypingError(
                    f"{OURS}print() in a kernel takes numbers and text, {_a(str(types.unliteral(kind)))} came"
                )
        return None if kws else signature(types.none, *args)


def _printed(kind):
    if isinstance(kind, types.BaseTuple):
        return all(map(_printed, kind))
    return isinstance(kind, types.Integer | types.Float | types.Boolean | types.StringLiteral | Dim3)


#: DeviceName -> its type, for each that has one
TYPES = {NAMES[path]: dim3 for path in ("threadIdx", "blockIdx", "blockDim", "gridDim")}
TYPES |= {NAMES["laneid"]: i4, NAMES["warpsize"]: i4}


def _given(path, template):
    template.key = NAMES[path]
    TYPES[NAMES[path]] = types.Function(template)


def _cases(path, *cases):
    _given(path, type(path, (ConcreteTemplate,), {"cases": list(cases)}))


def _typed(*paths):
    """Register ``typer(name, *types)``, which gives a signature, or None; keywords are possible."""

    def register(typer):
        for path in paths:
            names = NAMES[path].parameters

            class Template(AbstractTemplate):
                def generic(self, args, kws, path=path, names=names):
                    passed = [*args, *(kws[name] for name in names[len(args) :] if name in kws)]
                    if len(passed) != len(args) + len(kws) or len(passed) != len(names):
                        raise TypingError(f"{OURS}cuda.{path} takes {len(names)} arguments: {', '.join(names)}")
                    return typer(path, *passed)

            _given(path, Template)
        return typer

    return register


# -- places ------------------------------------------------------------------------------------------------------------


@_typed("grid", "gridsize")
def _grid(path, ndim):
    if not isinstance(ndim, types.IntegerLiteral):
        raise RequireLiteralValue(ndim)
    if ndim.literal_value not in (1, 2, 3):
        raise TypingError(f"{OURS}the argument of cuda.{path}() must be the constant 1, 2 or 3")
    return signature(i8 if ndim.literal_value == 1 else types.UniTuple(i8, ndim.literal_value), i4)


# -- arrays ------------------------------------------------------------------------------------------------------------


class _Array(CallableTemplate):
    def generic(self):
        def typer(shape, dtype, alignment=None):
            sizes = shape if isinstance(shape, types.BaseTuple) else (shape,)
            if not all(isinstance(size, types.IntegerLiteral) for size in sizes):
                return None
            if not (alignment is None or isinstance(alignment, types.IntegerLiteral | types.NoneType)):
                raise RequireLiteralValue("alignment must be a constant integer")
            if isinstance(alignment, types.IntegerLiteral) and alignment.literal_value.bit_count() != 1:
                raise TypingError(f"{OURS}the alignment of an array is a power of 2, {alignment.literal_value} came")
            ndim, dtype = parse_shape(shape), parse_dtype(dtype)
            return None if ndim is None or dtype is None else types.Array(dtype, ndim, "C")

        return typer


class _ConstantArray(CallableTemplate):
    def generic(self):
        def typer(ary):
            return ary if isinstance(ary, types.Array) else None

        return typer


_given("shared.array", type("shared_array", (_Array,), {}))
_given("local.array", type("local_array", (_Array,), {}))
_given("const.array_like", _ConstantArray)


# -- barriers, fences, warps -------------------------------------------------------------------------------------------

_cases("syncthreads", signature(types.none))
for _fence in ("threadfence", "threadfence_block", "threadfence_system"):
    _cases(_fence, signature(types.none))
_cases("nanosleep", signature(types.none, u4))
_cases("syncwarp", signature(types.none), signature(types.none, i4))
_cases("activemask", signature(u4))
_cases("lanemask_lt", signature(u4))
_cases("match_any_sync", *(signature(i4, i4, t) for t in (i4, i8, f4, f8)))
_cases("match_all_sync", *(signature(types.Tuple((i4, boolean)), i4, t) for t in (i4, i8, f4, f8)))


@_typed("syncthreads_count", "syncthreads_and", "syncthreads_or")
def _counting(path, predicate):
    if not isinstance(predicate, types.Integer):
        raise TypingError(OURS + not_counted("a barrier that counts", str(types.unliteral(predicate))))
    return signature(i4, i4)


def _cut(value, what):
    """A mask or a lane: the compiler cuts it down to 32 bits, which a narrower number does not have."""
    kind = types.unliteral(value)
    if kind not in _WORDS:
        raise TypingError(f"{OURS}{what} is a whole number of 32 or 64 bits, {_a(str(kind))} came")


@_typed("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
def _shuffle(path, mask, value, lane):
    kind = types.unliteral(value)
    if kind not in (i4, i8, f4, f8):
        raise TypingError(OURS + not_shuffled(str(kind)))
    _cut(mask, "the mask of a shuffle")
    _cut(lane, "the lane of a shuffle")
    return signature(kind, mask, kind, lane)


@_typed("ballot_sync", "any_sync", "all_sync", "eq_sync")
def _vote(path, mask, predicate):
    kind = types.unliteral(predicate)
    if not isinstance(kind, types.Integer | types.Boolean):
        raise TypingError(OURS + not_voted(str(kind)))
    _cut(mask, "the mask of a vote")
    return signature(i4 if path == "ballot_sync" else boolean, mask, predicate)


@_typed("cg.this_grid")
def _this_grid(path):
    return signature(grid_group)


# -- arithmetic --------------------------------------------------------------------------------------------------------

_cases("popc", *(signature(t, t) for t in _INTEGERS))
_cases("clz", *(signature(t, t) for t in _INTEGERS))
_cases(
    "ffs", *(signature(u4, t) for t in (i1, i2, i4)), signature(u4, i8), *(signature(u4, t) for t in (u1, u2, u4, u8))
)
_cases("brev", signature(u4, u4), signature(u8, u8))
_cases("fma", signature(f4, f4, f4, f4), signature(f8, f8, f8, f8))
_cases("cbrt", signature(f4, f4), signature(f8, f8))


class _Select(AbstractTemplate):
    def generic(self, args, kws):
        if kws or len(args) != 3:
            return None
        test, a, b = args
        if types.unliteral(test) != boolean:
            raise TypingError(
                f"{OURS}cuda.selp chooses by a truth value, {_a(str(types.unliteral(test)))} came: write x != 0"
            )
        if a != b or a not in (f8, f4, i2, u2, *_WORDS):
            return None
        return signature(a, test, a, a)


_given("selp", _Select)


# -- atomics -----------------------------------------------------------------------------------------------------------


def _atomic(name, kinds, operands):
    path = f"atomic.{name}"

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if kws or len(args) != operands + 2:
                raise TypingError(f"{OURS}cuda.{path} takes {operands + 2} arguments, by position")
            array, index, *values = args
            _check_target(path, array, kinds)
            indices = index.types if isinstance(index, types.BaseTuple) else (index,)
            wrong = [t for t in indices if not isinstance(t, types.Integer)]
            if wrong:
                raise TypingError(f"{OURS}an index must be a whole number, {_a(str(types.unliteral(wrong[0])))} came")
            if len(indices) != array.ndim or (array.ndim == 1 and isinstance(index, types.BaseTuple)):
                raise TypingError(
                    f"{OURS}cuda.{path} needs one index for each of the {array.ndim} axes, {_a(str(index))} came"
                )
            _check_values(path, array, values)
            return signature(array.dtype, array, index, *[array.dtype] * len(values))

    _given(path, Template)


def _check_target(path, array, kinds):
    if not isinstance(array, types.Array):
        raise TypingError(f"{OURS}cuda.{path} works on an array element, not on {_a(str(types.unliteral(array)))}")
    if array.dtype not in kinds:
        only = ", ".join(map(str, kinds))
        raise TypingError(f"{OURS}cuda.{path} does not exist for {array.dtype}; only for {only}")


def _check_values(path, array, values):
    for value in values:
        if not isinstance(value, types.Integer | types.Float | types.Boolean):
            raise TypingError(f"{OURS}cuda.{path} on {array.dtype} cannot take {_a(str(types.unliteral(value)))}")


for _name in ("add", "sub", "max", "min", "nanmax", "nanmin"):
    _atomic(_name, _NUMBERS, 1)
for _name in ("and_", "or_", "xor", "exch"):
    _atomic(_name, _WORDS, 1)
for _name in ("inc", "dec"):
    _atomic(_name, (u4, u8), 1)
_atomic("cas", _WORDS, 2)


class _CompareAndSwap(AbstractTemplate):
    def generic(self, args, kws):
        path = "atomic.compare_and_swap"
        if kws or len(args) != 3:
            raise TypingError(f"{OURS}cuda.{path} takes 3 arguments, by position")
        array, *values = args
        _check_target(path, array, _WORDS)
        if array.ndim != 1:
            raise TypingError(f"{OURS}cuda.{path} takes an array of one axis")
        _check_values(path, array, values)
        return signature(array.dtype, array, array.dtype, array.dtype)


_given("atomic.compare_and_swap", _CompareAndSwap)


#: NumPy's functions of numbers that a kernel can call; of the others ``math`` has what corresponds
UFUNCS = frozenset((
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "bitwise_and", "bitwise_or",
    "bitwise_xor",
    "conjugate", "cos", "cosh", "deg2rad", "degrees", "divide", "equal", "fmax", "fmin", "greater", "greater_equal",
    "hypot",
    "invert", "isnan", "left_shift", "less", "less_equal", "log", "log10", "log2", "logical_and", "logical_not",
    "logical_or",
    "logical_xor", "maximum", "minimum", "not_equal", "rad2deg", "radians", "right_shift", "sin", "sinh", "tan", "tanh",
))  # fmt: skip


# -- math --------------------------------------------------------------------------------------------------------------


def _math(names, *cases):
    for name in names.split():
        if hasattr(math, name):  # exp2 is new in Python 3.11
            template = type(name, (ConcreteTemplate,), {"key": getattr(math, name), "cases": list(cases)})
            registry.register_global(getattr(math, name), types.Function(template))


_math(
    "acos acosh asin asinh atan atanh cosh degrees erf erfc expm1 gamma lgamma log1p radians sinh tanh tan sin cos "
    "ceil floor sqrt log log2 log10 exp exp2 fabs trunc",
    signature(f8, i8),
    signature(f8, u8),
    signature(f4, f4),
    signature(f8, f8),
)
_math("atan2 hypot", signature(f8, i8, i8), signature(f8, u8, u8), signature(f4, f4, f4), signature(f8, f8, f8))
_math("copysign fmod nextafter remainder", signature(f4, f4, f4), signature(f8, f8, f8))
_math("pow", signature(f4, f4, f4), signature(f8, f8, f8), signature(f4, f4, i4), signature(f8, f8, i4))
_math("frexp", signature(types.Tuple((f4, i4)), f4), signature(types.Tuple((f8, i4)), f8))
_math("ldexp", signature(f4, f4, i4), signature(f8, f8, i4))
_math("isinf isnan isfinite", *(signature(boolean, t) for t in (i8, u8, f4, f8)))
_math("modf", signature(types.UniTuple(f8, 2), f8), signature(types.UniTuple(f4, 2), f4))
