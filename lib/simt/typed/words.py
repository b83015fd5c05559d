"""What numba says of a kernel without types, in words for its author."""

import ast
import re

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=",
    "neg": "-", "pos": "+", "invert": "~", "contains": "in", "is_": "is", "is_not": "is not", "matmul": "@",
    "not_": "not",
}  # fmt: skip
_UNIFY = re.compile(r"Cannot unify (.+?) and (.+?) for '([^']+)'", re.DOTALL)
_CALL = re.compile(r">>> (\S+?)\((.*)\)$", re.MULTILINE)
_LITERAL = re.compile(r"Literal\[(\w+)\]\((.*?)\)")


def words(said):
    """(what is wrong, in words; the kind of node that it is about, or a test of one) for what numba says."""
    if found := _UNIFY.search(said):
        first, second, variable = found.groups()
        variable = variable.partition(".")[0]
        if variable.startswith("$"):
            return f"one value that is {a(first)} on one way and {a(second)} on another: give both one type", ast.expr
        return (
            f"{variable!r} is {a(first)} on one way and {a(second)} on another, and a variable in a kernel has one "
            "type: convert one of them, or use two names"
        ), (ast.Assign, ast.AugAssign, ast.For)
    if found := _CALL.search(said):
        name, operands = found.group(1).rpartition(".")[2], _parts(found.group(2))
        return _of_call(name, operands)
    if found := re.search(r"Unknown attribute '([^']+)' of type (.+)", said):
        owner = re.sub(r"Module\(<module '([\w.]+)'.*", r"\1", found.group(2))
        owner = owner if owner != found.group(2) else a(owner)
        return f"{owner} has no {found.group(1)!r} in a kernel", ast.Attribute
    if found := re.search(r"unsupported NumPy function '(\S+)'", said):
        name = found.group(1).replace("numpy.", "np.")
        return f"{name}() does not exist in a kernel: of numbers, math has it; of arrays, write the loop", ast.Call
    if found := re.search(r"failed to unpack (\w+)", said):
        value = f"{a(found.group(1))} is one value, which cannot be taken apart into several names"
        return f"{value}: cuda.grid(1) is one number, cuda.grid(2) a tuple of two", ast.Assign
    if "tuple index out of range" in said:
        return "the tuple has no item of this number", ast.Subscript
    if "wrong tuple length" in said:
        return "as many names as the tuple has items are needed to take it apart", ast.Assign
    if "getiter" in said:
        mixed = re.search(r"getiter with parameters \(Tuple\((.+)\)\)", said)
        came = f": here they are {' and '.join(dict.fromkeys(map(a, _parts(mixed[1]))))}" if mixed else ""
        return f"a loop in a kernel goes over a range, an array, or a tuple whose items have one type{came}", ast.For
    if found := re.search(r"[Nn]ame '(\w+)' is not defined|[Vv]ariable '(\w+)' is not defined", said):
        return (
            f"{found.group(1) or found.group(2)!r} has no value when it is used: nothing gives it one before this line",
            ast.Name,
        )
    if found := re.search(r"[Vv]ariable '(\S+)' cannot be determined", said):
        name = found.group(1).partition(".")[0]
        which = "a value on this line" if name.startswith("$") else repr(name)
        return f"numba cannot tell the type of {which}: write it in several steps, without `:=`", ast.AST
    lines = (line.strip() for line in said.splitlines())
    line = next((n for n in lines if n and not n.startswith("Failed in ")), "no types")
    return f"numba finds no types for this: {line}", ast.AST


def _of_call(name, arguments):
    arrays = [t for t in arguments if t.startswith("array(")]
    if name in ("getitem", "setitem", "static_getitem", "static_setitem") and arguments:
        context = ast.Store if name.endswith("setitem") else ast.Load
        return _of_item(name.removeprefix("static_"), arguments), _item(context, _count(arguments[1]))
    if name in _SYMBOLS:
        nodes = ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign
        if arrays:
            return "a whole array cannot be used in arithmetic in a kernel: work on its elements", nodes
        operands = " and ".join(map(a, arguments))
        return f"`{_SYMBOLS[name]}` does not exist for {operands} in a kernel: convert, as in int32(x)", nodes
    if arrays and name in ("min", "max", "abs", "round", "int", "float", "bool", "complex"):
        return f"{name}() of a whole array cannot be used in a kernel: work on its elements, in a loop", ast.Call
    if name == "array" and any("<class" in kind or kind == "unicode_type" for kind in arguments):
        return "the type of an array is one of NumPy's, such as np.float32 or np.int32", ast.Call
    came = f" for {', '.join(map(a, arguments))}" if arguments else " without arguments"
    return f"{name}() does not exist{came} in a kernel", ast.Call


def _item(context, count):
    """Whether a node is an element of an array, loaded or stored, with so many indices."""

    def fits(node):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, context):
            return False
        return count == (len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1)

    return fits


def _count(index):
    """Of an index, by its type as numba writes it: how many numbers it is."""
    uniform = re.fullmatch(r"UniTuple\(.* x (\d+)\)", index)
    return int(uniform[1]) if uniform else len(_parts(index[6:-1])) if index.startswith("Tuple(") else 1


def _of_item(name, operands):
    """What is wrong with an index, or with what is stored; ``{array}`` stands for the array by its name."""
    array, index, *value = operands
    if array.startswith("readonly array(") and value:
        return "{array} is read-only: the kernel may not write to it"
    array = array.removeprefix("readonly ")
    if not array.startswith("array("):
        what = "cannot be changed" if value else "cannot be indexed"
        return f"{a(array)} {what} in a kernel{'' if value else f' with {a(index)}'}"
    dtype, axes, *_ = _parts(array[6:-1])
    count = _count(index)
    if count > int(axes[:-1]):
        return f"{{array}} has {axes[:-1]} ax{'i' if axes == '1d' else 'e'}s, but {count} indices came"
    if value and not re.search("float|complex|bool|unicode|str|none|array", index):
        return f"cannot store {a(value[0])} in {{array}} of {dtype}"
    return f"{{array}} is indexed with {a(index)}: an index must be a whole number"


def _parts(text):
    """The types of a signature as numba writes it."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "([<{") - (letter in ")]>}")
        if letter == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


_NAMES = {
    "none": "None",
    "NoneType(none)": "None",
    "unicode_type": "a text",
    "bool": "a truth value",
    "Dim3": "a place of three axes",
}


def a(kind):
    kind = kind.strip()
    if found := _LITERAL.fullmatch(kind):
        return f"a{'n' if found[1] == 'int' else ''} {found[1].replace('int', 'int64')}"
    if kind.startswith("array("):
        dtype, axes, *_ = _parts(kind[6:-1])
        return f"an array of {dtype} with {axes[:-1]} ax{'i' if axes == '1d' else 'e'}s"
    if kind.startswith(("Tuple(", "UniTuple(")):
        return f"a tuple ({kind.partition('(')[2][:-1]})"
    if kind in _NAMES:
        return _NAMES[kind]
    return f"a{'n' if kind[:1] in 'aeio' else ''} {kind}"
