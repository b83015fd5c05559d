"""Ctrl-C at a moment of our choice."""

import signal
import threading
from contextlib import contextmanager


@contextmanager
def held_back():
    """Ctrl-C is heard when the block ends, not in it.

    LLVM objects that an exception leaves half built are freed twice, which ends the process; so numba compiles to its
    end.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard = []
    signal.signal(signal.SIGINT, lambda *pressed: heard.append(pressed))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(*heard[0])
