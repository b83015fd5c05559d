"""Watch the program's own code, instruction by instruction, and make a point before each access to something shared.

Python calls a trace function before every instruction of the frames that ask for it. Only the program's files are
traced: not the standard library, installed packages or this library.
"""

import _thread
import linecache
import os
import sys
import sysconfig
from collections import defaultdict, deque
from pathlib import Path

from . import sites

_LIBRARY = str(Path(__file__).resolve().parents[2]) + os.sep
_FOREIGN = tuple(
    {str(Path(sysconfig.get_paths()[p]).resolve()) + os.sep for p in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {sysconfig.get_paths()[p] + os.sep for p in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {_LIBRARY, "<frozen", "<__array_function__", "<string>"}  # the last: methods that dataclass writes
)
_SIMPLE = (int, float, str, bool, type(None))
# Before 3.13 a traced frame's variables are copied out before the trace function and back after it. What another thread
# did to a closure's variable meanwhile would be undone, if the copy were not renewed first.
_RENEW = sys.version_info < (3, 13)


def is_foreign(file):
    """Whether a file is Python's, of an installed package, or of this library."""
    return file.startswith(_FOREIGN)


class Tracer:
    """`focus`: the sites at which a thread can be interrupted; None: wherever something is accessed.

    `own_files`: files that count as the program's although they lie in a library.
    """

    def __init__(self, focus=None, own_files=()):
        self.focus, self.own_files = focus, frozenset(own_files)
        self.accesses = defaultdict(list)  # base -> [(task number, key, kind, site)]
        self.keep = []
        self.known_files = {}

    def open(self, scheduler):
        """Before a run."""
        self.scheduler = scheduler

    def close(self):
        """After a run."""

    def begin(self, task):
        """Trace the calling thread from here on."""
        task.file = ""
        sys.settrace(self._call)

    def end(self, task):
        """Stop tracing the calling thread."""
        sys.settrace(None)
        if not self.scheduler.stopping:
            self._settle(task)

    def is_own(self, file):
        """Whether `file` belongs to the program."""
        known = self.known_files.get(file)
        if known is None:
            known = file in self.own_files or not is_foreign(file)
            self.known_files[file] = known
        return known

    def where(self, task):
        """(file, line) of the program at which the calling thread stands."""
        frame = sys._getframe(2)
        while frame is not None and not self.is_own(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None and frame.f_lineno:
            task.file, task.line = frame.f_code.co_filename, frame.f_lineno
        return getattr(task, "file", ""), task.line

    def _call(self, frame, event, argument):
        code = frame.f_code
        if not self.is_own(code.co_filename):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        get = sites.of(code).get

        def instruction(frame, event, argument):
            if event == "opcode":
                self._instruction(frame, get(frame.f_lasti))
            elif event == "exception":
                self._raises(argument[1])
            return instruction

        return instruction

    def _instruction(self, frame, site):
        """Before an instruction of the program. `site`: what it accesses, or None."""
        scheduler = self.scheduler
        if scheduler.stopping:
            return
        scheduler.ticks += 1
        me = scheduler.running
        if me.pending:
            self._settle(me)
        if site is not None and scheduler.crowd:
            self._visit(frame, site, me)
        else:
            if site is not None and self.focus and site in self.focus:
                self._alone(frame, site, me)
            if scheduler.ticks > scheduler.max_ticks:
                scheduler.point()

    def _alone(self, frame, site, me):
        """What the only thread does where threads meet later: told, and no reason for what they do."""
        access = site.locate(frame)
        if access is not None:
            self._note(site, access, me, None)

    def _visit(self, frame, site, me):
        access = site.locate(frame)
        if access is None:
            return
        if self.focus is None or site in self.focus:
            self.scheduler.point()
            if _RENEW:
                _ = frame.f_locals
            access = site.locate(frame) or access
        self.accesses[access.base].append((me.number, access.key, access.kind, site))
        self.keep.append(access.owner)
        self._note(site, access, me, (access.base, access.key))

    def _note(self, site, access, me, location):
        me.line, me.file = site.line, site.file
        value = _shown(access.peek) if access.kind == "read" else ""
        event = self.scheduler.note(
            me, "call" if site.space == "call" else access.kind, site.text, location=location, value=value, site=site
        )
        event.line = site.line
        if access.kind == "write":
            me.pending = (event, access.peek)

    def _raises(self, error):
        """The running thread raises `error` in the program's code, or does not catch it there."""
        scheduler, me = self.scheduler, self.scheduler.running
        if (
            scheduler.stopping
            or error is me.raised
            or not isinstance(error, Exception)
            or isinstance(error, StopIteration)
        ):
            return
        self._settle(me)
        me.raised = error
        scheduler.note(me, "note", f"raises {type(error).__name__}")

    def _settle(self, task):
        """After a write: look at what was written."""
        if task.pending:
            (event, peek), task.pending = task.pending, None
            event.value = _shown(peek)

    def shared(self):
        """The sites of this run that touched something that another thread touched too, one of them writing."""
        contended = set()
        for accesses in self.accesses.values():
            if len({number for number, *_ in accesses}) < 2:
                continue
            by_key = defaultdict(list)
            for access in accesses:
                by_key[access[1]].append(access)
            of_container = by_key.get(None, [])
            for key, group in by_key.items():
                together = group if key is None else group + of_container
                everyone = accesses if key is None else together
                if len({n for n, *_ in everyone}) > 1 and any(kind == "write" for _, _, kind, _ in everyone):
                    contended.update(site for *_, site in everyone)
        return contended


class Monitor(Tracer):
    """The same with sys.monitoring. Python 3.13.0 forgets instructions of a loop when several threads are traced."""

    def open(self, scheduler):
        super().open(scheduler)
        self.codes, monitoring = set(), sys.monitoring
        self.tool = next((i for i in range(6) if monitoring.get_tool(i) is None), None)
        if self.tool is None:
            raise RuntimeError("all six tools of sys.monitoring are in use (debuggers, profilers); end one of them")
        monitoring.use_tool_id(self.tool, "cpulab.explore")
        monitoring.register_callback(self.tool, monitoring.events.PY_START, self._start)
        monitoring.register_callback(self.tool, monitoring.events.INSTRUCTION, self._monitored)
        monitoring.register_callback(self.tool, monitoring.events.RAISE, self._raised)
        monitoring.restart_events()
        monitoring.set_events(self.tool, monitoring.events.PY_START | monitoring.events.RAISE)

    def close(self):
        monitoring = sys.monitoring
        monitoring.set_events(self.tool, 0)
        for code in self.codes:
            monitoring.set_local_events(self.tool, code, 0)
        for event in (monitoring.events.PY_START, monitoring.events.INSTRUCTION, monitoring.events.RAISE):
            monitoring.register_callback(self.tool, event, None)
        monitoring.free_tool_id(self.tool)

    def begin(self, task):
        task.file = ""

    def end(self, task):
        if not self.scheduler.stopping:
            self._settle(task)

    def _start(self, code, offset):
        if not self.is_own(code.co_filename):
            return sys.monitoring.DISABLE
        if code not in self.codes:
            self.codes.add(code)
            sys.monitoring.set_local_events(self.tool, code, sys.monitoring.events.INSTRUCTION)
        return None

    def _raised(self, code, offset, error):
        is_running = self.scheduler.running is not None and self.scheduler.running.ident == _thread.get_ident()
        if is_running and self.is_own(code.co_filename):
            self._raises(error)

    def _monitored(self, code, offset):
        if self.scheduler.running is not None and self.scheduler.running.ident == _thread.get_ident():
            self._instruction(sys._getframe(1), sites.of(code).get(offset))


def tracer(*args):
    """The Tracer for this Python."""
    return (Monitor if sys.version_info >= (3, 13) else Tracer)(*args)


def _shown(peek):
    """A present value in a few characters, or "" if it cannot be seen."""
    try:
        value = peek()
    except Exception:
        return ""
    if isinstance(value, _SIMPLE) or (
        isinstance(value, list | tuple) and len(value) <= 6 and all(isinstance(x, _SIMPLE) for x in value)
    ):
        text = repr(value)
    elif hasattr(value, "item") and getattr(value, "size", 0) == 1:
        text = str(value.item())
    elif isinstance(value, list | dict | set | deque):
        text = f"{len(value)} element{'s' if len(value) != 1 else ''}"
    else:
        return ""
    return text if len(text) <= 24 else text[:21] + "..."


def source(file, line):
    """The program's line, without its indentation."""
    return linecache.getline(file, line).strip()
