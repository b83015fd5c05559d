"""OpenCL C's own functions: what a call of each becomes. ``function(reader, node, arguments)`` gives its value."""

import ast
import math
import re
from dataclasses import replace

from .places import PLACES, SUB_GROUP, linear_in_sub_group
from .types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NUMBERS,
    ULONG,
    Address,
    Parts,
    Pointer,
    Value,
    Vector,
    call,
    common,
    convert,
    exact,
    name,
    of_type,
    truth,
    whole,
)

LOCAL_FENCE = 1
CONSTANTS = {
    "CLK_LOCAL_MEM_FENCE": LOCAL_FENCE, "CLK_GLOBAL_MEM_FENCE": 2, "true": 1, "false": 0,
    "INT_MAX": (1 << 31) - 1, "INT_MIN": -(1 << 31), "CHAR_BIT": 8,
    "FLT_MAX": 3.4028234663852886e38, "FLT_MIN": 1.1754943508222875e-38, "FLT_EPSILON": 1.1920928955078125e-07,
    "INFINITY": math.inf, "NAN": math.nan, "HUGE_VALF": math.inf,
    "M_PI_F": math.pi, "M_E_F": math.e, "M_PI": math.pi, "M_SQRT2_F": math.sqrt(2), "M_LN2_F": math.log(2),
}  # fmt: skip
FULL = 0xFFFFFFFF  # all of a sub-group
_SAME = """
    sqrt exp log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc tgamma
    lgamma floor ceil trunc fabs pow atan2 hypot fmod copysign
"""
_MATH = {function: function for function in _SAME.split()} | {"powr": "pow"}
_OF_TWO = {"pow", "powr", "atan2", "hypot", "fmod", "copysign"}
_ATOMICS = {
    "add": "add", "sub": "sub", "min": "min", "max": "max", "and": "and_", "or": "or_", "xor": "xor", "xchg": "exch",
    "inc": "add", "dec": "sub", "cmpxchg": "cas",
}  # fmt: skip


def find(called):
    """The function that reads a call, or None."""
    plain = re.sub("^(native|half)_", "", called)
    if called in _TABLE:
        return _TABLE[called]
    if plain != called and plain in _TABLE:
        return _TABLE[plain]
    for pattern, function in _PATTERNS:
        found = re.fullmatch(pattern, called)
        if found:
            return lambda reader, node, arguments: function(reader, node, arguments, *found.groups())
    return None


def _count(reader, node, arguments, *allowed):
    if len(arguments) not in allowed:
        many = " or ".join(map(str, allowed))
        raise reader.error(node, f"{node.name.name}() takes {many} arguments, and {len(arguments)} came")


def _by_parts(scalar, count):
    """A function of numbers, of vectors component by component."""

    def read(reader, node, arguments):
        _count(reader, node, arguments, count)
        kind = next((a.type for a in arguments if isinstance(a, Parts)), None)
        if kind is None:
            return scalar(reader, node, *(reader.need_scalar(a, node) for a in arguments))
        columns = [reader.vector([a], kind, node).values for a in arguments]
        values = [scalar(reader, node, *column) for column in zip(*columns, strict=True)]
        return Parts(values, Vector(values[0].type, kind.length))

    return read


def _place_of(called):
    def read(reader, node, arguments):
        _count(reader, node, arguments, 1)
        axis = reader.need_scalar(arguments[0], node).constant
        if axis is None or not 0 <= axis <= 2:
            raise reader.error(node, f"{called}() takes the number of an axis: 0, 1 or 2")
        make, least, most = PLACES[called]
        return Value(make("xyz"[axis]), ULONG, least, most)

    return read


def _of_sub_group(called):
    def read(reader, node, arguments):
        _count(reader, node, arguments, 0)
        make, kind, low, high = SUB_GROUP[called]
        return Value(make(), kind, low, high)

    return read


def _math(function):
    return lambda reader, node, *values: reader.math(f"ocl_{_MATH[function]}", *values)


def _barrier(reader, node, arguments):
    _count(reader, node, arguments, 1, 2)
    flags = reader.need_scalar(arguments[0], node).constant
    if not flags:
        raise reader.error(
            node, "the barrier has no flag", "barrier(CLK_LOCAL_MEM_FENCE), CLK_GLOBAL_MEM_FENCE, or both with |"
        )
    reader.barriers.append((node, flags))
    return _statement("syncthreads")


def _statement(function, *arguments):
    return Value(_device(function, *arguments), None)


