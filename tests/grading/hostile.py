"""A class of submissions, honest and hostile, with the points each must get.

A row is a function that changes a notebook in which the tasks SOLVED are solved (ALL points of MOST); the others are
left out to keep the class quick: compiling 07-fused costs a second and a half. `ROWS` maps a name to a Row.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat

from coursework import build, definition, progress

ROOT = Path(__file__).resolve().parents[2]
MASTER = ROOT / "solutions" / "07_vector_add.ipynb"
EXERCISE = ROOT / "exercises" / "07_vector_add.ipynb"
SOLVED = ("07-launch", "07-add", "07-sectors", "07-axpy", "07-bug")
TASKS = {task.id: task for task in definition.of_chapter("07")}
POINTS = {name: sum(points for _, points in progress.parts(task)) for name, task in TASKS.items()}
ALL, MOST = sum(POINTS[name] for name in SOLVED), sum(POINTS.values())
LAUNCH, ADD, SECTORS, AXPY, BUG, FAILS = (
    TASKS[f"07-{name}"].points for name in ("launch", "add", "sectors", "axpy", "bug", "fails")
)
AXPY_BUDGET = TASKS["07-axpy"].budget.points
SLEEPS = "31337.5"  # seconds: an argument of every process that an attack tries to leave behind
# So that no right answer meets a limit of time, on whatever machine: where none has to be met.
PATIENT = {"cell_seconds": 120.0, "total_seconds": 1200.0}
PATIENTLY = ("--grade-cell-seconds", "120", "--grade-total-seconds", "1200")


@dataclass(frozen=True)
class Row:
    make: Callable  # notebook -> None, or the text of the file, or None for no file
    points: int
    status: str = "graded"
    flag: str = ""
    may: str = ""  # a flag that a busy machine adds
    rlimit: bool = True  # also right, and safe, with rlimits alone
    night: bool = False  # another row that is graded every time goes the same way


ROWS = {}


def row(points, **more):
    def put(make):
        ROWS[make.__name__] = Row(make, points, **more)
        return make

    return put


def solved(ids=SOLVED):
    """The shipped exercise with the master's answers in the cells `ids`."""
    notebook, master = build.read(EXERCISE), build.read(MASTER)
    for cell, full in zip(notebook.cells, master.cells, strict=True):
        if full.id in ids:
            cell.source = full.source
    return notebook


def cell(notebook, name):
    return next(c for c in notebook.cells if c.id == name)


def insert(notebook, source, before="07-launch"):
    """An extra cell of the student's."""
    place = next(i for i, c in enumerate(notebook.cells) if c.id == before)
    notebook.cells.insert(place, nbformat.v4.new_code_cell(source))


def launch(notebook, body):
    """Replace the answer 07-launch; `body` is run in each call."""
    lines = "\n".join("    " + line for line in body.splitlines())
    cell(notebook, "07-launch").source = f"def launch(n):\n{lines}\n    return (n + 255) // 256, 256"


def data(notebook, change):
    """The right answer 07-fails with a change: flaws by name."""
    answer = cell(notebook, "07-fails")
    answer.source = cell(build.read(MASTER), "07-fails").source + f"\nfails |= dict({change})"


def unsolve(notebook):
    shipped = build.read(EXERCISE)
    for c in shipped.cells:
        cell(notebook, c.id).source = c.source


def text(row_, name, **context):
    """The file of a row as text, or None."""
    notebook = solved()
    answer = row_.make(notebook, **context) if context else row_.make(notebook)
    if isinstance(answer, str | bytes) or answer is NOTHING:
        return answer
    return build.text_of(notebook)


NOTHING = object()

# honest --------------------------------------------------------------------------------------------------------------


@row(MOST, flag="equal the public solution")
def right(nb):
    for full in build.read(MASTER).cells:
        if build.is_answer(full):
            cell(nb, full.id).source = full.source


@row(ALL, night=True)
def all_but_one(nb):
    pass


@row(LAUNCH + ADD)
def half(nb):
    keep = {i: cell(nb, i).source for i in ("07-launch", "07-add")}
    unsolve(nb)
    for i, source in keep.items():
        cell(nb, i).source = source


@row(0)
def as_shipped(nb):
    unsolve(nb)


@row(ALL, night=True)
def writes_to_stderr_and_warns(nb):
    launch(nb, "import sys, warnings\nprint('hm', file=sys.stderr)\nwarnings.warn('careful')")


