"""What each name of ``numba.cuda`` becomes in a lowered kernel, and the plain functions that lowered kernels call."""

import ast
import operator

import numpy as np

from .. import numbers
from ..source.names import GROUPS
from .memory import Array

SYNC = {"block": 0, "warp": 1, "grid": 2}


# -- plain values --------------------------------------------------------------------------------------------------


def _comparison(function):
    compute = numbers.dispatch(function)

    def apply(a, b):
        try:
            return compute(a, b)
        except TypeError:
            if function in (operator.eq, operator.ne) and not isinstance(a, Array) and not isinstance(b, Array):
                return function(a, b)
            raise

    return apply


def _range(*limits):
    return range(*map(operator.index, limits))


def _len(x):
    return len(x)


def _extreme(function):
    compute = numbers.dispatch(function)
    return lambda *values: compute(*(values[0] if len(values) == 1 and isinstance(values[0], tuple) else values))


_round_to_integer = numbers.dispatch(round)


def _round(x, digits=None):
    if digits is None:
        return _round_to_integer(x)
    kind = type(x)
    rounded = round(float(x), int(digits))
    return kind(rounded) if kind is np.float32 else rounded


_to_float, _to_int = numbers.dispatch(float), numbers.dispatch(int)


def _float(x=0.0):
    return float(x) if type(x) is bool else _to_float(x)


def _complex(real=0.0, imaginary=0.0):
    narrow = type(real) is np.float32 and type(imaginary) is np.float32
    value = complex(real, imaginary)
    return np.complex64(value) if narrow else value


def _divmod(a, b):
    return _floor_divide(a, b), _modulo(a, b)


def _print(*values):
    print(*values)


def _conjugate(x):
    return x.conjugate()


_floor_divide, _modulo = numbers.dispatch(operator.floordiv), numbers.dispatch(operator.mod)

VALUES = {
    **{"_" + name: numbers.dispatch(function) for name, function in numbers.BINARY.items()},
    **{"_" + name: numbers.dispatch(function) for name, function in numbers.UNARY.items()},
    **{"_" + name: _comparison(function) for name, function in numbers.COMPARE.items()},
    "_wrap": numbers.wrap_int64, "_double": float,
    "_slice": lambda *parts: slice(*(None if p is None else operator.index(p) for p in parts)),
    "_range": _range, "_enumerate": enumerate, "_zip": zip, "_len": _len, "_print": _print, "_bool": bool,
    "_int": lambda x=0: _to_int(x), "_float": _float, "_complex": _complex, "_round": _round, "_divmod": _divmod,
    "_abs": numbers.dispatch(abs), "_min": _extreme(min), "_max": _extreme(max), "_conjugate": _conjugate,
}  # fmt: skip
VALUES["_eq"], VALUES["_pow"] = VALUES["_Eq"], VALUES["_Pow"]
BUILTINS = {
    len: "_len", print: "_print", bool: "_bool", int: "_int", float: "_float", complex: "_complex", abs: "_abs",
    min: "_min", max: "_max", round: "_round", pow: "_pow", divmod: "_divmod", range: "_range",
}  # fmt: skip


# -- functions of cuda that only compute ------------------------------------------------------------------------------


def _width(x):
    return 64 if type(x) is int else np.dtype(type(x)).itemsize * 8


def _bits(x):
    """The bits of an integer, as a number that is not negative."""
    return int(x) & ((1 << _width(x)) - 1)


def _popc(x):
    return type(x)(_bits(x).bit_count())


def _clz(x):
    return type(x)(_width(x) - _bits(x).bit_length())


def _ffs(x):
    bits = _bits(x)
    return np.uint32((bits & -bits).bit_length())


def _brev(x):
    width = 64 if type(x) is np.uint64 else 32  # as numba: everything but uint64 is cast to uint32
    reversed_bits = int(f"{int(x) & ((1 << width) - 1):0{width}b}"[::-1], 2)
    return np.uint64(reversed_bits) if width == 64 else np.uint32(reversed_bits)


def _cbrt(x):
    return np.cbrt(x) if type(x) is np.float32 else float(np.cbrt(float(x)))


def _fma(a, b, c):
    """a * b + c, rounded once: exactly through twice the precision for float32, through fractions for float64."""
    if type(a) is type(b) is type(c) is np.float32:
        return _fma_float32(a, b, c)
    return _fma_float64(float(a), float(b), float(c))


