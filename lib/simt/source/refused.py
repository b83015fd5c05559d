"""Python that cannot be compiled for a GPU: syntax node -> what to say about it."""

import ast

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