@row(ALL)
def extra_cells(nb):
    insert(nb, "x = 1\nprint('my notes', x)")
    insert(nb, "%time 1 + 1\n!echo shell", before="07-bug")


@row(ALL, flag="cells without metadata", night=True)
def metadata_stripped(nb):
    for c in nb.cells:
        c.metadata.clear()


@row(ALL, flag="cells without metadata")
def ids_and_metadata_stripped(nb):
    for c in nb.cells:
        c.metadata.clear()
        if c.id in SOLVED:
            c.source = f"# grade_id: {c.id}\n{c.source}"
        c.id = "x" + c.id[::-1]


@row(ALL, night=True)
def wrong_kernel(nb):
    nb.metadata.kernelspec = {"name": "nosuch", "display_name": "No such kernel"}


@row(ALL, flag="deleted cell 07-axpy-budget", night=True)
def check_deleted(nb):
    nb.cells.remove(cell(nb, "07-axpy-budget"))


# pretending ----------------------------------------------------------------------------------------------------------


@row(ALL - LAUNCH)
def hard_coded(nb):
    cell(
        nb, "07-launch"
    ).source = "def launch(n):\n    return {1: (1, 32), 1024: (1, 1024), 1025: (2, 1024)}.get(n, (1954, 256))"


@row(ALL - ADD, flag="changed cell 07-add-check")
def check_edited(nb):
    cell(nb, "07-add").source = "def add(*x):\n    pass"
    cell(nb, "07-add-check").source = "print('07-add: result right (3 points)')"


@row(0, night=True)
def input_transformer(nb):
    unsolve(nb)
    insert(nb, "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])", before="07-setup")


@row(0)
def ast_transformer_and_patched_numpy(nb):
    unsolve(nb)
    insert(
        nb,
        "import ast, numpy as np\n"
        "class Drop(ast.NodeTransformer):\n"
        "    def visit_Raise(self, node):\n        return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Drop())\n"
        "np.testing.assert_allclose = np.array_equal = lambda *a, **k: True\n"
        "np.abs = lambda x: 0 * x",
    )


@row(ALL - LAUNCH - SECTORS)
def equal_to_everything(nb):
    source = (
        "class Yes:\n    def __eq__(self, other):\n        return True\n    __le__ = __lt__ = __ge__ = __gt__ = "
        "__eq__\n    __hash__ = None\n"
    )
    cell(nb, "07-launch").source = source + "def launch(n):\n    return Yes()"
    cell(nb, "07-sectors").source = source + "neighbours = every_eighth = four_in_a_row = Yes()"


@row(0, night=True)
def showtraceback_replaced(nb):
    unsolve(nb)
    insert(nb, "get_ipython().showtraceback = lambda *a, **k: None")


@row(ALL + FAILS)
def data_in_another_way(nb):
    cell(nb, "07-fails").source = (
        "launch = dict(n=np.int64(96), blocks=3, threads=np.int32(32))\nfails = {'first': launch | {'n': 1}, 'second': "
        "launch, 'third': launch, 'fourth': {'x': np.linspace(0, 99, 9)}}"
    )


@row(ALL, night=True)
def data_with_a_gap(nb):
    data(nb, "first={'n': 1, 'blocks': ..., 'threads': 3}")


@row(ALL)
def data_that_is_code(nb):
    data(nb, 'fourth={\'x\': \'__import__("os").system("kill -9 %d" % __import__("os").getppid())\'}')


@row(ALL, night=True)
def data_without_an_end(nb):
    data(nb, "fourth={'x': (x for x in iter(int, 1))}")


@row(ALL, night=True)
def data_inside_itself(nb):
    data(nb, "first=globals()")


@row(ALL, night=True)
def data_that_is_huge(nb):
    data(nb, "first={'n': 10 ** 100_000, 'blocks': 1 << 63, 'threads': -1}")


@row(ALL, may="time limit: fails")
def data_of_all_memory(nb):
    data(nb, "fourth={'x': np.full(1 << 27, 100.0)}")


@row(ALL)
def data_that_is_forged(nb):
    """The reply says that it is an array that lies elsewhere; and numbers that JSON knows and Python counts with."""
    insert(
        nb,
        "from coursework.grading import servant\n"
        "def handle(folder, number, names):\n"
        "    open(f'{folder}/res-{number}.message', 'w').write(\n"
        '        \'{"value": {"first": {"n": NaN, "blocks": 1e999, "threads": {"__array__": "/etc/passwd"}}}}\')\n'
        "servant.handle = handle",
        before="07-fails",
    )


