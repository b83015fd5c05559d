"""No answer that is let through reads or writes outside of its arrays: numba checks the index, or the words are
refused."""

import numpy as np
import pytest

from coursework import admission, extraction
from coursework.shapes import checked_njit

REFUSED = [
    "x.flat[99] = 1.0",
    "x[0] = x.flat[99]",
    "x[0] = np.bincount(np.array([-1]))[0]",  # adds one before the beginning of its result
    "x[0] = np.take(x.reshape(2, 3), np.array([9]), 1)[0, 0]",  # compiled without a look at the index
    "x[0] = np.take(x.reshape(2, 3), np.array([9]), axis=1)[0, 0]",
    "make = np.empty\n    x[0] = make(1)[0]",  # under another name it is not filled
    "x[0] = x.reshape(2, 3).take(np.array([9]), 1)[0, 0]",
    "take = x.take\n    x[0] = take(np.array([9]), 1)[0, 0]",
    "take = np.take\n    x[0] = take(x.reshape(2, 3), np.array([9]), 1)[0, 0]",
]
RAISES = """
    x.take(99)  np.take(x, -99)  x[np.array([99])]  x[np.ones(99)>0]  x.ravel()[99]  x.T[-99]  x.real[99]  np.add(x, y)[5]
    np.where(x>0, x, y)[5]  np.repeat(x, np.array([1, 2]))  np.interp(4.5, x, y)
    np.transpose(x.reshape(2, 3), (5, 6))  x.reshape(7)  x.shape[3]
    np.sqrt(y, x)  np.sqrt(x, y)  np.add(y, y, x)  np.divmod(y, y, x, x)  np.outer(y, y, x)
"""
STATEMENTS = ["x += y", "y *= x", "x[1:] -= x[3:]", "x[:] += y", "x.reshape(2, 3)[:] += y.reshape(2, 1)[:1] + x"]


@pytest.mark.parametrize("line", REFUSED)
def test_what_looks_at_no_length_is_refused(line):
    with pytest.raises(admission.NotAdmitted):
        extraction.admitted([f"@njit\ndef f(x, y):\n    {line}"], admission.COMPILED, "f")


@pytest.mark.parametrize(("path", "call"), [("np.empty", "make = again\n    make(1)"), ("np.take", "again(x, y, 1)")])
def test_another_name_changes_nothing(path, call):
    with pytest.raises(admission.NotAdmitted):
        extraction.admitted([f"again = {path}", f"@njit\ndef f(x, y):\n    {call}"], admission.COMPILED, "f")


def test_a_name_that_was_imported_is_called():
    answer = "@njit\ndef f(x, y):\n    x[0] = empty(3).size + take(x, 0) + x.take(1) + np.empty_like(x).shape[0]"
    assert extraction.admitted(["empty = np.empty", "take = np.take", answer], admission.COMPILED, "f")


@pytest.mark.rotates
@pytest.mark.parametrize("expression", " ".join(RAISES.split("\n")).strip().split("  "))
def test_an_index_outside_is_an_error(expression):
    expression = expression.strip()
    if not expression:
        return
    raises(f"return {expression}")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_shapes_that_do_not_fit_are_an_error(statement):
    raises(statement)


def test_shapes_that_fit_are_none():
    @checked_njit()
    def f(x, y):
        table = np.zeros((2, 3))
        table += y.reshape(2, 1)
        table += x[:3]
        np.sqrt(x[1:2].copy(), x)
        x[1:] *= 2.0
        return table

    x = np.full(6, 4.0)
    np.testing.assert_array_equal(f(x, np.array([1.0, 2.0])), [[5, 5, 5], [6, 6, 6]])
    np.testing.assert_array_equal(x, [2, 4, 4, 4, 4, 4])


def raises(line):
    source = f"@njit\ndef f(x, y):\n    {line}"
    assert extraction.admitted([source], admission.COMPILED, "f")
    scope = {"np": np, "njit": checked_njit()}
    exec(source, scope)
    with pytest.raises(Exception, match=r"."):
        scope["f"](np.arange(6.0), np.arange(2.0))
