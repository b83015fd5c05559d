"""Put the stand-ins in place of `threading`, `queue`, `time` and `concurrent.futures` in the program's own names.

Only names in the globals (and closures) of the program's functions are replaced, and only while it is explored; the
modules themselves stay as they are, so other threads of the process notice nothing.
"""

import _thread
import concurrent.futures
import functools
import queue
import threading
import time
import types

from . import locks, naming, queues, workers


class Namespace:
    """A module in which some names mean stand-ins. It cannot be changed."""

    is_stand_in = True

    def __init__(self, module, **names):
        self.__dict__.update({"_Namespace__module": module, "_Namespace__names": names})

    def __getattr__(self, name):
        names = self.__dict__["_Namespace__names"]
        return names[name] if name in names else getattr(self.__dict__["_Namespace__module"], name)

    def __setattr__(self, name, value):
        raise AttributeError(f"{self.__dict__['_Namespace__module'].__name__}.{name} cannot be replaced here")

    def __repr__(self):
        return repr(self.__dict__["_Namespace__module"])


_THREADING = {
    "Thread": workers.Thread,
    "current_thread": workers.current_thread,
    "main_thread": workers.main_thread,
    "get_ident": workers.get_ident,
    "active_count": workers.active_count,
    "enumerate": workers.enumerate_threads,
    **{
        n: getattr(locks, n)
        for n in ("Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition", "Event", "Barrier")
    },
}
_QUEUE = {n: getattr(queues, n) for n in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue")}
_TIME = {"sleep": locks.sleep, **dict.fromkeys(("time", "monotonic", "perf_counter", "process_time"), locks.now)}
_FUTURES = {n: getattr(workers, n) for n in ("ThreadPoolExecutor", "Future", "as_completed", "wait")}

_TABLES = ((threading, _THREADING), (queue, _QUEUE), (time, _TIME), (concurrent.futures, _FUTURES))
STAND_INS = {id(module): Namespace(module, **names) for module, names in _TABLES}
STAND_INS |= {id(getattr(module, name)): stand_in for module, names in _TABLES for name, stand_in in names.items()}
STAND_INS[id(concurrent)] = Namespace(concurrent, futures=STAND_INS[id(concurrent.futures)])
_KEPT = [getattr(module, name) for module, names in _TABLES for name in names]  # their ids stay theirs
_MODULES = ("threading", "queue", "time", "concurrent", "concurrent.futures", "_thread")


def _fresh(value):
    """A function that makes a stand-in for an object that exists already, or None."""
    makers = {_thread.LockType: locks.Lock, type(threading.RLock()): locks.RLock, threading.Event: locks.Event}
    if type(value) in makers:
        return makers[type(value)]
    if type(value) in (threading.Semaphore, threading.BoundedSemaphore):
        make = getattr(locks, type(value).__name__)
        return lambda: make(value._value)
    if type(value) is threading.Condition:
        return locks.Condition
    if type(value) is threading.Barrier:
        return lambda: locks.Barrier(value.parties)
    if type(value) in (queue.Queue, queue.LifoQueue, queue.PriorityQueue) and value.empty():
        make = getattr(queues, type(value).__name__)
        return lambda: make(value.maxsize)
    return None


class Substitution:
    """The program that `scenario` reaches, with stand-ins. Use as a context manager; `renew` before each run."""

    def __init__(self, scenario, tracer):
        self.spaces, self.cells, self.seen, self.tracer = {}, [], set(), tracer
        self.classes = []  # that inherit from what is replaced
        self.owners = {}  # classes whose attributes may be locks, by id
        self.saved, self.fresh = [], []
        self._reach(scenario)

    def _reach(self, value, depth=0):
        if id(value) in self.seen or depth > 40:
            return
        self.seen.add(id(value))
        if isinstance(value, functools.partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                self._reach(part, depth + 1)
        elif isinstance(value, types.MethodType):
            self._reach(value.__func__, depth + 1)
            self._reach(type(value.__self__), depth + 1)
        elif isinstance(value, types.FunctionType):
            self._function(value, depth)
        elif isinstance(value, type) and value.__module__ not in ("builtins",):
            if any(id(base) in STAND_INS for base in value.__bases__):
                self.classes.append(value)
            for cls in value.__mro__:
                self.owners[id(cls)] = cls
                for member in vars(cls).values():
                    member = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
                    if isinstance(member, types.FunctionType):
                        self._reach(member, depth + 1)
        elif isinstance(value, list | tuple) and len(value) < 100:
            for part in value:
                self._reach(part, depth + 1)

    def _function(self, function, depth):
        code = function.__code__
        if not self.tracer.is_own(code.co_filename):
            return
        self._no_imports(code)
        space = function.__globals__
        self.spaces[id(space)] = space
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.cells.append((cell, name))
            try:
                self._reach(cell.cell_contents, depth + 1)
            except ValueError:
                continue
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._reach(default, depth + 1)
        for name in _names(code):
            if name in space and isinstance(space[name], types.FunctionType | type | functools.partial):
                self._reach(space[name], depth + 1)

    def _no_imports(self, code):
        import dis

        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME" and instruction.argval in _MODULES:
                raise ValueError(
                    f"{code.co_name}() imports {instruction.argval} itself (line {instruction.positions.lineno}); "
                    "import it at the top of the file or notebook, so that the explorer can put its own in place"
                )
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._no_imports(constant)

    def __enter__(self):
        for space in self.spaces.values():
            for name, value in list(space.items()):
                self._replace(name, value, functools.partial(space.__setitem__, name))
        for cell, name in self.cells:
            try:
                self._replace(name, cell.cell_contents, functools.partial(setattr, cell, "cell_contents"))
            except ValueError:
                continue
        for cls in self.owners.values():
            for name, value in list(vars(cls).items()):
                if _fresh(value) is not None:
                    self._replace(name, value, functools.partial(setattr, cls, name))
        for cls in self.classes:
            before = cls.__bases__
            self.saved.append((functools.partial(setattr, cls, "__bases__"), before))
            cls.__bases__ = tuple(STAND_INS.get(id(base), base) for base in before)
        return self

    def _replace(self, name, value, put):
        stand_in = STAND_INS.get(id(value))
        make = None if stand_in is not None else _fresh(value)
        if stand_in is None and make is None:
            return
        self.saved.append((put, value))
        if stand_in is not None:
            put(stand_in)
        else:
            self.fresh.append((name, put, make))

    def renew(self):
        """Fresh stand-ins for locks and queues that the program made before: call inside a run."""
        for name, put, make in self.fresh:
            with naming.as_it_is(name):
                put(make())

    def __exit__(self, *error):
        for put, value in reversed(self.saved):
            put(value)
        self.saved, self.fresh = [], []


def _names(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
