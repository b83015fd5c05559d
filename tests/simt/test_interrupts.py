"""Ctrl-C waits where it would break something, and is heard then."""

import _thread
import signal
import threading
import time

import numpy as np
import pytest
from llvmlite.binding.executionengine import ExecutionEngine

from simt import compiled, cuda
from simt.compiled import running
from simt.interrupts import held_back


@cuda.jit
def doubled(x):
    x[cuda.grid(1)] *= 2


@pytest.fixture
def python_hears():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_it_is_heard_at_the_end(python_hears):
    steps = []

    def work():
        with held_back():
            _thread.interrupt_main()
            steps.extend([sum(range(1000)), "went on"])

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == [499500, "went on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_raised_where_nobody_pressed_and_errors_stay(python_hears):
    with held_back():
        pass
    with pytest.raises(ValueError, match="as it was"), held_back():
        raise ValueError("as it was")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_those_who_ignore_it_have_nothing_to_hold_back():
    seen = []

    def work():
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIG_IGN] * 2


def test_numba_compiles_to_its_end(python_hears, monkeypatch):
    """LLVM's objects, left half built, would be freed twice: that ended whole test runs."""
    add, added = ExecutionEngine.add_module, []

    def pressed(engine, module):
        if not added:
            _thread.interrupt_main()
        added.append(add(engine, module))

    monkeypatch.setattr(ExecutionEngine, "add_module", pressed)
    with pytest.raises(KeyboardInterrupt):
        compiled.run(doubled, 1, 32, [np.ones(32)])
    x = np.ones(32)
    compiled.run(doubled, 1, 32, [x])
    assert len(added) > 1
    assert (x == 2).all()


def test_threads_of_a_launch_have_ended_when_control_c_is_heard(python_hears, monkeypatch):
    """However often it is pressed: nobody writes the arrays afterwards."""

    class Slow(running.RunningLaunch):
        def _take(self, seconds):
            for _ in range(3):
                _thread.interrupt_main()
                time.sleep(0.3)
            return super()._take(seconds)

    compiled.run(doubled, 1, 32, [np.ones(32)])
    monkeypatch.setattr("simt.compiled.launch.RunningLaunch", Slow)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        compiled.run(doubled, 1, 32, [np.ones(32)], threads=1)
    assert threading.active_count() == before