@row(
    ALL - LAUNCH - SECTORS,
    flag="asks the course for its own answers: cell 07-sectors (coursework.definition, definition, .truth)",
    rlimit=False,  # there it is told, too, but the modules are there
)
def asks_for_the_answers(nb):
    """In a way that is not hidden: there is nothing to find, and whoever grades is told."""
    cell(nb, "07-sectors").source = (
        "from coursework import definition\n"
        "for q in definition.find('07-sectors').questions:\n    globals()[q.name] = q.truth()"
    )
    cell(nb, "07-launch").source = (
        "def launch(n):\n    from coursework import definition\n"
        "    judge = definition.find('07-launch').judge\n"
        "    return next((b, t) for t in (256, 128, 32) for b in range(1, 10**5) if judge((n,), (b, t)) is None)"
    )


WAYS = (  # to a module whose name cannot be read from the cell
    "__import__('course' + 'work.def' + 'inition', fromlist=['x'])",
    "__import__('importlib').import_module('.'.join(('coursework', 'def' + 'inition')))",
    "getattr(__import__('coursework.notebook').notebook, 'def' + 'inition')",
    "next(m for n, m in __import__('sys').modules.items() if n.endswith('.def' + 'inition'))",
    "check.__globals__['def' + 'inition']",
)


@row(
    ALL - LAUNCH - SECTORS,
    flag="asks the course for its own answers: cell 07-launch (.judge, __import__)",
    rlimit=False,
)
def asks_by_a_name_in_pieces(nb):
    cell(nb, "07-sectors").source = (
        f"for way in {WAYS!r}:\n    try:\n        found = eval(way)\n        for q in found.find('07-' + "
        "'sectors').questions:\n            globals()[q.name] = getattr(q, 'tr' + 'uth')()\n    except Exception:\n"
        "        pass\nimport gc, glob\nfor a in gc.get_objects():\n    if type(a).__name__ == 'Question':\n        "
        "globals()[a.name] = a.truth()\n"
    )
    ways = " or ".join(f"{way}.find('07-launch')" for way in WAYS[:1])
    cell(nb, "07-launch").source = (
        f"judge = {ways}\ndef launch(n):\n"
        "    return next((b, t) for t in (256, 128, 32) for b in range(1, 10**5) if judge.judge((n,), (b, t)) is None)"
    )


@row(ALL)  # the functions of the course's own do nothing there, and what stands behind their call still runs
def checks_in_a_cell_of_an_answer(nb):
    source = cell(nb, "07-launch").source
    cell(nb, "07-launch").source = (
        "begin('07')\nhint('07-launch')\nshow('07-add', add) if 'add' in globals() else None\n"
        f"check('07-add', None)\npredict('07-sectors')\n{source}"
    )


@row(ALL - LAUNCH)
def bad_magic(nb):
    cell(nb, "07-launch").source = "%nosuchmagic\ndef launch(n):\n    return 1, 32"


@row(LAUNCH)  # whoever breaks what says what the answers are has none from there on
def patched_checker(nb):
    cell(nb, "07-add").source = cell(build.read(EXERCISE), "07-add").source
    insert(
        nb,
        "from coursework import checking, notebook, diagnosis, answer\nfrom coursework.grading import servant, "
        "exchange\nchecking.check = notebook.check = lambda *a, **k: None\ndiagnosis.compare = lambda *a, **k: None\n"
        "servant.handle = lambda folder, number, names: exchange.write({'value': [[1, 32], []]}, folder, "
        "f'res-{number}')",
        before="07-add",
    )


@row(ALL - AXPY_BUDGET)
def forged_traffic_report(nb):
    cell(nb, "07-axpy").source = (
        "import simt.xray.report as r\nr.Report.require = lambda self, **k: None\n"
        "@cuda.jit\ndef axpy(alpha, x, y):\n"
        "    size = (y.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)\n"
        "    for i in range(cuda.grid(1) * size, min((cuda.grid(1) + 1) * size, y.size)):\n"
        "        y[i] = alpha * x[i] + y[i]"
    )


@row(ALL - ADD, night=True)
def answer_after_its_check(nb):
    source = cell(nb, "07-add").source
    cell(nb, "07-add").source = cell(build.read(EXERCISE), "07-add").source
    insert(nb, source, before="07-end")


