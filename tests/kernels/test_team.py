"""The team of threads: every task once, whoever comes late; forks, ends, layers and what users set."""

import functools
import inspect
import os
import re
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit
from numba.core.dispatcher import Dispatcher

from dlkernels import implementations, team
from dlkernels.simd.atomic import atomic_load, fetch_add
from dlkernels.team import _now, _yield_core, share

ABSENT = team.why_not()
here = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)
CACHED = type(functools.cache(len))
PATIENCE = 120  # seconds
pytestmark = pytest.mark.rotates


@njit
def note(arguments, task, who):
    times, whose = arguments
    times[task] += 1
    whose[task] = who


@njit(nogil=True)
def noted(times, whose, tasks, threads, members):
    share(note, (times, whose), tasks, threads, 0, members)


@njit
def spend(arguments, task, who):
    out, whose = arguments
    total = 0.0
    for i in range(20_000):
        total += np.sqrt(i + task)
    out[task], whose[task] = total, who


@njit(nogil=True)
def spent(out, threads, members):
    """Who did the tasks."""
    whose = np.zeros(out.size, np.int64)
    share(spend, (out, whose), out.size, threads, 0, members)
    return whose


@njit
def meet(arguments, task, who):
    begun, whose, until = arguments
    whose[task] = who
    fetch_add(begun, 0, 1)
    while atomic_load(begun, 0) < whose.size and _now() < until:
        _yield_core()


@njit(nogil=True)
def met(whose, members, patience):
    begun = np.zeros(1, np.int64)
    share(meet, (begun, whose, _now() + patience), whose.size, whose.size, 1 << 40, members)


def meeting(threads, members):
    """Who came to tasks that end when all of them have begun: each needs a thread of its own, however late that
    comes."""
    whose = np.full(threads, -1)
    met(whose, members, PATIENCE * 10**9)
    return sorted(whose.tolist())


def wait_until(holds, seconds=PATIENCE):
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)


def run(tasks, threads, members):
    times, whose = np.zeros(tasks, np.int64), np.full(tasks, -1)
    noted(times, whose, tasks, threads, members)
    assert (times == 1).all()
    assert tasks == 0 or 0 <= whose.min() <= whose.max() < max(threads, 1)
    return whose


# Not `python -W error::numba.NumbaWarning`: that asks for numba before Python can find it, and is ignored.
STRICT = "import warnings\nfrom numba import NumbaWarning\nwarnings.simplefilter('error', NumbaWarning)\n"


def in_a_process(code, **environment):
    kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_THREADING_LAYER", "OMP_NUM_THREADS")}
    kept.pop("NUMBA_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", STRICT + code], env=kept | environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.quick
