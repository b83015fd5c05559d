"""Random warp operations, atomics, calls of device functions, and the patterns that real kernels are made of."""

from generator_types import BLOCK, FLOATS, INTEGERS, STORED_BITS, THREAD, WARP, Expression, Variable
from numba.core import types

I32, I64, U32, F32, F64 = types.int32, types.int64, types.uint32, types.float32, types.float64


class Collectives:
    """Needs what `Statements` needs, and ``threads``, ``atomics``, ``functions``."""

    # -- warps --------------------------------------------------------------------------------------------------------

    @property
    def lanes(self):
        """Lanes of a warp, if all warps have the same number; else 0."""
        return 32 if self.threads % 32 == 0 else self.threads if self.threads < 32 else 0

    @property
    def mask(self):
        return f"0x{(1 << self.lanes) - 1:X}"

    def warp(self):
        if self.level > WARP or not self.lanes or self.plain:
            return self.assign()
        forms = (
            self.shuffle,
            self.shuffle,
            self.vote,
            self.vote,
            self.match,
            self.half_warp,
            self.within_warp,
            self.within_warp,
            self.within_warp,
            self.lane_choice,
        )
        return self.random.choice(forms)()

    def shuffled(self, text):
        """A shuffle of ``text`` in which every lane reads from one that takes part."""
        lanes, forms = self.lanes, ["shfl_sync", "shfl_up_sync"]
        if lanes == 32:
            forms += ["shfl_down_sync", "shfl_xor_sync"]
        elif lanes > 1 and lanes & (lanes - 1) == 0:
            forms.append("shfl_xor_sync")
        form = self.random.choice(forms)
        if form == "shfl_sync":
            operand = self.index(lanes, THREAD)[0]
        elif form == "shfl_xor_sync":
            operand = str(self.random.randrange(1, lanes))
        else:
            operand = str(self.random.choice((1, 1, 2, 3, 4, 8, 16, 31)))
            if self.chance(0.2):
                operand = f"{self.integer(0, BLOCK).cast(I64).text} % 32"
        return f"cuda.{form}({self.mask}, {text}, {operand})"

    def shuffle(self):
        kind = self.random.choice((I32, I64, F32, F64) if self.has("floats") else (I32, I64))
        made = self.of_type(kind, THREAD, 1)
        name = self.fresh()
        text = self.shuffled(made.text)
        if kind in FLOATS and self.chance(0.4):
            text = f"{self.of_type(kind, THREAD, 0).text} + {text}"
        self.emit(f"{name} = {text}")
        self.declare(Variable(name, kind, THREAD))

    def vote(self):
        name, form = self.fresh(), self.random.choice(("ballot", "any", "all", "eq"))
        made = self.condition(1, THREAD)
        if form == "ballot":
            self.emit(f"{name} = int64(cuda.ballot_sync({self.mask}, {made.text}))")
            return self.declare(Variable(name, I64, WARP))
        if self.chance(0.3) and len(self.scopes) < 4:
            with self.suite(f"if cuda.{form}_sync({self.mask}, {made.text}):", WARP):
                self.body(2)
            return None
        self.emit(f"{name} = cuda.{form}_sync({self.mask}, {made.text})")
        return self.declare(Variable(name, types.boolean, WARP, kind="truth"))

    def match(self):
        made = self.integer(1, THREAD)
        name = self.fresh()
        self.emit(f"{name} = int64(cuda.match_any_sync({self.mask}, int32({made.text} % 3)))")
        self.declare(Variable(name, I64, THREAD))

    def half_warp(self):
        """A shuffle among the lower half of the lanes: only they are named by the mask."""
        half = self.lanes // 2
        if half < 1:
            return self.assign()
        kind = self.random.choice((I64, F64) if self.has("floats") else (I64,))
        name, made = self.fresh(), self.of_type(kind, THREAD, 1)
        self.emit(f"{name} = {self.of_type(kind, THREAD, 0).text}")
        self.emit(f"if t % 32 < {half}:")
        self.emit(f"    {name} = cuda.shfl_sync(0x{(1 << half) - 1:X}, {made.text}, {self.index(half, THREAD)[0]})")
        return self.declare(Variable(name, kind, THREAD))

    def within_warp(self):
        """An exchange through shared memory inside each warp."""
        found = [s for s in self.shared if s.mode == ("own", 0) and len(s.shape) == 1 and not s.prefix]
        if not found or self.level > BLOCK:
            return self.shuffle()
        s, name = self.random.choice(found), self.fresh()
        self.emit(f"{s.name}[t] = {self.of_type(s.type, THREAD).text}")
        self.emit("cuda.syncwarp()")
        self.emit(f"{name} = {s.type}({s.name}[t // 32 * 32 + ({self.index(self.lanes, THREAD)[0]})])")
        self.emit("cuda.syncwarp()")
        return self.declare(Variable(name, s.type, THREAD))

    def lane_choice(self):
        """Warp operations in a branch that whole warps take."""
        if len(self.scopes) > 3:
            return self.vote()
        condition = self.condition(1, WARP)
        with self.suite(f"if {condition.text}:", condition.level):
            self.body(2)
            if self.level <= WARP and not self.ended:
                self.shuffle()
                self.dump(1)
        return None

    # -- atomics ------------------------------------------------------------------------------------------------------

    def atomic(self):
        """An atomic operation on an array that sees no other, so that the order of threads does not matter."""
        found = [s for s in self.shared if s.mode[0] == "atomic"]
        if found and self.chance(0.6):
            s = self.random.choice(found)
            index = ", ".join(self.index(size, THREAD, 1)[0] for size in s.shape)
            name, kind, operation = s.name, s.type, s.mode[1]
            index = f"({index})" if len(s.shape) == 2 else index
        else:
            operations = {
                "add": (I32, I64, U32, F32),
                "max": (I32, I64, F64),
                "min": (I64, U32),
                "and_": (I32,),
                "or_": (U32,),
                "xor": (I64,),
                "inc": (U32,),
            }
            if self.plain:
                operations = {"add": (I64,), "max": (I64,)}
            operation = self.random.choice([k for k, v in operations.items() for _ in v])
            kind = self.random.choice([k for k in operations[operation] if self.has("floats") or k not in FLOATS])
            name, shape = self.atomic_array(operation, kind)
            index = ", ".join(self.index(size, THREAD, 1)[0] for size in shape)
            index = f"({index})" if len(shape) == 2 else index
        if operation == "inc":
            value = "uint32(5)"
        elif kind in FLOATS and operation == "add":  # small whole numbers: their sum is exact in any order
            value = f"{kind}({self.modest(1, THREAD).text})"
        elif kind in FLOATS:
            value = self.tamed(self.real(kind, 1, THREAD)).text
        else:
            value = self.small(self.integer(1, THREAD).below(STORED_BITS)).cast(kind).text
        if operation == "add" and kind not in FLOATS and not self.plain:
            operation = self.random.choice(("add", "sub"))
        if self.has("device functions") and operation == "add" and self.chance(0.3) and not index.startswith("("):
            self.helpers.add("bump")
            return self.emit(f"bump({name}, {index}, {value})")
        return self.emit(f"cuda.atomic.{operation}({name}, {index}, {value})")

    def own_atomic(self):
        """An atomic operation on an element that no other thread touches: what it returns is known."""
        a = self.random.choice(
            [a for a in self.outputs if a.use == "output" and self.types[a.name] in (*INTEGERS, *FLOATS)]
        )
        kind = self.types[a.name]
        operation = self.random.choice(
            ("add", "max", "min")
            if kind in FLOATS or self.plain
            else ("add", "sub", "max", "and_", "xor", "exch", "cas")
        )
        value = (
            self.tamed(self.real(kind, 1, THREAD)).text
            if kind in FLOATS
            else self.small(self.integer(1, THREAD).below(STORED_BITS)).cast(kind).text
        )
        index = self.own(a).partition("[")[2][:-1]
        if "," in index:
            index = f"({index})"
        name = self.fresh()
        if operation == "cas":
            other = self.integer(0, THREAD).cast(kind).text
            self.emit(f"{name} = cuda.atomic.cas({a.name}, {index}, {other}, {value})")
        else:
            self.emit(f"{name} = cuda.atomic.{operation}({a.name}, {index}, {value})")
        self.emit(f"{name} = {kind}({name})")
        if kind in FLOATS:
            return self.declare(Variable(name, kind, THREAD))
        return self.declare(Variable(name, kind, THREAD))

    # -- device functions ---------------------------------------------------------------------------------------------

    def call(self, depth, level, wanted):
        """A call of a device function that returns one of the wanted types; None if there is none."""
        found = [f for f in self.functions if f.type in wanted and (f.pure or level == THREAD)]
        if not found:
            return None
        f = self.random.choice(found)
        args = [
            self.tamed(self.real(kind, depth, level))
            if kind in FLOATS
            else self.integer(depth, level).below(STORED_BITS).cast(kind)
            for kind in f.parameters
        ]
        top = max([BLOCK if f.pure else THREAD, *(a.level for a in args)])
        return Expression(f"{f.name}({', '.join(a.text for a in args)})", f.type, top)

    # -- patterns -----------------------------------------------------------------------------------------------------

    def idiom(self):
        forms = [self.grid_stride]
        if self.level == BLOCK and len(self.scopes) < 4 and self.cost < 20:
            if any(self.row(s) for s in self.shared):
                forms += [self.tree, self.scan, self.tiles, self.tiles, self.rotation]
            if self.lanes == 32 and self.has("warps") and not self.plain:
                forms += [self.warp_reduction]
        return self.random.choice(forms)()

    def row(self, s):
        return len(s.shape) == 1 and s.size >= self.threads and not s.prefix

    def a_row(self):
        return self.random.choice([s for s in self.shared if self.row(s)])

    def sync(self, *owned):
        """A barrier in a pattern: ``owned`` arrays are each thread's own now, all else may be read."""
        self.emit("cuda.syncthreads()")
        for s in self.shared:
            s.mode = ("own", 0) if s in owned else "read"

    def grid_stride(self):
        """Each thread takes every so many elements of an array that is longer than the grid."""
        if self.in_device:
            return self.assign()
        array = next(a for a in self.strided if a.name)
        kind, name = self.types[array.name], self.fresh()
        step = "cuda.gridsize(1)" if not self.has("3-D") else str(self.total)
        start = "cuda.grid(1)" if not self.has("3-D") else "g"
        with self.suite(f"for {name} in range({start}, {array.name}.size, {step}):", THREAD, 3):
            self.declare(Variable(name, I64, THREAD, True))
            self.emit(f"{array.name}[{name}] = {self.of_type(kind, THREAD, 2).text}")
        return None

    def tree(self):
        """The sum of a block, by halves."""
        s, name, out = self.a_row(), "step", self.fresh()
        self.sync(s)
        self.emit(f"{s.name}[t] = {self.of_type(s.type, THREAD).text}")
        self.sync()
        half = 1
        while half * 2 < self.threads:
            half *= 2
        self.emit(f"{name} = {half if self.threads > 1 else 0}")
        self.emit(f"while {name} > 0:")
        self.emit(f"    if t < {name} and t + {name} < {self.threads}:")
        self.emit(f"        {s.name}[t] += {s.name}[t + {name}]")
        self.emit("    cuda.syncthreads()")
        self.emit(f"    {self.random.choice((f'{name} //= 2', f'{name} >>= 1', f'{name} = {name} // 2'))}")
        self.emit(f"{out} = {self.reduced(s, '0')}")
        self.declare(Variable(out, s.type, BLOCK))

    def reduced(self, s, index):
        """An element that may have become a large sum, as a value of the array's type."""
        element = f"{s.name}[{index}]"
        return f"{element} % 1000003" if s.type == I64 else f"{s.type}({element})"

    def scan(self):
        """The inclusive sum over a block, in log2 steps."""
        s, name, value, out = self.a_row(), "step", "v", self.fresh()
        self.sync(s)
        self.emit(f"{s.name}[t] = {self.of_type(s.type, THREAD).text}")
        self.sync()
        self.emit(f"{name} = 1")
        self.emit(f"while {name} < {self.threads}:")
        self.emit(f"    {value} = {s.name}[t - {name}] if t >= {name} else {s.type}(0)")
        self.emit("    cuda.syncthreads()")
        self.emit(f"    {s.name}[t] += {value}")
        self.emit("    cuda.syncthreads()")
        self.emit(f"    {name} *= 2")
        self.emit(f"{out} = {self.reduced(s, 't')}")
        self.declare(Variable(out, s.type, THREAD))

    def tiles(self):
        """A loop that fetches a tile, waits, uses all of it, and waits again."""
        s, name, out = self.a_row(), self.fresh(), None
        self.sync(s)
        text, _, most = self.limit(BLOCK)
        out = next(k for k in self.names if k != name and k not in {v.name for v in self.variables()})
        self.emit(f"{out} = {s.type}(0)")
        self.declare(Variable(out, s.type, THREAD, True, "unset"))
        with self.suite(f"for {name} in range({text}):", BLOCK, most):
            self.declare(Variable(name, I64, BLOCK, True))
            self.emit(f"{s.name}[t] = {self.of_type(s.type, THREAD).text}")
            self.sync()
            count = self.random.choice((2, 4, self.threads, 40)) if self.cost < 5 else 4
            count = min(count, self.threads)
            small = "" if s.type in FLOATS else " % 9973"
            product = f"{s.name}[q]{small} * {self.random.choice((f'{s.name}[t]', f'{s.type}(2)'))}{small}"
            self.emit(f"for q in range({count}):")
            self.emit(
                f"    {out} = {s.type}({out} + {product})"
                if s.type not in (F32, F64, I64)
                else f"    {out} += {product}"
            )
            if self.chance(0.3):
                self.body(1)
        self.scopes[-1][out] = Variable(out, s.type, THREAD)

    def rotation(self):
        """A device function with barriers in it."""
        if not self.has("device functions"):
            return self.tree()
        self.helpers.add("rotate")
        s, out = self.a_row(), self.fresh()
        self.sync(s)
        self.emit(f"{out} = rotate({s.name}, t, {self.of_type(s.type, THREAD, 1).text})")
        self.sync()
        self.emit(f"{out} = {s.type}({out})")
        return self.declare(Variable(out, s.type, THREAD))

    def warp_reduction(self):
        """The sum of each warp by shuffles, written out or in a device function."""
        kind = self.random.choice((I64, F32, F64) if self.has("floats") else (I64,))
        made, out = self.of_type(kind, THREAD, 1), self.fresh()
        if self.has("device functions") and self.chance(0.5):
            self.helpers.add("warp_sum")
            self.emit(f"{out} = warp_sum({made.text})")
        else:
            self.emit(f"{out} = {made.text}")
            self.emit("step = 16")
            self.emit("while step > 0:")
            self.emit(f"    {out} += cuda.shfl_{self.random.choice(('down', 'xor'))}_sync({self.mask}, {out}, step)")
            self.emit("    step //= 2")
        self.declare(Variable(out, kind, THREAD))
