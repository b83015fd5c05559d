"""No clock fails a test: nothing that was measured is asserted, and who waits for something has patience."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "book"))

import clocks

pytestmark = pytest.mark.quick

TESTS = Path(__file__).parents[1]
PATIENCE = 30  # seconds, at least: a busy machine may take as long
MEASURES = {"times", "ratio", "fastest", "peaks", "nanoseconds"}
LADDERS = {"bandwidth_ladder", "latency_ladder", "measure_peaks"}  # by whatever name their module has
CLOCKS = clocks.CLOCKS | {"process_time_ns", "thread_time_ns"}
# Waits that may be short: (file or folder/, code, why).
SHORT = [
    ("threads/", "", "the explorer's clock, which goes on when it says so"),
    ("wrong_answers/", "", "answers of students: they run under the explorer's clock"),
    ("book/test_read.py", ".join(0.3)", "what is waited for shall not happen"),
    ("workers/test_groups.py", "timeout=0.1", "what is waited for shall not happen"),
    ("workers/test_processes.py", "timeout=2", "what is waited for shall not happen"),
    ("simt/compiled/test_policy.py", "ended.wait(seconds)", "what follows is one more press of a key"),
]


class Assertions(clocks.Page):
    """Assertions of a file of tests whose operands come from a clock: as on a page (`# exact: why` marks what is exact
    all the same), but for

    - the functions of cpulab.measure that are given a `clock`, which a test controls,
    - comparisons with 0: a clock never goes back,
    - a clock beside the end of a wait: how long that is, is looked at by `waits`,
    - records: a test reads its own, or what all records have.
    """

    records = ()

    def __init__(self, text):
        self.lines, self.offset, self.found = text.splitlines(), 0, set()
        self.block(ast.parse(text).body, set())

    def statement(self, node, measured, outer):
        if isinstance(node, ast.ImportFrom):
            if (node.module or "").startswith("cpulab.measure"):
                measured |= {name.asname or name.name for name in node.names if name.name in MEASURES | LADDERS}
        elif isinstance(node, ast.ClassDef):
            self.block(node.body, set(measured), outer)
        else:
            super().statement(node, measured, outer)

    def reads(self, node, measured):
        if isinstance(node, ast.Call) and any(word.arg == "clock" for word in node.keywords):
            return False
        if isinstance(node, ast.Attribute) and node.attr in LADDERS:
            return True
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = node.left, node.comparators[0]
            if any(isinstance(side, ast.Constant) and side.value == 0 for side in sides) or any(map(is_now, sides)):
                return False
        return super().reads(node, measured)


def is_now(node):
    """Whether it is a reading of a clock."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in {*CLOCKS, "time"}


def numbers(tree):
    """{name: the least number that it is given anywhere in a file}"""
    found = {}

    def put(name, value):
        if isinstance(value, ast.Constant) and type(value.value) in (int, float):
            found[name] = min(value.value, found.get(name, value.value))

    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            put(node.targets[0].id, node.value)
        elif isinstance(node, ast.arguments):
            arguments = [*node.posonlyargs, *node.args]
            for argument, value in zip(arguments[len(arguments) - len(node.defaults) :], node.defaults, strict=True):
                put(argument.arg, value)
            for argument, value in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                put(argument.arg, value)
    return found


def waits(text):
    """[(line, code), ...] of waits for less than PATIENCE seconds: `timeout=x`, `.wait(x)`, `.join(x)`, `now() + x`."""
    tree = ast.parse(text)
    known, found = numbers(tree), set()
    for node in ast.walk(tree):
        spans = []
        if isinstance(node, ast.Call):
            spans += [word.value for word in node.keywords if word.arg == "timeout"]
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("wait", "join") and len(node.args) == 1:
                spans += node.args
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and is_now(node.left):
            spans += [node.right]
        for span in spans:
            seconds = span.value if isinstance(span, ast.Constant) else known.get(getattr(span, "id", ""))
            if type(seconds) in (int, float) and 0 < seconds < PATIENCE:
                found.add((node.lineno, ast.unparse(node)))
    return sorted(found)


def decided_by_a_clock(name, text):
    """[(line, code), ...] of a file of tests."""
    short = [code for place, code, _ in SHORT if name.startswith(place)]
    return sorted(Assertions(text).found) + [one for one in waits(text) if not any(code in one[1] for code in short)]


def test_no_test_is_decided_by_a_clock():
    found, files = [], sorted(TESTS.rglob("*.py"))
    for path in files:
        name = path.relative_to(TESTS).as_posix()
        text = path.read_text(encoding="utf-8")
        found += [f"tests/{name}:{line}: {code}" for line, code in decided_by_a_clock(name, text)]
    assert len(files) > 200
    assert not found, "count, wait for what shall happen, or give it a clock:\n" + "\n".join(found)


def test_every_exception_is_needed():
    texts = {path.relative_to(TESTS).as_posix(): path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    for place, code, _ in SHORT:
        assert any(
            name.startswith(place) and any(code in one[1] for one in waits(text)) for name, text in texts.items()
        )


DECIDED = [
    "begun = time.perf_counter()\nf()\nassert time.perf_counter() - begun < 5",
    "def test():\n    begun = time.process_time()\n    spent = time.process_time() - begun\n    assert spent < 0.1",
    "def took(f):\n    begun = monotonic()\n    return monotonic() - begun\ndef test():\n    assert 1 <= took(f) < 5",
    "from cpulab.measure import fastest\nfound = fastest({'a': f})\nassert found['a'] < 0.005",
    "from cpulab import measure\nassert measure.ratio(f, g).ratio > 1.5",
    "read = bandwidth.bandwidth_ladder(sizes=(1, 2))\nassert read.values[0] > 1.5 * read.values[1]",
    "class TestIt:\n    def test(self):\n        a = time.thread_time()\n        assert time.thread_time() - a < 1",
    "thread.join(10)\nassert not thread.is_alive()",
    "FEW = 5\nassert process.wait(FEW) == 0",
    "assert process.communicate(timeout=20)[0] == 'stopped'",
    "def until(seconds=20):\n    ends = time.monotonic() + seconds\n    while time.monotonic() < ends:\n        pass",
]
LEFT_ALONE = [
    "begun = time.perf_counter()\nprint(time.perf_counter() - begun)",
    "from cpulab.measure import fastest\nassert fastest({'a': f}, clock=machine) == {'a': 1}",
    "from cpulab.measure import times\nassert all(t > 0 for t in times({'a': f}).seconds.values())",
    "machine = Machine()\nratio(f, g, clock=machine)\nassert machine.now == 5",
    "before = nanoseconds()\nassert before <= nanoseconds()  # exact: one clock, which never goes back",
    "ends = time.monotonic() + 120\nwhile not done():\n    assert time.monotonic() < ends\n    time.sleep(0.01)",
    "thread.join()\nprocess.wait(120)\nassert ', '.join(names) == subprocess.run(command, timeout=600).stdout",
    "PATIENCE = 60\nassert process.wait(PATIENCE) == 0",
]


@pytest.mark.parametrize("code", DECIDED)
def test_what_a_clock_decides_is_found(code):
    assert len(decided_by_a_clock("x.py", code)) == 1


@pytest.mark.parametrize("code", LEFT_ALONE)
def test_what_no_clock_decides_is_left_alone(code):
    assert not decided_by_a_clock("x.py", code)