@row(ALL, flag="duplicate cell 07-add", night=True)
def duplicate_ids(nb):
    nb.cells.append(cell(nb, "07-add").copy())
    nb.cells[-1] = nbformat.from_dict(dict(nb.cells[-1]) | {"source": "add = None"})


@row(ALL - LAUNCH, flag="asks the course for its own answers: cell 07-sectors (coursework/hidden)", rlimit=False)
def reads_solutions_and_hidden_cases(nb):
    hidden = ROOT / "lib" / "coursework" / "hidden" / "c07.py"
    launch(nb, f"a = open({str(MASTER)!r}).read()")
    cell(nb, "07-sectors").source = (
        "import os, pathlib\n"
        "def read(p):\n    try:\n        return p.read_bytes()\n    except OSError:\n        return b''\n"
        f"assert not os.path.exists({str(hidden)!r})\n"
        f"assert not os.path.exists({str(MASTER)!r})\n"
        "assert not [p for p in pathlib.Path('/proc').glob('[0-9]*/cmdline') if b'--grade' in read(p)]\n"
        "neighbours, every_eighth, four_in_a_row = 4, 32, 16  # only if nothing was found"
    )


@row(ALL - LAUNCH, rlimit=False)
def reads_the_seed(nb, out=""):
    launch(nb, f"print(open({str(Path(out) / 'seed.txt')!r}).read())")


# escaping from the language of kernels -----------------------------------------------------------------------------


@row(ALL)  # it ran where the notebook runs, and a kernel without its annotations is what it is
def annotation_that_runs(nb):
    cell(nb, "07-add").source = cell(nb, "07-add").source.replace(
        "(a, b, out)", "(a: exec('import simt.xray as r; r.xray = None'), /, b, out)"
    )


@row(ALL - ADD)
def text_between_lines(nb):
    """Python's grammar knows fewer ends of lines than str.splitlines: what stands behind one must not become code."""
    cell(nb, "07-add").source = (
        "@cuda.jit\ndef add(a, b, out):\n    pass  # \\u2028import simt.xray as r; r.xray = None\n"
        "# \u2028import coursework.grading.servant as s; s._answer = lambda *a: [[], {'findings': [], 'excess': []}]\n"
    )


@row(ALL - ADD, flag="refused: add")
def module_as_a_value(nb):
    cell(nb, "07-add").source = "@cuda.jit\ndef add(a, b, out):\n    lib = np.ctypeslib\n    lib.ctypes.memset(0, 0, 9)"


@row(ALL - ADD - AXPY - AXPY_BUDGET - BUG, flag="refused: add")
def program_that_is_forged(nb):
    """The notebook's process sends texts of its own making for every answer."""
    insert(
        nb,
        "import coursework.answer as a\n"
        "a.Local.program = lambda self, *w: {'name': 'f', 'texts': ['f = __import__(\"os\").system(\"true\")']}",
        before="07-launch",
    )


@row(ALL - ADD, flag="refused: add")
def kernel_with_dunders(nb):
    cell(
        nb, "07-add"
    ).source = "@cuda.jit\ndef add(a, b, out):\n    ().__class__.__base__.__subclasses__()\n    out[cuda.grid(1)] = 0"


@row(ALL - ADD, flag="refused: add", night=True)
def kernel_with_default_value(nb):
    cell(nb, "07-add").source = (
        "@cuda.jit\ndef add(a, b, out, x=__import__('os').system('true')):\n    i = cuda.grid(1)\n"
        "    if i < out.size:\n        out[i] = a[i] + b[i]"
    )


@row(ALL - ADD, flag="refused: add", night=True)
def kernel_that_imports(nb):
    cell(nb, "07-add").source = (
        "@cuda.jit\ndef add(a, b, out):\n    import simt.xray as x\n    x.xray = None\n    i = cuda.grid(1)\n"
        "    if i < out.size:\n        out[i] = a[i] + b[i]"
    )


@row(ALL - ADD, flag="refused: add")
def decorator_that_is_not_ours(nb):
    cell(nb, "07-add").source = (
        "@cuda.jit\n@(lambda f: f)\ndef add(a, b, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = "
        "a[i] + b[i]"
    )


@row(ALL - ADD)
def kernel_that_never_ends(nb):
    cell(nb, "07-add").source = "@cuda.jit\ndef add(a, b, out):\n    i = 0\n    while True:\n        i = i + 1"


