"""What cannot be part of a kernel, and what to say about it."""

import ast

OURS = "not on a GPU: "  # before a reason of ours in what numba says

#: Python that cannot be compiled for a GPU: no engine takes it
REFUSED = {
    ast.ListComp: "a list comprehension: a GPU thread has no heap; write a loop, or use cuda.local.array",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.List: "a list: a GPU thread has no heap; use a tuple, or cuda.local.array",
    ast.Set: "a set",
    ast.Dict: "a dict",
    ast.JoinedStr: "an f-string: print() takes several values instead",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Starred: "a starred expression",
    ast.Try: "try / except: there are no exceptions to catch on a GPU",
    ast.With: "with",
    ast.Import: "import: import the module outside the kernel",
    ast.ImportFrom: "import: import the module outside the kernel",
    ast.Global: "global: a kernel cannot change global variables",
    ast.Nonlocal: "nonlocal",
    ast.Delete: "del",
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "async",
    ast.AsyncFor: "async",
    ast.AsyncWith: "async",
}

#: Python and names of cuda that a GPU takes, and the compiled engine does not
UNSUPPORTED = {
    ast.FunctionDef: "a function defined inside the kernel",
    ast.Lambda: "a lambda",
    ast.Match: "match",
    "activemask": "cuda.activemask()",
}


def on_no_gpu(node):
    """Why no engine takes this syntax."""
    return f"a kernel cannot use {REFUSED.get(type(node)) or _called(node)}"


def not_compiled(node):
    """What the compiled engine says that it does not take."""
    return UNSUPPORTED.get(type(node)) or _called(node)


def _called(node):
    return f"a {type(node).__name__} {'statement' if isinstance(node, ast.stmt) else 'expression'}"


def not_shuffled(kind):
    """Why a shuffle does not hand over a value of a type, as numba-cuda has it."""
    to = "float32" if "float" in kind else "int32"
    return (
        f"a shuffle takes int32, int64, float32 and float64, a {kind} came: hand over {to}(...), and turn what comes "
        "back into what you need"
    )


def not_voted(kind):
    """Why a vote does not take a value of a type."""
    return f"a vote takes a whole number or a bool, a {kind} came: ask for a comparison, as in x != 0"


def not_counted(name, kind):
    """Why a barrier with a predicate does not take a value of a type."""
    return f"{name} takes a whole number, a {kind} came: write 1 if ... else 0"
