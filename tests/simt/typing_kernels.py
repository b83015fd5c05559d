"""Random kernels of which some have types and some have none: what test_typing.py asks both compilers about.

    print(source_of(17))            the kernel of a seed; ARGUMENTS names its parameters and what they get

Each is a few statements, most of them sound by themselves; in some, one part has a type that it should not have, stands
where it should not stand, or is missing. All lines are reached by some thread, and indices lie inside.
"""

import linecache
import math
import random

import numpy as np
from numba import complex64, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64

from simt import cuda

TILE, SIZES, FLOAT = 8, (4, 8), 2.5
TABLE = np.arange(8, dtype=np.float32)
GRID = np.arange(64, dtype=np.int32).reshape(8, 8)


@cuda.jit(device=True)
def twice(x):
    return x + x


@cuda.jit(device=True)
def chosen(c, x, y):
    if c:
        return x
    return y


@cuda.jit(device=True)
def first_of(values, k):
    return values[k]


@cuda.jit(device=True)
def put(values, k, x):
    values[k] = x


@cuda.jit(device=True)
def both(x, y=1):
    return x, y


def plain(x):
    return x + 1


#: parameter -> what a launch gives
ARGUMENTS = {
    "af": np.ones(64, np.float32), "ad": np.ones(64), "ai": np.ones(64, np.int32), "al": np.ones(64, np.int64),
    "au": np.ones(64, np.uint32), "av": np.ones(64, np.uint64), "ab": np.ones(64, np.bool_), "as_": np.ones(64, np.int16),
    "a8": np.ones(64, np.uint8), "ac": np.ones(64, np.complex64), "az": np.ones(64, np.complex128),
    "f2": np.ones((8, 8), np.float32), "i2": np.ones((8, 8), np.int32), "u3": np.ones((4, 4, 4), np.uint32),
    "i": np.int32(3), "l": 2, "u": np.uint32(5), "s": np.int16(4), "q": np.uint8(6), "f": np.float32(1.5), "d": 2.5,
    "b": True, "c": np.complex64(1 + 2j), "z": 1j,
}  # fmt: skip
#: what the kernels find outside of themselves
NAMES = {
    "TILE": TILE, "SIZES": SIZES, "FLOAT": FLOAT, "TABLE": TABLE, "GRID": GRID, "twice": twice, "chosen": chosen,
    "first_of": first_of, "put": put, "both": both, "plain": plain, "math": math, "np": np, "cuda": cuda,
    "complex64": complex64, "float32": float32, "float64": float64, "int8": int8, "int16": int16, "int32": int32,
    "int64": int64, "uint8": uint8, "uint32": uint32, "uint64": uint64,
}  # fmt: skip
INTEGERS, FLOATS = ("i", "l", "u", "s", "q"), ("f", "d")
ARRAYS_1 = ("af", "ad", "ai", "al", "au", "av", "ab", "as_", "a8", "ac", "az")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
TYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64", "complex64", "np.float32",
    "np.int64", "np.uint8", "np.float64", "int", "float", "bool", "complex",
)  # fmt: skip
DTYPES = (
    "float32",
    "float64",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "int8",
    "np.float32",
    "np.int32",
    "complex64",
    "np.bool_",
)
MATH_1 = (
    "sin", "cos", "tan", "exp", "log", "sqrt", "floor", "ceil", "fabs", "isnan", "isinf", "erf", "gamma", "lgamma", "log2",
    "trunc", "asin", "expm1", "radians",
)  # fmt: skip
MATH_2 = ("atan2", "hypot", "pow", "fmod", "copysign")
MATH_NONE = ("factorial", "gcd", "comb", "isqrt", "dist", "prod", "fsum")
ATOMICS = ("add", "sub", "max", "min", "nanmax", "nanmin", "exch", "and_", "or_", "xor", "inc", "dec")
MASK = "0xFFFFFFFF"


