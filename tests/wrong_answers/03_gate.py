"""Answers to 03-gate."""

import threading
from collections import deque

from answers import cut, edit, insert, replace


class ATokenInADeque:
    """right"""

    def __init__(self, parallel, alone, pid):
        self.ways, self.pid = (parallel, alone), pid
        self.tokens, self.home = deque(["in"]), 0

    def __call__(self, x):
        parallel, alone = self.ways
        try:
            token = self.tokens.pop()
        except IndexError:
            return alone(x)
        try:
            me = self.pid()
            self.home = self.home or me
            return parallel(x) if self.home == me else alone(x)
        finally:
            self.tokens.append(token)


class ASemaphore:
    """right"""

    def __init__(self, parallel, alone, pid):
        self.parallel, self.alone, self.pid, self.owner = parallel, alone, pid, None
        self.room = threading.Semaphore(1)

    def __call__(self, x):
        if self.owner not in (None, self.pid()):
            return self.alone(x)
        if not self.room.acquire(blocking=False):
            return self.alone(x)
        self.owner = self.pid()
        try:
            return self.parallel(x)
        finally:
            self.room.release()


class Frame:
    def __init__(self, parallel, alone, pid):
        self.parallel, self.alone, self.pid = parallel, alone, pid
        self.inside, self.owner, self.busy = threading.Lock(), None, False

    def __call__(self, x):
        return self.enter(x)

    def enter(self, x):
        if not self.inside.acquire(blocking=False):
            return self.alone(x)
        try:
            return self.with_lock(x)
        finally:
            self.inside.release()

    def with_lock(self, x):
        if self.owner is None:
            self.owner = self.pid()
        return self.parallel(x) if self.owner == self.pid() else self.alone(x)


class Waits(Frame):
    """wrong deadlock: Somebody else is inside for a long time"""

    def __call__(self, x):
        with self.inside:
            return self.with_lock(x)


LooksWhetherLocked = edit(
    Waits,
    "wrong deadlock: `acquire(blocking=False)` asks, and does not wait",
    insert("if self.inside.locked():\n    return self.alone(x)", before="with self.inside:"),
)


class ForgetsTheFork(Frame):
    """wrong fork: threads that only its parent has"""

    def with_lock(self, x):
        return self.parallel(x)


class StartsAnewInAChild(Frame):
    """wrong fork: at each call"""

    def with_lock(self, x):
        if self.owner != self.pid():
            self.owner = self.pid()
        return self.parallel(x)


class LooksOnce(Frame):
    """wrong fork: Compare the number of the process"""

    def with_lock(self, x):
        if self.owner is None:
            self.owner = self.pid()
            self.mine = self.owner == self.pid()
        return self.parallel(x) if self.mine else self.alone(x)


class WhoMadeIt(Frame):
    """wrong alone-in-vain: not the one that made the gate"""

    def __init__(self, parallel, alone, pid):
        Frame.__init__(self, parallel, alone, pid)
        self.owner = pid()


class AlwaysAlone(Frame):
    """wrong alone-in-vain: Nobody was inside"""

    def __call__(self, x):
        return self.alone(x)


NoLock = edit(AlwaysAlone, "wrong two-at-once: must be one step", replace("alone", "with_lock"))


class OnlyTheFirstCall(Frame):
    """wrong alone-in-vain: opened after each call"""

    def __call__(self, x):
        if not self.inside.acquire(blocking=False):
            return self.alone(x)
        return self.parallel(x)


class OpensOnlyWithoutAnError(Frame):
    """wrong alone-in-vain: opened on every way out"""

    def __call__(self, x):
        if not self.inside.acquire(blocking=False):
            return self.alone(x)
        result = self.with_lock(x)
        self.inside.release()
        return result


class AloneAfterAnError(Frame):
    """wrong error-lost: let it go out"""

    def with_lock(self, x):
        try:
            return Frame.with_lock(self, x)
        except ValueError:
            return self.alone(x)


class OpensWhatOthersClosed(Frame):
    """wrong raised-RuntimeError: Only who got the lock may open it"""

    def __call__(self, x):
        got = self.inside.acquire(blocking=False)
        try:
            result = self.with_lock(x) if got else self.alone(x)
        finally:
            self.inside.release()
        return result


class NothingComesBack(Frame):
    """wrong wrong-result: Each call returns what"""

    def with_lock(self, x):
        Frame.with_lock(self, x)


class BothWays(Frame):
    """wrong alone-in-vain: Nobody was inside"""

    def with_lock(self, x):
        self.alone(x)
        return Frame.with_lock(self, x)


AsksAgainAndAgain = edit(
    OpensWhatOthersClosed,
    "wrong busy-waiting: It need not wait at all",
    replace("got = self.inside.acquire(blocking=False)", "while not self.inside.acquire(blocking=False):\n    pass"),
    replace("result = self.with_lock(x) if got else self.alone", "return self.with_lock"),
    cut("return result"),
)


class ANewLockInTheChild(Frame):
    """wrong fork: threads that only its parent has"""

    def __init__(self, parallel, alone, pid):
        Frame.__init__(self, parallel, alone, pid)
        self.home = pid()

    def __call__(self, x):
        if self.pid() != self.home:
            self.home, self.inside, self.owner = self.pid(), threading.Lock(), None
        return self.enter(x)


class OneThreadOnly(Frame):
    """wrong alone-in-vain: is any thread let in"""

    def with_lock(self, x):
        if self.owner is None:
            self.owner, self.thread = self.pid(), threading.get_ident()
        return self.parallel(x) if (self.owner, self.thread) == (self.pid(), threading.get_ident()) else self.alone(x)


class WaitsAWhile(Frame):
    """wrong raised-Spoils: not even for a while"""

    def __call__(self, x):
        if not self.inside.acquire(timeout=1):
            return self.alone(x)
        try:
            return self.with_lock(x)
        finally:
            self.inside.release()


AFlag = edit(
    WaitsAWhile,
    "wrong two-at-once: a lock that is asked for without waiting",
    replace("not self.inside.acquire(timeout=1):", "self.busy:"),
    insert("self.busy = True", before="try:"),
    replace("inside.release()", "busy = False"),
)
