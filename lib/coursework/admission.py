"""What an answer may contain: the part of Python that numba compiles, and nothing else.

Two reasons. A kernel that uses more would not compile on a GPU, and the student should hear that before the
GPU says it. And when a class is graded, an admitted answer cannot reach anything but its arguments: it names no
module, opens no file and changes no object, so what the x-ray counts while it runs can be trusted.
"""

import ast
import builtins
import difflib
import inspect
import math
import textwrap
from dataclasses import dataclass


def _words(text):
    return frozenset(text.split())


BUILTINS = _words(
    "range min max abs int float bool len round pow enumerate zip print True False None NotImplementedError"
)
MODULES = _words("cuda math np numba")
_TYPES = _words("float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64")
NUMBA_NAMES = _TYPES | _words("njit prange get_thread_id get_num_threads")
SCALARS = _TYPES | _words("float16 bool_ inf nan pi e")
CUDA = _words("""
    grid gridsize threadIdx blockIdx blockDim gridDim laneid warpsize shared local const array array_like
    syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp shfl_sync shfl_up_sync shfl_down_sync
    shfl_xor_sync ballot_sync any_sync all_sync eq_sync match_any_sync match_all_sync activemask lanemask_lt
    atomic add sub max min and_ or_ xor inc dec exch cas compare_and_swap nanmax nanmin cg this_grid sync
    fma popc brev clz ffs cbrt selp threadfence threadfence_block threadfence_system x y z
""")
MADE = _words("np.array np.zeros np.empty np.ones np.full np.zeros_like np.empty_like")
DIMENSIONS = _words("cuda.threadIdx cuda.blockIdx cuda.blockDim cuda.gridDim")
ARRAY = _words("shape size ndim dtype strides x y z T")
NODES = tuple(
    getattr(ast, name)
    for name in _words("""
        FunctionDef arguments arg Return Assign AugAssign For While If Expr Pass Break Continue Raise BoolOp BinOp
        UnaryOp IfExp Compare Call keyword Constant Attribute Subscript Name Tuple boolop operator unaryop cmpop
        expr_context
    """)
)
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
}


class NotAdmitted(Exception):
    """The answer uses something that the compiler, or the grader, does not take. Carries the line number."""

    name = "NotAdmitted"  # of the failure that it becomes

    def __init__(self, what, line, where):
        super().__init__(f"line {line} uses {what}, which {where}")
        self.line = line


class Undefined(NotAdmitted):
    """The answer uses a name that nobody has defined."""

    name = "NameError"

    def __init__(self, name, line, known, cuda=True):
        meant = _meant(name, known, CUDA if cuda else ())
        Exception.__init__(self, f"line {line} uses {name!r}, which is not defined" + (f": {meant}" if meant else ""))
        self.line = line


def _meant(name, known, cuda):
    """What a misspelt name was probably meant to be. `cuda`: members of that module."""
    for member in sorted(cuda):
        if len(member) > 1 and member.lower() == name.lower():
            return f"did you mean `cuda.{member}`?"
    near = difflib.get_close_matches(name, sorted(known), 1, 0.6)
    return f"did you mean `{near[0]}`?" if near else ""


@dataclass(frozen=True)
class Language:
    """The rules for one kind of function. `numpy`: names taken from np (None: all); `nodes`: more syntax; `instead`: what to
    write for whole arrays, in words."""

    where: str
    decorators: tuple
    names: frozenset
    numpy: frozenset | None
    nodes: tuple = ()
    instead: str = ""


KERNEL = Language(
    "a CUDA kernel cannot contain",
    ("cuda.jit",),
    BUILTINS | MODULES | _TYPES,
    SCALARS | _words("maximum minimum"),
    instead=": a kernel is what one thread does, with single elements such as out[i], Python's min, max, abs, and math",
)
# Inside njit every np.* is compiled, never interpreted: what numba does not support is a compile error.
COMPILED = Language(
    "the compiled functions of this course cannot contain",
    ("njit", "numba.njit"),
    BUILTINS | MODULES | NUMBA_NAMES,
    None,
    (ast.Slice, ast.List),
)
# Runs as Python with numbers that count (counted.py): no function of np, which would be interpreted there.
COUNTED = Language(
    "a loop whose flops are counted cannot contain",
    COMPILED.decorators,
    BUILTINS | {"math", "np"} | NUMBA_NAMES,
    SCALARS,
    instead=": write loops over single elements, with + - * /",
)


def source_of(function):
    """The source text of a Python function, of a CUDA kernel or of a numba function."""
    return textwrap.dedent(inspect.getsource(getattr(function, "py_func", function)))


