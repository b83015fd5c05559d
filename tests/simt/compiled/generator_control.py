"""Random branches, loops and early ends. Mixed into the generator of kernels."""

from generator_types import BLOCK, FLOATS, INTEGERS, THREAD, Expression, Loop, Variable
from numba.core import types

I32, I64, U32, F32, F64 = types.int32, types.int64, types.uint32, types.float32, types.float64


class Control:
    """Needs what `Statements` needs; a suite ends with the modes of shared arrays that it began with."""

    def control_level(self):
        return max(self.level, self.random.choice((BLOCK, BLOCK, THREAD)))

    def branch(self):
        condition = self.condition(2, self.control_level())
        with self.suite(f"if {condition.text}:", condition.level):
            self.body(self.random.randrange(1, 4))
        if self.chance(0.2):
            other = self.condition(1, self.control_level())
            with self.suite(f"elif {other.text}:", max(condition.level, other.level)):
                self.body(self.random.randrange(1, 3))
            condition = Expression("", None, max(condition.level, other.level))
        if self.chance(0.4):
            with self.suite("else:", condition.level):
                self.body(self.random.randrange(1, 3))

    def choose(self):
        """A variable that both branches make, of one type."""
        condition = self.condition(2, self.control_level())
        level = max(condition.level, self.some_level())
        kind = self.random.choice(INTEGERS + FLOATS if not self.plain else (I64, F64))
        if kind in FLOATS and not self.has("floats"):
            kind = I64
        name = self.fresh()
        for head in (f"if {condition.text}:", "else:"):
            with self.suite(head, condition.level):
                if self.chance(0.4):
                    self.scopes[-1][name] = Variable(name, None, level, True, "unset")  # the name is taken
                    self.body(1)
                    del self.scopes[-1][name]
                self.ended = False
                self.emit(f"{name} = {self.of_type(kind, level).text}")
        self.declare(Variable(name, kind, level))

    def limit(self, level):
        """How often a loop runs: (text, level, at most)."""
        if self.chance(0.45):
            count = self.random.choice((1, 2, 3, 3, 4, 5))
            if self.chance(0.15) and self.cost <= 3:
                count = 35  # too many to unroll
            return str(count), BLOCK, count
        if self.chance(0.3):
            return "n", BLOCK, self.n
        if self.chance(0.6):
            index, at = self.index(self.counts.data.size, level)
            return f"counts[{index}]", at, 4
        a = self.integer(1, level)
        return f"{a.cast(I64).text} % 4", a.level, 3

    def count_loop(self):
        """``for`` over a range; its bounds are constants, arguments, or read from memory, alike in the block or not."""
        level = self.control_level()
        text, at, most = self.limit(level)
        breaks = self.chance(0.3) and self.has("leave")
        level = max(self.level, at, level if breaks else BLOCK)
        name = self.fresh()
        head = self.random.choice(
            (
                f"range({text})",
                f"range({text})",
                f"range(1, {text} + 1)",
                f"range({text}, 0, -1)",
                f"range(0, 2 * ({text}), 2)",
            )
        )
        if self.has("tuples") and self.chance(0.15) and not self.plain:
            head, most = "STEPS", 3
        with self.suite(f"for {name} in {head}:", level, max(most, 1)):
            self.declare(Variable(name, I64, level, True))
            self.loops.append(Loop(level, self.modes))
            self.body(self.random.randrange(1, 5))
            self.loops.pop()
        if self.chance(0.07) and self.has("leave"):
            with self.suite("else:", level):
                self.body(1)

    def while_loop(self):
        level = self.control_level()
        text, at, most = self.limit(level)
        level = max(self.level, at, level if self.chance(0.3) else BLOCK)
        name = self.fresh()
        self.emit(f"{name} = int64({text})")
        self.declare(Variable(name, I64, level, True))
        down = self.random.choice((f"{name} -= 1", f"{name} //= 2", f"{name} = {name} - 2"))
        first = self.chance(0.5)
        condition = f"{name} > 0"
        if self.chance(0.25):
            extra = self.condition(1, level)
            condition = f"{condition} and {extra.text}"
        forever = self.chance(0.15) and first
        with self.suite("while True:" if forever else f"while {condition}:", level, max(most, 1)):
            if forever:
                self.emit(f"if {name} <= 0:")
                self.emit("    break")
            if first:
                self.emit(down)
            self.loops.append(Loop(level, self.modes, may_continue=first))
            self.body(self.random.randrange(1, 4))
            self.loops.pop()
            if not first and not self.ended:
                self.emit(down)

    def accumulate(self):
        """A sum that begins narrower than it becomes: numba gives the variable one type that holds both."""
        if self.plain:
            return self.count_loop()
        level = self.control_level()
        text, at, most = self.limit(level)
        start, added, kind = self.random.choice((("0", F64, F64), ("0", F32, F64), ("float32(0)", F64, F64), ("int32(1)", I32, I64), ("0", U32, I64), ("float32(1.5)", I64, F64)))  # fmt: skip
        if kind in FLOATS and not self.has("floats"):
            start, added, kind = "int32(1)", I32, I64
        name = self.fresh()
        self.emit(f"{name} = {start}")
        self.scopes[-1][name] = Variable(name, None, THREAD, True, "unset")
        with self.suite(f"for q in range({text}):", max(self.level, at), max(most, 1)):
            self.scopes[-1]["q"] = Variable("q", I64, max(self.level, at), True)
            made = self.integer(1, THREAD).cast(added) if added in INTEGERS else self.tamed(self.real(added, 1, THREAD))
            if added == I64:
                made = Expression(f"({made.text} % 100)", I64, made.level)
            self.emit(f"{name} += int64({made.text})" if added == U32 else f"{name} += {made.text}")
            if self.shared and self.chance(0.5) and self.level == BLOCK:
                self.emit("cuda.syncthreads()")
        self.emit(f"{name} = {kind}({name})")
        return self.declare(Variable(name, kind, THREAD))

    def leave(self):
        """``break`` or ``continue``, in an ``if`` whose threads are those that run the loop together."""
        loop = self.loops[-1]
        if self.level > loop.level:
            return self.assign()
        condition = self.condition(1, loop.level)
        with self.suite(f"if {condition.text}:", condition.level):
            if self.chance(0.4):
                self.body(1)
            if self.modes != loop.modes and not self.ended:
                self.emit("cuda.syncthreads()")
            if not self.ended:
                self.emit("continue" if loop.may_continue and self.chance(0.5) else "break")
            self.ended = True
        return None

    def finish(self):
        """An early ``return``: by all of the block anywhere; by some of it where no barrier follows."""
        alone = all(loop.level == THREAD for loop in self.loops) and all(s == self.modes for s in self.snapshots)
        if self.in_device:
            condition = self.condition(1, THREAD)
            with self.suite(f"if {condition.text}:", THREAD):
                self.emit(f"return {self.returned().text}")
                self.ended = True
            return None
        level = THREAD if alone and self.chance(0.3 if len(self.scopes) == 2 else 0.1) else BLOCK
        if level == BLOCK and (self.level > BLOCK or self.chance(0.5)):
            return self.assign()
        condition = self.condition(1, level)
        with self.suite(f"if {condition.text}:", condition.level):
            self.dump(2)
            self.emit("return")
            self.ended = True
        if self.level > BLOCK or condition.level > BLOCK:
            self.exit_level = max(self.exit_level, self.level, condition.level)
        return None
