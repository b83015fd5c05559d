"""Streams and events. Here everything is done when the call returns, in the order in which it is called."""

import contextlib
import time


class Stream:
    """A queue of work on a GPU. In the executor every operation is finished when its call returns."""

    def __init__(self, handle=0):
        self.handle = handle

    def __repr__(self):
        return "<stream of the executor>"

    def synchronize(self):
        """Wait for all work in the stream: there is none left."""

    @contextlib.contextmanager
    def auto_synchronize(self):
        yield self

    def add_callback(self, callback, arg=None):
        """Call ``callback(stream, 0, arg)``: at once, since all work before it is done."""
        callback(self, 0, arg)


class Event:
    """A mark in a stream. ``elapsed_time`` is time of the host that ran the executor: it says nothing about a GPU."""

    def __init__(self, timing=True):
        self.timing = timing
        self._time = None

    def record(self, stream=0):
        self._time = time.perf_counter()

    def query(self):
        """True: the work before the event is done."""
        return True

    def synchronize(self):
        """Wait for the event: it has happened."""

    def wait(self, stream=0):
        """Let a stream wait for the event: it has happened."""

    def elapsed_time(self, other):
        """Milliseconds of host time from this event to ``other``."""
        if self._time is None or other._time is None:
            raise RuntimeError("both events must be recorded before the time between them can be read")
        return (other._time - self._time) * 1e3


def stream():
    return Stream()


def default_stream():
    return Stream()


def external_stream(ptr):
    return Stream(ptr)


def event(timing=True):
    return Event(timing)


def event_elapsed_time(start, end):
    """Milliseconds of host time between two events."""
    return start.elapsed_time(end)


def synchronize():
    """Wait for the device: it has nothing left to do."""
