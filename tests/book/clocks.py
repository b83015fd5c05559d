"""Assertions on a page that a clock decides: found by following what is measured through the page's code.

    python tests/book/clocks.py [page ...]      those of all pages, with their lines

A name is *measured* when something that a clock gave goes into it: what the functions below return, what is computed
from it, and what a function changes or returns that measures itself. An `assert` whose condition has such a name is for
`measure.claim`. So is what was recorded of a CPU's times (benchmarks/results): a reader who records anew has others.
What is exact although its name is measured (a result that lies beside the times) is marked by the comment `# exact:
why`.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[^\n]*\n)*)", re.DOTALL | re.MULTILINE)
#: What measures: functions of cpulab.measure, and clocks.
MEASURE = {"times", "ratio", "fastest", "fastest_timeline", "peaks", "roofs", "bandwidth_ladder", "latency_ladder",
           "strong_scaling", "weak_scaling", "Timeline", "Clock", "ThreadClock", "seconds_per_load", "page_faults"}  # fmt: skip
CLOCKS = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time", "thread_time_ns", "monotonic", "monotonic_ns",
          "time_ns", "timeit", "getrusage"}  # fmt: skip
#: What is taken from measured things and is exact all the same.
EXACT = {"shape", "dtype", "size", "nbytes", "ndim"}
#: What reads a record, and the records that have counts and results and no times of a CPU. Those of a GPU (gpu,
#: gpu_banks, ...) stay asserted: what the pages say of them is said of the GPU that is named.
RECORDED = {"recorded", "Beside"}
NO_TIMES = {"compiled", "gallery", "listings", "projects", "proofs", "real_size", "smaller", "training_curves",
            "translated"}  # fmt: skip
#: Methods that change what they belong to.
CHANGES = {"append", "extend", "update", "add", "insert", "setdefault"}


def cells(text):
    """[(number of its first line, code), ...] of a page; cell magics and shell lines are no code."""
    found = []
    for cell in FENCE.finditer(text):
        body = cell[1]
        head = OPTIONS.match(body)[0]
        line = text.count("\n", 0, cell.start(1) + len(head)) + 1
        code = "\n".join("" if one.lstrip().startswith(("%", "!")) else one for one in body[len(head) :].split("\n"))
        found.append((line, code))
    return found


class Page:
    """Which assertions of a page depend on a clock: its code followed in order, functions with names of their own."""

    records = RECORDED

    def __init__(self, text):
        self.lines = text.splitlines()
        self.found, measured = set(), set()
        for line, code in cells(text):
            tree = ast.parse(code)
            self.offset = line - 1
            self.block(tree.body, measured)

    def block(self, statements, measured, outer=None):
        """Follow statements; `measured` changes with them. outer: the page's names, where this is a function's body."""
        for node in statements:
            self.statement(node, measured, outer)

    def statement(self, node, measured, outer):
        def reads(value):
            return self.reads(value, measured)

        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner, changed = measured - {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}, set()
            self.block(node.body, inner, changed)
            returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return | ast.Yield) and one.value]
            if any(self.reads(value, inner) for value in returned):
                measured.add(node.name)
            else:
                measured.discard(node.name)
            own = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            measured |= changed - own
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is None:
                return
            for target in targets:
                self.bind(target, node.value, reads(node.value), measured, outer, keep=isinstance(node, ast.AugAssign))
        elif isinstance(node, ast.For):
            for _ in range(2):  # what the end of the body measures may stand at its beginning
                self.loop(node.target, node.iter, measured)
                self.block(node.body, measured, outer)
            self.block(node.orelse, measured, outer)
        elif isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, None, reads(item.context_expr), measured, outer)
            self.block(node.body, measured, outer)
        elif isinstance(node, ast.Assert):
            lines = range(node.lineno + self.offset - 1, node.end_lineno + self.offset)
            if reads(node.test) and not any("# exact:" in self.lines[k] for k in lines):
                self.found.add((node.lineno + self.offset, ast.unparse(node.test)))
        elif isinstance(node, ast.ImportFrom):
            found = MEASURE if (node.module or "").startswith("cpulab.measure") else CLOCKS | {"time"}
            if found is MEASURE or node.module in ("time", "timeit"):
                measured |= {name.asname or name.name for name in node.names if name.name in found}
        else:
            for expression in ast.iter_child_nodes(node):
                if isinstance(expression, ast.expr):
                    self.changes(expression, measured, outer)
            before = set(measured)
            for part in ("body", "handlers", "orelse", "finalbody"):
                inside = getattr(node, part, [])
                self.block([*inside] if isinstance(inside, list) else [], measured, outer)
            if hasattr(node, "body"):
                measured |= before  # another branch may have been taken

    def bind(self, target, value, is_measured, measured, outer, keep=False):
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            one_each = [self.reads(one, measured) for one in values] if values else [is_measured] * len(target.elts)
            for place, one in enumerate(target.elts):
                self.bind(one, values[place] if values else None, one_each[place], measured, outer, keep)
        elif isinstance(target, ast.Name):
            if is_measured:
                measured.add(target.id)
            elif not keep:
                measured.discard(target.id)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value, is_measured, measured, outer, keep)
        elif is_measured:
            self.spoil(target, measured, outer)

    def spoil(self, target, measured, outer):
        """Something measured is put into what `target` is a part of."""
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            measured.add(target.id)
            if outer is not None:
                outer.add(target.id)

    def loop(self, target, source, measured):
        """The names that a loop gives values; the keys of a dict of times are not measured."""
        inside = self.reads(source, measured)
        items = isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "items"
        if items and isinstance(target, ast.Tuple):
            self.bind(target.elts[0], None, False, measured, None)
            self.bind(target.elts[1], None, inside, measured, None)
        elif (
            isinstance(source, ast.Call)
            and isinstance(source.func, ast.Name)
            and source.func.id in ("zip", "enumerate")
        ):
            parts = source.args if source.func.id == "zip" else [ast.Constant(0), source.args[0]]
            if isinstance(target, ast.Tuple) and len(parts) == len(target.elts):
                for one, part in zip(target.elts, parts, strict=True):
                    self.loop(one, part, measured)
            else:
                self.bind(target, None, inside, measured, None)
        else:
            self.bind(target, None, inside, measured, None)

    def changes(self, node, measured, outer):
        """What an expression puts into things by their methods, and by `:=`."""
        for one in ast.walk(node):
            if isinstance(one, ast.NamedExpr):
                self.bind(one.target, one.value, self.reads(one.value, measured), measured, outer)
            elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in CHANGES:
                if any(self.reads(value, measured) for value in [*one.args, *(word.value for word in one.keywords)]):
                    self.spoil(one.func.value, measured, outer)

    def reads(self, node, measured):
        """Whether something measured goes into the value of an expression."""
        if isinstance(node, ast.Name):
            return node.id in measured or node.id in CLOCKS
        if isinstance(node, ast.Attribute):
            of_measure = ast.unparse(node.value) in ("measure", "cpulab.measure", "m")
            if node.attr == "time" and isinstance(node.value, ast.Name) and node.value.id == "time":
                return True
            if node.attr in EXACT:
                return False
            return node.attr in CLOCKS or (of_measure and node.attr in MEASURE) or self.reads(node.value, measured)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            inner = set(measured)
            for one in node.generators:
                self.loop(one.target, one.iter, inner)
            results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return any(
                self.reads(value, inner) for value in [*results, *(test for one in node.generators for test in one.ifs)]
            )
        if isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("measure.") in self.records:
            name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
            return name not in NO_TIMES and not name.startswith("gpu")
        if isinstance(node, ast.Lambda):
            return self.reads(
                node.body, measured - {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
            )
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("len", "type", "set", "isinstance")
        ):
            # How many, and which keys; but not of what was chosen by a time.
            return any(
                isinstance(one, ast.ListComp | ast.SetComp | ast.GeneratorExp) and self.reads(one, measured)
                for one in node.args
            )
        return any(self.reads(child, measured) for child in ast.iter_child_nodes(node))

    def assertions(self):
        """[(line, text), ...] of those that a clock decides."""
        return sorted(self.found)


def claims(text):
    """The names of the statements that a page makes by `measure.claim`, as they stand in its code."""
    calls = [node for _, code in cells(text) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return [
        ast.unparse(call.args[0])
        for call in calls
        if ast.unparse(call.func) in ("measure.claim", "claim") and call.args
    ]


def pages():
    return [ROOT / "intro.md", *sorted((ROOT / "chapters").glob("*.md"))]


def main(names):
    total = 0
    for path in pages():
        if names and not any(name in path.stem for name in names):
            continue
        for line, test in Page(path.read_text(encoding="utf-8")).assertions():
            total += 1
            print(f"{path.relative_to(ROOT)}:{line}: assert {test[:150]}")
    print(total)


if __name__ == "__main__":
    main(sys.argv[1:])
