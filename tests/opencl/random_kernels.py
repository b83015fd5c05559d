"""Random kernels in OpenCL C, of which C leaves nothing open: no division by zero, no float that an int cannot hold.

No signed sum, difference or product overflows either, of which a compiler may conclude what it likes: what may grow is
unsigned, or cut to 16 bits before. Floats are of one rounding only (FP_CONTRACT is OFF).
"""

import random

WHOLE = ("int", "uint", "long", "ulong", "short", "uchar", "char", "ushort")
GROUP, ITEMS = 8, 16


class Writer:
    """Writes one kernel: ``f(a, x, out, reals, n)``; out has VARIABLES longs for each work-item, reals floats."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.depth, self.whole, self.real, self.count = [], 1, {}, [], 0
        self.fixed = set()

    def pick(self, *choices):
        return self.random.choice(choices)

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    # -- expressions ---------------------------------------------------------------------------------------------------

    def constant(self):
        number = self.pick(0, 1, 2, 3, 7, 31, 100, 255, 65535, 2147483647, self.random.randrange(1 << 31))
        suffix = self.pick("", "", "", "u", "L", "UL")
        return f"(-{number})" if self.random.random() < 0.3 else f"{number}{suffix}"

    def integer(self, depth=3):
        """A whole-number expression."""
        if depth == 0 or self.random.random() < 0.15:
            leaf = self.random.random()
            if leaf < 0.55 and self.whole:
                return self.random.choice(list(self.whole))
            if leaf < 0.7:
                return self.pick(
                    "n", "(int)get_global_id(0)", "get_local_id(0)", "a[get_global_id(0)]", "(int)get_local_size(0)"
                )
            return self.constant()
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        way = self.random.randrange(14)
        if way < 2:
            return f"({a} {self.pick('&', '|', '^')} {b})"
        if way < 4:
            kind = self.pick("uint", "ulong", "short", "ushort")
            b = f"(short)({b})" if kind == "ushort" else f"({kind})({b})"  # no product of two ushort, which are int
            return f"(({kind})({a}) {self.pick('+', '-', '*')} {b})"
        if way == 4:
            return f"((uchar)({a}) {self.pick('+', '-', '*')} {self.random.randrange(1000)})"
        if way == 5:
            return f"({a} {self.pick('/', '%')} (({b} & 15) + 1))"
        if way == 6:
            return f"({a} {self.pick('/', '%')} {self.pick('-', '')}{self.random.randrange(2, 20)})"
        if way == 7:
            return f"({a} {self.pick('<<', '>>')} ({b} & 31))"
        if way == 8:
            return f"({a} {self.pick('<<', '>>')} {self.random.randrange(31)})"
        if way == 9:
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        if way == 10:
            return f"(({self.pick(*WHOLE)})({a}))"
        if way == 11:
            return self.pick(f"~({a})", f"+({a})", f"-((short)({a}))", f"-((uint)({a}))")
        if way == 12:
            return f"{self.pick('min', 'max')}((int)({a}), (int)({b}))"
        return self.pick(
            f"abs((int)({a}))",
            f"({self.condition(depth - 1)})",
            f"(int)clamp({self.number(1)}, -1000.0f, 1000.0f)",
            f"twice({a})",
            f"mul24((int)({a}) & 4095, 37)",
        )

    def condition(self, depth=2):
        if depth == 0:
            return f"({self.integer(0)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.integer(0)})"
        way = self.random.randrange(5)
        if way == 0:
            return f"({self.condition(depth - 1)} {self.pick('&&', '||')} {self.condition(depth - 1)})"
        if way == 1:
            return f"!({self.condition(depth - 1)})"
        if way == 2:
            return f"({self.number(1)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.number(1)})"
        return f"({self.integer(depth)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.integer(depth)})"

    def number(self, depth=2):
        """An expression of type float."""
        if depth == 0:
            choices = [
                "x[get_global_id(0)]",
                "1.5f",
                "0.25f",
                "-3.0f",
                f"{self.random.randrange(100)}.125f",
                *self.real,
            ]
            return self.random.choice(choices)
        a, b = self.number(depth - 1), self.number(depth - 1)
        way = self.random.randrange(8)
        if way < 3:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if way == 3:
            return f"({a} / ({b} * {b} + 1.0f))"
        if way == 4:
            return f"({self.condition(0)} ? {a} : {b})"
        if way == 5:
            return f"{self.pick('fmin', 'fmax')}({a}, {b})"
        if way == 6:
            return f"fabs({a})"
        return f"(float)({self.integer(1)})"

    # -- statements ----------------------------------------------------------------------------------------------------

    def statement(self, depth):
        way = self.random.randrange(12)
        if way < 3 or not self.whole:
            kind = self.pick(*WHOLE)
            name = self.fresh()
            self.line(f"{kind} {name} = {self.integer()};")
            self.whole[name] = kind
        elif way == 3:
            name = self.fresh()
            self.line(f"float {name} = {self.number()};")
            self.real.append(name)
        elif way < 6:
            self.assign()
        elif way == 6 and self.real:
            self.line(f"{self.random.choice(self.real)} {self.pick('=', '+=', '-=', '*=')} {self.number()};")
        elif way == 7:
            self.line(f"p[({self.integer(1)}) & 3] = {self.integer()};")
        elif way == 8:
            name = self.variable()
            self.line(f"{name} {self.pick('=', '^=')} p[({self.integer(1)}) & 3];" if name else ";")
        elif depth > 0:
            self.branch(depth) if way < 10 else self.loop(depth)
        else:
            self.assign()

    def variable(self):
        free = [v for v in self.whole if v not in self.fixed]
        return self.random.choice(free) if free else None

    def assign(self):
        name = self.variable()
        if name is None:
            return
        way = self.random.randrange(4) if self.whole[name] not in ("int", "long") else self.random.randrange(2, 4)
        if way == 0:
            self.line(f"{name}{self.pick('++', '--')};")
        elif way == 1 and self.whole[name] in ("char", "uchar", "short", "ushort"):
            self.line(f"{name} {self.pick('+=', '-=', '*=', '&=', '|=', '^=')} (uchar)({self.integer()});")
        elif way == 1:
            self.line(f"{name} {self.pick('+=', '-=', '*=', '&=', '|=', '^=')} {self.integer()};")
        elif way == 2:
            self.line(f"{name} {self.pick('<<=', '>>=')} {self.random.randrange(8)};")
        else:
            self.line(f"{name} = {self.integer()};")

    def inner(self, count, depth):
        known = dict(self.whole), list(self.real)
        self.depth += 1
        for _ in range(count):
            self.statement(depth)
        self.depth -= 1
        self.whole, self.real = known

    def branch(self, depth):
        self.line(f"if ({self.condition()}) {{")
        self.inner(2, depth - 1)
        if self.random.random() < 0.5:
            self.line("} else {")
            self.inner(2, depth - 1)
        self.line("}")

    def loop(self, depth):
        name, rounds = self.fresh(), self.random.randrange(1, 6)
        kind = self.pick("int", "uint", "long", "uchar")
        way = self.random.randrange(4)
        if way == 0:
            self.line(f"for ({kind} {name} = 0; {name} < {rounds}; {name} += {self.pick(1, 2)}) {{")
        elif way == 1:
            self.line(f"for (int {name} = {rounds}; {name} > 0; {self.pick('--' + name, name + ' >>= 1')}) {{")
        else:
            self.line(f"int {name} = 0;")
            self.line(f"while ({name} < {rounds}) {{" if way == 2 else "do {")
            self.line(f"  {name}++;")
        self.whole[name] = kind
        self.fixed.add(name)
        if self.random.random() < 0.4:
            self.line(f"  if ({self.condition(1)}) {self.pick('continue', 'break')};")
        self.inner(2, depth - 1)
        if way < 2:
            del self.whole[name]
        self.line(f"}} while ({name} < {rounds});" if way == 3 else "}")

    def exchange(self):
        """Through local memory, with barriers."""
        name = self.fresh()
        self.line(f"t[get_local_id(0)] = {self.integer()};")
        self.line("barrier(CLK_LOCAL_MEM_FENCE);")
        self.line(f"int {name} = t[(get_local_id(0) + {self.random.randrange(GROUP)}) % {GROUP}];")
        self.line("barrier(CLK_LOCAL_MEM_FENCE);")
        self.whole[name] = "int"

    def kernel(self):
        """(text, longs for each work-item, floats for each)."""
        for _ in range(3):
            for _ in range(3):
                self.statement(2)
            self.exchange()
        body, whole, real = self.lines, list(self.whole), list(self.real)
        ends = [f"  out[get_global_id(0) * {len(whole)} + {i}] = (long){v};" for i, v in enumerate(whole)]
        ends += [f"  reals[get_global_id(0) * {max(1, len(real))} + {i}] = {v};" for i, v in enumerate(real)]
        text = [
            "#pragma OPENCL FP_CONTRACT OFF",
            "int twice(int v) { if (v > 1000) return 2000; return (int)(2u * (uint)v); }",
            "__kernel void f(__global const int *a, __global const float *x, __global long *out, __global float *reals, int n)",
            "{", f"  __local int t[{GROUP}];", "  int p[4] = {1, 2, 3};", *body, *ends, "}",
        ]  # fmt: skip
        return "\n".join(text), len(whole), max(1, len(real))


def kernel(seed):
    return Writer(seed).kernel()
