"""What an answer in plain Python may contain (ScenarioTask, ThreadTask): see PlainPython's rules.

When a class is graded, an admitted answer runs in the clean process beside the course's own code. So it may name no
module but the few below, and of them only what is listed; reach no attribute that leads out of its own objects
(`__class__`, `gi_frame`, `str.format` ...); and catch nothing that ends a run (`except:`). Names of its own are free.
"""

import ast
import builtins
import difflib
import sys

from . import trees
from .admission import NotAdmitted, Undefined
from .vocabulary import NAMED, words

WHERE = "an answer in this notebook cannot contain"
BUILTINS = words("""
    range min max abs int float bool complex str bytes repr list dict set frozenset tuple enumerate zip map filter
    sorted reversed sum any all iter next isinstance len round divmod pow ord chr print slice object super property
    staticmethod classmethod True False None NotImplementedError Exception ValueError TypeError KeyError IndexError
    LookupError RuntimeError StopIteration AssertionError ArithmeticError ZeroDivisionError OverflowError TimeoutError
    OSError AttributeError NameError NotImplemented Ellipsis
""")
MODULES = {
    "threading": words(
        "Thread Lock RLock Semaphore BoundedSemaphore Condition Event Barrier BrokenBarrierError current_thread "
        "get_ident local"
    ),
    "queue": words("Queue LifoQueue PriorityQueue SimpleQueue Empty Full"),
    "time": words("sleep monotonic perf_counter time"),
    "concurrent": words("futures"),
    "math": frozenset(name for name in dir(__import__("math")) if not name.startswith("_")),
    "random": words("seed random uniform randrange randint choice shuffle sample"),
    "np": words("""
        array asarray zeros ones empty full zeros_like ones_like empty_like full_like arange linspace concatenate stack
        vstack hstack split array_split sum mean median std var min max minimum maximum argmin argmax argsort sort abs
        exp log sqrt tanh sin cos where clip cumsum prod dot matmul outer any all isnan isfinite allclose array_equal
        percentile quantile polyfit diff unique bincount roll flip tile repeat column_stack ravel squeeze expand_dims
        swapaxes flatnonzero nonzero searchsorted argpartition lexsort count_nonzero add subtract multiply divide power
        sign heaviside inner einsum tensordot isclose atleast_1d atleast_2d float16 float32 float64 int8 int16 int32
        int64 uint8 uint16 uint32 uint64 bool_ intp inf nan pi e newaxis ndarray reshape transpose copy copyto linalg
        interp floor ceil log2 log10 square
    """),
    "statistics": words("median mean stdev"),
    "collections": words("deque defaultdict Counter OrderedDict"),
    "heapq": words("heappush heappop heapify heapreplace heappushpop nlargest nsmallest"),
    "functools": words("partial reduce"),
    "itertools": words("chain islice count repeat cycle accumulate product combinations zip_longest"),
}
FREE = words("""
    Thread Lock RLock Semaphore BoundedSemaphore Condition Event Barrier current_thread get_ident Queue LifoQueue
    PriorityQueue SimpleQueue Empty Full sleep perf_counter monotonic ThreadPoolExecutor as_completed deque
""")
# Classes that the course's own code uses as well: who holds one can change it for all. (Locks are classes while they
# are explored.)
CLASSES = words("""
    Thread Lock RLock Semaphore BoundedSemaphore Condition Event Barrier Queue LifoQueue PriorityQueue SimpleQueue
    ThreadPoolExecutor Future Counter OrderedDict
""")
HANDED_TO = words(
    "defaultdict map filter isinstance partial"
)  # these call a class, or look at it, and keep it to themselves
FUTURES = words("ThreadPoolExecutor as_completed wait Future TimeoutError CancelledError")
ATTRIBUTES = words("""
    acquire release locked wait wait_for notify notify_all set clear is_set start join run is_alive name daemon ident
    put get put_nowait get_nowait task_done qsize empty full maxsize parties n_waiting broken reset abort submit map
    shutdown result exception done cancel cancelled running add_done_callback append appendleft extend extendleft pop
    popleft popitem insert remove index count sort reverse copy rotate keys values items setdefault update add discard
    union intersection difference issubset issuperset symmetric_difference shape size ndim dtype T nbytes itemsize
    strides sum mean min max std var prod any all argmin argmax argsort cumsum dot stop step repeat nonzero squeeze
    swapaxes searchsorted astype fill tolist item reshape ravel flatten transpose round clip split strip startswith
    endswith lower upper replace partition rpartition splitlines isdigit find rfind lstrip rstrip removeprefix
    removesuffix zfill args send close throw real imag bit_length is_integer most_common elements total default_factory
    fromkeys write read sync rename names __init__
""")
METHODS = words("""
    __init__ __enter__ __exit__ __iter__ __next__ __len__ __call__ __repr__ __str__ __contains__ __getitem__ __setitem__
    __bool__
""")
_BANNED = words("format format_map mro tofile dump dumps ctypes data_as setflags obj")
_LEADS_OUT = ("f_", "gi_", "tb_", "co_", "cr_", "ag_", "func_")
_NODES = words("""
    FunctionDef ClassDef Lambda Return Delete Assign AugAssign AnnAssign For While If With Raise Try Assert Global
    Nonlocal Expr Pass Break Continue BoolOp NamedExpr BinOp UnaryOp IfExp Dict Set ListComp SetComp DictComp
    GeneratorExp Yield YieldFrom Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List
    Tuple Slice comprehension ExceptHandler arguments arg keyword withitem Load Store Del And Or Add Sub Mult Div Mod
    Pow LShift RShift BitOr BitXor BitAnd FloorDiv MatMult Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
""")
_SAID = NAMED | {"AsyncFunctionDef": "async", "AsyncFor": "async", "AsyncWith": "async", "Await": "await"}


