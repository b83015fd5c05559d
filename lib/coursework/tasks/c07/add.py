"""07-add: Add vectors of different lengths."""

import numpy as np

from ...definition import Case, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import add_arguments


def padded(a, b):
    """a and b in float64, the shorter one filled up with 0."""
    n = max(len(a), len(b))
    return (np.concatenate([x.astype(np.float64), np.zeros(n - len(x))]) for x in (a, b))


def sum_of_padded(a, b, out):
    """The specification."""
    a, b = padded(a, b)
    return a + b


def _of_padded(formula):
    return lambda a, b, out: formula(*padded(a, b))


ADD = KernelTask(
    id="07-add",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Add vectors of different lengths",
    objective="Write a kernel in which each thread computes one element, and guard each access by its own array",
    points=3,
    minutes=15,
    spec=sum_of_padded,
    cases=(
        Case("one block: n = 32 in 1 block of 32", add_arguments(32), grid=1, block=32),
        Case("exact: n = 256 in 4 blocks of 64", add_arguments(256), grid=4, block=64),
        Case("ragged: n = 300 in 3 blocks of 128", add_arguments(300), grid=3, block=128),
        Case("ragged: n = 1000 in 8 blocks of 128", add_arguments(1000), grid=8, block=128),
        Case("b is shorter: 300 and 70 in 3 blocks of 128", add_arguments(300, 70), grid=3, block=128),
        Case("a is shorter: 33 and 250 in 4 blocks of 64", add_arguments(33, 250), grid=4, block=64),
    ),
    suspects=(
        Suspect(_of_padded(lambda a, b: a - b), "This is a - b."),
        Suspect(_of_padded(lambda a, b: a * b), "This is a * b."),
        Suspect(_of_padded(lambda a, b: 2 * a), "This is a + a: b is never read."),
        Suspect(_of_padded(lambda a, b: a), "This is a alone: b was not added."),
        Suspect(_of_padded(lambda a, b: b), "This is b alone: a was not added."),
        Suspect(
            lambda a, b, out: np.array([a[min(i, len(a) - 1)] + b[min(i, len(b) - 1)] for i in range(len(out))]),
            "Where one vector has ended, its last element was added again and again. There it counts as 0.",
        ),
        Suspect(
            lambda a, b, out: np.array([a[i % len(a)] + b[i % len(b)] for i in range(len(out))], np.float64),
            "Where one vector has ended, it was begun again from its start. There it counts as 0.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "This thread has no such element. There may be more threads than elements, and a and b may be shorter than "
            "out: each access needs a guard that knows the length of its own array."
        ),
        "raised-TypeError": (
            "Is one number used where there is something else? threadIdx, blockIdx and blockDim have .x, cuda.grid(1) "
            "is one number and cuda.grid(2) two, and an element is a[i], with brackets."
        ),
    },
    hints=(
        "The case of n = 1000 starts 8 * 128 = 1024 threads. What should the other 24 threads do? And where b has 70 "
        "elements and out has 300, what should the thread of element 100 read?",
        "Three questions for the thread of element i: is there an out[i]? Is there an a[i]? Is there a b[i]? Each may "
        "have its own answer.",
        "Begin with a sum of 0 in a variable. What a has for this thread is added if i < a.size, what b has alike; the "
        "store has a guard of its own.",
    ),
)
