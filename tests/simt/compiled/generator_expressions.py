"""Random expressions with a known type and level. Mixed into the generator of kernels."""

from generator_types import BLOCK, FLOATS, INTEGERS, THREAD, WARP, Expression, result
from numba.core import types

I32, I64, U32, U64, F32, F64 = (types.int32, types.int64, types.uint32, types.uint64, types.float32, types.float64)


class Expressions:
    """Needs ``random``, ``variables()``, ``shared``, ``inputs``, ``owned`` and ``features`` of the generator."""

    def pick(self, options):
        """One of [(weight, function)], called."""
        weights = [w for w, _ in options]
        return self.random.choices([f for _, f in options], weights)[0]()

    def chance(self, p):
        return self.random.random() < p

    # -- integers -----------------------------------------------------------------------------------------------------

    def integer(self, depth, level):
        """An expression of an integer type (int32, int64, uint32, or a smaller one from an array), never uint64."""
        if depth <= 0 or self.chance(0.15):
            return self.integer_leaf(level)
        kinds = [(6, self.arithmetic), (2, self.chosen_integer), (1, self.negated), (1, self.extreme)]
        if self.has("bits"):
            kinds += [(2, self.bit_count)]
        if self.has("floats"):
            kinds += [(1, self.rounded)]
        if self.has("device functions"):
            kinds += [(2, lambda d, v: self.call(d, v, INTEGERS))]
        made = self.pick([(w, lambda f=f: f(depth - 1, level)) for w, f in kinds])
        return made or self.integer_leaf(level)

    def arithmetic(self, depth, level):
        symbol = self.random.choice(("+", "-", "*", "+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"))
        left = self.integer(depth, level)
        if symbol in ("<<", ">>"):
            most = self.random.choice((3, 7, 31))
            right = Expression(f"({self.integer(0, level).cast(I64).text} & {most})", I64, level, most.bit_length())
            if self.chance(0.5):
                most = self.random.randrange(1, 8)
                right = Expression(str(most), I64, BLOCK, 3)
            left = left.below(62 - most) if symbol == "<<" else left
            bits = left.width + most if symbol == "<<" else left.width
        elif symbol in ("//", "%"):
            right = Expression(str(self.random.choice((2, 3, 5, 7, 8, 16, 31, 100))), I64, BLOCK, 7)
            if self.chance(0.3):
                right = Expression(f"({self.integer(0, level).cast(I64).text} % 7 + 1)", I64, level, 3)
            if self.chance(0.1):
                right = Expression(f"(-{self.random.randrange(2, 9)})", I64, BLOCK, 4)
            bits = right.bits if symbol == "%" else left.width
        else:
            right = self.integer(depth, level)
            if symbol == "*":
                left, right = (
                    left.below(31 if right.width > 31 else 62 - right.width),
                    right.below(31 if left.width > 31 else 62 - left.width),
                )
            else:
                left, right = left.below(61), right.below(61)
            bits = left.width + right.width if symbol == "*" else max(left.width, right.width) + 1
        kind = result(symbol, left.type, right.type)
        if kind != I64 or U64 in (left.type, right.type):  # uint32 with uint32 is uint64, with which int64 is float64
            left, right, kind = left.cast(I64), right.cast(I64), result(symbol, I64, I64)
        return Expression(f"({left.text} {symbol} {right.text})", kind, max(left.level, right.level), bits)

    def chosen_integer(self, depth, level):
        if self.inputs and not self.in_device and self.chance(0.15):
            inside, element, top = self.outside(level)
            chosen = self.random.choice((element, f"(1 if -500 < {element} < 500 else 2)"))
            return Expression(f"({chosen} if {inside} else {self.random.randrange(9)})", I64, top, 10)
        if self.chance(0.1):
            place, top = self.index(3, level)
            first = self.random.choice(("", " - 3"))
            items = ", ".join(str(self.random.randrange(-9, 99)) for _ in range(3))
            return Expression(f"({items})[{place}{first}]", I64, top, 7)
        condition = self.condition(depth, level)
        kind = self.random.choice(INTEGERS if not self.plain else (I64,))
        a, b = (self.integer(depth, level).cast(kind) for _ in range(2))
        top, bits = max(condition.level, a.level, b.level), max(a.width, b.width)
        if self.has("bits") and self.chance(0.2):
            return Expression(f"cuda.selp({condition.text}, {a.text}, {b.text})", kind, top, bits)
        if self.chance(0.2) and not self.plain:  # two types in the branches: numba makes one that holds both
            b = self.integer(depth, level).cast(self.random.choice((I32, I64)))
            return Expression(
                f"int64({a.cast(I32).text} if {condition.text} else {b.text})", I64, max(top, b.level), max(31, b.width)
            )
        return Expression(f"({a.text} if {condition.text} else {b.text})", kind, top, bits)

    def negated(self, depth, level):
        a = self.integer(depth, level)
        form = self.random.choice(("-{}", "~{}", "abs({})"))
        return Expression(f"({form.format(a.cast(I64).text)})", I64, a.level, a.width + 1)

    def extreme(self, depth, level):
        a, b = (self.integer(depth, level).cast(I64) for _ in range(2))
        return Expression(
            f"{self.random.choice(('min', 'max'))}({a.text}, {b.text})",
            I64,
            max(a.level, b.level),
            max(a.width, b.width),
        )

    def bit_count(self, depth, level):
        a = self.integer(depth, level)
        name = self.random.choice(("popc", "clz", "ffs", "brev"))
        kind = self.random.choice((U32, I64) if name != "brev" else (U32,))
        return Expression(f"int64(cuda.{name}({kind}({a.text})))", I64, a.level, 32)

    def rounded(self, depth, level):
        a = self.tamed(self.real(self.random.choice(FLOATS if not self.plain else (F64,)), depth, level))
        name = self.random.choice(("int64", "int32", "int", "round") if not self.plain else ("int",))
        if name == "round":
            return Expression(f"int64(round({a.text}))", I64, a.level, 10)
        return Expression(f"{name}({a.text})", I32 if name == "int32" else I64, a.level, 10)

    def integer_leaf(self, level):
        def literal():
            big = (0x7FFFFFFF, -(1 << 31), (1 << 40) + 3, (1 << 33) - 1, 0xFFFF, -1)
            value = self.random.choice(big) if self.chance(0.08) and not self.plain else self.random.randrange(-9, 17)
            text = str(value) if value >= 0 else f"({value})"
            if self.chance(0.15) and 0 <= value < 1 << 31 and not self.plain:
                kind = self.random.choice((I32, U32))
                return Expression(f"{kind}({text})", kind, bits=value.bit_length())
            return Expression(text, I64, bits=value.bit_length())

        options = [(3, literal), (3, lambda: self.place(level))]
        found = [v for v in self.variables() if v.kind == "number" and v.type in INTEGERS and v.level <= level]
        if found:
            options.append((8, lambda: self.read(self.favourite(found))))
        loads = [f for f in self.loads(level) if f[0] not in FLOATS]
        if loads:
            options.append((5, lambda: self.random.choice(loads)[1]()))
        return self.pick(options)

    def place(self, level):
        """Where the thread is, and the sizes of the launch."""
        options = ["cuda.blockIdx.x", "cuda.blockDim.x", "cuda.gridDim.x", "b", "n", *self.constants]
        if self.has("3-D"):
            options += ["cuda.blockIdx.y", "cuda.blockDim.y", "cuda.gridDim.y", "cuda.blockDim.z"]
        levels = dict.fromkeys(options, BLOCK)
        if level >= WARP:
            levels["t // 32"] = WARP
        if level >= THREAD:
            names = ["t", "g", "tx", "cuda.threadIdx.x"]
            names += ["cuda.laneid"] if self.has("warps") and not self.plain else ["t % 32"]
            names += ["cuda.threadIdx.y", "ty", "cuda.threadIdx.z"] if self.has("3-D") else ["cuda.grid(1)"]
            levels.update(dict.fromkeys(names, THREAD))
        own = [text for text, at in levels.items() if at == THREAD]
        text = self.random.choice(own if own and self.chance(0.6) else list(levels))
        narrow = text.startswith(("cuda.", "tx", "ty")) and "grid(" not in text and not self.plain
        kind = I32 if narrow else I64
        return Expression(f"({text})" if " " in text else text, kind, levels[text], 20)

    # -- numbers with a point -----------------------------------------------------------------------------------------

    def real(self, kind, depth, level):
        """An expression of float32 or float64 that every engine must evaluate to the same bits."""
        if depth <= 0 or self.chance(0.15):
            return self.real_leaf(kind, level)
        options = [(6, self.real_arithmetic), (1, self.chosen_real), (2, self.exact_function), (1, self.converted)]
        if self.has("device functions"):
            options += [(2, lambda k, d, v: self.call(d, v, (k,)))]
        made = self.pick([(w, lambda f=f: f(kind, depth - 1, level)) for w, f in options])
        return made or self.real_leaf(kind, level)

    def real_arithmetic(self, kind, depth, level):
        symbol = self.random.choice("+-*+-*/")
        left, right = self.real(kind, depth, level), self.real(kind, depth, level)
        if kind == F64 and not self.plain and self.chance(0.3):  # float32 with an integer is float64
            right = (self.chance(0.5) and self.real(F32, depth, level)) or self.modest(depth, level)
        top = max(left.level, right.level)
        if symbol == "/":
            return Expression(f"({left.text} / (abs({right.text}) + {self.one(kind)}))", kind, top)
        return Expression(f"({left.text} {symbol} {right.text})", kind, top)

    def one(self, kind):
        return "1.0" if kind == F64 else "float32(1)"

    def modest(self, depth, level):
        """An integer that any float holds exactly."""
        a = self.integer(depth, level)
        return Expression(f"({a.text} % {self.random.choice((17, 1009))})", I64, a.level, 10)

    def converted(self, kind, depth, level):
        a = self.modest(depth, level)
        if kind == F64:
            return Expression(f"({a.text} / 8)" if self.chance(0.5) else f"float64({a.text})", F64, a.level)
        return a.cast(F32)

    def chosen_real(self, kind, depth, level):
        condition = self.condition(depth, level)
        a, b = (self.real(kind, depth, level) for _ in range(2))
        if kind == F64 and self.chance(0.3) and not self.plain:
            b = self.real(F32, depth, level)
        top = max(condition.level, a.level, b.level)
        return Expression(f"({a.text} if {condition.text} else {b.text})", kind, top)

    def exact_function(self, kind, depth, level):
        a = self.real(kind, depth, level)
        name = self.random.choice(("sqrt", "floor", "ceil", "fabs", "abs", "neg", "min", "max", "fma", "mod"))
        if self.plain and name in ("fma", "floor", "ceil"):
            name = "abs"
        if name == "sqrt":
            return Expression(f"math.sqrt(abs({a.text}))", kind, a.level)
        if name in ("floor", "ceil"):
            return Expression(f"{kind}(math.{name}({self.tamed(a).text}))", kind, a.level)
        if name == "neg":
            return Expression(f"(-{a.text})", kind, a.level)
        if name in ("fabs", "abs"):
            return Expression(f"{'math.fabs' if name == 'fabs' else 'abs'}({a.text})", kind, a.level)
        b = self.real(kind, depth, level)
        top = max(a.level, b.level)
        if name in ("min", "max"):  # with a nan, engines may answer differently
            return Expression(f"{name}({self.tamed(a).text}, {self.tamed(b).text})", kind, top)
        if name == "mod":
            return Expression(f"({self.tamed(a).text} % {kind}({self.random.choice((0.75, 1.5, 3.0))}))", kind, a.level)
        c = self.real(kind, 0, level)
        return Expression(f"cuda.fma({a.text}, {b.text}, {c.text})", kind, max(top, c.level))

    def tamed(self, a):
        """The same number if it is between -1000 and 1000, else 0.5: no nan, and it fits into an integer."""
        self.helpers.add("tame" if a.type == F64 else "tame32")
        return Expression(f"{'tame' if a.type == F64 else 'tame32'}({a.text})", a.type, a.level)

    def real_leaf(self, kind, level):
        def literal():
            value = self.random.choice((0.0, 1.0, 0.5, -0.25, 2.0, 0.1, -1.7, 3.3))
            text = str(value) if value >= 0 else f"({value})"
            return Expression(text if kind == F64 else f"float32({value})", kind)

        options = [(2, literal)]
        found = [v for v in self.variables() if v.kind == "number" and v.type == kind and v.level <= level]
        if found:
            options.append((8, lambda: self.read(self.favourite(found))))
        loads = [f for f in self.loads(level) if f[0] == kind]
        if loads:
            options.append((5, lambda: self.random.choice(loads)[1]()))
        return self.pick(options)

    def rough(self, level):
        """A float64 from functions that libraries round differently: kept away from conditions and integers."""
        name = self.random.choice(("exp", "exp", "exp", "sin", "cos", "tanh", "log", "exp2", "pow", "atan2", "erf"))
        kind = self.random.choice(FLOATS)
        a = self.tamed(self.real(kind, 1, level))
        x = f"({a.text} * {kind}(0.004))"
        if name == "log":
            text = f"math.log(abs({x}) + {self.one(kind)})"
        elif name in ("pow", "atan2"):
            text = f"math.{name}(abs({x}) + {self.one(kind)}, {x})"
        else:
            text = f"math.{name}({x})"
        return Expression(text, kind, a.level)
