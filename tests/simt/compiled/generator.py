"""Random CUDA kernels that are valid: free of races, and with one result whatever the order of threads.

``kernel(seed)`` is a `Case`: source, launch and arguments, the same for the same seed on every machine. Each seed draws
a few features (barriers, warps, atomics, loops ...), so that kernels differ in kind and not only in detail.
"""

import re
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from generator_case import HEADER, Case
from generator_collectives import Collectives
from generator_control import Control
from generator_expressions import Expressions
from generator_memory import Memory
from generator_statements import Statements
from generator_types import FLOATS, INTEGERS, THREAD, Array, Expression, Shared, Variable
from numba.core import types
from numba.np.numpy_support import from_dtype

FEATURES = (
    "barriers", "warps", "atomics", "loops", "while", "leave", "return", "local arrays", "tuples", "floats", "rough",
    "bits", "device functions", "changing types", "idioms", "3-D",
)  # fmt: skip
HELPERS = {
    "tame": "def tame(x):\n    return x if -1000.0 < x < 1000.0 else 0.5",
    "tame32": "def tame32(x):\n    return x if -1000.0 < x < 1000.0 else float32(0.5)",
    "bump": "def bump(array, index, value):\n    cuda.atomic.add(array, index, value)",
    "rotate": "def rotate(s, t, value):\n    s[t] = value\n    cuda.syncthreads()\n    found = s[(t + 1) % {threads}]\n"
    "    cuda.syncthreads()\n    return found",
    "warp_sum": "def warp_sum(value):\n    for step in (16, 8, 4, 2, 1):\n"
    "        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)\n    return value",
}


@dataclass(frozen=True)
class Function:
    """A device function: ``pure`` if it asks nothing about the thread."""

    name: str
    parameters: tuple
    type: object
    pure: bool
    text: str


