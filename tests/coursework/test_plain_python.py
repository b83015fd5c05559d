"""What an answer in plain Python may contain, and that nothing leads out of it."""

import threading
from textwrap import dedent, indent

import living
import pytest

from coursework import definition, plain_extraction, plain_python
from coursework.admission import NotAdmitted
from coursework.grading import servant
from coursework.kinds.scenario import ScenarioTask

pytestmark = pytest.mark.quick

HEAD = "import threading, queue, time\nfrom collections import deque\n"

ADMITTED = [
    """
    class Counter:
        '''Counts.'''
        __slots__ = ("value", "_lock")
        LIMIT = 5
        def __init__(self, start: int = 0):
            self.value, self._lock = start, threading.Lock()
        def __enter__(self):
            self._lock.acquire()
            return self
        def __exit__(self, *error):
            self._lock.release()
        @property
        def double(self):
            return 2 * self.value
        @staticmethod
        def of(*parts, **more):
            return Counter(sum(parts))
    answer = Counter
    """,
    """
    class Failed(ValueError):
        pass
    class Worker(threading.Thread):
        def __init__(self, work):
            super().__init__(daemon=True)
            self.work, self.error = work, None
        def run(self):
            try:
                while (item := self.work.get()) is not None:
                    if not isinstance(item, int):
                        raise Failed(f"item {item!r} is of the wrong kind")
            except Failed as error:
                self.error = error
            finally:
                self.work.task_done()
    def answer(items):
        work = queue.Queue(maxsize=2)
        worker = Worker(work)
        worker.start()
        for item in [*items, None]:
            work.put(item)
        worker.join()
        return worker.error
    """,
    """
    def halves(n):
        yield from (x / 2 for x in range(n) if x % 2)
    def answer(n):
        with ThreadPoolExecutor(max_workers=2) as pool:
            futures = [pool.submit(lambda x: x ** 2, x) for x in halves(n)]
            return {i: f.result() for i, f in enumerate(futures)}, sorted(map(abs, [1, -1]), key=lambda x: -x)
    """,
    """
    STEPS = 3
    def answer(a, b):
        out = np.zeros(len(a), np.float32)
        for i in range(STEPS):
            out[i] = np.float32(a[i]) * b[i]
        total = 0
        def add(x):
            nonlocal total
            total += x
        add(out.sum())
        assert total >= 0, "%s is negative" % total
        del out
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return list(pool.map(math.sqrt, [total])), random.random() < 1, time.monotonic()
    """,
    """
    T = threading.Thread
    class Keyed:
        def __init__(self):
            self.locks, self.queue = collections.defaultdict(threading.Lock), queue.Queue()
        def put(self, other: queue.Queue, key: int) -> Queue:
            with self.locks[key]:
                return self.queue if isinstance(self.queue, (Queue, LifoQueue)) else list(map(collections.Counter, "ab"))
    def answer():
        thread = T(target=Keyed)
        thread.name = "worker"
        try:
            return threading.Thread.is_alive(thread)
        except (queue.Empty, queue.Full):
            raise queue.Empty
    """,
    """
    def answer(text):
        head, _, rest = text.partition("|")
        lines = rest.removeprefix("x").rstrip().splitlines()
        return int(head) if head.isdigit() else lines[0].find("y"), str(len(lines)).zfill(3)
    """,
]

REFUSED = {
    "an import": "import os\nreturn os",
    "a module by itself": "t = threading\nreturn t",
    "replacing a module's name": "threading.Lock = None",
    "replacing a method of a class that others use": "threading.Thread.join = answer",
    "the same, by its own name": "Queue.get = answer",
    "the same, by another name": "q = queue.Queue\nq.get = answer",
    "the same, as a default value": "def f(Thread=Thread):\n    Thread.run = answer",
    "the same, chosen": "(Lock if True else 1).acquire = answer",
    "the same, handed on": "def map(q):\n    q.get = answer\nmap(Queue)",
    "the same, deleted": "del Thread.run",
    "something kept in a function of a module": "np.sum.board = {}",
    "what the module does not show": "return threading._shutdown",
    "another module": "return os.getcwd()",
    "sys": "return sys.modules",
    "open": "return open('x')",
    "eval": "return eval('1')",
    "getattr": "return getattr(answer, 'x')",
    "type": "return type(answer)",
    "globals": "return globals()",
    "__import__": "return __import__('os')",
    "__builtins__": "return __builtins__",
    "builtins under another name": "open = 3\nreturn open",
    "an argument called open": "return (lambda open: open)(1)",
    "an argument called threading": "return (lambda threading: threading)(1)",
    "a variable called threading": "threading = 1",
    "an error called threading": "try:\n    pass\nexcept Exception as threading:\n    pass",
    "a comprehension's threading": "return [threading for threading in range(3)]",
    "__class__": "return ().__class__",
    "__subclasses__": "return int.__subclasses__()",
    "__globals__": "return answer.__globals__",
    "__dict__ of self": "return answer.__dict__",
    "mangled names": "return answer._StandIn__run",
    "frames of generators": "return (x for x in range(3)).gi_frame",
    "code": "return answer.f_code",
    "tracebacks": "try:\n    pass\nexcept Exception as e:\n    return e.__traceback__",
    "the object of an error": "try:\n    pass\nexcept AttributeError as e:\n    return e.obj",
    "format, which reads attributes": "return '{0.__class__}'.format(3)",
    "format_map": "return '{a.__class__}'.format_map({'a': 3})",
    "mro": "return int.mro()",
    "a bare except": "while True:\n    try:\n        pass\n    except:\n        pass",
    "BaseException": "try:\n    pass\nexcept BaseException:\n    pass",
    "KeyboardInterrupt": "try:\n    pass\nexcept KeyboardInterrupt:\n    pass",
    "SystemExit": "raise SystemExit",
    "exit": "exit()",
    "return in finally": "try:\n    pass\nfinally:\n    return 1",
    "continue in finally": "while True:\n    try:\n        pass\n    finally:\n        continue",
    "match": "match 3:\n    case threading:\n        pass",
    "settrace": "threading.settrace(None)",
    "excepthook": "threading.excepthook = None",
    "a file through an array": "np.zeros(3).tofile('x')",
    "a file through NumPy": "return np.load('x')",
    "memory through an array": "return np.zeros(3).ctypes",
    "NumPy's other modules": "return np.lib.os",
    "np.f2py": "return np.f2py",
    "a hidden NumPy name": "return np.__config__",
    "random's source": "random.SystemRandom()",
    "the future's insides": "return concurrent.futures.thread",
    "all futures": "return concurrent.futures",
    "subprocess": "return concurrent.futures.ProcessPoolExecutor()",
    "global of the course's": "global Lock\nLock = None",
    "exec": "exec('1')",
    "breakpoint": "breakpoint()",
    "input": "return input()",
    "a class with a metaclass": "class A(metaclass=int):\n    pass",
    "a decorator": "@print\ndef f():\n    pass",
    "__eq__, which fools a comparison": "class A:\n    def __eq__(self, other):\n        return True",
    "__getattr__": "class A:\n    def __getattr__(self, name):\n        return 1",
    "__class_getitem__": "class A:\n    def __class_getitem__(cls, x):\n        return 1",
    "a dunder class attribute": "class A:\n    __hash__ = None",
    "an attribute nobody has": "return answer.some_attribute",
}


