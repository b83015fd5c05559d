"""Random statements: assignments, stores, loops, branches, early ends, barriers. Mixed into the generator of kernels.

What keeps a kernel free of races: every array has one rule at a time. Inputs are only read; of an output, each thread
touches its own elements; arrays for atomics see one operation and nothing else; a shared array changes its mode at a
barrier only, and a suite gives back the modes that it found, so that loops and branches may run any number of times.
"""

import contextlib

from generator_types import BLOCK, FLOATS, INTEGERS, STORED_BITS, THREAD, Expression, Variable
from numba.core import types

I32, I64, U32, F32, F64 = types.int32, types.int64, types.uint32, types.float32, types.float64


class Statements:
    """Needs what `Expressions` needs, and ``lines``, ``scopes``, ``loops``, ``outputs``, ``helpers``, ``cost``."""

    # -- text and scopes ----------------------------------------------------------------------------------------------

    def emit(self, text):
        self.lines.append("    " * self.indent + text)

    def variables(self):
        return [v for scope in self.scopes for v in scope.values()]

    def fresh(self):
        """A name that means nothing here; it may have meant something else in a suite that is over."""
        used = {v.name for v in self.variables()}
        return next(name for name in self.names if name not in used)

    def declare(self, variable):
        self.scopes[-1][variable.name] = variable

    @property
    def level(self):
        return max(self.levels[-1], self.exit_level)

    @property
    def modes(self):
        return {s.name: s.mode for s in self.shared}

    @modes.setter
    def modes(self, modes):
        for s in self.shared:
            s.mode = modes[s.name]

    @contextlib.contextmanager
    def suite(self, head, level=BLOCK, times=1):
        """An indented suite: ``head``, what the caller writes, and a barrier if it left a shared array in another
        mode."""
        self.emit(head)
        before, start = self.modes, len(self.lines)
        self.snapshots.append(before)
        self.indent += 1
        self.scopes.append({})
        self.levels.append(max(level, self.levels[-1]))
        self.cost *= times
        self.ended = False
        yield
        if not self.ended and self.modes != before:
            self.emit("cuda.syncthreads()")
        self.modes, self.ended = before, False
        if len(self.lines) == start:
            self.emit("pass")
        self.cost //= times
        self.levels.pop()
        self.scopes.pop()
        self.indent -= 1
        self.snapshots.pop()

    def body(self, count):
        """Up to ``count`` random statements, and then perhaps what they computed into an output."""
        for _ in range(count):
            if self.budget <= 0 or self.ended:
                break
            self.budget -= 1
            self.statement()
        if not self.ended and self.chance(0.5):
            self.dump(2)

    def statement(self):
        options = [(6, self.assign), (5, self.reassign), (2, self.augment), (1, self.several)]
        if not self.in_device:
            options += [(4, self.store)]
        if self.has("local arrays"):
            options += [(2, self.local_array)]
        if self.has("tuples"):
            options += [(1, self.tuple_of)]
        if self.has("rough") and not self.in_device:
            options += [(2, self.rough_variable)]
        if self.shared:
            options += [(5, self.store_shared), (5, self.barrier)]
        if self.has("atomics") and not self.in_device:
            options += [(2, self.atomic), (1, self.own_atomic)]
        if self.has("warps") and not self.in_device:
            options += [(6, self.warp)]
        if self.has("idioms") and not self.in_device:
            options += [(6, self.idiom)]
        if len(self.scopes) < 5 and self.cost < 60:
            options += [(4, self.branch), (3, self.choose)]
            if self.has("loops"):
                options += [(4, self.count_loop), (1, self.accumulate)]
            if self.has("while"):
                options += [(2, self.while_loop)]
        if self.loops and self.has("leave"):
            options += [(5, self.leave)]
        if self.has("return"):
            options += [(2, self.finish)]
        self.pick(options)

    # -- values -------------------------------------------------------------------------------------------------------

    def value(self, level, depth=2):
        """An expression that may be kept in a variable: any integer or float."""
        if self.has("floats") and self.chance(0.45):
            return self.real(self.random.choice(FLOATS if not self.plain else (F64,)), depth, level)
        kind = self.random.choice(INTEGERS if not self.plain else (I64,))
        made = self.integer(depth, level).below(STORED_BITS)
        return made if made.type in INTEGERS and self.chance(0.7) else made.cast(kind)

    def small(self, made):
        """In plain mode numbers stay small: numba's simulator computes with Python's integers."""
        if not self.plain:
            return made
        if made.type in FLOATS:
            return self.tamed(made)
        return Expression(f"{made.text} % 9973", I64, made.level)

    def some_level(self):
        return max(self.level, self.random.choice((BLOCK, THREAD, THREAD, THREAD)))

    def assign(self):
        """A new variable, or an old one of this very suite with a new type."""
        if self.chance(0.12):
            made = self.condition(1, self.some_level())
            name = self.fresh()
            self.emit(f"{name} = {made.text}")
            return self.declare(Variable(name, types.boolean, max(made.level, self.level), kind="truth"))
        made = self.small(self.value(self.some_level(), self.random.randrange(1, 4)))
        here = [v for v in self.scopes[-1].values() if v.kind == "number" and not v.fixed]
        old = self.has("changing types") and here and self.chance(0.4)
        name = self.random.choice(here).name if old else self.fresh()
        self.emit(f"{name} = {made.text}")
        return self.declare(Variable(name, made.type, max(made.level, self.level)))

    def assignable(self):
        """Variables that may be given a value of their own type here."""
        return [v for v in self.variables() if v.kind == "number" and not v.fixed and v.level >= self.level]

    def of_type(self, kind, level, depth=2):
        made = (
            self.real(kind, depth, level)
            if kind in FLOATS
            else self.integer(depth, level).below(STORED_BITS).cast(kind)
        )
        if kind in FLOATS and self.loops:  # a float in a loop may grow without end
            return self.tamed(made)
        return self.small(made)

    def reassign(self):
        found = self.assignable()
        if not found:
            return self.assign()
        v = self.random.choice(found)
        return self.emit(f"{v.name} = {self.of_type(v.type, v.level).text}")

    def augment(self):
        found = [v for v in self.assignable() if v.type in (I64, F32, F64)]
        if not found or self.plain:
            return self.assign()
        v = self.random.choice(found)
        symbol = self.random.choice("+-*" if v.type in FLOATS else "+-^|&")
        return self.emit(f"{v.name} {symbol}= {self.of_type(v.type, v.level, 1).text}")

    def several(self):
        """``a, b = b, a`` and the like."""
        found = self.assignable()
        pairs = [(a, b) for a in found for b in found if a is not b and (a.type, a.level) == (b.type, b.level)]
        if pairs and self.chance(0.6):
            a, b = self.random.choice(pairs)
            return self.emit(f"{a.name}, {b.name} = {b.name}, {a.name}")
        first, second = (self.small(self.value(self.some_level(), 1)) for _ in range(2))
        name = self.fresh()
        self.declare(Variable(name, first.type, max(first.level, self.level)))
        other = self.fresh()
        self.declare(Variable(other, second.type, max(second.level, self.level)))
        return self.emit(f"{name}, {other} = {first.text}, {second.text}")

    def tuple_of(self):
        parts = [self.small(self.value(self.some_level(), 1)) for _ in range(self.random.choice((2, 2, 3)))]
        name = self.fresh()
        self.emit(f"{name} = ({', '.join(p.text for p in parts)})")
        level = max([self.level, *(p.level for p in parts)])
        self.declare(Variable(name, tuple(p.type for p in parts), level, True, "tuple", len(parts)))

    def rough_variable(self):
        found = [v for v in self.variables() if v.kind == "rough" and v.level >= self.level]
        made = self.rough(THREAD)
        if found and self.chance(0.5):
            v = self.random.choice(found)
            return self.emit(f"{v.name} = 0.5 * {v.name} + float64({made.text})")
        if self.chance(0.4):
            a = self.random.choice([a for a in self.outputs if a.use == "rough"])
            return self.emit(f"{self.own(a)} = {self.random.choice((made.text, *(v.name for v in found)))}")
        name = self.fresh()
        self.emit(f"{name} = {made.cast(F64).text}")
        return self.declare(Variable(name, F64, max(made.level, self.level), kind="rough"))

    def local_array(self):
        found = [v for v in self.variables() if v.kind == "local"]
        if found and self.chance(0.75):
            v = self.random.choice(found)
            index = self.index(v.size, THREAD)[0]
            symbol = "+=" if self.chance(0.3) and v.type in FLOATS else "="
            return self.emit(f"{v.name}[{index}] {symbol} {self.of_type(v.type, THREAD).text}")
        kind = self.random.choice((*INTEGERS, *FLOATS) if not self.plain else (I64, F64))
        if kind in FLOATS and not self.has("floats"):
            kind = I64
        size, name = self.random.choice((1, 2, 3, 4, 8)), self.fresh()
        self.emit(f"{name} = cuda.local.array({size}, {kind})")
        start = self.of_type(kind, THREAD, 1).text
        self.emit(f"for q in range({size}):")
        self.emit(f"    {name}[q] = {start}")
        return self.declare(Variable(name, kind, THREAD, True, "local", size))

    # -- memory -------------------------------------------------------------------------------------------------------

    def own(self, array):
        """An element of an output that belongs to this thread."""
        if array.data.ndim == 1:
            return f"{array.name}[g]"
        columns = array.data.shape[1]
        index = str(self.random.randrange(columns))
        found = [v for v in self.variables() if v.kind == "number" and v.type in INTEGERS]
        if found and self.chance(0.3):
            index = f"{self.random.choice(found).name} % {columns}"
        return f"{array.name}[g, {index}]"

    def store(self):
        a = self.random.choice([a for a in self.outputs if a.use == "output"])
        kind = self.types[a.name]
        if kind in FLOATS:
            made = self.of_type(kind, THREAD)
            return self.emit(f"{self.own(a)} {self.random.choice(('=', '+='))} {made.text}")
        made = self.small(self.integer(2, THREAD).below(STORED_BITS))
        symbol = self.random.choice(("=", "+=", "^=")) if kind == I64 and not self.plain else "="
        return self.emit(f"{self.own(a)} {symbol} {made.cast(I64).text if symbol != '=' else made.text}")

    def dump(self, most):
        """Store some variables, so that what they held is seen."""
        found = [v for v in self.variables() if v.kind in ("number", "truth", "rough", "tuple")]
        self.random.shuffle(found)
        for v in found[:most]:
            parts = [(v.name, v.type)]
            if v.kind == "tuple":
                parts = [(f"{v.name}[{k}]", kind) for k, kind in enumerate(v.type)]
            for text, kind in parts:
                wanted = "rough" if v.kind == "rough" else "output"
                fits = [
                    a for a in self.outputs if a.use == wanted and (self.types[a.name] in FLOATS) == (kind in FLOATS)
                ]
                if fits:
                    a = self.random.choice(fits)
                    symbol = (
                        "+=" if kind == F64 or (kind == I64 and self.types[a.name] == I64 and not self.plain) else "="
                    )
                    self.emit(f"{self.own(a)} {symbol} {text}")

    def store_shared(self):
        found = [s for s in self.shared if s.mode != "read" and s.mode[0] == "own"]
        if not found:
            return self.barrier()
        s = self.random.choice(found)
        made = self.of_type(s.type, THREAD)
        symbol = "+=" if self.chance(0.2) and s.type in FLOATS else "="
        return self.emit(f"{s.name}[{s.own_index(self.random)}] {symbol} {made.text}")

    def barrier(self):
        """A barrier, after which every shared array may be used in a new way."""
        if self.level > BLOCK or self.in_device:
            return self.assign()
        predicate = self.has("warps") and not self.plain and self.chance(0.25)
        if predicate:
            made = self.condition(1, THREAD)
            name, variant = self.fresh(), self.random.choice(("count", "and", "or"))
            self.emit(f"{name} = cuda.syncthreads_{variant}(1 if {made.text} else 0)")
            self.emit(f"{name} = int64({name})")
            self.declare(Variable(name, I64, BLOCK))
        else:
            self.emit("cuda.syncthreads()")
        for s in self.shared:
            if self.chance(0.7):
                s.mode = self.new_mode(s)
        return None

    def new_mode(self, s):
        options = ["read"]
        if s.can_be_owned:
            options += [("own", 0), ("own", self.random.randrange(1, 6))]
        if s.type not in FLOATS and self.has("atomics") and not s.prefix:
            options.append(
                (
                    "atomic",
                    self.random.choice(
                        ("add", "max", "min", "and_", "or_", "xor") if not self.plain else ("add", "max")
                    ),
                )
            )
        return self.random.choice(options)