class Writer:
    """Writes one kernel."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.odd = self.random.choice((0.0, 0.03, 0.08, 0.15))  # how often a part is not what its place asks for
        self.lines, self.variables, self.number, self.used = [], [], 0, set()

    def pick(self, *among):
        return self.random.choice(among)

    def chance(self, p):
        return self.random.random() < p

    def name(self):
        self.number += 1
        return f"v{self.number}"

    # -- expressions ----------------------------------------------------------------------------------------------

    def index(self):
        """A whole number below 4, mostly."""
        if self.chance(self.odd):
            return self.pick("f", "1.0", "True", "None", "b", "d", "z", "'a'", "(1, 2)", "af", "t > 1", "1j", "t / 2")
        return self.pick(
            "0", "1", "2", "t & 3", "i & 3", "u & 3", "l & 3", "s % 4", "t % 4", "q & 3", "i", "3", "t // 8", "u % 4"
        )

    def whole(self, depth=0):
        if self.chance(self.odd):
            return self.anything(depth)
        if depth > 1:
            return self.pick(
                *INTEGERS, "t", "1", "7", "-3", "ai[t & 3]", "al[i]", "au[1]", "as_[2]", "a8[t]", "cuda.laneid", "b"
            )
        if self.chance(0.4):
            return f"({self.whole(depth + 1)} {self.pick('+', '-', '*', '//', '%', '&', '|', '^')} {self.whole(depth + 1)})"
        return self.pick(
            *INTEGERS, "t", "1", "7", "-3", f"ai[{self.index()}]", f"al[{self.index()}]", f"au[{self.index()}]",
            f"as_[{self.index()}]", f"i2[{self.index()}, {self.index()}]", "cuda.blockDim.x", "cuda.laneid", "cuda.warpsize",
            "len(af)", "af.size", "f2.shape[0]", "TILE", f"{self.pick('int32', 'int64', 'uint32', 'int')}({self.real(2)})",
            "cuda.grid(1)", "b", "GRID[1, 2]", "SIZES[0]",
        )  # fmt: skip

    def real(self, depth=0):
        if self.chance(self.odd):
            return self.anything(depth)
        if depth > 1:
            return self.pick(*FLOATS, *FLOATS, "1.5", "af[t]", "ad[i]", "f2[i, 1]", "i", "l", "TABLE[1]", "math.pi")
        if self.chance(0.4):
            return f"({self.real(depth + 1)} {self.pick('+', '-', '*', '/', '//', '%', '**')} {self.real(depth + 1)})"
        if self.chance(0.15):
            return f"math.{self.pick(*MATH_1)}({self.real(depth + 1)})"
        if self.chance(0.1):
            return f"math.{self.pick(*MATH_2)}({self.real(depth + 1)}, {self.real(depth + 1)})"
        return self.pick(
            *FLOATS, "f", "d", "1.5", "-0.5", f"af[{self.index()}]", f"ad[{self.index()}]", f"f2[{self.index()}, {self.index()}]",
            "i", "l", "TABLE[1]", "FLOAT", "math.pi", "np.pi", f"{self.pick('float32', 'float64', 'float', 'np.float32')}({self.whole(2)})",
        )  # fmt: skip

    def truth(self, depth=0):
        if self.chance(self.odd):
            return self.anything(depth)
        return self.pick(
            f"{self.real(2)} {self.pick(*COMPARE)} {self.whole(2)}", f"{self.whole(2)} {self.pick(*COMPARE)} {self.whole(2)}",
            "b", f"not {self.anything(2)}", "t == 0", f"{self.whole(2)} < {self.real(2)} <= {self.real(2)}", f"bool({self.real(2)})",
            f"{self.whole(2)} in (1, 2, 3)", f"{self.number_or_bool()} and {self.number_or_bool()}",
            f"{self.number_or_bool()} or {self.number_or_bool()}", f"ab[{self.index()}]", "i", "f", f"{self.anything(2)} is None",
        )  # fmt: skip

    def number_or_bool(self):
        return self.pick("b", "i", "f", "l", "t > 1", "t < 3", f"ab[{self.index()}]", self.whole(2), self.real(2))

    def scalar(self, depth=0):
        """A number of any kind."""
        choice = self.random.random()
        if self.variables and choice < 0.25:
            return self.pick(*self.variables)
        if choice < 0.5:
            return self.whole(depth)
        if choice < 0.78:
            return self.real(depth)
        if choice < 0.86:
            return f"({self.truth(depth)})"
        if choice < 0.93:
            return self.pick(
                "c", "z", "1j", f"ac[{self.index()}]", f"complex({self.real(2)}, {self.real(2)})", "z.real", "c.imag"
            )
        return self.special(depth)

    def special(self, depth=0):
        """Calls and forms by themselves."""
        n, x, e = self.whole, self.real, self.scalar if depth < 1 else self.real
        deep = 2
        return self.random.choice(
            (
                lambda: f"min({x(deep)}, {n(deep)})",
                lambda: f"max({x(deep)}, {x(deep)}, {n(deep)})",
                lambda: f"max({n(deep)}, {n(deep)})",
                lambda: f"abs({e(deep)})",
                lambda: f"round({x(deep)})",
                lambda: f"round({x(deep)}, {n(deep)})",
                lambda: f"{self.pick(*TYPES)}({e(deep)})",
                lambda: f"({e(deep)} if {self.truth(deep)} else {e(deep)})",
                lambda: f"{self.pick('-', '+', '~', 'not ')}{e(deep)}",
                lambda: f"({e(deep)} {self.pick(*BINARY)} {e(deep)})",
                lambda: f"({n(deep)} {self.pick('<<', '>>')} {n(deep)})",
                lambda: f"cuda.popc({n(deep)})",
                lambda: f"cuda.clz({n(deep)})",
                lambda: f"cuda.brev({n(deep)})",
                lambda: f"cuda.ffs({n(deep)})",
                lambda: f"cuda.cbrt({x(deep)})",
                lambda: f"cuda.fma({x(deep)}, {x(deep)}, {x(deep)})",
                lambda: f"cuda.selp({self.truth(deep)}, {x(deep)}, {x(deep)})",
                lambda: f"cuda.selp({self.truth(deep)}, {self.pick('i, i', 'f, f', 'd, d', 'l, u', 's, s', 'b, b')})",
                lambda: f"twice({e(deep)})",
                lambda: f"chosen({self.truth(deep)}, {e(deep)}, {e(deep)})",
                lambda: f"first_of({self.pick(*ARRAYS_1, 'f2', '(1, 2.5)', '(1, 2)')}, {self.index()})",
                lambda: f"both({e(deep)})[{self.pick('0', '1', 'i & 1', '2')}]",
                lambda: f"divmod({n(deep)}, {n(deep)})[0]",
                lambda: f"pow({x(deep)}, {n(deep)})",
                lambda: f"len({self.pick('af', 'f2', '(1, 2)', 'f2[0]', 'SIZES', 'i', 'f', 'TABLE')})",
                lambda: (
                    f"{self.pick('af', 'f2', 'u3')}.{self.pick('shape[0]', 'size', 'ndim', 'strides[0]', 'nbytes', 'itemsize')}"
                ),
                lambda: f"{self.pick('f2', 'i2', 'u3')}.shape[{self.pick('0', '1', '-1', 'i & 1', '5', 'f')}]",
                lambda: f"np.{self.pick('sqrt', 'exp', 'sin', 'abs', 'floor', 'rint', 'isnan', 'sign')}({e(deep)})",
                lambda: (
                    f"np.{self.pick('maximum', 'minimum', 'add', 'arctan2', 'power', 'hypot')}({e(deep)}, {e(deep)})"
                ),
                lambda: f"f2[{self.index()}][{self.index()}]",
                lambda: f"af[{self.pick('1:5', ':4', '2:', '::2', 'i:', '-3:')}][{self.index()}]",
                lambda: f"f2[{self.pick(':, 1', '1, :', '0', '..., 1')}][{self.index()}]",
                lambda: f"f2.T[{self.index()}, {self.index()}]",
                lambda: f"(1, {x(deep)})[{self.pick('0', '1', 'i & 1')}]",
                lambda: f"({n(deep)}, {n(deep)})[{self.pick('0', '1', 'i & 1', 't & 1')}]",
                lambda: f"math.{self.pick(*MATH_1)}({e(deep)})",
                lambda: f"math.{self.pick(*MATH_2)}({e(deep)}, {e(deep)})",
                lambda: f"{self.pick('af', 'ad', 'ai')}.{self.pick('sum', 'min', 'max', 'mean')}()",
                lambda: f"{self.pick('i', 'l', 'u')}.bit_count()",
                lambda: f"{self.pick('c', 'z', 'f')}.{self.pick('real', 'imag', 'conjugate()')}",
                lambda: f"math.{self.pick('frexp', 'modf')}({x(deep)})[0]",
                lambda: f"math.ldexp({x(deep)}, {n(deep)})",
                lambda: f"math.{self.pick('isfinite', 'nextafter', 'remainder', 'degrees', 'exp2')}({x(deep)})",
                lambda: f"math.remainder({x(deep)}, {x(deep)})",
            )
        )()

    def anything(self, depth=0):
        """Something that may have any type, or none."""
        return self.random.choice(
            (
                lambda: self.pick("None", "'text'", "(1, 2)", "(i, f)", "1j", "True", "...", "()", "((1, 2), 3)", "b''"),
                lambda: self.pick(*ARRAYS_1, "f2", "i2", "u3", "f2[0]", "af[1:3]", "TABLE", "SIZES", "f2.T", "af.shape"),
                lambda: self.pick("cuda.threadIdx", "cuda.threadIdx.w", "cuda.laneid.x", "cuda.blockDim", "cuda.gridsize(2)"),
                lambda: self.pick("missing", "math", "np", "cuda", "math.sin", "float32", "int", "twice", "plain(1)", "len"),
                lambda: f"math.{self.pick(*MATH_NONE)}({self.pick('3', 'f', '4, 2', 'i, l', 'af')})",
                lambda: self.pick("af.foo", "i.x", "f.shape", "i[0]", "f[1]", "af[0, 0]", "f2[0, 0, 0]", "u3[1]", "d.real", "b.T"),
                lambda: self.pick("f(1)", "i()", "af(0)", "len()", "abs()", "min(i)", "min()", "int(1, 2)", "float('1')", "str(i)"),
                lambda: self.pick("cuda.grid(4)", "cuda.grid(i)", "cuda.grid(2)", "cuda.grid(0)", "cuda.gridsize(1)", "cuda.grid()"),
                lambda: self.pick("af.sum(0)", "af.reshape((8, 8))", "f2.ravel()", "af.copy()", "af.tolist()", "af.mean()"),
                lambda: self.pick("sorted(af)", "sum(af)", "sum((1, 2))", "any(ab)", "list((1, 2))", "range(3)", "type(i)", "id(i)"),
                lambda: self.pick("[1, 2]", "{1: 2}", "{1, 2}", "[x for x in range(3)]", "f'{i}'", "lambda x: x", "{}", "[]"),
                lambda: self.pick("np.zeros(3)", "np.sum(af)", "np.array(i)", "np.dot(af, af)", "np.float32", "np.nan", "np.int32(1)"),
                lambda: self.pick("i @ l", "af + 1", "af * af", "af == af", "-af", "not af", "af and i", "f2 < 1", "abs(af)"),
                lambda: self.pick("'a' + 'b'", "'a' == 'b'", "len('abc')", "'a'[0]", "'a' in 'ab'", "'a' * 2", "(1, 2) + (3,)"),
                lambda: self.pick("(1, 2) == (1, 2)", "(1, 2) < (1, 3)", "None == None", "None is i", "i is l", "i in af", "2 in SIZES"),
                lambda: self.pick("i if b else None", "i if b else f", "(1 if b else (1, 2))", "af if b else ad", "af if b else f2"),
                lambda: self.pick("c < z", "c % 2", "c // 2", "c ** 2", "c & 1", "abs(c)", "int(c)", "float(z)", "bool(c)", "math.sin(c)"),
                lambda: self.pick("f << 1", "1 << d", "f & i", "d | 1", "~f", "~b", "-b", "b + b", "b // b", "b ** b", "b << b", "b & i"),
                lambda: self.scalar(depth),
                lambda: self.special(depth),
            )
        )()  # fmt: skip

    # -- statements -----------------------------------------------------------------------------------------------

    def emit(self, text, indent=1):
        self.lines += ["    " * indent + line for line in text.splitlines()]

    def target(self):
        """Where a value may be stored."""
        if self.chance(self.odd):
            return self.pick("i[0]", "f", "af[0, 1]", "f2[0]", "(1, 2)[0]", "TABLE[0]", "af.x", "cuda.threadIdx.x", "u3[0, 0]", "af[:]",
                             "af[1:3]", "f2[0, :]", "missing[0]", "b[0]", "t", "af['a']", "af[None]", "af[...]", "SIZES[0]")  # fmt: skip
        return self.pick(*(f"{a}[{self.index()}]" for a in ARRAYS_1), f"f2[{self.index()}, {self.index()}]",
                         f"i2[{self.index()}, {self.index()}]", f"u3[{self.index()}, {self.index()}, {self.index()}]",
                         f"f2[{self.index()}][{self.index()}]")  # fmt: skip

    def statement(self, indent=1):
        """One statement, or a small group."""
        forms = [
            (0.18, self.assignment), (0.14, self.store), (0.07, self.augmented), (0.13, self.atomic), (0.1, self.warp),
            (0.08, self.own_array), (0.09, self.unified), (0.06, self.loop), (0.05, self.barrier), (0.03, self.expression),
            (0.03, self.tuples), (0.02, self.odd_one), (0.02, self.called),
        ]  # fmt: skip
        shares, writers = zip(*forms, strict=True)
        self.random.choices(writers, shares)[0](indent)

    def assignment(self, indent):
        name = self.name()
        self.emit(f"{name} = {self.scalar()}", indent)
        self.variables.append(name)

    def store(self, indent):
        self.emit(f"{self.target()} = {self.scalar()}", indent)

    def augmented(self, indent):
        target = self.pick(*self.variables) if self.variables and self.chance(0.4) else self.target()
        self.emit(f"{target} {self.pick(*BINARY)}= {self.scalar()}", indent)

    def atomic(self, indent):
        operation = self.pick(*ATOMICS, "add", "max", "cas")
        kinds = {"and_": 4, "or_": 4, "xor": 4, "exch": 4, "cas": 4, "inc": 2, "dec": 2}.get(operation, 6)
        names = ("au", "av", "ai", "al", "af", "ad")[:kinds]
        array = self.pick(*names, *names, *ARRAYS_1) if self.chance(0.3) else self.pick(*names)
        index = self.index()
        if self.chance(0.2):
            array, index = (
                self.pick("f2", "i2", "u3"),
                self.pick("(0, 1)", "(t & 3, i)", "0", "(0, 1, 2)", "(i, u & 3, 1)", "(1.0, 2)"),
            )
        if self.chance(0.05):
            index = self.pick("(0,)", "(t & 3,)", "(0, 1)", "1:3", "-1")
        value = self.scalar(1)
        call = f"cuda.atomic.{operation}({array}, {index}, {value})"
        if operation == "cas":
            call = f"cuda.atomic.cas({array}, {index}, {self.scalar(1)}, {value})"
        if self.chance(0.04):
            call = f"cuda.atomic.compare_and_swap({self.pick('ai', 'ai[1:]', array)}, {self.scalar(1)}, {value})"
        if self.chance(0.03):
            call = self.pick(
                f"cuda.atomic.{operation}({array}, {index})",
                f"cuda.atomic.mul({array}, {index}, {value})",
                f"cuda.atomic.{operation}({array}, idx={index}, val={value})",
                f"cuda.atomic.add({value}, {index}, 1)",
            )
        if self.chance(0.5):
            name = self.name()
            self.emit(f"{name} = {call}", indent)
            self.variables.append(name)
        else:
            self.emit(call, indent)

    def warp(self, indent):
        mask = (
            MASK
            if self.chance(0.85)
            else self.pick("-1", "u", "i", "f", "q", "None", "l", "b", "True", "s", "0xFFFFFFFF + 0")
        )
        lane = (
            self.pick("0", "1", "i", "l", "u", "t & 3")
            if self.chance(0.85)
            else self.pick("f", "1.0", "b", "q", "s", "None", "z")
        )
        value = self.pick("i", "l", "f", "d", "ai[t]", "af[t]", "t", "1", "2.5") if self.chance(0.7) else self.scalar(1)
        truth = self.truth(1) if self.chance(0.8) else self.scalar(1)
        whole = (
            self.pick("i", "l", "u", "q", "s", "1", "t", "int32(b)", "1 if b else 0")
            if self.chance(0.7)
            else self.scalar(1)
        )
        shuffle = self.pick("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
        call = self.pick(
            f"{shuffle}({mask}, {value}, {lane})", f"{shuffle}({mask}, {value}, {lane})", f"{shuffle}({mask}, {value}, {lane})",
            f"ballot_sync({mask}, {truth})", f"any_sync({mask}, {truth})", f"all_sync({mask}, {truth})", f"eq_sync({mask}, {truth})",
            f"match_any_sync({mask}, {value})", f"match_all_sync({mask}, {value})[0]", "activemask()", "lanemask_lt()",
            f"syncthreads_count({whole})", f"syncthreads_and({whole})", f"syncthreads_or({whole})",
        )  # fmt: skip
        if self.chance(0.03):
            call = self.pick(f"{shuffle}({value}, {lane})", "ballot_sync(1)", f"ballot({truth})", f"{shuffle}({mask}, {value})",
                             f"{shuffle}({mask}, value={value}, {self.pick('src_lane', 'delta', 'lane_mask')}={lane})")  # fmt: skip
        name = self.name()
        self.emit(f"{name} = cuda.{call}", indent)
        self.variables.append(name)

    def own_array(self, indent):
        name, space = self.name(), self.pick("shared", "local")
        shape = self.pick("8", "(4, 4)", "TILE", "SIZES", "(TILE, 4)", "(8,)", "2 * 4")
        if self.chance(2 * self.odd):
            shape = self.pick("l", "i", "TILE + 1", "(TILE, l)", "len(af)", "af.shape", "8.0", "TILE * 2", "None", "'8'", "(2, 2.0)", "FLOAT",
                              "int32(8)", "(TILE + 1, 4)", "[8]", "True", "t", "f2.shape[0]", "SIZES[0]")  # fmt: skip
        dtype = self.pick(*DTYPES)
        if self.chance(2 * self.odd):
            dtype = self.pick(
                "float",
                "int",
                "'float32'",
                "af.dtype",
                "'f4'",
                "None",
                "1",
                "f",
                "bool",
                "af",
                "complex",
                "np.dtype('f4')",
                "missing",
            )
        call = self.pick(
            f"{space}.array({shape}, {dtype})",
            f"{space}.array({shape}, {dtype})",
            f"{space}.array(shape={shape}, dtype={dtype})",
            f"{space}.array({shape}, dtype={dtype})",
        )
        if self.chance(0.04):
            call = self.pick(f"{space}.array({shape})", f"{space}.array(dtype={dtype})", f"{space}.zeros({shape}, {dtype})", f"{space}.array({shape}, {dtype}, 16)",
                             "const.array_like(TABLE)", "const.array_like(af)", "const.array_like(GRID)", "const.array_like(1)")  # fmt: skip
        self.emit(f"{name} = cuda.{call}", indent)
        two = shape == "SIZES" or (shape.startswith("(") and "," in shape.rstrip(",)"))
        if self.chance(self.odd):
            two = not two
        place = f"{self.pick('1', 't & 3', 'i')}, {self.index()}" if two else self.index()
        self.emit(f"{name}[{place}] = {self.scalar(1)}", indent)
        self.emit(f"{self.target()} = {name}[{place}]", indent)

    def unified(self, indent):
        """A variable that has several values on its way."""
        name = self.name()
        first, second = (self.scalar(1) if self.chance(0.8) else self.anything(1) for _ in range(2))
        form = self.random.randrange(6)
        if form == 0:
            self.emit(f"if {self.truth(1)}:\n    {name} = {first}\nelse:\n    {name} = {second}", indent)
        elif form == 1:
            self.emit(f"{name} = {first}\nif {self.truth(1)}:\n    {name} = {second}", indent)
        elif form == 2:
            self.emit(f"{name} = {first}\nfor k in range(2):\n    {name} = {second}", indent)
        elif form == 3:
            self.emit(f"{name} = {first}\n{name} = {second}", indent)
        elif form == 4:
            self.emit(f"{name} = {first}\nfor k in range(2):\n    {name} {self.pick('+', '*', '-')}= {second}", indent)
        else:
            self.emit(f"if {self.truth(1)}:\n    {name} = {first}", indent)
        self.emit(f"{self.target()} = {name}", indent)
        self.variables.append(name)

    def loop(self, indent):
        name = self.name()
        over = self.pick("range(2)", "range(i)", "range(t & 3)", "range(0, 4, 2)", "range(l)", "range(u)", "range(len(af))", "af[:3]", "(1, 2, 3)",
                         "SIZES", "ai", "range(q)", "range(i, 0, -1)")  # fmt: skip
        if self.chance(2 * self.odd):
            over = self.pick("range(f)", "range(2.0)", "(1, 2.5)", "(1, 'a')", "f2", "i", "range(b)", "range()", "None", "'abc'", "range(1, 2, 3, 4)",
                             "zip(af, ai)", "enumerate(af)", "enumerate(f2[0])", "reversed(af)", "range(None)", "f2[0]", "(i, f, d)", "range(True)",
                             "[1, 2]", "zip(range(2), (1, 2))", "(af, ad)", "(af, f2)", "(af, af)")  # fmt: skip
        kind = self.random.randrange(5)
        if kind < 3:
            self.emit(f"for {name} in {over}:", indent)
            self.emit(self.pick(f"{self.target()} = {self.scalar(1)}", f"{self.target()} = {name}", f"af[{name}] = 1", "pass",
                                f"if {name} > 1:\n    break", f"if {self.truth(1)}:\n    continue"), indent + 1)  # fmt: skip
            if self.chance(0.2):
                self.variables.append(name)
        elif kind == 3:
            self.emit(
                f"{name} = 0\nwhile {name} < {self.pick('3', 'i', 'l', '2.5', 'u')}:\n    {name} += "
                f"{self.pick('1', 'l', '1.0', 'True', 'i', 'u')}",
                indent,
            )
        else:
            self.emit(
                f"{name} = {self.scalar(1)}\nwhile {self.truth(1)}:\n    {name} = {self.scalar(1)}\n    break", indent
            )

    def barrier(self, indent):
        usual = (
            "syncthreads()",
            "syncwarp()",
            f"syncwarp({MASK})",
            "threadfence()",
            "threadfence_block()",
            "nanosleep(10)",
            "syncthreads()",
        )
        odd = ("syncthreads(1)", "syncwarp(f)", "nanosleep()", "nanosleep(f)", "syncthreads_all()", "threadfence(1)", "syncwarp(None)",
               "syncthreads", "cg.this_grid()", "nanosleep(i)", "syncwarp(i)", "syncwarp(u)", "syncwarp(l)", "threadfence_system()")  # fmt: skip
        self.emit(f"cuda.{self.pick(*odd) if self.chance(0.25) else self.pick(*usual)}", indent)

    def expression(self, indent):
        self.emit(self.anything(), indent)

    def tuples(self, indent):
        a, b = self.name(), self.name()
        form = self.random.randrange(5)
        if form == 0:
            self.emit(f"{a}, {b} = {self.scalar(1)}, {self.scalar(1)}", indent)
        elif form == 1:
            self.emit(
                f"{a}, {b} = "
                f"{self.pick('both(i)', 'both(i, f)', 'f2.shape', 'cuda.grid(2)', 'SIZES', 'divmod(i, 2)', 'u3.shape', '(1, 2, 3)', 'i', 'af', 'divmod(f, i)')}",
                indent,
            )
        elif form == 2:
            self.emit(
                f"{a} = ({self.scalar(1)}, {self.scalar(1)})\n{b} = "
                f"{a}[{self.pick('0', '1', '1', 'i & 1', '-1', '2', 'f')}]",
                indent,
            )
        elif form == 3:
            self.emit(f"{a} = {b} = {self.scalar(1)}", indent)
        else:
            self.emit(f"{a}, {b} = {self.scalar(1)}, 1\n{a}, {b} = {b}, {a}", indent)
        self.variables += [a, b] if form != 2 else [b]

    def called(self, indent):
        self.emit(self.pick(
            f"put({self.pick(*ARRAYS_1, 'f2', 'i', '(1, 2)')}, {self.index()}, {self.scalar(1)})", f"print({self.scalar(1)}, 'x')",
            "put(af, 0)", "put(af, k=1, x=2)", "twice(1, 2)", "both(x=1)", "both(1, y=i)", "both()", f"print({self.pick('af', 'b', 'c', 'SIZES', '', 'None')})",
            f"assert {self.truth(1)}", f"assert {self.truth(1)}, 'text'", "assert i > 0, i",
            f"if {self.truth(1)} and t > 99:\n    raise ValueError", "if t > 99:\n    raise ValueError('no', 1)", "if t > 99:\n    raise ValueError(i)",
            f"{self.pick('af', 'f2')}.{self.pick('fill(0)', 'sort()', 'sum()', 'T', 'shape', 'dtype', 'copy()', 'astype(int32)')}",
        ), indent)  # fmt: skip

    def odd_one(self, indent):
        self.emit(self.pick(
            f"return {self.pick('', '', 'None', '1', 'i', 'af', 'f', '()')}", f"if {self.truth(1)}:\n    return", f"if {self.truth(1)}:\n    return {self.pick('None', '1', 'f')}",
            "global TILE", "del i", "import math", "v = missing", "later = i if b else unset", "i = 2", "i = 2.5", "i = None", "f = i", "af = ad",
            "af = af[1:]", "af = f2", "b = 1", "l = af", "t = 1.5", "x: int = 3", "x = y = z = 1", "math.sin", "cuda = 1", "i += f", "q += 1", "l /= 2",
            "try:\n    i = 1\nexcept ValueError:\n    pass", "with i:\n    pass", "def g(x):\n    return x + 1\naf[0] = g(1)", "g = lambda x: x + 1\naf[0] = g(i)",
            "match i:\n    case 1:\n        af[0] = 1\n    case _:\n        af[0] = 2", "yield 1", "sync = cuda.syncthreads\nsync()", "kind = float32\naf[0] = kind(1)",
            "pair = af, f2\npair[0][0] = 1", "p = cuda.threadIdx\naf[p.x] = 1", "p = cuda.threadIdx\naf[p] = 1", "w = (i, f, d)\naf[0] = w[t & 1]",
        ), indent)  # fmt: skip

    def write(self):
        self.emit("t = cuda.threadIdx.x")
        for _ in range(self.random.choice((1, 2, 2, 3, 4))):
            if self.chance(0.12):
                inner = len(self.variables)
                self.emit(f"if {self.truth(1)}:")
                self.statement(2)
                if self.chance(0.7):
                    del self.variables[inner:]
            else:
                self.statement()
        if self.variables and self.chance(0.7):
            self.emit(f"{self.target()} = {self.pick(*self.variables)}")
        return f"def kernel({', '.join(ARGUMENTS)}):\n" + "\n".join(self.lines) + "\n"


def source_of(seed):
    """The text of the kernel of a seed."""
    return Writer(seed).write()


def function_of(text, number=0):
    """The Python function of a kernel's text; None where Python itself does not take it."""
    file = f"<typing kernel {number}>"
    try:
        code = compile(text, file, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    namespace = dict(NAMES)
    exec(code, namespace)
    return namespace["kernel"]


def arguments():
    """Fresh arguments of a launch."""
    return [np.copy(v) if isinstance(v, np.ndarray) else v for v in ARGUMENTS.values()]