def cell(body, head="def answer(x=None):\n"):
    return HEAD + head + indent(body, "    ")


@pytest.mark.parametrize("source", ADMITTED)
def test_usual_code_is_admitted_and_runs_from_its_collected_source(source):
    name, sources = living.program([HEAD, dedent(source)], "answer")
    assert callable(servant.define(sources, plain=True)[name])


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_refused(body):
    with pytest.raises(NotAdmitted, match="an answer in this notebook cannot contain"):
        living.collect_plain([cell(body)], "answer")


def test_attributes_of_its_own_are_free_but_no_way_out():
    body = "answer.format = 1\nreturn '{0}'.format(3)"
    with pytest.raises(NotAdmitted):
        living.collect_plain([cell(body)], "answer")


def test_only_what_the_answer_uses_is_taken_along():
    cells = [
        "import os\nos.system('true')\nsecret = open\n",
        "SIZE = 3\ndef helper(x):\n    return x + SIZE\n",
        "def unused():\n    import os\n",
        "print(helper(1))\ndef answer(x):\n    return helper(x)\n%time answer(1)",
        "def answer(x):\n    return helper(x)\n",
    ]
    sources = living.collect_plain(cells, "answer")
    assert len(sources) == 3
    assert not any("os" in text for text in sources)
    with pytest.raises(LookupError, match="nothing"):
        living.collect_plain(cells, "nothing")


def test_lines_are_those_of_the_cell():
    (source,) = living.collect_plain(["# a\n# b\n\ndef answer():\n    raise ValueError\n"], "answer")
    assert source.splitlines()[3] == "def answer():"


def test_a_helper_that_is_not_admitted_is_found():
    with pytest.raises(NotAdmitted, match="line 2 uses open"):
        living.collect_plain(
            ["def helper():\n    return open('x')\n", "def answer():\n    return helper()\n"], "answer"
        )


class InThisFile:
    def __init__(self):
        self._lock = threading.Lock()

    def peek(self):
        return self.__dict__


class Fine:
    def __init__(self):
        self._lock = threading.Lock()


def test_classes_of_this_process_are_looked_at_too():
    plain_extraction.of(Fine)
    with pytest.raises(NotAdmitted, match=r"self\.__dict__"):
        plain_extraction.of(InThisFile)


def test_what_is_to_be_built_is_refused():
    """By the student's own check and by the grader's, which reads the source."""
    without = {"Queue": "build it", "timeout": "no polling"}
    for body, why in (
        ("queue.Queue(3)", "build it"),
        ("threading.Condition().wait(0.1)", "no polling"),
        ("threading.Condition().wait_for(bool, timeout=1)", "no polling"),
    ):
        with pytest.raises(plain_python.Spoils, match=f"line 3 uses .*: {why}"):
            living.collect_plain([f"{HEAD}def f(): {body}"], "f", without)
    assert living.collect_plain([f"{HEAD}def f(): threading.Condition().wait()"], "f", without)


class Carries:
    def __init__(self):
        self.a_name_of_its_own = 1


def uses_another_class():
    return Carries().a_name_of_its_own


def test_attributes_of_a_class_beside_it_are_known():
    plain_extraction.of(uses_another_class)


def test_masters_are_admitted():
    """Every answer of the course to a task of these kinds keeps the rules it is graded by."""
    from pathlib import Path

    from coursework import build

    root = Path(__file__).resolve().parents[2]
    seen = 0
    for path in build.masters(root):
        cells = {cell.id: cell.source for cell in build.read(path).cells if cell.cell_type == "code"}
        for source in cells.values():
            call = definition.graded_call(source)
            task = definition.find(call[1]) if call and call[0] != "predict" else None
            if isinstance(task, ScenarioTask):
                name = source.split(",")[1].strip(" )\n").split(")")[0].strip()
                imports = [
                    line for line in "\n".join(cells.values()).splitlines() if line.startswith(("import ", "from "))
                ]
                assert living.collect_plain(["\n".join(imports), cells[task.id]], name)
                seen += 1
    assert seen >= 4
