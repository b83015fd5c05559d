"""Which of the pages that run at once may measure: one, while the processes of the others are stopped."""

import re
import threading
from contextlib import suppress

import psutil

CLOCK = re.compile(r"perf_counter|process_time|thread_time|monotonic|Timeline|timeout|sleep")
IMPORT = re.compile(r"^(?:import|from) [^;\n]*$", re.MULTILINE)
MEASURE = re.compile(r"\bmeasure\.(\w+)|^from cpulab\.measure\S* import ([^\n]*)", re.MULTILINE)
# What a page may use of cpulab.measure that shows what is known, and measures nothing.
SHOWS = {"Beside", "Roof", "Table", "experiment", "faster_or_slower", "ladder", "ladder_table", "machine_card", "machine_code", "recorded",
         "with_unit"}  # fmt: skip
FUNCTION = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


def look_at_the_clock(cells):
    """Which of these cells, by their texts, look at the clock themselves, or use a function of a cell that does."""
    seen, functions = [], set()
    for text in cells:
        text = IMPORT.sub("", text)  # a name alone looks at nothing
        seen.append(bool(CLOCK.search(text)) or not functions.isdisjoint(re.findall(r"\w+", text)))
        if seen[-1]:
            functions.update(FUNCTION.findall(text))
    return seen


def measures_nothing(cells):
    """Whether a page of these cells comes out the same whatever else runs."""
    used = {name for text in cells for found in MEASURE.findall(text) for name in re.findall(r"\w+", " ".join(found))}
    return used <= SHOWS and not any(look_at_the_clock(cells))


class Together:
    """Instead of `Turns`, where nobody reads what is measured: all pages run at once."""

    def wait(self):
        pass

    def take(self, process):
        pass

    give = take


class Turns:
    """`take` and `give`: from one process after another, by its number. A process that ends gives by that.

    A page that has the turn may take it again, in any of its processes, and gives it back as often.
    pages(): the processes that pages run in, as psutil has them; all that this process has started, if nothing else is
    said.
    """

    def __init__(self, pages=None):
        self.pages = pages or psutil.Process().children
        self.free, self.holders, self.stopped = threading.Condition(), [], []

    def wait(self):
        """Return when nobody measures: a process that begins now would not be stopped."""
        with self.free:
            while self._living():
                self.free.wait(1)

    def take(self, process):
        """Stop the other pages; waits while another page measures."""
        with self.free:
            page, others = self._page_and_others(process)
            while not page.intersection(self._living()):
                if not self.holders:
                    self._stop(others)
                    break
                self.free.wait(1)
                page, others = self._page_and_others(process)
            self.holders.append(process)

    def give(self, process):
        """Let the other pages go on."""
        with self.free:
            if process in self.holders:
                self.holders.remove(process)
            if not self._living():
                self.free.notify_all()

    def _living(self):
        """Those of the holders that have not ended; where none is left, the other pages go on."""
        self.holders = [one for one in self.holders if psutil.pid_exists(one)]
        if not self.holders:
            for one in self.stopped:
                with suppress(psutil.Error):
                    one.resume()
            self.stopped = []
        return self.holders

    def _stop(self, processes):
        for one in processes:
            with suppress(psutil.Error):
                one.suspend()
                self.stopped.append(one)

    def _page_and_others(self, process):
        """(the numbers of the processes of the page that `process` belongs to, all processes of the other pages)"""
        own, others = {process}, []
        for page in self.pages():
            with suppress(psutil.Error):
                whole = [page, *page.children(recursive=True)]
                numbers = {one.pid for one in whole}
                if process in numbers:
                    own = numbers
                else:
                    others += whole
        return own, others