class Generator(Collectives, Control, Statements, Memory, Expressions):
    """Writes one kernel (or device function), statement by statement, knowing type and level of everything."""

    names = tuple("acdefhijklmoprsuw") + tuple(f"x{k}" for k in range(200))

    def __init__(self, random, features, plain, size):
        self.random, self.features, self.plain = random, features, plain
        self.lines, self.indent, self.budget, self.cost = [], 1, size, 1
        self.scopes, self.levels, self.snapshots, self.loops = [{}], [0], [], []
        self.exit_level, self.ended, self.in_device = 0, False, False
        self.helpers, self.functions, self.shared = set(), [], []
        self.inputs, self.outputs, self.atomics, self.types = [], [], {}, {}
        self.constants = ()

    def has(self, feature):
        return feature in self.features

    # -- a device function --------------------------------------------------------------------------------------------

    def device_function(self, name, table):
        self.in_device = True
        self.inputs, self.types = [table], {table.name: from_dtype(table.data.dtype)}
        kinds = (*INTEGERS, *FLOATS) if self.has("floats") else INTEGERS
        if self.plain:
            kinds = (types.int64, types.float64) if self.has("floats") else (types.int64,)
        parameters = tuple(self.random.choice(kinds) for _ in range(self.random.randrange(1, 4)))
        self.return_type = self.random.choice(parameters)
        pure = self.plain or self.chance(0.6)
        for k, kind in enumerate(parameters):
            self.declare(Variable(f"p{k}", kind, THREAD))
        self.n, self.counts = 3, table
        places = ("cuda.threadIdx.x", "cuda.blockIdx.x", "cuda.blockDim.x", "cuda.grid(1)", "p0")
        if pure:
            places = ("p0",)
        self.place = lambda level: self.of_parameter(self.random.choice(places))
        self.limit = lambda level: (str(self.random.randrange(1, 4)), 0, 3)
        self.body(self.random.randrange(1, 4))
        self.emit(f"return {self.returned().text}")
        head = f"def {name}({', '.join(f'p{k}' for k in range(len(parameters)))}):"
        return Function(name, parameters, self.return_type, pure, "\n".join([head, *self.lines]))

    def of_parameter(self, text):
        kind = types.int64 if "grid(" in text else types.int32
        if text == "p0":
            p0 = self.scopes[0]["p0"]
            if p0.type in FLOATS:
                return Expression("3", types.int64)
            return Expression("p0", p0.type, THREAD)
        return Expression(text, kind, THREAD)

    def returned(self):
        return self.of_type(self.return_type, THREAD, 1)

    # -- a kernel -----------------------------------------------------------------------------------------------------

    def launch(self):
        r = self.random
        if self.has("3-D"):
            shapes = [(8, 4), (16, 4), (5, 3), (32, 2), (4, 4, 4), (3, 5, 2), (2, 3, 4), (8, 2, 2), (16, 2, 1)]
            block, grid = r.choice(shapes), r.choice(((2, 2), (1, 3), (2, 1, 2), (3, 1)))
        else:
            block, grid = (r.choice((1, 7, 16, 32, 32, 33, 40, 64, 64, 96)),), (r.choice((1, 2, 3)),)
        self.block, self.grid = (*block, 1, 1)[:3], (*grid, 1, 1)[:3]
        self.threads, self.blocks = int(np.prod(block)), int(np.prod(grid))
        self.total = self.threads * self.blocks

    def arrays(self):
        """Inputs, and an output for each kind of number, with contents that a seed of NumPy's own makes."""
        r, n = np.random.default_rng(self.random.randrange(1 << 30)), self.random.choice((61, 64, 97))

        def floats(*shape, dtype):
            return (r.integers(-2000, 2000, shape) / 1024).astype(dtype)

        def add(name, data, use="input"):
            (self.inputs if use == "input" else self.outputs).append(Array(name, data, use))
            self.types[name] = from_dtype(data.dtype)

        self.counts = Array("counts", r.integers(0, 5, 13).astype(np.int32))
        self.types["counts"] = types.int32
        add("xl", r.integers(-1000, 1000, n))
        add("oi", r.integers(-9, 9, (self.total, 4)), "output")
        self.strided = [Array("wide", np.zeros(3 * self.total - 2, np.int64), "strided")]
        self.types["wide"] = types.int64
        if not self.plain:
            add("xi", r.integers(-(1 << 31), 1 << 31, n).astype(np.int32))
            add("xu", r.integers(0, 1 << 32, n).astype(np.uint32))
            add("xb", r.integers(-128, 128, n).astype(self.random.choice((np.int8, np.uint8, np.int16))))
            add("ok", r.integers(-9, 9, self.total).astype(np.int32), "output")
            add("ou", r.integers(0, 9, (self.total, 2)).astype(np.uint32), "output")
            add("ob", r.integers(0, 9, self.total).astype(np.uint8), "output")
        if self.has("floats"):
            if not self.plain:
                add("xf", floats(n, 5, dtype=np.float32))
                if self.chance(0.3):
                    self.inputs[-1].data = np.asfortranarray(self.inputs[-1].data)
                add("of", floats(self.total, 3, dtype=np.float32), "output")
            add("xd", floats(n, dtype=np.float64))
            add("od", floats(self.total, 2, dtype=np.float64), "output")
            add("oa", np.zeros((self.total, 2)), "rough")
        if self.has("3-D") and not self.plain:
            add("xx", r.integers(-99, 99, (4, 3, 5)))
        for name, data in (("TABLE", r.integers(-50, 50, 11).astype(np.int32)), ("const", None)):
            if self.chance(0.3) and not self.plain:
                add(name, floats(8, dtype=np.float32) if data is None else data)

    def atomic_array(self, operation, kind):
        """An array that this operation has for itself: (name, shape)."""
        name = f"acc_{operation.strip('_')}_{kind}"
        if name not in self.atomics:
            shape = self.random.choice(((1,), (7,), (3, 4)))
            self.atomics[name] = Array(name, np.full(shape, 3, str(kind)), operation)
        return name, self.atomics[name].data.shape

    def make_shared(self):
        """Shared arrays, declared and filled; nothing in them is ever read before it was written."""
        kinds = [*INTEGERS, types.float32, types.float64] if self.has("floats") else list(INTEGERS)
        if self.plain:
            kinds = [types.int64, types.float64] if self.has("floats") else [types.int64]
        self.shared_bytes = 0
        for name in self.random.choice((("s",), ("s",), ("s", "z"))):
            kind, form = (
                self.random.choice(kinds),
                self.random.choice(("row", "row", "long", "plane", "dynamic", "few", "scratch")),
            )
            columns = next(c for c in (self.block[0], 8, 4, 2, 1) if self.threads % c == 0)
            shape = {
                "long": (2 * self.threads,),
                "plane": (self.threads // columns, columns + self.chance(0.5)),
                "few": (5,),
            }.get(form, (self.threads,))
            s = Shared(name, kind, shape, self.threads)
            if form == "scratch":
                s.prefix = "b, "
                self.atomics[name] = Array(name, np.zeros((self.blocks, self.threads), str(kind)), "scratch")
            elif form == "dynamic" and not self.shared_bytes:
                self.shared_bytes = self.threads * np.dtype(str(kind)).itemsize
                self.emit(f"{name} = cuda.shared.array(0, {kind})")
            else:
                text = str(shape[0]) if len(shape) == 1 else f"({shape[0]}, {shape[1]})"
                self.emit(f"{name} = cuda.shared.array({text}, {kind})")
            self.shared.append(s)
        self.names = tuple(n for n in self.names if n not in ("s", "z"))
        for s in self.shared:
            value = self.random.choice(("q", "q % 7", "g - q"))
            slot = "q" if len(s.shape) == 1 else f"q // {s.shape[1]}, q % {s.shape[1]}"
            self.emit(f"for q in range(t, {s.size}, {self.threads}):")
            self.emit(f"    {s.name}[{s.prefix}{slot}] = {s.type}({value})")
        self.emit("cuda.syncthreads()")
        for s in self.shared:
            s.mode = self.new_mode(s)

    def head(self):
        """Where the thread is: tx, ty, t (its number in the block), b (that of the block), g (in the grid)."""
        if self.has("3-D"):
            self.emit("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y")
            self.emit(f"t = tx + ty * cuda.blockDim.x + cuda.threadIdx.z * {self.block[0] * self.block[1]}")
            self.emit("b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)")
            self.emit(f"g = b * {self.threads} + t")
        else:
            self.emit("tx = cuda.threadIdx.x")
            self.emit(self.random.choice(("t = int64(tx)", "t = tx + 0")))
            self.emit("b = cuda.blockIdx.x + 0")
            self.emit(
                self.random.choice(
                    (
                        "g = cuda.grid(1)",
                        "g = b * cuda.blockDim.x + t",
                        "g = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x",
                    )
                )
            )

    def write(self):
        r = self.random
        self.launch()
        self.arrays()
        table = Array("TABLE", np.arange(11, dtype=np.int64 if self.plain else np.int32) * 7 % 13 - 5)
        for k in range(r.choice((1, 2)) if self.has("device functions") else 0):
            other = Generator(
                r,
                self.features - {"barriers", "warps", "atomics", "idioms", "3-D", "rough", "device functions"},
                self.plain,
                5,
            )
            self.functions.append(other.device_function(f"f{k}", table))
            self.helpers |= other.helpers
        self.constants = ("K",)
        self.n = r.randrange(3, 9)
        scalars = {"n": self.n}
        self.scopes[0]["n"] = Variable("n", types.int64, 0, True)
        if not self.plain:
            scalars["kk"] = np.int32(r.randrange(-5, 30))
            self.scopes[0]["kk"] = Variable("kk", types.int32, 0)
            if self.has("floats"):
                scalars["alpha"], scalars["beta"] = np.float32(r.choice((0.3, -1.25))), r.choice((0.7, 2.5))
                self.scopes[0]["alpha"] = Variable("alpha", types.float32, 0)
                self.scopes[0]["beta"] = Variable("beta", types.float64, 0)
        self.head()
        if self.has("barriers"):
            self.make_shared()
        while self.budget > 0:
            self.budget -= 1
            self.statement()
        self.dump(6)
        return self.case(scalars, table)

    def case(self, scalars, table):
        body = "\n".join(self.lines)
        module = ["K = 3", "STEPS = (3, 1, 2)"]
        tables = {a.name: a.data for a in self.inputs if a.name in ("TABLE", "const")}
        tables.setdefault("TABLE", table.data)
        module.append(f"TABLE = np.array({tables['TABLE'].tolist()}, np.{tables['TABLE'].dtype})")
        if "const" in tables:
            module.append(f"CONST = np.array({tables['const'].tolist()}, np.float32)")
            body = "    const = cuda.const.array_like(CONST)\n" + body
        needed = sorted(self.helpers & set(HELPERS))
        texts = [HELPERS[h].replace("{threads}", str(self.threads)) for h in needed] + [f.text for f in self.functions]
        module += [f"\n\n@cuda.jit(device=True)\n{t}" for t in texts]
        given = {
            a.name: a.data for a in (*self.inputs, self.counts, *self.outputs, *self.strided, *self.atomics.values())
        }
        given |= scalars
        for name in tables:
            given.pop(name, None)
        used = [n for n in given if re.search(rf"\b{n}\b", body)]
        kernel = f"@cuda.jit\ndef kernel({', '.join(used)}):\n{body}\n"
        if self.chance(0.2):  # constants from a closure
            inner = "".join(f"    {line}\n" if line else "\n" for line in kernel.splitlines())
            kernel = f"def make(K):\n{inner}\n    return kernel\n\n\nkernel = make(5)\n"
        source = HEADER + "\n" + "\n".join(module) + "\n\n\n" + kernel
        rough = tuple(a.name for a in self.outputs if a.use == "rough")
        return Case(
            0, source, self.grid, self.block, tuple(given[n] for n in used), tuple(used), rough,
            getattr(self, "shared_bytes", 0), tuple(sorted(self.features)),
        )  # fmt: skip


def kernel(seed, features=None, plain=False, size=None):
    """The random kernel of a seed. features: those it may use (default: drawn); plain: only what numba's simulator does
    alike (64-bit numbers that stay small, no warps); size: about how many statements."""
    random = Random(f"{seed} {sorted(features) if features else ''} {plain}")
    if features is None:
        features = {f for f in FEATURES if random.random() < 0.6}
        features -= set() if "floats" in features else {"rough"}
    case = Generator(random, set(features), plain, size or random.randrange(6, 22)).write()
    return replace(case, seed=seed)