@pytest.mark.parametrize("own", [pytest.param(True, marks=here), False])
@pytest.mark.parametrize("tasks", [0, 1, 2, 3, 7, 1000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_task_is_done_once(own, tasks, threads):
    for _ in range(20):
        run(tasks, threads, team.members() if own else team._layer)


@here
def test_many_helpers_and_many_jobs_one_after_the_other():
    memory, helpers = team.new_memory(9), 8
    threads = [threading.Thread(target=team._help, args=(memory, who), daemon=True) for who in range(1, helpers + 1)]
    for thread in threads:
        thread.start()
    for tasks in (1, 2, 3, 50, 2000) * 20:
        run(tasks, 9, memory)
    out = np.zeros(64)
    for _ in range(20):
        assert meeting(9, memory) == list(range(9))
        assert spent(out, 2, memory).max() <= 1  # although nine are awake
    team._dismiss(memory)
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


@here
def test_nobody_comes_and_the_caller_does_it_all():
    memory = team.new_memory(4)  # no threads belong to it
    assert (run(1000, 4, memory) == 0).all()
    memory[team.ASLEEP] = 3  # as if they slept
    assert (run(1000, 4, memory) == 0).all()


@njit
def slow_help(arguments, task, who):
    out, begun = arguments
    begun[task] = 1
    total = 1.0
    for i in range(4_000_000 if who else 200_000):
        total += np.sqrt(i + task)
    out[task] = total


@njit
def slowly_helped(out, begun, members):
    share(slow_help, (out, begun), out.size, 2, 1 << 40, members)


@here
def test_the_caller_waits_for_a_task_that_another_has_begun():
    for _ in range(10):
        out, begun = np.zeros(40), np.zeros(40)
        slowly_helped(out, begun, team.members())
        assert (out > 0).all()
        assert (begun == 1).all()


@here
def test_the_bell_is_rung_when_it_is_worth_its_price():
    memory, out = team.new_memory(2), np.zeros(8)
    memory[team.ASLEEP], memory[team.PRICE] = 1, 1 << 40
    for _ in range(20):
        spent(out, 2, memory)
    assert memory[team.BELL] == 0
    assert memory[team.ALONE] > 0
    memory[team.PRICE], memory[team.ALONE] = 1, 1 << 40
    spent(out, 2, memory)
    assert memory[team.BELL] > 0
    memory[team.ASLEEP], memory[team.BELL], memory[team.PRICE] = 0, 0, 1
    spent(out, 2, memory)
    assert memory[team.BELL] == 0, "nobody sleeps"


def test_one_interrupted_ring_changes_the_price_little_and_many_do():
    assert team._learnt(20_000, 10_000_000) < 40_000
    price = 20_000
    for _ in range(40):
        price = team._learnt(price, 1_000_000)
    assert 950_000 < price <= 1_000_000
    for _ in range(40):
        price = team._learnt(price, 20_000)
    assert 19_000 < price < 21_000
    assert team._learnt(0, 5_000) > 0


@here
def test_a_processor_without_a_bit_touches_no_other_word(monkeypatch):
    monkeypatch.setattr(team.os, "sched_getaffinity", lambda _: {0, 63, 64, 1023, 1024, 4000})
    memory = team.new_memory(64)
    bits = memory[team.ALLOWED : team.ALLOWED + team.LINE].view(np.uint64)
    assert [k for k in range(1024) if int(bits[k // 64]) >> k % 64 & 1] == [0, 63, 64, 1023]
    assert not memory[team.PLACES :].any()


@here
def test_a_bell_that_nobody_heard_does_not_stay_rung():
    memory = team.members()
    spent(np.zeros(64), 2, memory)
    memory[team.RUNG] = 1  # rung while the helpers were awake: it would never be rung again
    team._ring(memory, 1)
    wait_until(lambda: memory[team.RUNG] == 0 and memory[team.ASLEEP])
    assert meeting(2, memory) == [0, 1], "asleep for ever"


def state(thread):
    """Whether a thread runs (R) or sleeps (S), and how often it has left a core, by itself or not."""
    text = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    return re.search(r"State:\s+(\w)", text)[1], re.findall(r"ctxt_switches:\s+(\d+)", text)


@here
def test_who_has_nothing_to_do_sleeps():
    memory = team.members()
    spent(np.zeros(64), 2, memory)
    helpers = team._threads
    wait_until(lambda: memory[team.ASLEEP] == len(helpers) and {state(one)[0] for one in helpers} == {"S"}, 60)
    before = [state(one) for one in helpers]
    time.sleep(0.5)
    assert [state(one) for one in helpers] == before  # nobody has run, not even for a moment


@njit
def outer(arguments, task, who):
    times, inner_times, members = arguments
    times[task] += 1
    share(note, (inner_times[task], inner_times[task + times.size]), inner_times.shape[1], 2, 0, members)


@njit
def nested(times, inner_times, members):
    share(outer, (times, inner_times, members), times.size, 2, 0, members)


def called(function, seen=()):
    """The compiled functions of team.py that a function calls, and those that these call, itself among them."""
    seen = [*seen, function]
    for name in function.py_func.__code__.co_names:
        inner = getattr(team, name, None)
        if hasattr(inner, "py_func") and inner not in seen:
            seen = called(inner, seen)
    return seen


@here
def test_who_looks_for_work_asks_for_no_memory():
    team.members()
    words, number = numba.types.Array(numba.types.int64, 1, "C"), numba.types.int64
    found = {}
    for function in called(team._help):
        takes = [words if name == "team" else number for name in function.py_func.__code__.co_varnames]
        takes = tuple(takes[: function.py_func.__code__.co_argcount])
        again = njit(nogil=True)(function.py_func)
        again.compile(takes)
        lines = [line for line in again.inspect_llvm(takes).splitlines() if "call " in line]
        found[function.py_func.__name__] = [line for line in lines if "NRT_" in line and "lloc" in line]
    assert {"_help", "_allow", "_take_last", "_wake"} <= set(found)
    assert not any(found.values()), found


@here
def test_memory_may_be_traced_while_helpers_look_for_work():
    """Before Python 3.12.9 the process ended where a helper asked for memory meanwhile (CPython's issue 128679)."""
    in_a_process(
        "import time, tracemalloc, numpy as np\n"
        "from dlkernels import add, matmul\n"
        "x, y = np.ones(1 << 18, np.float32), np.ones((300, 300), np.float32)\n"
        "add(x, x), matmul(y, y)\n"  # compiled before memory is traced
        "for number in range(3000):\n"
        "    tracemalloc.start()\n"
        "    add(x, x) if number & 1 else matmul(y, y)\n"
        "    tracemalloc.stop()\n"
        "    if number % 30 == 0:\n"
        "        time.sleep(0.002)\n"  # helpers sleep, and are woken on another core
    )


@here
def test_memory_may_be_traced_while_tasks_ask_for_some():
    """A helper would wait for the interpreter's lock, and the caller, who has it, for the helper."""
    in_a_process(
        "import tracemalloc, numpy as np\n"
        "from dlkernels import cross_entropy\n"
        "x, target = np.ones((256, 2000), np.float32), np.zeros(256, np.int64)\n"
        "expected = cross_entropy(x, target)\n"
        "tracemalloc.start()\n"
        "for _ in range(300):\n"
        "    assert cross_entropy(x, target) == expected\n"
        "tracemalloc.stop()\n"
    )


@pytest.mark.quick
@pytest.mark.parametrize("own", [pytest.param(True, marks=here), False])
def test_a_job_within_a_task(own):
    times, inner = np.zeros(16, np.int64), np.zeros((32, 10), np.int64)
    nested(times, inner, team.members() if own else team._layer)
    assert (times == 1).all()
    assert (inner[:16] == 1).all()


@pytest.mark.quick
@pytest.mark.parametrize("own", [pytest.param(True, marks=here), False])
def test_callers_at_the_same_time(own):
    members, wrong = team.members() if own else team._layer, []

    def call():
        for tasks in range(1, 300):
            times, whose = np.zeros(tasks, np.int64), np.zeros(tasks, np.int64)
            noted(times, whose, tasks, 2, members)
            if (times != 1).any():
                wrong.append(tasks)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(PATIENCE)
    assert not wrong
    assert not any(caller.is_alive() for caller in callers)


def reached(function, seen):
    """The functions that a function names, those that these name, and so on, as far as they are the library's."""
    if isinstance(function, CACHED):
        function = function.__wrapped__
    ours = isinstance(function, Dispatcher | types.FunctionType) and "dlkernels" in function.__module__
    if ours and function not in seen:
        seen.add(function)
        python = function.py_func if isinstance(function, Dispatcher) else function  # a wrapper may show another's
        codes = [python.__code__, *filter(inspect.iscode, python.__code__.co_consts)]
        names = [name for code in codes for name in code.co_names]
        there = [python.__globals__.get(name) for name in names]
        there += [getattr(module, name, None) for module in filter(inspect.ismodule, there) for name in names]
        there += [function for table in there if isinstance(table, dict) for function in table.values()]
        for other in [*there, *(cell.cell_contents for cell in python.__closure__ or ())]:
            reached(other, seen)
    return seen


def parallel_loops(rungs):
    functions = set().union(*(reached(rung.function, set()) for rung in rungs))
    return {f.__name__ for f in functions if isinstance(f, Dispatcher) and f.targetoptions.get("parallel")}


#: Public rungs without the team: by NumPy, in passes of other operations, a step after the other, or serial as they say.
ALONE = {
    "bias_activation_backward_passes",
    "sum_backward_broadcast",
    "selective_scan_steps",
    "selective_scan_backward_steps",
    "merge_results",
    "sinusoidal_encoding_numpy",
    "linear_hashed_backward_pieces",
    "to_dense_loop",
    "to_2_4_loop",
}


def test_numbas_layer_has_one_door():
    rungs = implementations.everything()
    public = [rung for rung in rungs if rung.device == "cpu" and rung.public]
    assert "_add_parallel" in parallel_loops(rungs)  # those that teach prange
    assert parallel_loops(public) == set()
    alone = {rung.name for rung in public if team.members not in reached(rung.function, set())}
    assert alone == ALONE


# Two threads, each kind of kernel; the other activations differ from relu in one function only.
TWO_CALLERS = """
import threading
import numpy as np
from dlkernels import implementations, team
kinds = ("add", "axpy", "relu", "relu_backward", "bias_activation")
kinds += ("matmul", "matmul_backward", "matmul_half", "matmul_int8", "linear")
seen, both = [], threading.Barrier(2)
def results(name, arguments):
    out = implementations.call(name, *arguments)
    return out if isinstance(out, tuple) else (out,)
def call(name, arguments, expected):
    both.wait(100)
    for _ in range(20):
        for one, other in zip(results(name, arguments), expected, strict=True):
            assert np.array_equal(one, other), name
        seen.append(name)
for name in kinds:
    examples = implementations.OPERATIONS[name].examples
    arguments = examples.make(examples.timed[len(examples.timed) // 2], dtype=examples.dtypes[0])
    expected = results(name, arguments)
    threads = [threading.Thread(target=call, args=(name, arguments, expected)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join(100)
    assert seen.count(name) == 40, name
print(team.members() is team._layer, team._layer.words[team.BUSY])
"""


def test_two_threads_may_call_every_kind_of_kernel_on_a_layer_that_allows_one():
    assert in_a_process(TWO_CALLERS, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2") == "True 0"


NESTED = """
import numpy as np, threading
from numba import njit
from dlkernels.team import members, share
@njit
def inner(arguments, task, who): arguments[0][task] += 1
@njit
def outer(arguments, task, who):
    times, team = arguments
    share(inner, (times[task],), times.shape[1], 2, 0, team)
@njit(nogil=True)
def run(times, team): share(outer, (times, team), times.shape[0], 2, 0, team)
def call():
    for _ in range(200):
        times = np.zeros((8, 8), np.int64)
        run(times, members())
        done.append((times == 1).all())
run(np.zeros((1, 1), np.int64), members())
done, threads = [], [threading.Thread(target=call) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(done), all(done))
"""


def test_jobs_within_tasks_of_three_callers_on_a_layer_that_allows_one():
    assert in_a_process(NESTED, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2") == "600 True"


PRODUCT = """
import numpy as np, dlkernels
from dlkernels import team
a = np.random.default_rng(0).standard_normal((300, 300))
assert np.allclose(dlkernels.matmul(a, a), a @ a)
assert np.allclose(dlkernels.add(np.ones(10**6), np.ones(10**6)), 2)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@here
def test_a_forked_process_has_a_team_of_its_own():
    code = PRODUCT + (
        "import os, warnings\nwarnings.simplefilter('ignore')\nparent = team.members()\nchild = os.fork()\n"
        "assert np.allclose(dlkernels.matmul(a, a), a @ a)\n"
        "assert (team.members() is parent) == bool(child)\n"
        "if not child: os._exit(0)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert in_a_process(code) == "0"


@pytest.mark.parametrize("come", [0, 1])
@here
def test_where_no_more_threads_can_be_started_those_that_came_do_it(come):
    code = (
        "import threading\nstart, tries = threading.Thread.start, []\ndef refused(thread):\n    tries.append(thread)\n"
        f'    if len(tries) > {come}: raise RuntimeError("can\'t start new thread")\n    start(thread)\n'
        "threading.Thread.start = refused" + PRODUCT + "print(len(tries), len(team._threads))"
    )
    assert in_a_process(code, NUMBA_NUM_THREADS="4") == f"{come + 1} {come}"


@here
def test_a_start_that_is_interrupted_leaves_nobody_behind():
    code = (
        "import threading\nstart, tries = threading.Thread.start, []\ndef interrupted(thread):\n    start(thread)\n"
        "    tries.append(thread)\n    if len(tries) == 2: raise KeyboardInterrupt\n"
        "threading.Thread.start = interrupted\ntry:"
        + PRODUCT.replace("\n", "\n    ")
        + "\nexcept KeyboardInterrupt: pass\n"
        "for thread in tries: thread.join(100)\nprint(any(thread.is_alive() for thread in tries))"
        + PRODUCT
        + "print(sum(thread.is_alive() for thread in tries))"
    )
    assert in_a_process(code, NUMBA_NUM_THREADS="4") == "False\n3"


@pytest.mark.parametrize("at", ["threading.Thread.start", "team.new_memory", "team._help.compile"])
@here
def test_a_signal_during_the_start_whose_handler_calls_a_kernel(at):
    code = (
        "import signal, threading\nfrom dlkernels import team\ninside = []\ndef handler(*_):\n"
        "    inside.append(team.members())"
        + PRODUCT.replace("from dlkernels import team\n", "").replace("\n", "\n    ")
        + f"\nhooked, times = {at}, [1]\n"
        "def interrupted(*arguments):\n    if times and times.pop(): signal.raise_signal(signal.SIGINT)\n"
        f"    return hooked(*arguments)\nsignal.signal(signal.SIGINT, handler)\n{at} = interrupted"
        + PRODUCT
        + "print(len(inside), inside[0] is team.members(), len(team._threads), threading.active_count())"
    )
    assert in_a_process(code, NUMBA_NUM_THREADS="3") == "1 False 2 3"


@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_layer_that_the_user_chose_is_used(layer):
    said = in_a_process(
        PRODUCT + "import numba\nprint(team.members() is team._layer, numba.threading_layer(), team.why_not())",
        NUMBA_THREADING_LAYER=layer,
        NUMBA_NUM_THREADS="2",
    )
    assert said == f"True {layer} NUMBA_THREADING_LAYER is set, and is respected."


def test_kernels_on_a_layer_are_kept_on_disk(tmp_path):
    """Where the layer does the work, each process would compile them anew, with a warning for each."""
    add = "dlkernels.vector.cpu._add_by_team"
    code = (
        "import numpy as np, dlkernels\nx = np.ones(1 << 18, np.float32)\nassert (dlkernels.add(x, x) == 2).all()\n"
        f"print(sum({add}.stats.cache_hits.values()))"
    )
    where = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert [in_a_process(code, **where) for _ in range(2)] == ["0", "1"]


def test_other_systems_use_the_layer(monkeypatch):
    monkeypatch.setattr(team, "_SYSTEM_CALL", None)
    monkeypatch.setattr(team, "_ready", False)
    monkeypatch.setattr(team, "_memory", None)
    monkeypatch.setattr(numba.config, "THREADING_LAYER", "default")
    assert "Linux" in team.why_not()
    assert team.members() is team._layer


@pytest.mark.parametrize(
    ("environment", "size"),
    [
        ({"OMP_NUM_THREADS": "1"}, 1),
        ({"OMP_NUM_THREADS": "1,2"}, 1),
        ({"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}, 2),
        ({"NUMBA_NUM_THREADS": "1"}, 1),
        ({"NUMBA_NUM_THREADS": "3", "OMP_NUM_THREADS": "nonsense"}, 3),
    ],
)
def test_what_users_set_is_respected(environment, size):
    assert in_a_process(PRODUCT + "print(team.size())", **environment) == str(size)


def test_set_num_threads_is_respected():
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert team.size() == 1
    finally:
        numba.set_num_threads(before)


@pytest.mark.quick
def test_without_compiling_the_tasks_run_in_order():
    seen = []
    share(lambda arguments, task, who: seen.append((arguments, task, who)), "x", 3, 2, 0, None)
    assert seen == [("x", 0, 0), ("x", 1, 0), ("x", 2, 0)]
