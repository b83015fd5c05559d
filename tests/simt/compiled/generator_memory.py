"""Random conditions, indices and loads. Mixed into the generator of kernels."""

from generator_types import BLOCK, FLOATS, THREAD, Expression
from numba.core import types

I64, F64 = types.int64, types.float64


class Memory:
    """Needs what `Expressions` needs; says what may be read where."""

    def condition(self, depth, level):
        options = [(5, self.integer_comparison)]
        if self.has("floats"):
            options += [(2, self.real_comparison)]
        if depth > 0:
            options += [(1, self.combined)]
            if self.inputs and not self.in_device:
                options += [(1, self.guarded)]
        found = [v for v in self.variables() if v.kind == "truth" and v.level <= level]
        if found:
            v = self.random.choice(found)
            text = f"not {v.name}" if self.chance(0.3) else v.name
            options.append((3, lambda *_: Expression(f"({text})", types.boolean, v.level)))
        return self.pick([(w, lambda f=f: f(depth - 1, level)) for w, f in options])

    def integer_comparison(self, depth, level):
        a, symbol = self.integer(depth, level), self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        if self.chance(0.4):
            a = Expression(f"{a.text} % {self.random.choice((2, 3, 5))}", I64, a.level)
            return Expression(f"({a.text} {symbol} {self.random.randrange(3)})", types.boolean, a.level)
        if self.chance(0.15):
            return Expression(f"(-3 < {a.text} <= {self.random.randrange(20)})", types.boolean, a.level)
        b = self.integer(0, level)
        return Expression(f"({a.text} {symbol} {b.text})", types.boolean, max(a.level, b.level))

    def real_comparison(self, depth, level):
        kind = self.random.choice(FLOATS if not self.plain else (F64,))
        a, b = self.real(kind, depth, level), self.real(kind, 0, level)
        return Expression(
            f"({a.text} {self.random.choice(('<', '>', '<=', '>='))} {b.text})", types.boolean, max(a.level, b.level)
        )

    def combined(self, depth, level):
        a, b = self.condition(depth, level), self.condition(depth, level)
        return Expression(
            f"({a.text} {self.random.choice(('and', 'or'))} {b.text})", types.boolean, max(a.level, b.level)
        )

    def outside(self, level):
        """(condition, element, level): an element of ``xl`` whose index lies outside in half of the cases, and a test
        for that."""
        size, a = self.inputs[0].data.size, self.integer_leaf(level)
        at = f"({a.cast(I64).text} % {2 * size} - {size // 2})"
        inside = self.random.choice((f"0 <= {at} < {size}", f"{at} >= 0 and {at} < {size}"))
        return inside, f"xl[{at}]", a.level

    def guarded(self, depth, level):
        """A condition that reads an element only where its first part allows that."""
        inside, element, top = self.outside(level)
        low = self.random.randrange(-1000, 500)
        test = self.random.choice((
            f"{element} < {low}", f"{low} < {element} <= {low + 700}", f"{low} <= {element} + 1 != {low + 5} < {element} + 900",
            f"{element} % 5 in (0, 3, 4)", f"{element} % 4 not in (1, 2)",
        ))  # fmt: skip
        form = self.random.choice(("({0} and {1})", "(not ({0}) or {1})", "({0} and {1} and {2})"))
        last = self.condition(depth, level) if "{2}" in form else None
        return Expression(
            form.format(inside, test, last.text if last else ""), types.boolean, max(top, last.level if last else 0)
        )

    def index(self, size, level, depth=1):
        """Text and level of an index from 0 to size - 1."""
        if self.chance(0.15):
            return str(self.random.randrange(size)), BLOCK
        a = self.integer(depth, level)
        if size & (size - 1) == 0 and self.chance(0.3):
            return f"{a.cast(I64).text} & {size - 1}", a.level
        return f"{a.text} % {size}", a.level

    def favourite(self, variables):
        """Late ones, and those in which threads differ, more often."""
        return self.random.choices(variables, [(1 + k) * (3 if v.level else 1) for k, v in enumerate(variables)])[0]

    def read(self, variable):
        return Expression(variable.name, variable.type, variable.level)

    def loads(self, level):
        """[(type, function that makes an expression)] of what can be read here."""
        found = [(self.types[a.name], lambda a=a: self.load_input(a, level)) for a in self.inputs]
        for s in self.shared:
            if s.mode == "read":
                found.append((s.type, lambda s=s: self.load_shared(s, level)))
            elif s.mode[0] == "own" and level == THREAD:
                found.append((s.type, lambda s=s: Expression(f"{s.name}[{s.own_index(self.random)}]", s.type, THREAD)))
        for v in self.variables():
            if v.kind == "local" and level == THREAD:
                found.append(
                    (v.type, lambda v=v: Expression(f"{v.name}[{self.index(v.size, level, 0)[0]}]", v.type, THREAD))
                )
            elif v.kind == "tuple" and v.level <= level:
                for k, kind in enumerate(v.type):
                    found.append((kind, lambda v=v, k=k, kind=kind: Expression(f"{v.name}[{k}]", kind, v.level)))
        if level == THREAD and not self.in_device and self.chance(0.5):
            a = self.random.choice([a for a in self.outputs if a.use == "output"])
            found.append((self.types[a.name], lambda: Expression(self.own(a), self.types[a.name], THREAD)))
        return found

    def load_input(self, array, level):
        shape = array.data.shape
        parts = [self.index(s, level, 1 if k == 0 else 0) for k, s in enumerate(shape)]
        if len(parts) == 1 and level == THREAD and not self.in_device and self.chance(0.3):
            parts = [(f"(g + {self.random.randrange(4)}) % {shape[0]}", THREAD)]
        text = f"{array.name}[{', '.join(p for p, _ in parts)}]"
        if array.name == "const":
            self.helpers.add("const")
        return Expression(text, self.types[array.name], max(lv for _, lv in parts))

    def load_shared(self, s, level):
        parts = [self.index(size, level, 1 if k == 0 else 0) for k, size in enumerate(s.shape)]
        return Expression(f"{s.name}[{s.prefix}{', '.join(p for p, _ in parts)}]", s.type, max(lv for _, lv in parts))