def admit(function, language, seen=()):
    """Raise NotAdmitted unless `function` (of this process), and what it calls of its own module, is written in `language`."""
    python = getattr(function, "py_func", function)
    if python in seen:
        return
    scope = python.__globals__
    known = {
        name for name, value in scope.items() if hasattr(value, "py_func") or isinstance(value, int | float | tuple)
    }
    tree = ast.increment_lineno(ast.parse(source_of(function)), python.__code__.co_firstlineno - 1)
    for statement in tree.body:
        _check_statement(statement, language, language.names | known)
    for name in sorted(_free(tree) & known):
        if getattr(getattr(scope[name], "py_func", None), "__module__", None) == python.__module__:
            admit(scope[name], language, (*seen, python))


def _free(tree):
    """The names that are used and not a variable or parameter: a `row` of one's own is not the notebook's function `row`."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return {node.id for node in names} - own - {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def collect(cells, name, language):
    """The source of function `name` and of all it uses from `cells` (source texts in order), admitted.

    Everything else in the cells (prints, plots, launches) is no part of the answer and left out. The last definition
    of a name counts. Returns a list of source texts, each with the line numbers of its cell; raises NotAdmitted, and
    LookupError where nothing in `language` is called `name`.
    """
    definitions = _definitions(cells, language)
    if name not in definitions:
        raise LookupError(f"no function {name} with @{language.decorators[0]} above it was found")
    wanted, queue = {name}, [name]
    while queue:
        more = (_free(definitions[queue.pop()][1]) & definitions.keys()) - wanted
        wanted |= more
        queue += more
    for needed in wanted:
        _check_statement(definitions[needed][1], language, language.names | wanted)
    return [text for needed, (text, _) in definitions.items() if needed in wanted]


def _definitions(cells, language):
    """Name -> (source text, syntax tree) of the functions and constants in `cells`, in the order of the last one."""
    definitions = {}
    for text in cells:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # IPython magics or a broken cell: the notebook's own run reports it
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef) and _is_of(statement, language):
                names = [statement.name]
            elif isinstance(statement, ast.Assign) and _is_constant(statement, language, definitions):
                names = [target.id for target in _targets(statement)]
            else:
                continue
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            source = "\n" * (first - 1) + "\n".join(text.splitlines()[first - 1 : statement.end_lineno])
            for name in names:
                for stale in _made_from(name, definitions):
                    del definitions[stale]
                definitions[name] = (source, statement)
    return definitions


def _made_from(name, definitions):
    """The name, if it has a meaning already, and the constants that were computed from that one."""
    stale = {name} & definitions.keys()
    for other, (_, statement) in definitions.items():  # in order: what they are computed from stands before them
        if isinstance(statement, ast.Assign) and _free(statement) & stale:
            stale.add(other)
    return stale


def _check_statement(statement, language, known):
    if isinstance(statement, ast.FunctionDef):
        _check_function(statement, language, known)
    elif isinstance(statement, ast.Assign):
        _check_constant(statement, language, known)
    else:
        _refuse(statement, language)


def _is_of(function, language):
    return any(
        ast.unparse(d.func if isinstance(d, ast.Call) else d) in language.decorators for d in function.decorator_list
    )


def _is_constant(statement, language, definitions):
    constants = {name for name, (_, earlier) in definitions.items() if isinstance(earlier, ast.Assign)}
    try:
        _check_constant(statement, language, constants)
    except NotAdmitted:
        return False
    return True


def _targets(statement):
    """What an assignment assigns to; those of ``ROWS, COLUMNS = 16, 32`` one by one."""
    return [part for t in statement.targets for part in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]


def _check_constant(statement, language, known):
    """Numbers, and what is computed from them and from `known` constants: ``WIDE = TILE + 2``."""
    targets = _targets(statement)
    if not all(isinstance(t, ast.Name) and not t.id.startswith("_") for t in targets):
        _refuse(statement, language)
    if {t.id for t in targets} & language.names:
        _refuse(statement, language, "a new meaning for a name of the course")
    for node in ast.walk(statement.value):
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, int | float | bool):
                _refuse(node, language, "text as a constant")
        elif isinstance(node, ast.Name):
            if node.id not in known - language.names:
                _refuse(node, language)
        elif not isinstance(node, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.operator | ast.unaryop | ast.expr_context):
            _refuse(node, language)


def _check_function(function, language, known):
    if not _is_of(function, language) or len(function.decorator_list) != 1:
        _refuse(function, language, "a function without its decorator @" + language.decorators[0])
    if function.name.startswith("__") or function.name in language.names:
        _refuse(function, language, f"a new meaning for {function.name}")
    for decorator in function.decorator_list:
        for keyword in getattr(decorator, "keywords", ()):
            if not isinstance(keyword.value, ast.Constant):
                _refuse(keyword.value, language, "a computed option of the decorator")
        for argument in getattr(decorator, "args", ()):
            _refuse(argument, language, "a signature in the decorator")
    a = function.args
    if a.defaults or a.kw_defaults or a.vararg or a.kwarg or function.returns or any(x.annotation for x in a.args):
        _refuse(function, language, "default values, *arguments or annotations")
    local = {x.arg for x in a.args} | {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # the docstring
    nodes = [node for statement in body for node in ast.walk(statement)]
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
            _refuse(node, language, "a function that calls itself")
    printed = {id(part) for node in nodes if _prints(node) for part in node.args}
    _refuse_bare_dimensions(body)
    for node in nodes:
        _check_node(node, language, known | local, printed)


def _refuse_bare_dimensions(body):
    """cuda.threadIdx and its like are three numbers each: refused where one of them is used as if it were a number."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    followed = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    named = {}  # a name for all three, as in t = cuda.threadIdx, whose members are used
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[id(node.value)] = node.targets[0].id
    bare = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in followed}
    for node in nodes:
        if not isinstance(node, ast.Attribute) or ast.unparse(node) not in DIMENSIONS or id(node) in followed:
            continue
        if id(node) not in named or named[id(node)] in bare:
            name = ast.unparse(node)
            raise NotAdmitted(f"{name} as a number", node.lineno, f"is three numbers: {name}.x, .y and .z")


