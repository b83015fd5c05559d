"""What np.empty makes is not zero by chance: not in the student's check, and not in the grader, which runs the same
code."""

import platform
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit, prange

from coursework import checking, definition, limited, unset
from coursework.answer import Local
from coursework.definition import Case
from coursework.kinds.compiled import CompiledTask

TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.complex64, np.bool_]


@pytest.mark.quick
@pytest.mark.parametrize("dtype", TYPES)
def test_junk_is_no_number_that_anybody_takes_for_a_result(dtype):
    junk = unset.junk(dtype)
    assert junk.dtype == dtype
    assert dtype is np.bool_ or not -200 < junk.real < 200
    assert junk


@njit
def made(x):
    whole, like = np.empty((2, 3), np.int32), np.empty_like(x)
    flags = np.empty(3, dtype=np.bool_)
    like[0] = x[0]
    return whole, like, flags


@njit(parallel=True)
def helped(x):
    whole, like, flags = made(x)
    for i in prange(1):
        whole[0, i] = 5
    return whole, like, flags


@pytest.mark.parametrize("function", [made, helped])
@pytest.mark.parametrize("run", [limited.compiled, limited.interpreted])
def test_compiled_functions_get_junk(function, run):
    whole, like, flags = run(function)(np.ones(3))
    assert whole[1:].tolist() == [[unset.junk(np.int32)] * 3]
    assert like.tolist() == [1, unset.junk(float), unset.junk(float)]
    assert flags.all()


empty_by_another_name = np.empty


def test_it_is_known_by_any_name():
    @njit
    def made(n):
        return empty_by_another_name(n)

    assert limited.compiled(made)(3).tolist() == [unset.junk(float)] * 3


def test_zeros_stay_zeros_and_the_function_itself_is_not_touched():
    @njit
    def made(n):
        return np.zeros(n), np.ones(n), np.empty(n)

    zeros, ones, _ = limited.compiled(made)(4)
    assert (zeros.tolist(), ones.tolist()) == ([0.0] * 4, [1.0] * 4)
    assert unset.FILLED not in made.py_func.__code__.co_names


@given(st.integers(1, 400), st.sampled_from([np.float64, np.float32, np.int32]))
def test_plain_python_does_not_get_zeros(n, dtype):
    old = [np.zeros(n, dtype) for _ in range(20)]
    old.clear()  # what is free now holds zeros

    def answer(n):
        return np.empty(n, dtype), np.zeros(n, dtype)

    (got, zeros), _ = Local(answer).call((n,))
    assert not zeros.any()
    # glibc keeps blocks of about 1 KB itself, and writes their first 16 bytes
    assert np.count_nonzero(got[16 // got.itemsize :]) == max(0, n - 16 // got.itemsize)


@pytest.mark.quick
@pytest.mark.parametrize("n", [10_000, 1_000_000])
@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc can be asked for the contents of large blocks"
)
def test_nor_do_large_arrays(n):
    result, _ = Local(lambda n: np.empty(n)).call((n,))
    assert (result == unset.junk(float)).all()


@pytest.mark.quick
def test_after_the_call_memory_is_as_it_was():
    Local(lambda: None).call(())
    recent = deque(maxlen=50)
    for _ in range(50):
        recent.append(np.empty(1 << 20))  # fresh pages of the system are zero
    assert any(not array.any() for array in recent)


# An exercise that suggests np.empty, and an answer that adds up in it.
@njit(parallel=True)
def recurrence(a, b, h0, chunks, out):
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product = 1.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            ends[c] = factor * ends[c] + b[t]
        products[c] = product
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@pytest.mark.rotates
def test_an_answer_that_hopes_for_zeros_is_wrong():
    task, answer = definition.find("10-chunks"), Local(recurrence, admitted=True)
    said = checking.check(task, answer)
    assert (said.status, said.failure.kind) == ("wrong", "unset")
    arguments = checking.arguments_of(task.cases[0], task.seed, 0)
    _, after = answer.compiled_call(arguments)
    assert not np.allclose(after[-1], task.spec(*arguments))


def test_an_element_that_was_forgotten_is_told_as_such():
    @njit
    def answer(x):
        out = np.empty_like(x)
        out[1:] = x[1:]
        return out

    task = CompiledTask(
        id="99-copy",
        title="t",
        objective="o",
        points=1,
        minutes=1,
        hints=("a", "b", "c"),
        spec=lambda x: x * [0, 1, 1],
        out="result",
        cases=(Case("three", lambda rng: (np.ones(3),)),),
    )
    said = checking.check(task, Local(answer, admitted=True))
    assert dict(said.failure.facts)["got"] == "no number: np.empty made it, and nothing was stored there"
