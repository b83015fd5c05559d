"""One line on stderr when a launch takes long."""

import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "DLKERNELS_QUIET"  # set it to 1 to hide the line
_PATIENCE = 2.0  # seconds before the first line

_hidden = ContextVar("hidden", default=False)


def quiet():
    """Whether nothing is to be said about a launch: by the environment, or inside ``hidden``."""
    return _hidden.get() or os.environ.get(VARIABLE, "").strip() not in ("", "0")


@contextmanager
def hidden():
    """Launches inside say nothing: a check has its own words, and they must not depend on a machine's speed.

    Those of other threads say what they have to: a thread that is never done hides nothing from the rest.
    """
    before = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(before)


def _wanted():
    if quiet():
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class Progress:
    """Counts finished blocks; after two seconds it says how many are done and about how long the rest takes."""

    def __init__(self, name, blocks):
        self.name, self.blocks, self.done = name, blocks, 0
        self.start = self.last = time.monotonic()
        self.shown = 0

    def done_one(self):
        self.done += 1
        now = time.monotonic()
        if now - self.last < (0.5 if self.shown else _PATIENCE) or self.done == self.blocks:
            return
        self.last = now
        if not _wanted():
            return
        left = (now - self.start) / self.done * (self.blocks - self.done)
        line = f"{self.name}: {self.done} of {self.blocks} blocks done, about {left:.0f} s left"
        sys.stderr.write("\r" + line.ljust(self.shown))
        sys.stderr.flush()
        self.shown = len(line)

    def finish(self):
        if self.shown:
            sys.stderr.write("\r" + " " * self.shown + "\r")
            sys.stderr.flush()