def _prints(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _check_node(node, language, known, printed):
    """`printed`: what stands in a print as it is, text included."""
    if isinstance(node, ast.FunctionDef):
        _refuse(node, language, "a function inside a function")
    if not isinstance(node, NODES + language.nodes):
        _refuse(node, language)
    if isinstance(node, ast.Name):
        if hasattr(builtins, node.id) and node.id not in known:
            _refuse(node, language, f"{node.id}()")
        elif node.id.startswith("__"):
            _refuse(node, language, f"the name {node.id!r}")
        elif node.id not in known:
            raise Undefined(node.id, node.lineno, known)
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, int | float | bool | type(None)) and id(node) not in printed:
            _refuse(node, language, "text")
    elif isinstance(node, ast.Attribute):
        _check_attribute(node, language)


def _check_attribute(node, language):
    root = node.value
    while isinstance(root, ast.Attribute | ast.Call):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    module = root.id if isinstance(root, ast.Name) else None
    if isinstance(node.ctx, ast.Store | ast.Del) or node.attr.startswith("_"):
        allowed = False
    elif module == "cuda":
        allowed = node.attr in CUDA
    elif module == "math":
        allowed = hasattr(math, node.attr)
    elif module == "np":
        allowed = node.attr in language.numpy if language.numpy else hasattr(__import__("numpy"), node.attr)
    elif module == "numba":
        allowed = node.attr in NUMBA_NAMES
    else:
        allowed = node.attr in ARRAY or language is COMPILED
    if not allowed:
        _refuse(node, language, ast.unparse(node), _meant_member(node, module))


def _meant_member(node, module):
    """A sentence about a member, of a module or of an array, that does not exist."""
    modules = {"cuda": CUDA, "math": {n for n in dir(math) if not n.startswith("_")}, "numba": NUMBA_NAMES}
    members = modules.get(module, () if module == "np" else ARRAY)
    lower = {name.lower(): name for name in members or ()}
    near = difflib.get_close_matches(node.attr.lower(), sorted(lower), 1, 0.6)
    return f"; did you mean `{ast.unparse(node.value)}.{lower[near[0]]}`?" if near else ""


def _refuse(node, language, what=None, more=""):
    if isinstance(node, ast.Slice) and language is KERNEL:  # numba compiles it; the executor does not
        raise NotAdmitted(
            "a slice",
            node.lineno,
            "the executor of this course does not take: one thread works on single elements, on several of them in a loop",
        )
    numpys = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
    if numpys in MADE and language is KERNEL:
        more = ": cuda.shared.array is an array of a block, cuda.local.array one of a thread"
    elif isinstance(node, ast.Slice) or numpys.startswith("np."):
        more = more or language.instead
    what = what or NAMED.get(type(node).__name__) or f"`{ast.unparse(node).splitlines()[0][:60]}`"
    raise NotAdmitted(what, getattr(node, "lineno", 0), language.where + more)
