"""Threads that wait for one another in loops, loops that never end, and what both engines do about them."""

import ast
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "zoo"))
import zoo_protocols

import simt
from simt import Deadlock, TooManyIterations, Unsupported, compiled, cuda
from simt.executor import launch, meetings
from simt.source.function import Source
from simt.source.waiting import awaited, may_wait
from simt.xray import xray

ORDERS = ["forward", "reverse", "shuffled:1", "shuffled:2"]
WAITING = [a for a in zoo_protocols.BUGGY if a.expected == {"waits-for-ever"}]


def name(animal):
    return animal.name


def line_of(kernel, text):
    lines, first = inspect.getsourcelines(kernel.py_func)
    return first + next(k for k, line in enumerate(lines) if text in line)


def results(animal, order, run=simt.run):
    arguments = animal.make_arguments()
    run(animal.kernel, animal.grid, animal.block, arguments, animal.shared_bytes, order=order)
    return [a for a in arguments if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("animal", zoo_protocols.CORRECT, ids=name)
def test_flags_locks_and_counters_work_in_every_order(animal):
    expected = results(animal, "forward")
    for order in ORDERS[1:]:
        for got, wanted in zip(results(animal, order), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("animal", WAITING, ids=name)
def test_what_waits_for_ever_ends_with_a_message(animal, order):
    with pytest.raises(Deadlock, match=r"waits for `.*`, which nobody sets") as caught:
        results(animal, order)
    assert caught.value.line in animal.lines
    assert caught.value.who
    report = xray(animal.kernel, animal.grid, animal.block, order=order)(*animal.make_arguments())
    assert [f.kind for f in report.findings] == ["waits-for-ever"]
    assert f"waits at line {caught.value.line} for" in report.findings[0].message


def test_the_message_names_thread_block_line_and_what_is_awaited():
    @cuda.jit
    def kernel(flag):
        b = cuda.blockIdx.x
        if b == 2 and cuda.threadIdx.x == 3 and cuda.threadIdx.y == 0:
            while cuda.atomic.add(flag, b - 1, 0) != 1:
                pass

    report = xray(kernel, 4, (4, 2))(np.zeros(4, np.int32))
    told = (
        f"thread (3, 0) of block (2, 0) waits at line {line_of(kernel, 'while')} for `flag[1] == 1`, which nobody sets"
    )
    assert told in report.findings[0].message


@cuda.jit
def in_turn(turn, x):
    """Block b waits for block b + 1."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b + 1 < cuda.gridDim.x:
            while cuda.atomic.add(turn, b + 1, 0) == 0:
                pass
        x[b] = cuda.atomic.add(turn, cuda.gridDim.x, 1)
        cuda.threadfence()
        cuda.atomic.exch(turn, b, 1)


def test_blocks_are_resident_together_up_to_what_the_device_holds():
    blocks = cuda.get_current_device().MULTIPROCESSOR_COUNT * 2
    x = np.zeros(blocks, np.int32)
    in_turn[blocks, 1024](np.zeros(blocks + 1, np.int32), x)
    assert x.tolist() == list(range(blocks))[::-1]
    message = f"1 block has not begun: the device holds {blocks} blocks"
    with pytest.raises(Deadlock, match=message):
        in_turn[blocks + 1, 1024](np.zeros(blocks + 2, np.int32), np.zeros(blocks + 1, np.int32))
    with simt.order("reverse"):  # here the last block begins first
        in_turn[blocks + 1, 1024](np.zeros(blocks + 2, np.int32), np.zeros(blocks + 1, np.int32))


def test_a_warp_that_looks_back_with_shuffles_gives_way():
    @cuda.jit
    def kernel(flag, x):
        lane, b = cuda.threadIdx.x, cuda.blockIdx.x
        if b > 0:
            seen = 0
            while seen == 0:
                mine = cuda.atomic.add(flag, b - 1, 0) if lane == 0 else 0
                seen = cuda.shfl_sync(0xFFFFFFFF, mine, 0)
        x[b * 32 + lane] = b
        if lane == 0:
            cuda.atomic.exch(flag, b, 1)

    for order in ORDERS:
        x = np.zeros(128)
        with simt.order(order):
            kernel[4, 32](np.zeros(4, np.int32), x)
        assert x.tolist() == np.repeat(np.arange(4), 32).tolist()


def test_a_whole_block_that_waits_with_barriers_gives_way():
    @cuda.jit
    def kernel(arrived, x):
        seen = cuda.shared.array(1, simt.cuda.int32)
        t = cuda.threadIdx.x
        if t == 0:
            cuda.atomic.add(arrived, 0, 1)
        while True:
            if t == 0:
                seen[0] = cuda.atomic.add(arrived, 0, 0)
            cuda.syncthreads()
            come = seen[0]
            cuda.syncthreads()
            if come == cuda.gridDim.x:
                break
        x[cuda.grid(1)] = 1

    for order in ORDERS:
        x = np.zeros(96)
        with simt.order(order):
            kernel[3, 32](np.zeros(1, np.int32), x)
        assert x.all()


def test_a_search_that_takes_long_is_not_waiting_for_ever():
    """Its loop asks memory, and all else stands still."""

    @cuda.jit
    def follow(following, x):
        i, steps = 0, 0
        while following[i] != i:
            i = following[i]
            steps += 1
        x[cuda.threadIdx.x] = steps

    x = np.zeros(4)
    follow[1, 4](np.minimum(np.arange(1, 5001), 4999), x)
    assert x.tolist() == [4999] * 4


def test_threads_that_only_change_memory_are_not_waiting_for_ever():
    @cuda.jit
    def count(n):
        while cuda.atomic.add(n, 0, 1) < 1000:
            pass

    n = np.zeros(1, np.int32)
    count[2, 2](n)
    assert n[0] == 1004


def test_a_device_function_that_calls_itself_may_search():
    @cuda.jit(device=True)
    def depth(tree, i, d):
        while tree[i] == 0:
            i += 1
        return d if d > 3 else depth(tree, i, d + 1)

    @cuda.jit
    def kernel(tree, x):
        x[cuda.threadIdx.x] = depth(tree, 0, 0)

    x = np.zeros(2)
    kernel[1, 2](np.array([0, 0, 1]), x)
    assert x.tolist() == [4, 4]


# -- budgets ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def few_rounds(monkeypatch):
    monkeypatch.setattr(launch, "MOST_ROUNDS", 1 << 20)
    monkeypatch.setattr(meetings, "MOST_ROUNDS", 1000)


@cuda.jit
def never_shrinks(x):
    step = 32
    while step >= 0:
        step //= 2


@cuda.jit
def far_too_long(x):
    for k in range(1 << 40):
        x[0] = k


@cuda.jit
def meets_again_and_again(x):
    step = 32
    while step >= 0:
        cuda.syncthreads()
        step //= 2


@cuda.jit
def asks_for_what_changes(x):
    i = 0
    while x[0] == 0:
        i += 1


@pytest.mark.parametrize("kernel", [never_shrinks, far_too_long, meets_again_and_again, asks_for_what_changes])
def test_endless_loops_meet_a_limit_that_is_named(kernel, few_rounds):
    with cuda.engine("executor"), pytest.raises(TooManyIterations, match=r"[\d,]{4,} .*simt.budget sets another limit"):
        kernel[1, 2](np.zeros(1))


@pytest.mark.parametrize("kernel", [never_shrinks, far_too_long, meets_again_and_again, asks_for_what_changes])
def test_endless_loops_meet_a_limit_under_the_xray(kernel):
    line = line_of(kernel, "for " if kernel is far_too_long else "while")
    with pytest.raises(MemoryError, match=rf"The loop on line {line}, .* has gone round [\d,]+ times: does it end"):
        xray(kernel, 1, 2, most_accesses=30_000)(np.zeros(1))


def test_a_walk_in_a_circle_is_named_before_the_trace_is_full(monkeypatch):
    @cuda.jit
    def walks(following, x):
        k = 0
        while following[k] >= 0:
            k = following[k]
        x[cuda.threadIdx.x] = k

    monkeypatch.setattr(launch, "MOST_TRACED", 500)
    with pytest.raises(TooManyIterations, match=r"has gone round [\d,]+ times") as caught:
        xray(walks, 1, 4)(np.array([1, 2, 0]), np.zeros(4))
    assert caught.value.line == line_of(walks, "while")


def test_a_loop_with_barriers_that_never_ends_is_named(monkeypatch):
    monkeypatch.setattr(meetings, "MOST_TRACED", 10_000)
    with pytest.raises(TooManyIterations, match="Does `step` come closer to the end") as caught:
        xray(meets_again_and_again, 1, 64)(np.zeros(1))
    assert caught.value.line == line_of(meets_again_and_again, "while")


@cuda.jit
def walks_a_tree(child, out):
    """With a stack that is too small: what does not fit is lost, and what was there comes again."""
    stack = cuda.local.array(2, simt.cuda.int32)
    top, seen = 1, 0
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        seen += 1
        for k in range(2):
            if child[node, k] >= 0:
                stack[top] = child[node, k]
                top += 1
    out[cuda.grid(1)] = seen


def test_an_endless_loop_after_an_index_outside_tells_both():
    child = np.stack([np.ones(8, np.int32), np.arange(1, 9, dtype=np.int32) % 8], 1)
    report = xray(walks_a_tree, 1, 2)(child, np.zeros(2, np.int32))
    first = report.findings[0]
    assert first.kind == "out-of-bounds"
    assert first.array == "stack"
    line = line_of(walks_a_tree, "while")
    assert f"The loop on line {line}, `while top > 0`, has gone round 2,001 times: does it end?" in first.message
    assert report.stopped
    with simt.budget(1000):
        report = xray(walks_a_tree, 1, 2)(child, np.zeros(2, np.int32))
    assert report.findings[0].array == "stack"
    assert f"stopped at line {line}: this loop has gone round" in report.findings[0].message


def test_control_c_ends_threads_that_wait(tmp_path):
    script = tmp_path / "waits.py"
    script.write_text(
        textwrap.dedent("""
        import signal, sys, threading, time, os

        import numpy as np
        from simt import cuda

        signal.signal(signal.SIGINT, signal.default_int_handler)

        @cuda.jit
        def kernel(flag, n):
            i = 0
            while cuda.atomic.add(flag, 0, 0) == 0:
                i += n  # so that it is not seen to wait for ever

        try:
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
            with cuda.engine("executor"):
                kernel[4, 32](np.zeros(1, np.int32), 1)
        except KeyboardInterrupt:
            print("stopped")
        """)
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "stopped\n", done.stderr


# -- the compiled engine ----------------------------------------------------------------------------------------------


def named(names):
    return [a for a in zoo_protocols.CORRECT if a.name in names]


@pytest.mark.parametrize("animal", named(["decoupled_look_back", "lock_taken_by_one_thread_of_each_block"]), ids=name)
def test_what_waits_for_earlier_threads_runs_compiled(animal):
    for got, wanted in zip(results(animal, "forward", compiled.run), results(animal, "forward"), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("animal", named(["home_made_grid_barrier", "flag_in_shared_memory_between_warps"]), ids=name)
def test_what_waits_for_later_threads_runs_in_the_executor(animal, monkeypatch, capsys):
    """Anew: also what lies on the device is as it was before the launch."""
    monkeypatch.setattr("simt.compiled.rounds.MOST_WAITING", 1 << 20)
    monkeypatch.setattr("simt.policy.LARGE", 0)
    monkeypatch.setattr("simt.policy._told", set())
    monkeypatch.setattr(animal.kernel, "compiled", {})
    arguments = [cuda.to_device(a) for a in animal.make_arguments()]
    for _ in range(2):
        animal.kernel[animal.grid, animal.block](*map(cuda.to_device, animal.make_arguments()))
    animal.kernel[animal.grid, animal.block](*arguments)
    assert cuda.last_launch().engine == "executor"
    assert "waits for threads that run after it" in cuda.last_launch().why
    assert capsys.readouterr().out.count("It runs in the executor") == 1
    for got, wanted in zip(arguments, results(animal, "forward"), strict=True):
        np.testing.assert_allclose(got.copy_to_host(), wanted, rtol=1e-5)


def test_a_flag_that_nobody_sets_does_not_hang_the_compiled_engine(monkeypatch):
    (animal,) = [a for a in WAITING if a.name == "flag_that_nobody_sets"]
    monkeypatch.setattr("simt.compiled.rounds.MOST_WAITING", 1 << 20)
    monkeypatch.setattr(animal.kernel, "compiled", {})
    with cuda.engine("compiled"), pytest.raises(Unsupported, match="waits for threads") as caught:
        animal.kernel[animal.grid, animal.block](*animal.make_arguments())
    assert caught.value.line in animal.lines


@cuda.jit
def nobody_passes_on(turn):
    while cuda.atomic.add(turn, 0, 0) == 0:
        pass


@cuda.jit
def nobody_passes_on_and_one_may_return(turn):
    while cuda.atomic.add(turn, 0, 0) == 0:
        if turn[1] != 0:
            return


@pytest.mark.parametrize("kernel", [nobody_passes_on, nobody_passes_on_and_one_may_return])
def test_a_wait_that_is_counted_ends_as_well(kernel, monkeypatch):
    monkeypatch.setattr("simt.compiled.rounds.MOST_COUNTED", 1 << 10)
    with pytest.raises(Unsupported, match="waits for threads") as caught:
        xray(kernel, 2, 1, engine="compiled")(np.zeros(2, np.int32))
    assert caught.value.line == line_of(kernel, "while")


@cuda.jit
def one_in_the_other(x):
    for i in range(x.size << 40):
        for j in range(1 << 19):
            if x[i % 2] < 0:
                x[j % 2] = i


@cuda.jit
def a_pair_of_long_ones(x):
    for i in range(1 << 19):
        for j in range(1 << 19):  # longest
            x[j % 2] = i


@cuda.jit
def far_too_many_barriers(x):
    for k in range(1 << 40):
        x[k % 2] = k
        cuda.syncthreads()


@cuda.jit(device=True)
def goes_through(x, n):
    for k in range(n):
        x[k % 2] = k


@cuda.jit
def far_too_long_elsewhere(x):
    goes_through(x, 1 << 40)


@cuda.jit
def all_threads_alike(x):
    t = cuda.threadIdx.x
    for k in range(1 << 40):
        x[t] += k


ENDLESS = {
    never_shrinks: "Does `step` come closer to the end",
    meets_again_and_again: "Does `step` come closer to the end",
    far_too_long: r"Is `range\(1 << 40\)` as long as it should be",
    one_in_the_other: r"Is `range\(x.size << 40\)` as long as it should be",
    a_pair_of_long_ones: r"Is `range\(1 << 19\)` as long as it should be",
    far_too_many_barriers: r"Is `range\(1 << 40\)` as long as it should be",
    far_too_long_elsewhere: r"Is `range\(n\)` as long as it should be",
    all_threads_alike: r"Is `range\(1 << 40\)` as long as it should be",
}


@pytest.mark.parametrize("kernel", ENDLESS, ids=lambda k: k.py_func.__name__)
def test_an_endless_loop_does_not_hang_the_compiled_engine(kernel, monkeypatch):
    monkeypatch.setattr("simt.compiled.rounds.MOST_ROUNDS", 1 << 20)
    monkeypatch.setattr("simt.compiled.generation.MOST_ROUNDS", 1 << 20)
    monkeypatch.setattr("simt.compiled.generation.MOST_MEETINGS", 1 << 12)
    monkeypatch.setattr(kernel, "compiled", {})
    block = 16 if kernel is all_threads_alike else 2
    with pytest.raises(TooManyIterations, match=ENDLESS[kernel]) as caught:
        compiled.run(kernel, 2, block, [np.zeros(16)])
    if kernel is not far_too_long_elsewhere:
        loop = next(w for w in ("longest", "while", "for ") if w in inspect.getsource(kernel.py_func))
        assert caught.value.line == line_of(kernel, loop)


def test_a_long_range_may_be_left_early():
    @cuda.jit
    def kernel(x, y):
        t = cuda.threadIdx.x
        for k in range(1 << 40):
            if x[k] > t:
                y[t] = k
                break

    x, y = np.arange(100.0), np.zeros(32)
    compiled.run(kernel, 1, 32, [x, y])
    np.testing.assert_array_equal(y, np.arange(1.0, 33))


# -- which loops may wait ---------------------------------------------------------------------------------------------

LOOPS = {
    "while step > 0:\n    a[i] += a[i + step]\n    step //= 2": (False, "step <= 0"),
    "while a[1] == 0:\n    pass": (True, "a[1] != 0"),
    "while cuda.atomic.add(a, i - 1, 0) < n:\n    pass": (True, "a[6] >= n"),
    "while cuda.atomic.cas(a, 0, 0, 1) != 0:\n    pass": (True, "a[0] == 0"),
    "while not ready(a):\n    pass": (True, "ready(a)"),
    "while True:\n    v = a[i]\n    if v == 2:\n        break": (True, "a[7] == 2"),
    "while True:\n    i += 1\n    if i > n:\n        break": (False, "i > n"),
    "while i < n:\n    i += a[i]": (True, "i >= n"),
    "while i < n:\n    if a[i]:\n        continue\n    i += 1": (True, "i >= n"),
    "while i < a.shape[0]:\n    i += 1": (False, "i >= a.shape[0]"),
    "for k in range(n):\n    a[k] = a[k] + 1": (False, ""),
    "for k in range(n):\n    if a[k]:\n        continue": (False, ""),
    "for k in range(n):\n    if a[0]:\n        break": (True, "a[0]"),
    "while step > 0:\n    step = math.floor(step / 2)": (False, "step <= 0"),
}


@pytest.mark.parametrize("text", LOOPS)
def test_which_loops_may_wait_and_for_what(text, tmp_path, monkeypatch):
    import importlib.util

    file = tmp_path / "loops.py"
    body = textwrap.indent(text, "    ")
    file.write_text(
        f"import math\nfrom simt import cuda\n@cuda.jit(device=True)\ndef ready(a):\n    return a[0]\n"
        f"def f(a, i, n, step):\n{body}\n"
    )
    spec = importlib.util.spec_from_file_location("loops", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = Source(module.f)
    (loop,) = [n for n in ast.walk(source.node) if isinstance(n, ast.While | ast.For)]
    waits, wanted = LOOPS[text]
    assert may_wait(loop, source) == waits
    assert awaited(loop, source, {"i": 7, "k": 3}) == wanted


# -- sleeping, and barriers without a trace ----------------------------------------------------------------------------


@cuda.jit
def chain(state, sums):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(state, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = sums[b - 1]
        sums[b] = before + 1
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)


@pytest.mark.quick
def test_a_chain_of_blocks_takes_as_many_rounds_as_it_has_links():
    """Blocks begin with the last: each waits for one that has not begun. Who spins and sees nothing new sleeps."""
    blocks = 100
    counts = {}
    for order in ("forward", "reverse"):
        sums = np.zeros(blocks, np.int32)
        report = xray(chain, blocks, 32, order=order)(np.zeros(blocks, np.int32), sums)
        assert report.ok
        np.testing.assert_array_equal(sums, np.arange(1, blocks + 1))
        counts[order] = report.total["accesses"]
    assert counts["reverse"] < counts["forward"] + 20 * blocks


@cuda.jit(device=True)
def meet():
    cuda.syncthreads()


@cuda.jit
def by_different_calls(y):
    t = cuda.threadIdx.x
    if t % 2:
        meet()
    else:
        meet()
    y[t] = t


@cuda.jit
def in_different_turns(y):
    t = cuda.threadIdx.x
    for k in range(4):
        if k != 3 * (t % 2):
            cuda.syncthreads()
    y[t] = t


@cuda.jit
def together(y):
    t = cuda.threadIdx.x
    for _ in range(3):
        meet()
        for _ in range(2):
            cuda.syncthreads()
    y[t] = t


@pytest.mark.quick
def test_a_barrier_is_its_calls_and_turns_without_a_trace_too():
    y = np.zeros(32)
    for kernel in (by_different_calls, in_different_turns):
        with pytest.raises(Deadlock, match="different turns of a loop, or by different calls"):
            simt.run(kernel, 1, 32, (y,))
    simt.run(together, 1, 32, (y,))
    np.testing.assert_array_equal(y, np.arange(32))