def prelude():
    """The names that every such answer may use."""
    import collections
    import concurrent.futures
    import functools
    import heapq
    import itertools
    import math
    import queue
    import random
    import statistics
    import threading
    import time

    import numpy as np

    names = {
        "threading": threading, "queue": queue, "time": time, "concurrent": concurrent, "math": math, "random": random,
        "np": np, "statistics": statistics, "itertools": itertools, "deque": collections.deque,
        "collections": collections, "heapq": heapq, "functools": functools, "sleep": time.sleep,
        "perf_counter": time.perf_counter, "monotonic": time.monotonic,
        "as_completed": concurrent.futures.as_completed, "ThreadPoolExecutor": concurrent.futures.ThreadPoolExecutor,
    }  # fmt: skip
    for module in (threading, queue):
        names |= {name: getattr(module, name) for name in FREE if hasattr(module, name)}
    return {"__name__": "answer", **names}


class Spoils(NotAdmitted):
    """The answer uses what the task is to build."""

    name = "Spoils"

    def __init__(self, what, line, why):
        Exception.__init__(self, f"line {line} uses {what}: {why}")
        self.line = line


def refuse_what_spoils(statements, without):
    """Raise NotAdmitted where one of `statements` uses what the task does without: a dict name -> why. The name
    "timeout" stands for a `wait` or an `acquire` that ends by itself."""
    for node in (n for statement in statements for n in ast.walk(statement)):
        name = getattr(node, "id", "") or getattr(node, "attr", "")
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("wait", "wait_for", "acquire"):
            allowed = 0 if node.func.attr == "wait" else 1
            if len(node.args) > allowed or any(k.arg == "timeout" for k in node.keywords):
                name = "timeout"
        if name in without:
            raise Spoils(f"`{ast.unparse(node)[:60]}`", node.lineno, without[name])


