"""Which engine runs a launch ``kernel[grid, block](...)``: the executor, thread by thread, or the compiled engine.

"executor"  the executor, always: every check, every order of threads, slow
"compiled"  the compiled engine, always; ``Unsupported`` where it cannot take the kernel
"auto"      (the default) the executor for small launches, the compiled engine for large ones, by an estimate of the
            work

Set with ``cuda.engine("compiled")``, for a while with ``with cuda.engine("executor"):``, or with the environment
variable DLKERNELS_ENGINE. x-rays, a chosen order of threads and a budget always run in the executor, as does
``simt.run``. In "auto", a large launch that the compiled engine does not take runs in the executor too, and one line on
stdout says so, once for each kernel (DLKERNELS_QUIET=1 hides it). ``cuda.last_launch()`` says which engine ran, and
why.
"""

import os
from dataclasses import dataclass

from .errors import NotFollowed, Unsupported
from .executor import launch as executor
from .hostarrays import on_host
from .kernel import kernel_of
from .limits import dimensions
from .progress import quiet
from .settings import chosen_budget, chosen_order
from .work import estimate

VARIABLE = "DLKERNELS_ENGINE"
NAMES = ("executor", "compiled", "auto")
LARGE = 2_000_000  # steps; the executor makes about a million in a second

_chosen = None
_last = None
_told = set()


@dataclass(frozen=True)
class LastLaunch:
    """What ``cuda.last_launch()`` returns. engine: "executor" or "compiled". why: the reason, in words."""

    kernel: str
    engine: str
    why: str

    def __str__(self):
        where = "compiled for the CPU" if self.engine == "compiled" else "thread by thread in the executor"
        return f"{self.kernel} ran {where}: {self.why}."


def check_name(name):
    """``name`` if there is such an engine."""
    if name not in NAMES:
        raise ValueError(f"engine is {name!r}; expected one of {', '.join(map(repr, NAMES))}")
    return name


class _Choice:
    """What ``engine()`` returns: leaving it as a context manager undoes the choice."""

    def __init__(self, before):
        self._before = before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        global _chosen
        _chosen = self._before


def engine(name=None):
    """Choose the engine of all launches that follow: "executor", "compiled" or "auto"; None: as at the start.

    As a context manager (``with cuda.engine("executor"):``) for the launches inside. The module's docstring says what
    each does.
    """
    global _chosen
    before, _chosen = _chosen, None if name is None else check_name(name)
    return _Choice(before)


def current():
    """The engine that is chosen now: "executor", "compiled" or "auto"."""
    return _chosen or check_name(os.environ.get(VARIABLE, "").strip() or "auto")


def last_launch():
    """Which engine ran the last launch, and why: a ``LastLaunch``, or None before the first."""
    return _last


def start(kernel, grid, block, arguments, shared_bytes):
    """Run a launch on the engine that is chosen."""
    global _last
    name, chosen, order = kernel.py_func.__name__, current(), chosen_order()
    why = None
    if chosen == "executor":
        why = "chosen"
    elif chosen_budget() is not None:
        why = "the iterations of its loops are counted"
    elif order is not None and (chosen == "auto" or order.startswith("shuffled")):
        why = f"the order of threads is chosen: {order}"
    elif chosen == "auto":
        steps = estimate(kernel.py_func, grid, block, arguments)
        size = f"about {steps:,} steps"
        if steps < LARGE:
            why = f"small, {size}"
    if why is None:
        from . import compiled  # not before a launch needs it

        why = "chosen" if chosen == "compiled" else f"large, {size}"
        try:
            compiled.run(kernel, grid, block, arguments, shared_bytes, order=order or "forward")
        except (Unsupported, NotFollowed) as error:
            started = isinstance(error, NotFollowed) and not on_host(arguments)
            if chosen == "compiled" or started:
                raise
            why = error.reason
            _say(kernel, error)
        else:
            _last = LastLaunch(name, "compiled", why)
            return
    _last = LastLaunch(name, "executor", why)
    executor.run(kernel, grid, block, arguments, shared_bytes)


def is_large(kernel, grid, block, arguments):
    """Whether a launch is more work than the executor should have."""
    grid, block = dimensions(grid, "griddim"), dimensions(block, "blockdim")
    return estimate(kernel_of(kernel).py_func, grid, block, arguments) >= LARGE


def _say(kernel, error):
    if kernel in _told or quiet():
        return
    _told.add(kernel)
    where = f", line {error.line}" if error.line else ""
    print(f"{kernel.py_func.__name__}{where}: {error.reason}. It runs in the executor, which takes longer.")
