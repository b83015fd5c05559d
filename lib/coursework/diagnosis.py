"""Where a result is wrong first, and why that probably is.

Every element of an output is RIGHT, WRONG or UNWRITTEN (it still holds what it held before the call). The pattern of
the three names the usual mistakes: only the first block worked, the tail is missing, the result is transposed ...
"""

import inspect
from dataclasses import dataclass

import numpy as np

RIGHT, WRONG, UNWRITTEN = 0, 1, 2

# The kinds that `diagnose` tells apart. Those of a launch need threads that should have written the elements.
KINDS = (
    "nothing-written",
    "some-unwritten",
    "suspect",
    "one-element",
    "transposed",
    "shifted",
    "not-finite",
    "constant",
    "scaled",
    "precision",
    "wrong-value",
)
LAUNCH_KINDS = ("one-block", "first-round-only", "tail", "head")


@dataclass(frozen=True)
class Comparison:
    """Element by element: `state` has the shape of the output."""

    state: np.ndarray
    got: np.ndarray
    expected: np.ndarray

    @property
    def first(self):
        """Index of the first element that is not right."""
        return tuple(int(i) for i in np.unravel_index(np.argmax(self.state != RIGHT), self.state.shape))

    @property
    def bad(self):
        return int(np.count_nonzero(self.state != RIGHT))


def compare(got, expected, before, rtol, atol):
    """Compare an output with the expected one; `before` is what it held before the call."""
    expected = np.asarray(expected, np.float64)
    value = np.asarray(got, np.float64)
    with np.errstate(invalid="ignore"):
        right = np.abs(value - expected) <= atol + rtol * np.abs(expected)
    right |= (value == expected) | (np.isnan(value) & np.isnan(expected))
    state = np.where(right, RIGHT, WRONG).astype(np.int8)
    state[~right & _same_bits(got, before)] = UNWRITTEN
    return Comparison(state, got, expected)


