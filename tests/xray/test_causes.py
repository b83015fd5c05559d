"""What is said first, and which cure: memory that nobody wrote, arrays that overlap, consequences behind their
causes."""

import inspect

import numpy as np
import pytest
from numba import float32, int32

from dlkernels.wide import store4
from simt import cuda
from simt.xray import xray

pytestmark = pytest.mark.quick


@cuda.jit
def copy_some(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = x[i]


def kinds(report):
    return [f.kind for f in report.findings]


def test_a_device_array_that_nobody_wrote_is_seen_where_it_is_read():
    x, y = cuda.device_array(32, np.float32), cuda.device_array(32, np.float32)
    report = xray(copy_some, 1, 32)(x, y, 32)
    assert kinds(report) == ["uninitialised-global"]
    assert "thread 0 of block 0 reads x[0] before the host or any thread stored to it" in report.findings[0].message
    assert report.findings[0].count == 32
    assert xray(copy_some, 1, 32)(y, x, 32).ok  # the launch has written y


@pytest.mark.parametrize("write", ["copy", "set", "view", "launch"])
def test_whoever_writes_it_makes_it_fine(write):
    x, y = cuda.device_array(32, np.float32), cuda.to_device(np.zeros(32, np.float32))
    if write == "copy":
        x.copy_to_device(np.ones(32, np.float32))
    elif write == "set":
        x[:] = 1
    elif write == "view":
        x.reshape(4, 8)[:2] = 1
        x[16:].copy_to_device(np.ones(16, np.float32))
    else:
        copy_some[1, 32](y, x, 32)
    assert xray(copy_some, 1, 32)(x, y, 32).ok


def test_a_part_that_the_host_wrote_is_not_the_whole():
    x = cuda.device_array((4, 8), np.float32)
    x[1:] = 0
    report = xray(copy_some, 1, 32)(x.reshape(32), np.zeros(32, np.float32), 32)
    assert kinds(report) == ["uninitialised-global"]
    assert report.findings[0].count == 8


def test_outputs_that_stay_unwritten_are_counted():
    x, y = np.ones(32, np.float32), cuda.device_array(32, np.float32)
    report = xray(copy_some, 1, 32)(x, y, 20)
    assert report.ok
    assert report.unwritten == [("y", 12, 32)]
    assert "12 of 32 elements of y are still unwritten" in str(report)
    assert xray(copy_some, 1, 32)(x, y, 32).unwritten == []


def test_what_a_vector_store_writes_is_written():
    @cuda.jit
    def kernel(y):
        t = cuda.threadIdx.x
        v = float32(t)
        store4(y, 4 * t, (v, v, v, v))

    assert xray(kernel, 1, 32)(cuda.device_array(128, np.float32)).unwritten == []
    assert xray(kernel, 1, 30)(cuda.device_array(128, np.float32)).unwritten == [("y", 8, 128)]


def test_an_element_of_which_bytes_are_missing_is_unwritten():
    @cuda.jit
    def kernel(y):
        t = cuda.threadIdx.x
        y.view(np.int32)[2 * t] = t
        if t < 10:
            y.view(np.int32)[2 * t + 1] = t

    assert xray(kernel, 1, 32)(cuda.device_array(32, np.int64)).unwritten == [("y", 22, 32)]


def test_a_thread_that_stores_first_may_read_what_it_stored():
    @cuda.jit
    def kernel(y):
        i = cuda.grid(1)
        y[i] = i
        y[i] += 1

    @cuda.jit
    def too_early(y):
        y[cuda.grid(1)] += 1

    assert xray(kernel, 1, 32)(cuda.device_array(32)).ok
    assert kinds(xray(too_early, 1, 32)(cuda.device_array(32))) == ["uninitialised-global"]


def test_arguments_that_overlap_are_named():
    @cuda.jit
    def blur(x, y):
        i = cuda.grid(1)
        if 0 < i < x.size - 1:
            y[i] = (x[i - 1] + x[i + 1]) / 2

    d = cuda.to_device(np.ones(64, np.float32))
    (finding,) = xray(blur, 2, 32)(d, d).findings[:1]
    assert finding.kind == "race"
    assert "lie in the same memory" in finding.message
    assert {"`x`", "`y`"} <= set(finding.message.split())
    assert "do not overlap" in finding.cure


def test_dynamic_memory_asked_for_twice_is_one_array():
    @cuda.jit
    def kernel(x, y):
        a, b = cuda.shared.array(0, float32), cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        a[t] = x[t]
        b[31 - t] = t
        cuda.syncthreads()
        y[t] = a[t] + b[t]

    report = xray(kernel, 1, 32, 256)(np.ones(32, np.float32), np.zeros(32, np.float32))
    race = next(f for f in report.findings if f.kind == "race")
    assert "cut one array into parts by slices" in race.cure


@pytest.mark.parametrize("engine", ["executor", "compiled"])
def test_parts_cut_out_of_dynamic_memory_at_once_have_their_names(engine):
    @cuda.jit
    def kernel(y):
        a = cuda.shared.array(0, float32)[:32]
        b = cuda.shared.array(0, float32)[32:64]
        t = cuda.threadIdx.x
        a[t], b[t] = t, 2 * t
        cuda.syncthreads()
        y[t] = a[31 - t] + b[31 - t]

    report = xray(kernel, 1, 32, 256, engine=engine)(np.zeros(32, np.float32))
    assert {e.array for e in report.expressions} == {"a", "b", "y"}
    report.require(array="b", bank_ways=1)


def test_too_little_dynamic_memory_is_asked_for_at_the_launch():
    @cuda.jit
    def kernel(y):
        s = cuda.shared.array(0, float32)
        t = cuda.threadIdx.x
        s[t] = t
        y[t] = s[t]

    report = xray(kernel, 1, 32, 64)(np.zeros(32, np.float32))
    assert kinds(report)[0] == "out-of-bounds"
    assert "gives 64 bytes of dynamic shared memory" in report.findings[0].cure


def test_a_race_before_a_barrier_that_some_miss_comes_first():
    @cuda.jit
    def kernel(x, y):
        s = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        s[0] = t
        if s[0] != t:
            return
        cuda.syncthreads()
        y[t] = 1

    report = xray(kernel, 1, 64, order="reverse")(np.zeros(64), np.zeros(64))
    assert "race" in kinds(report)
    found = kinds(xray(kernel, 1, 64)(np.zeros(64), np.zeros(64)))
    assert found[0] == "race"

    @cuda.jit
    def the_other_way_round(y):
        s = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        s[t] = t
        if t < 60:
            cuda.syncthreads()
        else:
            return
        y[t] = s[(t + 1) % 60]
        s[t] = 1

    assert kinds(xray(the_other_way_round, 1, 64)(np.zeros(64)))[:2] == ["barrier-after-exit", "race"]


def test_an_uninitialised_local_array_names_its_thread():
    @cuda.jit
    def kernel(y):
        acc = cuda.local.array(4, float32)
        y[cuda.threadIdx.x] = acc[2]

    (finding,) = xray(kernel, 1, 4)(np.zeros(4)).findings
    assert "thread 0 of block 0 reads acc[2] before it stored there" in finding.message


def test_a_race_whose_array_no_test_reads_did_not_part_the_threads():
    from simt.source.deciding import deciding

    def by_value(x, out):
        i = cuda.threadIdx.x
        s = cuda.shared.array(32, float32)
        s[i] = x[i]
        while s[0] > i:
            cuda.syncthreads()

    def by_place(x, out):
        i = cuda.threadIdx.x
        s = cuda.shared.array(32, float32)
        s[i] = x[i]
        total = s[31 - i]
        if i < out.shape[0]:
            cuda.syncthreads()
            out[i] = total

    def by_index(x, out):
        s = cuda.shared.array(32, int32)
        s[x[cuda.threadIdx.x]] = 1
        if s[0] == 1:
            cuda.syncthreads()

    def by_atomic(x, out):
        s = cuda.shared.array(1, int32)
        cuda.atomic.add(s, 0, x[cuda.threadIdx.x])
        if s[0] == 1:
            cuda.syncthreads()

    assert "x" in deciding(by_index)
    assert "x" in deciding(by_atomic)
    assert {"s", "x", "i"} <= deciding(by_value)
    assert "i" in deciding(by_place)
    assert not {"s", "x", "out", "total"} & deciding(by_place)


# -- a barrier that some threads do not come to: what they did instead -----------------------------------------------


@cuda.jit(device=True)
def leaves_early(x, t):
    if t >= 32:
        return float32(0)
    cuda.syncthreads()
    return x[t]


@cuda.jit(device=True)
def meets(x, t):
    cuda.syncthreads()
    return x[t]


def returns(x):
    t = cuda.threadIdx.x
    if t >= 32:
        return  # HERE
    cuda.syncthreads()


def returns_in_a_loop(x):
    t = cuda.threadIdx.x
    for k in range(4):
        cuda.syncthreads()
        if t < k:
            return  # HERE


def returns_before_a_call(x):
    t = cuda.threadIdx.x
    if t >= 32:
        return  # HERE
    x[t] = meets(x, t)


def skips_a_branch(x):
    t = cuda.threadIdx.x
    if t < 32:  # HERE
        cuda.syncthreads()


def skips_a_branch_of_two(x):
    t = cuda.threadIdx.x
    if x.shape[0] > 3:
        if t < 32:  # HERE
            for _ in range(4):
                cuda.syncthreads()


def skips_and_returns_behind(x):
    t = cuda.threadIdx.x
    if x.shape[0] < 3:
        return
    if t < 32:  # HERE
        cuda.syncthreads()
    if t > 40:
        return
    x[t] = 1


def skips_a_call(x):
    t = cuda.threadIdx.x
    if t < 32:  # HERE
        x[t] = meets(x, t)


def returns_in_a_helper(x):
    t = cuda.threadIdx.x
    x[t] = leaves_early(x, t)


def goes_round_less(x):
    t = cuda.threadIdx.x
    for _ in range(t // 32):  # HERE
        cuda.syncthreads()


def goes_round_less_while(x):
    k = cuda.threadIdx.x
    while k < 64:  # HERE
        cuda.syncthreads()
        k += 32


def breaks(x):
    t = cuda.threadIdx.x
    for k in range(4):  # HERE
        if t < k:
            break
        if x.shape[0] > 3:
            cuda.syncthreads()


def goes_on_without(x):
    t = cuda.threadIdx.x
    for k in range(4):  # HERE
        if t < k:
            continue
        cuda.syncthreads()


def goes_round_less_and_meets_another(x):
    t = cuda.threadIdx.x
    for _ in range(t // 32):  # HERE
        cuda.syncthreads()
    cuda.syncthreads()


RETURNED, BRANCH, TURNS = (
    "Do not return before a barrier, as line {} does",
    "out of the branch on line {}",
    "loop on line {} equally",
)
MISSED = [
    (returns, RETURNED), (returns_in_a_loop, RETURNED), (returns_before_a_call, RETURNED),
    (skips_a_branch, "Move the barrier " + BRANCH), (skips_a_branch_of_two, "Move the barrier " + BRANCH),
    (skips_and_returns_behind, "Move the barrier " + BRANCH), (skips_a_call, "Move the call of meets, which holds the barrier, " + BRANCH),
    (goes_round_less, TURNS), (goes_round_less_while, TURNS), (breaks, TURNS), (goes_on_without, TURNS),
    (goes_round_less_and_meets_another, TURNS),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "says"), MISSED, ids=lambda p: getattr(p, "__name__", None))
def test_a_barrier_that_some_miss_is_told_by_what_they_did(kernel, says):
    source, first = inspect.getsourcelines(kernel)
    line = next(first + k for k, text in enumerate(source) if "# HERE" in text)
    found = xray(cuda.jit(kernel), 1, 64)(np.zeros(64, np.float32)).findings[0]
    assert found.kind == ("divergent-barrier" if "another" in kernel.__name__ else "barrier-after-exit")
    assert says.format(line) in found.cure
    assert ("return" in found.cure) == (says == RETURNED)  # of nothing that is not there


def test_a_barrier_behind_the_return_of_a_helper_names_the_helper():
    found = xray(cuda.jit(returns_in_a_helper), 1, 64)(np.zeros(64, np.float32)).findings[0]
    source, first = inspect.getsourcelines(leaves_early.py_func)
    line = next(first + k for k, text in enumerate(source) if "return float32" in text)
    assert f"Do not return from leaves_early before its barrier, as line {line} does" in found.cure
