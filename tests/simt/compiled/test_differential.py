"""Random kernels: first that they are valid, then that the compiled engine computes what the executor computes.

    DLKERNELS_SEED=5000 pytest tests/simt/compiled/test_differential.py     other kernels than the ones tested every day

A failure prints the kernel made small, with its launch. Integers and floats must be the same to the bit: both engines
do the same operations, each rounded once. Only what goes through exp, sin and the like has a tolerance, since NumPy's
and LLVM's libraries differ in the last bits there.
"""

import os

import generator
import pytest
from generator_case import differences
from generator_peers import FLAT, PLAIN, compiled_alone, simulated
from generator_shrink import ORDERS, in_executor, is_valid, shrink

from simt import Unsupported, compiled
from simt.errors import EngineFault

pytestmark = pytest.mark.rotates

FIRST = int(os.environ.get("DLKERNELS_SEED", 0))
CHUNK = 10
#: how a kernel is run: (indices checked, order of threads)
WAYS = ((True, "forward"), (False, "forward"), (True, "reverse"), (False, "reverse"))
#: of ten kernels, at most so many may be refused
MOST_REFUSED = 3


def chunks(count, start=0):
    return range(FIRST + start, FIRST + start + count, CHUNK)


def chunks_and_more(count, more):
    """Chunks of so many kernels, and of ``more`` that the nightly run adds."""
    return [*chunks(count), *(pytest.param(k, marks=pytest.mark.slow) for k in chunks(more, start=count))]


def size(seed):
    """Statements, about: most kernels are small, so that many can be compiled in a minute."""
    return (3, 4, 6, 9)[seed % 4]


# -- the generator -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", chunks_and_more(30, 1000))
def test_kernels_are_valid(first):
    """No finding of the x-ray, and one result in every order of threads."""
    for seed in range(first, first + CHUNK):
        case = generator.kernel(seed)
        forward = in_executor(case)
        for order in ORDERS:
            assert not differences(forward, in_executor(case, order), case.rough), f"{order}:\n{case}"
        assert is_valid(case), str(case)


def test_kernels_are_the_same_for_the_same_seed():
    for seed in range(FIRST, FIRST + 5):
        a, b = generator.kernel(seed), generator.kernel(seed)
        assert a.source == b.source
        assert not differences(in_executor(a), in_executor(b))
    assert generator.kernel(FIRST).source != generator.kernel(FIRST + 1).source


@pytest.mark.skipif("DLKERNELS_SEED" in os.environ, reason="the numbers are for the usual seeds")
def test_kernels_have_everything_that_kernels_have():
    """Each construct is found in at least so many of 300 kernels."""
    sources = [generator.kernel(seed).source for seed in range(FIRST, FIRST + 300)]
    least = {
        "syncthreads()": 100, "shared.array(0": 10, "shared.array": 80, "local.array": 60, "shfl_sync": 20,
        "shfl_up_sync": 10, "shfl_down_sync": 10, "shfl_xor_sync": 10, "ballot_sync": 5, "match_any_sync": 5,
        "atomic.add": 15, "atomic.max": 10, "atomic.cas": 3, "syncthreads_count": 5, "return\n": 15, "break": 30,
        "continue": 10, "while ": 60, "range(counts[": 20, "device=True": 100, "threadIdx.z": 60, "float32": 100,
        "math.sqrt": 20, "math.exp(": 5, "cuda.fma": 10, "elif": 40, "def make(K)": 30, "STEPS:": 3, "syncwarp": 2,
        " in (": 10, "not in (": 5, " xl[(": 20,
    }  # fmt: skip
    found = {text: sum(text in source for source in sources) for text in least}
    assert {t: n for t, n in found.items() if n < least[t]} == {}


@pytest.mark.parametrize(("first", "count"), [(0, 6), pytest.param(100, 100, marks=pytest.mark.slow)])
def test_executor_agrees_with_numbas_simulator(first, count):
    seeds = range(FIRST + first, FIRST + first + count)
    for seed, arrays in zip(seeds, simulated(seeds), strict=True):
        case = generator.kernel(seed, PLAIN, plain=True)
        assert not differences(in_executor(case), arrays, case.rough), str(case)


@pytest.mark.parametrize(("first", "count"), [(0, 6), pytest.param(100, 200, marks=pytest.mark.slow)])
def test_executor_agrees_with_numbas_compiler_thread_by_thread(first, count):
    """On kernels whose threads never meet, numba compiles what one thread does, and we call it for each."""
    compared = 0
    for seed in range(FIRST + first, FIRST + first + count):
        case = generator.kernel(seed, FLAT, size=size(seed))
        arrays = compiled_alone(case)
        if arrays is not None:
            compared += 1
            assert not differences(in_executor(case), arrays, case.rough), str(case)
    assert compared >= count // 4


def test_a_wrong_kernel_is_not_valid_and_a_failure_is_made_small():
    case = generator.kernel(2)
    racy = case.with_source(case.source.rstrip() + "\n    oi[0, 0] = g\n")
    assert is_valid(case)
    assert not is_valid(racy)

    def stores_to_oi(candidate):
        return "oi[g" in candidate.source

    small = shrink(case, stores_to_oi, most=150)
    assert is_valid(small)
    assert stores_to_oi(small)
    assert len(small.source) < len(case.source) / 4


# -- the compiled engine -----------------------------------------------------------------------------------------------


def in_compiled(case, checked=True, order="forward"):
    """The arrays after a run in the compiled engine."""
    return case.run(
        lambda kernel, grid, block, args, shared: compiled.run(kernel, grid, block, args, shared, checked, order=order)
    )


def compare(seeds, ways):
    """Run kernels in both engines; the number refused. A difference or an error fails, with the kernel made small."""
    refused = 0
    for seed in seeds:
        case = generator.kernel(seed, size=size(seed))
        expected = in_executor(case)
        for checked, order in ways(seed):

            def wrong(candidate, checked=checked, order=order):
                return bool(
                    differences(in_executor(candidate), in_compiled(candidate, checked, order), candidate.rough)
                )

            try:
                found = differences(expected, in_compiled(case, checked, order), case.rough)
            except Unsupported as error:
                if isinstance(error, EngineFault):
                    pytest.fail(f"{error.__cause__!r}\n{case}")
                refused += 1
                break
            except Exception as error:
                pytest.fail(f"{type(error).__name__}: {error}\n{case}")
            if found:
                small = shrink(case, wrong, most=60)
                pytest.fail(
                    f"{', '.join(found)} differ (checked={checked}, order={order}), made small:\n{small}\n\nfrom\n"
                    f"{case}"
                )
    return refused


@pytest.mark.parametrize("first", chunks_and_more(10, 190))  # a kernel takes a second or two to compile
def test_compiled_engine_equals_executor(first, record_property):
    refused = compare(range(first, first + CHUNK), lambda seed: [WAYS[seed % len(WAYS)]])
    record_property("refused", refused)  # for --junitxml
    assert refused <= MOST_REFUSED


@pytest.mark.slow
@pytest.mark.parametrize("first", chunks(2000, start=10_000))
def test_compiled_engine_equals_executor_in_both_orders(first, record_property):
    """Each kernel forward and reverse, once with its indices checked and once not."""
    pairs = (WAYS[0], WAYS[3]), (WAYS[1], WAYS[2])
    refused = compare(range(first, first + CHUNK), lambda seed: pairs[seed % 2])
    record_property("refused", refused)
    assert refused <= MOST_REFUSED
