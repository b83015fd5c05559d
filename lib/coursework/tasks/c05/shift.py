"""05-shift: Move a vector by k places."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask


def shift_arguments(n, k):
    """make(rng) -> x of shape (n,), k, out of shape (n,)."""
    return lambda rng: (random_values(rng, n), k, unwritten(n))


def shifted(x, k):
    """x moved k places up, with zeros in front."""
    return np.concatenate([np.zeros(min(k, len(x))), x[: max(len(x) - k, 0)].astype(np.float64)])


SHIFT = KernelTask(
    id="05-shift",
    section=Section("5", "05_threads", "Guards"),
    title="Move a vector by k places",
    objective="Write a kernel whose threads each ask which elements there are before they read and write",
    points=2,
    minutes=12,
    spec=lambda x, k, out: shifted(x, k),
    cases=(
        Case("one block: n = 32, k = 5 in 1 block of 32", shift_arguments(32, 5), grid=1, block=32),
        Case("exact: n = 256, k = 70 in 4 blocks of 64", shift_arguments(256, 70), grid=4, block=64),
        Case("ragged: n = 300, k = 7 in 3 blocks of 128", shift_arguments(300, 7), grid=3, block=128),
        Case("k beyond the end: n = 100, k = 130 in 2 blocks of 64", shift_arguments(100, 130), grid=2, block=64),
    ),
    partial={"one block: n = 32, k = 5 in 1 block of 32": 1},
    suspects=(
        Suspect(lambda x, k, out: x, "This is x itself: nothing moved."),
        Suspect(
            lambda x, k, out: np.concatenate([x[k:], np.zeros(min(k, len(x)))]),
            "It moved the other way: out[0] got x[k]. Element 0 of x belongs to place k of out.",
        ),
        Suspect(
            lambda x, k, out: np.roll(x, k),
            "What left at the end came in again in front. There the specification has zeros.",
        ),
        Suspect(lambda x, k, out: x[::-1], "This is x turned round. It shall keep its order."),
        Suspect(
            lambda x, k, out: np.concatenate([np.zeros(min(k + 1, len(x))), x[1 : max(len(x) - k, 1)]]),
            "Only place k is wrong: it got 0, and belongs to x[0]. Does the condition ask for more than k, or for k "
            "and more?",
        ),
        Suspect(
            lambda x, k, out: np.concatenate([np.full(min(k, len(x)), x[0]), x[: max(len(x) - k, 0)]]),
            "The first places got x[0]. There the specification has zeros.",
        ),
        Suspect(lambda x, k, out: 0 * x, "All of it is 0: no element of x arrived."),
    ),
    advice={
        "out-of-bounds": (
            "There are more threads than elements in some launches, and a thread beyond the end has nothing to read or "
            "to write. Which condition lets through exactly the indices of out?"
        ),
        "none-beyond": (
            "Here each thread has an element, so that none is too many. But the last k elements of x have no place "
            "out[i + k]: they are lost. And the first k places of out have no element x[i - k]: they get 0. Python "
            "would count from the end, here it is an error. Which of the two do you use, and what asks whether it is "
            "there?"
        ),
        "race": "Two threads store to one place. Each thread has one place of out: does a loop in every thread write "
        "several?",
        "negative-index": (
            "The first k places have no element of x that moves there. Python would count from the end; here it is an "
            "error. What shall stand in these places?"
        ),
        "head": "The first k places were never written. They hold anything before, and shall hold 0.",
        "some-unwritten": "Each place of out needs a store: those that no element of x moves to get 0.",
        "gaps-in-one-block": "Each place of out needs a store: those that no element of x moves to get 0.",
        "nothing-written": (
            "Nothing was stored where k is larger than n. Each place of out needs a store: with nothing to move there "
            "it gets 0."
        ),
    },
    hints=(
        "Let the thread own a place of out. Which element of x comes to place 10 when k is 7? And to place 3?",
        "Two questions, each with its own answer: is there a place i of out? And if there is, is there an element of x "
        "k places before it?",
        "The number of the thread in the grid is i. Outer `if`: the store. Inside, the value is 0 unless i has reached "
        "k; then it comes from k places before.",
    ),
)
