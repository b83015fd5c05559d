"""No answer that is let through reads or writes outside of its arrays: numba checks the index, or the words are refused."""

import numpy as np
import pytest
from numba import njit

from coursework import admission, extraction

REFUSED = [
    "x.flat[99] = 1.0",
    "x[0] = x.flat[99]",
    "np.sqrt(x, y)",  # y longer than x: reads on behind the end of x
    "np.add(x, x, y)",
    "np.add(x, x, out=y)",
    "np.divmod(x, x, y, y)",
    "np.outer(x, x, y)",
    "f = np.sqrt; f(x, y)",
    "x[0] = np.bincount(np.array([-1]))[0]",  # adds one before the beginning of its result
]
RAISES = """
    x.take(99)  np.take(x, -99)  x[np.array([99])]  x[np.ones(99)>0]  x.ravel()[99]  x.T[-99]  x.real[99]  np.add(x, y)[5]
    np.where(x>0, x, y)[5]  np.repeat(x, np.array([1, 2]))  np.interp(4.5, x, y)
    np.transpose(x.reshape(2, 3), (5, 6))  np.dot(x, y)  x.reshape(7)  x.shape[3]
"""


@pytest.mark.parametrize("line", REFUSED)
def test_what_looks_at_no_length_is_refused(line):
    with pytest.raises(admission.NotAdmitted):
        extraction.admitted([f"@njit\ndef f(x, y):\n    {line}"], admission.COMPILED, "f")


def test_a_second_name_for_it_is_refused():
    with pytest.raises(admission.NotAdmitted):
        extraction.admitted(["root = np.sqrt\n@njit\ndef f(x, y):\n    root(x, y)"], admission.COMPILED, "f")


def test_used_as_it_should_be_it_is_let_through():
    line = "y[:] = np.sqrt(np.add(x, x)) + np.outer(x, x)[0]"
    assert extraction.admitted([f"@njit\ndef f(x, y):\n    {line}"], admission.COMPILED, "f")


@pytest.mark.parametrize("expression", " ".join(RAISES.split("\n")).strip().split("  "))
def test_an_index_outside_is_an_error(expression):
    expression = expression.strip()
    if not expression:
        return
    source = f"@njit\ndef f(x, y):\n    return {expression}"
    assert extraction.admitted([source], admission.COMPILED, "f")
    scope = {"np": np, "njit": njit(boundscheck=True)}
    exec(source, scope)
    with pytest.raises(Exception, match=r".*"):
        scope["f"](np.arange(6.0), np.arange(2.0))