@row(ALL - ADD)
def kernel_with_a_giant_array(nb):
    cell(nb, "07-add").source = (
        "@cuda.jit\ndef add(a, b, out):\n    t = cuda.local.array(10**11, np.float64)\n    t[0] = 0\n    "
        "out[cuda.grid(1)] = t[0]"
    )


# breaking -----------------------------------------------------------------------------------------------------------


@row(ALL, flag="time limit: cell", night=True)
def loop_at_top(nb):
    insert(nb, "while True:\n    pass")


@row(ALL - LAUNCH, night=True)
def loop_in_answer(nb):
    launch(nb, "while True:\n    pass")


@row(ALL - LAUNCH, flag="time limit: launch")
def loop_that_cannot_be_interrupted(nb):
    launch(nb, "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass")


@row(ALL - LAUNCH, flag="crash: launch", night=True)
def os_exit(nb):
    launch(nb, "import os\nos._exit(0)")


@row(ALL, flag="crash: cell")
def exit_and_quit(nb):
    insert(nb, "exit()")
    insert(nb, "import sys\nsys.exit(3)")


@row(ALL - LAUNCH, flag="crash: launch", night=True)
def segfault(nb):
    launch(nb, "import ctypes\nctypes.string_at(0)")


@row(ALL, flag="crash: cell")  # each of these cells is left out
def dies_again_and_again(nb):
    for _ in range(5):
        insert(nb, "import os\nos.abort()", before="07-setup")


@row(ALL - LAUNCH)
def memory_hog(nb):
    launch(nb, "import numpy as np\nkeep = [np.ones(10**9) for _ in range(50)]")


@row(ALL - LAUNCH, flag="limit")  # of time or of output: a process that floods is slow to be heard
def output_flood(nb):
    launch(nb, "while True:\n    print('x' * 10000)")


@row(ALL, flag="limit", night=True)  # of time or of output, whichever is seen first
def one_giant_message(nb):
    insert(nb, "from IPython.display import display\ndisplay({'text/plain': 'x' * 10**9}, raw=True)")


@row(ALL, flag="strange message: cell")
def forged_messages(nb):
    insert(
        nb,
        "k = get_ipython().kernel\n"
        "for kind in ('error', 'stream', 'execute_result', 'nonsense'):\n"
        "    k.session.send(k.iopub_socket, kind, {}, parent=k.get_parent())\n"
        "k.iopub_socket.send_multipart([b'a', b'<IDS|MSG>', b'no signature', b'{', b'}', b'', b''])",
    )


@row(ALL - LAUNCH, night=True)
def huge_file(nb):
    launch(nb, "with open('huge', 'wb') as f:\n    f.truncate(10**12)")


@row(ALL - LAUNCH, flag="limit of files: launch")
def many_files(nb):
    launch(nb, "import os\nfor i in range(10**7):\n    with open(f'f{i}', 'wb') as f:\n        f.write(b'x' * 100000)")


@row(ALL - LAUNCH)
def asks_a_question(nb):
    launch(nb, "input('How many blocks?')")


@row(ALL - LAUNCH)
def too_large_a_result(nb):
    launch(nb, "import numpy as np\nreturn np.zeros(10**8)")


@row(ALL - LAUNCH, night=True)
def too_deep_a_result(nb):
    launch(nb, "x = []\nfor _ in range(10**5):\n    x = [x]\nreturn x")


@row(ALL - LAUNCH)
def path_in_a_result(nb):
    launch(nb, "return {'__array__': '../../../etc/passwd'}")


@row(ALL)  # the answer is right, and what it plants is neither followed nor waited for
def links_and_pipes_for_replies(nb):
    launch(
        nb,
        "import os\nfor i in range(200):\n    for name in (f'res-{i}.message', f'res-{i}.part'):\n        if not "
        "os.path.lexists(name):\n            os.mkfifo(name) if i % 2 else os.symlink('/etc/passwd', name)",
    )


@row(ALL)  # as above: the grader writes requests, and gives the submission what it has written
def links_and_pipes_for_requests(nb):
    launch(
        nb,
        "import os\nfor i in range(200):\n    for name in (f'req-{i}.message', f'req-{i}-planted'):\n        if not "
        "os.path.lexists(name):\n            os.mkfifo(name) if i % 2 else os.symlink('/nowhere/at/all', name)",
    )


