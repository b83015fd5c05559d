"""Which engine runs a launch, and that a notebook can see it."""

import _thread
import re
import signal
import threading

import numpy as np
import pytest

import simt
from dlkernels import device
from simt import compiled, cuda, policy
from simt.compiled.unit import Unit
from simt.errors import EngineFault
from simt.work import DEEPEST, estimate

pytestmark = pytest.mark.quick


@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]


@cuda.jit
def summed(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for k in range(x.shape[1]):
            total += x[i, k]
        y[i] = total


@cuda.jit
def prints(x):
    i = cuda.grid(1)
    for k in range(x.size):
        if k == i == 0:
            print("here")


@cuda.jit
def barrier_for_even_blocks_of_threads(x, flag):
    t = cuda.threadIdx.x
    for _ in range(10_000_000):
        if flag[0] == 0:
            break
    if t < 16:
        if flag[0] == 1:
            cuda.syncthreads()
    x[t] = t


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch):
    monkeypatch.delenv(policy.VARIABLE, raising=False)
    monkeypatch.delenv("DLKERNELS_ORDER", raising=False)
    with cuda.engine():
        yield


def launched(n):
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    double[-(-n // 256), 256](x, y)
    np.testing.assert_array_equal(y, 2 * x)
    return cuda.last_launch()


def test_small_launches_run_in_the_executor_and_large_ones_compiled():
    small, large = launched(1000), launched(3_000_000)
    assert (small.engine, large.engine) == ("executor", "compiled")
    assert "small" in small.why
    assert large.kernel == "double"
    assert simt.last_launch() == large


def test_the_work_counts_loops():
    x = np.ones((64, 100_000), np.float32)
    assert estimate(summed.py_func, (1, 1, 1), (64, 1, 1), [x, None]) > policy.LARGE
    y = np.zeros(64, np.float32)
    summed[1, 64](x, y)
    assert cuda.last_launch().engine == "compiled"
    assert y[0] == 100_000


def test_chosen_by_call_context_and_environment(monkeypatch):
    with cuda.engine("compiled"):
        assert launched(100).engine == "compiled"
        with cuda.engine("executor"):
            assert launched(100).engine == "executor"
        assert launched(100).engine == "compiled"
    assert launched(100).engine == "executor"
    monkeypatch.setenv(policy.VARIABLE, "compiled")
    assert launched(100).engine == "compiled"
    cuda.engine("executor")
    assert launched(100).engine == "executor"
    with pytest.raises(ValueError, match="'executor', 'compiled', 'auto'"):
        cuda.engine("fast")


def test_an_order_or_a_budget_asks_for_the_executor():
    with simt.order("reverse"):
        assert launched(3000).engine == "executor"
        assert "order" in cuda.last_launch().why
    with cuda.engine("compiled"), simt.budget(10):
        assert launched(100).engine == "executor"
    with cuda.engine("compiled"), simt.order("reverse"):
        assert launched(100).engine == "compiled"


def test_what_is_not_taken_runs_in_the_executor_and_says_so_once(capsys, monkeypatch):
    monkeypatch.setattr(policy, "LARGE", 100)
    for _ in range(2):
        prints[1, 32](np.zeros(64))
    out = capsys.readouterr().out
    assert out.count("here") == 2
    assert out.count("prints, line") == 1
    assert "print()" in cuda.last_launch().why
    with cuda.engine("compiled"), pytest.raises(simt.Unsupported, match="print"):
        prints[1, 32](np.zeros(64))


def test_what_cannot_be_followed_runs_in_the_executor_from_the_start(capsys, monkeypatch):
    """Half of the block reaches a branch around a barrier that nobody takes: the executor runs it."""
    monkeypatch.setattr(policy, "LARGE", 100)
    x = np.zeros(32)
    barrier_for_even_blocks_of_threads[1, 32](x, np.zeros(1))
    np.testing.assert_array_equal(x, np.arange(32))
    assert cuda.last_launch().engine == "executor"
    assert "different ways" in capsys.readouterr().out
    with pytest.raises(simt.NotFollowed, match="different ways"):
        compiled.run(barrier_for_even_blocks_of_threads, 1, 32, [x, np.zeros(1)])


def test_errors_are_those_of_the_executor():
    x, y = np.zeros(3_000_000, np.float32), np.zeros(3_000_000, np.float32)

    @cuda.jit
    def no_guard(x, y):
        i = cuda.grid(1)
        y[i] = x[i]

    with pytest.raises(simt.OutOfBounds) as caught:
        no_guard[11719, 256](x, y)
    error = caught.value
    assert error.text == "x[i]"
    assert error.block == (11718, 0, 0)
    assert "index [3000000] lies outside array 'x'" in str(error)


def test_an_atomic_is_checked():
    @cuda.jit
    def histogram(x, h):
        i = cuda.grid(1)
        cuda.atomic.add(h, x[i], 1)

    h = np.zeros(4, np.int32)
    with pytest.raises(simt.OutOfBounds, match=r"index \[4\] lies outside array 'h'"):
        compiled.run(histogram, 1, 64, [np.full(64, 4, np.int32), h])
    assert not h.any()


@cuda.jit
def never_ends(x):
    while x[0] == 0:
        x[1] += 1


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, also where the tests run in the background of a shell, which has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def is_ended_by_control_c(launch):
    """Pressed until it is heard: one that falls into a callback of the garbage collector, and Hypothesis has one, is
    lost. Not again soon: what was heard takes effect when the launch's threads have ended."""
    ended = threading.Event()

    def press():
        seconds = 0.5
        while not ended.wait(seconds):
            _thread.interrupt_main()
            seconds = 30

    pressing = threading.Thread(target=press)
    pressing.start()
    try:
        launch()
    except KeyboardInterrupt:
        return True
    finally:
        ended.set()
        pressing.join()
    return False


def test_control_c_ends_a_kernel_that_never_ends(interruptible, monkeypatch):
    monkeypatch.setattr("simt.compiled.rounds.MOST_WAITING", 1 << 50)  # else it ends by itself
    compiled.run(never_ends, 1, 32, [np.ones(2)])
    x = np.zeros(2)
    timer = threading.Timer(300, x.__setitem__, (0, 1))
    timer.start()
    assert is_ended_by_control_c(lambda: compiled.run(never_ends, 1, 32, [x]))
    timer.cancel()
    assert not x[0]


def test_control_c_ends_loops_in_loops(interruptible, monkeypatch):
    """None of them is long by itself."""
    monkeypatch.setattr("simt.compiled.rounds.MOST_ROUNDS", 1 << 60)

    @cuda.jit
    def kernel(x, n):
        for i in range(n):
            for j in range(n):
                x[(i + j) % 2] += 1

    x, n = np.zeros(2), 1 << 20
    compiled.run(kernel, 1, 1024, [x, 4])
    assert is_ended_by_control_c(lambda: compiled.run(kernel, 1, 1024, [x, n]))


@cuda.jit(device=True)
def sum_of_row(x, i, first, last):
    total = 0.0
    for k in range(first, last):
        total += x[i, k]
    return total


@cuda.jit
def summed_elsewhere(x, y, n):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = sum_of_row(x, i, 0, n)


def test_the_work_counts_what_device_functions_do():
    x, y = np.ones((64, 100_000), np.float32), np.zeros(64, np.float32)
    summed_elsewhere[1, 64](x, y, x.shape[1])
    assert cuda.last_launch().engine == "compiled"
    assert y[0] == 100_000
    arguments = [x, y, np.uint32(10)]
    assert 64 * 10 < estimate(summed_elsewhere.py_func, (1, 1, 1), (64, 1, 1), arguments) < 64 * 20


def test_a_fault_of_the_engine_ends_in_the_executor(capsys, monkeypatch):
    @cuda.jit
    def tripled(x):
        x[cuda.grid(1)] *= 3

    def fails(_):
        raise AttributeError("no such thing")

    monkeypatch.setattr(Unit, "build", fails)
    monkeypatch.setattr(policy, "LARGE", 10)
    x = np.ones(64)
    tripled[2, 32](x)
    assert (x == 3).all()
    told = capsys.readouterr().out
    assert "its compiler failed (AttributeError: no such thing). It runs in the executor" in told
    with cuda.engine("compiled"), pytest.raises(EngineFault) as caught:
        tripled[2, 32](x)
    assert isinstance(caught.value.__cause__, AttributeError)


@cuda.jit(device=True)
def again(x, n):
    return x if n == 0 else again(x, n - 1)


def test_a_function_that_calls_itself_is_followed_a_few_times_only():
    assert estimate(again.py_func, (1, 1, 1), (1, 1, 1), [1.0, 5]) <= DEEPEST + 1


@cuda.jit
def grid_stride(x, y):
    start = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    for i in range(start, len(x), cuda.gridsize(1)):
        y[i] = x[i]


@cuda.jit
def triangular(x, y):
    row, column = cuda.grid(2)
    for k in range(row + 1):
        for _ in range(min(k, 1000)):
            y[row, column] += x[row, k]


def test_the_work_counts_what_the_middle_thread_does():
    x = np.zeros(1 << 20, np.float32)
    assert 2**20 <= estimate(grid_stride.py_func, (8, 1, 1), (128, 1, 1), [x, x]) <= 1.1 * 2**20
    few = estimate(grid_stride.py_func, (8, 1, 1), (128, 1, 1), [x[:10], x])
    assert few == 8 * 128 * 2  # a loop that the middle thread does not enter
    x = np.zeros((256, 16), np.float32)
    steps = sum(1 + 1 + k for row in range(256) for k in range(row + 1)) * 16  # 1 for the store in each of k turns
    assert estimate(triangular.py_func, (16, 1, 1), (16, 16, 1), [x, x]) == pytest.approx(steps, rel=0.3)


def test_the_last_launch_is_told_in_a_sentence():
    assert re.fullmatch(r"double ran compiled for the CPU: large, about [\d,]+ steps\.", str(launched(3_000_000)))
    assert re.fullmatch(
        r"double ran thread by thread in the executor: small, about [\d,]+ steps\.", str(launched(1000))
    )
    if device.name == "executor":
        assert device.last_launch() == str(cuda.last_launch())
