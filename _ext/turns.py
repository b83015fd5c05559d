"""Which of the pages that run at once may measure: one, while the processes of the others are stopped."""

import threading
from contextlib import suppress

import psutil


class Turns:
    """`take` and `give`: from one process after another, by its number. A process that ends gives by that.

    pages(): the processes that pages run in, as psutil has them; all that this process has started, if nothing else is said.
    """

    def __init__(self, pages=None):
        self.pages = pages or psutil.Process().children
        self.free, self.holder, self.stopped = threading.Condition(), None, []

    def take(self, process):
        """Stop the other pages; waits while somebody else measures."""
        with self.free:
            while self.holder is not None and psutil.pid_exists(self.holder):
                self.free.wait(1)
            self._go_on()
            self.holder = process
            for one in self._others(process):
                with suppress(psutil.Error):
                    one.suspend()
                    self.stopped.append(one)

    def give(self, process):
        """Let the other pages go on."""
        with self.free:
            if self.holder == process:
                self._go_on()

    def _go_on(self):
        for one in self.stopped:
            with suppress(psutil.Error):
                one.resume()
        self.holder, self.stopped = None, []
        self.free.notify_all()

    def _others(self, process):
        """All processes of all pages, but for those of the page that `process` belongs to."""
        found = []
        for page in self.pages():
            with suppress(psutil.Error):
                whole = [page, *page.children(recursive=True)]
                if process not in [one.pid for one in whole]:
                    found += whole
        return found