def _fma_float32(a, b, c):
    exact, addend = float(a) * float(b), float(c)  # the product of two float32 is exact in float64
    total = exact + addend
    if not np.isfinite(total):
        return np.float32(total)
    # Round to odd, so that the second rounding cannot go wrong.
    rest = (exact - (total - addend)) + (addend - (total - (total - addend)))
    if rest != 0.0 and not int(np.float64(total).view(np.int64)) & 1:
        total = float(np.nextafter(total, np.inf if rest > 0 else -np.inf))
    return np.float32(total)


def _fma_float64(a, b, c):
    from fractions import Fraction

    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def _selp(condition, a, b):
    return a if condition else b


VALUES.update(
    {"_popc": _popc, "_clz": _clz, "_ffs": _ffs, "_brev": _brev, "_cbrt": _cbrt, "_fma": _fma, "_selp": _selp}
)


# -- how a call of a cuda name is lowered -----------------------------------------------------------------------------


def _node(name, *args):
    nodes = [a if isinstance(a, ast.AST) else ast.Constant(a) for a in args]
    return ast.Call(ast.Name(name, ast.Load()), nodes, [])


class Compute:
    """A function of values only, such as ``popc``."""

    def __init__(self, port, *names):
        self.port, self.names = port, names

    def lower(self, lowering, node):
        return _node(self.port, *(lowering.expression(a) for a in lowering.bind(node, self.names)))


class Nothing:
    """Memory fences and sleeping: threads run one at a time and see all of memory, so there is nothing to do."""

    def __init__(self, *names):
        self.names = names

    def lower(self, lowering, node):
        lowering.bind(node, self.names)
        return ast.Constant(None)


class Grid:
    """``grid(n)`` and ``gridsize(n)``."""

    def __init__(self, port):
        self.port = port

    def lower(self, lowering, node):
        (dimensions,) = lowering.bind(node, ("ndim",))
        found, count = lowering.static(dimensions)
        if not (found and count in (1, 2, 3)):
            lowering.refuse(node, f"the argument of cuda.{self.port[1:]}() must be the constant 1, 2 or 3")
        return _node(self.port, ast.Name("_t", ast.Load()), count)


class Barrier:
    """``syncthreads`` and its three variants with a predicate."""

    def __init__(self, variant):
        self.variant = variant

    def lower(self, lowering, node):
        predicate = [lowering.expression(a) for a in lowering.bind(node, ("predicate",) if self.variant else ())]
        lowering.lowered.synchronises = True
        site = lowering.site(node, "barrier")
        parts = [ast.Constant(SYNC["block"]), ast.Constant(site), ast.Constant(self.variant), *predicate]
        return ast.Yield(ast.Tuple(parts, ast.Load()))


class Warp:
    """A warp operation: (mask, value, ...) of each lane; the engine gives each lane its result."""

    def __init__(self, name, *names, defaults=()):
        self.name, self.names, self.defaults = name, names, defaults

    def lower(self, lowering, node):
        given = lowering.bind(node, self.names, self.defaults)
        lowering.lowered.synchronises = True
        site = lowering.site(node, "collective")
        values = [ast.Constant(0xFFFFFFFF) if a is None else lowering.expression(a) for a in given]
        visit = lowering.visited() if self.name == "activemask" else []  # lanes that are together make one visit
        head = [ast.Constant(SYNC["warp"]), ast.Constant(site), ast.Constant(self.name)]
        return ast.Yield(ast.Tuple(head + values + visit, ast.Load()))


class MakeArray:
    """``shared.array`` and ``local.array``: the shape must be known before the kernel runs, as for a GPU."""

    def __init__(self, port):
        self.port = port

    def lower(self, lowering, node):
        shape, dtype, _ = lowering.bind(node, ("shape", "dtype", "alignment"), ("alignment",))
        size = constant_shape(lowering, shape)
        if size is None:
            lowering.refuse(
                node,
                f"the shape of cuda.{self.port[1:]}.array must be a constant: a number, a global or closure variable, or "
                "a tuple of them. Numba does no arithmetic here: compute it outside the kernel (PADDED = TILE + 1)",
            )
        site = lowering.site(node, "allocation")
        name = assigned_name(lowering.node, node) or self.port[1:]
        found, value = lowering.static(dtype)
        kind = ast.Name(lowering.constant(value), ast.Load()) if found else lowering.expression(dtype)
        return _node(self.port, ast.Name("_t", ast.Load()), site, ast.Constant(size), kind, name)


class ConstantArray:
    def lower(self, lowering, node):
        (array,) = lowering.bind(node, ("ary",))
        found, value = lowering.static(array)
        if not (found and isinstance(value, np.ndarray)):
            lowering.refuse(node, "cuda.const.array_like() takes a NumPy array that is a global or closure variable")
        name = assigned_name(lowering.node, node) or ast.unparse(array)
        return _node("_constant_array", ast.Name(lowering.constant(value), ast.Load()), name)


