"""The words of the languages that kernels and compiled functions are written in: all that admission.py lets through."""

import math
from dataclasses import dataclass


def words(text):
    return frozenset(text.split())


def under(path, names):
    """cuda.shared.array for under("cuda.shared", "array")."""
    return frozenset(f"{path}.{name}" for name in names.split())


BUILTINS = words(
    "range min max abs int float bool len round pow enumerate zip print True False None NotImplementedError"
)
MODULES = words("cuda math np numba")
_TYPES = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
NUMBA_NAMES = words("prange njit get_thread_id get_num_threads")

_THREE = "threadIdx blockIdx blockDim gridDim"
_CUDA = under("cuda", f"""
    grid gridsize {_THREE} laneid warpsize
    syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp shfl_sync shfl_up_sync shfl_down_sync
    shfl_xor_sync ballot_sync any_sync all_sync eq_sync match_any_sync match_all_sync activemask lanemask_lt
    fma popc brev clz ffs cbrt selp threadfence threadfence_block threadfence_system
""").union(
    *(under(f"cuda.{place}", "x y z") for place in _THREE.split()),
    under("cuda.shared", "array"),
    under("cuda.local", "array"),
    under("cuda.const", "array_like"),
    under("cuda.cg", "this_grid"),
    under("cuda.atomic", "add sub max min and_ or_ xor inc dec exch cas compare_and_swap nanmax nanmin"),
)  # fmt: skip
CUDA = frozenset(name for path in _CUDA for name in path.split(".")[1:])  # for whoever misspells one
_MATH = under("math", " ".join(name for name in dir(math) if not name.startswith("_")))
_NUMBA = under("numba", f"{_TYPES} prange get_thread_id get_num_threads")
_SCALARS = under("np", f"{_TYPES} float16 bool_ intp uintp inf nan pi e")
MADE = under("np", "array zeros empty ones full zeros_like empty_like")
# Of NumPy only what computes: nothing that keeps a state (random), reads memory of others (lib) or files.
_NUMPY = _SCALARS | MADE | under("np", """
    ones_like full_like asarray ascontiguousarray arange linspace eye identity copy newaxis complex64 complex128
    concatenate stack vstack hstack column_stack split array_split reshape ravel transpose swapaxes expand_dims flip roll
    sum mean median std var prod min max amin amax nansum nanmin nanmax nanmean any all count_nonzero nonzero
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
    Return Assign AugAssign For While If Expr Pass Break Continue Raise BoolOp BinOp UnaryOp IfExp Compare Subscript Tuple
    And Or Add Sub Mult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv MatMult Invert Not UAdd USub
    Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn Load Store
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


@dataclass(frozen=True)
class Language:
    """The rules for one kind of function. `paths`: what it may name of modules, from the module on; `nodes`: kinds of syntax
    that have no rule of their own; `options`: of its decorator; `instead`: what to write for whole arrays, in words."""

    key: str
    where: str
    decorators: tuple
    names: frozenset
    paths: frozenset
    attributes: frozenset
    options: frozenset
    nodes: frozenset = _NODES
    instead: str = ""

    def members(self, module):
        return {path.split(".", 1)[1] for path in self.paths if path.split(".")[0] == module}


KERNEL = Language(
    "kernel",
    "a CUDA kernel cannot contain",
    ("cuda.jit",),
    BUILTINS | MODULES,
    _CUDA | _MATH | _NUMBA | _SCALARS | under("np", "maximum minimum"),
    _ARRAY | {"sync"},
    words("device inline fastmath debug opt lineno lineinfo max_registers"),
    instead=": a kernel is what one thread does, with single elements such as out[i], Python's min, max, abs, and math",
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
