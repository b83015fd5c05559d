"""The words of the languages that kernels and compiled functions are written in: all that admission.py lets through."""

import math
from dataclasses import dataclass, field


def words(text):
    return frozenset(text.split())


def under(path, names):
    """cuda.shared.array for under("cuda.shared", "array")."""
    return frozenset(f"{path}.{name}" for name in names.split())


BUILTINS = words(
    "range min max abs int float bool len round pow divmod enumerate zip print True False None NotImplementedError"
)
MODULES = words("cuda math np numba")
_TYPES = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
NUMBA_NAMES = words("prange njit get_thread_id get_num_threads")

_THREE = "threadIdx blockIdx blockDim gridDim"
_CUDA = under(
    "cuda",
    f"""
    grid gridsize {_THREE} laneid warpsize
    syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp shfl_sync shfl_up_sync shfl_down_sync
    shfl_xor_sync ballot_sync any_sync all_sync eq_sync match_any_sync match_all_sync activemask lanemask_lt
    fma popc brev clz ffs cbrt selp threadfence threadfence_block threadfence_system
""",
).union(
    *(under(f"cuda.{vector}", "x y z") for vector in _THREE.split()),
    under("cuda.shared", "array"),
    under("cuda.local", "array"),
    under("cuda.const", "array_like"),
    under("cuda.cg", "this_grid"),
    under("cuda.atomic", "add sub max min and_ or_ xor inc dec exch cas compare_and_swap nanmax nanmin"),
)
CUDA = frozenset(name for path in _CUDA for name in path.split(".")[1:])  # for whoever misspells one
_MATH = under("math", " ".join(name for name in dir(math) if not name.startswith("_")))
_NUMBA = under("numba", f"{_TYPES} prange get_thread_id get_num_threads")
_SCALARS = under("np", f"{_TYPES} float16 bool_ intp uintp inf nan pi e")
MADE = under("np", "array zeros empty ones full zeros_like empty_like")
# Of NumPy only what computes: nothing that keeps a state (random), reads memory of others (lib) or files.
_NUMPY = _SCALARS | MADE | under("np", """
    ones_like full_like asarray ascontiguousarray arange linspace eye identity copy newaxis complex64 complex128
    concatenate stack vstack hstack column_stack split array_split reshape ravel transpose swapaxes expand_dims flip
    roll sum mean median std var prod min max amin amax nansum nanmin nanmax nanmean any all count_nonzero nonzero
    argmin argmax argsort sort searchsorted unique histogram cumsum cumprod diff where clip take repeat interp
    dot vdot inner outer matmul trace kron minimum maximum fmin fmax abs absolute fabs sign copysign hypot
    exp exp2 expm1 log log2 log10 log1p sqrt square cbrt power float_power sin cos tan arcsin arccos arctan arctan2 sinh
    cosh tanh arcsinh arccosh arctanh floor ceil rint round round_ trunc isnan isinf isfinite allclose array_equal
    add subtract multiply divide true_divide floor_divide mod remainder fmod negative reciprocal divmod
    logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not left_shift right_shift
    equal not_equal less less_equal greater greater_equal ndindex ndenumerate
""")  # fmt: skip

_ARRAY = words("shape size ndim dtype strides x y z T")
_ARRAY_METHODS = words("""
    itemsize nbytes sum mean std var min max prod any all argmin argmax argsort sort cumsum cumprod dot copy fill astype
    reshape ravel flatten transpose real imag item take repeat nonzero append pop
""")
_NODES = words("""
    Return Assign AugAssign For While If Expr Pass Break Continue Raise BoolOp BinOp UnaryOp IfExp Compare Subscript
    Tuple And Or Add Sub Mult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv MatMult Invert Not UAdd USub Eq
    NotEq Lt LtE Gt GtE Is IsNot In NotIn Load Store
""")
NAMED = {
    "ListComp": "a list comprehension",
    "GeneratorExp": "a generator",
    "Lambda": "a lambda",
    "Import": "an import",
    "ImportFrom": "an import",
    "Try": "try ... except",
    "With": "with",
    "ClassDef": "a class",
    "List": "a list",
    "Dict": "a dictionary",
    "Set": "a set",
    "Slice": "a slice",
    "JoinedStr": "an f-string",
    "Global": "global",
    "Nonlocal": "nonlocal",
    "Starred": "a starred argument",
    "NamedExpr": "the walrus operator",
    "Delete": "del",
    "Assert": "assert",
    "AnnAssign": "an annotation",
}


