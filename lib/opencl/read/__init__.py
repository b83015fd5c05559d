"""OpenCL C without an OpenCL: a reader that makes kernels for ``simt`` of it, with the lines of the text.

    program = Program(source)                       # text in OpenCL C
    report = program.xray("add", global_size=256, local_size=64)(a, b, out)
    print(report)                                   # races, bounds, barriers, counts: each with its line of the text

No device, no compiler and no installation is needed: the executor runs the work-items one after the other, in an order
that is the same every time; ``xray(..., engine="compiled")`` counts and looks for races at real size. What is read is
a subset of OpenCL C 1.2 with sub-groups and vectors; everything else is a `ReadError` that names the line, what came,
and what to write instead.

Differences to a device: whole numbers wrap as most devices do it (C leaves signed overflow open); ``a * b + c`` is
rounded twice, where a device may round once; a vector is loaded and counted as so many numbers; a sub-group has 32
work-items; a barrier of one memory is one of both, but where a kernel uses local memory some barrier has to name it.

Its files, in reading order:

text.py          the text and its preprocessor         places.py      get_global_id and the like
types.py         types and values                      declarations.py, statements.py, functions.py
operations.py    operators                             runtime.py     what a kernel calls when it runs
expressions.py   expressions                           program.py     programs and launches
builtins.py      OpenCL's functions                    words.py       OpenCL's words in messages about kernels
device.py        the same text on a device, where there is one
"""

from .program import LocalMemory, Program
from .text import ReadError

__all__ = ["LocalMemory", "Program", "ReadError"]
