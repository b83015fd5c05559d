"""Where several processes measure on one machine, one at a time: the others stand still meanwhile.

`make read` runs two pages of the book at once, for most of their time goes into compiling. It tells their processes
where to ask (the variable CPULAB_TURNS); without it nothing is asked.

With CPULAB_HURRY set, as where tests build the book, nobody reads what is measured: few samples and short ones do.
"""

import contextlib
import os
import threading
import urllib.request

ADDRESS = "CPULAB_TURNS"
HURRY = bool(os.environ.get("CPULAB_HURRY"))
_local = threading.local()


@contextlib.contextmanager
def alone():
    """While the block runs, the other pages' processes are stopped. Inside another such block nothing more is asked."""
    address, depth = os.environ.get(ADDRESS), getattr(_local, "depth", 0)
    _local.depth = depth + 1
    if address and not depth:
        _ask(f"{address}/.alone")
    try:
        yield
    finally:
        _local.depth = depth
        if address and not depth:
            _ask(f"{address}/.together")


def _ask(address):
    """Returns when it is granted; a reader that has ended grants everything."""
    with contextlib.suppress(OSError), urllib.request.urlopen(address, data=str(os.getpid()).encode()):
        pass
