"""Launching: limits of real GPUs, arguments, signatures, wrong kernels, hangs, order, budget, progress,
interruption."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from numba import float32, float64, int32, void

import simt
from simt import Deadlock, KernelError, LaunchError, OutOfBounds, SourceNotFound, TooManyIterations, cuda

pytestmark = pytest.mark.quick

BIG = 48 * 1024 // 4 + 1


@cuda.jit
def fill(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = i


def line_of(kernel, text):
    """Line number of the first line of a kernel that contains ``text``."""
    import inspect

    lines, first = inspect.getsourcelines(kernel.py_func)
    return next(first + k for k, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("grid", "block", "words"),
    [
        (1, 1025, "1025 threads in x; at most 1024"),
        (1, (32, 33), "1056 threads; a block has at most 1024"),
        (1, (1, 1, 65), "65 threads in z; at most 64"),
        (0, 32, "CUDA_ERROR_INVALID_VALUE.*at least one block"),
        (1, 0, "CUDA_ERROR_INVALID_VALUE.*at least one thread"),
        (-1, 32, "CUDA_ERROR_INVALID_VALUE"),
        ((1, 65536), 1, "65536 blocks in y; at most 65535"),
        (2**31, 1, "2147483648 blocks in x"),
    ],
)
def test_limits_of_the_launch(grid, block, words):
    with pytest.raises(LaunchError, match=words):
        fill[grid, block](np.zeros(1))


def test_launch_configuration_is_checked():
    with pytest.raises(ValueError, match="must specify at least the griddim and blockdim"):
        fill[4]
    with pytest.raises(ValueError, match="sequence of 1, 2 or 3 integers"):
        fill[(1, 1, 1, 1), 1]
    with pytest.raises(TypeError, match=r"use // for whole-number division"):
        fill[100 / 32, 32]
    with pytest.raises(ValueError, match="launch configuration was not specified"):
        fill(np.zeros(4))
    x = np.zeros(10)
    fill[np.int64(1), np.int32(10)](x)
    fill.forall(10)(x)
    assert x.tolist() == list(range(10))
    fill.forall(0)(x)


def test_limits_of_shared_memory():
    @cuda.jit
    def static(x):
        s = cuda.shared.array(BIG, float32)
        s[0] = 1

    @cuda.jit
    def together(x):
        s = cuda.shared.array(1024, float32)
        d = cuda.shared.array(0, float32)
        s[0] = d[0] = 1

    with pytest.raises(LaunchError, match="uses too much shared data"):
        static[1, 1](np.zeros(1))
    with pytest.raises(LaunchError, match="at most 49152"):
        fill[1, 1, 0, 49153](np.zeros(1))
    with pytest.raises(LaunchError, match="together a block has at most 49152"):
        together[1, 1, 0, 46 * 1024](np.zeros(1))
    together[1, 1, 0, 44 * 1024](np.zeros(1))


def test_a_grid_barrier_needs_all_blocks_on_the_device():
    @cuda.jit
    def kernel(x):
        g = cuda.cg.this_grid()
        x[cuda.grid(1)] = 1
        g.sync()

    with pytest.raises(LaunchError, match="CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"):
        kernel[17, 1024](np.zeros(17 * 1024))
    kernel[2, 1024](np.zeros(2 * 1024))
    assert kernel.overloads["(float64[:],)"].max_cooperative_grid_blocks(1024) == 16


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((), TypeError, r"kernel fill takes 1 arguments \(x\), 0 came"),
        ((1, 2), TypeError, "2 came"),
        (([1, 2],), TypeError, "'x' is a list.*np.array"),
        (("text",), TypeError, "'x' is a str"),
        ((np.array([None]),), TypeError, "array of object"),
        ((np.array(["a"]),), TypeError, "array of <U1"),
        ((np.zeros((4, 4))[:, ::2],), ValueError, "'x'.*non-contiguous"),
        ((2**70,), OverflowError, "64 bits"),
    ],
)
def test_arguments_are_checked(arguments, kind, words):
    with pytest.raises(kind, match=words):
        fill[1, 1](*arguments)


def test_declared_signatures():
    @cuda.jit("void(float32[:], float32)")
    def one(x, a):
        x[0] = a * float32(3)

    @cuda.jit([void(float32[:], int32), void(float64[::1], int32)])
    def two(x, a):
        x[0] = a

    x = np.zeros(2, np.float32)
    one[1, 1](x, 0.1)
    assert x[0] == np.float32(0.1) * np.float32(3)
    with pytest.raises(TypeError, match=r"No matching definition for argument type\(s\) array\(float64, 1d, C\)"):
        one[1, 1](np.zeros(2), 0.1)
    two[1, 1](x, 3.9)
    assert x[0] == 3
    y = np.zeros(4)
    two[1, 1](y, 2)
    assert y[0] == 2
    with pytest.raises(TypeError, match="No matching definition"):
        two[1, 1](cuda.to_device(y)[::2], 2)
    with pytest.raises(TypeError, match="void return type"):
        cuda.jit("float32(float32[:])")(lambda x: None)
    with pytest.raises(TypeError, match="already jitted"):
        cuda.jit(one)
    with pytest.raises(TypeError, match="does not know the option 'fastmaths'"):
        cuda.jit(fastmaths=True)
    assert cuda.jit(fastmath=True, lineinfo=True, max_registers=32, cache=True)(one.py_func).py_func is one.py_func


def test_out_of_bounds_says_everything():
    @cuda.jit
    def kernel(image):
        x, y = cuda.grid(2)
        image[y, x] += 1

    with pytest.raises(OutOfBounds) as caught:
        kernel[(2, 1), (4, 3)](np.zeros((3, 5)))
    error = caught.value
    assert isinstance(error, IndexError)
    assert (error.thread, error.block, error.kernel) == ((1, 0, 0), (1, 0, 0), "kernel")
    assert error.line == line_of(kernel, "image[y, x] += 1")
    assert error.file == __file__
    assert "index [0, 5] lies outside array 'image' of shape (3, 5) in axis 1" in str(error)


@pytest.mark.parametrize("space", ["global", "shared", "local"])
def test_negative_indices_are_errors_in_every_space(space):
    @cuda.jit
    def kernel(x, which):
        s = cuda.shared.array(4, float32)
        m = cuda.local.array(4, float32)
        i = cuda.threadIdx.x - 1
        if which == 0:
            x[i] = 1
        elif which == 1:
            s[i] = 1
        else:
            m[i,] = 1

    with pytest.raises(OutOfBounds, match=r"index \[-1\] of array '[xsm]' is negative"):
        kernel[1, 4](np.zeros(4, np.float32), ["global", "shared", "local"].index(space))


def test_a_wrong_kernel_changes_no_host_array():
    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = 1

    x = np.zeros(4)
    with pytest.raises(OutOfBounds):
        kernel[1, 5](x)
    assert x.tolist() == [0] * 4


def test_an_exception_of_the_kernel():
    @cuda.jit
    def kernel(x):
        if cuda.grid(1) == 5:
            raise ValueError("five is right out")
        assert x[0] < 10, "too large"

    with pytest.raises(KernelError, match=r"line \d+, thread 1 of block 1: ValueError: five is right out"):
        kernel[2, 4](np.zeros(1))
    with pytest.raises(KernelError, match="AssertionError: too large"):
        kernel[1, 1](np.full(1, 11.0))


def test_an_unassigned_variable():
    @cuda.jit
    def kernel(x):
        if x[0] > 0:
            value = 1
        x[0] = value

    with pytest.raises(KernelError, match="`value` is read before it is set") as caught:
        kernel[1, 1](np.zeros(1))
    assert caught.value.line == line_of(kernel, "x[0] = value")


def test_divergent_barriers_say_who_waits_where():
    @cuda.jit
    def kernel(x):
        if cuda.threadIdx.x < 3:
            cuda.syncthreads()
        else:
            cuda.syncthreads()  # another one
        x[0] = 1

    with pytest.raises(Deadlock) as caught:
        kernel[1, 8](np.zeros(1))
    first = line_of(kernel, "cuda.syncthreads()")
    message = str(caught.value)
    assert re.search(rf"line {first}: cuda.syncthreads\(\) - 3 threads: 0, 1, 2", message)
    assert re.search(rf"line {first + 2}: cuda.syncthreads\(\) - 5 threads: 3, 4, 5", message)


def test_a_barrier_that_some_threads_never_reach():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i >= x.size:
            return
        cuda.syncthreads()
        x[i] = 1

    with pytest.raises(
        Deadlock, match=r"48 of 64 threads of block .* wait at this barrier, the others have ended without it"
    ):
        kernel[1, 64](np.zeros(48))


def test_a_warp_operation_with_missing_lanes():
    @cuda.jit
    def kernel(x):
        lane = cuda.threadIdx.x
        if lane < 16:
            x[lane] = cuda.shfl_sync(0xFFFFFFFF, lane, 0)
        else:
            cuda.syncthreads()

    with pytest.raises(Deadlock, match=r"with mask 0xffffffff - 16 threads") as caught:
        kernel[1, 32](np.zeros(32))
    assert "cuda.syncthreads() - 16 threads" in str(caught.value)


def test_a_lane_outside_its_own_mask():
    @cuda.jit
    def kernel(x):
        x[0] = cuda.shfl_sync(0x1, 1, 0)

    with pytest.raises(KernelError, match="lane 1, which is not in its mask 0x00000001"):
        kernel[1, 2](np.zeros(2))


def test_a_grid_barrier_that_some_blocks_never_reach():
    @cuda.jit
    def kernel(x):
        if cuda.blockIdx.x == 0:
            cuda.cg.this_grid().sync()

    with pytest.raises(Deadlock, match="1 of 2 blocks wait at the grid barrier"):
        kernel[2, 2](np.zeros(2))


def test_a_grid_barrier_that_some_threads_never_reach():
    @cuda.jit
    def kernel(x):
        if cuda.grid(1) < x.size:
            cuda.cg.this_grid().sync()
            x[cuda.grid(1)] = 1

    with pytest.raises(Deadlock, match=r"2 of 4 threads of block .* wait at the grid barrier"):
        kernel[2, 4](np.zeros(6))
    x = np.zeros(6)
    trace = simt.run(kernel, 2, 4, [x], trace=simt.Trace())
    assert [f.kind for f in trace.findings] == ["barrier-after-exit"]
    assert x.tolist() == [1] * 6  # as most GPUs would do


def test_a_shuffle_from_a_lane_that_is_not_there_gives_poison():
    @cuda.jit
    def kernel(x):
        lane = cuda.threadIdx.x
        x[lane] = cuda.shfl_down_sync(0xFFFFFFFF, float32(lane), 1)

    x = np.zeros(16)
    kernel[1, 16](x)
    assert x[:15].tolist() == list(range(1, 16))
    assert np.isnan(x[15])


def test_a_loop_without_end_meets_the_budget():
    @cuda.jit
    def kernel(x):
        i = 0
        while i < x.size:
            x[0] += 1

    told = "gone round 1,00[01] times. Nothing inside the loop changes `i`"
    with simt.budget(1000), pytest.raises(TooManyIterations, match=told) as caught:
        kernel[1, 1](np.zeros(4))
    assert caught.value.line == line_of(kernel, "while")
    with pytest.raises(TooManyIterations, match=told):
        simt.run(kernel, 1, 1, [np.zeros(4)], trace=simt.Trace(), budget=1000)

    @cuda.jit
    def in_step(x):
        while x[0] >= 0:
            cuda.syncthreads()
            for k in range(9):
                x[cuda.threadIdx.x] += k

    with pytest.raises(TooManyIterations, match="all loops of all threads") as caught:
        simt.run(in_step, 1, 8, [np.zeros(8)], trace=simt.Trace(), budget=(10**6, 1000))
    assert caught.value.line == line_of(in_step, "while")  # which went round oftener than the loop within
    with simt.budget(10**6, altogether=1000), pytest.raises(TooManyIterations):
        in_step[1, 8](np.zeros(8))

    @cuda.jit
    def ends(x):
        for _ in range(900):
            x[0] += 1

    with simt.budget(1000):
        fill[1, 4](np.zeros(4))
        ends[1, 2](np.zeros(4))


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_control_c_stops_a_kernel(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(
        textwrap.dedent("""
        import signal

        import numpy as np
        from simt import cuda

        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

        @cuda.jit
        def kernel(x):
            cuda.syncthreads()
            while x[0] == 0:
                x[1] += 1

        try:
            print("started", flush=True)
            kernel[4, 32](np.zeros(2))
        except KeyboardInterrupt:
            print("stopped")
        """)
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=120)[0] == "stopped\n"
        finally:
            process.kill()


@cuda.jit
def racy_reduction(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        step //= 2  # the barrier is missing
    if t == 0:
        out[0] = s[0]


@cuda.jit
def right_reduction(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


ORDERS = ["forward", "reverse", "shuffled", "shuffled:1", "shuffled:2"]


def results(kernel, blocks):
    found = []
    for name in ORDERS:
        out = np.zeros(1, np.float32)
        with simt.order(name):
            kernel[blocks, 64](np.arange(64 * blocks, dtype=np.float32), out)
        found.append(float(out[0]))
    return found


def test_a_correct_kernel_gives_the_same_in_every_order():
    assert results(right_reduction, 4) == [32640.0] * len(ORDERS)


def test_a_racy_kernel_differs_by_order():
    """In reverse order this one happens to be right: one order alone proves nothing."""
    found = results(racy_reduction, 1)
    assert found[0] != 2016
    assert found[1] == 2016
    assert len(set(found)) >= 3
    assert found == results(racy_reduction, 1)  # the same seed, the same result


def test_order_by_argument_and_environment(monkeypatch):
    seen = []

    @cuda.jit
    def kernel(order, count):
        i = cuda.grid(1)
        order[cuda.atomic.add(count, 0, 1)] = i

    def run(**options):
        order = np.zeros(4, np.int32)
        simt.run(kernel, 2, 2, [order, np.zeros(1, np.int32)], **options)
        seen.append(order.tolist())

    run()
    run(order="reverse")
    monkeypatch.setenv("DLKERNELS_ORDER", "reverse")
    run()
    with simt.order("forward"):
        run()
    assert seen == [[0, 1, 2, 3], [3, 2, 1, 0], [3, 2, 1, 0], [0, 1, 2, 3]]
    with pytest.raises(ValueError, match="expected"):
        run(order="backward")


def test_progress_on_a_long_launch(monkeypatch, capsys):
    from simt import progress

    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(progress, "_wanted", lambda: True)
    fill[3, 4](np.zeros(12))
    shown = capsys.readouterr().err
    assert "fill: 1 of 3 blocks done, about 6 s left" in shown
    assert shown.endswith("\r")
    monkeypatch.undo()
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    assert progress._wanted()
    with progress.hidden():
        assert not progress._wanted()
    assert progress._wanted()
    monkeypatch.setenv(progress.VARIABLE, "1")
    assert not progress._wanted()


def test_what_one_thread_hides_the_others_say(monkeypatch):
    """Two that leave in another order than they came, as two checks at once may."""
    from simt import progress

    monkeypatch.delenv(progress.VARIABLE, raising=False)
    inside, leave = threading.Barrier(2), threading.Event()

    def check():
        with progress.hidden():
            inside.wait()
            leave.wait()

    with progress.hidden():
        thread = threading.Thread(target=check)
        thread.start()
        inside.wait()
        assert progress.quiet()
    assert not progress.quiet()
    leave.set()
    thread.join()
    assert not progress.quiet()


def test_progress_is_quiet_where_nobody_looks():
    code = "import sys; from simt import progress; print(progress._wanted())"
    environment = {k: v for k, v in os.environ.items() if k != "DLKERNELS_QUIET"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "False"


def test_a_kernel_without_source_says_so():
    namespace = {"cuda": cuda}
    exec("@cuda.jit\ndef kernel(x):\n    x[0] = 1\n", namespace)
    with pytest.raises(SourceNotFound, match="define it in a file or a notebook cell"):
        namespace["kernel"][1, 1](np.zeros(1))


def test_a_kernel_in_a_notebook_cell(tmp_path):
    script = tmp_path / "cell.py"
    script.write_text(
        textwrap.dedent('''
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("import numpy as np\\nfrom simt import cuda", store_history=True)
        cell = """
        SCALE = 3
        @cuda.jit
        def kernel(x):
            i = cuda.grid(1)
            x[i] = SCALE * i
        x = np.zeros(3)
        kernel[1, 3](x)
        print(x.tolist())
        kernel[1, 4](x)
        """
        import textwrap
        result = shell.run_cell(textwrap.dedent(cell), store_history=True)
        error = result.error_in_exec
        print(type(error).__name__, error.line)
        ''')
    )
    pytest.importorskip("IPython")
    environment = {**os.environ, "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert "[0.0, 3.0, 6.0]" in done.stdout, done.stderr[-2000:]
    assert "OutOfBounds 5" in done.stdout


def test_globals_are_frozen_at_the_first_launch():
    """As numba does."""
    namespace_value = [2]

    def make(scale):
        @cuda.jit
        def kernel(x):
            x[0] = scale

        return kernel

    x = np.zeros(1)
    make(namespace_value[0])[1, 1](x)
    assert x[0] == 2
    global BIG
    before = BIG

    @cuda.jit
    def reads(x):
        x[0] = BIG

    reads[1, 1](x)
    BIG = 1
    reads[1, 1](x)
    BIG = before
    assert x[0] == before


def test_the_authors_module_is_not_touched():
    names = set(globals())
    code = fill.py_func.__code__
    fill[1, 4](np.zeros(4))
    assert set(globals()) == names
    assert fill.py_func.__code__ is code
    assert fill.__name__ == "fill"


@pytest.mark.parametrize("engine", ["executor", "compiled"])
def test_a_kernel_called_from_a_kernel_is_a_function(engine):
    @cuda.jit
    def outer(x):
        fill(x)
        x[cuda.grid(1)] += 1

    x, y = np.zeros(4), np.zeros(4)
    with cuda.engine(engine):
        fill[1, 4](x)
        outer[1, 4](y)
    np.testing.assert_array_equal(y, x + 1)


def test_a_barrier_without_parentheses_is_told():
    @cuda.jit
    def kernel(x):
        cuda.syncthreads  # noqa: B018
        x[0] = 1

    with pytest.raises(
        KernelError, match=r"cuda.syncthreads without parentheses does nothing: write cuda.syncthreads\(\)"
    ):
        kernel[1, 1](np.zeros(1))


def test_a_device_function_cannot_be_launched():
    @cuda.jit(device=True)
    def helper(x):
        return x

    with pytest.raises(RuntimeError, match="only a kernel can be launched"):
        helper[1, 1]


def test_too_few_arguments_of_a_device_function():
    @cuda.jit(device=True)
    def helper(x, y):
        return x + y

    @cuda.jit
    def kernel(x):
        x[0] = helper(x[0])

    with pytest.raises(KernelError, match="missing a required argument: 'y'"):
        kernel[1, 1](np.zeros(1))
