"""The two processes of one submission.

*notebook*: a Jupyter kernel that runs the student's notebook, cell by cell. Whatever runs in it may have been changed
by the student's code, so only values of functions and variables are taken from it.

*clean*: a plain Python process in the same kind of sandbox, in which nothing ran but the course's own code. It runs
admitted answers (admission.py): kernels in the x-ray, compiled functions with their allocations counted.

A process that dies, hangs or breaks a limit is ended; the next request starts another one and, for the notebook,
replays the cells before it, without those that ended it. So does a process that cannot reply any more: once, and with a
look after each cell, so that one which has filled the memory is found, and left out alone.
"""

import json
import os
import select
from queue import Empty

import nbformat
from nbval.plugin import IPyNbCell, NbCellError

from ..answer import AnswerFailed
from . import exchange, guard
from .jupyter_kernel import KernelGone, SandboxKernel
from .sandbox import stop
from .waiting import Deadline

MAX_KERNELS = 4
STARTUP_SECONDS = 120
COMPILING = ("compiled_call", "watch", "cost")
_SAID = {
    "TimeLimit": "time limit",
    "KernelDied": "crash",
    "BadMessage": "strange message",
    "MemoryLimit": "limit of memory",
    "ProcessLimit": "limit of processes",
    "FileLimit": "limit of files",
    "OutputLimit": "limit of output",
}
_HANDLE = "__import__('coursework.grading.servant', fromlist=['x']).handle({folder!r}, {number}, globals())"


class _Cell(IPyNbCell):
    """nbval's cell, run in the sandbox: outputs are not compared, errors are allowed."""


