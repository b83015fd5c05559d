"""What the launches inside a ``with`` run under: an order of their threads, a budget of loop iterations."""

import contextlib
import os
import threading

ORDER = "DLKERNELS_ORDER"
_setting = threading.local()


def check_order(order):
    """``order`` if it is one: "forward", "reverse", "shuffled" or "shuffled:<seed>"."""
    name, _, seed = str(order).partition(":")
    if name not in ("forward", "reverse", "shuffled") or (seed and (name != "shuffled" or not seed.isdigit())):
        raise ValueError(f'order is {order!r}; expected "forward", "reverse", "shuffled" or "shuffled:<seed>"')
    return str(order)


@contextlib.contextmanager
def order(name, seed=None):
    """Run the launches inside the ``with`` in another order of threads and blocks. A correct kernel gives the same.

    name: "forward", "reverse" or "shuffled"; seed: for "shuffled". The environment variable DLKERNELS_ORDER sets the
    default.
    """
    before = getattr(_setting, "order", None)
    _setting.order = check_order(name if seed is None else f"{name}:{seed}")
    try:
        yield
    finally:
        _setting.order = before


@contextlib.contextmanager
def budget(iterations, altogether=None):
    """Stop a launch inside the ``with`` when one thread has run that many loop iterations (``TooManyIterations``).

    altogether: the most of all threads together; default: no limit.
    """
    before = getattr(_setting, "budget", None)
    _setting.budget = (iterations, altogether)
    try:
        yield
    finally:
        _setting.budget = before


def chosen_order():
    """The order that ``order`` or DLKERNELS_ORDER asks for; None if nobody asks."""
    return getattr(_setting, "order", None) or os.environ.get(ORDER) or None


def chosen_budget():
    """The budget that ``budget`` set, (of one thread, of all); None if there is none."""
    return getattr(_setting, "budget", None)


_wrap = False


def wrap(on):
    """Let a negative index mean the other end of an array, as numba compiles it (on), or be an error."""
    global _wrap
    _wrap = bool(on)


def wraps():
    """Whether negative indices wrap round."""
    return _wrap
