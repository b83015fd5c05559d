"""Functions in OpenCL C for what Python means and C does not: a translation begins with those that it calls."""

import re

_WHOLE = {"int": "uint", "long": "ulong"}


def _floor_division(kind):
    unsigned = _WHOLE[kind]
    return {
        f"floor_div_{kind}": f"""// a // b as Python has it: rounded down. 0 where b is 0, as on a GPU
{kind} floor_div_{kind}({kind} a, {kind} b) {{
    if (b == 0) return 0;
    if (b == -1) return ({kind})(0 - ({unsigned})a);
    {kind} q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}}""",
        f"floor_mod_{kind}": f"""// a % b as Python has it: with the sign of b
{kind} floor_mod_{kind}({kind} a, {kind} b) {{
    if (b == 0 || b == -1) return 0;
    {kind} r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}}""",
    }


def _float_division(kind):
    return {
        f"floor_div_{kind}": f"""// a // b of floats: rounded down
{kind} floor_div_{kind}({kind} a, {kind} b) {{
    if (b == 0) return a / b;
    {kind} r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    {kind} f = floor(q);
    return q == 0 ? copysign(({kind})0, a / b) : q - f > ({kind})0.5 ? f + 1 : f;
}}""",
        f"floor_mod_{kind}": f"""// a % b of floats: with the sign of b
{kind} floor_mod_{kind}({kind} a, {kind} b) {{
    if (b == 0) return NAN;
    {kind} r = fmod(a, b);
    return r == 0 ? copysign(({kind})0, b) : (r < 0) != (b < 0) ? r + b : r;
}}""",
    }


def _shifts(kind):
    unsigned = _WHOLE.get(kind, kind)
    bits = 64
    right = (
        f"b >= 0 && b < {bits} ? a >> b : a < 0 ? -1 : 0" if kind == "long" else f"b >= 0 && b < {bits} ? a >> b : 0"
    )
    return {
        f"shift_left_{kind}": f"""// a << b by any amount: what leaves the word is gone
{kind} shift_left_{kind}({kind} a, long b) {{ return b >= 0 && b < {bits} ? ({kind})(({unsigned})a << b) : 0; }}""",
        f"shift_right_{kind}": f"""// a >> b by any amount
{kind} shift_right_{kind}({kind} a, long b) {{ return {right}; }}""",
    }


def _power(kind):
    return {
        f"power_{kind}": f"""// a ** b of whole numbers
{kind} power_{kind}({kind} a, long b) {{
    if (b < 0) return a == 1 ? 1 : a == ({kind})-1 ? (b & 1 ? a : 1) : 0;
    {kind} result = 1;
    for (; b; b >>= 1, a *= a) if (b & 1) result *= a;
    return result;
}}"""
    }


HELPERS = {
    "wrap": """// Python's negative index: counted from the end
long wrap(long i, long n) { return i < 0 ? i + n : i; }""",
    "range_length": """// how often `for i in range(start, stop, step)` goes round
long range_length(long start, long stop, long step) {
    if (step > 0) return start < stop ? (stop - start + step - 1) / step : 0;
    return step < 0 && start > stop ? (start - stop - step - 1) / -step : 0;
}""",
    "slice_start": """// where a slice begins or ends: counted from the end where negative, and within 0 to n
long slice_start(long i, long n) { return clamp(i < 0 ? i + n : i, 0L, n); }""",
    "rounded_to_half": """// a float rounded to 16 bits
float rounded_to_half(float x) {
    ushort bits;  // a variable of type half is an extension
    vstore_half_rte(x, 0, (half *)&bits);
    return vload_half(0, (half *)&bits);
}""",
}
for _kind in ("int", "long"):
    HELPERS |= _floor_division(_kind)
for _kind in ("float", "double"):
    HELPERS |= _float_division(_kind)
for _kind in ("long", "ulong"):
    HELPERS |= _shifts(_kind) | _power(_kind)
for _kind in ("uint", "ulong"):
    HELPERS |= {
        f"unsigned_div_{_kind}": f"""// a / b; 0 where b is 0, as on a GPU
{_kind} unsigned_div_{_kind}({_kind} a, {_kind} b) {{ return b == 0 ? 0 : a / b; }}""",
        f"unsigned_mod_{_kind}": f"""// a % b; 0 where b is 0, as on a GPU
{_kind} unsigned_mod_{_kind}({_kind} a, {_kind} b) {{ return b == 0 ? 0 : a % b; }}""",
    }


# ---- atomics that OpenCL has no function for: compare and exchange until nobody came between ------------------------

_BITS = {"float": "uint", "double": "ulong", "int": "uint", "uint": "uint", "long": "ulong", "ulong": "ulong"}
_NEW = {
    "add": "old + x", "sub": "old - x", "max": "old < x ? x : old", "min": "x < old ? x : old",
    "nanmax": "x != x ? old : old < x || old != old ? x : old",
    "nanmin": "x != x ? old : x < old || old != old ? x : old",
    "inc": "old >= x ? 0 : old + 1", "dec": "old == 0 || old > x ? x : old - 1", "and_": "old & x", "or_": "old | x",
    "xor": "old ^ x", "exch": "x",
}  # fmt: skip


def atomic_by_exchange(operation, kind, space):
    """(name, text) of a function that does ``cuda.atomic.operation`` on a ``kind`` by compare and exchange."""
    bits = _BITS[kind]
    name = f"atomic_{operation.rstrip('_')}_{kind}_{space.strip('_')}"
    exchange = "atomic_cmpxchg" if bits == "uint" else "atom_cmpxchg"
    text = f"""// cuda.atomic.{operation} of a {kind}: compare and exchange until nobody came between
{kind} {name}(volatile {space} {kind} *p, {kind} x) {{
    {bits} seen = *(volatile {space} {bits} *)p, before;
    do {{
        before = seen;
        {kind} old = as_{kind}(before);
        seen = {exchange}((volatile {space} {bits} *)p, before, as_{bits}(({kind})({_NEW[operation]})));
    }} while (seen != before);
    return as_{kind}(before);
}}"""
    return name, text


def used_in(text, texts):
    """The texts of the functions that a text calls, and that those call, in their order."""
    names = {name for name in texts if re.search(rf"\b{name}\b", text)}
    before = None
    while before != (before := len(names)):
        for name in list(names):
            names |= {callee for callee in texts if re.search(rf"\b{callee}\b", texts[name])}
    return [texts[name] for name in texts if name in names]