class Atomic:
    """``cuda.atomic.add(array, index, value)`` and its family."""

    def __init__(self, name):
        self.name = name
        self.names = {"cas": ("ary", "idx", "old", "val"), "compare_and_swap": ("ary", "old", "val")}.get(
            name, ("ary", "idx", "val")
        )

    def lower(self, lowering, node):
        values = [lowering.expression(a) for a in lowering.bind(node, self.names)]
        if self.name == "compare_and_swap":
            values.insert(1, ast.Constant(0))
        site = lowering.site(node, "atomic")
        array, index, *rest = values
        operands = ast.Tuple(rest, ast.Load())
        name = "cas" if self.name == "compare_and_swap" else self.name
        return _node("_atomic", name, array, index, operands, site, *lowering.visited())


class ThisGrid:
    def lower(self, lowering, node):
        lowering.bind(node, ())
        return ast.Constant("grid group")


def constant_shape(lowering, node):
    """The shape as a tuple of ints, or None where it is not a constant in numba's eyes."""
    if isinstance(node, ast.Tuple):
        parts = [constant_shape(lowering, e) for e in node.elts]
        return None if any(p is None or len(p) != 1 for p in parts) else tuple(p[0] for p in parts)
    if isinstance(node, ast.BinOp) and all(isinstance(n, ast.Constant) for n in (node.left, node.right)):
        return _as_shape(eval(compile(ast.Expression(node), "shape", "eval"), {"__builtins__": {}}))
    if isinstance(node, ast.Name) and node.id in lowering.locals:
        values = [n for n in ast.walk(lowering.node) if isinstance(n, ast.Name) and n.id == node.id]
        stores = [n for n in values if isinstance(n.ctx, ast.Store)]
        for n in ast.walk(lowering.node):
            if isinstance(n, ast.Assign) and len(stores) == 1 and n.targets == stores:
                return constant_shape(lowering, n.value)
        return None
    found, value = lowering.static(node)
    return _as_shape(value) if found else None


def _as_shape(value):
    values = value if isinstance(value, tuple) else (value,)
    if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values):
        return tuple(map(int, values))
    return None


def assigned_name(tree, call):
    """The variable that a call is assigned to, as its author calls it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                for left, right in pairs:
                    if right is call and isinstance(left, ast.Name):
                        return left.id
    return None


INTRINSICS = {
    "grid": Grid("_grid"),
    "gridsize": Grid("_gridsize"),
    "syncthreads": Barrier(""),
    "syncthreads_count": Barrier("count"),
    "syncthreads_and": Barrier("and"),
    "syncthreads_or": Barrier("or"),
    "syncwarp": Warp("syncwarp", "mask", defaults=("mask",)),
    "shfl_sync": Warp("shfl_sync", "mask", "value", "src_lane"),
    "shfl_up_sync": Warp("shfl_up_sync", "mask", "value", "delta"),
    "shfl_down_sync": Warp("shfl_down_sync", "mask", "value", "delta"),
    "shfl_xor_sync": Warp("shfl_xor_sync", "mask", "value", "lane_mask"),
    "ballot_sync": Warp("ballot_sync", "mask", "predicate"),
    "any_sync": Warp("any_sync", "mask", "predicate"),
    "all_sync": Warp("all_sync", "mask", "predicate"),
    "eq_sync": Warp("eq_sync", "mask", "predicate"),
    "match_any_sync": Warp("match_any_sync", "mask", "value"),
    "match_all_sync": Warp("match_all_sync", "mask", "value"),
    "activemask": Warp("activemask"),
    "lanemask_lt": Compute("_lanemask_lt"),
    "threadfence": Nothing(),
    "threadfence_block": Nothing(),
    "threadfence_system": Nothing(),
    "nanosleep": Nothing("ns"),
    "shared.array": MakeArray("_shared"),
    "local.array": MakeArray("_local"),
    "const.array_like": ConstantArray(),
    "cg.this_grid": ThisGrid(),
    "fma": Compute("_fma", "a", "b", "c"),
    "popc": Compute("_popc", "x"),
    "clz": Compute("_clz", "x"),
    "ffs": Compute("_ffs", "x"),
    "brev": Compute("_brev", "x"),
    "cbrt": Compute("_cbrt", "x"),
    "selp": Compute("_selp", "test", "if_true", "if_false"),
    **{f"atomic.{name}": Atomic(name) for name in GROUPS["atomic"]},
}