def _fence(reader, node, arguments):
    return _statement("threadfence_block")


def _least(function):
    def scalar(reader, node, a, b):
        kind = common(a.type, b.type)
        a, b = convert(a, kind), convert(b, kind)
        if kind.whole and kind.bits == 64 and not kind.signed and min(a.low, b.low) < 0:
            raise reader.error(node, f"{function}() of ulong is not read here", "Convert to long or uint")
        pick = min if function == "min" else max
        return Value(call(f"ocl_{function}", a.node, b.node), kind, pick(a.low, b.low), pick(a.high, b.high))

    return scalar


def _float_least(function):
    def scalar(reader, node, a, b):
        kind = DOUBLE if DOUBLE in (a.type, b.type) else FLOAT
        return Value(call(f"ocl_{function}", convert(a, kind).node, convert(b, kind).node), kind)

    return scalar


def _clamp(reader, node, x, low, high):
    return _least("min")(reader, node, _least("max")(reader, node, x, low), high)


def _fused(reader, node, a, b, c):
    kind = DOUBLE if any(v.type is DOUBLE for v in (a, b, c)) else FLOAT
    a, b, c = (convert(v, kind).node for v in (a, b, c))
    return Value(ast.Call(ast.Attribute(name("ocl_cuda"), "fma", ast.Load()), [a, b, c], []), kind)


def _mad(reader, node, a, b, c):
    return reader.binary("+", reader.binary("*", a, b, node), c, node)


def _narrow(reader, node, a, b):
    return reader.binary("*", convert(a, INT), convert(b, INT), node)


def _select(reader, node, a, b, test):
    return reader.choose(truth(test), b, a, node)


def _mix(reader, node, a, b, t):
    return reader.binary("+", a, reader.binary("*", reader.binary("-", b, a, node), t, node), node)


def _absolute(reader, node, x):
    x = exact(x)
    unsigned = next(t for t in NUMBERS.values() if t.bits == x.type.bits and not t.signed and t.name != "bool")
    return Value(call("ocl_abs", x.node), unsigned, 0, max(x.high, -x.low))


def _round(reader, node, x):
    return reader.math("ocl_round", x)


def _power(base):
    return lambda reader, node, x: reader.math("ocl_pow", reader.real(base, FLOAT), x)


def _inverse_root(reader, node, x):
    return reader.binary("/", reader.real(1.0, FLOAT), reader.math("ocl_sqrt", x), node)


def _whole_power(reader, node, x, n):
    return reader.math("ocl_pow", x, convert(n, x.type))


def _bits(function):
    def scalar(reader, node, x):
        x = exact(x)
        mask = ast.Constant((1 << x.type.bits) - 1)
        bits = ast.BinOp(x.node, ast.BitAnd(), mask) if x.low < 0 and x.type.bits < 64 else x.node
        counted = call("ocl_int64", ast.Call(ast.Attribute(name("ocl_cuda"), function, ast.Load()), [bits], []))
        value = Value(counted, x.type, 0, 64)
        return reader.binary("-", value, whole(64 - x.type.bits, x.type), node) if function == "clz" else value

    return scalar


def _is(test):
    def scalar(reader, node, x):
        x = convert(x, x.type if not x.type.whole else FLOAT)
        return Value(ast.Call(name(f"ocl_{test}"), [x.node], []), INT, 0, 1, True)

    return scalar


def _dot(reader, node, arguments):
    _count(reader, node, arguments, 2)
    products = reader.operate("*", *arguments, node)
    if not isinstance(products, Parts):
        return products
    total = products.values[0]
    for value in products.values[1:]:
        total = reader.binary("+", total, value, node)
    return total


def _convert(reader, node, arguments, kind, length, rounding):
    _count(reader, node, arguments, 1)
    if rounding and rounding != "_rtz":
        raise reader.error(node, f"{node.name.name}() is not read here", f"convert_{kind}() rounds towards zero")
    if length:
        return reader.vector([arguments[0]], Vector(NUMBERS[kind], int(length)), node)
    return convert(reader.need_scalar(arguments[0], node), NUMBERS[kind])


def _vload(reader, node, arguments, length):
    _count(reader, node, arguments, 2)
    address = _vector_place(reader, node, arguments[0], arguments[1], int(length))
    return reader.load(address, node)