_LOOP = "write the loop over its elements"
_STORE = "store at an index: out[i] = value"
# What to write in place of what no language takes.
_EVERYWHERE = {
    "a list comprehension": _LOOP,
    "a generator": _LOOP,
    "a lambda": "write the expression where it is used, or a function of its own above",
    "an import": "imports stand outside of the function, in a cell above",
    "try ... except": "ask with `if` before it can fail",
    "a dictionary": "use an array, with a number as the index",
    "a set": "use an array, with a number as the index",
    "an f-string": "print takes the parts one by one, as in print(i, value)",
    "global": "take it as a parameter, and store into an array",
    "nonlocal": "take it as a parameter, and store into an array",
    "the walrus operator": "give the name its value on a line of its own",
    "del": "leave the line out",
    "assert": "leave it out, or ask with `if`",
    "an annotation": "leave the type out",
    "a class": "use numbers and arrays",
    "a starred argument": "write the arguments one by one",
    "a function inside a function": "put it above, with a decorator of its own",
    "list()": "use an array, and store at an index",
    "dict()": "use an array, with a number as the index",
    "set()": "use an array, with a number as the index",
    "map()": _LOOP,
    "filter()": "write the loop, with an `if` in it",
    "reversed()": "count down: range(n - 1, -1, -1)",
    "any()": _LOOP,
    "all()": _LOOP,
    "str()": "print takes numbers as they are",
    "input()": "take it as a parameter",
    "tolist": "an array can be indexed as it is",
    "__syncthreads": "write cuda.syncthreads()",
    "math.max": "write Python's max(a, b)",
    "math.min": "write Python's min(a, b)",
    "math.abs": "write Python's abs(a)",
    "np.random": "take the random numbers as a parameter",
}
CURES = _EVERYWHERE | {
    "a list": "cuda.local.array(length, np.float32) is memory of one thread, and a tuple (a, b) holds what "
    "does not change",
    "list()": "cuda.local.array(length, np.float32) is memory of one thread",
    "a lambda": "write a function above, with @cuda.jit(device=True)",
    "a function inside a function": "put it above, with @cuda.jit(device=True)",
    "text": "it computes with numbers; a type is written np.float32, without quotes",
    "sum()": "add up in a loop: total += x[i]",
    "sorted()": "one thread has single elements: compare two of them",
    "tuple()": "write the parts, (a, b)",
    "fill": f"{_STORE}, in a loop where a thread has several",
    "copy": "copy an element: out[i] = x[i]",
    "astype": "convert an element: np.float32(x[i])",
    "append": f"an array has a fixed length; {_STORE}",
    "pop": "an array has a fixed length; count in a variable how much of it is in use",
    **dict.fromkeys(("sum", "mean", "std", "var", "prod", "dot"), "add up in a loop: total += x[i]"),
    **dict.fromkeys(("max", "min", "argmax", "argmin"), "compare in a loop: best = max(best, x[i])"),
    **dict.fromkeys(
        ("reshape", "ravel", "flatten", "transpose"), "work the index out: row = i // columns, column = i % columns"
    ),
    "zeros": "cuda.shared.array or cuda.local.array makes it, and a loop stores the zeros",
    **dict.fromkeys(
        ("np.max", "np.amax", "np.min", "np.amin"),
        "max(a, b) and min(a, b) take two numbers; for an array compare in a loop",
    ),
    **dict.fromkeys(("np.sum", "np.mean", "np.dot", "np.prod", "np.cumsum"), "add up in a loop: total += x[i]"),
    "np.where": "write `a if condition else b`, of single elements",
    "np.arange": "write the loop: for k in range(n)",
    "np.abs": "write Python's abs(a)",
}
COMPILED_CURES = _EVERYWHERE | {
    "sum()": "write np.sum(x), or add up in a loop",
    "sorted()": "write np.sort(x)",
    "tuple()": "write the parts, (a, b)",
    "any()": "write np.any(x), or the loop",
    "all()": "write np.all(x), or the loop",
    "list()": "use an array: np.empty(n)",
    "text": "it computes with numbers; a type is written np.float32, without quotes",
    "a lambda": "write a function above, with @njit",
    "a function inside a function": "put it above, with @njit",
}


@dataclass(frozen=True)
class Language:
    """The rules for one kind of function. `paths`: what it may name of modules, from the module on; `nodes`: kinds of
    syntax that have no rule of their own; `options`: of its decorator; `instead`: what to write for whole arrays, in
    words; `cures`: the same for single words, by what they are called in a refusal, by a path, or by its last word."""

    key: str
    where: str
    decorators: tuple
    names: frozenset
    paths: frozenset
    attributes: frozenset
    options: frozenset
    nodes: frozenset = _NODES
    instead: str = ""
    cures: dict = field(default_factory=dict, hash=False, compare=False)

    def members(self, module):
        return {path.split(".", 1)[1] for path in self.paths if path.split(".")[0] == module}

    def cure(self, what):
        """What to write in place of something that is refused; "" where no list knows."""
        module, _, last = what.rpartition(".")
        if (
            what not in self.cures
            and module == "np"
            and f"math.{last}" in self.paths
            and f"np.{last}" not in self.paths
        ):
            return f"write math.{last}(a), of one number"
        return self.cures.get(what) or self.cures.get(last, "")


KERNEL = Language(
    "kernel",
    "a CUDA kernel cannot contain",
    ("cuda.jit",),
    BUILTINS | MODULES,
    _CUDA | _MATH | _NUMBA | _SCALARS | under("np", "maximum minimum"),
    _ARRAY | {"sync"},
    words("device inline fastmath debug opt lineno lineinfo max_registers"),
    instead=": a kernel is what one thread does, with single elements such as out[i], Python's min, max, abs, and math",
    cures=CURES,
)
# Inside njit every np.* is compiled, never interpreted: what numba does not support is a compile error.
COMPILED = Language(
    "compiled",
    "the compiled functions of this course cannot contain",
    ("njit", "numba.njit"),
    BUILTINS | MODULES | NUMBA_NAMES,
    _MATH | _NUMBA | _NUMPY,
    _ARRAY | _ARRAY_METHODS,
    words("parallel fastmath nogil error_model boundscheck inline debug"),
    _NODES | {"Slice", "List"},
    cures=COMPILED_CURES,
)
# Runs as Python with numbers that count (counted.py): no function of np, which would be interpreted there.
COUNTED = Language(
    "counted",
    "a loop whose flops are counted cannot contain",
    COMPILED.decorators,
    BUILTINS | {"math", "np"} | NUMBA_NAMES,
    _MATH | _NUMBA | _SCALARS,
    _ARRAY,
    COMPILED.options,
    instead=": write loops over single elements, with + - * /",
)
EXAMPLES = {"np": "float32", "cuda": "grid", "math": "sqrt", "numba": "prange"}  # of what is in a module
