"""Atomic operations: no update is lost under contention, and Python code means the same for one thread."""

import numpy as np
import pytest
from numba import get_num_threads, njit, prange
from numba.core.errors import TypingError

from dlkernels.simd import atomic_load, compare_and_swap, fetch_add

pytestmark = pytest.mark.quick


@njit(parallel=True)
def count_all(counter, n, taken):
    for _i in prange(n):
        taken[fetch_add(counter, 0, 1)] += 1


@njit(parallel=True)
def count_with_swap(counter, n):
    for _i in prange(n):
        while True:
            old = atomic_load(counter, 0)
            if compare_and_swap(counter, 0, old, old + 1):
                break


@njit
def one_of_each(array):
    before = fetch_add(array, 2, 5)
    return before, compare_and_swap(array, 2, 0, 9), compare_and_swap(array, 2, 8, 7), atomic_load(array, 2)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_no_number_is_handed_out_twice(dtype):
    n = 300_000
    counter, taken = np.zeros(1, dtype), np.zeros(n, np.int8)
    count_all(counter, n, taken)
    assert counter[0] == n
    assert (taken == 1).all()


def test_no_swap_is_lost():
    counter = np.zeros(1, np.int64)
    count_with_swap(counter, 100_000)
    assert counter[0] == 100_000
    assert get_num_threads() >= 1


def test_each_is_one_instruction():
    """On a busy machine threads may not meet: the tests above would pass by chance."""
    one_of_each(np.zeros(3, np.int64))
    (text,) = one_of_each.inspect_llvm().values()
    for instruction in ("atomicrmw add", "cmpxchg", "load atomic"):
        assert instruction in text


@pytest.mark.parametrize("run", [one_of_each, one_of_each.py_func], ids=["compiled", "Python"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_compiled_and_python_agree(run, dtype):
    array = np.array([1, 2, 3], dtype)
    assert run(array) == (3, False, True, 7)
    assert array.tolist() == [1, 2, 7]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), "int32 or int64"),
        (np.zeros((3, 3), np.int64), "1-D"),
        (np.zeros(6, np.int64)[::2], "C-contiguous"),
        (np.zeros(6, np.int8), "int32 or int64"),
    ],
)
def test_other_arrays_are_refused(array, message):
    with pytest.raises(TypingError, match=message):
        one_of_each(array)


def test_arguments_by_name():
    @njit
    def by_name(array):
        return (
            fetch_add(value=3, i=0, array=array),
            compare_and_swap(array, 0, new=7, expected=3),
            atomic_load(array, i=0),
        )

    assert by_name(np.zeros(1, np.int64)) == (0, True, 7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda array: fetch_add(array, 0, True), "fetch_add expects numbers, not bool"),
        (lambda array: fetch_add(array, 0, 1j), "fetch_add expects numbers, not complex"),
        (lambda array: fetch_add(array, 0.0, 1), "fetch_add expects an integer index"),
        (lambda array: compare_and_swap(array, 0, 0.0, 1), "compare_and_swap expects integers, not float64"),
        (lambda array: compare_and_swap(array, 0, 0, None), "compare_and_swap expects integers, not none"),
    ],
)
def test_other_values_are_refused(call, message):
    with pytest.raises(TypingError, match=message):
        njit(call)(np.zeros(1, np.int64))