def _vector_place(reader, node, index, pointer, length):
    if not isinstance(pointer, Address) or isinstance(pointer.type.of, Vector):
        raise reader.error(node, f"{node.name.name}() takes a pointer to numbers", "vload4(i, a) reads a[4 * i] and on")
    start = reader.flat(pointer, node).offset
    kind = Vector(pointer.type.of, length)
    if start.constant != 0:  # elements, not vectors
        scaled = reader.binary(
            "*", replace(exact(reader.need_scalar(index, node)), type=LONG), whole(length, LONG), node
        )
        offset = reader.binary("+", start, scaled, node)
        return Address(pointer.array, offset, Pointer(kind, pointer.type.space, pointer.type.const), unscaled=True)
    index = replace(exact(reader.need_scalar(index, node)), type=LONG)
    return Address(pointer.array, index, Pointer(kind, pointer.type.space, pointer.type.const))


def _vstore(reader, node, arguments, length):
    _count(reader, node, arguments, 3)
    address = _vector_place(reader, node, arguments[1], arguments[2], int(length))
    reader.store(address, arguments[0], node)
    return Value(ast.Constant(None), None)


def _atomic(reader, node, arguments, operation):
    _count(reader, node, arguments, {"inc": 1, "dec": 1, "cmpxchg": 3}.get(operation, 2))
    address = arguments[0]
    if (
        not isinstance(address, Address)
        or isinstance(address.type.of, Vector)
        or address.type.space not in ("global", "local")
    ):
        raise reader.error(
            node, f"{node.name.name}() takes a pointer into global or local memory", "atomic_add(&a[i], 1)"
        )
    address = reader.flat(address, node)
    kind = address.type.of
    if not kind.whole and operation != "xchg":
        cure = "A float is added atomically by a loop around atomic_cmpxchg; or add up whole numbers"
        raise reader.error(node, f"{node.name.name}() works on int and uint, not on {kind}", cure)
    values = [convert(reader.need_scalar(a, node), kind).node for a in arguments[1:]] or [ast.Constant(1)]
    function = ast.Attribute(ast.Attribute(name("ocl_cuda"), "atomic", ast.Load()), _ATOMICS[operation], ast.Load())
    old = reader.located(ast.Call(function, [name(address.array), address.offset.node, *values], []), node)
    return Atomic(
        call("ocl_int64", old) if kind.whole else old,
        kind,
        kind.low if kind.whole else 0,
        kind.high if kind.whole else 0,
        bare=old,
    )


class Atomic(Value):
    """What an atomic returns; bare: the call alone, for a statement that does not look at it."""

    def __init__(self, *fields, bare):
        super().__init__(*fields)
        self.bare = bare


def _group_operation(reader, node, arguments, sort, operation):
    """sub_group_reduce_add(x), its scans: shuffles, before the statement in which it stands."""
    _count(reader, node, arguments, 1)
    if not reader.hoists:
        raise reader.error(node, f"{node.name.name}() stands in a condition here", "Give it a line of its own")
    value = exact(reader.need_scalar(arguments[0], node))
    kind = common(value.type, INT)
    lane, count = reader.keep(linear_in_sub_group(), node), reader.keep(SUB_GROUP["get_sub_group_size"][0](), node)
    held = reader.keep(convert(value, kind).node, node)

    def shuffled(source):
        received = _device("shfl_sync", ast.Constant(FULL), name(held), source)
        return reader.keep(call("ocl_int64", received) if kind.whole else received, node)

    def moved(by):
        return ast.BinOp(name(lane), ast.Add(), ast.Constant(by))

    for step in (16, 8, 4, 2, 1) if sort == "reduce" else (-1, -2, -4, -8, -16):
        if sort == "reduce":  # the sum comes to work-item 0
            test = ast.Compare(moved(step), [ast.Lt()], [name(count)])
            source = call("ocl_min", moved(step), ast.BinOp(name(count), ast.Sub(), ast.Constant(1)))
        else:
            test = ast.Compare(moved(step), [ast.GtE()], [ast.Constant(0)])
            source = call("ocl_max", moved(step), ast.Constant(0))
        received = shuffled(source)
        pair = name(held), name(received)
        joined = ast.BinOp(pair[0], ast.Add(), pair[1]) if operation == "add" else call(f"ocl_{operation}", *pair)
        held = reader.keep(ast.IfExp(test, joined, name(held)), node)
    if sort == "reduce":
        held = shuffled(ast.Constant(0))
    if sort == "scan_exclusive":
        before = shuffled(call("ocl_max", moved(-1), ast.Constant(0)))
        zero = ast.Constant(0) if kind.whole else reader.real(0.0, kind).node
        held = reader.keep(ast.IfExp(ast.Compare(name(lane), [ast.Gt()], [ast.Constant(0)]), name(before), zero), node)
    return exact(Value(name(held), kind, -(1 << 63), (1 << 63) - 1)) if kind.whole else Value(name(held), kind)


