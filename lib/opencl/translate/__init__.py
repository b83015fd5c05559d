"""From a numba.cuda kernel to OpenCL C: what a reader's own kernel looks like on an AMD or Intel GPU.

    translated = translate(kernel, block, arguments)
    print(translated.source)

The types are numba's; names and comments stay. A block is a work-group, a thread a work-item, shared memory __local.
What stands in the way is a `Refused`, with its line and what to write instead. Its files, in reading order:

values.py        a value on its way: text, type, interval     places.py       where C declares a variable
expressions.py   operators and conversions                    statements.py   statements
choices.py       comparisons, truth values, choices           loops.py        loops
arrays.py        elements, views, vectors, own arrays         warps.py        barriers, shuffles and votes
variables.py     what a name holds                            together.py     guards: what a block does together
calls.py         functions                                    function.py     one function
cuda.py          the names of numba.cuda                      program.py      all of them
standins.py      instructions with a stand-in                 translated.py   a kernel and its translation
helpers.py       what Python means, written in C              launch.py       running it
errors.py        what is refused
"""

from .errors import Refused
from .translated import Translated, translate

__all__ = ["Refused", "Translated", "translate"]