def check(statements, allowed):
    """Raise NotAdmitted unless the top-level `statements` keep the rules. `allowed`: further names they may use."""
    local, attributes = set(allowed), set()
    aliases = {s.targets[0].id for s in statements if isinstance(s, ast.Assign) and _is_class(s.value, set())}
    made = {s.name for s in statements if isinstance(s, ast.FunctionDef | ast.ClassDef)} - aliases
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                local.add(node.id)
            elif isinstance(node, ast.arg):
                local.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                local.add(node.name)
                attributes.add(node.name)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                local.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                attributes.add(node.attr)
            if isinstance(node, ast.ClassDef):
                attributes |= {name for part in node.body for name in defined(part)}
    for statement in statements:
        rules = _Rules(local, attributes, aliases, made)
        if not defined(statement):
            rules.refuse(statement)
        try:
            trees.limit(statement)
        except trees.TooLarge as error:
            raise NotAdmitted(str(error), error.line, "is more than an answer needs") from None
        with trees.deep():
            rules.top(statement)


def defined(statement):
    """The names that a statement at the top of a cell, or of a class, gives a meaning to; () for one that runs
    something."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return (statement.name,)
    if isinstance(statement, ast.AnnAssign) and statement.value is not None and isinstance(statement.target, ast.Name):
        return (statement.target.id,)
    if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
        return tuple(t.id for t in statement.targets)
    return ()


def _is_class(node, aliases, made=()):
    """Whether a node is the name of one of CLASSES. `aliases`: further names of them; `made`: those of the answer's
    own."""
    if isinstance(node, ast.Attribute):
        return node.attr in CLASSES and ast.unparse(node.value) in (*MODULES, "concurrent.futures")
    return isinstance(node, ast.Name) and node.id in CLASSES.difference(made) | aliases


class _Rules(ast.NodeVisitor):
    """`aliases`: names for CLASSES; `made`: functions and classes at the top, whatever they are called."""

    def __init__(self, local, attributes, aliases=frozenset(), made=frozenset()):
        self.local, self.attributes, self.modules = local - set(MODULES), attributes, []
        self.aliases, self.made = aliases, made
        self.used = set()  # nodes that may be a class: it is called there, or inherited from

    def top(self, statement):
        """A statement at the top of a cell; a class gets another name there."""
        if isinstance(statement, ast.Assign):
            self.used.add(id(statement.value))
        self.visit(statement)

    def kept(self, node):
        """Refuse a class that is kept, or changed, where it could be called."""
        if isinstance(node.ctx, ast.Load) and id(node) not in self.used and _is_class(node, self.aliases, self.made):
            name = ast.unparse(node)
            self.refuse(node, f"{name} itself", f"; `{name}()` makes one")

    def refuse(self, node, what=None, more=""):
        what = what or _SAID.get(type(node).__name__) or f"`{ast.unparse(node).splitlines()[0][:60]}`"
        raise NotAdmitted(what, getattr(node, "lineno", 0), WHERE + more)

    def visit(self, node):
        if type(node).__name__ not in _NODES:
            self.refuse(node)
        if getattr(node, "is_async", 0):
            self.refuse(node, "async")
        super().visit(node)

    def name(self, node, name):
        """Refuse a name that would stand for something of Python's or of the course's."""
        if name in MODULES:
            self.refuse(node, f"{name} by itself; use what is in it, as in {name}.{_example(name)}")
        if (_hidden(name) and name != "__slots__") or (hasattr(builtins, name) and name not in BUILTINS):
            self.refuse(node, f"the name {name}")

    def visit_FunctionDef(self, node):
        if node.name not in METHODS:
            self.name(node, node.name)
        if getattr(node, "type_params", None):
            self.refuse(node, "type parameters")
        self.used |= {id(node.returns)}
        for decorator in node.decorator_list:
            plain = isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod", "property")
            setter = isinstance(decorator, ast.Attribute) and decorator.attr == "setter"
            if not plain and not (setter and isinstance(decorator.value, ast.Name)):
                self.refuse(decorator, f"the decorator @{ast.unparse(decorator)}")
        for part in (node.args, *node.body):
            self.visit(part)
        if node.returns:
            self.visit(node.returns)

    def visit_ClassDef(self, node):
        self.name(node, node.name)
        if node.decorator_list or node.keywords or getattr(node, "type_params", None):
            self.refuse(node, "a class with a decorator or a metaclass")
        self.used |= {id(base) for base in node.bases}
        for part in (*node.bases, *node.body):
            self.visit(part)

    def visit_arg(self, node):
        self.name(node, node.arg)
        self.used.add(id(node.annotation))
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        self.used.add(id(node.annotation))
        self.generic_visit(node)

    def visit_Call(self, node):
        self.used.add(id(node.func))
        root = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in HANDED_TO and isinstance(root, ast.Name) and root.id not in self.local | self.made:
            parts = [
                part
                for argument in node.args
                for part in (argument.elts if isinstance(argument, ast.Tuple) else [argument])
            ]
            self.used |= {id(part) for part in parts}
        self.generic_visit(node)

    def visit_keyword(self, node):
        if node.arg and _hidden(node.arg):
            self.refuse(node)
        self.generic_visit(node)

    def visit_Name(self, node):
        name = node.id
        if hasattr(builtins, name) and name not in BUILTINS and isinstance(node.ctx, ast.Load):
            self.refuse(node, f"{name}()")
        self.name(node, name)
        self.kept(node)
        if isinstance(node.ctx, ast.Load) and name not in self.local | BUILTINS | FREE:
            if name in sys.stdlib_module_names:
                self.refuse(node, f"the module {name}")
            raise Undefined(name, node.lineno, self.local | BUILTINS | FREE | set(MODULES), cuda=False)

    def visit_Attribute(self, node):
        self.kept(node)
        if isinstance(node.ctx, ast.Load):
            self.used.add(id(node.value))  # Thread.__init__(self)
        elif ast.unparse(node.value).split(".")[0] in (set(MODULES) | FREE) - self.local:
            self.refuse(node, f"a new `{ast.unparse(node)}`")
        if isinstance(node.value, ast.Name) and node.value.id in MODULES:
            if node.attr not in MODULES[node.value.id] or not isinstance(node.ctx, ast.Load):
                self.refuse(node)
            if node.attr == "futures":
                self.refuse(node, "concurrent.futures by itself")
            return
        if ast.unparse(node.value) in ("concurrent.futures", "np.linalg"):
            allowed = FUTURES if node.attr in FUTURES else words("norm solve lstsq")
            if node.attr not in allowed or not isinstance(node.ctx, ast.Load):
                self.refuse(node)
            return
        self.visit(node.value)
        if node.attr in _BANNED or node.attr.startswith(_LEADS_OUT) or (_hidden(node.attr) and node.attr != "__init__"):
            self.refuse(node)
        if node.attr not in (known := ATTRIBUTES | self.attributes | METHODS):
            near = difflib.get_close_matches(node.attr, sorted(known), 1, 0.6)
            self.refuse(node, more=f"; did you mean `{ast.unparse(node.value)}.{near[0]}`?" if near else "")

    def visit_ExceptHandler(self, node):
        if node.type is None:
            self.refuse(node, "a bare `except:` (write `except Exception:`)")
        if node.name:
            self.name(node, node.name)
        self.generic_visit(node)

    def visit_Try(self, node):
        for part in node.finalbody:
            for inner in ast.walk(part):
                if isinstance(inner, ast.Return | ast.Break | ast.Continue):
                    self.refuse(inner, f"`{ast.unparse(inner)}` in a finally block, which hides errors")
        self.generic_visit(node)

    def visit_Global(self, node):
        if set(node.names) & (set(MODULES) | FREE | BUILTINS):
            self.refuse(node)


def _hidden(name):
    """Two underscores in front, or such a name with its class in front: Python's own and other classes' private
    names."""
    return name.startswith("__") or (name.startswith("_") and "__" in name[1:])


def _example(module):
    return {"threading": "Lock()", "queue": "Queue()", "np": "zeros", "concurrent": "futures.ThreadPoolExecutor"}.get(
        module, sorted(MODULES[module])[0]
    )