def _device(function, *arguments):
    return ast.Call(ast.Attribute(name("ocl_cuda"), function, ast.Load()), list(arguments), [])


def _shuffle(reader, node, arguments, way):
    _count(reader, node, arguments, 2)
    value, lane = exact(reader.need_scalar(arguments[0], node)), exact(reader.need_scalar(arguments[1], node))
    function = {
        "broadcast": "shfl_sync",
        "shuffle": "shfl_sync",
        "shuffle_xor": "shfl_xor_sync",
        "shuffle_up": "shfl_up_sync",
        "shuffle_down": "shfl_down_sync",
    }[way]
    shuffled = _device(function, ast.Constant(FULL), value.node, lane.node)
    return of_type(call("ocl_int64", shuffled), value.type) if value.type.whole else Value(shuffled, value.type)


def _vote(reader, node, arguments, way):
    _count(reader, node, arguments, 1)
    asked = ast.IfExp(truth(reader.need_scalar(arguments[0], node)), ast.Constant(1), ast.Constant(0))
    return Value(_device(f"{way}_sync", ast.Constant(FULL), asked), INT, 0, 1, True)


def _printed(reader, node, arguments):
    raise reader.error(node, "printf is not read here", "Write what you want to see into an array")


_TABLE = {
    **{called: _place_of(called) for called in PLACES},
    **{called: _of_sub_group(called) for called in SUB_GROUP},
    **{called: _by_parts(_math(called), 2 if called in _OF_TWO else 1) for called in _MATH},
    "barrier": _barrier, "work_group_barrier": _barrier, "printf": _printed,
    "mem_fence": _fence, "read_mem_fence": _fence, "write_mem_fence": _fence,
    "sub_group_barrier": lambda reader, node, arguments: _statement("syncwarp"),
    "min": _by_parts(_least("min"), 2), "max": _by_parts(_least("max"), 2), "clamp": _by_parts(_clamp, 3),
    "fmin": _by_parts(_float_least("fmin"), 2), "fmax": _by_parts(_float_least("fmax"), 2),
    "fma": _by_parts(_fused, 3), "mad": _by_parts(_mad, 3), "mad24": _by_parts(_mad, 3), "mul24": _by_parts(_narrow, 2),
    "select": _by_parts(_select, 3), "mix": _by_parts(_mix, 3), "abs": _by_parts(_absolute, 1),
    "rint": _by_parts(_round, 1), "exp2": _by_parts(_power(2.0), 1), "exp10": _by_parts(_power(10.0), 1),
    "rsqrt": _by_parts(_inverse_root, 1), "pown": _by_parts(_whole_power, 2),
    "divide": _by_parts(lambda r, node, a, b: r.binary("/", a, b, node), 2),
    "recip": _by_parts(lambda r, node, a: r.binary("/", r.real(1.0, FLOAT), a, node), 1),
    "popcount": _by_parts(_bits("popc"), 1), "clz": _by_parts(_bits("clz"), 1),
    "isnan": _by_parts(_is("isnan"), 1), "isinf": _by_parts(_is("isinf"), 1), "dot": _dot,
}  # fmt: skip
_PATTERNS = (
    (r"convert_(char|uchar|short|ushort|int|uint|long|ulong|float|double)(2|3|4|8|16)?(_\w+)?", _convert),
    (r"vload(2|3|4|8|16)", _vload),
    (r"vstore(2|3|4|8|16)", _vstore),
    (rf"atom(?:ic)?_({'|'.join(_ATOMICS)})", _atomic),
    (r"sub_group_(reduce|scan_inclusive)_(add|min|max)", _group_operation),
    (r"sub_group_(scan_exclusive)_(add)", _group_operation),
    (r"sub_group_(broadcast|shuffle|shuffle_xor|shuffle_up|shuffle_down)", _shuffle),
    (r"sub_group_(all|any)", _vote),
)
NAMES = (
    *_TABLE, "convert_int", "convert_float", "vload4", "vstore4", *(f"atomic_{o}" for o in _ATOMICS),
    "sub_group_reduce_add", "sub_group_scan_inclusive_add", "sub_group_broadcast", "native_exp",
)  # fmt: skip
