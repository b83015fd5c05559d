"""What the functions of a translation share: names, constants, structs, the memory of a work-group."""

import re

import numpy as np
from numba.core import types

from .function import Function
from .helpers import HELPERS, atomic_by_exchange, used_in
from .together import meets_in
from .values import LARGEST, NAMES, ArrayValue, Several, Value, literal, number
from .warps import TOGETHER

#: words that C and OpenCL have taken, and functions that a translation calls
_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool uchar
ushort uint ulong half quad complex imaginary kernel global local constant private generic pipe uniform read_only
write_only read_write size_t event_t sampler_t image1d_t image2d_t image3d_t queue_t true false NAN INFINITY M_PI
min max clamp abs fabs floor ceil sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos
atan atan2 pow pown fma fmod fmin fmax rint trunc erf erfc cbrt hypot copysign ldexp frexp modf popcount clz
barrier mem_fence isnan isinf isfinite degrees radians lgamma tgamma nextafter remainder wrap result alive on
exchange dynamic dynamic_bytes as_float as_int vload4 vstore4
"""
RESERVED = frozenset(_WORDS.split())
#: functions of OpenCL: a function of that name would be theirs, a variable may be called so
_BUILT_IN = """
abs_diff acospi add_sat all any asinpi atan2pi atanpi bitselect cospi cross ctz distance dot exp10 fdim fract hadd
half_cos half_exp half_sin half_sqrt ilogb isequal isgreater isless isnormal length logb log mad mad24 mad_hi
mad_sat main maxmag minmag mix mul24 mul_hi nan native_cos native_exp native_sin native_sqrt normalize powr
prefetch printf rhadd rootn rotate round rsqrt select shuffle shuffle2 sign signbit sincos sinpi smoothstep step
sub_sat tanpi upsample convert
"""
BUILT_IN = frozenset(_BUILT_IN.split())


class Program:
    """One translation. block: the shape of a work-group. dynamic: whether there is dynamic shared memory."""

    def __init__(self, block=None):
        self.block = block
        self.functions, self.order = {}, []
        self.constants, self.arrays, self.structs, self.atomics = {}, {}, {}, {}
        self.local = {}
        self.taken = set(RESERVED)
        self.exchange = self.dynamic = False
        self.cache, self.kept, self.variables = {}, [], set()

    # -- names --------------------------------------------------------------------------------------------------------

    def allowed(self, name):
        """A name that C allows: with an underscore where it has a meaning there."""
        name = name if name.isascii() else name.encode("ascii", "replace").decode().replace("?", "_")
        vector = re.fullmatch(r"(char|uchar|short|ushort|int|uint|long|ulong|float|double|half)(2|3|4|8|16)", name)
        taken = name in RESERVED or name in HELPERS or name in TOGETHER or name in self.constants
        return f"{name}_" if taken or vector else name

    def unused(self, wanted):
        name, k = self.allowed(wanted), 1
        while name in self.taken or name in BUILT_IN:
            k += 1
            name = f"{wanted}_{k}"
        self.taken.add(name)
        return name

    def named(self, name, value):
        """A global number by its name, as a #define; two of one name and different values are written out."""
        if not name.isupper() or name in RESERVED or name in self.variables:
            return value  # a variable may be called so
        known = self.constants.setdefault(name, value)
        if (known.text, known.type) != (value.text, value.type):
            return value
        self.taken.add(name)
        return Value(name, value.type, value.low, value.high, made=value.made, constant=value.constant)

    def keep(self, node):
        self.kept.append(node)  # so that no other node gets its id

    # -- functions ----------------------------------------------------------------------------------------------------

    def function(self, caller, node, python_function, values, guarded):
        """The translation of a device function for such arguments."""
        known = {name: _coarse(value) for name, value in values.items()}
        key = python_function, tuple(_key(v) for v in known.values()), guarded
        if key not in self.functions:
            self.functions[key] = None
            name = self.unused(python_function.__name__.strip("_") or "function")
            made = Function(self, python_function, known, name, False, guarded)
            self.functions[key] = made.translate()
            self.order.append(made)
        if self.functions[key] is None:
            caller.refuse(node, f"{python_function.__name__}, which calls itself: OpenCL C has no recursion")
        return self.functions[key]

    def meets(self, source, node):
        return meets_in(source, node, self.cache)

    def function_meets(self, source, call):
        return meets_in(source, call, self.cache)

    def meets_at_all(self, function):
        return any(self.meets(function.source, statement) for statement in function.node.body)

    # -- what functions need ------------------------------------------------------------------------------------------

    def shared(self, function, node, name, pattern):
        """The name of a shared array, which OpenCL declares in the kernel; device functions get it as a parameter."""
        key = id(function), node
        if key not in self.local:
            c_name = name if function.is_kernel else self.unused(f"{function.name}_{name}")
            self.local[key] = c_name, pattern.format(c_name)
        function.hidden.add(("local", key))
        return self.local[key][0]

    def hidden_name(self, what):
        return what if isinstance(what, str) else self.local[what[1]][0]

    def hidden_declaration(self, what):
        if what == "exchange":
            return "__local ulong *exchange"
        if what == "dynamic":
            return "__local char *dynamic"
        return self.local[what[1]][1].partition(" __attribute__")[0].rstrip(";")

    def kernel_declarations(self, kernel):
        lines = [self.local[h[1]][1] for h in sorted(kernel.hidden, key=str) if not isinstance(h, str)]
        if "exchange" in kernel.hidden:
            threads = int(np.prod(self.block)) if self.block else 1024
            lines.append(f"__local ulong exchange[{threads}];")
        return lines

    def constant_array(self, array, kind, wanted):
        key = id(array)
        if key not in self.arrays:
            name = self.unused(wanted)
            items = ", ".join(literal(v, kind).text for v in array.ravel().tolist()) or "0"
            self.arrays[key] = array, name, f"__constant {NAMES[kind]} {name}[] = {{{items}}};"
        return self.arrays[key][1]

    def struct(self, kinds):
        name = "_".join(NAMES[k] for k in kinds) + "_t"
        fields = " ".join(f"{NAMES[k]} v{n};" for n, k in enumerate(kinds))
        self.structs[name] = f"typedef struct {{ {fields} }} {name};"
        return name

    def atomic(self, operation, c_type, space):
        name, text = atomic_by_exchange(operation, c_type, space)
        self.atomics[name] = text
        return name

    # -- the text -----------------------------------------------------------------------------------------------------

    def text(self, kernel):
        functions = [f.text() for f in self.order]
        main = kernel.text()
        if self.block:
            main = main.replace("__kernel void", f"__kernel __attribute__((reqd_work_group_size{self.block}))\nvoid", 1)
        body = "\n\n".join([*functions, main])
        atomics = [t for n, t in self.atomics.items() if re.search(rf"\b{n}\b", body)]
        together = used_in(body, TOGETHER)
        helpers = used_in("\n".join([body, *together, *atomics]), HELPERS)
        words = set(re.findall(r"\w+", body))
        defines = [f"#define {n} {_define(v)}" for n, v in self.constants.items() if n in words]
        arrays = [t for _, n, t in self.arrays.values() if n in words]
        structs = [t for n, t in self.structs.items() if n in words]
        everything = "\n".join([body, *atomics, *together, *helpers])
        pragmas = ["#pragma OPENCL FP_CONTRACT OFF"]
        if re.search(r"\b(double|as_double)\b", everything) or re.search(r"\d\.\d*(e[+-]?\d+)?(?![\df.e])", everything):
            pragmas.insert(0, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
        if "atom_" in everything:
            pragmas.insert(0, "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable")
            pragmas.insert(0, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable")
        parts = ["\n".join(pragmas), "\n".join(defines), *structs, *arrays, *helpers, *together, *atomics, body]
        return "\n\n".join(p for p in parts if p) + "\n"


def _define(value):
    return f"({value.text})" if value.text.startswith("-") else value.text


def _coarse(value):
    """What a device function is translated for: of a number, its type and whether it is a usual size."""
    if isinstance(value, Several):
        return Several(tuple(map(_coarse, value.items)))
    if isinstance(value, Value):
        usual = value.is_whole and 0 <= value.low and value.high <= LARGEST
        low, high = (0, LARGEST if not isinstance(value.type, types.Boolean) else 1) if usual else (None, None)
        return number("", value.type, low, high, uniform=value.uniform)
    if isinstance(value, ArrayValue):
        shape = tuple(v if v.constant is not None else number("", types.int64, 0, LARGEST) for v in value.shape)
        strides = None
        if value.strides is not None:
            strides = tuple(
                v if v.constant is not None else number("", types.int64, -1 if v.low < 0 else 0, LARGEST)
                for v in value.strides
            )
        uniform = value.uniform
        return ArrayValue("", value.dtype, value.space, shape, strides, value.fixed, value.readonly, uniform)
    return value


def _key(value):
    if isinstance(value, Several):
        return tuple(map(_key, value.items))
    return value