class Session:
    """Runs cells and answers requests for one submission. `file` is the nbval collector the cells belong to.

    The two sandboxes have a folder each: nothing in the notebook's can touch what the clean process reads or writes.
    """

    def __init__(self, sandbox, clean_sandbox, file):
        self.sandbox, self.clean_sandbox = sandbox, clean_sandbox
        self.file, self.limits = file, sandbox.limits
        self.cells, self.notes, self.flags, self._given = [], [], [], set()
        self._kernel, self._kernels, self._ran = None, 0, 0
        self._clean, self._clean_ready, self._number = None, False, 0
        self._replied = False  # whether a message came back, readable or not
        self._careful = False  # whether each cell is asked whether it has left room for a reply
        self._last = False  # whether a step got what was left of the submission's seconds
        self.begin()

    def begin(self):
        """All its seconds start now."""
        self._deadline = Deadline(self.limits.total_seconds, self.sandbox)

    def close(self):
        self._stop_kernel()
        if self._clean:
            stop(self._clean)

    # the notebook ------------------------------------------------------------------------------------------------

    def add_cell(self, cell_id, source, given=False):
        """The next cell of the notebook. It runs when something is asked of the notebook.

        A `given` cell is the course's own, and not on the student's clock: a busy machine must not cost points.
        """
        self.cells.append((cell_id, source))
        if given:
            self._given.add(cell_id)

    def _catch_up(self):
        if self._kernel is None:
            self._start_kernel()
        while self._ran < len(self.cells):
            position = self._ran
            self._ran += 1
            cell_id, source = self.cells[position]
            if source is None:
                continue
            try:
                self._run_cell(position, source, self._patience(cell_id in self._given))
                if self._careful and cell_id not in self._given:
                    self._see_room()
            except KernelGone as gone:
                self._kernels -= 1  # it goes on without that cell: there is an end to this
                self.cells[position] = (cell_id, None)  # never again
                self.notes.append(f"Cell {cell_id} ended the notebook's process: {gone.text}.")
                self.flag(f"cell {cell_id}", gone)
                self._stop_kernel()
                self._start_kernel()
                self._ran = 0

    def _run_cell(self, position, source, seconds):
        cell = nbformat.v4.new_code_cell(source)
        options = {"check": False, "check_exception": True, "skip": False}
        item = _Cell.from_parent(self.file, name=f"cell {position}", cell_num=position, cell=cell, options=options)
        self.file.kernel, self.file.timed_out = self._kernel, False
        item.config.option.nbval_cell_timeout = seconds
        try:
            item.runtest()
        except NbCellError as error:  # nbval stops the kernel when it cannot be interrupted
            raise KernelGone("TimeLimit", self._used_up(f"it did not end within {seconds:g} seconds")) from error
        except KernelGone:
            raise
        except Exception as error:  # the notebook can send its grader messages of any kind
            raise KernelGone("BadMessage", f"its kernel said something strange ({type(error).__name__})") from None
        if self.sandbox.broken:  # and not noticed in time by what waits for messages
            raise KernelGone(*self.sandbox.why_ended())
        if self._kernel.exiting:
            raise KernelGone("KernelDied", "it asked the notebook to end")
        if self.file.timed_out:
            raise KernelGone("TimeLimit", self._used_up(f"it did not end within {seconds:g} seconds"))

    def ask_notebook(self, operation, name, arguments=()):
        """Value of a variable, or result of a call, in the student's notebook."""
        try:
            return self._asked(operation, name, arguments)
        except AnswerFailed as error:
            if error.name not in ("NoResult", "MemoryError") or self._careful:
                raise
        self._careful = True
        self._stop_kernel()
        return self._asked(operation, name, arguments)

    def _see_room(self):
        """Raises KernelGone where no reply could be written any more. One that cannot be read was written."""
        try:
            self._request("room", "a reply")
        except AnswerFailed as error:
            if error.name == "NoResult" and self._replied:
                return
            raise KernelGone("MemoryLimit", "it left no memory for an answer") from None

    def _asked(self, operation, name, arguments):
        try:
            return self._request(operation, name, arguments, catch_up=True)
        except AnswerFailed as error:
            if error.name == "NoResult":  # tampered with: go on with a fresh one
                self._stop_kernel()
            raise

    def _request(self, operation, name, arguments=(), catch_up=False):
        """The kernel's reply: as it is now, or after all cells that came meanwhile."""
        try:
            if catch_up:
                self._catch_up()
            self._number += 1
            request = {"operation": operation, "name": name, "arguments": list(arguments)}
            self._send(self.sandbox, request)
            code = _HANDLE.format(folder=str(self.sandbox.folder), number=self._number)
            seconds = self._patience()
            message = self._kernel.kc.execute(code, silent=True, store_history=False, allow_stdin=False)
            self._kernel.await_reply(message, timeout=seconds)
        except AnswerFailed:
            self._stop_kernel()
            raise
        except Exception as error:
            self._stop_kernel()
            if isinstance(error, Empty):
                error = KernelGone("TimeLimit", self._used_up(f"no result within {seconds:g} seconds"))
            elif not isinstance(error, KernelGone):
                error = KernelGone("BadMessage", f"the kernel said something strange ({type(error).__name__})")
            raise self.flag(name, error) from None
        try:
            return self._receive(self.sandbox, name)
        finally:
            if self._kernel and self._kernel.exiting:
                self._stop_kernel()

    def flag(self, where, gone):
        """Note that a process was ended, or a limit reached, for whoever grades; returns the failure for the
        student."""
        why = f"{_SAID.get(gone.name, 'ended')}: {where}: {gone.text}"[:200]
        if why not in self.flags:
            self.flags.append(why)
        return AnswerFailed(gone.name, gone.text)

    def _start_kernel(self):
        if self._kernels >= MAX_KERNELS:
            raise AnswerFailed(
                "KernelDied", f"the notebook's process was ended {MAX_KERNELS} times; it is not started again"
            )
        self._kernels += 1
        try:
            self._kernel = SandboxKernel(self.sandbox)
        except KernelGone:  # nothing of the notebook's ran in it: what was before it, or the machine, ended it
            self.sandbox.why_ended()
            self.sandbox.wipe()
            self._kernel = SandboxKernel(self.sandbox)

    def _stop_kernel(self):
        if self._kernel:
            self._kernel.stop()
            self.sandbox.wipe()
        self._kernel, self._ran = None, 0

    # the clean process -------------------------------------------------------------------------------------------

    def prepare(self):
        """Start the clean process, beside the notebook's: it is there by the time that it is asked."""
        self._clean = self.clean_sandbox.start("-m", "coursework.grading.servant", str(self.clean_sandbox.folder))
        self._clean_ready = False

    def ask_clean(self, operation, name, sources, **request):
        """Run an admitted answer in the process that the student's notebook never touched."""
        try:
            if self._clean is None or self._clean.poll() is not None:
                self.prepare()
            if not self._clean_ready:
                self._await_line(STARTUP_SECONDS)  # importing the course is not on the student's clock
                self._clean_ready = True
            self._number += 1
            self._send(self.clean_sandbox, {"operation": operation, "name": name, "sources": sources, **request})
            self._clean.stdin.write(f"{self._number}\n".encode())
            self._clean.stdin.flush()
            self._await_line(self._patience(compiles=operation in COMPILING))
        except (OSError, KernelGone) as error:
            stop(self._clean)
            self._clean = None
            why = self.clean_sandbox.why_ended() or ("KernelDied", "the process ended")
            raise self.flag(name, error if isinstance(error, KernelGone) else KernelGone(*why)) from None
        return self._receive(self.clean_sandbox, name)

    def _await_line(self, seconds):
        deadline = Deadline(seconds, self.clean_sandbox)
        while True:
            ready, _, _ = select.select([self._clean.stdout], [], [], max(0.0, min(1.0, deadline.left())))
            if ready:
                if not self._clean.stdout.readline():
                    code = self._clean.wait()
                    if code == guard.STATUS:
                        self.flags.append("an answer did what no answer may do, in the clean process")
                        raise KernelGone("KernelDied", "the process was ended: it did what no answer may do")
                    died = ("KernelDied", f"the process ended while this ran (exit status {code})")
                    raise KernelGone(*(self.clean_sandbox.why_ended() or died))
                return
            if deadline.left() <= 0:
                raise KernelGone("TimeLimit", self._used_up(f"no result within {seconds:g} seconds"))

    # both --------------------------------------------------------------------------------------------------------

    def _patience(self, given=False, compiles=False):
        """Seconds the next step may take. A compiler on a busy machine gets three times as long as an answer."""
        left = self._deadline.left()
        seconds = STARTUP_SECONDS if given else self.limits.cell_seconds * (3 if compiles else 1)
        self._last = left < seconds
        if left <= 0:
            raise AnswerFailed("TimeLimit", self._used_up(""))
        return min(seconds, left)

    def _used_up(self, said):
        """What to say of a step that did not end: of the last one, that there were no more seconds for any."""
        return f"the whole submission used up its {self.limits.total_seconds:g} seconds" if self._last else said

    def _send(self, sandbox, request):
        sandbox.own(exchange.write(request, sandbox.folder, f"req-{self._number}"))

    def _receive(self, sandbox, asked):
        self._replied = os.path.lexists(exchange.place(sandbox.folder, f"res-{self._number}"))
        try:
            reply = exchange.read(sandbox.folder, f"res-{self._number}")
            if not isinstance(reply, dict):
                raise exchange.BadData("no reply")
            if "failed" in reply:
                name, text, line, location = (str(part)[:2000] for part in reply["failed"])
                failure = AnswerFailed(name, text, line, location)
                if name == "OutputLimit":
                    self.flag(asked, failure)
                raise failure
            return reply["value"]
        except (exchange.BadData, KeyError, TypeError, ValueError) as error:
            said = json.dumps(str(error))[1:-1]
            raise AnswerFailed("NoResult", f"no result came back that can be read ({said})") from None
        finally:
            exchange.forget(sandbox.folder, f"req-{self._number}", f"res-{self._number}")
