"""Kernels made from text: ``exec(f"def kernel(x): ...")``. What text said is lost when it has run; `keep` keeps it.

While it does, text given to ``exec`` has a file name of its own, under which Python's ``linecache`` finds its lines:
for the engines, and for tracebacks too.
"""

import __future__

import builtins
import contextlib
import itertools
import linecache
import sys

_exec = builtins.exec
_INHERITED = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names if name != "nested_scopes"
)
_numbers = itertools.count(1)


def keep(on=True):
    """From now on (or no more) text that is run can be read again."""
    builtins.exec = _kept if on else _exec


def _kept(source, /, globals=None, locals=None, **rest):
    """Python's own exec."""
    caller = sys._getframe(1)
    if globals is None:
        globals = caller.f_globals
        if locals is None:  # of a function: a copy, from Python 3.13 on, too
            locals = caller.f_locals if isinstance(caller.f_locals, dict) else dict(caller.f_locals)
    if isinstance(source, str) and "def " in source:
        file = f"<text {next(_numbers)}, run by {caller.f_code.co_filename}:{caller.f_lineno}>"
        flags = caller.f_code.co_flags & _INHERITED
        with contextlib.suppress(SyntaxError):  # which Python then says itself
            code = compile(source, file, "exec", flags, dont_inherit=True)
            linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
            source = code
    return _exec(source, globals, locals, **rest)