def _same_bits(x, y):
    """Elements that hold the very same bits: a computed NaN differs from the NaN of definition.unwritten."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    if x.dtype.kind != "f" or x.dtype != y.dtype:
        return x == y
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return x.view(bits) == y.view(bits)


def total(size):
    """Threads (or blocks) in a launch size given as a number or a tuple."""
    return int(np.prod(size))


def threads_per_block(case):
    return total(case.block)


def diagnose(task, case, comparison, arguments):
    """(kind, cause) of a result that is not right."""
    state, n, threads = comparison.state.ravel(), comparison.state.size, threads_per_block(case)
    unwritten = state == UNWRITTEN
    kind, cause = "", ""
    if unwritten.all():
        kind, cause = (
            "nothing-written",
            (
                "Nothing was written. Does each loop run at all, and is the result stored in the output array? "
                "`out[...] = ` stores; `out = ...` only gives a name to another array, and what is returned is not "
                "looked at."
            ),
        )
    elif unwritten.any() and case.block != 1:
        kind, cause = _pattern_of_unwritten(unwritten, n, threads, total(case.grid))
    if not kind:
        kind, cause = _suspected(task, comparison, arguments)
    if not kind:
        kind, cause = _shape_of_error(comparison, hasattr(task, "writer"))
    return kind, task.advice.get(kind, cause)


def _pattern_of_unwritten(unwritten, n, threads, blocks):
    where = np.flatnonzero(unwritten)
    if blocks > 1 and n > threads and unwritten[threads:].all() and not unwritten[:threads].any():
        return "one-block", (
            "Only the elements of block 0 were written: every block works on the same elements. The index uses the "
            "thread's number inside its block, but not the block's number, or multiplies that by something else than "
            "cuda.blockDim.x."
        )
    if n > threads * blocks and np.array_equal(where, np.arange(threads * blocks, n)):
        return "first-round-only", (
            f"The grid has {threads * blocks} threads and each handled one element, but there are {n} elements. "
            "A thread must go on to further elements: a grid-stride loop."
        )
    if where[-1] == n - 1 and np.array_equal(where, np.arange(where[0], n)):
        return "tail", (
            f"{_so_many('last', len(where))} never written. Does the guard or the loop stop too early, does a division "
            "round down, or does the index jump over elements? In a grid the number of a thread is blockIdx.x * "
            "blockDim.x + threadIdx.x."
        )
    if where[0] == 0 and np.array_equal(where, np.arange(len(where))):
        return "head", f"{_so_many('first', len(where))} never written. Where does the index start?"
    return "", ""


def _so_many(which, number):
    return f"The {which} element was" if number == 1 else f"The {which} {number} elements were"


def _suspected(task, comparison, arguments):
    """The well-known mistake that explains all that was written; if there is none, one that explains what is wrong."""
    wrong, written = comparison.state == WRONG, comparison.state != UNWRITTEN
    if not wrong.any():
        return "", ""
    partly = ""
    for suspect in task.suspects:
        with np.errstate(all="ignore"):
            guess = np.asarray(suspect.formula(*arguments), np.float64)
        if guess.shape != comparison.expected.shape:
            continue
        with np.errstate(invalid="ignore"):
            near = np.abs(comparison.got - guess) <= task.atol + task.rtol * np.abs(guess)
        near |= (comparison.got == guess) | (np.isnan(comparison.got) & np.isnan(guess))
        if near[written].all():
            return "suspect", suspect.cause
        if near[wrong].all() and comparison.got[written].any():  # nothing but zeros may come from anything
            partly = partly or suspect.cause
    if partly:
        return "suspect", partly
    return _one_element(task, comparison, arguments, written)


def _one_element(task, comparison, arguments, written):
    """Whether the same element, row or column of an input was used for all of the result."""
    names = list(inspect.signature(task.spec).parameters)
    for number, x in enumerate(arguments):
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or x.size < 2 or task.out == "result":
            continue
        if number == task.out % len(arguments):
            continue
        element = x.reshape(-1)[:1].reshape((1,) * x.ndim)
        for part, words in ((element, "element"), *(((x[:1], "row"), (x[:, :1], "column")) if x.ndim == 2 else ())):
            changed = (*arguments[:number], np.broadcast_to(part, x.shape), *arguments[number + 1 :])
            with np.errstate(all="ignore"):
                guess = np.asarray(task.spec(*changed), np.float64)
                near = np.abs(comparison.got - guess) <= task.atol + task.rtol * np.abs(guess)
            if near[written].all():
                return "one-element", (
                    f"All of the result was computed with the first {words} of `{names[number]}`. Which index of it "
                    "should change from one element of the result to the next?"
                )
    return "", ""


def _shape_of_error(comparison, threads):
    """`threads`: whether each element belongs to a thread of a kernel."""
    got, expected, state = comparison.got, comparison.expected, comparison.state
    bad = state == WRONG
    if not bad.any():
        return (
            "some-unwritten",
            "Some elements were never written. "
            + (
                "Which thread should have written the first of them?"
                if threads
                else "Do your loops reach them? Compare the bounds of each loop with the shape of the output."
            ),
        )
    if got.ndim == 2 and got.shape[0] == got.shape[1] and np.allclose(got, expected.T, rtol=1e-4):
        return "transposed", "The result is transposed: rows and columns are exchanged in an index."
    if got.ndim == 1 and got.size > 2 and np.allclose(got[1:], expected[:-1], rtol=1e-4):
        return "shifted", "Everything is right, one place too far to the right: the index is one too large."
    if got.ndim == 1 and got.size > 2 and np.allclose(got[:-1], expected[1:], rtol=1e-4):
        return "shifted", "Everything is right, one place too far to the left: the index is one too small."
    if np.isnan(got[bad]).any() or np.isinf(got[bad]).any():
        return (
            "not-finite",
            "A number overflowed or was divided by zero on the way. Which intermediate value is too large? Or is it "
            "the root, or the logarithm, of a number below 0?",
        )
    if np.unique(got).size == 1 and got.size > 1:
        if not got.any():
            return (
                "constant",
                "Every element is 0. Is a fraction cut off by int() or //, or is nothing added to the sum?",
            )
        return "constant", "Every element has the same value. " + (
            "Does the index depend on the thread, and are row and column not exchanged?"
            if threads
            else "Does the index on the right side change in the loops?"
        )
    factor = _factor(got, expected)
    if factor == -1:
        return "scaled", "Every number has the opposite sign. Which of two is subtracted from the other?"
    if factor:
        return (
            "scaled",
            f"Every number is {factor} times what it should be. Is something added several times, or a factor missing?",
        )
    if got.dtype.kind == "f" and np.abs(got[bad] - expected[bad]).max() <= 1e-2 * max(1e-12, np.abs(expected).max()):
        return ("precision", "Nearly right: the error is too large for rounding of float32, so a term is slightly off.")
    return (
        "wrong-value",
        "The values differ. Work out the first wrong element by hand and compare it with the formula.",
    )


def _factor(got, expected):
    """The whole number that each of several elements is times what is expected, "" where there is none."""
    some = np.abs(expected) > 1e-3 * np.abs(expected).max()
    if np.count_nonzero(some) < 4:
        return ""
    ratios = got[some] / expected[some]
    factor = round(float(ratios[0])) if np.isfinite(ratios).all() else 0
    return factor if factor not in (0, 1) and np.allclose(ratios, factor, rtol=1e-4) else ""
