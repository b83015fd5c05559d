"""What a check makes of an answer, and for how long it keeps that."""

import contextlib

import numpy as np
import pytest
from numba import njit, prange

from coursework import answer
from coursework.answer import AnswerFailed, Local
from dlkernels import cuda
from simt import kernel as kernels

FACTOR = 2.0


def scaling():
    @cuda.jit
    def scale(x, out):
        i = cuda.threadIdx.x
        out[i] = FACTOR * x[i]

    return scale


@pytest.mark.parametrize(("admitted", "made"), [(True, 1), (False, 2)])
def test_an_admitted_kernel_is_lowered_once_and_a_notebook_s_as_it_is_now(monkeypatch, admitted, made):
    """An admitted answer stands by itself; a notebook's may use a name that another cell changes."""
    lowered, program, kernel = [], kernels.Program, scaling()
    monkeypatch.setattr(kernels, "Program", lambda *how: lowered.append(how) or program(*how))
    results = []
    for factor in (2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        (_, out), _ = Local(kernel, admitted=admitted).xray(1, 4, (np.ones(4, np.float32), np.zeros(4, np.float32)))
        results.append(out[0])
    assert len(lowered) == made
    assert admitted or results == [2, 3]


def test_the_first_lines_of_what_is_printed_are_let_through_and_the_others_counted(capsys):
    def talks():
        print(*range(25), sep="\n")
        print("one more", end="\n")
        print("begun", end="")
        print(end="")

    Local(talks).call(())
    assert capsys.readouterr().out.split("\n") == [*map(str, range(20)), "... and 7 more lines", ""]


def test_what_prints_on_and_on_is_stopped_before_memory_ends(capsys, monkeypatch):
    monkeypatch.setattr(answer, "PRINTED_MOST", 1000)
    printed = []

    def floods():
        while True:
            print("x" * 100)
            printed.append(1)

    with pytest.raises(AnswerFailed, match="1,000 characters") as failed:
        Local(floods).call(())
    assert failed.value.name == "OutputLimit"
    assert len(printed) == 9


def test_what_goes_on_printing_keeps_no_more(capsys, monkeypatch):
    monkeypatch.setattr(answer, "PRINTED_MOST", 1000)

    def floods_on():
        for _ in range(1000):
            with contextlib.suppress(Exception):
                print("x" * 100, end="")

    Local(floods_on).call(())
    assert len(capsys.readouterr().out) == 1001


@njit(parallel=True)
def makes_what_nobody_needs(x, out):
    unused = np.empty(x.shape[0])  # noqa: F841
    for i in prange(x.shape[0]):
        out[i] = 2 * x[i]


@njit(parallel=True)
def makes_one(x, out):
    twice = 2 * x
    for i in prange(x.shape[0]):
        out[i] = twice[-1 - i]


@pytest.mark.rotates
@pytest.mark.parametrize(("function", "arrays"), [(makes_what_nobody_needs, 0), (makes_one, 1)])
def test_an_array_that_numba_leaves_out_costs_nothing(function, arrays):
    """It would not, were it filled with junk as in a run that is compared."""
    x, out = np.arange(4.0), np.zeros(4)
    cost, runs = Local(function, admitted=True).cost((x, out), ["arrays", "numpy_bytes"])
    assert cost["arrays"] == arrays
    assert cost["numpy_bytes"] < 4096
    assert all((after[1] == (2 * x if arrays == 0 else 2 * x[::-1])).all() for _, after in runs)