@row(ALL - ADD, rlimit=False)
def answers_in_place_of_the_clean_process(nb):
    cell(nb, "07-add").source = "@cuda.jit\ndef add(a, b, out):\n    pass"
    insert(
        nb,
        "import glob, json, threading, time\ndef forge():\n    while True:\n        for f in glob.glob('/tmp/dlk-*'):\n"
        "            for i in range(50):\n                try:\n                    open(f'{f}/res-{i}.message', "
        "'w').write(json.dumps({'value': [[], {'findings': [], 'excess': []}]}))\n                except OSError:\n"
        "                    pass\n        time.sleep(0.5)\nthreading.Thread(target=forge, daemon=True).start()",
        before="07-add",
    )


@row(ALL, night=True)
def locks_its_folder(nb):
    insert(nb, "import os\nos.makedirs('a/b/c')\nos.chmod('a/b', 0)\nos.chmod('a', 0)", before="07-end")


@row(ALL, night=True)
def leaves_a_process_behind(nb):
    insert(nb, f"import subprocess\nsubprocess.Popen(['sleep', '{SLEEPS}'], start_new_session=True)")


@row(ALL)
def leaves_a_daemon_behind(nb):
    insert(
        nb,
        "import os, signal\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):\n        signal.signal(s, signal.SIG_IGN)\n"
        "    if os.fork() == 0:\n"
        f"        os.execvpe('sleep', ['sleep', '{SLEEPS}'], {{'PATH': '/usr/bin:/bin'}})\n"
        "    os._exit(0)",
    )


@row(ALL - LAUNCH, may="time limit: launch", rlimit=False)
def fork_bomb(nb):
    launch(
        nb,
        "import os, time\npids = []\nfor _ in range(5000):\n    pid = os.fork()\n    if pid == 0:\n"
        "        time.sleep(60)\n        os._exit(0)\n    pids.append(pid)",
    )


@row(ALL, rlimit=False)
def kills_the_grader(nb):
    insert(
        nb,
        "import os, signal\nfor p in (os.getppid(), 1, -1):\n    try:\n        p > 1 and os.kill(p, signal.SIGKILL)\n"
        "    except OSError:\n        pass",
    )


@row(ALL, rlimit=False)
def writes_grades(nb, out=""):
    insert(
        nb,
        f"import os\ntry:\n    os.makedirs({out!r}, exist_ok=True)\n    open({str(Path(out) / 'grades.csv')!r}, "
        "'w').write('me,100')\nexcept OSError:\n    pass",
    )


@row(ALL - LAUNCH, rlimit=False)
def phones_home(nb, port=0):
    launch(nb, f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=2).send(b'hello')")


@row(ALL - LAUNCH, rlimit=False)
def breaks_out_of_the_namespace(nb):
    launch(
        nb,
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nassert libc.unshare(0x10000000) == 0 or "
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 or os.setuid(0) is None",
    )


# not a notebook ---------------------------------------------------------------------------------------------------


@row(0, status="missing")
def nothing(nb):
    return NOTHING


@row(0, status="unreadable")
def empty_file(nb):
    return ""


@row(0, status="unreadable")
def truncated(nb):
    return build.text_of(nb)[:4000]


@row(0, status="unreadable")
def merge_conflict(nb):
    return "<<<<<<< HEAD\n" + build.text_of(nb) + ">>>>>>> other\n"


@row(0, status="unreadable")
def a_list(nb):
    return "[]"


@row(0, status="unreadable")
def not_utf8(nb):
    return build.text_of(nb).encode("utf-16")


@row(0, status="unreadable")
def deeply_nested_json(nb):
    return '{"cells": ' + "[" * 100_000 + "]" * 100_000 + "}"


@row(0, status="unreadable")
def giant_file(nb):
    return json.dumps({"cells": [{"cell_type": "code", "source": "x" * (11 << 20)}]})


@row(0, status="no answers", flag="deleted cell 07-add")
def no_cells(nb):
    return json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@row(ALL)
def old_and_odd(nb):
    """A byte order mark, sources as lists, a null character, fields of the wrong type, cells that are no cells."""
    data = json.loads(build.text_of(nb))
    for c in data["cells"]:
        c["source"] = c["source"].splitlines(keepends=True) if isinstance(c["source"], str) else c["source"]
    data["cells"] += [None, 3, {"cell_type": "code", "source": 5, "metadata": 7, "id": 9}, {"cell_type": "code"}]
    data["cells"].append({"cell_type": "code", "source": "a = 1\u0000", "metadata": {"nbgrader": []}})
    data["cells"].append({"cell_type": "code", "source": "\ud800", "metadata": {}})
    return "\ufeff" + json.dumps(data)
