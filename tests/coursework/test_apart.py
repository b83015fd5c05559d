"""An answer as processes have it: nothing of one copy is seen by another, and each works as the answer does."""

import threading

import numpy as np
import pytest

from coursework.apart import Shared, copies

pytestmark = pytest.mark.quick
BOARD, COUNTED, LOCK, TABLE = {}, 0, threading.Lock(), np.zeros(3)


def on_a_board(x):
    BOARD[x] = x
    return len(BOARD)


def global_number(x):
    global COUNTED
    COUNTED += x
    return COUNTED


def default_value(x, seen=[]):  # noqa: B006 - that is what is tested
    seen.append(x)
    return len(seen)


def of_itself(x):
    of_itself.seen = getattr(of_itself, "seen", 0) + 1
    return of_itself.seen


def in_an_array(x):
    TABLE[0] += 1
    return int(TABLE[0])


def _closure():
    seen = []

    def answer(x):
        seen.append(x)
        return len(seen)

    return answer


class Board:
    parts = []  # noqa: RUF012 - that is what is tested

    def put(self, x):
        self.parts.append(x)
        return len(self.parts)


class Larger(Board):
    def put(self, x):
        return super().put(x)


def through_a_class(x):
    return Larger().put(x)


def recursive(x):
    return 1 if x == 0 else recursive(x - 1)


STATEFUL = (on_a_board, global_number, default_value, of_itself, in_an_array, _closure(), through_a_class)


@pytest.mark.parametrize("answer", STATEFUL, ids=lambda answer: answer.__name__)
def test_nothing_is_seen_by_another(answer):
    first, second = copies(answer, 2)
    assert [first(1), second(1)] == [1, 1]
    assert first(1 if answer is global_number else 2) == 2  # each keeps what is its own
    assert [copy(1) for copy in copies(answer, 2)] == [1, 1]  # and the answer itself was not touched


def test_a_function_calls_its_own_copy():
    first, second = copies(recursive, 2)
    assert first(3) == second(3) == 1
    assert first.__globals__["recursive"] is first is not second


def under_a_lock(x):
    with LOCK:
        return x


def test_what_cannot_be_copied_is_named():
    with pytest.raises(Shared, match="LOCK, a lock"):
        copies(under_a_lock, 2)
